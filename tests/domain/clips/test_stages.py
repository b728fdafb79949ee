"""The table of stages fits the states, and nothing falls between two of them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from found_footy.domain.clips.stages import RETRY_AT_MOST, STAGES, Item, Stage, retry_after, stage_called
from found_footy.domain.clips.states import (
    ClipState,
    SourceState,
    State,
    Step,
    after_clip_step,
    after_source_step,
)

WAIT_FOR_PEOPLE = {ClipState.PENDING_REVIEW, ClipState.REVIEW_SKIPPED, ClipState.EDIT_PENDING}
ENDS = {SourceState.SPLICED, ClipState.ARCHIVED}


def after(stage: Stage, state: State, step: Step) -> State:
    if isinstance(state, SourceState):
        return after_source_step(state, step)
    return after_clip_step(state, step)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_stage_takes_only_steps_that_there_are(stage: Stage) -> None:
    states = SourceState if stage.item is Item.SOURCE else ClipState
    for state in (*stage.takes, stage.working, stage.failed):
        assert isinstance(state, states)
        assert after(stage, state, Step.BEGIN) is stage.working
    assert after(stage, stage.working, Step.SUCCEED) is stage.done
    assert after(stage, stage.working, Step.FAIL) is stage.failed


@pytest.mark.parametrize("state", [*SourceState, *ClipState])
def test_every_state_has_a_stage_or_waits_for_people_or_is_the_end(state: State) -> None:
    taken = [
        stage
        for stage in STAGES
        if any(state is each for each in (*stage.takes, stage.working, stage.failed))
    ]  # fmt: skip
    assert taken or state in WAIT_FOR_PEOPLE or any(state is end for end in ENDS)


def test_no_state_is_taken_by_two_stages() -> None:
    taken = [state for stage in STAGES for state in stage.takes]
    assert len(taken) == len({(type(state), state) for state in taken})


def test_a_stage_is_found_by_its_name_alone() -> None:
    assert [stage_called(stage.name) for stage in STAGES] == list(STAGES)
    with pytest.raises(KeyError):
        stage_called("no such stage")


@pytest.mark.parametrize(
    ("failures", "retryable", "expected"),
    [
        (1, True, timedelta(minutes=5)),
        (2, True, timedelta(minutes=10)),
        (5, True, timedelta(minutes=80)),
        (RETRY_AT_MOST, True, None),
        (1, False, None),
    ],
)
def test_a_failed_item_rests_longer_each_time_and_then_waits_for_a_person(
    failures: int, retryable: bool, expected: timedelta | None
) -> None:
    assert retry_after(failures, retryable) == expected
