"""The pipeline as data: the dispatcher compares these rows with the states in the database.

Stages never start each other. To add one, add a row here and its activity to `STAGE_ACTIVITIES` in `workflow.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from found_footy.errors import CacheUnavailable, ObjectStoreUnavailable, StoreUnavailable, VolumeFull
from found_footy.library.models import ClipState, SourceState, State


class ItemKind(StrEnum):
    SOURCE = "source"
    CLIP = "clip"


class Lane(StrEnum):
    """Work from goals and from submissions runs on separate workers, so a long film never delays a goal's clip."""

    GOALS = "goals"
    FILMS = "films"
    """Submissions."""

    @property
    def queue_suffix(self) -> str:
        """Appended to the name of the library's queue."""
        return "" if self is Lane.GOALS else "-films"


@dataclass(frozen=True, slots=True)
class LibraryStage:
    name: str
    item: ItemKind
    takes: State
    working: State
    """Also taken, because its worker may have died. The workflow id prevents concurrent runs."""
    done: State
    failed: State
    """Taken again at `retry_at`; if that is not set, only a person can retry it."""
    activity: str
    timeout: timedelta
    """For a video of any length."""
    attempts: int
    seconds_per_second: float = 0.0
    """Additional timeout per second of video; a slow machine decodes and encodes at about this rate."""
    only_outdated_embeddings: bool = False
    """Take only clips without a current vector of every enabled model."""

    def timeout_of(self, video_seconds: float) -> timedelta:
        return self.timeout + timedelta(seconds=self.seconds_per_second * max(0.0, video_seconds))


_S, _C = SourceState, ClipState

STAGES: tuple[LibraryStage, ...] = (
    LibraryStage(
        "download", ItemKind.SOURCE, _S.NEW, _S.DOWNLOADING, _S.DOWNLOADED, _S.DOWNLOAD_FAILED,
        "download_source", timedelta(hours=12), 3,
    ),
    LibraryStage(
        "splice", ItemKind.SOURCE, _S.DOWNLOADED, _S.SPLICING, _S.SPLICED, _S.SPLICING_FAILED,
        "splice_source", timedelta(minutes=30), 3, seconds_per_second=4,
    ),
    LibraryStage(
        "sprites", ItemKind.CLIP, _C.SPLICED, _C.GENERATING_SPRITE, _C.PENDING_REVIEW, _C.SPRITE_FAILED,
        "make_sprites", timedelta(minutes=30), 3, seconds_per_second=8,
    ),
    LibraryStage(
        "keyframes", ItemKind.CLIP, _C.REVIEW_APPROVED, _C.KEYFRAMING, _C.KEYFRAMED, _C.KEYFRAME_FAILED,
        "take_keyframes", timedelta(minutes=15), 3, seconds_per_second=4,
    ),
    LibraryStage(
        "embeddings", ItemKind.CLIP, _C.KEYFRAMED, _C.EMBEDDING, _C.EMBEDDED, _C.EMBEDDING_FAILED,
        "embed_clip", timedelta(minutes=10), 3,
    ),
    LibraryStage(
        "re-embedding", ItemKind.CLIP, _C.EMBEDDED, _C.EMBEDDING, _C.EMBEDDED, _C.EMBEDDING_FAILED,
        "embed_clip", timedelta(minutes=10), 3, only_outdated_embeddings=True,
    ),
    LibraryStage(
        "clean-up", ItemKind.CLIP, _C.REVIEW_ARCHIVED, _C.CLEANING, _C.ARCHIVED, _C.CLEANING_FAILED,
        "clean_up_clip", timedelta(minutes=10), 5,
    ),
)  # fmt: skip

IN_PROGRESS = frozenset(stage.working for stage in STAGES)
FAILED = frozenset(stage.failed for stage in STAGES)
CLEANUP_STATES = frozenset({_C.REVIEW_ARCHIVED, _C.CLEANING, _C.CLEANING_FAILED})
"""States of the clean-up after a split or merge."""

