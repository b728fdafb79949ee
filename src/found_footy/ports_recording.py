"""What the time machine needs of the rest: where everything that was heard goes, and where it is read from again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from found_footy.domain.discovery.posts import Post
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.errors import FootyError
from found_footy.domain.fixtures.model import LiveFixture
from found_footy.domain.recordings.recording import RecordedSearch, Recording
from found_footy.ports import SourceReport


class Recorder(Protocol):
    """Keeps what the outside said. It never raises: what cannot be kept is logged, and the match goes on without."""

    async def feed_answers(
        self, feed: str, answers: Sequence[LiveFixture], failures: Mapping[int, FootyError], at: datetime
    ) -> None:
        """One poll of one feed, in the feed's own ids; `at` is the poll's time. Safe to repeat."""

    async def search_answer(
        self,
        event_id: str,
        attempt: int,
        query: SearchQuery,
        reports: Sequence[SourceReport],
        posts: Sequence[Post],
        at: datetime,
    ) -> None:
        """One search of all sources with every post that came, also those that were too old. Safe to repeat."""

    async def seal(self, precedences: Mapping[str, int], now: datetime) -> int:
        """Writes the recordings of matches that are over, a few at a time; returns how many. Safe to repeat.

        `precedences` are those of the feeds as they are declared now.
        """


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """What a feed said of one match, ready to be kept; exactly one of the two halves is there."""

    feed_id: int
    checksum: str
    body: bytes | None = None
    error: FootyError | None = None


@dataclass(frozen=True, slots=True)
class RecordingSummary:
    fixture_id: int
    title: str
    kickoff: datetime
    stage: str
    on: bool
    answers: int
    """Those that wait to be sealed."""
    searches: int
    key: str | None = None
    """Of the sealed recording in the object store."""
    bytes: int | None = None
    sealed_at: datetime | None = None


class RecordingStore(Protocol):
    """Where a recording grows while its match is on. All methods raise StoreUnavailable."""

    async def known_checksums(self, feed: str, feed_ids: Sequence[int]) -> Mapping[int, str]:
        """Of the last answer for each match that is being recorded; empty text where there is none yet.

        Matches that nobody records, or that are over, are not in it.
        """

    async def add_answers(self, feed: str, answers: Sequence[NewAnswer], at: datetime) -> None:
        """One that says the same as the one before it needs no body."""

    async def add_search(self, search: RecordedSearch) -> None: ...

    async def to_seal(self, limit: int, without: Sequence[int] = ()) -> Sequence[int]:
        """Matches that are over and whose recording is not sealed, but for these."""

    async def recording(self, fixture_id: int) -> Recording | None:
        """All that was kept of a match so far; None where nothing was. Raises NotFound."""

    async def sealed(self, fixture_id: int, key: str, size: int, now: datetime) -> None:
        """It lies in the object store now: what it was made of is deleted, and nothing more is kept."""

    async def switch_all(self, on: bool) -> None:
        """For all matches, and takes back what was said of single ones."""

    async def switch(self, fixture_ids: Sequence[int], on: bool) -> None:
        """Raises NotFound."""

    async def summaries(self) -> Sequence[RecordingSummary]:
        """Matches with a recording, the newest first."""

    async def all_on(self) -> bool: ...
