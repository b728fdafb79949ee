"""Interfaces of the feed cache, which may be lost at any time, and of the listing store.

All methods of the cache raise CacheUnavailable if it does not respond.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from found_footy.feeds.models import (
    CachedSnapshot,
    EncodedSnapshot,
    MatchListing,
    MatchMonitoringRecord,
    MatchPriority,
    Pairing,
    PairingCandidate,
)
from found_footy.fixtures.following import FollowChange
from found_footy.fixtures.models import FixtureStage, League, LiveFixture, Team


@dataclass(frozen=True, slots=True)
class NewSnapshot:
    """A snapshot to store; the cache numbers it."""

    match_id: str
    domain_id: str
    body: EncodedSnapshot
    created_at: datetime
    ttl: timedelta
    fresh_for: timedelta
    """How long an older answer does not overwrite this one."""
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BatchAnswers:
    """Cache writes of one batch of answers."""

    feed: str
    at: datetime
    seconds: float
    snapshots: Sequence[NewSnapshot]
    records: Sequence[MatchMonitoringRecord]
    """Records of all requested matches, answered or not."""
    reported_fixtures: Sequence[int]
    """Ids of the active fixtures that were answered."""
    missing: Sequence[str]
    """Ids of matches missing from the feed's answer."""
    navigation_failures: int = 0


class Snapshots(Protocol):
    async def save(self, snapshots: Sequence[NewSnapshot]) -> None: ...

    async def load(self, match_ids: Sequence[str]) -> Mapping[str, CachedSnapshot]:
        """Return unexpired snapshots: those of a feed while they are fresh, reconciled ones for a day."""

    async def history(self, match_id: str) -> Sequence[CachedSnapshot]:
        """Return the last five snapshots, newest first."""


class MonitorRecords(Protocol):
    async def load(self, match_ids: Sequence[str]) -> Mapping[str, MatchMonitoringRecord]: ...

    async def save(self, records: Sequence[MatchMonitoringRecord]) -> None:
        """Save the records and update the freshness index and the set of paused matches; archived ones leave both."""

    async def all(self) -> Sequence[MatchMonitoringRecord]: ...

    async def note_queue(self, feed: str, depths: Mapping[MatchPriority, int], origin: str) -> None:
        """Store the number of queued requests and the origin that counts their permits, for one minute."""

    async def queues(self) -> Mapping[str, Mapping[str, int]]:
        """Return queued requests per feed by lower-case priority, and as `active` the permits in use."""

    async def end_pauses(self, now: datetime) -> int:
        """End all pauses, so that the next poll includes these matches. Returns how many there were."""


class Freshness(Protocol):
    """Time of the last report for each fixture, by any feed (`freshness_index`)."""

    async def expect(self, since: Mapping[int, datetime]) -> None:
        """Set the fixtures that are polled at every cycle. One that is missing from the index, because it is new or the
        index was lost, starts at the given time from the database.
        """

    async def heard(self, fixture_ids: Sequence[int], at: datetime) -> None: ...

    async def times(self) -> Mapping[int, datetime]: ...


@dataclass(frozen=True, slots=True)
class FeedTotals:
    """Counters of a feed since the cache was created."""

    ok: int = 0
    failed: int = 0
    navigation_failures: int = 0
    seconds: float = 0.0
    """Total duration of all requests."""
    buckets: Mapping[float, int] = field(default_factory=dict)
    """Upper bound in seconds to the number of requests up to it; `math.inf` for all."""


class FeedCounters(Protocol):
    async def note(
        self, feed: str, *, ok: int = 0, failed: int = 0, seconds: Sequence[float] = (), navigation_failures: int = 0
    ) -> None: ...

    async def totals(self) -> Mapping[str, FeedTotals]: ...

    async def recent(self) -> Mapping[str, tuple[int, int]]:
        """Return successes and failures of the last five minutes by feed."""


class MissingMatches(Protocol):
    """Matches missing at a feed, cached for one minute."""

    async def note(self, match_ids: Sequence[str]) -> None: ...

    async def among(self, match_ids: Sequence[str]) -> frozenset[str]: ...


class Switches(Protocol):
    """Feeds that an operator switched on or off at run time."""

    async def switched(self) -> Mapping[str, bool]:
        """Return on or off by feed; feeds without a switch are not included."""

    async def switch(self, feed: str, on: bool | None) -> None:
        """Switch a feed; None removes the switch, so that the file decides."""


