"""What the workflows between a certain goal and its clips say to each other and to their activities.

Everything that grows, such as posts, files and hashes, is in the database and the object store; messages carry ids.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from found_footy.workflows.contracts import Call, Done, EventWorkflow, StillWanted, Team

# --- ids: from the event's id alone


def download_id(event_id: str, attempt: int) -> str:
    return f"download-{event_id}-{attempt}"


def upload_id(event_id: str) -> str:
    return f"upload-{event_id}"


def alias_id(team_id: int) -> str:
    return f"aliases-{team_id}"


def vision_id(task_queue: str) -> str:
    """One for all workers of a queue: it is what holds the number of looks at once."""
    return f"vision-{task_queue}"


# --- aliases


@dataclass(frozen=True)
class Aliases:
    team_id: int
    aliases: list[str]


@dataclass(frozen=True)
class TeamsToName:
    most: int = 200


@dataclass(frozen=True)
class Teams:
    teams: list[Team]


RESOLVE_ALIASES: Call[Team, Aliases] = Call("resolve_team_aliases", Aliases, timedelta(seconds=60), 3)
RESOLVE_ALIASES_QUICKLY: Call[Team, Aliases] = Call(RESOLVE_ALIASES.name, Aliases, timedelta(seconds=10), 1)
"""For a goal that waits to be searched for: the team's own name will do."""
TEAMS_WITHOUT_ALIASES: Call[TeamsToName, Teams] = Call("teams_without_aliases", Teams, timedelta(seconds=15), 3)


# --- search


@dataclass(frozen=True)
class SearchAttempt:
    event_id: str
    attempt: int


@dataclass(frozen=True)
class Found:
    wanted: bool
    answered: int = 0
    """Sources that answered, whatever they found."""
    posts: int = 0
    keys: list[str] = field(default_factory=list)
    """Posts to download."""
    download_seconds: float = 0.0
    """How long their downloads and looks may take."""
    vision_calls: int = 1
    vision_patience_seconds: float = 0.0


@dataclass(frozen=True)
class CloseOrder:
    event_id: str
    give_up: str = ""
    """Why whatever is still open is ended; empty to wait for it."""


@dataclass(frozen=True)
class Closed:
    closed: bool
    downloading: int = 0
    checking: int = 0
    waiting: int = 0


SEARCH_SOURCES: Call[SearchAttempt, Found] = Call(
    "search_sources", Found, timedelta(seconds=150), 3, timedelta(seconds=2)
)
CLOSE_EVENT: Call[CloseOrder, Closed] = Call("close_event", Closed, timedelta(seconds=30), 5, timedelta(seconds=2))
SWEEP_EVENT: Call[EventWorkflow, Done] = Call("sweep_event", Done, timedelta(seconds=120), 10)


# --- download


@dataclass(frozen=True)
class DownloadInput:
    event_id: str
    attempt: int
    keys: list[str]
    vision_calls: int
    vision_patience_seconds: float


@dataclass(frozen=True)
class DownloadResult:
    fetched: int = 0
    lost: int = 0
    looked: int = 0
    withdrawn: bool = False


@dataclass(frozen=True)
class CandidateRef:
    event_id: str
    key: str


@dataclass(frozen=True)
class Fetched:
    md5: str = ""
    """Empty where it was lost."""
    state: str = ""
    """Of the file: `staged` needs a look, `checked` a hash; others are done with."""


@dataclass(frozen=True)
class Lost:
    event_id: str
    key: str
    error: str
    """The class of the error that ended it."""
    detail: str


@dataclass(frozen=True)
class VideoRef:
    event_id: str
    md5: str


@dataclass(frozen=True)
class VideoState:
    state: str


@dataclass(frozen=True)
class Refused:
    event_id: str
    md5: str
    error: str
    detail: str


REGISTER_DOWNLOAD: Call[EventWorkflow, StillWanted] = Call(
    "register_download_workflow", StillWanted, timedelta(seconds=30), 5
)
FETCH_CLIP: Call[CandidateRef, Fetched] = Call("fetch_clip", Fetched, timedelta(seconds=240), 3, timedelta(seconds=2))
LOSE_CANDIDATE: Call[Lost, Done] = Call("lose_candidate", Done, timedelta(seconds=30), 5)
HASH_CLIP: Call[VideoRef, VideoState] = Call("hash_clip", VideoState, timedelta(seconds=180), 4)
REFUSE_VIDEO: Call[Refused, VideoState] = Call("refuse_video", VideoState, timedelta(seconds=30), 5)
HAND_OVER: Call[SearchAttempt, Done] = Call("hand_over_to_upload", Done, timedelta(seconds=30), 10)


# --- vision


@dataclass(frozen=True)
class LookOrder:
    """Somebody wants to know what a clip shows, and is told by a signal when it is known."""

    workflow_id: str
    event_id: str
    md5: str
    calls: int
    patience_seconds: float
    """How long to try while the vision engine is away."""

    @property
    def clip(self) -> VideoRef:
        return VideoRef(self.event_id, self.md5)


@dataclass(frozen=True)
class VisionInput:
    waiting: list[LookOrder] = field(default_factory=list)
    idle_seconds: float = 60.0


@dataclass(frozen=True)
class Looked:
    md5: str
    state: str
    """Of the file afterwards; empty where nobody could look."""
    detail: str = ""


LOOK_AT_CLIP: Call[VideoRef, VideoState] = Call("look_at_clip", VideoState, timedelta(seconds=240), 1)
ASK_VISION: Call[LookOrder, Done] = Call("ask_vision", Done, timedelta(seconds=30), 10)


# --- upload


@dataclass(frozen=True)
class Batch:
    attempt: int


@dataclass(frozen=True)
class UploadInput:
    event_id: str
    idle_seconds: float
    waiting: list[Batch] = field(default_factory=list)


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
    """Of those that stay, the ones that are not among the clips yet."""
    copies: list[CopyOf] = field(default_factory=list)


@dataclass(frozen=True)
class SettleOrder:
    event_id: str
    plans: list[PoolPlan]
    at: datetime


@dataclass(frozen=True)
class Settled:
    settled: bool


DEDUPLICATE_POOL: Call[PoolRef, PoolPlan] = Call("deduplicate_pool", PoolPlan, timedelta(seconds=120), 3)
PUBLISH_CLIP: Call[VideoRef, Done] = Call("publish_clip", Done, timedelta(seconds=60), 3)
SETTLE_EVENT: Call[SettleOrder, Settled] = Call("settle_event", Settled, timedelta(seconds=30), 5)
CLEAN_UP_UPLOAD: Call[EventWorkflow, Done] = Call("clean_up_upload", Done, timedelta(seconds=60), 5)
