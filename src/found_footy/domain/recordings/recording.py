"""A recording: what feeds and sources said of a match, when, and what became of it then. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from found_footy.domain.discovery.posts import Post
from found_footy.domain.fixtures.model import LiveFixture


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
    """Whether the ids of the match are this feed's."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """What a feed said of a match in one poll, or in several in a row. It has either a match or an error."""

    feed: str
    feed_id: int
    at: tuple[datetime, ...]
    """The polls that heard it, in order; at least one."""
    live: LiveFixture | None = None
    error: RecordedError | None = None


@dataclass(frozen=True, slots=True)
class SourceAnswer:
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
    sources: tuple[SourceAnswer, ...] = ()
    posts: tuple[Post, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedDownload:
    """What became of a post that was found."""

    event_id: str
    key: str
    media_url: str
    md5: str | None = None
    """Of the file that came."""
    clip: str | None = None
    """The file among the clips that stands for it: itself, or the copy that it gave way to."""
    loss: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RecordedNames:
    """What a team was searched by."""

    team_id: int
    team_name: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    title: str
    fixture_id: int | None = None
    """Ours, then; None where the recording is of a feed, and of many matches."""
    feeds: tuple[RecordedFeed, ...] = ()
    answers: tuple[RecordedAnswer, ...] = ()
    """In the order in which they were first heard."""
    searches: tuple[RecordedSearch, ...] = ()
    downloads: tuple[RecordedDownload, ...] = ()
    names: tuple[RecordedNames, ...] = ()
    rules: Mapping[str, float] = field(default_factory=dict)
    """The settings that decided then, by name."""
    document: Mapping[str, Any] | None = None
    """The match as it was known in the end, in the shape of `footy fixture --json`."""

    @property
    def poll_seconds(self) -> float:
        return self.rules.get("poll_seconds", 30.0)
