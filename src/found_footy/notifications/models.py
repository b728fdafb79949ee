"""Topics, subscriptions, and the inputs and results of notifications."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from found_footy.errors import BadRequest
from found_footy.fixtures.models import MatchMinute, Score
from found_footy.text import clean_text


@dataclass(frozen=True, slots=True)
class NotificationFixture:
    id: int
    kickoff: datetime
    league_id: int
    league: str
    country: str | None
    home_id: int
    home: str
    away_id: int
    away: str


@dataclass(frozen=True, slots=True)
class NotificationGoal:
    id: str
    team: str
    player: str | None
    minute: str


@dataclass(frozen=True, slots=True)
class NotificationContext:
    """Context of one outbox message. The fixture is None once it is past retention."""

    match: NotificationFixture | None = None
    goal: NotificationGoal | None = None
    verified: Mapping[str, bool] = field(default_factory=dict)
    """MD5 of each of the goal's clips, and whether it is verified."""
    withdrawn: bool = False
    """Whether the goal was withdrawn before this message."""


def video_id(event_id: str, md5: str) -> str:
    """Public id of a video; the database computes the same value."""
    return hashlib.md5(f"{event_id}/{md5}".encode(), usedforsecurity=False).hexdigest()[:16]


# --- Entries of Atom feeds.


@dataclass(frozen=True, slots=True)
class AtomClip:
    id: str
    file_size: int


@dataclass(frozen=True, slots=True)
class AtomGoal:
    id: str
    fixture_id: int
    league: str
    home: str
    away: str
    team: str
    player: str | None
    minute: MatchMinute
    after: Score
    published: datetime
    """When the goal's first clip was published."""
    updated: datetime
    clips: int
    verified: int
    best: AtomClip
    withdrawn: str | None = None
    """Reason for the goal's removal, if it was removed."""


# --- Outbox.


@dataclass(frozen=True, slots=True)
class OutboxMessage:
    """A row of the outbox. Positions are consecutive and never change."""

    position: int
    at: datetime
    topic: str
    fixture_id: int | None = None
    event_id: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)


# --- Outcome of one delivery attempt.


class SendResult(StrEnum):
    DELIVERED = "delivered"
    RETRY = "retry"
    REFUSED = "refused"
    """Permanent: never retried."""
    ENDPOINT_GONE = "endpoint_gone"
    """Permanent for every message to this target; the subscription is paused."""


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    result: SendResult
    reason: str = ""
    """Contains no secrets."""
    possibly_delivered: bool = False
    """Whether the receiver may have the message although the attempt failed."""
    retry_after: float | None = None
    """Seconds, from the receiver's Retry-After."""


RETRYABLE_STATUSES = frozenset({408, 425, 429})


def outcome_of_status(status: int, detail: str = "", retry_after: float | None = None) -> DeliveryOutcome:
    reason = f"HTTP {status}{': ' + detail if detail else ''}"
    if 200 <= status < 300:
        return DeliveryOutcome(SendResult.DELIVERED)
    if status in RETRYABLE_STATUSES:
        return DeliveryOutcome(SendResult.RETRY, reason, retry_after=retry_after)
    if status >= 500:
        # The receiver failed, possibly after accepting the message.
        return DeliveryOutcome(SendResult.RETRY, reason, possibly_delivered=True, retry_after=retry_after)
    if status == 410:
        return DeliveryOutcome(SendResult.ENDPOINT_GONE, reason)
    if 300 <= status < 400:
        return DeliveryOutcome(SendResult.REFUSED, f"HTTP {status}: redirects are not followed; use the final URL")
    return DeliveryOutcome(SendResult.REFUSED, reason)


# --- Outbox topics.


