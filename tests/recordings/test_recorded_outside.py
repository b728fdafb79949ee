"""Searches and downloads of a recording: the same question gets the answer that it got then."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from found_footy.clips.models import RejectionReason, clip_key
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.selection import SelectionRules, is_recent
from found_footy.errors import CandidateRejected, SourceRateLimited
from found_footy.recordings.models import RecordedDownload, RecordedSearch, SourceResult
from found_footy.recordings.playback import FILE_MISSING, RecordedDownloader, RecordedSource, RunningSearch
from found_footy.storage.objects.store import ThreadedObjectStore
from tests.support.recordings import post, search

EVENT = "5000_40_7_Goal_1"
SPEED = 20.0
OLDEST = timedelta(seconds=180) / SPEED
NOW = datetime(2030, 5, 1, 12, 0, tzinfo=UTC)
SINCE = NOW - OLDEST
QUERY = SearchQuery(("Seven",), ("Liverpool", "LFC"))


@dataclass
class Asking:
    """Who asks at the moment."""

    event_id: str = EVENT
    again: bool = False

    def __call__(self) -> RunningSearch:
        return RunningSearch(self.event_id, self.again)


@pytest.fixture
def asking() -> Asking:
    return Asking()


def source(asking: Asking, name: str = "bluesky") -> RecordedSource:
    searches = (
        search(EVENT, 2, post("b", poll=11), post("a", poll=9), poll=12),
        search(EVENT, 1, post("a", poll=9), post("old", poll=1), post("x", source="x"), poll=10),
        search("5000_40_7_Goal_2", 1, post("second", poll=20), poll=21, failed=SourceRateLimited("slower")),
        search("5000_40_9_Goal_1", 1, post("nine", poll=30), poll=31, players=("Nine",)),
    )
    return RecordedSource(name, searches, asking, speed=SPEED, max_post_age=OLDEST)


async def names(source_: RecordedSource, query: SearchQuery = QUERY) -> list[str]:
    return [each.id for each in await source_.search(query, SINCE)]


async def test_each_search_returns_its_recorded_posts(asking: Asking) -> None:
    found = source(asking)
    assert await names(found) == ["a", "old"]
    assert await names(found) == ["b", "a"]
    assert await names(found) == []  # there was no third one
    assert "4 searches of bluesky" in await found.check()
    await found.aclose()


async def test_a_retried_search_returns_the_same_posts(asking: Asking) -> None:
    found = source(asking)
    first = await names(found)
    asking.again = True
    assert await names(found) == first
    asking.again = False
    assert await names(found) == ["b", "a"]


async def test_goals_of_one_player_are_distinguished(asking: Asking) -> None:
    found = source(asking)
    asking.event_id = "5000_40_7_Goal_2"
    assert await names(found) == ["second"]
    asking.event_id = EVENT
    assert await names(found) == ["a", "old"]


async def test_goals_are_matched_despite_other_id_offsets(asking: Asking) -> None:
    asking.event_id = "77000000005000_77000000000040_77000000000007_Goal_1"
    assert await names(source(asking)) == ["a", "old"]


async def test_an_unrecorded_goal_uses_searches_with_the_same_names(asking: Asking) -> None:
    asking.event_id = "5000_40_11_Goal_1"
    assert await names(source(asking), SearchQuery(("Nine",), ("Liverpool", "LFC"))) == ["nine"]
    assert await names(source(asking), SearchQuery(("Nobody",), ("Liverpool",))) == []


async def test_post_age_is_scaled_to_the_replay_speed(asking: Asking) -> None:
    young, old = await source(asking).search(QUERY, SINCE)
    assert NOW - young.posted_at == timedelta(seconds=30) / SPEED
    rules = SelectionRules(5, OLDEST)
    assert [is_recent(each.posted_at, NOW, rules) for each in (young, old)] == [True, False]


async def test_a_recorded_source_failure_is_repeated(asking: Asking) -> None:
    found = source(asking, "x")
    asking.event_id = "5000_40_7_Goal_2"
    with pytest.raises(SourceRateLimited, match="slower"):
        await found.search(QUERY, SINCE)


async def test_posts_of_fxtwitter_are_replayed_as_posts_of_x(asking: Asking) -> None:
    recorded = RecordedSearch(
        EVENT, 1, NOW, QUERY.players, QUERY.teams, (SourceResult("fxtwitter", 1),), (post("x", source="x"),)
    )
    found = RecordedSource("fxtwitter", [recorded], asking, speed=SPEED, max_post_age=OLDEST)
    assert await names(found) == ["x"]


# --- downloads

KEPT, GONE, COPY = "a" * 32, "b" * 32, "c" * 32
DOWNLOADS = (
    RecordedDownload(EVENT, "bluesky:kept", "https://kept", md5=KEPT, clip=KEPT),
    RecordedDownload(EVENT, "x:copy", "https://copy", md5=COPY, clip=KEPT),
    RecordedDownload(EVENT, "x:short", "https://short", rejection_reason="too short", detail="1 s"),
    RecordedDownload(EVENT, "x:other", "https://other", md5=GONE, rejection_reason="wrong minute", detail="67'"),
    RecordedDownload(EVENT, "x:lost", "https://lost", md5=GONE, clip=GONE),
    RecordedDownload(EVENT, "x:never", "https://never"),
    # found for two goals, a clip of the second one only
    RecordedDownload(EVENT, "x:both", "https://both", md5=KEPT, rejection_reason="wrong minute"),
    RecordedDownload("5000_40_7_Goal_2", "x:both", "https://both", md5=KEPT, clip=KEPT),
)


@pytest.fixture
async def downloader(objects: ThreadedObjectStore, tmp_path: Path) -> RecordedDownloader:
    path = tmp_path / "film"
    await asyncio.to_thread(path.write_bytes, b"film")
    for event in (EVENT, "5000_40_7_Goal_2"):
        await objects.put(clip_key(5000, event, KEPT), path)
    return RecordedDownloader(5000, DOWNLOADS, objects)


@pytest.mark.parametrize("url", ["https://kept", "https://copy", "https://both"])
async def test_a_recorded_file_is_returned(downloader: RecordedDownloader, url: str, tmp_path: Path) -> None:
    to = tmp_path / "got"
    await downloader.fetch(url, to)
    assert to.read_bytes() == b"film"
    await downloader.aclose()


@pytest.mark.parametrize(
    ("url", "loss", "words"),
    [
        ("https://short", RejectionReason.TOO_SHORT, "1 s"),
        ("https://other", RejectionReason.WRONG_MINUTE, "67'"),
        ("https://lost", RejectionReason.GONE, FILE_MISSING),
        ("https://never", RejectionReason.PASSED_OVER, "as recorded"),
        ("https://unheard-of", RejectionReason.PASSED_OVER, "not downloaded"),
    ],
)
async def test_a_recorded_rejection_is_repeated(
    downloader: RecordedDownloader, url: str, loss: RejectionReason, words: str, tmp_path: Path
) -> None:
    with pytest.raises(CandidateRejected, match=words) as lost:
        await downloader.fetch(url, tmp_path / "got")
    assert lost.value.reason == loss
    assert not (tmp_path / "got").exists()


async def test_a_clip_whose_file_is_missing_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(CandidateRejected, match=FILE_MISSING):
        await RecordedDownloader(5000, DOWNLOADS, None).fetch("https://kept", tmp_path / "got")
