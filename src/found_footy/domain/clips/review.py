"""What a reviewer can do with clips, and what it changes. Undo is in `undo.py`.

Nothing that an action does is final before its time for undo is over: until then no stage takes the clips, and no file
is made or deleted. So undo only has to put back what stood in the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from found_footy.domain.clips.groups import group_of, root_of
from found_footy.domain.clips.states import (
    APPROVED,
    ARCHIVED,
    AT_WORK,
    EDITABLE,
    ClipState,
    Step,
    after_clip_step,
    words_for,
)
from found_footy.domain.clips.values import Clip
from found_footy.domain.errors import EditRefused

UNDO_FOR = timedelta(seconds=60)
MOST_AT_ONCE = 500
"""Clips that one action can name."""


class ActionKind(StrEnum):
    APPROVE = "approve"
    SKIP = "skip"
    ARCHIVE = "archive"
    GROUP = "group"
    MERGE = "merge"
    SPLIT = "split"


EDITS = frozenset({ActionKind.MERGE, ActionKind.SPLIT})
"""Those that make new clips, whose files come when the time for undo is over."""

_STEPS: Mapping[ActionKind, Step] = {
    ActionKind.APPROVE: Step.APPROVE,
    ActionKind.SKIP: Step.SKIP,
    ActionKind.ARCHIVE: Step.ARCHIVE,
    ActionKind.GROUP: Step.APPROVE,
}
_WANTED: Mapping[ActionKind, tuple[frozenset[ClipState], str]] = {
    ActionKind.APPROVE: (APPROVED, "approved"),
    ActionKind.SKIP: (frozenset({ClipState.REVIEW_SKIPPED}), "skipped"),
    ActionKind.ARCHIVE: (ARCHIVED, "archived"),
}
"""What a judgement wants, which some clips of many may be already."""


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
    """A clip to be made: these frames of a source, in the group of what they were cut from."""

    source_id: int
    first: int
    end: int
    grouped_with: int | None = None


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
    """Approve, skip or archive one clip or several at once: all of them or none. Raises EditRefused.

    Those of several that are so already stay as they are, and undo has nothing to do with them.
    """
    if kind not in _WANTED:
        raise EditRefused(f"{kind} is no action for clips by themselves")
    if not clips:
        raise EditRefused("no clip was named")
    if len({clip.id for clip in clips}) < len(clips):
        raise EditRefused("a clip was named twice")
    wanted, done = _WANTED[kind]
    changed = [clip for clip in clips if not (clip.live and clip.state in wanted)]
    if not changed:
        which = f"clip {clips[0].id} is" if len(clips) == 1 else f"these {len(clips)} clips are"
        raise EditRefused(f"{which} {done} already")
    after = {clip: _stepped(kind, clip, clip.grouped_with, who, undo_for) for clip in changed}
    return _outcome(kind, after, who, undo_for)


def group(clip: Clip, other: Clip, kin: Sequence[Clip], who: Reviewer, undo_for: timedelta = UNDO_FOR) -> Outcome:
    """Both are approved, unless they are, and known as parts of one thing. Where both had a group, it becomes one.
    `kin` are all other tiles of their groups. Raises EditRefused."""
    if clip.id == other.id:
        raise EditRefused("a clip cannot be grouped with itself")
    if root_of(clip) == root_of(other):
        raise EditRefused("these two are grouped already")
    # Whoever is alone joins the other one: then nobody else's pointer has to move.
    turned = group_of(other, kin) is None and group_of(clip, kin) is not None
    joins, into = (other, clip) if turned else (clip, other)
    after = {
        joins: _stepped(ActionKind.GROUP, joins, root_of(into), who, undo_for),
        into: _stepped(ActionKind.GROUP, into, into.grouped_with, who, undo_for),
        **_moved(kin, root_of(joins), root_of(into), who, undo_for),
    }
    return _outcome(ActionKind.GROUP, after, who, undo_for)


def split(clip: Clip, at: int, kin: Sequence[Clip], who: Reviewer, undo_for: timedelta = UNDO_FOR) -> Outcome:
    """Two clips instead of one; the second begins with frame `at` of the source. Raises EditRefused."""
    _check_editable(clip, who)
    if not clip.first < at < clip.end:
        raise EditRefused(
            f"a clip of the frames {clip.first} to {clip.end - 1} cannot be split at {at}: both halves need a frame"
        )
    group = group_of(clip, kin)
    halves = (Stretch(clip.source_id, clip.first, at, group), Stretch(clip.source_id, at, clip.end, group))
    return _outcome(ActionKind.SPLIT, {clip: _retired(clip, who, undo_for)}, who, undo_for, halves)


def merge(one: Clip, other: Clip, kin: Sequence[Clip], who: Reviewer, undo_for: timedelta = UNDO_FOR) -> Outcome:
    """One clip instead of two that follow each other, in whichever order they are named. It is in the groups of both,
    which thereby become one. Raises EditRefused."""
    if one.source_id != other.source_id:
        raise EditRefused("only clips of one source can be merged")
    earlier, later = sorted((one, other), key=lambda clip: clip.first)
    if earlier.end != later.first:
        raise EditRefused("only clips that follow each other can be merged")
    for clip in (earlier, later):
        _check_editable(clip, who)
    groups = [found for clip in (earlier, later) if (found := group_of(clip, kin)) is not None]
    whole = Stretch(earlier.source_id, earlier.first, later.end, groups[0] if groups else None)
    after = {clip: _retired(clip, who, undo_for) for clip in (earlier, later)}
    if len(set(groups)) > 1:
        after |= _moved(kin, groups[1], groups[0], who, undo_for)
    return _outcome(ActionKind.MERGE, after, who, undo_for, (whole,))


def check_free(clip: Clip, who: Reviewer) -> None:
    """Raises EditRefused where the clip is no tile any more, or lies before somebody else."""
    if not clip.live:
        raise EditRefused(f"clip {clip.id} was split or merged")
    if clip.claimed_by not in (None, who.id) and clip.claimed_until is not None and clip.claimed_until > who.now:
        raise EditRefused(f"somebody else is looking at clip {clip.id}")


def _check_editable(clip: Clip, who: Reviewer) -> None:
    check_free(clip, who)
    if clip.state not in EDITABLE:
        later = "can be changed when that is done" if clip.state in AT_WORK - ARCHIVED else "cannot be changed now"
        raise EditRefused(f"clip {clip.id} is {words_for(clip.state)}: its cuts {later}")


def _stepped(kind: ActionKind, clip: Clip, group: int | None, who: Reviewer, undo_for: timedelta) -> Standing:
    check_free(clip, who)
    if kind is ActionKind.GROUP and clip.state in AT_WORK - ARCHIVED:
        raise EditRefused(f"clip {clip.id} is {words_for(clip.state)}: it can be grouped when that is done")
    already = kind is ActionKind.GROUP and clip.state in APPROVED
    state = clip.state if already else after_clip_step(clip.state, _STEPS[kind], clip.id)
    return Standing(state, True, group, who.now + undo_for, who.name, who.now)


def _moved(kin: Sequence[Clip], group: int, into: int, who: Reviewer, undo_for: timedelta) -> dict[Clip, Standing]:
    """The rest of a group that becomes part of another one. They wait for undo, too: so they must be at rest."""
    moved = {}
    for clip in (each for each in kin if root_of(each) == group):
        check_free(clip, who)
        if clip.state in AT_WORK or clip.state is ClipState.EDIT_PENDING:
            raise EditRefused(f"clip {clip.id} of the same group is {words_for(clip.state)}: try again after that")
        moved[clip] = replace(standing_of(clip), grouped_with=into, settles_at=who.now + undo_for)
    return moved


def _retired(clip: Clip, who: Reviewer, undo_for: timedelta) -> Standing:
    """Its state stays: that is what undo comes back to."""
    return Standing(clip.state, False, clip.grouped_with, who.now + undo_for, who.name, who.now)


def _outcome(
    kind: ActionKind,
    after: Mapping[Clip, Standing],
    who: Reviewer,
    undo_for: timedelta,
    made: tuple[Stretch, ...] = (),
) -> Outcome:
    before = {clip.id: standing_of(clip) for clip in after}
    return Outcome(kind, before, {clip.id: new for clip, new in after.items()}, who.now + undo_for, made)