TOPICS: Mapping[str, str] = {
    "fixture.staging": "a match is staged until shortly before kick-off: status if a poll moved it back",
    "fixture.active": "polling of a match begins: none",
    "fixture.completed": "a match is closed: status if a poll closed it",
    "fixture.status": "the status of an active match changes: from, to",
    "fixture.score": "the score of an active match changes: from, to",
    "fixture.clock": "the minute of a match in play has changed since the last poll: elapsed, extra",
    "goal.seen": "a goal is listed for the first time: team, player, minute, kind, score, reason",
    "goal.progress": "another poll lists a goal that is not stable yet: seen, the number of consecutive polls",
    "goal.stable": "a goal is stable: fields of goal.seen",
    "goal.changed": "the feed corrects a goal: changed, which maps each field to from and to",
    "goal.withdrawn": "a goal is removed, and its clips with it: fields of goal.seen, with the reason",
    "goal.searched": "a search for a goal's clips has ended: attempt, and found, the posts of all sources",
    "goal.complete": "the search for a goal has ended, and its clips are final: none",
    "clip.published": "a clip is published: md5, rank, verified, player, team",
    "clip.replaced": "a better copy replaces a clip: md5, by",
    "clip.taken_down": "an operator removes or hides a clip: md5, reason",
    "feeds.health": "the health grade of the feeds changes; not about a match: from, to, reasons",
    "feeds.recovery": "a recovery of the feeds begins or ends: id, state, action, trigger, outcome, healthy_at",
    "service.changed": "a live check of a feed, source or other service fails or passes again; not about a match: "
    "name, kind, ok, since, last_ok_at, asked, answer, error_class, hint",
    "finding.failed": "a problem begins, or gets worse, that keeps the system from its work; not about a match: key, "
    "kind, grade, what, advice, since, event_id, fixture_id",
    "finding.degraded": "a problem begins that the system works around; not about a match: as finding.failed",
    "finding.ended": "an announced problem is over; not about a match: as finding.failed",
    "library.source": "a source of the library changes state; not about a match: source, state, progress if known",
    "library.clip": "a clip of the library is created, retired, reviewed or changes state: clip, source, state, live, "
    "progress if known; for a reviewer's action also action, kind, by and undone, or other and same",
    "clips.ranked": "ranks or popularity of a goal's clips change: clips, each with md5, rank, popularity",
}
"""When each topic is published and, after the colon, the fields of its payload."""

WILDCARD = ".*"


def expand_topics(patterns: Iterable[str]) -> frozenset[str]:
    """Topics matching names and wildcards such as `goal.*`. Raises BadRequest for an unknown topic."""
    return frozenset(topic for pattern in patterns for topic in _topics_matching(pattern))


def _topics_matching(pattern: str) -> list[str]:
    if pattern in TOPICS:
        return [pattern]
    family = pattern.removesuffix("*")
    found = [topic for topic in TOPICS if topic.startswith(family)] if pattern.endswith(WILDCARD) else []
    if not found:
        raise BadRequest(f"unknown topic {pattern[:40]!r}; the topics are {', '.join(TOPICS)}")
    return found


# --- Subscriptions, and validation of user input.


SubscriptionKind = Literal["webhook", "notify"]
SUBSCRIPTION_KINDS: tuple[SubscriptionKind, ...] = ("webhook", "notify")

WITHDRAWN = "goal.withdrawn"
DEFAULT_TOPICS = ("goal.stable", "clip.published", WITHDRAWN)

STREAM_ONLY_TOPICS = frozenset({"fixture.clock", "goal.progress", "goal.searched", "library.source", "library.clip"})
"""Published several times a minute: for live pages, not for notifications."""
SUBSCRIBABLE_TOPICS = tuple(topic for topic in TOPICS if topic not in STREAM_ONLY_TOPICS)

MAX_NAME_LENGTH = 100
MAX_TARGET_LENGTH = 2048
MAX_IDS = 100
MAX_DELAY = timedelta(hours=6)
MAX_BIGINT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class SubscriptionFilter:
    """Topics to report, and how. Empty teams or leagues match all; if both are set, both must match."""

    topics: frozenset[str] = frozenset(DEFAULT_TOPICS)
    teams: frozenset[int] = frozenset()
    leagues: frozenset[int] = frozenset()
    verified_only: bool = False
    """Report only clips with a verified match clock. Other topics are unaffected."""
    delay: timedelta = timedelta()
    """Delay of every message, for viewers of a delayed broadcast."""
    no_score: bool = False
    """Send spoiler-free messages."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as the API accepts and returns them, and as the database stores them."""
        return {
            "topics": sorted(self.topics),
            "teams": sorted(self.teams),
            "leagues": sorted(self.leagues),
            "verified_only": self.verified_only,
            "delay_seconds": self.delay.total_seconds(),
            "no_score": self.no_score,
        }


@dataclass(frozen=True, slots=True)
class Subscription:
    id: int
    filters: SubscriptionFilter
    from_position: int = 0
    """Position after which outbox messages are reported."""
    paused: bool = False


def validate_name(name: str) -> str:
    plain = clean_text(name, MAX_NAME_LENGTH + 1)
    if not plain or len(plain) > MAX_NAME_LENGTH:
        raise BadRequest(f"a name must have 1 to {MAX_NAME_LENGTH} characters")
    return plain


