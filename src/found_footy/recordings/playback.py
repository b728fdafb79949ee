"""Playback of a recording: downloads, the replay clock, feeds and sources."""

from __future__ import annotations

import json
import os
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from found_footy import errors
from found_footy.clips.models import RejectionReason, clip_key
from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery
from found_footy.errors import (
    CandidateRejected,
    DownloadUnavailable,
    FeedError,
    FeedRejected,
    FeedUnavailable,
    FootyError,
    ObjectMissing,
    ObjectStoreError,
    RecordingBroken,
    SettingsError,
    SourceError,
    SourceUnavailable,
)
from found_footy.feeds.espn import FEED, parse_scoreboard
from found_footy.feeds.models import FeedAnswer, Quota
from found_footy.fixtures.models import LiveFixture
from found_footy.recordings.file_format import MAX_PACKED_BYTES, unpack
from found_footy.recordings.models import (
    RecordedDownload,
    RecordedError,
    RecordedFeed,
    RecordedSearch,
    RecordedSnapshot,
    Recording,
)
from found_footy.recordings.outcome import id_without_feed_offset
from found_footy.recordings.timeline import (
    FeedPlayback,
    ReplayClock,
    ReplayPoll,
    ReplayTimeline,
    SteadyClock,
    to_replay_time,
)
from found_footy.runtime.clock import utc_now
from found_footy.storage.objects.backend import ObjectStore

FILE_MISSING = "its file no longer exists"
"""Rejection detail of a clip whose file no longer exists in the object store."""


class RecordedDownloader:
    """Returns the recorded files and repeats the recorded rejections.

    The file of a duplicate was not kept, so the clip that was kept for it is returned.
    """

    def __init__(self, fixture_id: int, downloads: Iterable[RecordedDownload], objects: ObjectStore | None) -> None:
        self._fixture_id = fixture_id
        self._objects = objects
        self._by_url: dict[str, list[RecordedDownload]] = defaultdict(list)
        for download in downloads:
            self._by_url[download.media_url].append(download)

    async def fetch(self, media_url: str, to: Path) -> None:
        downloads = self._by_url.get(media_url, [])
        if not downloads:
            raise CandidateRejected(RejectionReason.PASSED_OVER, "not downloaded in the recording")
        # A post may have been found for two goals, and be a clip of only one of them.
        kept = [download for download in downloads if download.clip is not None]
        for download in kept:
            if await self._fetch_clip(download, to):
                return
        if kept:
            raise CandidateRejected(RejectionReason.GONE, FILE_MISSING)
        rejected = downloads[0]
        raise CandidateRejected(
            rejected.rejection_reason or RejectionReason.PASSED_OVER, rejected.detail or "as recorded"
        )

    async def _fetch_clip(self, download: RecordedDownload, to: Path) -> bool:
        if self._objects is None:
            return False
        try:
            await self._objects.get(clip_key(self._fixture_id, download.event_id, download.clip or ""), to)
        except ObjectMissing:
            return False
        except ObjectStoreError as error:
            raise DownloadUnavailable(str(error)) from error
        return True

    async def aclose(self) -> None:
        pass


# --- Replay clock: a file that the runner updates and the feeds of all workers read.


def write_clock(path: Path, timeline: ReplayTimeline, start: datetime, position: datetime) -> None:
    """Write the file atomically."""
    document = {
        "start": start.isoformat(),
        "position": position.isoformat(),
        "polls": [[poll.at.isoformat(), poll.offset.total_seconds()] for poll in timeline.polls],
    }
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(document))
    os.replace(part, path)


