"""Posts, team names, and the messages of the search workflow."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Post:
    """A post with a video. Texts are cleaned, and the source has validated the id."""

    source: str
    id: str
    """Id within the source; letters, digits and `-_.:/` only."""
    url: str
    """URL of the post's page."""
    media_url: str
    """Input of the downloader: a post's page, a host's page, a direct link, or `folder:` and a relative path."""
    posted_at: datetime
    author: str = ""
    text: str = ""
    duration: float | None = None
    """Seconds, if the post states them."""

    @property
    def key(self) -> str:
        """Unique across sources."""
        return f"{self.source}:{self.id}"


class NameKind(StrEnum):
    LABEL = "label"
    ALIAS = "alias"
    NICKNAME = "nickname"
    SHORT = "short"


@dataclass(frozen=True, slots=True)
class TeamName:
    text: str
    language: str
    """Language code such as `en`; `mul` for all languages."""
    kind: NameKind


OPERATORS = frozenset(["or", "and", "not"])
"""Words that search engines treat as operators."""


# --- Inputs and results of workflows and activities.


@dataclass(frozen=True)
class SearchInput:
    event_id: str


@dataclass(frozen=True)
class SearchResult:
    searched: bool
    reason: str = ""
    attempts: int = 0
    downloads: int = 0


@dataclass(frozen=True)
class EventWorkflow:
    event_id: str
    workflow_id: str


@dataclass(frozen=True)
class TeamRef:
    id: int
    name: str
    league: str = ""
    country: str | None = None


@dataclass(frozen=True)
class SearchPlan:
    """Search schedule, from the settings of the worker that starts the search."""

    attempts: int
    most_attempts: int
    seconds: float
    """Interval between the starts of two searches."""
    gap_seconds: float
    """Minimum pause between the end of one search and the start of the next."""
    patience_seconds: float
    """Time limit of downloads after the last search."""
    teams: list[TeamRef]


@dataclass(frozen=True)
class StillWanted:
    wanted: bool
    plan: SearchPlan | None = None
    """None if the goal was withdrawn."""


@dataclass(frozen=True)
class AliasResult:
    team_id: int
    aliases: list[str]


@dataclass(frozen=True)
class TeamQuery:
    max_teams: int = 200


@dataclass(frozen=True)
class TeamList:
    teams: list[TeamRef]


@dataclass(frozen=True)
class SearchAttempt:
    event_id: str
    attempt: int


@dataclass(frozen=True)
class SearchOutcome:
    wanted: bool
    answered: int = 0
    """Sources that responded, with or without results."""
    posts: int = 0
    keys: list[str] = field(default_factory=list)
    """Posts to download."""
    download_seconds: float = 0.0
    """Time limit for their downloads and vision checks."""
    vision_patience_seconds: float = 0.0


@dataclass(frozen=True)
class CloseRequest:
    event_id: str
    give_up: str = ""
    """Reason to cancel open downloads; empty to wait for them."""


@dataclass(frozen=True)
class CloseResult:
    closed: bool
    downloading: int = 0
    checking: int = 0
    waiting: int = 0


# --- Workflow ids.


def search_workflow_id(event_id: str) -> str:
    return f"search-{event_id}"


def alias_workflow_id(team_id: int) -> str:
    return f"aliases-{team_id}"