FIRST_RETRY_DELAY = timedelta(minutes=5)
"""Doubled after each further failure."""
FIRST_OUTAGE_DELAY = timedelta(seconds=30)
"""The same if an engine was unavailable: nothing is wrong with the item, and the engine may soon be back."""
ENGINE_OUTAGES = frozenset(
    each.__name__ for each in (StoreUnavailable, CacheUnavailable, ObjectStoreUnavailable, VolumeFull)
)
MAX_STAGE_FAILURES = 6
"""After so many failures an item is parked: only a person can retry it."""
MAX_OUTAGE_FAILURES = MAX_STAGE_FAILURES - 2
"""An item is not parked during an outage; afterwards it has two more attempts."""
TIMEOUT = "Timeout"
"""Error class of a stage that timed out, or whose workers died."""


def find_stage(name: str) -> LibraryStage:
    """Raises KeyError."""
    return {stage.name: stage for stage in STAGES}[name]


def retry_delay(failures: int, retryable: bool, kind: str = "") -> timedelta | None:
    """Delay before a failed item is retried; None if only a person can retry it."""
    if not retryable or failures >= MAX_STAGE_FAILURES:
        return None
    first = FIRST_OUTAGE_DELAY if kind in ENGINE_OUTAGES else FIRST_RETRY_DELAY
    return first * (1 << max(0, failures - 1))


def is_outage(kind: str, retryable: bool, failed_at: datetime | None, last_done_at: datetime | None) -> bool:
    """Whether a failure may be due to an outage: no item has passed the stage since this one failed before.

    A timeout is a property of the item.
    """
    if not retryable or kind == TIMEOUT:
        return False
    return failed_at is None or last_done_at is None or last_done_at <= failed_at


def count_failure(failures: int, outage: bool) -> int:
    """Number of failures of an item after another one."""
    return max(failures, min(failures + 1, MAX_OUTAGE_FAILURES)) if outage else failures + 1


@dataclass(frozen=True, slots=True)
class StageItem:
    """Facts that decide whether a stage may take a source or a clip."""

    state: State
    stage: str | None = None
    """Stage that is working on the item or has failed."""
    settles_at: datetime | None = None
    live: bool = True


def can_take(stage: LibraryStage, item: StageItem, now: datetime) -> bool:
    """Whether a stage may begin. The retry time of a failed item is checked when pending work is listed."""
    if item.settles_at is not None and item.settles_at > now:
        return False
    if not item.live and item.state not in CLEANUP_STATES:
        return False
    if item.state is stage.takes:
        return True
    return item.stage in (None, stage.name) and item.state in (stage.working, stage.failed)


def failed_stage(kind: ItemKind, item: StageItem) -> LibraryStage | None:
    """Stage in which an item has failed."""
    stages = (stage for stage in STAGES if stage.item is kind and stage.failed is item.state)
    return next((stage for stage in stages if item.stage in (None, stage.name)), None)


# --- Messages of the dispatcher and the stages.

DISPATCHER_ID = "library-scheduled"
"""Workflow id of the dispatcher; its schedule appends the time."""


def stage_workflow_id(stage: str, item: int) -> str:
    return f"library-{stage}-{item}"


@dataclass(frozen=True)
class LibraryInput:
    rounds: int = 200
    """Rounds after which the dispatcher ends, and its schedule starts the next one."""
    seconds: float = 5.0
    """Pause after a round that started something."""


@dataclass(frozen=True)
class FindWorkInput:
    pass


@dataclass(frozen=True)
class StageInput:
    stage: str
    item: int
    lane: Lane = Lane.GOALS
    seconds: float = 0.0
    """Length of the video, once it is known."""


@dataclass(frozen=True)
class PendingWork:
    imported: int = 0
    """Published clips that became sources."""
    settled: int = 0
    """Edits whose undo window has passed."""
    work: list[StageInput] = field(default_factory=list)
    deletions: int = 0
    """1 if objects are queued for deletion."""

    def __bool__(self) -> bool:
        return bool(self.work or self.deletions)


@dataclass(frozen=True)
class StageResult:
    done: bool
    """False if the stage could no longer take the item."""


@dataclass(frozen=True)
class StageFailure:
    stage: str
    item: int
    error: str
    kind: str
    retryable: bool