class PlaybackClock:
    """Reads the replay clock from its file on every call."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> FileClock:
        try:
            document = json.loads(self._path.read_text())
            polls = tuple(
                ReplayPoll(datetime.fromisoformat(at), timedelta(seconds=offset), frozenset())
                for at, offset in document["polls"]
            )
            return FileClock(
                ReplayTimeline(polls),
                datetime.fromisoformat(document["start"]),
                datetime.fromisoformat(document["position"]),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FeedUnavailable(
                f"the recording is not being played: {type(error).__name__} at {self._path.name}"
            ) from error


class FileClock:
    def __init__(self, timeline: ReplayTimeline, start: datetime, position: datetime) -> None:
        self._timeline = timeline
        self._start = start
        self._position = position

    def position(self) -> datetime:
        return self._position

    def replay_time(self, moment: datetime) -> datetime:
        return self._timeline.replay_time(moment, self._start)


# --- Folder of ESPN responses, each named `<Unix time>.json.gz`, as a recording.


SUFFIX = ".json.gz"
MAX_FILES = 20_000
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_PLAIN_BYTES = 64 * 1024 * 1024
POLL_SECONDS = 30.0
POLLS_EACH = 4
"""Polls per response: each stands for the polls until the next one, and this many decide everything it can."""


def load_scoreboards(folder: Path) -> Recording:
    """Load the folder. Raises RecordingBroken with the name of the file."""
    answers: list[RecordedSnapshot] = []
    for path in _files(folder):
        answers += _answers(path)
    if not answers:
        raise RecordingBroken(f"{folder}: no files named <Unix time>{SUFFIX} with a match in them")
    return Recording(
        title=f"ESPN responses in {folder.name}",
        feeds=(RecordedFeed(FEED, founding=True),),
        answers=tuple(sorted(answers, key=lambda answer: (answer.at[0], answer.feed_id))),
        rules={"poll_seconds": POLL_SECONDS},
    )


def _files(folder: Path) -> list[Path]:
    try:
        found = list(islice(folder.glob(f"*{SUFFIX}"), MAX_FILES + 1))
    except OSError as error:
        raise RecordingBroken(f"{folder} cannot be read: {error.strerror}") from error
    if len(found) > MAX_FILES:
        raise RecordingBroken(f"{folder}: more than {MAX_FILES} files")
    return sorted(found, key=_unix_time)


def _unix_time(path: Path) -> int:
    name = path.name.removesuffix(SUFFIX)
    if not (name.isascii() and name.isdecimal()) or len(name) > 10:
        raise RecordingBroken(f"{path}: {name!r} is not a Unix time such as 1782934981")
    return int(name)


def _answers(path: Path) -> list[RecordedSnapshot]:
    at = datetime.fromtimestamp(_unix_time(path), UTC)
    polls = tuple(at + timedelta(seconds=POLL_SECONDS * number) for number in range(POLLS_EACH))
    try:
        answer = parse_scoreboard(_body(path))
    except FeedError as error:
        raise RecordingBroken(f"{path}: {error}") from error
    snapshots = [RecordedSnapshot(FEED, live.id, polls, live) for live in answer.fixtures]
    failed = answer.failures.items()
    return snapshots + [RecordedSnapshot(FEED, id_, polls, error=RecordedError(e.kind, str(e))) for id_, e in failed]


def _body(path: Path) -> Any:
    try:
        packed = path.read_bytes() if path.stat().st_size <= MAX_FILE_BYTES else None
    except OSError as error:
        raise RecordingBroken(f"{path} cannot be read: {error.strerror}") from error
    if packed is None:
        raise RecordingBroken(f"{path}: more than {MAX_FILE_BYTES} bytes")
    unpacker = zlib.decompressobj(wbits=31)
    try:
        plain = unpacker.decompress(packed, MAX_PLAIN_BYTES)
    except zlib.error as error:
        raise RecordingBroken(f"{path} cannot be decompressed: {error}") from error
    if not unpacker.eof:
        raise RecordingBroken(f"{path} is truncated, or decompresses to more than {MAX_PLAIN_BYTES} bytes")
    try:
        return json.loads(plain)
    except (ValueError, RecursionError) as error:
        raise RecordingBroken(f"{path} is not valid JSON") from error


# --- Recorded errors.


E = TypeVar("E", bound=FootyError)


def feed_error(error: RecordedError) -> FeedError:
    return _error_class(error, FeedError) or FeedRejected(f"{error.kind}: {error.message}")


def source_error(error: RecordedError) -> SourceError:
    return _error_class(error, SourceError) or SourceUnavailable(f"{error.kind}: {error.message}")


def _error_class(error: RecordedError, family: type[E]) -> E | None:
    """Rebuild the error, or return None for a class that is unknown, of another family, or has more than a message."""
    kind = getattr(errors, error.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, family)) or kind.__init__ is not FootyError.__init__:
        return None
    rebuilt: E = kind(error.message)
    return rebuilt


# --- Feed that plays a recording.


def load_recording(path: Path) -> Recording:
    """Load an exported file or a folder of ESPN responses. Raises RecordingBroken."""
    if path.is_dir():
        return load_scoreboards(path)
    try:
        if path.stat().st_size > MAX_PACKED_BYTES:
            raise RecordingBroken(f"{path}: more than {MAX_PACKED_BYTES} bytes")
        packed = path.read_bytes()
    except OSError as error:
        raise RecordingBroken(f"{path} cannot be read: {error.strerror}") from error
    try:
        return unpack(packed)
    except RecordingBroken as error:
        raise RecordingBroken(f"{path}: {error}") from error


def recording_feed(feed: str, metadata: Mapping[str, Any], now: Callable[[], datetime]) -> RecordingFeed:
    """Build the feed from its declaration. Optional: `feed`, `speed`, `replay_clock`. Raises SettingsError."""
    path, replay_clock, speed = metadata.get("path"), metadata.get("replay_clock"), metadata.get("speed", 60.0)
    if not isinstance(path, str) or not path:
        raise SettingsError(f"{feed}: metadata.path: invalid value {path!r}: expected the path of a recording")
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 < speed <= 3600:
        raise SettingsError(f"{feed}: metadata.speed: invalid value {speed!r}: expected a number from 0 to 3600")
    plays = metadata.get("feed")
    try:
        return open_recording_feed(
            feed,
            path=Path(path),
            plays=None if plays is None else str(plays),
            speed=float(speed),
            replay_clock=None if replay_clock is None else Path(str(replay_clock)),
            now=now,
        )
    except RecordingBroken as error:
        raise SettingsError(f"{feed}: metadata.path: {error}") from error


def open_recording_feed(
    feed: str,
    *,
    path: Path,
    plays: str | None = None,
    speed: float = 60.0,
    replay_clock: Path | None = None,
    now: Callable[[], datetime] = utc_now,
) -> RecordingFeed:
    """Open a feed that plays feed `plays` of the recording; optional if the recording has a single feed.

    With a replay clock, a runner controls the time; without one, playback starts now at `speed`.
    """
    recording = load_recording(path)
    recorded = sorted({answer.feed for answer in recording.answers})
    if not recorded:
        raise RecordingBroken(f"{path} contains no responses")
    if plays is None and len(recorded) > 1:
        raise SettingsError(f"{feed}: several feeds recorded: set metadata.feed to one of {', '.join(recorded)}")
    played = plays or recorded[0]
    if played not in recorded:
        raise SettingsError(f"{feed}: metadata.feed: invalid value {played!r}: the recording has {', '.join(recorded)}")
    if replay_clock is not None:
        return RecordingFeed(feed, FeedPlayback(played, recording.answers), PlaybackClock(replay_clock).read, now)
    steady = SteadyClock(recording.answers[0].at[0], now(), speed, now)
    return RecordingFeed(feed, FeedPlayback(played, recording.answers), lambda: steady, now)


class RecordingFeed:
    def __init__(
        self,
        feed: str,
        playback: FeedPlayback,
        clock: Callable[[], ReplayClock],
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._feed = feed
        self._playback = playback
        self._clock = clock
        self._now = now

    @property
    def name(self) -> str:
        return self._feed

    @property
    def quota(self) -> Quota | None:
        return None

    @property
    def ids_per_request(self) -> int | None:
        return None

    def requests_for(self, fixtures: int, locators: Iterable[str] = ()) -> int:
        return 1

    async def fixtures_on(self, day: date) -> FeedAnswer:
        answer = self._answers(sorted(self._playback.ids))
        return FeedAnswer(tuple(live for live in answer.fixtures if live.kickoff.date() == day), answer.failures)

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        return self._answers(list(dict.fromkeys(ids)))

    async def check(self) -> str:
        answer = self._answers(sorted(self._playback.ids))
        return f"{len(answer.fixtures)} matches in the recording at {self._clock().position():%Y-%m-%d %H:%M:%S}"

    async def aclose(self) -> None:
        pass

    def _answers(self, ids: Sequence[int]) -> FeedAnswer:
        clock, now = self._clock(), self._now()
        position = clock.position()
        fixtures: list[LiveFixture] = []
        failures: dict[int, FootyError] = {}
        unknown = []
        for id_ in ids:
            snapshot = self._playback.answer_at(id_, position)
            if snapshot is None:
                unknown.append(id_)
            elif snapshot.live is not None:
                fixtures.append(to_replay_time(snapshot.live, self._feed, clock, now))
            elif snapshot.error is not None and snapshot.error.kind != "MissingFromResponse":
                failures[id_] = feed_error(snapshot.error)
            else:
                unknown.append(id_)
        return FeedAnswer(tuple(fixtures), failures, tuple(unknown))


# --- Source that plays a recording: a search returns its recorded results.


PLATFORMS = {"fxtwitter": "x"}
"""Sources whose posts carry another source's name."""


