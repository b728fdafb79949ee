"""Sources and clips of the library: their states, values and object keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from found_footy.media.models import MasterVideo, SpriteSheet

# --- States.


class SourceState(StrEnum):
    NEW = "new"
    DOWNLOADING = "downloading"
    DOWNLOADED = "downloaded"
    SPLICING = "splicing"
    SPLICED = "spliced"
    DOWNLOAD_FAILED = "download_failed"
    SPLICING_FAILED = "splicing_failed"


class ClipState(StrEnum):
    EDIT_PENDING = "edit_pending"
    """Made by a split or merge that can still be undone; has no file yet."""
    SPLICED = "spliced"
    GENERATING_SPRITE = "generating_sprite"
    PENDING_REVIEW = "pending_review"
    REVIEW_APPROVED = "review_approved"
    REVIEW_SKIPPED = "review_skipped"
    REVIEW_ARCHIVED = "review_archived"
    KEYFRAMING = "keyframing"
    KEYFRAMED = "keyframed"
    EMBEDDING = "embedding"
    EMBEDDED = "embedded"
    CLEANING = "cleaning"
    ARCHIVED = "archived"
    """The files are deleted; the row remains as a tile of its source."""
    SPRITE_FAILED = "sprite_failed"
    KEYFRAME_FAILED = "keyframe_failed"
    EMBEDDING_FAILED = "embedding_failed"
    CLEANING_FAILED = "cleaning_failed"


State = SourceState | ClipState


class LibraryPhase(StrEnum):
    """Group of states, used by pages for grouping and colours."""

    PREPARING = "preparing"
    REVIEW = "review"
    PROCESSING = "processing"
    """Approved, still being processed for the library."""
    LIBRARY = "library"
    SKIPPED = "skipped"
    FAILED = "failed"
    ARCHIVED = "archived"


class Section(StrEnum):
    """Part of the library that a search covers (`place` in the REST API). Archived clips are in none."""

    LIBRARY = "library"
    REVIEW = "review"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class StateInfo:
    label: str
    phase: LibraryPhase
    section: Section | None = None


_S, _C = SourceState, ClipState

SOURCE_STATES: Mapping[SourceState, StateInfo] = {
    _S.NEW: StateInfo("waiting for download", LibraryPhase.PREPARING),
    _S.DOWNLOADING: StateInfo("downloading", LibraryPhase.PREPARING),
    _S.DOWNLOADED: StateInfo("waiting for scene detection", LibraryPhase.PREPARING),
    _S.SPLICING: StateInfo("detecting scenes", LibraryPhase.PREPARING),
    _S.SPLICED: StateInfo("cut into scenes", LibraryPhase.LIBRARY),
    _S.DOWNLOAD_FAILED: StateInfo("download failed", LibraryPhase.FAILED),
    _S.SPLICING_FAILED: StateInfo("scene detection failed", LibraryPhase.FAILED),
}

CLIP_STATES: Mapping[ClipState, StateInfo] = {
    _C.EDIT_PENDING: StateInfo("just edited, and can still be undone", LibraryPhase.PREPARING, Section.REVIEW),
    _C.SPLICED: StateInfo("waiting for its sprite sheet", LibraryPhase.PREPARING, Section.REVIEW),
    _C.GENERATING_SPRITE: StateInfo("being prepared for review", LibraryPhase.PREPARING, Section.REVIEW),
    _C.PENDING_REVIEW: StateInfo("waiting for review", LibraryPhase.REVIEW, Section.REVIEW),
    _C.REVIEW_APPROVED: StateInfo("approved", LibraryPhase.PROCESSING, Section.LIBRARY),
    _C.REVIEW_SKIPPED: StateInfo("skipped", LibraryPhase.SKIPPED, Section.SKIPPED),
    _C.REVIEW_ARCHIVED: StateInfo("archived", LibraryPhase.ARCHIVED),
    _C.KEYFRAMING: StateInfo("extracting keyframes", LibraryPhase.PROCESSING, Section.LIBRARY),
    _C.KEYFRAMED: StateInfo("waiting for embedding", LibraryPhase.PROCESSING, Section.LIBRARY),
    _C.EMBEDDING: StateInfo("being embedded", LibraryPhase.PROCESSING, Section.LIBRARY),
    _C.EMBEDDED: StateInfo("in the library", LibraryPhase.LIBRARY, Section.LIBRARY),
    _C.CLEANING: StateInfo("being cleaned up", LibraryPhase.ARCHIVED),
    _C.ARCHIVED: StateInfo("archived and cleaned up", LibraryPhase.ARCHIVED),
    _C.SPRITE_FAILED: StateInfo("sprite sheet failed", LibraryPhase.FAILED, Section.REVIEW),
    _C.KEYFRAME_FAILED: StateInfo("keyframes failed", LibraryPhase.FAILED, Section.LIBRARY),
    _C.EMBEDDING_FAILED: StateInfo("embedding failed", LibraryPhase.FAILED, Section.LIBRARY),
    _C.CLEANING_FAILED: StateInfo("archived, clean-up failed", LibraryPhase.ARCHIVED),
}

APPROVED = frozenset(state for state, info in CLIP_STATES.items() if info.section is Section.LIBRARY)
"""Approved states, including later stages."""
ARCHIVED = frozenset(state for state, info in CLIP_STATES.items() if info.section is None)
FILES_DELETED = ARCHIVED - {ClipState.REVIEW_ARCHIVED}
"""Clean-up has begun, so undo is no longer possible."""


def state_label(state: State) -> str:
    return (CLIP_STATES[state] if isinstance(state, ClipState) else SOURCE_STATES[state]).label


def progress_label(state: State, progress: float | None) -> str:
    """Label with the progress of the running stage, such as `being prepared for review, 43%`."""
    return state_label(state) if progress is None else f"{state_label(state)}, {progress:.0%}"


# --- Sources and clips.


class SourceKind(StrEnum):
    GOAL = "goal"
    """A published clip of a goal or a wicket."""
    URL = "url"
    FILE = "file"


Facts = Mapping[str, str | int | float | bool | None]
"""For a goal `event_id`, `fixture_id`, `sport`, `competition`, `home`, `away`, `team`, `player`, `assist`, `minute`
(text), `kind`, `score` (text), `kickoff` (ISO), `verified` and `withdrawn`; for other sources the submitted facts.
"""


@dataclass(frozen=True, slots=True)
class SourceVideo:
    id: int
    kind: SourceKind
    state: SourceState
    title: str
    facts: Facts = field(default_factory=dict)
    event_id: str | None = None
    video_md5: str | None = None
    """MD5 of a goal's published clip."""
    url: str | None = None
    upload_key: str | None = None
    master: MasterVideo | None = None
    progress: float | None = None
    """Progress of the running stage, 0 to 1; None if unknown."""
    error: str | None = None
    error_kind: str | None = None
    failures: int = 0
    retry_at: datetime | None = None
    submitted_by: str = ""
    created_at: datetime | None = None
    film_deleted_at: datetime | None = None
    """When the master was deleted, together with the last clip."""


