"""Taking an action back, and what becomes of it when that is no longer possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from found_footy.domain.clips.review import EDITS, ActionKind, Standing, standing_of
from found_footy.domain.clips.states import ClipState, Step, after_clip_step, words_for
from found_footy.domain.clips.values import Clip
from found_footy.domain.errors import EditRefused


@dataclass(frozen=True, slots=True)
class Done:
    """An action that was taken, as the journal has it."""

    id: int
    kind: ActionKind
    reviewer: str
    at: datetime
    settles_at: datetime
    before: Mapping[int, Standing]
    after: Mapping[int, Standing]
    made: tuple[int, ...] = field(default=())
    """Clips that it made."""
    undone_at: datetime | None = None
    settled_at: datetime | None = None
    name: str = ""
    """Of the reviewer, as people know them."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What undo writes: the standings of before, and no more of the clips that were made."""

    standings: Mapping[int, Standing]
    unmade: tuple[int, ...]


def undo(action: Done, clips: Mapping[int, Clip], now: datetime) -> Restored:
    """`clips` are those that the action changed or made, as they are now. Raises EditRefused."""
    if action.undone_at is not None:
        raise EditRefused("that was undone already")
    if action.settled_at is not None or now >= action.settles_at:
        seconds = round((action.settles_at - action.at).total_seconds())
        raise EditRefused(f"an action can be undone for {seconds} seconds, and that time is over")
    for id_ in (*action.after, *action.made):
        if id_ not in clips:
            raise EditRefused(f"clip {id_} is no longer there, and so this cannot be undone any more")
    for id_, after in action.after.items():
        _check_unchanged(clips[id_], after)
    for id_ in action.made:
        _check_unchanged(clips[id_], replace(standing_of(clips[id_]), state=ClipState.EDIT_PENDING, live=True))
    return Restored(action.before, action.made)


def _check_unchanged(clip: Clip, after: Standing) -> None:
    """Raises EditRefused."""
    now = standing_of(clip)
    if now == after:
        return
    if replace(now, state=after.state) == after:
        # Only stages leave everything else as it is. The clocks of two machines differ a little.
        raise EditRefused(f"clip {clip.id} is {words_for(now.state)} by now: this cannot be undone any more")
    raise EditRefused(f"clip {clip.id} was changed again since; that has to be undone first")


def settle(action: Done, clips: Mapping[int, Clip]) -> Mapping[int, Standing]:
    """When the time for undo is over: clips that were made go to their stages, those before them are cleaned up.

    Simple actions have nothing to settle: their stages take the clips by themselves then.
    """
    if action.undone_at is not None or action.kind not in EDITS:
        return {}
    # Others may be among them whose group has moved: they stay as they are.
    gone = [id_ for id_, after in action.after.items() if not after.live]
    steps = [*((id_, Step.SETTLE) for id_ in action.made), *((id_, Step.RETIRE) for id_ in gone)]
    return {
        id_: replace(standing_of(clips[id_]), state=after_clip_step(clips[id_].state, step, id_)) for id_, step in steps
    }
