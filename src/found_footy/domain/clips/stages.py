"""All hand-overs of the library as one table. To add a stage is to add a row, and an activity of its name.

Nobody starts anybody else: a dispatcher reads the states, and starts the stage that takes them, once an item.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from found_footy.domain.clips.states import ClipState, SourceState, State


class Item(StrEnum):
    SOURCE = "source"
    CLIP = "clip"


class Lane(StrEnum):
    """Who waits for a piece of work. Each has workers of its own: no goal's clip waits behind a film of hours."""

    GOALS = "goals"
    FILMS = "films"
    """What editors hand in."""


class Condition(StrEnum):
    """What else must hold of an item, where its state alone does not say it."""

    ALWAYS = "always"
    LACKS_EMBEDDING = "lacks_embedding"
    """There is no vector of one of the models that are switched on, or only of another version of it."""


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    item: Item
    takes: tuple[State, ...]
    working: State
    """Also taken: whoever was at it may be gone. The workflow's id keeps it from being done twice at a time."""
    done: State
    failed: State
    """Taken again once its `retry_at` has come, which a failure that can never end well does not have."""
    activity: str
    timeout: timedelta
    attempts: int
    queue: str
    """The part of the task queue's name after the dash."""
    condition: Condition = Condition.ALWAYS

    def queue_for(self, lane: Lane) -> str:
        return self.queue if lane is Lane.GOALS else f"{self.queue}-{lane}"


_S, _C = SourceState, ClipState

STAGES: tuple[Stage, ...] = (
    Stage(
        "download", Item.SOURCE, (_S.NEW,), _S.DOWNLOADING, _S.DOWNLOADED, _S.DOWNLOAD_FAILED,
        "download_source", timedelta(hours=12), 3, "library",
    ),
    Stage(
        "splice", Item.SOURCE, (_S.DOWNLOADED,), _S.SPLICING, _S.SPLICED, _S.SPLICING_FAILED,
        "splice_source", timedelta(hours=6), 3, "library",
    ),
    Stage(
        "sprites", Item.CLIP, (_C.SPLICED,), _C.GENERATING_SPRITE, _C.PENDING_REVIEW, _C.SPRITE_FAILED,
        "make_sprites", timedelta(hours=1), 3, "library",
    ),
    Stage(
        "keyframes", Item.CLIP, (_C.REVIEW_APPROVED,), _C.KEYFRAMING, _C.KEYFRAMED, _C.KEYFRAME_FAILED,
        "take_keyframes", timedelta(minutes=15), 3, "library",
    ),
    Stage(
        "embeddings", Item.CLIP, (_C.KEYFRAMED,), _C.EMBEDDING, _C.EMBEDDED, _C.EMBEDDING_FAILED,
        "embed_clip", timedelta(minutes=10), 3, "library",
    ),
    Stage(
        "re-embedding", Item.CLIP, (_C.EMBEDDED,), _C.EMBEDDING, _C.EMBEDDED, _C.EMBEDDING_FAILED,
        "embed_clip", timedelta(minutes=10), 3, "library", Condition.LACKS_EMBEDDING,
    ),
    Stage(
        "clean-up", Item.CLIP, (_C.REVIEW_ARCHIVED,), _C.CLEANING, _C.ARCHIVED, _C.CLEANING_FAILED,
        "clean_up_clip", timedelta(minutes=10), 5, "library",
    ),
)  # fmt: skip

RETRY_AFTER = timedelta(minutes=5)
RETRY_AT_MOST = 6


def stage_called(name: str) -> Stage:
    """Raises KeyError."""
    return {stage.name: stage for stage in STAGES}[name]


def retry_after(failures: int, retryable: bool) -> timedelta | None:
    """How long a failed item rests before it is taken again; None where only a person can help."""
    if not retryable or failures >= RETRY_AT_MOST:
        return None
    return RETRY_AFTER * (1 << max(0, failures - 1))
