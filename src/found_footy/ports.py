"""What the rest of the system needs of the outside world. Adapters fill these; `bootstrap.py` chooses them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from found_footy.domain.discovery.choosing import Choice, Waiting
from found_footy.domain.discovery.goal import SoughtGoal
from found_footy.domain.discovery.posts import Post
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.discovery.team_names import TeamName
from found_footy.domain.errors import FeedError, FootyError
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.fixtures.model import LiveFixture, Sport, Stage
from found_footy.domain.fixtures.polling import FixtureOutcome, FixtureState
from found_footy.domain.videos.dedup import Video
from found_footy.domain.videos.keeping import Copy, Settlement
from found_footy.domain.videos.readings import FrameReading
from found_footy.domain.videos.verification import Verification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from found_footy.media.fingerprint import Fingerprint
    from found_footy.media.probe import VideoInfo


@dataclass(frozen=True, slots=True)
class FeedAnswer:
    """What came of asking a feed. A fixture that was asked for is in exactly one of the three."""

    fixtures: tuple[LiveFixture, ...] = ()
    failures: Mapping[int, FootyError] = field(default_factory=dict)
    """Fixtures whose answer failed or did not fit, each with its reason."""
    unknown: tuple[int, ...] = ()
    """Fixtures that the feed left out of its answer."""
    errors: tuple[FeedError, ...] = ()
    """Parts of the feed, such as a league, that gave nothing; what else came is above."""


class ScoreFeed(Protocol):
    """A source of scores. Methods raise a FeedError when the feed as a whole gives nothing usable."""

    @property
    def name(self) -> str: ...

    @property
    def quota(self) -> Quota | None: ...

    @property
    def ids_per_request(self) -> int | None:
        """How many fixtures one request can ask for; None where one answer has them all."""

    def requests_for(self, fixtures: int, locators: Iterable[str] = ()) -> int:
        """How many requests a poll of so many fixtures costs. `locators` are those that are known, one per fixture."""

    async def fixtures_on(self, day: date) -> FeedAnswer: ...

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        """`locators`: where the feed listed each match before (`LiveFixture.locator`), by id. None may be known."""

    async def check(self) -> str:
        """One cheap call that proves that the feed answers and takes the key; returns what it said."""

    async def aclose(self) -> None: ...


class PollTransaction(Protocol):
    """One transaction: the active fixtures are locked, decided upon and saved."""

    async def load(self, fixture_ids: Sequence[int]) -> list[FixtureState]: ...

    async def release(self, fixture_ids: Sequence[int], stage: Stage, at: datetime) -> None:
        """Moves fixtures that the feed has lost out of the active ones."""

    async def save(self, outcomes: Sequence[FixtureOutcome]) -> Mapping[int, FootyError]:
        """Saves all that can be saved; returns the fixtures whose values the store refused."""


class FixtureStore(Protocol):
    """The system of record for fixtures and their events."""

    async def update_staging(self, fixtures: Sequence[tuple[LiveFixture, str]], now: datetime) -> int:
        """Fresh data for fixtures in staging, with the stage each belongs in now; returns how many moved."""

    async def activate_due(self, now: datetime, lead: timedelta) -> list[int]: ...

    def poll(self) -> AbstractAsyncContextManager[PollTransaction]: ...

    async def record_failures(self, failures: Mapping[int, FootyError], now: datetime) -> None: ...

    async def events_to_search(self, silent_since: datetime) -> list[str]:
        """Certain events whose search never began, or has given no sign of life since then without having ended."""

    async def set_monitor_complete(self, event_id: str, workflow_id: str) -> bool:
        """False where the event is gone or withdrawn: then nobody should search for it."""

    async def set_download_complete(self, event_id: str) -> None: ...

    async def older_than(self, before: datetime) -> list[int]:
        """Fixtures that are past retention."""

    async def delete_older_than(self, before: datetime) -> int: ...

    async def coverage(self, fixture_ids: Sequence[int]) -> Sequence[Coverage]: ...

    async def save_feed_state(
        self, feed: str, quota: Quota | None, now: datetime, error: FootyError | None
    ) -> None: ...

    async def feed_state(self, feed: str) -> FeedState | None: ...


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of a match's goals have clips."""

    fixture_id: int
    home: str
    away: str
    goals: int
    with_clips: int
    verified: int


