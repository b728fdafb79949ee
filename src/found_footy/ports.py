"""Interfaces to the outside world. Adapters implement them; `app.py` selects the adapters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from found_footy.clips.dedup import DedupCandidate, DedupPlan, Duplicate
from found_footy.clips.verification import Verification
from found_footy.discovery.goal import SoughtGoal
from found_footy.discovery.models import Post, TeamName
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.selection import Choice, Waiting
from found_footy.errors import FeedError, FootyError
from found_footy.feeds.models import ReconciledFixture
from found_footy.feeds.scheduling import Quota
from found_footy.fixtures.models import FixtureOutcome, FixtureStage, FixtureState, LiveFixture

if TYPE_CHECKING:
    from found_footy.media.fingerprint import Fingerprint
    from found_footy.media.probe import VideoInfo


@dataclass(frozen=True, slots=True)
class FeedAnswer:
    """Result of a feed request. Each requested fixture is in exactly one of `fixtures`, `failures` and `unknown`."""

    fixtures: tuple[LiveFixture, ...] = ()
    failures: Mapping[int, FootyError] = field(default_factory=dict)
    """Fixtures whose response failed or was invalid, with the error."""
    unknown: tuple[int, ...] = ()
    """Fixtures missing from the response."""
    errors: tuple[FeedError, ...] = ()
    """Parts of the feed, such as a league, that returned nothing."""


class ScoreFeed(Protocol):
    """A source of scores. Methods raise FeedError if the feed as a whole returns nothing usable."""

    @property
    def name(self) -> str: ...

    @property
    def quota(self) -> Quota | None: ...

    @property
    def ids_per_request(self) -> int | None:
        """Fixtures per request; None if one response contains them all."""

    def requests_for(self, fixtures: int, locators: Iterable[str] = ()) -> int:
        """Number of requests to poll this many fixtures. `locators` are the known ones, one per fixture."""

    async def fixtures_on(self, day: date) -> FeedAnswer: ...

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        """`locators` maps ids to where the feed last listed the match (`LiveFixture.locator`); it may be incomplete."""

    async def check(self) -> str:
        """Verify with one cheap call that the feed responds and accepts the key; return a description."""

    async def aclose(self) -> None: ...


class PollStore(Protocol):
    """Transaction that locks the active fixtures and saves their new state."""

    async def load(self, fixture_ids: Sequence[int]) -> list[FixtureState]: ...

    async def release(self, fixture_ids: Sequence[int], stage: FixtureStage, at: datetime) -> None:
        """Move fixtures that the feed no longer lists out of the active stage."""

    async def save(
        self, outcomes: Sequence[FixtureOutcome], reconciled: Mapping[int, ReconciledFixture] | None = None
    ) -> Mapping[int, FootyError]:
        """Save what the store accepts; return the fixtures with rejected values."""


class FixtureStore(Protocol):
    """The system of record for fixtures and their events."""

    async def update_staging(self, fixtures: Sequence[tuple[LiveFixture, str]], now: datetime) -> int:
        """Update fixtures in staging and move each to its stage; return how many moved."""

    async def activate_due(self, now: datetime, lead: timedelta) -> list[int]: ...

    def poll(self) -> AbstractAsyncContextManager[PollStore]: ...

    async def record_failures(self, failures: Mapping[int, FootyError], now: datetime) -> None: ...

    async def events_to_search(self, silent_since: datetime) -> list[str]:
        """Return certain events whose search never started, or is open without a heartbeat since `silent_since`."""

    async def set_monitor_complete(self, event_id: str, workflow_id: str) -> bool:
        """Return False if the event is gone or withdrawn and must not be searched for."""

    async def set_download_complete(self, event_id: str) -> None: ...

    async def older_than(self, before: datetime) -> list[int]:
        """Return fixtures past retention."""

    async def delete_older_than(self, before: datetime) -> int: ...

    async def coverage(self, fixture_ids: Sequence[int]) -> Sequence[Coverage]: ...

    async def save_feed_state(
        self, feed: str, quota: Quota | None, now: datetime, error: FootyError | None
    ) -> None: ...

    async def feed_state(self, feed: str) -> FeedState | None: ...


@dataclass(frozen=True, slots=True)
class Coverage:
    """Number of a match's goals that have clips."""

    fixture_id: int
    home: str
    away: str
    goals: int
    with_clips: int
    verified: int


