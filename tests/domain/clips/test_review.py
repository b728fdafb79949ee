"""What each action of review changes, what it refuses, and that undo puts everything back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from found_footy.domain.clips.review import ActionKind, Outcome, Reviewer, Stretch, group, judge, merge, split
from found_footy.domain.clips.states import ClipState
from found_footy.domain.clips.undo import Done, settle, undo
from found_footy.domain.clips.values import Clip
from found_footy.domain.errors import EditRefused

NOW = datetime(2026, 11, 16, 20, 0, tzinfo=UTC)
ANN, BEN = Reviewer("window-1", "Ann", NOW), Reviewer("window-2", "Ben", NOW)


def clip(id_: int = 1, first: int = 0, end: int = 100, state: ClipState = ClipState.PENDING_REVIEW) -> Clip:
    return Clip(id_, 7, first, end, state)


def done(outcome: Outcome, made: tuple[int, ...] = ()) -> Done:
    return Done(5, outcome.kind, ANN.id, NOW, outcome.settles_at, outcome.before, outcome.after, made)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ActionKind.APPROVE, ClipState.REVIEW_APPROVED),
        (ActionKind.SKIP, ClipState.REVIEW_SKIPPED),
        (ActionKind.ARCHIVE, ClipState.REVIEW_ARCHIVED),
    ],
)
def test_a_simple_action_moves_all_its_clips(kind: ActionKind, expected: ClipState) -> None:
    outcome = judge(kind, [clip(1), clip(2, 100, 200)], ANN)
    assert {standing.state for standing in outcome.after.values()} == {expected}
    assert all(standing.reviewed_by == "Ann" for standing in outcome.after.values())
    assert all(standing.settles_at == NOW + timedelta(seconds=60) for standing in outcome.after.values())
    assert outcome.made == ()


def test_a_bulk_action_is_refused_whole_where_one_clip_cannot_be_moved() -> None:
    with pytest.raises(EditRefused, match="archived"):
        judge(ActionKind.APPROVE, [clip(1), clip(2, 100, 200, ClipState.ARCHIVED)], ANN)


@pytest.mark.parametrize("clips", [[], [clip(1), clip(1)]])
def test_an_action_needs_clips_each_named_once(clips: list[Clip]) -> None:
    with pytest.raises(EditRefused):
        judge(ActionKind.APPROVE, clips, ANN)


@pytest.mark.parametrize("kind", [ActionKind.GROUP, ActionKind.MERGE, ActionKind.SPLIT])
def test_actions_that_need_more_than_clips_are_not_judgements(kind: ActionKind) -> None:
    with pytest.raises(EditRefused):
        judge(kind, [clip()], ANN)


def test_nobody_acts_on_a_clip_that_lies_before_somebody_else() -> None:
    taken = replace(clip(), claimed_by=BEN.id, claimed_until=NOW + timedelta(seconds=5))
    with pytest.raises(EditRefused, match="somebody else"):
        judge(ActionKind.APPROVE, [taken], ANN)
    assert judge(ActionKind.APPROVE, [taken], BEN)
    assert judge(ActionKind.APPROVE, [replace(taken, claimed_until=NOW)], ANN), "the claim is over"


def test_nobody_acts_on_a_clip_that_is_no_tile_any_more() -> None:
    with pytest.raises(EditRefused, match="split or merged"):
        judge(ActionKind.APPROVE, [replace(clip(), live=False)], ANN)


def test_grouped_clips_are_both_approved_and_one_points_at_the_other() -> None:
    outcome = group(clip(2, 100, 200), clip(1), ANN)
    assert {standing.state for standing in outcome.after.values()} == {ClipState.REVIEW_APPROVED}
    assert outcome.after[2].grouped_with == 1
    assert outcome.after[1].grouped_with is None


def test_a_third_clip_joins_a_group_whose_clips_are_approved_already() -> None:
    approved = replace(clip(1, state=ClipState.REVIEW_APPROVED), grouped_with=9)
    outcome = group(clip(2, 100, 200), approved, ANN)
    assert outcome.after[1].grouped_with == 9
    assert outcome.after[2].grouped_with == 1


@pytest.mark.parametrize("other", [clip(2, 100, 200), replace(clip(1), grouped_with=2)])
def test_a_clip_is_not_grouped_with_itself_or_in_a_circle(other: Clip) -> None:
    with pytest.raises(EditRefused):
        group(clip(2, 100, 200), other, ANN)


def test_a_split_makes_two_clips_and_takes_the_old_one_away() -> None:
    outcome = split(clip(1, 50, 100), 51, ANN)
    assert outcome.made == (Stretch(7, 50, 51), Stretch(7, 51, 100))
    assert not outcome.after[1].live
    assert outcome.after[1].state is ClipState.PENDING_REVIEW


@pytest.mark.parametrize("at", [-1, 0, 49, 50, 100, 101])
def test_a_split_that_would_leave_nothing_on_one_side_is_refused(at: int) -> None:
    with pytest.raises(EditRefused, match="both halves need a frame"):
        split(clip(1, 50, 100), at, ANN)


def test_a_merge_makes_one_clip_whichever_is_named_first() -> None:
    one, other = clip(1, 0, 40), clip(2, 40, 100)
    assert merge(one, other, ANN).made == merge(other, one, ANN).made == (Stretch(7, 0, 100),)


@pytest.mark.parametrize(
    "other", [clip(2, 41, 100), clip(2, 20, 60), replace(clip(2, 40, 100), source_id=8), clip(1, 0, 40)]
)
def test_only_neighbours_can_be_merged(other: Clip) -> None:
    with pytest.raises(EditRefused):
        merge(clip(1, 0, 40), other, ANN)


@pytest.mark.parametrize(
    "state", sorted(set(ClipState) - {ClipState.PENDING_REVIEW, ClipState.REVIEW_SKIPPED, ClipState.REVIEW_APPROVED})
)
def test_cuts_of_clips_that_a_stage_works_on_or_has_done_stay(state: ClipState) -> None:
    with pytest.raises(EditRefused, match="cannot be changed now"):
        split(clip(state=state), 50, ANN)
    with pytest.raises(EditRefused, match="cannot be changed now"):
        merge(clip(1, 0, 40), clip(2, 40, 100, state), ANN)


def test_undo_puts_back_exactly_what_was() -> None:
    was = replace(clip(1), grouped_with=3, reviewed_by="Cy", reviewed_at=NOW - timedelta(hours=1))
    outcome = split(was, 50, ANN)
    now = {
        1: replace(was, live=False, settles_at=outcome.settles_at, reviewed_by="Ann", reviewed_at=NOW),
        8: clip(8, 0, 50, ClipState.EDIT_PENDING),
        9: clip(9, 50, 100, ClipState.EDIT_PENDING),
    }
    restored = undo(done(outcome, (8, 9)), now, NOW + timedelta(seconds=59))
    assert restored.unmade == (8, 9)
    assert restored.standings[1].reviewed_by == "Cy"
    assert restored.standings[1].grouped_with == 3
    assert restored.standings[1].live


@pytest.mark.parametrize("seconds", [60, 61, 3600])
def test_undo_comes_too_late_after_its_time(seconds: int) -> None:
    outcome = judge(ActionKind.ARCHIVE, [clip()], ANN)
    with pytest.raises(EditRefused, match="60 seconds"):
        undo(done(outcome), {1: clip()}, NOW + timedelta(seconds=seconds))


def test_what_was_undone_or_is_settled_cannot_be_undone() -> None:
    action = done(judge(ActionKind.ARCHIVE, [clip()], ANN))
    with pytest.raises(EditRefused, match="already"):
        undo(replace(action, undone_at=NOW), {1: clip()}, NOW)
    with pytest.raises(EditRefused, match="over"):
        undo(replace(action, settled_at=NOW), {1: clip()}, NOW)


def test_undo_is_refused_where_somebody_has_changed_the_clip_since() -> None:
    action = done(judge(ActionKind.SKIP, [clip()], ANN))
    with pytest.raises(EditRefused, match="changed again"):
        undo(action, {1: clip(state=ClipState.REVIEW_APPROVED)}, NOW)
    with pytest.raises(EditRefused, match="changed again"):
        undo(action, {}, NOW)


def test_a_split_whose_half_was_split_again_is_not_undone_before_that() -> None:
    outcome = split(clip(), 50, ANN)
    now = {
        1: replace(clip(), live=False, settles_at=outcome.settles_at, reviewed_by="Ann", reviewed_at=NOW),
        8: replace(clip(8, 0, 50, ClipState.EDIT_PENDING), live=False),
        9: clip(9, 50, 100, ClipState.EDIT_PENDING),
    }
    with pytest.raises(EditRefused, match="clip 8"):
        undo(done(outcome, (8, 9)), now, NOW)


def test_a_settled_edit_sends_its_clips_to_the_stages_and_the_old_ones_to_the_clean_up() -> None:
    outcome = split(clip(), 50, ANN)
    now = {
        1: replace(clip(), live=False),
        8: clip(8, 0, 50, ClipState.EDIT_PENDING),
        9: clip(9, 50, 100, ClipState.EDIT_PENDING),
    }
    settled = settle(done(outcome, (8, 9)), now)
    assert {id_: standing.state.value for id_, standing in settled.items()} == {
        8: "spliced", 9: "spliced", 1: "review_archived",
    }  # fmt: skip
    assert not settled[1].live
    assert settle(replace(done(outcome, (8, 9)), undone_at=NOW), now) == {}
    assert settle(done(judge(ActionKind.SKIP, [clip()], ANN)), {1: clip()}) == {}
