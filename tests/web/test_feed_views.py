"""Score feeds on the operations page: texts and plots, without a server."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from found_footy.operations.findings import assess
from found_footy.operations.health import feed_lines
from found_footy.operations.models import (
    HealthGrade,
    HealthLimits,
    HealthSample,
    HealthSpan,
    Measurement,
    RecoveryAction,
)
from found_footy.operations.probe import browser_seen, spans
from found_footy.web.api.health import paused_records, status_of
from found_footy.web.metrics import families
from found_footy.web.pages.feeds import (
    WIDTH,
    conflict_rows,
    feed_chips,
    feed_rows,
    format_value,
    health_plot,
    paused_rows,
    recovery_row,
)
from found_footy.web.services import WebRules
from tests.support.operations import (
    NOW,
    a_dispute,
    a_feed,
    a_match,
    a_record,
    a_recovery,
    ago,
    cached,
    declared,
    measured,
    paused,
    recorded,
)
from tests.support.operations import spans as made_spans

LIMIT = timedelta(seconds=90)


def chips(system: Measurement) -> dict[str, tuple[str, str]]:
    return {chip.feed: (chip.state, chip.text) for chip in feed_chips(a_match(), system, LIMIT)}


@pytest.mark.parametrize(
    ("espn", "told"),
    [
        (a_record(407_001, "espn", 20), ("ok", "20 s")),
        (a_record(407_001, "espn", 91), ("late", "91 s")),
        (a_record(407_001, "espn", None), ("unknown", "no data yet")),
        (a_record(407_001, "espn", 20, consecutive_failures=2), ("failing", "20 s, 2 failed")),
        (a_record(407_001, "espn", None, consecutive_failures=2), ("failing", "never, 2 failed")),
        (paused(), ("paused", "paused, again in 80 s")),
        (paused(paused_until=ago(seconds=1)), ("failing", "5 min, 5 failed")),  # asked again at the next poll
        (a_record(999, "espn", 20), ("unknown", "no request yet")),
    ],
)
def test_a_feed_chip_shows_the_state_of_a_match(espn: Any, told: tuple[str, str]) -> None:
    system = measured(cached=cached(records=(a_record(), espn)))
    assert chips(system) == {"api_football": ("ok", "12 s"), "espn": told}


def test_a_feed_that_is_off_is_not_late() -> None:
    assert chips(measured(declared=declared(on=False)))["espn"] == ("off", "off")
    assert chips(measured(cached=None))["espn"] == ("unknown", "unknown")


def test_the_feed_with_the_highest_precedence_comes_first() -> None:
    assert [chip.feed for chip in feed_chips(a_match(), measured(), LIMIT)] == ["api_football", "espn"]
    turned = measured(declared=declared(precedence=200))
    assert [chip.feed for chip in feed_chips(a_match(), turned, LIMIT)] == ["espn", "api_football"]


@pytest.mark.parametrize(
    ("system", "espn"),
    [
        (measured(), ("ok", "ok", "auto", "")),
        (measured(declared=declared(on=False, switched=False)), ("off", "off", "off", "")),
        (measured(declared=declared(switched=True)), ("ok", "ok", "on", "")),
        (measured(declared=declared(lacks="no browser")), ("failed", "not configured", "auto", "no browser")),
        (measured(recorded=recorded(feeds=(a_feed(),))), ("quiet", "idle", "auto", "")),
        (
            measured(recorded=recorded(feeds=(a_feed(), a_feed(feed="espn", error="refused")))),
            ("failed", "failing", "auto", "refused"),
        ),
        (measured(recorded=None), ("quiet", "idle", "auto", "")),
        (measured(declared=None), ("ok", "ok", None, "")),
    ],
)
def test_a_feed_row_shows_the_state_of_a_feed(system: Measurement, espn: tuple[str, str, str | None, str]) -> None:
    (row,) = [row for row in feed_rows(system) if row.feed == "espn"]
    assert (row.state, row.label, row.switch, row.problem) == espn


def test_a_feed_row_shows_success_ratio_and_quota() -> None:
    football, espn, crex = feed_rows(measured())
    assert (football.success_ratio, football.quota_width, football.matches) == ("40 of 40 requests succeeded", 93.5, 3)
    assert (espn.quota_width, crex.last_request, crex.success_ratio) == (None, "no request yet", "")


def test_paused_matches_show_the_next_attempt() -> None:
    records = (a_record(), paused(), paused(9, paused_until=ago(seconds=1)), paused(10, paused_until=None, title=""))
    rows = paused_rows(measured(cached=cached(records=records)))
    assert [(row.next_attempt, row.title) for row in rows] == [
        ("in 80 s", "Liverpool – Manchester City"),
    ]


def test_paused_matches_are_counted_the_same_everywhere() -> None:
    """A pause that has expired counts nowhere, although the next poll has yet to end it."""
    found = measured(cached=cached(records=(a_record(), paused(), paused(9, paused_until=ago(seconds=1)))))
    report = assess(found, HealthLimits())
    (said,) = [each.what for each in report.findings if each.kind == "feed_paused"]
    (gauge,) = [each for each in families(report) if each.name == "footy_paused_matches"]
    status = status_of(report, WebRules(), details=True)
    counts = {
        "finding": int(said.split()[0]),
        "page": len(paused_rows(found)),
        "command": sum(line.paused for line in feed_lines(found)),
        "status": status.paused,
        "API": len(paused_records(found)),
        "metrics": gauge.samples[0].value,
    }
    assert set(counts.values()) == {1}, counts


def test_values_of_a_hidden_match_are_hidden() -> None:
    system = measured(recorded=recorded(disputes=(a_dispute(),)))
    (shown,) = conflict_rows(system, HealthLimits(), lambda _: False)
    assert shown.values == (("api_football", "2–1", True), ("espn", "1–1", False))
    assert (shown.is_ongoing, shown.duration_text, shown.polls) == (True, "4 min", 8)
    (hidden,) = conflict_rows(system, HealthLimits(), lambda _: True)
    assert {said for _, said, _ in hidden.values} == {"hidden"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("FT", "FT"),
        (None, "nothing"),
        ({"home": 2, "away": 1}, "2–1"),
        ([2, 1], "2–1"),
        ({"team_a": None, "team_b": 1}, "nothing–1"),
        ([{"runs": 187}], '[{"runs": 187}]'),
        ({"home": {"runs": 1}, "away": 2}, '{"home": {"runs": 1}, "away": 2}'),
        ("x" * 500, "x" * 119 + "…"),
        (12.5, "12.5"),
        (["1-0 9' H. Kane", "2-0 27' H. Kane"], "1-0 9' H. Kane, 2-0 27' H. Kane"),
        ("2026-11-19T06:26:00+01:00", "2026-11-19 05:26 UTC"),
        ("2026-11-19T05:26:30+00:00", "2026-11-19 05:26:30 UTC"),
        ("2026-11-19T99:99", "2026-11-19T99:99"),
        ([], "[]"),
    ],
)
def test_feed_values_are_short_texts(value: Any, said: str) -> None:
    assert format_value(value) == said


def test_a_recovery_row_shows_observations_and_steps() -> None:
    row = recovery_row(a_recovery())
    assert row.facts == (("grade", "failing", "healthy"), ("oldest", "2 min", "8 s"), ("median", "96 s", "4 s"))
    assert row.steps == (("workers", True, "2 workers were restarted"),)
    assert (row.action, row.outcome, row.duration, row.healthy_after) == (
        "poller restarted",
        "success",
        "4.2 s",
        "healthy after 60 s",
    )
    running = recovery_row(
        a_recovery(action=RecoveryAction.BROWSER_RECYCLE, outcome=None, seconds=None, healthy_at=None, after={})
    )
    assert (running.outcome, running.duration, running.facts[0]) == ("running", "", ("grade", "failing", "–"))


def test_an_unknown_recovery_format_is_tolerated() -> None:
    odd = a_recovery(before={"freshness": "old", "x": [1]}, after={"attempts": [7, {"steps": "none"}]})
    assert (recovery_row(odd).facts, recovery_row(odd).steps) == ((("freshness", "old", "–"),), ())


# --- the plot


def test_periods_of_one_grade_are_merged_and_gaps_are_kept() -> None:
    plot = health_plot(made_spans(), NOW, 60, 120)
    assert [block.grade for block in plot.blocks] == [
        "healthy", "healthy", "degraded", "failing", "recovering", "healthy",
    ]  # fmt: skip
    for before, after in zip(plot.blocks, plot.blocks[1:], strict=False):
        assert before.x + before.width <= after.x + 0.1
    assert plot.blocks[-1].x + plot.blocks[-1].width <= WIDTH + 1


def test_plot_lines_stop_at_gaps_and_stay_inside() -> None:
    plot = health_plot(made_spans(), NOW, 60, 120)
    assert {line.name: line.path.count("M") for line in plot.lines} == {"max": 2, "p95": 2, "median": 2}
    for line in plot.lines:
        heights = [float(y) for y in re.findall(r"[\d.]+ ([\d.]+)", line.path)]
        assert 0 <= min(heights) <= max(heights) <= 100
    assert [line.text for line in plot.thresholds] == ["failing at 2 min", "degraded at 60 s"]
    assert plot.thresholds[0].y < plot.thresholds[1].y


def test_without_checks_the_plot_is_empty_with_a_text() -> None:
    plot = health_plot((), NOW, 60, 120)
    assert (plot.blocks, plot.text) == ((), "No health data for the last 6 hours")
    assert all(line.path == "" for line in plot.lines)


def test_a_single_check_is_visible() -> None:
    plot = health_plot((HealthSpan(NOW, HealthGrade.FAILING, 1, 2, 3),), NOW, 60, 120)
    assert plot.blocks[0].width >= 1
    assert "L" in plot.lines[0].path


def test_checks_are_grouped_by_the_worst_grade() -> None:
    def sample(seconds: float, grade: HealthGrade, age: float) -> HealthSample:
        return HealthSample(NOW + timedelta(seconds=seconds), grade, age, age, age, 3, 0.0)

    first, second = spans(
        [
            sample(200, HealthGrade.HEALTHY, 3),
            sample(0, HealthGrade.HEALTHY, 5),
            sample(15, HealthGrade.FAILING, 140),
            sample(30, HealthGrade.RECOVERING, 9),
        ]
    )
    assert (first.at, first.grade, first.maximum) == (NOW, HealthGrade.FAILING, 140)
    assert (second.grade, second.maximum) == (HealthGrade.HEALTHY, 3)


@pytest.mark.parametrize(
    ("facts", "processes", "recycles"),
    [
        ({"processes": 14, "recycles_total": {"age": 2, "tasks": 1}}, 14, {"age": 2, "tasks": 1}),
        ({}, 0, {}),
        ({"processes": "many", "recycles_total": [1]}, 0, {}),
        ({"processes": -1, "recycles_total": {"age": None}}, 0, {"age": 0}),
        ({"processes": True}, 0, {}),
    ],
)
def test_only_numbers_are_taken_from_the_browser(facts: Any, processes: int, recycles: dict[str, int]) -> None:
    seen = browser_seen(facts)
    assert (seen.processes, seen.recycles) == (processes, recycles)
