"""Two feeds over one clock: each with faults of its own, each of which the real adapters give its class."""

from __future__ import annotations

from typing import Any

import pytest
from feed_helpers import Feeds, feeds_of, scenario
from sim_helpers import goal, script

from footy_simulator.team_facts import espn_match_id
from found_footy.errors import (
    FeedBlocked,
    FeedError,
    FeedMalformed,
    FeedRateLimited,
    FeedSchemaError,
    FeedTimeWrong,
    FeedUnavailable,
    FootyError,
    UnknownStatus,
)
from found_footy.feeds.models import FeedAnswer, ScoreFeed
from found_footy.fixtures.models import LiveFixture, MatchMinute, Score

FEEDS = ("api_football", "espn")
OTHER = {"home": {"id": 42, "name": "Arsenal"}, "away": {"id": 47, "name": "Tottenham"}}
MATCHES = (script(kickoff="-30m", goals=[goal(9)]), script(id=2, kickoff="-30m", **OTHER))


def with_faults(feed: str, *faults: dict[str, Any]) -> dict[str, Any]:
    if feed == "api_football":
        return {"faults": list(faults), "feeds": {"espn": {}}}
    return {"feeds": {"espn": {"faults": list(faults)}}}


def named(feeds: Feeds, name: str) -> tuple[ScoreFeed, tuple[int, int]]:
    if name == "api_football":
        return feeds.api_football, (1, 2)
    return feeds.espn, (espn_match_id(1), espn_match_id(2))


def error_of(answer: FeedAnswer, match_id: int) -> FootyError | None:
    return answer.failures.get(match_id)


def fixture_of(answer: FeedAnswer, match_id: int) -> LiveFixture:
    return next(fixture for fixture in answer.fixtures if fixture.id == match_id)


@pytest.mark.parametrize("name", FEEDS)
@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("server_error", FeedUnavailable),
        ("truncated", FeedMalformed),
        ("html", FeedMalformed),
        ("captcha", FeedBlocked),
        ("rate_limit", FeedRateLimited),
        ("redirect_loop", FeedUnavailable),
        ("gzip_bomb", FeedMalformed),
    ],
)
async def test_a_fault_of_the_whole_feed_has_its_class_and_spares_the_other_feed(
    name: str, kind: str, error: type[FeedError]
) -> None:
    played = scenario(*MATCHES, **with_faults(name, {"at": "+0m", "kind": kind, "polls": 9}))
    async with feeds_of(played) as feeds:
        feed, ids = named(feeds, name)
        answer = await feeds.poll(feed, *ids)
        assert {type(failure) for failure in answer.failures.values()} == {error}
        assert set(answer.failures) == set(ids)
        other, other_ids = named(feeds, "espn" if name == "api_football" else "api_football")
        assert len((await feeds.poll(other, *other_ids)).fixtures) == 2


async def test_a_clock_that_is_an_hour_off() -> None:
    played = scenario(*MATCHES, **with_faults("espn", {"at": "+0m", "kind": "hour_off"}))
    async with feeds_of(played) as feeds:
        feed, ids = named(feeds, "espn")
        assert {type(e) for e in (await feeds.poll(feed, *ids)).failures.values()} == {FeedTimeWrong}
        assert (await feeds.poll(feed, *ids)).failures == {}


async def test_an_answer_that_comes_too_late() -> None:
    played = scenario(*MATCHES, **with_faults("espn", {"at": "+0m", "kind": "timeout", "seconds": 30}))
    async with feeds_of(played, patience=2) as feeds:
        feed, ids = named(feeds, "espn")
        assert {type(e) for e in (await feeds.poll(feed, *ids)).failures.values()} == {FeedUnavailable}
        assert (await feeds.poll(feed, *ids)).failures == {}


