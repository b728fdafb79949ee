"""From polls and searches to one file: on a real database and a real object store."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from found_footy.clips.store import ClipStore
from found_footy.discovery.models import SourceReport
from found_footy.discovery.query import SearchQuery
from found_footy.errors import FeedUnavailable, NotFound, ObjectStoreError, ObjectStoreUnavailable, SourceUnavailable
from found_footy.feeds.snapshot import encode
from found_footy.fixtures.models import FixtureStage, LiveFixture
from found_footy.fixtures.store import FixtureStore
from found_footy.recordings.file_format import unpack
from found_footy.recordings.models import AnswerToRecord, RecordedFeed, Recording, recording_key
from found_footy.recordings.recorder import MAX_SEALED, RETRY_DELAY, MatchRecorder
from found_footy.recordings.store import RecordingStore
from found_footy.storage.objects.store import ThreadedObjectStore
from tests.support.clips import GOAL, post, record_search, stable_goal
from tests.support.football import START, follow_matches, match
from tests.support.recordings import RULES, at

FEED = "test"
QUERY = SearchQuery(("Seven",), ("Liverpool",))


class Recorded:
    """A recorder with its stores, and what it has made."""

    def __init__(self, store: FixtureStore, objects: ThreadedObjectStore, folder: Path) -> None:
        self.fixtures = store
        self.store = RecordingStore(store.database)
        self.objects = objects
        self.recorder = MatchRecorder(self.store, objects, RULES)
        self._folder = folder

    async def follow(self, *fixtures: LiveFixture) -> None:
        await follow_matches(self.fixtures, [(live, FixtureStage.ACTIVE) for live in fixtures], START)

    async def hear(
        self, poll: int, *answers: LiveFixture, failures: Mapping[int, FeedUnavailable] | None = None
    ) -> None:
        given = [AnswerToRecord(live.id, at(poll), encode(live)) for live in answers]
        given += [AnswerToRecord(id_, at(poll), error=error) for id_, error in (failures or {}).items()]
        await self.recorder.record_poll(FEED, given)

    async def complete(self, fixture_id: int = 5000) -> None:
        sql = f"update fixtures set stage = 'completed', completed_at = now() where id = {fixture_id}"
        async with self.fixtures.database.connection() as connection:
            await connection.execute(sql.encode())

    async def current_recording(self, fixture_id: int = 5000) -> Recording:
        made = await self.recorder.current_recording(fixture_id, {FEED: 80})
        assert made is not None
        return made

    async def seal(self) -> int:
        return await self.recorder.seal_finished({FEED: 80}, datetime.now(UTC))

    async def file(self, fixture_id: int = 5000) -> Recording:
        path = self._folder / "got"
        await self.objects.get(recording_key(fixture_id), path)
        return unpack(path.read_bytes())


@pytest.fixture
def recorded(store: FixtureStore, objects: ThreadedObjectStore, tmp_path: Path) -> Recorded:
    return Recorded(store, objects, tmp_path)


async def test_repeated_responses_are_stored_once_with_all_times(recorded: Recorded) -> None:
    await recorded.follow(match())
    quiet, scored = match(), match("23 home 7")
    for number in (0, 1):
        await recorded.hear(number, quiet)
    await recorded.hear(2, scored)
    await recorded.hear(3, failures={5000: FeedUnavailable("no answer")})
    await recorded.hear(4, quiet)
    made = await recorded.current_recording()
    assert [(answer.live, answer.at) for answer in made.answers] == [
        (quiet, (at(0), at(1))),
        (scored, (at(2),)),
        (None, (at(3),)),
        (quiet, (at(4),)),
    ]
    assert made.answers[2].error is not None
    assert made.answers[2].error.kind == "FeedUnavailable"
    assert made.feeds == (RecordedFeed(FEED, 80, founding=True),)
    assert made.rules == RULES
    assert made.document is not None
    assert made.document["_id"] == 5000


async def test_a_retried_poll_is_recorded_once(recorded: Recorded) -> None:
    await recorded.follow(match())
    for _ in range(3):
        await recorded.hear(1, match())
    assert [answer.at for answer in (await recorded.current_recording()).answers] == [(at(1),)]


async def test_matches_are_recorded_separately(recorded: Recorded) -> None:
    fixtures = [match(fixture_id=5000 + number) for number in range(50)]
    await recorded.follow(*fixtures)
    for number in range(3):
        await recorded.hear(number, *fixtures)
    assert len(await recorded.store.summaries()) == 50
    assert {answer.feed_id for answer in (await recorded.current_recording(5049)).answers} == {5049}


async def test_unknown_and_completed_matches_are_not_recorded(recorded: Recorded) -> None:
    await recorded.follow(match())
    await recorded.complete()
    await recorded.hear(1, match(), match(fixture_id=6000), failures={7000: FeedUnavailable("no")})
    assert await recorded.recorder.current_recording(5000, {}) is None
    with pytest.raises(NotFound):
        await recorded.recorder.current_recording(6000, {})


async def test_a_search_is_recorded_with_its_posts(recorded: Recorded) -> None:
    await stable_goal(recorded.fixtures)
    await recorded.hear(1, match("23 home 7"))
    reports = [SourceReport("bluesky", 1), SourceReport("x", None, SourceUnavailable("gone"))]
    for _ in range(2):  # also when it is repeated
        await recorded.recorder.record_search(GOAL, 1, QUERY, reports, [post("a"), post("b", source="x")], at(40))
    (search,) = (await recorded.current_recording()).searches
    assert (search.event_id, search.attempt, search.at) == (GOAL, 1, at(40))
    assert [each.key for each in search.posts] == ["bluesky:a", "x:b"]
    assert [(each.source, each.found, each.error and each.error.kind) for each in search.sources] == [
        ("bluesky", 1, None),
        ("x", None, "SourceUnavailable"),
    ]


async def test_downloads_and_aliases_are_recorded(recorded: Recorded) -> None:
    await stable_goal(recorded.fixtures)
    await recorded.hear(1, match("23 home 7"))
    clips = ClipStore(recorded.fixtures.database)
    await record_search(clips, 1, post("a"), post("b"))
    await clips.reject_candidate(GOAL, "bluesky:a", "gone", "404")
    await clips.save_aliases(40, "Liverpool", ["LFC"], START)
    made = await recorded.current_recording()
    assert [(each.key, each.media_url, each.rejection_reason, each.detail) for each in made.downloads] == [
        ("bluesky:a", "https://example.invalid/a.mp4", "gone", "404"),
        ("bluesky:b", "https://example.invalid/b.mp4", None, ""),
    ]
    assert [(each.team_id, each.aliases) for each in made.names] == [(40, ("LFC",))]


async def test_a_completed_match_is_sealed_into_one_file(recorded: Recorded) -> None:
    await recorded.follow(match())
    await recorded.hear(1, match("23 home 7"))
    assert await recorded.seal() == 0
    expected = await recorded.current_recording()
    await recorded.complete()
    assert await recorded.seal() == 1
    file = await recorded.file()
    assert file.answers == expected.answers
    assert file.document is not None
    assert file.document["stage"] == "completed"
    (summary,) = await recorded.store.summaries()
    assert (summary.answers, summary.on, summary.key) == (0, False, recording_key(5000))
    assert summary.bytes is not None
    assert summary.bytes < 3000


class Killed(RecordingStore):
    """Its process is killed when the file is written."""

    async def mark_sealed(self, fixture_id: int, key: str, size: int, now: datetime) -> None:
        raise KeyboardInterrupt


async def test_sealing_is_repeatable_after_a_kill(recorded: Recorded) -> None:
    await recorded.follow(match())
    await recorded.hear(1, match())
    await recorded.complete()

    with pytest.raises(KeyboardInterrupt):  # the file is written, and the rows are still there
        await MatchRecorder(Killed(recorded.fixtures.database), recorded.objects, RULES).seal_finished(
            {FEED: 80}, at(9)
        )
    first = await recorded.file()
    assert await recorded.seal() == 1
    assert await recorded.file() == first
    assert await recorded.seal() == 0


@pytest.mark.parametrize(
    ("fault", "sealed_at_once"),
    [
        (OSError(28, "No space left on device"), 1),
        (ObjectStoreError("too large"), 1),
        (ValueError("odd"), 1),
        # of a store that is away no other match gets more: the next round begins with the others
        (ObjectStoreUnavailable("away"), 0),
    ],
)
async def test_a_match_that_cannot_be_sealed_does_not_block_others(
    recorded: Recorded,
    objects: ThreadedObjectStore,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    sealed_at_once: int,
) -> None:
    matches = [match(fixture_id=5000 + number) for number in range(MAX_SEALED + 1)]
    await recorded.follow(*matches)
    await recorded.hear(1, *matches)
    for live in matches:
        await recorded.complete(live.id)
    bad = [live.id for live in matches[: MAX_SEALED - 1]]  # but for one, all that one round takes
    refused = {recording_key(id_) for id_ in bad}
    put = objects.put

    async def fails(key: str, path: Path, *, content_type: str) -> None:
        if key in refused:
            raise fault
        await put(key, path, content_type=content_type)

    monkeypatch.setattr(objects, "put", fails)
    recorder = recorded.recorder

    with caplog.at_level(logging.ERROR):
        assert await recorder.seal_finished({FEED: 80}, at(0)) == sealed_at_once
    assert {record.fixture_id for record in caplog.records} == set(bad if sealed_at_once else bad[:1])
    for _ in bad:  # within the time for which those that failed are left alone
        await recorder.seal_finished({FEED: 80}, at(1))
    assert await recorded.store.finished_matches(10) == bad

    refused.clear()
    assert await recorder.seal_finished({FEED: 80}, at(1)) == 0
    assert await recorder.seal_finished({FEED: 80}, at(1) + RETRY_DELAY) == len(bad)
    assert await recorded.store.finished_matches(10) == []


async def test_a_sealed_recording_does_not_change(recorded: Recorded) -> None:
    await stable_goal(recorded.fixtures)
    await recorded.hear(1, match("23 home 7"))
    await recorded.complete()
    await recorded.seal()
    await recorded.hear(2, match())
    await recorded.recorder.record_search(GOAL, 9, QUERY, [], [], at(40))
    assert await recorded.seal() == 0
    assert len((await recorded.file()).answers) == 1


async def test_a_recording_is_deleted_with_its_fixture(recorded: Recorded) -> None:
    await stable_goal(recorded.fixtures)
    await recorded.hear(1, match("23 home 7"))
    await recorded.recorder.record_search(GOAL, 1, QUERY, [], [], at(40))
    async with recorded.fixtures.database.connection() as connection:
        await connection.execute("delete from fixtures")
    assert await recorded.store.summaries() == []


# --- switching


async def test_recording_is_enabled_by_default(recorded: Recorded) -> None:
    assert await recorded.store.all_enabled()
    await recorded.follow(match(), match(fixture_id=6000))
    await recorded.store.enable_all(False)
    assert not await recorded.store.all_enabled()
    await recorded.store.enable([6000], True)
    await recorded.hear(1, match(), match(fixture_id=6000))
    assert [summary.fixture_id for summary in await recorded.store.summaries()] == [6000]
    await recorded.store.enable_all(True)
    await recorded.store.enable([6000], False)
    await recorded.hear(2, match(), match(fixture_id=6000))
    found_ = {summary.fixture_id: (summary.answers, summary.on) for summary in await recorded.store.summaries()}
    assert found_ == {5000: (1, True), 6000: (1, False)}


async def test_enabling_all_clears_settings_of_single_matches(recorded: Recorded) -> None:
    await recorded.follow(match())
    await recorded.store.enable([5000], False)
    await recorded.store.enable_all(True)
    await recorded.hear(1, match())
    assert (await recorded.store.summaries())[0].on


async def test_enabling_an_unknown_fixture_fails(recorded: Recorded) -> None:
    await recorded.follow(match())
    with pytest.raises(NotFound, match="6000, 7000"):
        await recorded.store.enable([5000, 7000, 6000], False)
    await recorded.hear(1, match())
    assert (await recorded.store.summaries())[0].on  # all or nothing


# --- what must never cost a match its poll


@pytest.mark.parametrize(
    "raw",
    [{"text": "\ud800"}, {"text": "a\x00b"}, {"deep": [[[[]]]]}],
)
async def test_any_response_of_a_feed_can_be_recorded(recorded: Recorded, raw: dict[str, object]) -> None:
    await recorded.follow(match(), match(fixture_id=6000))
    await recorded.hear(1, replace(match(), raw=raw), match(fixture_id=6000))
    assert len((await recorded.current_recording(6000)).answers) == 1  # the other one in any case


async def test_error_messages_are_sanitized(recorded: Recorded) -> None:
    await recorded.follow(match())
    await recorded.hear(1, failures={5000: FeedUnavailable("\x00 \ud800 " + "x" * 5000)})
    (answer,) = (await recorded.current_recording()).answers
    assert answer.error is not None
    assert len(answer.error.message) <= 1000


async def test_an_unreadable_row_is_skipped_and_logged(recorded: Recorded, caplog: pytest.LogCaptureFixture) -> None:
    await recorded.follow(match())
    await recorded.hear(1, match())
    await recorded.hear(2, match("23 home 7"))
    async with recorded.fixtures.database.connection() as connection:
        await connection.execute("update recorded_snapshots set body = 'garbage' where at = %s", [at(1)])
    with caplog.at_level(logging.ERROR):
        made = await recorded.current_recording()
    assert [answer.at for answer in made.answers] == [(at(2),)]
    assert "skipped a row of a recording" in caplog.text


async def test_a_poll_continues_when_the_database_is_unavailable(
    recorded: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    await recorded.follow(match())
    await recorded.fixtures.database.close()
    with caplog.at_level(logging.WARNING):
        await recorded.hear(1, match())
        await recorded.recorder.record_search(GOAL, 1, QUERY, [], [], at(40))
        assert await recorded.seal() == 0
    assert caplog.text.count("not recorded") == 3
