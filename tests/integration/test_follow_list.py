"""The follow list in the database, and how a running system reads it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from found_footy.adapters.storage.postgres.follows import PostgresFollows
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.bootstrap_feeds import build_feed, declared_feeds, espn_leagues
from found_footy.config import Settings
from found_footy.domain.errors import BadRequest, FollowUnknown, StoreUnavailable
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.feeds.quota_estimate import FeedCost, PollingPlan
from found_footy.domain.feeds.source import FeedSource
from found_footy.domain.fixtures.following import MAX_ENTRIES, following_of
from found_footy.domain.fixtures.model import Stage
from found_footy.follow_book import REFRESH_SECONDS, FollowBook, follow_document
from tests.support.following import follow
from tests.support.football import START, match


@pytest.fixture
def follows(store: PostgresStore) -> PostgresFollows:
    return PostgresFollows(store.database)


async def test_the_later_change_of_an_entry_replaces_the_earlier(follows: PostgresFollows) -> None:
    await follows.change(["la-liga", "Real Madrid"], True, "desk", START)
    await follows.change(["la-liga"], False, "cli", START + timedelta(minutes=1))
    found = [(each.entry, each.followed, each.by) for each in await follows.changes()]
    assert found == [("Real Madrid", True, "desk"), ("la-liga", False, "cli")]


async def test_a_reset_drops_all_changes(follows: PostgresFollows) -> None:
    await follows.change(["la-liga", "serie-a"], True, "desk", START)
    assert await follows.reset() == 2
    assert await follows.changes() == []


async def test_changes_are_bounded(follows: PostgresFollows) -> None:
    await follows.change([f"team:{number}" for number in range(MAX_ENTRIES)], True, "desk", START)
    with pytest.raises(BadRequest, match="too many changes"):
        await follows.change(["team:one more"], True, "desk", START)
    await follows.change(["team:7"], False, "desk", START)
    assert len(await follows.changes()) == MAX_ENTRIES


async def test_the_next_kickoff_is_that_of_the_first_match_that_has_not_started(
    store: PostgresStore, follows: PostgresFollows
) -> None:
    assert await follows.next_kickoff(START) is None
    later = replace(match(fixture_id=2, status="NS", score=None), kickoff=START + timedelta(days=2))
    sooner = replace(match(fixture_id=3, status="NS", score=None), kickoff=START + timedelta(hours=3))
    await follow(store, [(match(), Stage.ACTIVE), (later, Stage.STAGING), (sooner, Stage.STAGING)], START)
    found = await follows.next_kickoff(START + timedelta(hours=1))
    assert found is not None
    assert (found.fixture_id, found.kickoff) == (3, sooner.kickoff)


async def test_the_limits_that_feeds_stated_are_known(store: PostgresStore, follows: PostgresFollows) -> None:
    await store.save_feed_state("api_football", Quota(START, day_limit=7500, day_remaining=7000), START, None)
    await store.save_feed_state("espn", None, START, None)
    assert await follows.day_limits() == {"api_football": 7500}
    state = await FollowBook(["top5"], follows).state(
        [FeedCost("api_football", "api_football"), FeedCost("espn", "espn")], PollingPlan(), START
    )
    assert [(each.feed, each.limit) for each in state.estimates] == [("api_football", 7500), ("espn", None)]


async def test_a_running_system_reads_the_list_again_after_half_a_minute(follows: PostgresFollows) -> None:
    seconds = [0.0]
    book = FollowBook(["top5"], follows, monotonic=lambda: seconds[0])
    assert not (await book.refresh(REFRESH_SECONDS)).follows_competition("mls")
    await FollowBook(["top5"], follows).add(["MLS"], "desk", START)
    seconds[0] = REFRESH_SECONDS - 1
    assert not (await book.refresh(REFRESH_SECONDS)).follows_competition("mls")
    seconds[0] = REFRESH_SECONDS + 1
    assert (await book.refresh(REFRESH_SECONDS)).follows_competition("mls")
    assert book.current.follows_competition("mls")


async def test_the_list_stays_as_it_was_while_the_database_is_away(follows: PostgresFollows) -> None:
    class Away(PostgresFollows):
        async def changes(self) -> list:  # type: ignore[type-arg]
            raise StoreUnavailable("no answer")

    book = FollowBook(["La Liga"], Away(follows._db))
    assert (await book.refresh()).follows_competition("la-liga")


async def test_an_unknown_name_changes_nothing(follows: PostgresFollows) -> None:
    book = FollowBook(["top5"], follows)
    with pytest.raises(FollowUnknown, match="did you mean Premier League"):
        await book.add(["MLS", "Premier Leage"], "desk", START)
    assert await follows.changes() == []


async def test_removing_part_of_a_preset_leaves_the_rest(follows: PostgresFollows) -> None:
    book = FollowBook(["top5"], follows)
    await book.remove(["Serie A"], "desk", START)
    document = follow_document(await book.state([], PollingPlan(), START))
    followed = {each["slug"] for each in document["competitions"] if each["followed"]}
    assert followed == {"premier-league", "la-liga", "bundesliga", "ligue-1"}
    assert [each["followed"] for each in document["presets"] if each["name"] == "top5"] == [False]
    await book.reset()
    assert book.current.follows_competition("serie-a")


# --- what ESPN is asked for


@pytest.mark.parametrize(
    ("declared", "entries", "asked"),
    [
        ((), ["Premier League"], ("eng.1",)),
        (("cricket/8048",), ["Premier League"], ("eng.1", "cricket/8048")),
        (("soccer/kor.1",), ["Premier League"], ("soccer/kor.1",)),
        (("kor.1", "cricket/8048"), ["La Liga", "IPL"], ("kor.1", "cricket/8048")),
        ((), ["La Liga", "IPL"], ("esp.1", "cricket/8048")),
    ],
)
def test_declared_football_leagues_override_the_list(
    declared: tuple[str, ...], entries: list[str], asked: tuple[str, ...]
) -> None:
    assert espn_leagues(declared, following_of(entries)) == asked


def test_the_setting_for_espn_stands_for_the_leagues_of_a_feed_that_declares_none() -> None:
    settings = Settings().model_copy(update={"feed": "espn", "espn_leagues": ("kor.1",)})
    (source,) = declared_feeds(settings)()
    assert source.names_football_leagues
    (source,) = declared_feeds(Settings().model_copy(update={"feed": "espn"}))()
    assert not source.names_football_leagues


async def test_espn_follows_the_list_while_it_is_open() -> None:
    current = [following_of(["Premier League"])]
    feed = build_feed(Settings(), FeedSource("espn", "espn"), None, lambda: current[0])
    assert feed.requests_for(1) == 3, "yesterday, today and tomorrow"
    current[0] = following_of(["top5"])
    assert feed.requests_for(1) == 3 * 5
    await feed.aclose()
