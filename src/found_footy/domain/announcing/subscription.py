"""Who wants to hear of what: a subscription's filters, and the limits that they are held to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from urllib.parse import urlsplit

from found_footy.domain.announcing.topics import TOPICS, expanded
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import BadRequest

Kind = Literal["webhook", "notify"]
KINDS: tuple[Kind, ...] = ("webhook", "notify")

WITHDRAWN = "goal.withdrawn"
DEFAULT_TOPICS = ("goal.stable", "clip.published", WITHDRAWN)

TOO_OFTEN = frozenset({"fixture.clock", "goal.progress", "goal.searched", "library.source", "library.clip"})
"""Told several times a minute: for pages that are looked at, not for messages."""
TOPICS_TO_ASK_FOR = tuple(topic for topic in TOPICS if topic not in TOO_OFTEN)

LONGEST_NAME = 100
LONGEST_TARGET = 2048
MOST_IDS = 100
LONGEST_DELAY = timedelta(hours=6)
LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Filters:
    """Which news, and how they are told. No teams means all of them, and so for leagues; both given must both fit."""

    topics: frozenset[str] = frozenset(DEFAULT_TOPICS)
    teams: frozenset[int] = frozenset()
    leagues: frozenset[int] = frozenset()
    verified_only: bool = False
    """Of clips, only those whose clock was read and fits. Other news are not concerned."""
    delay: timedelta = timedelta()
    """Every message comes so much later, for those who watch a delayed picture."""
    no_score: bool = False
    """Nothing is said from which the score could be told."""


@dataclass(frozen=True, slots=True)
class Subscription:
    id: int
    filters: Filters
    from_position: int = 0
    """Only news after it."""
    paused: bool = False


def checked_name(name: str) -> str:
    plain = clean_text(name, LONGEST_NAME + 1)
    if not plain or len(plain) > LONGEST_NAME:
        raise BadRequest(f"a name has 1 to {LONGEST_NAME} characters")
    return plain


def checked_target(kind: str, target: str) -> str:
    """The form only; whether it leads anywhere is asked of whoever sends there."""
    if kind not in KINDS:
        raise BadRequest(f"a subscription is one of {', '.join(KINDS)}")
    if not 1 <= len(target) <= LONGEST_TARGET or not re.fullmatch(r"[\x21-\x7e]+", target):
        raise BadRequest(f"a target has 1 to {LONGEST_TARGET} ASCII characters without blanks; encode others as %XX")
    if kind == "webhook" and not re.match(r"https?://[^/?#@]+(?:[/?#]|$)", target, re.IGNORECASE):
        raise BadRequest("a webhook's target is an http:// or https:// address without a user's name in it")
    if kind == "notify" and not re.match(r"[a-z][a-z0-9]{1,20}://.", target, re.IGNORECASE):
        raise BadRequest("a notification's target is an Apprise URL, such as ntfys://ntfy.sh/topic")
    return target


def checked_filters(
    *,
    topics: Iterable[str] = DEFAULT_TOPICS,
    teams: Iterable[int] = (),
    leagues: Iterable[int] = (),
    verified_only: bool = False,
    delay_seconds: float = 0,
    no_score: bool = False,
) -> Filters:
    """Raises BadRequest."""
    return Filters(
        topics=_topics(list(topics)),
        teams=_ids("teams", teams),
        leagues=_ids("leagues", leagues),
        verified_only=verified_only,
        delay=_delay(delay_seconds),
        no_score=no_score,
    )


def _topics(asked: list[str]) -> frozenset[str]:
    noisy = [topic for topic in asked if topic in TOO_OFTEN]
    if noisy:
        raise BadRequest(f"{noisy[0]} is told too often for messages; the stream of live updates has it")
    found = expanded(asked) - TOO_OFTEN
    if not found:
        raise BadRequest("a subscription without a topic would never hear of anything")
    return found


def _ids(what: str, given: Iterable[int]) -> frozenset[int]:
    found = frozenset(given)
    if len(found) > MOST_IDS:
        raise BadRequest(f"{what}: at most {MOST_IDS} ids")
    if any(not 0 < each <= LARGEST_ID for each in found):
        raise BadRequest(f"{what}: an id is a positive number")
    return found


def _delay(seconds: float) -> timedelta:
    if not 0 <= seconds <= LONGEST_DELAY.total_seconds():
        raise BadRequest(f"the delay is between 0 and {LONGEST_DELAY.total_seconds():.0f} seconds")
    return timedelta(seconds=seconds)


def masked(kind: str, target: str) -> str:
    """What may be shown of a target: a path, a user or even a host may be a secret."""
    parts = urlsplit(target)
    if kind == "webhook" or parts.scheme in ("http", "https"):
        return f"{parts.scheme}://{parts.hostname or ''}/…"
    return f"{parts.scheme}://…"
