"""Interfaces to the outside world. Adapters implement them; `app.py` selects the adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from found_footy.clips.dedup import DedupCandidate, DedupPlan, Duplicate
from found_footy.clips.verification import Verification
from found_footy.discovery.goal import SoughtGoal
from found_footy.discovery.models import Post, TeamName
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.selection import Choice, Waiting
from found_footy.errors import FootyError

if TYPE_CHECKING:
    from found_footy.media.fingerprint import Fingerprint
    from found_footy.media.probe import VideoInfo


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