@dataclass(frozen=True, slots=True)
class FeedState:
    """How a feed was when it was last asked, whoever asked."""

    quota: Quota | None
    asked_at: datetime
    answered_at: datetime | None
    error: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One frame of a clip."""

    at: float
    """Seconds from the clip's start."""
    bgr: NDArray[np.uint8]
    """Height, width, and blue, green and red."""


class ClipVision(Protocol):
    """Looks at one clip, and may remember what it has seen of it: a scoreboard's place does not change."""

    async def look(self, pictures: Sequence[Picture]) -> FrameReading:
        """Reads one moment, shown by one or more pictures close together; the middle one counts most.

        Raises a VisionError where nobody could look, which is never the same as having seen nothing.
        """


class Vision(Protocol):
    @property
    def name(self) -> str: ...

    def open_clip(self, sport: Sport = Sport.FOOTBALL) -> ClipVision: ...

    async def check(self) -> str:
        """One cheap call that proves that the engine works; returns what it is."""

    async def aclose(self) -> None: ...


class ClipWatcher(Protocol):
    """Shows as many moments of a file as it takes to a vision engine."""

    async def __call__(self, path: Path, sport: Sport = Sport.FOOTBALL) -> Sequence[FrameReading]:
        """Raises a MediaError, or a VisionError where nobody could look."""


class SocialSource(Protocol):
    """A place where people post clips."""

    @property
    def name(self) -> str: ...

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        """Posts with a video that match, newest first, at most some hundred; older ones than `since` may be left out.

        An empty answer means that nothing was posted. Whatever else there is raises a SourceError.
        """

    async def check(self) -> str:
        """One cheap call that proves that the source answers and takes the login; returns what it said."""

    async def aclose(self) -> None: ...


class SharedCache(Protocol):
    """Small values and locks that expire, shared by all workers. Methods raise CacheUnavailable."""

    async def get(self, key: str) -> bytes | None: ...

    async def put(self, key: str, value: bytes, seconds: float) -> None: ...

    async def acquire(self, key: str, seconds: float) -> float:
        """Hold the key for `seconds`. Returns 0 if it was free, otherwise the seconds until it expires."""

    async def extend(self, key: str, seconds: float) -> None:
        """Hold the key for at least `seconds` from now, whoever holds it."""

    async def release(self, key: str) -> None: ...


class Downloader(Protocol):
    async def fetch(self, media_url: str, to: Path) -> None:
        """Gets the video into the given file, within its bounds of bytes, seconds and redirects.

        Raises ClipLost where it will never come, with the class of the loss, and DownloadUnavailable where it may.
        """

    async def aclose(self) -> None: ...


class MediaReader(Protocol):
    """Decodes files of strangers where they can do no harm. All methods raise a MediaError."""

    async def probe(self, path: Path) -> VideoInfo: ...

    async def pictures(self, path: Path, fractions: Sequence[float]) -> list[Picture]:
        """The pictures at these shares of the clip's length."""

    async def fingerprint(self, path: Path) -> Fingerprint: ...

    async def aclose(self) -> None: ...


class Knowledge(Protocol):
    """What the world calls a team."""

    async def names_of(self, team: str, *, country: str | None = None, national: bool = False) -> Sequence[TeamName]:
        """Labels, aliases, nicknames and short names; nothing where the team is unknown. Raises KnowledgeError."""

    async def check(self) -> str: ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class StoredObject:
    key: str
    size: int
    modified: datetime


