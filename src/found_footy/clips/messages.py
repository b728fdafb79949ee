"""Inputs and results of the search, download and upload workflows and their activities.

They carry ids; posts, files and hashes are in the database and the object store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from found_footy.discovery.models import TeamRef
from found_footy.fixtures.messages import Call

# --- Workflow ids, derived from the event id alone.


def download_id(event_id: str, attempt: int) -> str:
    return f"download-{event_id}-{attempt}"


def upload_id(event_id: str) -> str:
    return f"upload-{event_id}"


def alias_id(team_id: int) -> str:
    return f"aliases-{team_id}"


# --- Aliases.


@dataclass(frozen=True)
class AliasResult:
    team_id: int
    aliases: list[str]


@dataclass(frozen=True)
class TeamQuery:
    most: int = 200


@dataclass(frozen=True)
class TeamList:
    teams: list[TeamRef]


TEAMS_WITHOUT_ALIASES: Call[TeamQuery, TeamList] = Call("teams_without_aliases", TeamList, timedelta(seconds=15), 3)


# --- Search.


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


# --- Download.


@dataclass(frozen=True)
class DownloadInput:
    event_id: str
    attempt: int
    keys: list[str]
    vision_patience_seconds: float


@dataclass(frozen=True)
class DownloadResult:
    fetched: int = 0
    rejected: int = 0
    verified: int = 0
    """Files that the vision check ran on."""
    withdrawn: bool = False


@dataclass(frozen=True)
class CandidateRef:
    event_id: str
    key: str


@dataclass(frozen=True)
class FetchResult:
    md5: str = ""
    """Empty if the candidate was rejected."""
    state: str = ""
    """State of the file: `staged` needs the vision check, `checked` needs a hash; all others are final."""


@dataclass(frozen=True)
class CandidateFailure:
    event_id: str
    key: str
    error: str
    """Class of the error."""
    detail: str


@dataclass(frozen=True)
class VideoRef:
    event_id: str
    md5: str


@dataclass(frozen=True)
class VideoStatus:
    state: str


@dataclass(frozen=True)
class VideoFailure:
    event_id: str
    md5: str
    error: str
    detail: str


# --- Upload.


@dataclass(frozen=True)
class UploadBatch:
    attempt: int


@dataclass(frozen=True)
class UploadInput:
    event_id: str
    idle_seconds: float
    waiting: list[UploadBatch] = field(default_factory=list)


@dataclass(frozen=True)
class PoolRef:
    event_id: str
    pool: str


@dataclass(frozen=True)
class CopyOf:
    md5: str
    of: str
    offset: float
    mirrored: bool = False


@dataclass(frozen=True)
class PoolPlan:
    stays: list[str] = field(default_factory=list)
    publish: list[str] = field(default_factory=list)
    """Members of `stays` that are not published yet."""
    copies: list[CopyOf] = field(default_factory=list)


@dataclass(frozen=True)
class SettleRequest:
    event_id: str
    plans: list[PoolPlan]
    at: datetime
