"""Review actions: what they change, and how they are undone. `review_store.py` saves the changes.

A group is named by its first clip: the other members point at that clip, never at each other. The group keeps its name
when that clip is split or merged: the remaining members then point at a row that is no longer a tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from found_footy.errors import EditRefused
from found_footy.library.models import APPROVED, ARCHIVED, ClipState, LibraryClip, SourceVideo, state_label
from found_footy.library.stages import IN_PROGRESS

UNDO_WINDOW = timedelta(seconds=60)
MAX_CLIPS_PER_ACTION = 500

_C = ClipState

EDITABLE = frozenset(
    {_C.PENDING_REVIEW, _C.REVIEW_SKIPPED, _C.REVIEW_APPROVED, _C.KEYFRAMED, _C.EMBEDDED,
     _C.SPRITE_FAILED, _C.KEYFRAME_FAILED, _C.EMBEDDING_FAILED}
)  # fmt: skip
"""Idle states: no stage is working on the clip and no edit is pending. Such clips can be archived, split and merged."""
REMOVABLE = EDITABLE | {_C.SPLICED}
"""Clips that are archived together with their source."""


class ActionKind(StrEnum):
    APPROVE = "approve"
    SKIP = "skip"
    ARCHIVE = "archive"
    GROUP = "group"
    MERGE = "merge"
    SPLIT = "split"
    MOVE_CUT = "move_cut"


EDITS = frozenset({ActionKind.MERGE, ActionKind.SPLIT, ActionKind.MOVE_CUT})
"""Actions that create clips, whose files are made after the undo window."""


@dataclass(frozen=True, slots=True)
class ActionRule:
    takes: frozenset[ClipState]
    to: ClipState
    unchanged: frozenset[ClipState]
    """States in which the action is already done."""
    done: str
    """Past participle, for messages."""


ACTION_RULES: Mapping[ActionKind, ActionRule] = {
    ActionKind.APPROVE: ActionRule(
        frozenset({_C.PENDING_REVIEW, _C.REVIEW_SKIPPED}), _C.REVIEW_APPROVED, APPROVED, "approved"
    ),
    ActionKind.SKIP: ActionRule(
        frozenset({_C.PENDING_REVIEW}), _C.REVIEW_SKIPPED, frozenset({_C.REVIEW_SKIPPED}), "skipped"
    ),
    ActionKind.ARCHIVE: ActionRule(EDITABLE, _C.REVIEW_ARCHIVED, ARCHIVED, "archived"),
}


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who acts, and when. Two windows of one person are two reviewers with separate claims and undo."""

    id: str
    name: str
    now: datetime


@dataclass(frozen=True, slots=True)
class ReviewFields:
    """Fields of a clip that a review action changes and undo restores."""

    state: ClipState
    live: bool = True
    grouped_with: int | None = None
    settles_at: datetime | None = None
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FrameRange:
    """A clip to create from these frames, in the group of the clips it replaces."""

    source_id: int
    first: int
    end: int
    grouped_with: int | None = None


