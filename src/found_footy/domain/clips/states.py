"""The life of a source and of a clip: every state, and every step that leads from one to another.

A step that is not in the tables is refused. The stages of `stages.py` and the actions of `review.py` are the only ones
who take steps, so what is written here is all that can happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from found_footy.domain.errors import EditRefused


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
    """Made by a split or a merge that can still be undone; it has no file of its own yet."""
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
    """Its files are gone; the row stays, since it is a tile of its source."""
    SPRITE_FAILED = "sprite_failed"
    KEYFRAME_FAILED = "keyframe_failed"
    EMBEDDING_FAILED = "embedding_failed"
    CLEANING_FAILED = "cleaning_failed"


State = SourceState | ClipState


class Step(StrEnum):
    BEGIN = "begin"
    """A stage takes the item; also again, after a crash or a failure."""
    SUCCEED = "succeed"
    FAIL = "fail"
    APPROVE = "approve"
    SKIP = "skip"
    ARCHIVE = "archive"
    SETTLE = "settle"
    """The time for undo is over."""
    REMOVE = "remove"
    """Its whole source goes, so that it need not have been looked at."""
    RETIRE = "retire"
    """The time for undo is over, and other clips have taken its frames."""


_S, _C = SourceState, ClipState

SOURCE_STEPS: Mapping[tuple[SourceState, Step], SourceState] = {
    (_S.NEW, Step.BEGIN): _S.DOWNLOADING,
    (_S.DOWNLOADING, Step.BEGIN): _S.DOWNLOADING,
    (_S.DOWNLOAD_FAILED, Step.BEGIN): _S.DOWNLOADING,
    (_S.DOWNLOADING, Step.SUCCEED): _S.DOWNLOADED,
    (_S.DOWNLOADING, Step.FAIL): _S.DOWNLOAD_FAILED,
    (_S.DOWNLOADED, Step.BEGIN): _S.SPLICING,
    (_S.SPLICING, Step.BEGIN): _S.SPLICING,
    (_S.SPLICING_FAILED, Step.BEGIN): _S.SPLICING,
    (_S.SPLICING, Step.SUCCEED): _S.SPLICED,
    (_S.SPLICING, Step.FAIL): _S.SPLICING_FAILED,
}

CLIP_STEPS: Mapping[tuple[ClipState, Step], ClipState] = {
    (_C.EDIT_PENDING, Step.SETTLE): _C.SPLICED,
    (_C.SPLICED, Step.BEGIN): _C.GENERATING_SPRITE,
    (_C.GENERATING_SPRITE, Step.BEGIN): _C.GENERATING_SPRITE,
    (_C.SPRITE_FAILED, Step.BEGIN): _C.GENERATING_SPRITE,
    (_C.GENERATING_SPRITE, Step.SUCCEED): _C.PENDING_REVIEW,
    (_C.GENERATING_SPRITE, Step.FAIL): _C.SPRITE_FAILED,
    (_C.PENDING_REVIEW, Step.APPROVE): _C.REVIEW_APPROVED,
    (_C.PENDING_REVIEW, Step.SKIP): _C.REVIEW_SKIPPED,
    (_C.PENDING_REVIEW, Step.ARCHIVE): _C.REVIEW_ARCHIVED,
    # Who skipped a clip may think again, as long as it is there.
    (_C.REVIEW_SKIPPED, Step.APPROVE): _C.REVIEW_APPROVED,
    (_C.REVIEW_SKIPPED, Step.ARCHIVE): _C.REVIEW_ARCHIVED,
    # Who approved it, too. What the library holds can be thrown away, and so can what no stage could work with.
    (_C.REVIEW_APPROVED, Step.ARCHIVE): _C.REVIEW_ARCHIVED,
    (_C.KEYFRAMED, Step.ARCHIVE): _C.REVIEW_ARCHIVED,
    (_C.EMBEDDED, Step.ARCHIVE): _C.REVIEW_ARCHIVED,
    (_C.SPRITE_FAILED, Step.ARCHIVE): _C.REVIEW_ARCHIVED,
    (_C.KEYFRAME_FAILED, Step.ARCHIVE): _C.REVIEW_ARCHIVED,
    (_C.EMBEDDING_FAILED, Step.ARCHIVE): _C.REVIEW_ARCHIVED,
    # Cut anew, wherever it has come to rest: what was made of it goes with the clean-up.
    (_C.PENDING_REVIEW, Step.RETIRE): _C.REVIEW_ARCHIVED,
    (_C.REVIEW_SKIPPED, Step.RETIRE): _C.REVIEW_ARCHIVED,
    (_C.REVIEW_APPROVED, Step.RETIRE): _C.REVIEW_ARCHIVED,
    (_C.KEYFRAMED, Step.RETIRE): _C.REVIEW_ARCHIVED,
    (_C.EMBEDDED, Step.RETIRE): _C.REVIEW_ARCHIVED,
    (_C.SPRITE_FAILED, Step.RETIRE): _C.REVIEW_ARCHIVED,
    (_C.KEYFRAME_FAILED, Step.RETIRE): _C.REVIEW_ARCHIVED,
    (_C.EMBEDDING_FAILED, Step.RETIRE): _C.REVIEW_ARCHIVED,
    (_C.REVIEW_APPROVED, Step.BEGIN): _C.KEYFRAMING,
    (_C.KEYFRAMING, Step.BEGIN): _C.KEYFRAMING,
    (_C.KEYFRAME_FAILED, Step.BEGIN): _C.KEYFRAMING,
    (_C.KEYFRAMING, Step.SUCCEED): _C.KEYFRAMED,
    (_C.KEYFRAMING, Step.FAIL): _C.KEYFRAME_FAILED,
    (_C.KEYFRAMED, Step.BEGIN): _C.EMBEDDING,
    (_C.EMBEDDING, Step.BEGIN): _C.EMBEDDING,
    (_C.EMBEDDING_FAILED, Step.BEGIN): _C.EMBEDDING,
    # Again, when another model has joined.
    (_C.EMBEDDED, Step.BEGIN): _C.EMBEDDING,
    (_C.EMBEDDING, Step.SUCCEED): _C.EMBEDDED,
    (_C.EMBEDDING, Step.FAIL): _C.EMBEDDING_FAILED,
    (_C.REVIEW_ARCHIVED, Step.BEGIN): _C.CLEANING,
    (_C.CLEANING, Step.BEGIN): _C.CLEANING,
    (_C.CLEANING_FAILED, Step.BEGIN): _C.CLEANING,
    (_C.CLEANING, Step.SUCCEED): _C.ARCHIVED,
    (_C.CLEANING, Step.FAIL): _C.CLEANING_FAILED,
    # Whatever waits for somebody; not what a stage is at, and not what an edit can still give back.
    (_C.SPLICED, Step.REMOVE): _C.REVIEW_ARCHIVED,
    (_C.SPRITE_FAILED, Step.REMOVE): _C.REVIEW_ARCHIVED,
    (_C.PENDING_REVIEW, Step.REMOVE): _C.REVIEW_ARCHIVED,
    (_C.REVIEW_SKIPPED, Step.REMOVE): _C.REVIEW_ARCHIVED,
    (_C.REVIEW_APPROVED, Step.REMOVE): _C.REVIEW_ARCHIVED,
    (_C.KEYFRAME_FAILED, Step.REMOVE): _C.REVIEW_ARCHIVED,
    (_C.KEYFRAMED, Step.REMOVE): _C.REVIEW_ARCHIVED,
    (_C.EMBEDDING_FAILED, Step.REMOVE): _C.REVIEW_ARCHIVED,
    (_C.EMBEDDED, Step.REMOVE): _C.REVIEW_ARCHIVED,
}


AT_WORK = frozenset({_C.GENERATING_SPRITE, _C.KEYFRAMING, _C.EMBEDDING, _C.CLEANING})
"""A stage has it. That passes."""
APPROVED = frozenset(
    {_C.REVIEW_APPROVED, _C.KEYFRAMING, _C.KEYFRAMED, _C.EMBEDDING, _C.EMBEDDED, _C.KEYFRAME_FAILED,
     _C.EMBEDDING_FAILED}
)  # fmt: skip
"""Or later."""
ARCHIVED = frozenset({_C.REVIEW_ARCHIVED, _C.CLEANING, _C.ARCHIVED, _C.CLEANING_FAILED})
EDITABLE = frozenset(state for state, step in CLIP_STEPS if step is Step.RETIRE)
"""Clips of these states can be split and merged."""

_CANNOT: Mapping[Step, str] = {
    Step.BEGIN: "be worked on",
    Step.SUCCEED: "be finished",
    Step.FAIL: "fail",
    Step.APPROVE: "be approved",
    Step.SKIP: "be skipped",
    Step.ARCHIVE: "be archived",
    Step.SETTLE: "settle",
    Step.REMOVE: "be removed",
    Step.RETIRE: "be cut anew",
}


def after_source_step(state: SourceState, step: Step) -> SourceState:
    """Raises EditRefused."""
    if (found := SOURCE_STEPS.get((state, step))) is None:
        raise EditRefused(f"a source that is {words_for(state)} cannot {_CANNOT[step]}")
    return found


def after_clip_step(state: ClipState, step: Step, clip_id: int | None = None) -> ClipState:
    """Raises EditRefused, which names the clip where its id is given."""
    if (found := CLIP_STEPS.get((state, step))) is not None:
        return found
    if clip_id is None:
        raise EditRefused(f"a clip that is {words_for(state)} cannot {_CANNOT[step]}")
    raise EditRefused(f"clip {clip_id} is {words_for(state)}: it cannot {_CANNOT[step]}")


_WORDS: Mapping[State, str] = {
    _S.NEW: "waiting for its download",
    _S.DOWNLOADING: "being downloaded",
    _S.DOWNLOADED: "waiting to be cut into scenes",
    _S.SPLICING: "being cut into scenes",
    _S.SPLICED: "cut into scenes",
    _S.DOWNLOAD_FAILED: "not downloaded",
    _S.SPLICING_FAILED: "not cut into scenes",
    _C.EDIT_PENDING: "just edited, and can still be undone",
    _C.GENERATING_SPRITE: "being prepared for review",
    _C.PENDING_REVIEW: "waiting for review",
    _C.REVIEW_APPROVED: "approved",
    _C.REVIEW_SKIPPED: "skipped",
    _C.REVIEW_ARCHIVED: "archived",
    _C.KEYFRAMING: "having its keyframes taken",
    _C.KEYFRAMED: "waiting to be embedded",
    _C.EMBEDDING: "being embedded",
    _C.EMBEDDED: "in the library",
    _C.CLEANING: "being cleaned up",
    _C.ARCHIVED: "archived and cleaned up",
    _C.SPRITE_FAILED: "without a sprite sheet",
    _C.KEYFRAME_FAILED: "without keyframes",
    _C.EMBEDDING_FAILED: "not embedded",
    _C.CLEANING_FAILED: "archived, and not cleaned up yet",
}


def words_for(state: State) -> str:
    """As people say it. Both kinds have a state of the name `spliced`, which therefore are asked for by their class."""
    if state is _C.SPLICED:
        return "waiting for its sprite sheet"
    return _WORDS[state]
