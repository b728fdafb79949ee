"""Every step in the life of a source and of a clip, and that there are no others."""

from __future__ import annotations

import pytest

from found_footy.domain.clips.stages import STAGES, Item
from found_footy.domain.clips.states import (
    AT_WORK,
    CLIP_STEPS,
    SOURCE_STEPS,
    ClipState,
    SourceState,
    State,
    Step,
    after_clip_step,
    after_source_step,
    words_for,
)
from found_footy.domain.errors import EditRefused

SOURCES = {
    "new": {"begin": "downloading"},
    "downloading": {"begin": "downloading", "succeed": "downloaded", "fail": "download_failed"},
    "download_failed": {"begin": "downloading"},
    "downloaded": {"begin": "splicing"},
    "splicing": {"begin": "splicing", "succeed": "spliced", "fail": "splicing_failed"},
    "splicing_failed": {"begin": "splicing"},
    "spliced": {},
}
GONE = dict.fromkeys(("archive", "retire", "remove"), "review_archived")
CLIPS = {
    "edit_pending": {"settle": "spliced"},
    "spliced": {"begin": "generating_sprite", "remove": "review_archived"},
    "generating_sprite": {"begin": "generating_sprite", "succeed": "pending_review", "fail": "sprite_failed"},
    "sprite_failed": {"begin": "generating_sprite", **GONE},
    "pending_review": {"approve": "review_approved", "skip": "review_skipped", **GONE},
    "review_skipped": {"approve": "review_approved", **GONE},
    "review_approved": {"begin": "keyframing", **GONE},
    "keyframing": {"begin": "keyframing", "succeed": "keyframed", "fail": "keyframe_failed"},
    "keyframe_failed": {"begin": "keyframing", **GONE},
    "keyframed": {"begin": "embedding", **GONE},
    "embedding": {"begin": "embedding", "succeed": "embedded", "fail": "embedding_failed"},
    "embedding_failed": {"begin": "embedding", **GONE},
    "embedded": {"begin": "embedding", **GONE},
    "review_archived": {"begin": "cleaning"},
    "cleaning": {"begin": "cleaning", "succeed": "archived", "fail": "cleaning_failed"},
    "cleaning_failed": {"begin": "cleaning"},
    "archived": {},
}


@pytest.mark.parametrize("state", SourceState)
@pytest.mark.parametrize("step", Step)
def test_each_step_of_a_source_leads_where_the_table_says_or_is_refused(state: SourceState, step: Step) -> None:
    expected = SOURCES[state.value].get(step.value)
    if expected is None:
        with pytest.raises(EditRefused, match="cannot"):
            after_source_step(state, step)
    else:
        assert after_source_step(state, step).value == expected


@pytest.mark.parametrize("state", ClipState)
@pytest.mark.parametrize("step", Step)
def test_each_step_of_a_clip_leads_where_the_table_says_or_is_refused(state: ClipState, step: Step) -> None:
    expected = CLIPS[state.value].get(step.value)
    if expected is None:
        with pytest.raises(EditRefused, match="cannot"):
            after_clip_step(state, step)
    else:
        assert after_clip_step(state, step).value == expected


def test_a_refusal_says_how_things_stand() -> None:
    with pytest.raises(EditRefused, match="a clip that is in the library cannot be approved"):
        after_clip_step(ClipState.EMBEDDED, Step.APPROVE)
    with pytest.raises(EditRefused, match="clip 12 is in the library: it cannot be approved"):
        after_clip_step(ClipState.EMBEDDED, Step.APPROVE, 12)


def test_a_clip_that_a_stage_has_is_left_to_it() -> None:
    assert {stage.working for stage in STAGES if stage.item is Item.CLIP} == AT_WORK
    assert not any((state, step) in CLIP_STEPS for state in AT_WORK for step in Step if step not in OF_STAGES)


OF_STAGES = {Step.BEGIN, Step.SUCCEED, Step.FAIL}


def test_every_state_can_be_entered_and_all_but_the_last_ones_can_be_left() -> None:
    begins: set[State] = {SourceState.NEW, ClipState.EDIT_PENDING, ClipState.SPLICED}
    ends: set[State] = {SourceState.SPLICED, ClipState.ARCHIVED}
    for states, steps in ((SourceState, SOURCE_STEPS), (ClipState, CLIP_STEPS)):
        entered, left = set(steps.values()), {state for state, _ in steps}
        for state in states:
            assert state in begins or state in entered
            assert state in left or state in ends


@pytest.mark.parametrize("state", [*SourceState, *ClipState])
def test_every_state_has_words(state: State) -> None:
    assert words_for(state)


def test_the_two_states_of_one_name_have_their_own_words() -> None:
    assert words_for(SourceState.SPLICED) != words_for(ClipState.SPLICED)
