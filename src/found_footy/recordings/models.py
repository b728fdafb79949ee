"""Models of a recording: responses of feeds and sources for a match, with times, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from found_footy.discovery.models import Post
from found_footy.errors import FootyError
from found_footy.feeds.models import EncodedSnapshot
from found_footy.fixtures.models import LiveFixture


@dataclass(frozen=True, slots=True)
class RecordedError:
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class RecordedFeed:
    """A feed that listed the match."""

    id: str
    precedence: int = 50
    founding: bool = False
    """Whether the match uses this feed's ids."""


@dataclass(frozen=True, slots=True)
class RecordedSnapshot:
    """A feed's response for a match in one or several consecutive polls: either a match or an error."""

    feed: str
    feed_id: int
    at: tuple[datetime, ...]
    """Times of the polls, in order; at least one."""
    live: LiveFixture | None = None
    error: RecordedError | None = None


@dataclass(frozen=True, slots=True)
class SourceResult:
    source: str
    found: int | None
    error: RecordedError | None = None


@dataclass(frozen=True, slots=True)
class RecordedSearch:
    event_id: str
    attempt: int
    at: datetime
    players: tuple[str, ...]
    teams: tuple[str, ...]
    sources: tuple[SourceResult, ...] = ()
    posts: tuple[Post, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedDownload:
    """Result of downloading a found post."""

    event_id: str
    key: str
    media_url: str
    md5: str | None = None
    """MD5 of the downloaded file."""
    clip: str | None = None
    """MD5 of the clip that represents it: its own, or that of the duplicate that was kept."""
    rejection_reason: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RecordedAliases:
    """Names used to search for a team."""

    team_id: int
    team_name: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    title: str
    fixture_id: int | None = None
    """Fixture id at the time; None for a recording of a feed with many matches."""
    feeds: tuple[RecordedFeed, ...] = ()
    answers: tuple[RecordedSnapshot, ...] = ()
    """In the order of their first poll."""
    searches: tuple[RecordedSearch, ...] = ()
    downloads: tuple[RecordedDownload, ...] = ()
    names: tuple[RecordedAliases, ...] = ()
    rules: Mapping[str, float] = field(default_factory=dict)
    """Settings that affect decisions, by name."""
    document: Mapping[str, Any] | None = None
    """Final state of the match, in the format of `footy fixture --json`."""

    @property
    def poll_seconds(self) -> float:
        return self.rules.get("poll_seconds", 30.0)


@dataclass(frozen=True, slots=True)
class AnswerToRecord:
    """A feed's response for one match, by the feed's id: a snapshot or an error."""

    feed_id: int
    at: datetime
    snapshot: EncodedSnapshot | None = None
    error: FootyError | None = None


@dataclass(frozen=True, slots=True)
class SnapshotToRecord:
    """A feed's response for one match, ready for storage: a body, an error, or neither if it repeats the last one."""

    feed_id: int
    at: datetime
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
    """Responses that are not sealed yet."""
    searches: int
    key: str | None = None
    """Key of the sealed recording in the object store."""
    bytes: int | None = None
    sealed_at: datetime | None = None


# --- File format.


SUFFIX = ".jsonl.gz"


# --- Object store keys.


RECORDINGS = "recordings/"


def recording_prefix(fixture_id: int) -> str:
    return f"{RECORDINGS}{fixture_id}/"


def recording_key(fixture_id: int) -> str:
    return f"{recording_prefix(fixture_id)}recording{SUFFIX}"
