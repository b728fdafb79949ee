"""Values of the score feeds: sources, listings, monitoring records, snapshots, reports and reconciled fixtures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Any, Protocol
from urllib.parse import urlsplit

from found_footy.errors import FeedError, FootyError
from found_footy.fixtures.models import FixtureStage, League, LiveFixture, MatchMinute, Sport, Team


def compact(**texts: str | None) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}


def venue_name(ground: str | None, town: str | None) -> str | None:
    """Return `Anfield, Liverpool`, without the town if the ground's name contains it."""
    if ground and town and town.casefold() not in ground.casefold():
        return f"{ground}, {town}"
    return ground or town


# --- Listings of matches at a feed, and pairing results.


@dataclass(frozen=True, slots=True)
class MatchListing:
    feed: str
    feed_id: int
    """Match id at the feed."""
    sport: Sport
    home: tuple[str, ...]
    """All known names of the side: the feed's name and short name, aliases."""
    away: tuple[str, ...]
    kickoff: datetime
    competition: str


@dataclass(frozen=True, slots=True)
class PairingCandidate:
    """A fixture with a kick-off around the same time."""

    fixture_id: int
    sport: Sport
    home: tuple[str, ...]
    away: tuple[str, ...]
    kickoff: datetime
    competition: str


class PairingVerdict(StrEnum):
    SAME = "same"
    DOUBTFUL = "doubtful"
    """Not paired; an operator decides."""
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Pairing:
    verdict: PairingVerdict
    fixture_id: int | None = None
    """The paired fixture, or the possible one."""
    swapped: bool = False
    confidence: float = 0.0
    reasons: tuple[str, ...] = ()
    """Arguments for and against, for the operator."""


# --- Monitoring records: polling state of one match at one feed, as cached.


class MatchPriority(IntEnum):
    """Lower values are polled first."""

    LIVE = 0
    IMMINENT = 1
    """Starts within the hour."""
    COMPLETED = 2


class MonitoringState(StrEnum):
    DISCOVERED = "discovered"
    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class MatchPosition:
    """Progress of a match in a feed's last good answer. A later answer must not regress from it."""

    status: str
    kickoff: datetime
    home: Team
    away: Team
    minute: MatchMinute | None = None
    overs: tuple[tuple[int, int], ...] = ()
    """Innings numbers and their overs."""


@dataclass(frozen=True, slots=True)
class MatchMonitoringRecord:
    """Monitoring state of one match at one feed. Lost with the cache, then rebuilt from the next answers."""

    feed: str
    feed_id: int
    state: MonitoringState
    priority: MatchPriority
    created_at: datetime
    updated_at: datetime | None = None
    """Time of the last good answer."""
    asked_at: datetime | None = None
    consecutive_failures: int = 0
    paused_until: datetime | None = None
    total: int = 0
    total_failures: int = 0
    error: str | None = None
    """Class and message of the last failure, cleared by the next success."""
    title: str = ""
    completed_at: datetime | None = None
    """Time when a feed first reported the end of the match."""
    position: MatchPosition | None = None
    """Position in the answer at `updated_at`."""

    @property
    def match_id(self) -> str:
        return feed_match_id(self.feed, self.feed_id)


def feed_match_id(feed: str, feed_id: int) -> str:
    """Return the key of a feed's match in the cache."""
    return f"{feed}_{feed_id}"


# --- Reports of several feeds, and the fixture reconciled from them.


MIN_CONFIDENCE = 0.5
"""Fields with a lower parser confidence are ignored."""


@dataclass(frozen=True, slots=True)
class FeedReport:
    """Latest report of one feed for a match, in the feed's ids."""

    feed: str
    precedence: int
    live: LiveFixture
    at: datetime
    swapped: bool = False
    """Whether the feed's home side is the fixture's away side."""
    founding: bool = False
    """Whether the feed created the fixture, whose team and player ids are then this feed's."""
    vendor: str = ""
    """Vendor behind the feed; empty if it is the feed itself."""


@dataclass(frozen=True, slots=True)
class FixtureIdentity:
    """Identity of a fixture, which all feeds are mapped onto."""

    id: int
    home: Team
    away: Team


