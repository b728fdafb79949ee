"""Splits and merges: data at once, taken back for a minute, and settled after it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from found_footy.errors import EditRefused, NotFound
from found_footy.library.models import ClipState
from found_footy.library.review import ActionKind, ActionRecord
from tests.support.library_rows import ANNA, BEN, LEASE, NOW, UNDO_FOR, LibraryStores, later


async def test_a_split_takes_effect_at_once_and_keeps_all_frames(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()

    done = await stores.review.split(two.id, 50, ANNA)

    assert await stores.tiles(one.source_id) == [(0, 40), (40, 50), (50, 70), (70, 100)]
    made = [await stores.library.clip(id_) for id_ in done.made]
    assert [(clip.first, clip.end, clip.state) for clip in made] == [
        (40, 50, ClipState.EDIT_PENDING),
        (50, 70, ClipState.EDIT_PENDING),
    ]
    assert all(clip.made_by == done.id and clip.settles_at == NOW + UNDO_FOR for clip in made)
    before = await stores.library.clip(two.id)
    assert (before.live, before.state, before.claimed_by) == (False, ClipState.PENDING_REVIEW, None)
    assert before.sprite == two.sprite, "the page shows its sheet until the new clips have theirs"
    assert (done.kind, done.reviewer, done.name) == (ActionKind.SPLIT, ANNA.id, "Anna")
    assert three == await stores.library.clip(three.id)


@pytest.mark.parametrize("turned", [False, True])
async def test_a_merge_creates_one_clip_in_either_order(stores: LibraryStores, turned: bool) -> None:
    one, two, _ = await stores.ready()
    pair = (two.id, one.id) if turned else (one.id, two.id)

    done = await stores.review.merge(*pair, ANNA)

    assert await stores.tiles(one.source_id) == [(0, 70), (70, 100)]
    assert len(done.made) == 1


@pytest.mark.parametrize("kind", ["split", "merge", "move_cut"])
async def test_undo_restores_every_row(stores: LibraryStores, kind: str) -> None:
    one, two, _ = await stores.ready()
    claims = ("claimed_by", "claimed_until", "changed_at")
    before = await stores.rows("library_clips", without=claims)

    done = await _edit(stores, kind, one.id, two.id)
    undone = await stores.review.undo(later(ANNA, 59))

    assert await stores.rows("library_clips", without=claims) == before
    assert (undone.id, undone.undone_at) == (done.id, NOW + timedelta(seconds=59))
    assert not await stores.review.settle_edit(done.id, NOW + timedelta(seconds=61))
    assert await stores.rows("library_clips", without=claims) == before


async def test_undone_clips_are_claimed_by_their_reviewer(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    await stores.review.decide(ActionKind.SKIP, [one.id], ANNA)
    await stores.review.undo(later(ANNA, 1))

    clip = await stores.library.clip(one.id)
    assert (clip.state, clip.claimed_by) == (ClipState.PENDING_REVIEW, ANNA.id)
    assert one.id not in {each.id for each in await stores.review.claim(BEN, LEASE, 9)}


@pytest.mark.parametrize("kind", ["split", "merge", "move_cut"])
async def test_an_edit_settles_once_after_its_undo_window(stores: LibraryStores, kind: str) -> None:
    one, two, _ = await stores.ready()
    done = await _edit(stores, kind, one.id, two.id)
    assert not await stores.review.settle_edit(done.id, NOW + UNDO_FOR - timedelta(microseconds=1))
    assert await stores.review.settle_edit(done.id, NOW + UNDO_FOR)
    assert not await stores.review.settle_edit(done.id, NOW + UNDO_FOR)

    assert {(await stores.library.clip(id_)).state for id_ in done.made} == {ClipState.SPLICED}
    old = [await stores.library.clip(id_) for id_ in done.after]
    assert {(clip.state, clip.live) for clip in old} == {(ClipState.REVIEW_ARCHIVED, False)}
    assert await stores.review.settle_due_edits(NOW + UNDO_FOR, 9) == 0
    with pytest.raises(EditRefused, match="the undo window of 60 s has passed"):
        await stores.review.undo(later(ANNA, 61), done.id)
    await stores.tiles(one.source_id)


async def test_an_unknown_action_is_not_settled(stores: LibraryStores) -> None:
    assert not await stores.review.settle_edit(4711, NOW)


async def test_undo_is_refused_after_the_undo_window(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    await stores.review.decide(ActionKind.APPROVE, [one.id], ANNA)

    with pytest.raises(EditRefused, match="the undo window of 60 s has passed"):
        await stores.review.undo(later(ANNA, 61))

    assert (await stores.library.clip(one.id)).state is ClipState.REVIEW_APPROVED


async def test_a_second_undo_is_refused(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    done = await stores.review.split(one.id, 10, ANNA)
    await stores.review.undo(later(ANNA, 1))

    with pytest.raises(EditRefused, match="already undone"):
        await stores.review.undo(later(ANNA, 2), done.id)
    with pytest.raises(EditRefused, match="nothing to undo"):
        await stores.review.undo(later(ANNA, 2))
    with pytest.raises(NotFound, match="action 4711 not found"):
        await stores.review.undo(later(ANNA, 2), 4711)


async def test_later_changes_must_be_undone_first(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    skipped = await stores.review.decide(ActionKind.SKIP, [one.id], ANNA)
    split = await stores.review.split(one.id, 10, later(BEN, 5))

    with pytest.raises(EditRefused, match="was changed since"):
        await stores.review.undo(later(ANNA, 6))
    assert (await stores.review.undo(later(BEN, 7))).id == split.id
    assert (await stores.review.undo(later(ANNA, 8))).id == skipped.id
    clip = await stores.library.clip(one.id)
    assert (clip.state, clip.live, clip.settles_at) == (ClipState.PENDING_REVIEW, True, None)


async def test_undo_defaults_to_the_reviewers_last_action(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    first = await stores.review.decide(ActionKind.SKIP, [one.id], ANNA)
    second = await stores.review.decide(ActionKind.SKIP, [two.id], later(BEN, 1))
    third = await stores.review.decide(ActionKind.SKIP, [three.id], later(ANNA, 2))

    assert (await stores.review.undo(later(ANNA, 3))).id == third.id
    assert (await stores.review.undo(later(ANNA, 4), second.id)).id == second.id
    assert (await stores.review.undo(later(ANNA, 5))).id == first.id


@pytest.mark.parametrize("at", [40, 39, 70, 71, -1, 0, 2**40])
async def test_a_split_outside_the_clip_is_refused(stores: LibraryStores, at: int) -> None:
    one, two, _ = await stores.ready()
    with pytest.raises(EditRefused, match="choose a frame from"):
        await stores.review.split(two.id, at, ANNA)
    assert await stores.tiles(one.source_id) == [(0, 40), (40, 70), (70, 100)]


async def test_only_adjacent_clips_of_one_source_are_merged(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    (other,) = await stores.ready(cuts=(), name="other")
    for pair, why in [
        ((one.id, three.id), "not adjacent"),
        ((one.id, other.id), "different sources"),
        ((two.id, two.id), "not adjacent"),
    ]:
        with pytest.raises(EditRefused, match=why):
            await stores.review.merge(*pair, ANNA)
    with pytest.raises(NotFound, match="clip 4711 not found"):
        await stores.review.merge(one.id, 4711, ANNA)
    assert await stores.rows("library_actions") == []


async def test_a_moved_cut_is_one_action_that_keeps_the_groups(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    await stores.review.group(two.id, three.id, ANNA)
    done = await stores.review.move_cut(two.id, one.id, 55, later(ANNA, 1))
    assert (done.kind, sorted(done.after)) == (ActionKind.MOVE_CUT, [one.id, two.id])
    assert await stores.tiles(one.source_id) == [(0, 55), (55, 70), (70, 100)]
    earlier, later_one = [await stores.library.clip(id_) for id_ in done.made]
    assert (earlier.grouped_with, later_one.grouped_with) == (None, three.id)
    assert (await stores.review.undo(later(ANNA, 2))).id == done.id
    assert await stores.tiles(one.source_id) == [(0, 40), (40, 70), (70, 100)]


@pytest.mark.parametrize(
    ("at", "reason"), [(40, "already at frame 40"), (0, "choose a frame from 1 to 69"), (70, "choose a frame from")]
)
async def test_a_cut_moves_only_within_its_two_clips(stores: LibraryStores, at: int, reason: str) -> None:
    one, two, three = await stores.ready()
    with pytest.raises(EditRefused, match=reason):
        await stores.review.move_cut(one.id, two.id, at, ANNA)
    with pytest.raises(EditRefused, match="not adjacent"):
        await stores.review.move_cut(one.id, three.id, 50, ANNA)


async def test_of_concurrent_splits_of_a_clip_one_succeeds(stores: LibraryStores) -> None:
    one, two, _ = await stores.ready()

    results = await asyncio.gather(
        *(stores.review.split(two.id, 45 + number, who) for number, who in enumerate([ANNA, BEN] * 4)),
        return_exceptions=True,
    )

    done = [each for each in results if isinstance(each, ActionRecord)]
    refused = [each for each in results if isinstance(each, EditRefused)]
    assert (len(done), len(refused)) == (1, 7), results
    assert {str(each) for each in refused} == {f"clip {two.id} was split or merged"}
    assert len(await stores.tiles(one.source_id)) == 4
    assert len(await stores.rows("library_actions")) == 1


async def test_concurrent_edits_of_a_source_keep_its_tiling(stores: LibraryStores) -> None:
    clips = await stores.ready(frames=600, cuts=range(100, 600, 100))
    ids = [clip.id for clip in clips]

    async def edit(number: int) -> None:
        who = later(ANNA if number % 2 else BEN, number / 10)
        for attempt in range(3):
            try:
                if (number + attempt) % 3:
                    await stores.review.split(ids[number % 6], 100 * (number % 6) + 50, who)
                else:
                    await stores.review.merge(ids[number % 5], ids[number % 5 + 1], who)
                if attempt:
                    await stores.review.undo(who)
            except EditRefused:
                continue

    await asyncio.gather(*(edit(number) for number in range(12)))
    await stores.tiles(clips[0].source_id)


async def _edit(stores: LibraryStores, kind: str, one: int, two: int) -> ActionRecord:
    if kind == "move_cut":
        return await stores.review.move_cut(one, two, 43, ANNA)
    return await (stores.review.split(one, 10, ANNA) if kind == "split" else stores.review.merge(one, two, ANNA))


async def verdicts(stores: LibraryStores) -> set[tuple[int, int, bool]]:
    return {(row["one"], row["other"], row["same"]) for row in await stores.rows("library_verdicts", "one")}


async def test_a_merged_clip_inherits_verdicts_on_which_its_parts_agree(stores: LibraryStores) -> None:
    one, two, _ = await stores.ready()
    x, y, z = await stores.ready(name="other")
    for part, beside, same in ((one, x, True), (two, y, False), (one, z, True), (two, z, False), (one, two, False)):
        await stores.review.set_verdict(part.id, beside.id, same, ANNA)
    before = await verdicts(stores)
    done = await stores.review.merge(one.id, two.id, ANNA)
    assert await verdicts(stores) == before, "it can still be undone"
    assert await stores.review.settle_edit(done.id, done.settles_at)
    (made,) = done.made
    assert await verdicts(stores) - before == {(x.id, made, True), (y.id, made, False)}


async def test_split_clips_inherit_only_negative_verdicts(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    await stores.review.set_verdict(one.id, two.id, True, ANNA)
    await stores.review.set_verdict(one.id, three.id, False, ANNA)
    before = await verdicts(stores)
    done = await stores.review.split(one.id, 10, ANNA)
    assert await stores.review.settle_edit(done.id, done.settles_at)
    assert await verdicts(stores) - before == {(three.id, half, False) for half in done.made}


async def test_clips_with_a_moved_cut_inherit_the_verdicts_of_their_predecessors(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    (x,) = await stores.ready(cuts=(), name="other")
    await stores.review.set_verdict(one.id, x.id, True, ANNA)
    await stores.review.set_verdict(two.id, three.id, False, ANNA)
    before = await verdicts(stores)
    done = await stores.review.move_cut(one.id, two.id, 30, ANNA)
    assert await stores.review.settle_edit(done.id, done.settles_at)
    earlier, later_one = done.made
    assert await verdicts(stores) - before == {(x.id, earlier, True), (three.id, later_one, False)}