@pytest.mark.parametrize("name", FEEDS)
@pytest.mark.parametrize(
    ("kind", "error"),
    [("bad_schema", FeedSchemaError), ("unknown_status", UnknownStatus), ("duplicate_id", FeedSchemaError)],
)
async def test_a_fault_of_one_match_spares_the_others(name: str, kind: str, error: type[FootyError]) -> None:
    played = scenario(*MATCHES, **with_faults(name, {"at": "+0m", "kind": kind, "match": 1}))
    async with feeds_of(played) as feeds:
        feed, ids = named(feeds, name)
        first, second = await feeds.poll(feed, *ids), await feeds.poll(feed, *ids)
    assert isinstance(error_of(first, ids[0]), error)
    assert [fixture.id for fixture in first.fixtures] == [ids[1]]
    assert len(second.fixtures) == 2


@pytest.mark.parametrize("name", FEEDS)
async def test_a_false_goal_lasts_its_polls_with_one_identity(name: str) -> None:
    fault = {"at": "+2m", "kind": "invented_goal", "match": 2, "polls": 2}
    async with feeds_of(scenario(*MATCHES, **with_faults(name, fault))) as feeds:
        feed, ids = named(feeds, name)
        seen = [fixture_of(await feeds.poll(feed, *ids), ids[1]) for _ in range(6)]
    assert [fixture.score for fixture in seen] == [Score(0, 0)] * 2 + [Score(1, 0)] * 2 + [Score(0, 0)] * 2
    lies = [fixture.goals for fixture in seen[2:4]]
    assert lies[0] == lies[1]
    assert [str(lie.minute) for lie in lies[0]] == ["31'"]


@pytest.mark.parametrize("name", FEEDS)
async def test_a_score_that_counts_too_much(name: str) -> None:
    fault = {"at": "+0m", "kind": "wrong_score", "match": 1}
    async with feeds_of(scenario(*MATCHES, **with_faults(name, fault))) as feeds:
        feed, ids = named(feeds, name)
        wrong = fixture_of(await feeds.poll(feed, *ids), ids[0])
        right = fixture_of(await feeds.poll(feed, *ids), ids[0])
    assert (wrong.score, len(wrong.goals)) == (Score(2, 0), 1)
    assert (right.score, len(right.goals)) == (Score(1, 0), 1)


@pytest.mark.parametrize("name", FEEDS)
async def test_a_match_that_goes_back_in_time(name: str) -> None:
    fault = {"at": "+1m", "kind": "back_in_time", "match": 1}
    async with feeds_of(scenario(*MATCHES, **with_faults(name, fault))) as feeds:
        feed, ids = named(feeds, name)
        seen = [fixture_of(await feeds.poll(feed, *ids), ids[0]).minute for _ in range(3)]
    assert seen == [MatchMinute(30), MatchMinute(11), MatchMinute(32)]


async def test_the_duration_of_an_outage_is_independent_of_requests() -> None:
    fault = {"at": "+2m", "kind": "server_error", "lasts": 3}
    async with feeds_of(scenario(*MATCHES, **with_faults("espn", fault))) as feeds:
        feed, ids = named(feeds, "espn")
        dead = [bool((await feeds.poll(feed, *ids, minutes=0.5)).failures) for _ in range(12)]
    # The first poll sees the very start, the next one half a minute later.
    assert dead == [False] * 4 + [True] * 6 + [False] * 2


async def test_time_advances_with_the_polls_of_any_feed() -> None:
    async with feeds_of(scenario(*MATCHES, feeds={"espn": {}}), max_step=60) as feeds:
        ours, mine = named(feeds, "api_football")
        espn, theirs = named(feeds, "espn")
        await feeds.poll(espn, *theirs)
        for _ in range(3):
            await feeds.poll(espn, *theirs)
        assert feeds.simulator.state().offset_seconds == 180
        await feeds.poll(ours, *mine, minutes=0)
        assert feeds.simulator.state().offset_seconds == 180, "what one feed has moved, another does not move again"
        assert feeds.simulator.state().polls == 5
