"""Taking an action back, and what becomes of it when that is no longer possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from found_footy.domain.clips.review import EDITS, ActionKind, Standing, standing_of
from found_footy.domain.clips.states import ClipState
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
    for id_, after in action.after.items():
        if id_ not in clips or standing_of(clips[id_]) != after:
            raise EditRefused(f"clip {id_} was changed again since; that has to be undone first")
    for id_ in action.made:
        if id_ not in clips or not clips[id_].live or clips[id_].state is not ClipState.EDIT_PENDING:
            raise EditRefused(f"clip {id_} was changed again since; that has to be undone first")
    return Restored(action.before, action.made)


def settle(action: Done, clips: Mapping[int, Clip]) -> Mapping[int, Standing]:
    """When the time for undo is over: clips that were made go to their stages, those before them are cleaned up.

    Simple actions have nothing to settle: their stages take the clips by themselves then.
    """
    if action.undone_at is not None or action.kind not in EDITS:
        return {}
    made = {id_: replace(standing_of(clips[id_]), state=ClipState.SPLICED) for id_ in action.made}
    gone = {
        id_: replace(standing_of(clips[id_]), state=ClipState.REVIEW_ARCHIVED)
        for id_ in action.after
        if not clips[id_].live
    }
    return {**made, **gone}
