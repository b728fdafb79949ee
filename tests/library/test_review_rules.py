"""What each action of review changes, what it refuses, and that undo puts everything back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from found_footy.errors import EditRefused
from found_footy.library.models import APPROVED, ARCHIVED, ClipState, LibraryClip
from found_footy.library.review import (
    EDITABLE,
    ActionKind,
    ActionRecord,
    FrameRange,
    ReviewChange,
    Reviewer,
    decide,
    group,
    merge,
    settle,
    split,
    undo,
)
from found_footy.library.stages import IN_PROGRESS

NOW = datetime(2026, 11, 16, 20, 0, tzinfo=UTC)
ANN, BEN = Reviewer("window-1", "Ann", NOW), Reviewer("window-2", "Ben", NOW)


def clip(id_: int = 1, first: int = 0, end: int = 100, state: ClipState = ClipState.PENDING_REVIEW) -> LibraryClip:
    return LibraryClip(id_, 7, first, end, state)


def done(outcome: ReviewChange, made: tuple[int, ...] = ()) -> ActionRecord:
    return ActionRecord(5, outcome.kind, ANN.id, NOW, outcome.settles_at, outcome.before, outcome.after, made)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ActionKind.APPROVE, ClipState.REVIEW_APPROVED),
        (ActionKind.SKIP, ClipState.REVIEW_SKIPPED),
        (ActionKind.ARCHIVE, ClipState.REVIEW_ARCHIVED),
    ],
)
def test_a_simple_action_moves_all_its_clips(kind: ActionKind, expected: ClipState) -> None:
    outcome = decide(kind, [clip(1), clip(2, 100, 200)], ANN)
    assert {standing.state for standing in outcome.after.values()} == {expected}
    assert all(standing.reviewed_by == "Ann" for standing in outcome.after.values())
    assert all(standing.settles_at == NOW + timedelta(seconds=60) for standing in outcome.after.values())
    assert outcome.made == ()


def test_a_bulk_action_is_refused_as_a_whole() -> None:
    with pytest.raises(EditRefused, match="clip 2 cannot be approved: it is archived and cleaned up"):
        decide(ActionKind.APPROVE, [clip(1), clip(2, 100, 200, ClipState.ARCHIVED)], ANN)


@pytest.mark.parametrize(
    ("kind", "already", "said"),
    [
        (ActionKind.APPROVE, APPROVED, "approved"),
        (ActionKind.SKIP, {ClipState.REVIEW_SKIPPED}, "skipped"),
        (ActionKind.ARCHIVE, ARCHIVED, "archived"),
    ],
)
def test_clips_already_in_the_target_state_are_skipped(kind: ActionKind, already: set[ClipState], said: str) -> None:
    for state in already:
        so = replace(clip(2, 100, 200, state), claimed_by=BEN.id, claimed_until=NOW + timedelta(seconds=5))
        outcome = decide(kind, [clip(1), so], ANN)
        assert outcome.after.keys() == outcome.before.keys() == {1}, "what did not change is not undone"
        with pytest.raises(EditRefused, match=f"clip 2 is already {said}"):
            decide(kind, [so], ANN)
        with pytest.raises(EditRefused, match=f"all 2 clips are already {said}"):
            decide(kind, [so, replace(so, id=3)], ANN)
        with pytest.raises(EditRefused, match="clip 2 was split or merged"):
            decide(kind, [clip(1), replace(so, live=False)], ANN)


def test_an_action_keeps_a_clip_in_its_group() -> None:
    assert decide(ActionKind.APPROVE, [replace(clip(1), grouped_with=3)], ANN).after[1].grouped_with == 3


@pytest.mark.parametrize("clips", [[], [clip(1), clip(1)]])
def test_an_action_needs_clips_each_named_once(clips: list[LibraryClip]) -> None:
    with pytest.raises(EditRefused):
        decide(ActionKind.APPROVE, clips, ANN)


@pytest.mark.parametrize("kind", [ActionKind.GROUP, ActionKind.MERGE, ActionKind.SPLIT])
def test_actions_with_parameters_are_rejected_by_decide(kind: ActionKind) -> None:
    with pytest.raises(EditRefused):
        decide(kind, [clip()], ANN)


def test_actions_on_a_clip_claimed_by_another_reviewer_are_refused() -> None:
    taken = replace(clip(), claimed_by=BEN.id, claimed_until=NOW + timedelta(seconds=5))
    with pytest.raises(EditRefused, match="another reviewer"):
        decide(ActionKind.APPROVE, [taken], ANN)
    assert decide(ActionKind.APPROVE, [taken], BEN)
    assert decide(ActionKind.APPROVE, [replace(taken, claimed_until=NOW)], ANN), "the claim is over"


def test_actions_on_a_replaced_clip_are_refused() -> None:
    with pytest.raises(EditRefused, match="split or merged"):
        decide(ActionKind.APPROVE, [replace(clip(), live=False)], ANN)


A, B, C, D = clip(1), clip(2, 100, 200), clip(3, 200, 300), clip(4, 300, 400)


def of(root: int, member: LibraryClip) -> LibraryClip:
    return replace(member, grouped_with=root)


@pytest.mark.parametrize(
    ("one", "other", "kin", "pointers"),
    [
        (B, A, [], {1: None, 2: 1}),
        # A third one joins, whichever of the group it is grouped with.
        (C, A, [of(1, B)], {1: None, 3: 1}),
        (C, of(1, B), [A], {2: 1, 3: 1}),
        # One that is alone joins, also where it is named last: nobody else has to move.
        (B, A, [of(2, C)], {1: 2, 2: None}),
        (of(2, C), A, [B], {1: 2, 3: 2}),
        # Two groups become one.
        (C, of(1, B), [A, of(3, D)], {2: 1, 3: 1, 4: 1}),
        (of(3, D), A, [C, of(1, B)], {1: None, 3: 1, 4: 1}),
        # The clip that a group began with may be gone.
        (C, of(9, B), [of(9, A)], {2: 9, 3: 9}),
        (of(9, B), C, [of(9, A), of(3, D)], {1: 3, 2: 3, 3: None}),
    ],
)
def test_group_members_point_at_the_first_clip(
    one: LibraryClip, other: LibraryClip, kin: list[LibraryClip], pointers: dict[int, int | None]
) -> None:
    outcome = group(one, other, kin, ANN)
    assert {id_: standing.grouped_with for id_, standing in outcome.after.items()} == pointers
    for id_ in (one.id, other.id):
        assert outcome.after[id_].state is ClipState.REVIEW_APPROVED
    for each in kin:
        if each.id in outcome.after:
            moved = outcome.after[each.id]
            assert (moved.state, moved.reviewed_by) == (each.state, None), "nobody has judged it"
            assert moved.settles_at == outcome.settles_at


@pytest.mark.parametrize(
    ("one", "other"), [(A, A), (B, of(2, A)), (of(1, B), A), (of(9, A), of(9, B))]
)  # fmt: skip
def test_a_clip_is_not_grouped_with_itself_or_its_own_group(one: LibraryClip, other: LibraryClip) -> None:
    with pytest.raises(EditRefused, match=r"with itself|already grouped"):
        group(one, other, [], ANN)


@pytest.mark.parametrize("state", ClipState)
def test_grouping_keeps_approved_states(state: ClipState) -> None:
    grouped = replace(B, state=state)
    if state in IN_PROGRESS - ARCHIVED:
        with pytest.raises(EditRefused, match=r"cannot group clip 2: it is .*, try again later"):
            group(grouped, A, [], ANN)
    elif state in APPROVED:
        assert group(grouped, A, [], ANN).after[2].state is state
    elif state in (ClipState.PENDING_REVIEW, ClipState.REVIEW_SKIPPED):
        assert group(grouped, A, [], ANN).after[2].state is ClipState.REVIEW_APPROVED
    else:
        with pytest.raises(EditRefused, match=r"clip 2 cannot be approved"):
            group(grouped, A, [], ANN)


@pytest.mark.parametrize("state", ClipState)
def test_a_group_moves_only_if_all_members_are_idle(state: ClipState) -> None:
    """Else undo could not put it back."""
    kin = [of(1, B), replace(of(3, D), state=state)]
    if state in IN_PROGRESS or state is ClipState.EDIT_PENDING:
        with pytest.raises(EditRefused, match=r"cannot move clip 4 to another group"):
            group(C, A, kin, ANN)
    else:
        assert group(C, A, kin, ANN).after[4].state is state
    with pytest.raises(EditRefused, match="clip 4 is claimed by another reviewer"):
        group(C, A, [of(1, B), replace(kin[1], claimed_by=BEN.id, claimed_until=NOW + timedelta(seconds=5))], ANN)


@pytest.mark.parametrize(
    ("cut", "kin", "expected"), [(A, [], None), (A, [of(1, B)], 1), (of(1, B), [A], 1), (of(9, B), [], 9)]
)
def test_split_clips_stay_in_the_group(cut: LibraryClip, kin: list[LibraryClip], expected: int | None) -> None:
    outcome = split(cut, cut.first + 1, kin, ANN)
    assert [stretch.grouped_with for stretch in outcome.made] == [expected, expected]
    assert outcome.after.keys() == {cut.id}, "nobody else's pointer moves"


@pytest.mark.parametrize(
    ("earlier", "later", "kin", "expected", "moved"),
    [
        (A, B, [], None, {}),
        (A, B, [of(1, C)], 1, {}),
        (A, B, [of(2, C)], 2, {}),
        (A, of(1, B), [], 1, {}),
        (of(2, A), B, [of(2, C)], 2, {}),
        (of(9, A), B, [of(2, C)], 9, {3: 9}),
        (A, of(8, B), [of(1, C), of(8, D)], 1, {4: 1}),
    ],
)
def test_a_merged_clip_joins_both_groups(
    earlier: LibraryClip, later: LibraryClip, kin: list[LibraryClip], expected: int | None, moved: dict[int, int]
) -> None:
    for one, other in ((earlier, later), (later, earlier)):
        outcome = merge(one, other, kin, ANN)
        assert outcome.made[0].grouped_with == expected
        others = {id_: each.grouped_with for id_, each in outcome.after.items() if id_ > 2}
        assert others == moved
        assert [outcome.after[id_].grouped_with for id_ in (1, 2)] == [earlier.grouped_with, later.grouped_with]


def test_a_split_replaces_a_clip_by_two() -> None:
    outcome = split(clip(1, 50, 100), 51, [], ANN)
    assert outcome.made == (FrameRange(7, 50, 51), FrameRange(7, 51, 100))
    assert not outcome.after[1].live
    assert outcome.after[1].state is ClipState.PENDING_REVIEW


@pytest.mark.parametrize("at", [-1, 0, 49, 50, 100, 101])
def test_a_split_at_an_edge_is_refused(at: int) -> None:
    with pytest.raises(EditRefused, match="choose a frame from"):
        split(clip(1, 50, 100), at, [], ANN)


def test_a_merge_is_symmetric() -> None:
    one, other = clip(1, 0, 40), clip(2, 40, 100)
    assert merge(one, other, [], ANN).made == merge(other, one, [], ANN).made == (FrameRange(7, 0, 100),)


@pytest.mark.parametrize(
    "other", [clip(2, 41, 100), clip(2, 20, 60), replace(clip(2, 40, 100), source_id=8), clip(1, 0, 40)]
)
def test_only_neighbours_can_be_merged(other: LibraryClip) -> None:
    with pytest.raises(EditRefused):
        merge(clip(1, 0, 40), other, [], ANN)


@pytest.mark.parametrize("state", ClipState)
def test_idle_clips_can_be_cut_in_every_state(state: ClipState) -> None:
    neighbours = clip(1, 0, 40), clip(2, 40, 100, state)
    if state in EDITABLE:
        assert split(clip(state=state), 50, [], ANN).after[1].state is state
        assert merge(*neighbours, [], ANN).after[2].state is state
        return
    then = ", try again later" if state in IN_PROGRESS - ARCHIVED else "$"
    with pytest.raises(EditRefused, match=f"cannot edit clip 1: it is .*{then}"):
        split(clip(state=state), 50, [], ANN)
    with pytest.raises(EditRefused, match=f"cannot edit clip 2: it is .*{then}"):
        merge(*neighbours, [], ANN)


def test_undo_restores_all_fields() -> None:
    was = replace(clip(1), grouped_with=3, reviewed_by="Cy", reviewed_at=NOW - timedelta(hours=1))
    outcome = split(was, 50, [], ANN)
    now = {
        1: replace(was, live=False, settles_at=outcome.settles_at, reviewed_by="Ann", reviewed_at=NOW),
        8: clip(8, 0, 50, ClipState.EDIT_PENDING),
        9: clip(9, 50, 100, ClipState.EDIT_PENDING),
    }
    restored = undo(done(outcome, (8, 9)), now, NOW + timedelta(seconds=59))
    assert restored.deleted == (8, 9)
    assert restored.fields[1].reviewed_by == "Cy"
    assert restored.fields[1].grouped_with == 3
    assert restored.fields[1].live


@pytest.mark.parametrize("seconds", [60, 61, 3600])
def test_undo_is_refused_when_its_window_has_passed(seconds: int) -> None:
    outcome = decide(ActionKind.ARCHIVE, [clip()], ANN)
    with pytest.raises(EditRefused, match="undo window of 60 s has passed"):
        undo(done(outcome), {1: clip()}, NOW + timedelta(seconds=seconds))


def test_undone_and_settled_actions_cannot_be_undone() -> None:
    action = done(decide(ActionKind.ARCHIVE, [clip()], ANN))
    with pytest.raises(EditRefused, match="already"):
        undo(replace(action, undone_at=NOW), {1: clip()}, NOW)
    with pytest.raises(EditRefused, match="has passed"):
        undo(replace(action, settled_at=NOW), {1: clip()}, NOW)


def test_undo_is_refused_after_another_change() -> None:
    action = done(decide(ActionKind.SKIP, [clip()], ANN))
    again = replace(clip(state=ClipState.REVIEW_APPROVED), reviewed_by="Ben", reviewed_at=NOW)
    with pytest.raises(EditRefused, match="clip 1 was changed since, undo that first"):
        undo(action, {1: again}, NOW)
    with pytest.raises(EditRefused, match="clip 1 was deleted"):
        undo(action, {}, NOW)


def test_undo_names_the_stage_that_took_the_clip() -> None:
    outcome = decide(ActionKind.APPROVE, [clip()], ANN)
    taken = replace(
        clip(state=ClipState.KEYFRAMING), settles_at=outcome.settles_at, reviewed_by="Ann", reviewed_at=NOW
    )  # fmt: skip
    with pytest.raises(EditRefused, match="clip 1 is now extracting keyframes"):
        undo(done(outcome), {1: taken}, NOW)


def test_a_split_whose_half_was_split_again_is_not_undone_before_that() -> None:
    outcome = split(clip(), 50, [], ANN)
    now = {
        1: replace(clip(), live=False, settles_at=outcome.settles_at, reviewed_by="Ann", reviewed_at=NOW),
        8: replace(clip(8, 0, 50, ClipState.EDIT_PENDING), live=False),
        9: clip(9, 50, 100, ClipState.EDIT_PENDING),
    }
    with pytest.raises(EditRefused, match="clip 8"):
        undo(done(outcome, (8, 9)), now, NOW)


def test_a_settled_edit_sends_its_clips_to_the_stages_and_the_old_ones_to_the_clean_up() -> None:
    outcome = split(clip(), 50, [], ANN)
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
    assert settle(done(decide(ActionKind.SKIP, [clip()], ANN)), {1: clip()}) == {}


def test_regrouped_members_are_not_settled() -> None:
    """Also where it was split itself meanwhile: that has its own time."""
    outcome = merge(of(9, A), of(8, B), [of(8, C)], ANN)
    assert outcome.after[3].grouped_with == 9
    gone = {each.id: replace(each, live=False) for each in (A, B, C)}
    now = {**gone, 7: clip(7, 0, 200, ClipState.EDIT_PENDING)}
    assert settle(done(outcome, (7,)), now).keys() == {1, 2, 7}


@pytest.mark.parametrize(("id_", "state"), [(1, ClipState.KEYFRAMING), (8, ClipState.PENDING_REVIEW)])
def test_settling_requires_an_expected_state(id_: int, state: ClipState) -> None:
    outcome = split(clip(), 50, [], ANN)
    now = {
        1: replace(clip(), live=False),
        8: clip(8, 0, 50, ClipState.EDIT_PENDING),
        9: clip(9, 50, 100, ClipState.EDIT_PENDING),
    }
    with pytest.raises(EditRefused, match=f"cannot settle the edit of clip {id_}"):
        settle(done(outcome, (8, 9)), now | {id_: replace(now[id_], state=state)})
