"""What several feeds need beside the feeds themselves: a cache that may be lost, and limits that hold everywhere.

All methods raise CacheUnavailable where the cache does not answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from found_footy.domain.feeds.listing import Candidate, Listing, Pairing
from found_footy.domain.feeds.monitoring import MonitorRecord, Priority
from found_footy.domain.feeds.reconciled import Contradiction, FieldOrigin
from found_footy.domain.feeds.snapshot import Snapshot
from found_footy.domain.feeds.source import RateLimits
from found_footy.domain.fixtures.following import FollowChange
from found_footy.domain.fixtures.model import League, LiveFixture, Stage, Team


@dataclass(frozen=True, slots=True)
class NewSnapshot:
    """A snapshot that the cache has yet to number."""

    match_id: str
    domain_id: str
    payload: Mapping[str, Any]
    created_at: datetime
    lasts: timedelta
    """For so long it counts as fresh."""
    provenance: Mapping[str, Any]


class Snapshots(Protocol):
    async def keep(self, snapshots: Sequence[NewSnapshot]) -> None:
        """Each gets the next number of its match. One that says what the last one said renews that one's time."""

    async def fresh(self, match_ids: Sequence[str]) -> Mapping[str, Snapshot]:
        """Those whose time is not over."""

    async def last_known(self, match_ids: Sequence[str]) -> Mapping[str, Snapshot]:
        """Also those whose time is over: their `created_at` tells how old they are."""

    async def history(self, match_id: str) -> Sequence[Snapshot]:
        """The last five, newest first."""


class MonitorRecords(Protocol):
    async def load(self, match_ids: Sequence[str]) -> Mapping[str, MonitorRecord]: ...

    async def save(self, records: Sequence[MonitorRecord]) -> None:
        """With the index of freshness and the set of the paused ones; archived ones leave both."""

    async def all(self) -> Sequence[MonitorRecord]: ...

    async def note_queue(self, feed: str, depths: Mapping[Priority, int], origin: str) -> None:
        """How many requests wait, and where their turns are counted; kept for a minute."""

    async def queues(self) -> Mapping[str, Mapping[str, int]]:
        """Feed to what waits by priority in lower case, and `active`: the turns that it has at this moment."""

    async def end_pauses(self, now: datetime) -> int:
        """Each match that is paused is asked for with the next poll. How many they were."""


class Freshness(Protocol):
    """When each of our matches was last heard of, by whichever feed (`freshness_index`)."""

    async def expect(self, since: Mapping[int, datetime]) -> None:
        """These are polled at every cycle, and no others. One that the index does not know, because it is new or
        the index was lost, counts from the given moment on: what the database knows of it."""

    async def heard(self, fixture_ids: Sequence[int], at: datetime) -> None: ...

    async def times(self) -> Mapping[int, datetime]: ...


@dataclass(frozen=True, slots=True)
class FeedTotals:
    """Since the cache began to count."""

    ok: int = 0
    failed: int = 0
    navigation_failures: int = 0
    seconds: float = 0.0
    """All requests together."""
    buckets: Mapping[float, int] = field(default_factory=dict)
    """Upper bound in seconds to how many requests took no longer; `math.inf` for all."""


class FeedCounters(Protocol):
    async def note(
        self, feed: str, *, ok: int = 0, failed: int = 0, seconds: Sequence[float] = (), navigation_failures: int = 0
    ) -> None: ...

    async def totals(self) -> Mapping[str, FeedTotals]: ...

    async def recent(self) -> Mapping[str, tuple[int, int]]:
        """Good and failed answers of the last five minutes, by feed."""


class MissingMatches(Protocol):
    """Matches that a feed does not know, remembered for a minute."""

    async def note(self, match_ids: Sequence[str]) -> None: ...

    async def among(self, match_ids: Sequence[str]) -> frozenset[str]: ...


class Turns(Protocol):
    def turn(self, feed: str, limits: RateLimits, origin: str = "") -> AbstractAsyncContextManager[None]:
        """Waits for its turn among all workers and all feeds of one origin, where one is given.

        Raises FeedBusy where that would take too long.
        """


class Switches(Protocol):
    """What an operator has switched at run time."""

    async def switched(self) -> Mapping[str, bool]:
        """Feed to on or off; those that nobody has touched are not in it."""

    async def switch(self, feed: str, on: bool | None) -> None:
        """None takes it back: the file decides again."""