@dataclass(frozen=True, slots=True)
class FeedListing:
    """A match as listed by one feed."""

    feed: str
    feed_id: int
    swapped: bool = False
    founding: bool = False
    locator: str = ""
    """Location of the match at the feed (`LiveFixture.locator`); empty if unknown."""


@dataclass(frozen=True, slots=True)
class MonitoredFixture:
    """A fixture with all feeds that list it."""

    id: int
    stage: FixtureStage
    status: str
    kickoff: datetime
    home: Team
    away: Team
    league: League
    listings: tuple[FeedListing, ...]
    completed_at: datetime | None = None
    last_report_at: datetime | None = None
    """Time of the last accepted report of any feed."""
    staging_polled_at: datetime | None = None
    activated_at: datetime | None = None

    def at_feeds(self, on: Iterable[str]) -> MonitoredFixture:
        """Return the fixture with the listings of these feeds only; disabled feeds are not polled."""
        feeds = frozenset(on)
        return replace(self, listings=tuple(each for each in self.listings if each.feed in feeds))

    @property
    def expected_since(self) -> datetime | None:
        """Return the later of the last accepted report and the start of polling: a fixture that returned to staging and
        was activated again is not as old as its last report.
        """
        return max((at for at in (self.last_report_at, self.activated_at) if at is not None), default=None)


@dataclass(frozen=True, slots=True)
class KnownListing:
    fixture_id: int
    founding: bool


class Registering(Protocol):
    """A transaction that places a feed's matches; only one runs at a time."""

    async def known(self, feed: str, feed_ids: Sequence[int]) -> Mapping[int, KnownListing]:
        """Return the known listings by match id at the feed."""

    async def candidates(self, since: datetime, until: datetime, without_feed: str) -> Sequence[PairingCandidate]:
        """Return fixtures in this period that the feed does not list yet."""

    async def decided(self, feed: str, feed_ids: Sequence[int]) -> Mapping[tuple[int, int], bool]:
        """Return the operator's decisions on doubtful pairings: (feed id, fixture id) to whether they are the same."""

    async def taken(self, fixture_ids: Sequence[int]) -> frozenset[int]: ...

    async def add(self, fixtures: Sequence[tuple[LiveFixture, str]], now: datetime) -> Mapping[str, int]:
        """Add fixtures in their initial stage; those beyond staging are left unchanged. Returns new ones by stage."""

    async def join(self, joined: Sequence[tuple[MatchListing, Pairing, bool]], now: datetime) -> None:
        """Save listings with their pairing, and whether each one created its fixture."""

    async def locate(self, feed: str, locators: Mapping[int, str]) -> None:
        """Update the locators of these matches by feed id. Unknown listings are ignored."""

    async def doubt(self, doubts: Sequence[tuple[MatchListing, Pairing]], now: datetime) -> None: ...


@dataclass(frozen=True, slots=True)
class NextMatch:
    """The next followed match that has not started."""

    fixture_id: int
    kickoff: datetime
    home: str
    away: str
    league: str


class FollowStore(Protocol):
    """Changes of the follow list at run time. All methods raise StoreUnavailable."""

    async def changes(self) -> Sequence[FollowChange]:
        """Return the changes, oldest first."""

    async def change(self, entries: Sequence[str], followed: bool, by: str, now: datetime) -> None:
        """Add changes; entries are canonical. Raises BadRequest if there would be too many."""

    async def reset(self) -> int:
        """Delete all changes and return how many there were."""

    async def next_kickoff(self, now: datetime) -> NextMatch | None:
        """Return the next followed match, or None if none is known."""

    async def day_limits(self) -> Mapping[str, int]:
        """Return the last stated daily request limit by feed."""


class ListingStore(Protocol):
    """System of record for the mapping of feed matches to fixtures."""

    def registering(self) -> AbstractAsyncContextManager[Registering]: ...

    async def followed(
        self, stages: Sequence[FixtureStage], *, completed_since: datetime, feed: str | None = None
    ) -> Sequence[MonitoredFixture]: ...

    async def save_locators(self, feed: str, locators: Mapping[int, str]) -> None:
        """Save locators outside of a registration, when a poll found matches elsewhere."""
