"""What a reviewer can do with clips, and what it changes. Undo is in `undo.py`.

Nothing that an action does is final before its time for undo is over: until then no stage takes the clips, and no file
is made or deleted. So undo only has to put back what stood in the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from found_footy.domain.clips.states import ClipState, Step, after_clip_step, words_for
from found_footy.domain.clips.values import Clip
from found_footy.domain.errors import EditRefused

UNDO_FOR = timedelta(seconds=60)


class ActionKind(StrEnum):
    APPROVE = "approve"
    SKIP = "skip"
    ARCHIVE = "archive"
    GROUP = "group"
    MERGE = "merge"
    SPLIT = "split"


EDITS = frozenset({ActionKind.MERGE, ActionKind.SPLIT})
"""Those that make new clips, whose files come when the time for undo is over."""

EDITABLE = frozenset({ClipState.PENDING_REVIEW, ClipState.REVIEW_SKIPPED, ClipState.REVIEW_APPROVED})

_STEPS: Mapping[ActionKind, Step] = {
    ActionKind.APPROVE: Step.APPROVE,
    ActionKind.SKIP: Step.SKIP,
    ActionKind.ARCHIVE: Step.ARCHIVE,
    ActionKind.GROUP: Step.APPROVE,
}


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who acts. Two windows of one person are two reviewers: each has clips of its own, and its own undo."""

    id: str
    name: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """The part of a clip that actions change, and that undo puts back."""

    state: ClipState
    live: bool = True
    grouped_with: int | None = None
    settles_at: datetime | None = None
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """A clip to be made: these frames of a source."""

    source_id: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action changes: clips that were there, and clips that it makes (in the state EDIT_PENDING)."""

    kind: ActionKind
    before: Mapping[int, Standing]
    after: Mapping[int, Standing]
    settles_at: datetime
    made: tuple[Stretch, ...] = field(default=())


def standing_of(clip: Clip) -> Standing:
    return Standing(
        clip.state, clip.live, clip.grouped_with, clip.settles_at, clip.reviewed_by, clip.reviewed_at
    )  # fmt: skip


def judge(kind: ActionKind, clips: Sequence[Clip], who: Reviewer, undo_for: timedelta = UNDO_FOR) -> Outcome:
    """Approve, skip or archive one clip or several at once: all of them or none. Raises EditRefused."""
    if kind not in (ActionKind.APPROVE, ActionKind.SKIP, ActionKind.ARCHIVE):
        raise EditRefused(f"{kind} is no action for clips by themselves")
    if not clips:
        raise EditRefused("no clip was named")
    return _outcome(kind, clips, [_stepped(kind, clip, who, undo_for) for clip in clips], who, undo_for)


def group(clip: Clip, other: Clip, who: Reviewer, undo_for: timedelta = UNDO_FOR) -> Outcome:
    """Both are approved, and known as parts of one thing: `clip` points at `other`. Raises EditRefused."""
    if clip.id == other.id:
        raise EditRefused("a clip cannot be grouped with itself")
    if other.grouped_with == clip.id:
        raise EditRefused("these two are grouped already")
    mine = _stepped(ActionKind.GROUP, clip, who, undo_for, grouped_with=other.id)
    theirs = _stepped(ActionKind.GROUP, other, who, undo_for, grouped_with=other.grouped_with)
    return _outcome(ActionKind.GROUP, [clip, other], [mine, theirs], who, undo_for)


def split(clip: Clip, at: int, who: Reviewer, undo_for: timedelta = UNDO_FOR) -> Outcome:
    """Two clips instead of one; the second begins with frame `at` of the source. Raises EditRefused."""
    _check_editable(clip, who)
    if not clip.first < at < clip.end:
        raise EditRefused(
            f"a clip of the frames {clip.first} to {clip.end - 1} cannot be split at {at}: both halves need a frame"
        )
    halves = (Stretch(clip.source_id, clip.first, at), Stretch(clip.source_id, at, clip.end))
    return _outcome(ActionKind.SPLIT, [clip], [_retired(clip, who, undo_for)], who, undo_for, halves)


def merge(one: Clip, other: Clip, who: Reviewer, undo_for: timedelta = UNDO_FOR) -> Outcome:
    """One clip instead of two that follow each other, in whichever order they are named. Raises EditRefused."""
    if one.source_id != other.source_id:
        raise EditRefused("only clips of one source can be merged")
    earlier, later = sorted((one, other), key=lambda clip: clip.first)
    if earlier.end != later.first:
        raise EditRefused("only clips that follow each other can be merged")
    for clip in (earlier, later):
        _check_editable(clip, who)
    whole = Stretch(earlier.source_id, earlier.first, later.end)
    retired = [_retired(clip, who, undo_for) for clip in (earlier, later)]
    return _outcome(ActionKind.MERGE, [earlier, later], retired, who, undo_for, (whole,))


def check_free(clip: Clip, who: Reviewer) -> None:
    """Raises EditRefused where the clip is no tile any more, or lies before somebody else."""
    if not clip.live:
        raise EditRefused(f"clip {clip.id} was split or merged")
    if clip.claimed_by not in (None, who.id) and clip.claimed_until is not None and clip.claimed_until > who.now:
        raise EditRefused(f"somebody else is looking at clip {clip.id}")


def _check_editable(clip: Clip, who: Reviewer) -> None:
    check_free(clip, who)
    if clip.state not in EDITABLE:
        raise EditRefused(f"clip {clip.id} is {words_for(clip.state)}: its cuts cannot be changed now")


def _stepped(
    kind: ActionKind, clip: Clip, who: Reviewer, undo_for: timedelta, *, grouped_with: int | None = None
) -> Standing:
    check_free(clip, who)
    already = kind is ActionKind.GROUP and clip.state is ClipState.REVIEW_APPROVED
    state = clip.state if already else after_clip_step(clip.state, _STEPS[kind])
    return Standing(state, True, grouped_with, who.now + undo_for, who.name, who.now)


def _retired(clip: Clip, who: Reviewer, undo_for: timedelta) -> Standing:
    """Its state stays: that is what undo comes back to."""
    return Standing(clip.state, False, clip.grouped_with, who.now + undo_for, who.name, who.now)


def _outcome(
    kind: ActionKind,
    clips: Sequence[Clip],
    after: Sequence[Standing],
    who: Reviewer,
    undo_for: timedelta,
    made: tuple[Stretch, ...] = (),
) -> Outcome:
    if len({clip.id for clip in clips}) < len(clips):
        raise EditRefused("a clip was named twice")
    before = {clip.id: standing_of(clip) for clip in clips}
    named = {clip.id: standing for clip, standing in zip(clips, after, strict=True)}
    return Outcome(kind, before, named, who.now + undo_for, made)