@dataclass(frozen=True, slots=True)
class FeedMemory:
    """All that is remembered of the asking, and may be lost."""

    snapshots: Snapshots
    records: MonitorRecords
    freshness: Freshness
    counters: FeedCounters
    missing: MissingMatches


@dataclass(frozen=True, slots=True)
class FollowedListing:
    """A match as one feed lists it."""

    feed: str
    feed_id: int
    swapped: bool = False
    founding: bool = False
    locator: str = ""
    """Where the feed last listed it (`LiveFixture.locator`); empty where that is unknown."""


@dataclass(frozen=True, slots=True)
class FollowedMatch:
    """A match of ours, with all feeds that list it."""

    id: int
    stage: Stage
    status: str
    kickoff: datetime
    home: Team
    away: Team
    league: League
    listings: tuple[FollowedListing, ...]
    completed_at: datetime | None = None
    heard_at: datetime | None = None
    """When any feed last said something that counted."""
    staging_polled_at: datetime | None = None
    activated_at: datetime | None = None

    def at_feeds(self, on: Iterable[str]) -> FollowedMatch:
        """As these feeds list it: one that is switched off knows nothing of it, and is asked nothing."""
        feeds = frozenset(on)
        return replace(self, listings=tuple(each for each in self.listings if each.feed in feeds))

    @property
    def waited_since(self) -> datetime | None:
        """The last word that counted; before the first one, when the polls of it began. The later of both: a match
        that went back to waiting and comes again is not as old as its last word."""
        return max((at for at in (self.heard_at, self.activated_at) if at is not None), default=None)


@dataclass(frozen=True, slots=True)
class KnownListing:
    fixture_id: int
    founding: bool


class Registering(Protocol):
    """One transaction in which matches of a feed find their place; no other one runs beside it."""

    async def known(self, feed: str, feed_ids: Sequence[int]) -> Mapping[int, KnownListing]:
        """By the feed's id."""

    async def candidates(self, since: datetime, until: datetime, without_feed: str) -> Sequence[Candidate]:
        """Matches around that time which this feed does not list yet."""

    async def decided(self, feed: str, feed_ids: Sequence[int]) -> Mapping[tuple[int, int], bool]:
        """What the operator said of doubtful pairings: (the feed's id, ours) to whether they are the same."""

    async def taken(self, fixture_ids: Sequence[int]) -> frozenset[int]: ...

    async def add(self, fixtures: Sequence[tuple[LiveFixture, str]], now: datetime) -> Mapping[str, int]:
        """With the stage each starts in; known ones beyond staging are left. Returns how many are new, by stage."""

    async def join(self, joined: Sequence[tuple[Listing, Pairing, bool]], now: datetime) -> None:
        """Listings, where each belongs, and whether it founded that match."""

    async def locate(self, feed: str, locators: Mapping[int, str]) -> None:
        """Where the feed lists these matches, by its own ids. Listings that are not known are left out."""

    async def doubt(self, doubts: Sequence[tuple[Listing, Pairing]], now: datetime) -> None: ...


@dataclass(frozen=True, slots=True)
class NextMatch:
    """The next match that is followed and has not started."""

    fixture_id: int
    kickoff: datetime
    home: str
    away: str
    league: str


class FollowStore(Protocol):
    """Changes of the follow list at run time. Everything raises StoreUnavailable."""

    async def changes(self) -> Sequence[FollowChange]:
        """Oldest first."""

    async def change(self, entries: Sequence[str], followed: bool, by: str, now: datetime) -> None:
        """Entries are canonical. Raises BadRequest where there would be too many."""

    async def reset(self) -> int:
        """Drop all changes; returns how many there were."""

    async def next_kickoff(self, now: datetime) -> NextMatch | None:
        """None where no match that is followed and has not started is known yet."""

    async def day_limits(self) -> Mapping[str, int]:
        """Requests a day that feeds allow, as they stated it last; by feed."""


class ListingStore(Protocol):
    """The system of record for which match of which feed is which of ours."""

    def registering(self) -> AbstractAsyncContextManager[Registering]: ...

    async def followed(
        self, stages: Sequence[Stage], *, completed_since: datetime, feed: str | None = None
    ) -> Sequence[FollowedMatch]: ...

    async def save_locators(self, feed: str, locators: Mapping[int, str]) -> None:
        """The same outside of a registration: a poll found matches in another place."""

    async def save_origins(
        self,
        origins: Mapping[int, Mapping[str, FieldOrigin]],
        contradictions: Mapping[int, Sequence[Contradiction]],
        now: datetime,
    ) -> None: ...
