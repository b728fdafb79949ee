"""What all stages have in common: take the item, do the work, say that it is done. Safe to repeat at every point."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from found_footy.activities.boundary import implements
from found_footy.activities.library_disk import said
from found_footy.domain.clips.stages import STAGES, stage_called
from found_footy.domain.errors import MediaError
from found_footy.ports_library import LibraryStore
from found_footy.workflows.contracts import Call
from found_footy.workflows.library_contracts import StageDone, StageInput

Self = TypeVar("Self")
Method = Callable[[Self, StageInput], Awaitable[StageDone]]


def does(activity: str) -> Callable[[Method[Self]], Method[Self]]:
    """Registers a method as the activity that a row of the table of stages names. Raises StopIteration."""
    stage = next(stage for stage in STAGES if stage.activity == activity)
    call: Call[StageInput, StageDone] = Call(activity, StageDone, stage.timeout, stage.attempts)
    return implements(call)


async def through(
    store: LibraryStore, order: StageInput, work: Callable[[int], Awaitable[None]], now: Callable[[], datetime]
) -> StageDone:
    stage = stage_called(order.stage)
    if not await store.begin(stage, order.item, now()):
        return StageDone(done=False)
    try:
        await work(order.item)
    except MediaError as error:
        raise type(error)(said(error)) from error
    return StageDone(await store.finish(stage, order.item, now()))
