"""The table of stages: no state is left without one, and failed items are retried."""

from __future__ import annotations

from datetime import timedelta

import pytest

from found_footy.library.models import ClipState, SourceState, State
from found_footy.library.stages import MAX_STAGE_FAILURES, STAGES, ItemKind, LibraryStage, retry_delay, stage_named

WAIT_FOR_PEOPLE = {ClipState.PENDING_REVIEW, ClipState.REVIEW_SKIPPED, ClipState.EDIT_PENDING}
ENDS = {SourceState.SPLICED, ClipState.ARCHIVED}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_stage_has_states_of_its_kind_of_item(stage: LibraryStage) -> None:
    states = SourceState if stage.item is ItemKind.SOURCE else ClipState
    assert all(isinstance(state, states) for state in (stage.takes, stage.working, stage.done, stage.failed))
    assert stage.done is not stage.working


@pytest.mark.parametrize("state", [*SourceState, *ClipState])
def test_every_state_has_a_stage_or_waits_for_a_person_or_is_final(state: State) -> None:
    taken = [
        stage
        for stage in STAGES
        if any(state is each for each in (stage.takes, stage.working, stage.failed))
    ]  # fmt: skip
    assert taken or state in WAIT_FOR_PEOPLE or any(state is end for end in ENDS)


def test_no_state_is_taken_by_two_stages() -> None:
    taken = [stage.takes for stage in STAGES]
    assert len(taken) == len({(type(state), state) for state in taken})


def test_a_stage_is_found_by_its_name() -> None:
    assert [stage_named(stage.name) for stage in STAGES] == list(STAGES)
    with pytest.raises(KeyError):
        stage_named("no such stage")


@pytest.mark.parametrize(
    ("failures", "retryable", "expected"),
    [
        (1, True, timedelta(minutes=5)),
        (2, True, timedelta(minutes=10)),
        (5, True, timedelta(minutes=80)),
        (MAX_STAGE_FAILURES, True, None),
        (1, False, None),
    ],
)
def test_retries_back_off_and_end(failures: int, retryable: bool, expected: timedelta | None) -> None:
    assert retry_delay(failures, retryable) == expected
