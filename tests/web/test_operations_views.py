"""Texts and plots of the operations page, without a server."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from found_footy.operations.findings import assess
from found_footy.operations.models import HealthLimits, Hour
from found_footy.web.pages.operations import (
    OTHER_REASONS,
    goal_rows,
    hide_results,
    poll_bars,
    posts_text,
    rejection_stack,
    round_up,
    search_progress,
    search_stack,
    worker_rows,
    workflow_url,
)
from found_footy.web.rendering import with_code
from found_footy.web.services import WebRules
from tests.support.operations import NOW, a_goal, a_match, a_queue, ago, hours, measured, recorded, temporal

LIMITS = HealthLimits()
RULES = WebRules(temporal_ui_url="http://127.0.0.1:8233/")


@pytest.mark.parametrize(
    ("seconds", "width", "late", "said"),
    [
        (0, 0, False, "0 s"),
        (45, 25, False, "45 s"),
        (90, 50, False, "90 s"),
        (91, 50.6, True, "91 s"),
        (9000, 100, True, "2 h 30 min"),
    ],
)
def test_a_late_poll_crosses_the_limit_mark(seconds: int, width: float, late: bool, said: str) -> None:
    (bar,) = poll_bars(measured(recorded=recorded(matches=(a_match(polled_seconds=seconds),))), LIMITS)
    assert (bar.width, bar.late, bar.age) == (width, late, said)


def test_the_oldest_polls_come_first_up_to_a_limit() -> None:
    matches = tuple(a_match(number, number % 97) for number in range(300))
    bars = poll_bars(measured(recorded=recorded(matches=matches)), LIMITS)
    assert (len(bars), bars[0].age, bars[0].late) == (40, "96 s", True)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"status": "validating", "seen": 2}, "seen 2/3"),
        ({"search_started": False}, "search starting"),
        ({"attempts": 4}, "search 4/10"),
    ],
)
def test_search_progress_of_a_goal(more: dict[str, object], said: str) -> None:
    assert search_progress(a_goal(**more), RULES) == said


@pytest.mark.parametrize(
    ("states", "said"),
    [({}, "no posts yet"), ({"lost": 2, "downloading": 1}, "1 downloading · 2 lost"), ({"odd": 3}, "no posts yet")],
)
def test_posts_of_a_goal_are_summarized(states: dict[str, int], said: str) -> None:
    assert posts_text(states) == said


def test_an_inactive_goal_is_marked_and_links_its_workflow() -> None:
    goals = (a_goal(searched_at=ago(minutes=11)), a_goal("7002_1_2_Goal_1", stable_at=None, search_started=False))
    late, young = goal_rows(measured(recorded=recorded(goals=goals)), RULES, LIMITS, lambda _: False)
    assert (late.late, late.last_activity) == (True, "11 min")
    assert late.workflow_url == ("http://127.0.0.1:8233/namespaces/default/workflows/search-7001_40_306_Goal_1")
    assert (young.late, young.workflow_url) == (False, None)


def test_workflow_links_need_a_temporal_ui() -> None:
    assert workflow_url(WebRules(), "search-x") is None
    strange = replace(RULES, temporal_namespace="a/b")
    assert workflow_url(strange, "<x>") == "http://127.0.0.1:8233/namespaces/a%2Fb/workflows/%3Cx%3E"


def test_goals_of_hidden_matches_are_not_listed() -> None:
    system = measured(recorded=recorded(goals=(a_goal(searched_at=ago(hours=1)),)))
    assert goal_rows(system, RULES, LIMITS, lambda _: True) == ()
    (veiled,) = hide_results(assess(system, LIMITS), lambda _: True).findings
    assert "Salah" not in repr(veiled)
    assert "7001_40" not in repr(veiled)
    (open_one,) = hide_results(assess(system, LIMITS), lambda _: False).findings
    assert "Salah" in open_one.what


def test_each_worker_is_listed_once() -> None:
    queues = (a_queue(seen_seconds=5), a_queue("activity", seen_seconds=200))
    (row,) = worker_rows(temporal(queues=queues), NOW)
    assert (row.identity, row.seen, row.late) == ("4711@desk", "5 s", False)


@pytest.mark.parametrize(("number", "top"), [(0, 5), (3, 5), (6, 10), (10, 10), (11, 20), (45, 50), (501, 1000)])
def test_the_plot_scale_is_rounded_up(number: int, top: int) -> None:
    assert round_up(number) == top


def test_bars_are_stacked_within_the_plot() -> None:
    plot = search_stack(hours())
    assert len(plot.columns) == 24
    assert plot.totals == (sum(hour.answered for hour in hours()), sum(hour.failed for hour in hours()))
    for column in plot.columns:
        bottom = 60.0
        for part in column.segments:
            assert part.y + part.height == pytest.approx(bottom, abs=0.02)
            bottom = part.y
        assert bottom >= 0
    assert plot.columns[-1].text == "99 answered, 3 failed"


def test_the_most_frequent_rejections_have_their_own_colour() -> None:
    one = Hour(NOW, 0, 0, {f"class {number}": 10 - number for number in range(8)})
    plot = rejection_stack([one])
    assert plot.names == ("class 0", "class 1", "class 2", "class 3", "class 4", OTHER_REASONS)
    assert plot.totals == (10, 9, 8, 7, 6, 5 + 4 + 3)


def test_no_rejections_are_an_empty_plot() -> None:
    plot = rejection_stack([Hour(NOW - timedelta(hours=number), 0, 0, {}) for number in range(24)])
    assert (plot.total, plot.names) == (0, ())


def test_only_backtick_sections_become_code() -> None:
    assert with_code("Start `footy up` <b>") == "Start <code>footy up</code> &lt;b&gt;"
    assert with_code("`<script>`") == "<code>&lt;script&gt;</code>"
    assert with_code("odd ` one") == "odd <code> one</code>"
