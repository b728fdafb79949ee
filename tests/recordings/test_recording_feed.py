"""A feed that plays a recording keeps the promises of the port."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from found_footy.errors import FeedUnavailable, MissingFromResponse, RecordingBroken, SettingsError
from found_footy.feeds.models import ScoreFeed
from found_footy.recordings.file_format import pack
from found_footy.recordings.models import Recording
from found_footy.recordings.playback import (
    PlaybackClock,
    RecordingFeed,
    load_recording,
    open_recording_feed,
    recording_feed,
    write_clock,
)
from found_footy.recordings.timeline import build_timeline
from tests.support.football import match
from tests.support.recordings import at, recording, response

NOW = datetime(2030, 5, 1, 12, 0, tzinfo=UTC)
PLAYED = recording(
    response(match(status="NS", score=None), [0]),
    response(match("23 home 7"), [1, 2]),
    response(FeedUnavailable("no answer"), [3]),
    response(match(fixture_id=6000), [1], feed_id=6000),
    response(MissingFromResponse("left out"), [2], feed_id=6000),
    response(match(fixture_id=9), [0], feed="crex", feed_id=9),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "match.jsonl.gz"
    path.write_bytes(pack(PLAYED))
    return path


@pytest.fixture
def led(file: Path, tmp_path: Path) -> tuple[ScoreFeed, Callable[[float], None]]:
    """A feed, and how to move its recording to a poll."""
    head = tmp_path / "replay_clock.json"
    timeline = build_timeline(PLAYED, max_repeats=4, speed=60)
    feed = open_recording_feed("espn", path=file, plays="espn", replay_clock=head, now=lambda: NOW)
    return feed, lambda poll: write_clock(head, timeline, NOW, at(poll))


async def test_the_feed_returns_the_response_at_the_replayed_time(
    led: tuple[ScoreFeed, Callable[[float], None]],
) -> None:
    feed, move = led
    assert (feed.name, feed.quota, feed.ids_per_request, feed.requests_for(100)) == ("espn", None, None, 1)
    move(0)
    answer = await feed.fixtures_by_ids([5000, 6000, 5000])
    assert [(live.id, live.status, live.feed) for live in answer.fixtures] == [(5000, "NS", "espn")]
    assert (answer.failures, answer.unknown) == ({}, (6000,))
    move(1)
    answer = await feed.fixtures_by_ids([5000, 6000, 9])
    assert [live.id for live in answer.fixtures] == [5000, 6000]
    assert len(answer.fixtures[0].goals) == 1
    assert answer.unknown == (9,)  # another feed's
    move(3)
    answer = await feed.fixtures_by_ids([5000, 6000])
    assert [type(error) for error in answer.failures.values()] == [FeedUnavailable]
    assert answer.unknown == (6000,)
    await feed.aclose()


async def test_kickoffs_are_shifted_and_constant(
    led: tuple[ScoreFeed, Callable[[float], None]],
) -> None:
    feed, move = led
    kickoffs = set()
    for poll in (0, 1, 2):
        move(poll)
        kickoffs |= {live.kickoff for live in (await feed.fixtures_by_ids([5000])).fixtures}
    assert kickoffs == {NOW}
    move(1)
    assert [live.id for live in (await feed.fixtures_on(NOW.date())).fixtures] == [5000, 6000]
    assert (await feed.fixtures_on(NOW.date() + timedelta(days=1))).fixtures == ()
    assert "2 matches" in await feed.check()


async def test_without_a_clock_file_the_feed_is_unavailable(file: Path, tmp_path: Path) -> None:
    head = tmp_path / "missing.json"
    feed = open_recording_feed("espn", path=file, plays="espn", replay_clock=head)
    with pytest.raises(FeedUnavailable, match="is not being played"):
        await feed.fixtures_by_ids([5000])
    for text in ("", "{", "[]", '{"polls": [[1]], "start": 1}'):
        head.write_text(text)
        with pytest.raises(FeedUnavailable, match="is not being played"):
            PlaybackClock(head).read()


async def test_without_a_clock_setting_the_feed_plays_at_its_own_speed(file: Path) -> None:
    now = NOW

    feed = open_recording_feed("espn", path=file, plays="espn", speed=30, now=lambda: now)
    assert [live.status for live in (await feed.fixtures_by_ids([5000])).fixtures] == ["NS"]
    now = NOW + timedelta(seconds=1)  # thirty seconds of then
    assert [live.status for live in (await feed.fixtures_by_ids([5000])).fixtures] == ["1H"]


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({}, "metadata.path: invalid value None"),
        ({"path": 5}, "metadata.path: invalid value 5"),
        ({"path": "/nowhere/at/all"}, "cannot be read"),
        ({"path": "FILE"}, "set metadata.feed to one of"),
        ({"path": "FILE", "feed": "reuters"}, "invalid value 'reuters': the recording has crex, espn"),
        ({"path": "FILE", "feed": "espn", "speed": 0}, "metadata.speed"),
        ({"path": "FILE", "feed": "espn", "speed": "fast"}, "metadata.speed"),
        ({"path": "FILE", "feed": "espn", "speed": True}, "metadata.speed"),
        ({"path": "BROKEN"}, "cannot be decompressed"),
        ({"path": "EMPTY"}, "contains no responses"),
    ],
)
def test_invalid_declarations_are_rejected(file: Path, metadata: dict[str, Any], words: str) -> None:
    (file.parent / "BROKEN").write_bytes(b"not a recording")
    (file.parent / "EMPTY").write_bytes(pack(Recording("nothing")))
    if metadata.get("path") in ("FILE", "BROKEN", "EMPTY"):
        path = file if metadata["path"] == "FILE" else file.parent / metadata["path"]
        metadata = metadata | {"path": str(path)}
    with pytest.raises(SettingsError, match=words):
        recording_feed("played", metadata, lambda: NOW)


def test_the_feed_is_built_from_its_declaration(file: Path) -> None:
    feed = recording_feed("played", {"path": str(file), "feed": "crex", "speed": 2}, lambda: NOW)
    assert isinstance(feed, RecordingFeed)
    assert feed.name == "played"


# --- folders of ESPN's answers


def scoreboard(status: str = "STATUS_FIRST_HALF", score: str = "1") -> dict[str, Any]:
    sides = [
        {"id": "1", "homeAway": "home", "score": score, "team": {"id": "1", "displayName": "Belgium"}},
        {"id": "2", "homeAway": "away", "score": "0", "team": {"id": "2", "displayName": "Senegal"}},
    ]
    state = {"type": {"name": status, "state": "in"}, "displayClock": "23'"}
    game = {"id": "7", "competitors": sides, "status": state, "details": []}
    return {
        "leagues": [{"id": "606", "name": "World Cup", "slug": "fifa.world"}],
        "events": [{"id": "7", "date": "2026-07-01T20:00Z", "status": state, "competitions": [game]}],
    }


def folder(tmp_path: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_a_folder_of_responses_is_a_recording(tmp_path: Path) -> None:
    files = {
        "1782943020.json.gz": gzip.compress(json.dumps(scoreboard()).encode()),
        "1782934981.json.gz": gzip.compress(json.dumps(scoreboard(score="0")).encode()),
        "notes.txt": b"not an answer",
    }
    found = load_recording(folder(tmp_path, files))
    assert [answer.live.score.home for answer in found.answers if answer.live and answer.live.score] == [0, 1]
    assert all(len(answer.at) == 4 for answer in found.answers)
    assert found.answers[0].at[0] == datetime.fromtimestamp(1782934981, UTC)


def test_an_invalid_match_fails_alone(tmp_path: Path) -> None:
    files = {"1782943020.json.gz": gzip.compress(json.dumps(scoreboard(status="STATUS_NEW")).encode())}
    (answer,) = load_recording(folder(tmp_path, files)).answers
    assert answer.error is not None
    assert answer.error.kind == "UnknownStatus"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "no files named"),
        ({"yesterday.json.gz": b""}, "not a Unix time"),
        ({"1782943020.json.gz": b""}, "truncated"),
        ({"1782943020.json.gz": b"plain"}, "cannot be decompressed"),
        ({"1782943020.json.gz": gzip.compress(b"<html>")}, "not valid JSON"),
        ({"1782943020.json.gz": gzip.compress(b"[]")}, "no list of events"),
        ({"1782943020.json.gz": gzip.compress(b'{"events": []}')}, "no files named"),
        ({"1782943020.json.gz": gzip.compress(b" " * 70_000_000)}, "more than"),
        ({"1782943020.json.gz": bytes(9_000_000)}, "more than"),
    ],
)
def test_an_unreadable_folder_is_rejected(tmp_path: Path, files: dict[str, bytes], words: str) -> None:
    with pytest.raises(RecordingBroken, match=words):
        load_recording(folder(tmp_path, files))


def test_a_recording_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    with pytest.raises(RecordingBroken, match="more than"):
        load_recording(path)


def test_times_are_compared_across_time_zones(tmp_path: Path) -> None:
    zone = recording(replace(response(match(), [0]), at=(at(0).astimezone(),)))
    path = tmp_path / "zone"
    path.write_bytes(pack(zone))
    assert load_recording(path).answers[0].at == (at(0),)