@dataclass(frozen=True, slots=True)
class RunningSearch:
    """The calling search. A query does not identify it, because two goals of one player have the same names."""

    event_id: str
    is_retry: bool = False
    """Whether this is a retry of the same search."""


class RecordedSource:
    """Posts have their recorded age when they are found, scaled to the replay's speed."""

    def __init__(
        self,
        source: str,
        searches: Iterable[RecordedSearch],
        running_search: Callable[[], RunningSearch],
        *,
        speed: float,
        max_post_age: timedelta,
    ) -> None:
        """`max_post_age` is the maximum age of posts in the replay's searches."""
        self._source = source
        self._running_search = running_search
        self._speed = speed
        self._max_post_age = max_post_age
        self._by_event: dict[str, list[RecordedSearch]] = defaultdict(list)
        for search in sorted(searches, key=lambda search: search.attempt):
            if any(each.source == source for each in search.sources):
                self._by_event[id_without_feed_offset(search.event_id)].append(search)
        self._searches: Counter[str] = Counter()

    @property
    def name(self) -> str:
        return self._source

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        recorded = self._next(query)
        if recorded is None:
            return ()
        answer = next(each for each in recorded.sources if each.source == self._source)
        if answer.error is not None:
            raise source_error(answer.error)
        now = since + self._max_post_age
        return [
            replace(post, posted_at=now - (recorded.at - post.posted_at) / self._speed)
            for post in recorded.posts
            if post.source == PLATFORMS.get(self._source, self._source)
        ]

    async def check(self) -> str:
        return f"{sum(map(len, self._by_event.values()))} searches of {self._source} were recorded"

    async def aclose(self) -> None:
        pass

    def _next(self, query: SearchQuery) -> RecordedSearch | None:
        """Return the goal's recorded search with the same number; for an unrecorded goal, one with the same query."""
        running = self._running_search()
        goal = id_without_feed_offset(running.event_id)
        if not running.is_retry:
            self._searches[goal] += 1
        number = self._searches[goal]
        recorded = self._by_event.get(goal) or self._with_same_names(query)
        return recorded[number - 1] if 0 < number <= len(recorded) else None

    def _with_same_names(self, query: SearchQuery) -> list[RecordedSearch]:
        names = (query.players, query.teams)
        same = (each for each in self._by_event.values() if (each[0].players, each[0].teams) == names)
        return next(same, [])
