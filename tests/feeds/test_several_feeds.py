"""Several feeds for one match: real store, real cache, feeds that say what the test wants."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from found_footy.errors import FeedBlocked, FeedError, FeedMalformed, FeedUnavailable, NotFound, PageLoadFailed
from found_footy.feeds.alignment import ID_SPAN
from found_footy.feeds.models import MonitoringState
from found_footy.fixtures.models import FixtureStage, IngestDayInput, League, LiveFixture, Player, Team
from found_footy.fixtures.store import FixtureStore
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.redis import RedisCache
from tests.support.feeds import ScriptedFeed
from tests.support.football import START, match
from tests.support.polling import FeedSystem

DAY = START.date()
OTHER_ID = 740
TEAMS = {"home": Team(364, "Liverpool FC", "LIV"), "away": Team(382, "Man City", "MNC")}


def second(*goals: str, **said: Any) -> LiveFixture:
    """The same match at a feed with other ids and other names."""
    live = match(*goals, fixture_id=OTHER_ID, **said)
    named = tuple(
        replace(goal, player=Player(goal.player.id and goal.player.id + 900, goal.player.name)) for goal in live.goals
    )
    return replace(live, feed="two", league=League(23, "English Premier League"), goals=named, **TEAMS)


@pytest.fixture
async def system(store: FixtureStore, cache: RedisCache, objects: ObjectStore) -> FeedSystem:
    """A match that both feeds list, founded by the first."""
    feeds = {"one": ScriptedFeed(match()), "two": ScriptedFeed(second())}
    feeds["one"].days[DAY] = [match()]
    feeds["two"].days[DAY] = [second()]
    system = FeedSystem(store, cache, objects, feeds)
    ingested = await system.call(system.ingest.ingest_day, IngestDayInput(DAY.isoformat(), START))
    assert (ingested.found, ingested.added, ingested.joined, ingested.doubtful) == (2, 1, 1, 0)
    return system


async def goals(system: FeedSystem) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = (await system.store.fixture(5000))["events"]
    return events


async def test_two_feeds_that_agree_make_a_goal_certain_at_once(system: FeedSystem) -> None:
    system.feeds["two"].serve(second("23 home 7"))
    assert (await system.poll(match("23 home 7"))).to_search == ["5000_40_7_Goal_1"]
    (goal,) = await goals(system)
    assert (goal["_feeds"], goal["_stable_count"]) == (["one", "two"], 1)


async def test_one_feed_alone_takes_three_polls_as_ever(system: FeedSystem) -> None:
    results = [await system.poll(match("23 home 7")) for _ in range(3)]
    assert [bool(result.to_search) for result in results] == [False, False, True]


async def test_a_goal_that_only_the_second_feed_has_is_found_too(system: FeedSystem) -> None:
    system.feeds["two"].serve(second("23 home 7"))
    for _ in range(3):
        await system.poll()
    (goal,) = await goals(system)
    assert goal["_debounce_complete"]
    assert goal["_event_id"] == "5000_40_0_Goal_1", "the other feed's number of the player is not ours"


async def test_when_a_feed_dies_the_other_takes_over_without_new_ids(system: FeedSystem) -> None:
    system.feeds["two"].serve(second("23 home 7"))
    await system.poll(match("23 home 7"))
    system.feeds["one"].down = FeedUnavailable("gone")
    system.feeds["two"].serve(second("23 home 7", "50 away 9"))
    for _ in range(8):
        result = await system.poll()
        assert (result.asked, result.answered, result.failed) == (1, 1, 0)
    first, late = await goals(system)
    assert (first["player"], first["_attributions"]) == ({"id": 7, "name": "Player 7"}, [])
    assert late["_debounce_complete"]
    record = (await system.memory.records.load(["one_5000"]))["one_5000"]
    assert (record.state, record.consecutive_failures) == (MonitoringState.PAUSED, 5)
    assert (await system.store.fixture(5000))["error"] is None, "one of its feeds answers"


async def test_pages_that_do_not_open_are_counted_by_feed(system: FeedSystem) -> None:
    system.feeds["one"].failures[5000] = PageLoadFailed("no connection")
    system.feeds["two"].down = FeedUnavailable("HTTP 500")
    for _ in range(2):
        await system.poll()
    totals = await system.memory.counters.totals()
    assert (totals["one"].failed, totals["one"].navigation_failures) == (2, 2)
    assert (totals["two"].failed, totals["two"].navigation_failures) == (2, 0)


async def test_a_paused_match_is_tried_again_after_its_cool_down(system: FeedSystem) -> None:
    one = system.feeds["one"]
    one.down = FeedUnavailable("gone")
    for _ in range(5):
        await system.poll()
    asked = len(one.requests)
    system.number += 1
    assert (await system.poll_feeds(["one"]))["one"].paused == 1
    assert len(one.requests) == asked
    one.down = None
    system.number += 4  # the cool-down is two minutes
    await system.poll()
    assert len(one.requests) == asked + 1
    assert (await system.memory.records.load(["one_5000"]))["one_5000"].state is MonitoringState.ACTIVE


async def test_a_goal_reported_in_one_poll_only_is_withdrawn_and_not_searched_for(system: FeedSystem) -> None:
    system.feeds["two"].serve(second("23 home 7"))
    assert (await system.poll()).to_search == []
    system.feeds["two"].serve(second())
    for _ in range(4):
        assert (await system.poll()).to_search == []
    (lie,) = await goals(system)
    assert (lie["_debounce_complete"], lie["_removed"]) == (False, True)


@pytest.mark.parametrize("error", [FeedMalformed("HTML"), FeedBlocked("a captcha"), FeedUnavailable("HTTP 500")])
async def test_with_every_feed_down_the_state_stays_with_the_error(system: FeedSystem, error: FeedError) -> None:
    system.feeds["two"].serve(second("23 home 7"))
    await system.poll(match("23 home 7"))
    for feed in system.feeds.values():
        feed.down = error
    for _ in range(3):
        assert (await system.poll()).failed == 1
    document = await system.store.fixture(5000)
    assert document["goals"] == {"home": 1, "away": 0}
    assert [goal["_removed"] for goal in document["events"]] == [False]
    assert document["error"]["message"].count(error.kind) == 2
    assert (await system.memory.freshness.times())[5000] < system.order.at - timedelta(seconds=60)


async def test_each_field_has_its_source_and_the_other_values(system: FeedSystem, database_url: str) -> None:
    system.feeds["two"].serve(replace(second("23 home 7"), venue="Anfield"))
    await system.poll(match())
    async with system.store.database.connection() as connection:
        row = await (await connection.execute("select origins, venue from fixtures where id = 5000")).fetchone()
        disputed = await (
            await connection.execute("select field, reported, chosen, polls from contradictions")
        ).fetchall()
    assert row is not None
    assert (row["origins"]["venue"]["feed"], row["venue"]) == ("two", "Anfield")
    score = row["origins"]["score"]
    assert (score["feed"], score["value"]) == ("one", "0-0")
    assert [(other["feed"], other["value"]) for other in score["others"]] == [("two", "1-0")]
    assert [dict(each) for each in disputed] == [
        {"field": "score", "reported": {"one": "0-0", "two": "1-0"}, "chosen": "one", "polls": 1}
    ]


async def test_a_feed_is_switched_off_and_on_while_everything_runs(system: FeedSystem) -> None:
    await system.switches.switch("two", False)
    system.feeds["two"].serve(second("23 home 7"))
    await system.poll(match("23 home 7"))
    (goal,) = await goals(system)
    assert goal["_feeds"] == ["one"]
    await system.switches.switch("two", None)
    await system.poll()
    (goal,) = await goals(system)
    assert goal["_feeds"] == ["one", "two"]


async def test_a_feed_that_is_switched_off_neither_excuses_nor_accuses_the_others(system: FeedSystem) -> None:
    system.feeds["two"].down = FeedUnavailable("gone")
    await system.poll()
    await system.switches.switch("two", False)
    system.number += 4
    system.feeds["one"].fixtures.clear()
    system.number += 13 * 120
    assert (await system.poll()).failed == 1
    document = await system.store.fixture(5000)
    assert (document["stage"], "gone" in document["error"]["message"]) == ("staging", False)


async def test_a_match_reports_the_failure_of_its_only_enabled_feed(system: FeedSystem) -> None:
    await system.poll()  # both answer
    await system.switches.switch("two", False)
    system.feeds["one"].down = FeedUnavailable("gone")
    assert (await system.poll()).failed == 1
    assert "one: FeedUnavailable: gone" in (await system.store.fixture(5000))["error"]["message"]


async def test_an_emptied_cache_is_rebuilt_by_the_next_poll(system: FeedSystem) -> None:
    await system.poll(match("23 home 7"))
    await system.cache.run("FLUSHDB")
    for _ in range(2):
        await system.poll()
    (goal,) = await goals(system)
    assert goal["_debounce_complete"]


async def test_a_doubtful_pairing_is_not_made_and_a_person_decides(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore
) -> None:
    feeds = {"one": ScriptedFeed(match()), "two": ScriptedFeed()}
    feeds["one"].days[DAY] = [match()]
    unsure = replace(second(), home=Team(1, "Liverpool"), away=Team(2, "Skyblues"))
    feeds["two"].days[DAY] = [unsure]
    feeds["two"].serve(unsure)
    system = FeedSystem(store, cache, objects, feeds)
    order = IngestDayInput(DAY.isoformat(), START)
    ingested = await system.call(system.ingest.ingest_day, order)
    assert (ingested.added, ingested.joined, ingested.doubtful) == (1, 0, 1)
    assert len(await store.fixtures()) == 1
    (doubt,) = await system.listings.doubtful()
    assert (doubt.feed, doubt.feed_id, doubt.fixture_id) == ("two", OTHER_ID, 5000)
    assert doubt.reasons
    await system.listings.decide("two", OTHER_ID, 5000, True, START)
    assert await system.listings.doubtful() == []
    assert [each["feed"] for each in (await store.fixture(5000))["_feeds"]] == ["one", "two"]
    with pytest.raises(NotFound):
        await system.listings.decide("two", OTHER_ID, 5000, True, START)


async def test_a_rejected_pairing_becomes_a_separate_match(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore
) -> None:
    feeds = {"one": ScriptedFeed(match()), "two": ScriptedFeed()}
    feeds["one"].days[DAY] = [match()]
    feeds["two"].days[DAY] = [replace(second(), home=Team(1, "Liverpool"), away=Team(2, "Skyblues"))]
    system = FeedSystem(store, cache, objects, feeds)
    order = IngestDayInput(DAY.isoformat(), START)
    await system.call(system.ingest.ingest_day, order)
    await system.listings.decide("two", OTHER_ID, 5000, False, START)
    again = await system.call(system.ingest.ingest_day, order)
    assert (again.added, again.doubtful) == (1, 0)
    ids = sorted(document["_id"] for document in await store.fixtures())
    assert ids[0] == 5000
    assert ids[1] > ID_SPAN, "numbers of another feed never mean the first one's matches"


async def test_the_second_feed_creates_unlisted_matches_and_the_first_joins_later(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore
) -> None:
    feeds = {"one": ScriptedFeed(), "two": ScriptedFeed(second())}
    feeds["two"].days[DAY] = [second()]
    system = FeedSystem(store, cache, objects, feeds)
    await system.call(system.ingest.ingest_day, IngestDayInput(DAY.isoformat(), START))
    feeds["one"].days[DAY] = [match()]
    feeds["one"].serve(match())
    ingested = await system.call(system.ingest.ingest_day, IngestDayInput(DAY.isoformat(), START))
    assert (ingested.added, ingested.joined) == (0, 1)
    (document,) = await store.fixtures()
    assert document["_id"] == OTHER_ID + document["_id"] // ID_SPAN * ID_SPAN
    assert document["teams"]["home"]["name"] == "Liverpool FC"
    feeds["two"].serve(second("23 home 7"))
    await system.poll(match("23 home 7"))
    (goal,) = (await store.fixture(document["_id"]))["events"]
    assert goal["_debounce_complete"]
    assert goal["player"]["id"] == 907 + document["_id"] // ID_SPAN * ID_SPAN


async def test_matches_of_another_day_are_not_the_same(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore
) -> None:
    feeds = {"one": ScriptedFeed(match()), "two": ScriptedFeed()}
    feeds["one"].days[DAY] = [match()]
    tomorrow: date = DAY + timedelta(days=1)
    feeds["two"].days[tomorrow] = [replace(second(status="NS", score=None), kickoff=START + timedelta(days=1))]
    system = FeedSystem(store, cache, objects, feeds)
    for day in (DAY, tomorrow):
        await system.call(system.ingest.ingest_day, IngestDayInput(day.isoformat(), START))
    assert len(await store.fixtures()) == 2
    assert {document["stage"] for document in await store.fixtures()} == {FixtureStage.ACTIVE, FixtureStage.STAGING}


async def test_before_kickoff_the_founding_feed_determines_the_teams(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore
) -> None:
    waiting = replace(match(status="NS", score=None), kickoff=START + timedelta(days=1))
    unknown = replace(waiting, home=Team(40, "Winner Match 12"))
    feeds = {"one": ScriptedFeed(unknown), "two": ScriptedFeed()}
    feeds["one"].days[DAY] = [unknown]
    system = FeedSystem(store, cache, objects, feeds)
    await system.call(system.ingest.ingest_day, IngestDayInput(DAY.isoformat(), START))
    feeds["one"].serve(waiting)
    await system.poll_feeds()
    await system.call(system.monitor.poll_staging_fixtures, system.order)
    assert (await store.fixture(5000))["teams"]["home"]["name"] == "Liverpool"


async def test_a_second_feed_creates_no_match_with_unknown_teams(
    store: FixtureStore, cache: RedisCache, objects: ObjectStore
) -> None:
    feeds = {"one": ScriptedFeed(), "two": ScriptedFeed()}
    feeds["two"].days[DAY] = [replace(second(), home=Team(1, "Round of 32 12 Winner"))]
    system = FeedSystem(store, cache, objects, feeds)
    ingested = await system.call(system.ingest.ingest_day, IngestDayInput(DAY.isoformat(), START))
    assert (ingested.found, ingested.added) == (1, 0)
