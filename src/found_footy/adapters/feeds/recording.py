"""A feed that plays a recording: what another feed said of its matches then, it says again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from found_footy.adapters.feeds.playhead import Playhead
from found_footy.adapters.feeds.recorded_scoreboards import load_scoreboards
from found_footy.domain.errors import FootyError, RecordingBroken, SettingsError
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.fixtures.model import LiveFixture
from found_footy.domain.recordings.failures import feed_error
from found_footy.domain.recordings.packing import PACKED_BYTES, unpack
from found_footy.domain.recordings.playing import PlayedTime, SaidByFeed, SteadyTime, as_shown
from found_footy.domain.recordings.recording import Recording
from found_footy.ports import FeedAnswer


def load_recording(path: Path) -> Recording:
    """A file that was exported, or a folder of ESPN's answers. Raises RecordingBroken."""
    if path.is_dir():
        return load_scoreboards(path)
    try:
        if path.stat().st_size > PACKED_BYTES:
            raise RecordingBroken(f"{path}: more than {PACKED_BYTES} bytes")
        packed = path.read_bytes()
    except OSError as error:
        raise RecordingBroken(f"{path} cannot be read: {error.strerror}") from error
    try:
        return unpack(packed)
    except RecordingBroken as error:
        raise RecordingBroken(f"{path}: {error}") from error


def recording_feed(feed: str, metadata: Mapping[str, Any], now: Callable[[], datetime]) -> RecordingFeed:
    """As a file of feeds declares it: `path`, and where needed `feed`, `speed`, `playhead`. Raises SettingsError."""
    path, playhead, speed = metadata.get("path"), metadata.get("playhead"), metadata.get("speed", 60.0)
    if not isinstance(path, str) or not path:
        raise SettingsError(f"{feed}: metadata.path: given {path!r}; allowed is the file of a recording")
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 < speed <= 3600:
        raise SettingsError(f"{feed}: metadata.speed: given {speed!r}; allowed is a number above 0 and up to 3600")
    plays = metadata.get("feed")
    try:
        return open_recording_feed(
            feed,
            path=Path(path),
            plays=None if plays is None else str(plays),
            speed=float(speed),
            playhead=None if playhead is None else Path(str(playhead)),
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
    playhead: Path | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> RecordingFeed:
    """`plays` is the feed of the recording whose words are said; without one, the only one that it has.

    With a playhead somebody else leads; without one it begins now, and runs by itself.
    """
    recording = load_recording(path)
    recorded = sorted({answer.feed for answer in recording.answers})
    if not recorded:
        raise RecordingBroken(f"{path}: no feed said anything in it")
    if plays is None and len(recorded) > 1:
        raise SettingsError(f"{feed}: given a recording of {', '.join(recorded)}; metadata.feed must name one of them")
    said = plays or recorded[0]
    if said not in recorded:
        raise SettingsError(f"{feed}: metadata.feed: given {said!r}; the recording has {', '.join(recorded)}")
    if playhead is not None:
        return RecordingFeed(feed, SaidByFeed(said, recording.answers), Playhead(playhead).now_played, now)
    steady = SteadyTime(recording.answers[0].at[0], now(), speed, now)
    return RecordingFeed(feed, SaidByFeed(said, recording.answers), lambda: steady, now)


class RecordingFeed:
    def __init__(
        self,
        feed: str,
        said: SaidByFeed,
        time: Callable[[], PlayedTime],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._feed = feed
        self._said = said
        self._time = time
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
        answer = self._answers(sorted(self._said.ids))
        return FeedAnswer(tuple(live for live in answer.fixtures if live.kickoff.date() == day), answer.failures)

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        return self._answers(list(dict.fromkeys(ids)))

    async def check(self) -> str:
        answer = self._answers(sorted(self._said.ids))
        return f"{len(answer.fixtures)} matches in the recording at {self._time().position():%Y-%m-%d %H:%M:%S}"

    async def aclose(self) -> None:
        pass

    def _answers(self, ids: Sequence[int]) -> FeedAnswer:
        time, now = self._time(), self._now()
        position = time.position()
        fixtures: list[LiveFixture] = []
        failures: dict[int, FootyError] = {}
        unknown = []
        for id_ in ids:
            said = self._said.of(id_, position)
            if said is None:
                unknown.append(id_)
            elif said.live is not None:
                fixtures.append(as_shown(said.live, self._feed, time, now))
            elif said.error is not None and said.error.kind != "NotInAnswer":
                failures[id_] = feed_error(said.error)
            else:
                unknown.append(id_)
        return FeedAnswer(tuple(fixtures), failures, tuple(unknown))
