"""What the library's workflows and activities say to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from found_footy.domain.clips.stages import Lane
from found_footy.workflows.contracts import Call, Done


@dataclass(frozen=True)
class LibraryInput:
    rounds: int = 200
    """After which it ends, and the schedule starts the next one at once."""
    seconds: float = 5.0
    """From one round that started something to the next."""


@dataclass(frozen=True)
class LookInput:
    at: datetime


@dataclass(frozen=True)
class Work:
    stage: str
    item: int
    lane: Lane = Lane.GOALS


@dataclass(frozen=True)
class Edit:
    action_id: int
    settles_at: datetime


@dataclass(frozen=True)
class LibraryWork:
    """What the dispatcher is to start."""

    taken_in: int = 0
    work: list[Work] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    deletions: int = 0
    """Objects that are still to be deleted."""


@dataclass(frozen=True)
class StageInput:
    stage: str
    item: int
    lane: Lane = Lane.GOALS


@dataclass(frozen=True)
class StageDone:
    done: bool
    """False where the item was not this stage's to do any more."""


@dataclass(frozen=True)
class StageFailed:
    stage: str
    item: int
    error: str
    kind: str
    retryable: bool


@dataclass(frozen=True)
class EditInput:
    action_id: int
    settles_at: datetime


FIND_LIBRARY_WORK: Call[LookInput, LibraryWork] = Call("find_library_work", LibraryWork, timedelta(seconds=90), 3)
"""Looks until there is something to start, for 20 seconds at most."""
FAIL_STAGE: Call[StageFailed, Done] = Call("fail_stage", Done, timedelta(seconds=30), 10)
SETTLE_EDIT: Call[EditInput, Done] = Call("settle_edit", Done, timedelta(seconds=30), 10)
DELETE_LEFTOVERS: Call[LookInput, Done] = Call("delete_leftovers", Done, timedelta(minutes=5), 3)


LIBRARY = "library-scheduled"
"""The id of the dispatcher; its schedule adds the time."""


def stage_id(stage: str, item: int) -> str:
    return f"library-{stage}-{item}"


def edit_id(action_id: int) -> str:
    return f"edit-{action_id}"