@dataclass(frozen=True, slots=True)
class FieldReport:
    """Value of one field in one feed's report, as JSON."""

    feed: str
    value: Any
    at: datetime
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class FieldProvenance:
    """Feed whose value of a field was chosen, and the values of the others."""

    chosen: FieldReport
    others: tuple[FieldReport, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedConflict:
    """Disagreement on a field between feeds that answered in the same poll."""

    field: str
    reported: Mapping[str, Any]
    """Feed to JSON value."""
    chosen: str
    """Feed whose value was chosen."""


@dataclass(frozen=True, slots=True)
class ReconciledFixture:
    live: LiveFixture
    """The match with fixture ids; each goal lists its feeds."""
    provenance: Mapping[str, FieldProvenance]
    conflicts: tuple[FeedConflict, ...] = ()


@dataclass(frozen=True, slots=True)
class DoubtfulPairing:
    """A feed's match that may be an existing fixture (`our_…`), until an operator decides."""

    feed: str
    feed_id: int
    fixture_id: int
    home: str
    away: str
    kickoff: datetime
    competition: str
    confidence: float
    reasons: tuple[str, ...]
    first_seen: datetime
    last_seen: datetime
    our_home: str
    our_away: str
    our_kickoff: datetime
    our_competition: str


# --- Cached snapshot of a match, of one feed or reconciled.


RECONCILED = "reconciled"
"""Domain of a snapshot reconciled from several feeds; its match id is the fixture id."""


@dataclass(frozen=True, slots=True)
class EncodedSnapshot:
    """A match in the unified schema as canonical JSON: encoded once for the cache, the recorder and the checksum."""

    json: bytes
    checksum: str
    """Hexadecimal SHA-256 of the JSON."""


@dataclass(frozen=True, slots=True)
class CachedSnapshot:
    match_id: str
    """`espn_401` for a feed's snapshot, `1380101` for a reconciled one."""
    domain_id: str
    payload: Mapping[str, Any]
    """The match in the unified schema."""
    created_at: datetime
    sequence: int
    """Number of the snapshot within its match, starting at 1."""
    checksum: str
    provenance: Mapping[str, Any] = field(default_factory=dict)


# --- A feed as declared in `config/sources.yaml`.


_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Rate limits of a feed, shared by all workers."""

    concurrent: int = 4
    """Maximum concurrent requests to the feed."""
    interval_seconds: float = 0.0
    """Average time between the starts of two requests; a burst may start together."""
    burst: int = 10


@dataclass(frozen=True, slots=True)
class FeedSource:
    id: str
    adapter: str
    """api_football, espn, crex or recording. Several feeds may use the same adapter."""
    enabled: bool = True
    precedence: int = 50
    """From 0 to 100; feeds with a higher value are preferred."""
    limits: RateLimits = RateLimits()
    follow: str = "all"
    """`all` matches of the feed, or only those `paired` with a match of another feed."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Adapter options: base_url, leagues, sports, path, …"""
    vendor: str = field(default="", compare=False)
    """Vendor behind the feed (`vendor_of`); empty if the feed is its own vendor."""

    @property
    def names_football_leagues(self) -> bool:
        """Whether its football leagues are declared explicitly instead of taken from the follow list."""
        return any(not str(league).startswith("cricket/") for league in self.metadata.get("leagues", ()))


def vendor_of(feed: str, adapter: str, base_url: str | None) -> str:
    """Return the vendor of a feed: feeds with the same adapter and address share one.

    Agreement between feeds of one vendor does not confirm a goal, and they share rate limits. Two paths of one host are
    two vendors: a gateway may serve several. A feed without an address, such as a recording, is its own vendor.
    """
    if not base_url:
        return feed
    parts = urlsplit(base_url)
    port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{adapter}@{parts.hostname}{port}{parts.path.rstrip('/')}"


# --- Requests to a feed, and its answers.


@dataclass(frozen=True, slots=True)
class Quota:
    """Quota from the feed's headers at `read_at`. A field is None if the feed does not state it."""

    read_at: datetime
    day_limit: int | None = None
    day_remaining: int | None = None
    minute_limit: int | None = None
    minute_remaining: int | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"read_at": self.read_at.isoformat()}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Quota:
        return cls(**{**document, "read_at": datetime.fromisoformat(document["read_at"])})


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


@dataclass(frozen=True, slots=True)
class OpenFeed:
    source: FeedSource
    feed: ScoreFeed
    id_offset: int

    @property
    def id(self) -> str:
        return self.source.id

    @property
    def vendor(self) -> str:
        """Feeds of one vendor share rate limits and count as one source."""
        return self.source.vendor or self.source.id


@dataclass(frozen=True, slots=True)
class FeedState:
    """State of a feed after the last request by any worker."""

    quota: Quota | None
    asked_at: datetime
    answered_at: datetime | None
    error: str | None


# --- Fixtures as monitored at the feeds that list them.


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
class KnownListing:
    fixture_id: int
    founding: bool


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


# --- Cache writes, and counters.


@dataclass(frozen=True, slots=True)
class NewSnapshot:
    """A snapshot to store; the cache numbers it."""

    match_id: str
    domain_id: str
    body: EncodedSnapshot
    created_at: datetime
    ttl: timedelta
    fresh_for: timedelta
    """How long this snapshot is protected from being overwritten by an older answer."""
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


# --- Inputs and results of workflows and activities.


@dataclass(frozen=True)
class EnabledFeeds:
    """Feeds to poll, and how long the poll waits for them."""

    feeds: list[str] = field(default_factory=list)
    patience_seconds: float = 8
    in_browser: list[str] = field(default_factory=list)
    """Feeds whose pages may have to be read in the browser."""


@dataclass(frozen=True)
class FeedInput:
    feed: str
    in_browser: bool = False


@dataclass(frozen=True)
class FeedPollInput:
    feed: str
    at: datetime


@dataclass(frozen=True)
class FeedPollResult:
    asked: int = 0
    answered: int = 0
    failed: int = 0
    missing: int = 0
    """Matches that the feed does not list, or no longer lists."""
    paused: int = 0
    """Matches that are paused after repeated failures."""
    discovered: int = 0
    """New fixtures in the feed's list of today's matches."""
    slowed: str = ""
    """Why polling was reduced to save the day's quota; empty otherwise."""


FEED_POLL_TIMEOUT = timedelta(minutes=5)
"""Prevents a hanging feed poll from blocking the next one."""


def feed_workflow_id(feed: str) -> str:
    return f"feed-{feed}"