class ObjectStore(Protocol):
    """Files by key, such as `1380101/1380101_40_306_Goal_1/0cc175b9….mp4`. All methods raise an ObjectStoreError."""

    async def put(
        self, key: str, path: Path, *, content_type: str = "video/mp4", metadata: Mapping[str, str] | None = None
    ) -> None:
        """Stores a file, whole or not at all, over whatever was there. Metadata may be any text."""

    async def get(self, key: str, to: Path) -> None:
        """Raises ObjectMissing."""

    async def copy(self, key: str, to: str) -> None:
        """On the server's side, with the metadata; over whatever was there. Raises ObjectMissing."""

    async def delete(self, keys: Sequence[str]) -> None:
        """Safe to repeat: what is not there is deleted already."""

    def list(self, prefix: str = "") -> AsyncIterator[StoredObject]:
        """Everything below a prefix such as `staging/`, however many pages that takes."""

    async def head(self, key: str) -> StoredObject | None: ...

    async def metadata(self, key: str) -> Mapping[str, str]:
        """As it was given. Raises ObjectMissing."""

    async def check(self) -> str: ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SourceReport:
    """How one search of one source ended: so many posts, or an error."""

    source: str
    found: int | None
    error: FootyError | None = None


@dataclass(frozen=True, slots=True)
class CandidateState:
    key: str
    media_url: str
    md5: str | None
    loss: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The videos of one pool of an event, with their fingerprints."""

    kept: tuple[Video, ...]
    new: tuple[Video, ...]
    copies: tuple[Copy, ...]
    fingerprints: Mapping[str, Fingerprint]
    """Of the kept and the new ones."""


@dataclass(frozen=True, slots=True)
class OpenWork:
    downloading: int
    checking: int
    waiting: int

    @property
    def any(self) -> bool:
        return bool(self.downloading or self.checking or self.waiting)


@dataclass(frozen=True, slots=True)
class TeamToName:
    id: int
    name: str
    league: str
    country: str | None


class ClipStore(Protocol):
    """The system of record for what was searched, found, refused and kept."""

    async def goal(self, event_id: str) -> SoughtGoal:
        """Raises NotFound."""

    async def note_sign_of_life(self, event_id: str, now: datetime) -> None: ...

    async def note_search(
        self,
        event_id: str,
        attempt: int,
        query: SearchQuery,
        reports: Sequence[SourceReport],
        posts: Sequence[Post],
        now: datetime,
    ) -> None: ...

    async def take(self, event_id: str, attempt: int, choose: Callable[[Sequence[Waiting]], Choice]) -> Sequence[str]:
        """The posts that this attempt downloads; chosen once, however often it is asked."""

    async def register_download(self, event_id: str, workflow_id: str) -> bool:
        """False where the goal is not wanted any more."""

    async def candidate(self, event_id: str, key: str) -> CandidateState: ...

    async def lose_candidate(self, event_id: str, key: str, loss: str, detail: str) -> None: ...

    async def video_state(self, event_id: str, md5: str) -> str | None: ...

    async def add_video(self, event_id: str, key: str, md5: str, info: VideoInfo | None, now: datetime) -> str:
        """Links a post to its file, and returns the file's state. `info` is needed for a file that is new."""

    async def save_look(self, event_id: str, md5: str, seen: Verification) -> None: ...

    async def refuse_video(
        self, event_id: str, md5: str, loss: str, detail: str, seen: Verification | None = None
    ) -> None: ...

    async def save_fingerprint(self, event_id: str, md5: str, fingerprint: Fingerprint) -> None: ...

    async def pool(self, event_id: str, name: str) -> Pool: ...

    async def settle(self, event_id: str, settlements: Sequence[Settlement], now: datetime) -> bool:
        """Who stays, who gave way, popularity and ranks, and the news of it; False where the goal is withdrawn."""

    async def video_states(self, event_id: str) -> Mapping[str, str]: ...

    async def open_work(self, event_id: str) -> OpenWork: ...

    async def close(self, event_id: str, detail: str) -> None:
        """Ends whatever is open, and says of each post why; then the event is complete."""

    async def aliases(self, team_ids: Sequence[int]) -> Mapping[int, tuple[str, ...]]: ...

    async def save_aliases(self, team_id: int, name: str, aliases: Sequence[str], now: datetime) -> None: ...

    async def teams_without_aliases(self, limit: int) -> Sequence[TeamToName]: ...