@dataclass(frozen=True, slots=True)
class LibraryClip:
    """Frames of a source's master from `first` to `end`, exclusive."""

    id: int
    source_id: int
    first: int
    end: int
    state: ClipState
    live: bool = True
    """Whether the clip is a tile of its source; false after a split or merge."""
    grouped_with: int | None = None
    settles_at: datetime | None = None
    """Until then the last action can be undone, and no stage takes the clip."""
    made_by: int | None = None
    """Split or merge that created the clip."""
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None
    claimed_by: str | None = None
    claimed_until: datetime | None = None
    has_file: bool = False
    """False for a clip that covers its whole source: the master is its file."""
    sprite: SpriteSheet | None = None
    error: str | None = None
    error_kind: str | None = None
    failures: int = 0
    retry_at: datetime | None = None

    @property
    def frames(self) -> int:
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class Submission:
    kind: SourceKind
    title: str
    facts: Facts = field(default_factory=dict)
    url: str | None = None
    upload_key: str | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class RemovalResult:
    source_id: int
    deleted: bool
    """Whether the source itself was deleted because it had no clips; otherwise its clips are archived."""
    clips: int = 0
    """Number of clips archived by this call."""
    action_id: int | None = None
    """Action to undo."""


# --- Object keys.

PREFIX = "library/"


def master_key(source_id: int) -> str:
    return f"{PREFIX}{source_id}/master.mp4"


def upload_key(name: str) -> str:
    """Key of a submitted file until its download stage; `name` is random."""
    return f"{PREFIX}uploads/{name}"


def clip_file_key(source_id: int, clip_id: int) -> str:
    return f"{PREFIX}{source_id}/{clip_id}.mp4"


def piece_key(source_id: int, clip_id: int, number: int) -> str:
    """Key of a piece of a long clip, until its file is complete."""
    return f"{PREFIX}{source_id}/{clip_id}-{number}.mp4"


def sprite_key(source_id: int, clip_id: int) -> str:
    return f"{PREFIX}{source_id}/{clip_id}.webp"


def keyframe_key(source_id: int, clip_id: int, number: int) -> str:
    return f"{PREFIX}{source_id}/{clip_id}-{number}.jpg"