@dataclass(frozen=True, slots=True)
class FeedState:
    """State of a feed after the last request by any worker."""

    quota: Quota | None
    asked_at: datetime
    answered_at: datetime | None
    error: str | None


class SocialSource(Protocol):
    """A source of posts with clips."""

    @property
    def name(self) -> str: ...

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        """Return matching posts with a video, newest first, at most a few hundred. May omit posts older than `since`.

        An empty result means that nothing was posted; any failure raises SourceError.
        """

    async def check(self) -> str:
        """Verify with one cheap call that the source responds and accepts the login; return a description."""

    async def aclose(self) -> None: ...


class SharedCache(Protocol):
    """Expiring values and locks, shared by all workers. Methods raise CacheUnavailable."""

    async def get(self, key: str) -> bytes | None: ...

    async def put(self, key: str, value: bytes, seconds: float) -> None: ...

    async def acquire(self, key: str, seconds: float) -> float:
        """Hold the key for `seconds`. Returns 0 if it was free, otherwise the seconds until it expires."""

    async def extend(self, key: str, seconds: float) -> None:
        """Hold the key for at least `seconds` from now, regardless of its holder."""

    async def release(self, key: str) -> None: ...


class Downloader(Protocol):
    async def fetch(self, media_url: str, to: Path) -> None:
        """Download the video to `to`, limited in bytes, seconds and redirects.

        Raises CandidateRejected if it can never succeed, DownloadUnavailable if a retry may help.
        """

    async def aclose(self) -> None: ...


class Knowledge(Protocol):
    """Team names in common use."""

    async def names_of(self, team: str, *, country: str | None = None, national: bool = False) -> Sequence[TeamName]:
        """Return labels, aliases, nicknames and short names; empty if the team is unknown. Raises KnowledgeError."""

    async def check(self) -> str: ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SourceReport:
    """Result of one search of one source: the number of posts, or an error."""

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

    kept: tuple[DedupCandidate, ...]
    new: tuple[DedupCandidate, ...]
    copies: tuple[Duplicate, ...]
    fingerprints: Mapping[str, Fingerprint]
    """Of both kept and new videos."""


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


class ClipStorage(Protocol):
    """The system of record for searches, candidates, rejections and clips."""

    async def goal(self, event_id: str) -> SoughtGoal:
        """Raises NotFound."""

    async def touch(self, event_id: str, now: datetime) -> None: ...

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
        """Return the posts that this attempt downloads. Idempotent: the choice is made once."""

    async def register_download(self, event_id: str, workflow_id: str) -> bool:
        """Return False if the goal is no longer wanted."""

    async def candidate(self, event_id: str, key: str) -> CandidateState: ...

    async def reject_candidate(self, event_id: str, key: str, loss: str, detail: str) -> None: ...

    async def video_state(self, event_id: str, md5: str) -> str | None: ...

    async def add_video(self, event_id: str, key: str, md5: str, info: VideoInfo | None, now: datetime) -> str:
        """Link a post to its file and return the file's state. A new file needs `info`."""

    async def save_verification(self, event_id: str, md5: str, seen: Verification) -> None: ...

    async def reject_video(
        self, event_id: str, md5: str, loss: str, detail: str, seen: Verification | None = None
    ) -> None: ...

    async def save_fingerprint(self, event_id: str, md5: str, fingerprint: Fingerprint) -> None: ...

    async def pool(self, event_id: str, name: str) -> Pool: ...

    async def settle(self, event_id: str, settlements: Sequence[DedupPlan], now: datetime) -> bool:
        """Save the winners and losers of deduplication, popularity, ranks and outbox entries; False if withdrawn."""

    async def video_states(self, event_id: str) -> Mapping[str, str]: ...

    async def open_work(self, event_id: str) -> OpenWork: ...

    async def close(self, event_id: str, detail: str) -> None:
        """Close all open work with a reason per post, and mark the event complete."""

    async def aliases(self, team_ids: Sequence[int]) -> Mapping[int, tuple[str, ...]]: ...

    async def save_aliases(self, team_id: int, name: str, aliases: Sequence[str], now: datetime) -> None: ...

    async def teams_without_aliases(self, limit: int) -> Sequence[TeamToName]: ...
