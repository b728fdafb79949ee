"""What the outbox tells of: all of it is listed, and a poll tells what changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from found_footy.errors import BadRequest
from found_footy.fixtures.comparison import apply_poll
from found_footy.fixtures.lifecycle import LifecycleRules
from found_footy.fixtures.models import FixtureState, LiveFixture, MatchMinute, OutboxEvent
from found_footy.notifications.models import TOPICS, expand_topics
from tests.support.football import RULES, START, MatchMonitor, match, poll
from tests.test_docs import outbox_topics


def test_exactly_the_published_topics_are_listed() -> None:
    assert set(outbox_topics()) == set(TOPICS)
    assert all(": " in description for description in TOPICS.values())


@pytest.mark.parametrize(
    ("patterns", "meant"),
    [
        ([], set()),
        (["goal.seen"], {"goal.seen"}),
        (["clip.*"], {"clip.published", "clip.replaced", "clip.taken_down"}),
        (["clip.*", "clips.*"], {"clip.published", "clip.replaced", "clip.taken_down", "clips.ranked"}),
    ],
)
def test_topic_wildcards(patterns: list[str], meant: set[str]) -> None:
    assert expand_topics(patterns) == meant


@pytest.mark.parametrize(
    "pattern", ["", "*", ".*", "goal", "goal.", "goal*", "go.*", "GOAL.*", "goal.gone", "x" * 9999]
)
def test_an_unknown_topic_is_refused_with_the_list_of_topics(pattern: str) -> None:
    with pytest.raises(BadRequest, match=r"the topics are fixture\.staging, .*clips\.ranked") as refused:
        expand_topics([pattern])
    assert len(str(refused.value)) < 700


def news(state: FixtureState, live: LiveFixture) -> list[OutboxEvent]:
    outcome = apply_poll(state, live, poll(9), RULES, LifecycleRules())
    assert outcome is not None
    return list(outcome.outbox_events)


@pytest.mark.parametrize(
    ("status", "before", "after", "told"),
    [
        ("1H", (23, None), (24, None), {"elapsed": 24, "extra": None}),
        ("1H", (45, None), (45, 1), {"elapsed": 45, "extra": 1}),
        ("2H", (45, 3), (46, None), {"elapsed": 46, "extra": None}),
        ("1H", None, (1, None), {"elapsed": 1, "extra": None}),
        ("1H", (23, None), (23, None), None),
        ("1H", (23, None), None, None),  # the feed says nothing for once
        ("FT", (89, None), (90, None), None),  # nothing runs any more
    ],
)
def test_fixture_clock_is_published_when_the_minute_changes_in_play(
    status: str,
    before: tuple[int, int | None] | None,
    after: tuple[int, int | None] | None,
    told: dict[str, int | None] | None,
) -> None:
    live = replace(match(status=status), minute=MatchMinute(*after) if after else None)
    state = FixtureState(live.id, status, live.score, START, minute=MatchMinute(*before) if before else None)
    assert [each.payload for each in news(state, live) if each.topic == "fixture.clock"] == ([told] if told else [])


@pytest.mark.parametrize(
    ("polls", "told"),
    [
        (0, [("goal.seen", None)]),
        (1, [("goal.progress", 2)]),
        (2, [("goal.stable", None)]),
        (3, []),
    ],
)
def test_goal_progress_counts_consecutive_polls(polls: int, told: list[tuple[str, int]]) -> None:
    monitor = MatchMonitor()
    monitor.poll("23 home 7", times=polls)
    live = match("23 home 7")
    state = FixtureState(live.id, live.status, live.score, START, live.minute, events=tuple(monitor.events.values()))
    assert [(each.topic, each.payload.get("seen")) for each in news(state, live)] == told


def test_a_stable_goal_that_reappears_is_not_progress() -> None:
    monitor = MatchMonitor()
    monitor.poll("23 home 7", times=3)
    monitor.poll()
    live = match("23 home 7")
    state = FixtureState(live.id, live.status, live.score, START, live.minute, events=tuple(monitor.events.values()))
    assert news(state, live) == []
