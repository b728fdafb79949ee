"""What becomes of a source that somebody wants out of the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from found_footy.domain.clips.review import UNDO_FOR, ActionKind, Outcome, Reviewer, standing_of
from found_footy.domain.clips.stages import STAGES
from found_footy.domain.clips.states import ClipState, Step, after_clip_step, words_for
from found_footy.domain.clips.values import Clip, Source
from found_footy.domain.errors import EditRefused

AT_WORK = frozenset(stage.working for stage in STAGES) - {ClipState.CLEANING}
LEAVING = frozenset(
    {ClipState.REVIEW_ARCHIVED, ClipState.CLEANING, ClipState.CLEANING_FAILED, ClipState.ARCHIVED}
)  # fmt: skip
"""Thrown away already, or about to be cleaned up."""
FORGOTTEN = LEAVING - {ClipState.REVIEW_ARCHIVED}
"""The clean-up has begun, and nothing brings them back. Once all clips of a source are so, nobody needs its film."""


def remove(source: Source, clips: Sequence[Clip], who: Reviewer, undo_for: timedelta = UNDO_FOR) -> Outcome | None:
    """All clips of a source are archived as one action, which can be undone like any other; the clean-up does the
    rest. None where there is no clip to archive: with none at all, the source itself can go at once.

    Raises EditRefused while a stage is at work on it, or an edit can still be undone.
    """
    if source.state in AT_WORK:
        raise EditRefused(f"source {source.id} is {words_for(source.state)}: it can be removed when that is over")
    staying = [clip for clip in clips if clip.state not in LEAVING]
    for clip in staying:
        if clip.state in AT_WORK:
            raise EditRefused(f"clip {clip.id} is {words_for(clip.state)}: its source can be removed when that is over")
        if clip.state is ClipState.EDIT_PENDING or not clip.live or (clip.settles_at and clip.settles_at > who.now):
            raise EditRefused(
                f"what was done with clip {clip.id} can still be undone: its source can be removed after that"
            )
    if not staying:
        return None
    until = who.now + undo_for
    after = {
        clip.id: replace(
            standing_of(clip),
            state=after_clip_step(clip.state, Step.REMOVE),
            settles_at=until,
            reviewed_by=who.name,
            reviewed_at=who.now,
        )
        for clip in staying
    }
    return Outcome(ActionKind.ARCHIVE, {clip.id: standing_of(clip) for clip in staying}, after, until)