def validate_target(kind: str, target: str) -> str:
    """Validate the syntax; `Sender.check` validates the rest."""
    if kind not in SUBSCRIPTION_KINDS:
        raise BadRequest(f"unknown kind of subscription; expected one of {', '.join(SUBSCRIPTION_KINDS)}")
    if not 1 <= len(target) <= MAX_TARGET_LENGTH or not re.fullmatch(r"[\x21-\x7e]+", target):
        raise BadRequest(
            f"a target must have 1 to {MAX_TARGET_LENGTH} ASCII characters without spaces; encode others as %XX"
        )
    if kind == "webhook" and not re.match(r"https?://[^/?#@]+(?:[/?#]|$)", target, re.IGNORECASE):
        raise BadRequest("a webhook target must be an http:// or https:// URL without a user name")
    if kind == "notify" and not re.match(r"[a-z][a-z0-9]{1,20}://.", target, re.IGNORECASE):
        raise BadRequest("a notification target must be an Apprise URL, such as ntfys://ntfy.sh/topic")
    return target


def validate_filter(
    *,
    topics: Iterable[str] = DEFAULT_TOPICS,
    teams: Iterable[int] = (),
    leagues: Iterable[int] = (),
    verified_only: bool = False,
    delay_seconds: float = 0,
    no_score: bool = False,
) -> SubscriptionFilter:
    """Validate filter fields. Raises BadRequest."""
    return SubscriptionFilter(
        topics=_validate_topics(list(topics)),
        teams=_validate_ids("teams", teams),
        leagues=_validate_ids("leagues", leagues),
        verified_only=verified_only,
        delay=_validate_delay(delay_seconds),
        no_score=no_score,
    )


def _validate_topics(patterns: list[str]) -> frozenset[str]:
    stream_only = [topic for topic in patterns if topic in STREAM_ONLY_TOPICS]
    if stream_only:
        raise BadRequest(f"{stream_only[0]} is published too often for notifications; use the live stream")
    found = expand_topics(patterns) - STREAM_ONLY_TOPICS
    if not found:
        raise BadRequest("select at least one topic")
    return found


def _validate_ids(name: str, ids: Iterable[int]) -> frozenset[int]:
    found = frozenset(ids)
    if len(found) > MAX_IDS:
        raise BadRequest(f"{name}: at most {MAX_IDS} ids")
    if any(not 0 < each <= MAX_BIGINT for each in found):
        raise BadRequest(f"{name}: ids must be positive numbers")
    return found


def _validate_delay(seconds: float) -> timedelta:
    if not 0 <= seconds <= MAX_DELAY.total_seconds():
        raise BadRequest(f"the delay must be between 0 and {MAX_DELAY.total_seconds():.0f} seconds")
    return timedelta(seconds=seconds)


def mask_target(kind: str, target: str) -> str:
    """Part of a target that is safe to show: a path, a user or even a host may be a secret."""
    parts = urlsplit(target)
    if kind == "webhook" or parts.scheme in ("http", "https"):
        return f"{parts.scheme}://{parts.hostname or ''}/…"
    return f"{parts.scheme}://…"


# --- Values that the store returns to senders, pages and the API.


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message that is due, with everything needed to send it."""

    delivery_id: int
    subscription_id: int
    key: str
    topic: str
    body: str
    """JSON; identical on every attempt."""
    kind: str
    target: str
    secret: str | None
    possibly_delivered: bool
    """Whether an earlier attempt may have reached the receiver."""


class Sender(Protocol):
    """Delivery channel. A failed attempt is an outcome, not an exception."""

    async def send(self, message: OutgoingMessage) -> DeliveryOutcome: ...

    async def check(self, target: str) -> None:
        """Validate a target without sending anything. Raises BadRequest."""

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SubscriptionRecord:
    """Subscription for operators; the target is masked."""

    id: int
    name: str
    kind: str
    target: str
    filters: SubscriptionFilter
    created_at: datetime
    paused_at: datetime | None
    paused_reason: str | None
    waiting: int
    dead: int
    delivered_at: datetime | None
    failure: str | None
    """Error of the latest failed message, if none was delivered since."""


@dataclass(frozen=True, slots=True)
class DeliveryRecord:
    id: int
    position: int | None
    topic: str
    fixture_id: int | None
    event_id: str | None
    title: str
    state: str
    due_at: datetime
    attempts: int
    error_kind: str | None
    error_message: str | None
    created_at: datetime
    delivered_at: datetime | None


@dataclass(frozen=True, slots=True)
class SubscriptionChange:
    """Fields to change; None leaves a field unchanged."""

    name: str | None = None
    target: str | None = None
    filters: SubscriptionFilter | None = None
    paused: bool | None = None


@dataclass(frozen=True, slots=True)
class TeamAndLeagueNames:
    """Names of the teams and competitions of all known fixtures, by id."""

    teams: Mapping[int, str]
    leagues: Mapping[int, str]