@dataclass(frozen=True, slots=True)
class ReviewChange:
    """Existing clips that an action changes, and clips that it creates in the state EDIT_PENDING."""

    kind: ActionKind
    before: Mapping[int, ReviewFields]
    after: Mapping[int, ReviewFields]
    settles_at: datetime
    made: tuple[FrameRange, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """An action in the journal."""

    id: int
    kind: ActionKind
    reviewer: str
    at: datetime
    settles_at: datetime
    before: Mapping[int, ReviewFields]
    after: Mapping[int, ReviewFields]
    made: tuple[int, ...] = field(default=())
    """Clips that the action created."""
    undone_at: datetime | None = None
    settled_at: datetime | None = None
    name: str = ""
    """The reviewer's display name."""


@dataclass(frozen=True, slots=True)
class ActionSummary:
    """An action as all reviewers see it."""

    id: int
    kind: ActionKind
    reviewer: str
    name: str
    at: datetime
    settles_at: datetime
    clips: tuple[int, ...]
    """Clips that the action changed."""
    made: tuple[int, ...]
    source_id: int | None
    title: str
    """Title of the source; empty if it was deleted."""
    undone_at: datetime | None = None
    settled_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LikelyDuplicate:
    """Another live clip whose fingerprint matches, or that has a verdict."""

    clip: LibraryClip
    same: bool | None
    """Editor's verdict; None if only the fingerprints match."""
    said_by: str | None = None


@dataclass(frozen=True, slots=True)
class UndoChange:
    """Fields to restore, and created clips to delete."""

    fields: Mapping[int, ReviewFields]
    deleted: tuple[int, ...]


def fields_of(clip: LibraryClip) -> ReviewFields:
    return ReviewFields(
        clip.state, clip.live, clip.grouped_with, clip.settles_at, clip.reviewed_by, clip.reviewed_at
    )  # fmt: skip


# --- Actions.


def decide(
    kind: ActionKind, clips: Sequence[LibraryClip], reviewer: Reviewer, undo_window: timedelta = UNDO_WINDOW
) -> ReviewChange:
    """Approve, skip or archive clips, all or none. Clips for which the action is already done are left out.

    Raises EditRefused.
    """
    rule = ACTION_RULES.get(kind)
    if rule is None:
        raise EditRefused(f"invalid action {kind}: expected approve, skip or archive")
    if not clips:
        raise EditRefused("no clips given")
    if len({clip.id for clip in clips}) < len(clips):
        raise EditRefused("a clip is given twice")
    changed = [clip for clip in clips if not (clip.live and clip.state in rule.unchanged)]
    if not changed:
        which = f"clip {clips[0].id} is" if len(clips) == 1 else f"all {len(clips)} clips are"
        raise EditRefused(f"{which} already {rule.done}")
    after = {clip: _apply_rule(rule, clip, clip.grouped_with, reviewer, undo_window) for clip in changed}
    return _change(kind, after, reviewer, undo_window)


def group(
    clip: LibraryClip,
    other: LibraryClip,
    members: Sequence[LibraryClip],
    reviewer: Reviewer,
    undo_window: timedelta = UNDO_WINDOW,
) -> ReviewChange:
    """Approve both clips and put them into one group. Two existing groups are joined.

    `members` are all other live clips of their groups. Raises EditRefused.
    """
    if clip.id == other.id:
        raise EditRefused(f"cannot group clip {clip.id} with itself")
    if group_id(clip) == group_id(other):
        raise EditRefused(f"clips {clip.id} and {other.id} are already grouped")
    # A clip without a group joins the other one, so that no member has to move.
    is_reversed = existing_group_id(other, members) is None and existing_group_id(clip, members) is not None
    joins, into = (other, clip) if is_reversed else (clip, other)
    after = {
        joins: _approve(joins, group_id(into), reviewer, undo_window),
        into: _approve(into, into.grouped_with, reviewer, undo_window),
        **_regroup(members, group_id(joins), group_id(into), reviewer, undo_window),
    }
    return _change(ActionKind.GROUP, after, reviewer, undo_window)


def split(
    clip: LibraryClip, at: int, members: Sequence[LibraryClip], reviewer: Reviewer, undo_window: timedelta = UNDO_WINDOW
) -> ReviewChange:
    """Replace a clip by two; the second begins with frame `at` of the source. Raises EditRefused."""
    _ensure_editable(clip, reviewer)
    if not clip.first < at < clip.end:
        raise EditRefused(
            f"cannot split clip {clip.id} at frame {at}: choose a frame from {clip.first + 1} to {clip.end - 1}"
        )
    group = existing_group_id(clip, members)
    halves = (FrameRange(clip.source_id, clip.first, at, group), FrameRange(clip.source_id, at, clip.end, group))
    return _change(ActionKind.SPLIT, {clip: _retire(clip, reviewer, undo_window)}, reviewer, undo_window, halves)


def merge(
    clip: LibraryClip,
    other: LibraryClip,
    members: Sequence[LibraryClip],
    reviewer: Reviewer,
    undo_window: timedelta = UNDO_WINDOW,
) -> ReviewChange:
    """Replace two adjacent clips by one, and join their groups. Raises EditRefused."""
    earlier, later = _adjacent(clip, other, reviewer)
    groups = [found for each in (earlier, later) if (found := existing_group_id(each, members)) is not None]
    whole = FrameRange(earlier.source_id, earlier.first, later.end, groups[0] if groups else None)
    after = {each: _retire(each, reviewer, undo_window) for each in (earlier, later)}
    if len(set(groups)) > 1:
        after |= _regroup(members, groups[1], groups[0], reviewer, undo_window)
    return _change(ActionKind.MERGE, after, reviewer, undo_window, (whole,))


def move_cut(
    clip: LibraryClip,
    other: LibraryClip,
    at: int,
    members: Sequence[LibraryClip],
    reviewer: Reviewer,
    undo_window: timedelta = UNDO_WINDOW,
) -> ReviewChange:
    """Move the cut between two adjacent clips to frame `at` of the source; both stay in their groups.

    Raises EditRefused.
    """
    earlier, later = _adjacent(clip, other, reviewer)
    if at == earlier.end:
        raise EditRefused(f"the cut between clips {earlier.id} and {later.id} is already at frame {at}")
    if not earlier.first < at < later.end:
        raise EditRefused(
            f"cannot move the cut between clips {earlier.id} and {later.id} to frame {at}: "
            f"choose a frame from {earlier.first + 1} to {later.end - 1}"
        )
    made = (
        FrameRange(earlier.source_id, earlier.first, at, existing_group_id(earlier, members)),
        FrameRange(later.source_id, at, later.end, existing_group_id(later, members)),
    )
    after = {each: _retire(each, reviewer, undo_window) for each in (earlier, later)}
    return _change(ActionKind.MOVE_CUT, after, reviewer, undo_window, made)


def archive_source(
    source: SourceVideo, clips: Sequence[LibraryClip], reviewer: Reviewer, undo_window: timedelta = UNDO_WINDOW
) -> ReviewChange | None:
    """Archive all clips of a source as one action; None if there is no clip to archive.

    Raises EditRefused while a stage works on the source or one of its clips, or an edit can still be undone.
    """
    if source.state in IN_PROGRESS:
        raise EditRefused(f"cannot remove source {source.id} yet: it is {state_label(source.state)}")
    remaining = [clip for clip in clips if clip.state not in ARCHIVED]
    for clip in remaining:
        if clip.state in IN_PROGRESS:
            raise EditRefused(f"cannot remove source {source.id} yet: clip {clip.id} is {state_label(clip.state)}")
        is_settled = clip.settles_at is None or clip.settles_at <= reviewer.now
        if clip.state not in REMOVABLE or not clip.live or not is_settled:
            raise EditRefused(
                f"cannot remove source {source.id} yet: the last action on clip {clip.id} can still be undone"
            )
    if not remaining:
        return None
    to, until = _C.REVIEW_ARCHIVED, reviewer.now + undo_window
    after = {
        clip: replace(fields_of(clip), state=to, settles_at=until, reviewed_by=reviewer.name, reviewed_at=reviewer.now)
        for clip in remaining
    }
    return _change(ActionKind.ARCHIVE, after, reviewer, undo_window)


def ensure_unclaimed(clip: LibraryClip, reviewer: Reviewer) -> None:
    """Raises EditRefused if the clip was split or merged, or is claimed by another reviewer."""
    if not clip.live:
        raise EditRefused(f"clip {clip.id} was split or merged")
    if (
        clip.claimed_by not in (None, reviewer.id)
        and clip.claimed_until is not None
        and clip.claimed_until > reviewer.now
    ):
        raise EditRefused(f"clip {clip.id} is claimed by another reviewer")


def _adjacent(clip: LibraryClip, other: LibraryClip, reviewer: Reviewer) -> tuple[LibraryClip, LibraryClip]:
    """Return two editable neighbours in order. Raises EditRefused."""
    if clip.source_id != other.source_id:
        raise EditRefused(f"clips {clip.id} and {other.id} belong to different sources")
    earlier, later = sorted((clip, other), key=lambda each: each.first)
    if earlier.end != later.first:
        raise EditRefused(f"clips {clip.id} and {other.id} are not adjacent")
    for each in (earlier, later):
        _ensure_editable(each, reviewer)
    return earlier, later


def _ensure_editable(clip: LibraryClip, reviewer: Reviewer) -> None:
    ensure_unclaimed(clip, reviewer)
    if clip.state not in EDITABLE:
        later = ", try again later" if clip.state in IN_PROGRESS - ARCHIVED else ""
        raise EditRefused(f"cannot edit clip {clip.id}: it is {state_label(clip.state)}{later}")


def _approve(clip: LibraryClip, group: int | None, reviewer: Reviewer, undo_window: timedelta) -> ReviewFields:
    """Approval as part of grouping; an approved clip keeps its state."""
    ensure_unclaimed(clip, reviewer)
    if clip.state in IN_PROGRESS - ARCHIVED:
        raise EditRefused(f"cannot group clip {clip.id}: it is {state_label(clip.state)}, try again later")
    if clip.state in APPROVED:
        return ReviewFields(clip.state, True, group, reviewer.now + undo_window, reviewer.name, reviewer.now)
    return _apply_rule(ACTION_RULES[ActionKind.APPROVE], clip, group, reviewer, undo_window)


def _apply_rule(
    rule: ActionRule, clip: LibraryClip, group: int | None, reviewer: Reviewer, undo_window: timedelta
) -> ReviewFields:
    ensure_unclaimed(clip, reviewer)
    if clip.state not in rule.takes:
        raise EditRefused(f"clip {clip.id} cannot be {rule.done}: it is {state_label(clip.state)}")
    return ReviewFields(rule.to, True, group, reviewer.now + undo_window, reviewer.name, reviewer.now)


def _regroup(
    members: Sequence[LibraryClip], group: int, into: int, reviewer: Reviewer, undo_window: timedelta
) -> dict[LibraryClip, ReviewFields]:
    """Other members of a group that joins another one. Undo covers them too, so they must be idle."""
    moved = {}
    for clip in (each for each in members if group_id(each) == group):
        ensure_unclaimed(clip, reviewer)
        if clip.state in IN_PROGRESS or clip.state is _C.EDIT_PENDING:
            raise EditRefused(f"cannot move clip {clip.id} to another group: it is {state_label(clip.state)}")
        moved[clip] = replace(fields_of(clip), grouped_with=into, settles_at=reviewer.now + undo_window)
    return moved


def _retire(clip: LibraryClip, reviewer: Reviewer, undo_window: timedelta) -> ReviewFields:
    """Keep the state, so that undo can restore it."""
    return ReviewFields(clip.state, False, clip.grouped_with, reviewer.now + undo_window, reviewer.name, reviewer.now)


def _change(
    kind: ActionKind,
    after: Mapping[LibraryClip, ReviewFields],
    reviewer: Reviewer,
    undo_window: timedelta,
    made: tuple[FrameRange, ...] = (),
) -> ReviewChange:
    before = {clip.id: fields_of(clip) for clip in after}
    return ReviewChange(kind, before, {clip.id: new for clip, new in after.items()}, reviewer.now + undo_window, made)


# --- Groups.


def group_id(clip: LibraryClip) -> int:
    """Id of the clip's group, or of the group it would start."""
    return clip.id if clip.grouped_with is None else clip.grouped_with


def existing_group_id(clip: LibraryClip, members: Iterable[LibraryClip]) -> int | None:
    """Id of the clip's group; None if it has none. `members` include all clips that point at it."""
    alone = clip.grouped_with is None and all(each.grouped_with != clip.id for each in members)
    return None if alone else group_id(clip)


# --- Undo and settling.


def undo(action: ActionRecord, clips: Mapping[int, LibraryClip], now: datetime) -> UndoChange:
    """Undo an action. `clips` are the current versions of all clips it changed or created. Raises EditRefused."""
    if action.undone_at is not None:
        raise EditRefused(f"action {action.id} is already undone")
    if action.settled_at is not None or now >= action.settles_at:
        seconds = round((action.settles_at - action.at).total_seconds())
        raise EditRefused(f"action {action.id} can no longer be undone: the undo window of {seconds} s has passed")
    for id_ in (*action.after, *action.made):
        if id_ not in clips:
            raise EditRefused(f"action {action.id} can no longer be undone: clip {id_} was deleted")
    for id_, after in action.after.items():
        _ensure_unchanged(action, clips[id_], after)
    for id_ in action.made:
        expected = replace(fields_of(clips[id_]), state=_C.EDIT_PENDING, live=True)
        _ensure_unchanged(action, clips[id_], expected)
    return UndoChange(action.before, action.made)


def _ensure_unchanged(action: ActionRecord, clip: LibraryClip, after: ReviewFields) -> None:
    now = fields_of(clip)
    if now == after:
        return
    if replace(now, state=after.state) == after:
        # If all other fields are unchanged, a stage took the clip: its machine's clock is slightly ahead of ours.
        raise EditRefused(f"action {action.id} can no longer be undone: clip {clip.id} is now {state_label(now.state)}")
    raise EditRefused(f"cannot undo action {action.id}: clip {clip.id} was changed since, undo that first")


def settle(action: ActionRecord, clips: Mapping[int, LibraryClip]) -> Mapping[int, ReviewFields]:
    """Settle after the undo window: created clips go to their first stage, replaced ones to the clean-up.

    Other actions have nothing to settle: stages take their clips once `settles_at` has passed.
    """
    if action.undone_at is not None or action.kind not in EDITS:
        return {}
    # Members whose group changed are also in `after`; they are not replaced.
    replaced = [id_ for id_, after in action.after.items() if not after.live]
    return {
        **{id_: _settled(clips[id_], {_C.EDIT_PENDING}, _C.SPLICED) for id_ in action.made},
        **{id_: _settled(clips[id_], EDITABLE, _C.REVIEW_ARCHIVED) for id_ in replaced},
    }


def _settled(clip: LibraryClip, takes: Iterable[ClipState], to: ClipState) -> ReviewFields:
    if clip.state not in takes:
        raise EditRefused(f"cannot settle the edit of clip {clip.id}: it is {state_label(clip.state)}")
    return replace(fields_of(clip), state=to)


# --- Tiles.


def tiles_between_cuts(frames: int, cuts: Iterable[int]) -> list[tuple[int, int]]:
    """(first, end) of each scene. A cut is the first frame of a scene; cuts outside the video are ignored."""
    inside = sorted({cut for cut in cuts if 0 < cut < frames})
    return list(pairwise([0, *inside, frames]))
