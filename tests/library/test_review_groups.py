"""Groups of more than two: they stay together whatever becomes of their clips, and undo puts them back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from found_footy.errors import EditRefused
from found_footy.library.models import ClipState, LibraryClip
from found_footy.library.review import ActionRecord
from tests.support.library_rows import ANNA, NOW, UNDO_FOR, LibraryStores, later

PASSING = ("claimed_by", "claimed_until", "changed_at")


async def six(stores: LibraryStores) -> list[LibraryClip]:
    """Two groups of three: the second clip points at the first, the third was grouped with the second."""
    clips = await stores.ready(frames=600, cuts=range(100, 600, 100))
    for seconds, number in enumerate((1, 2, 4, 5)):
        await stores.review.group(clips[number].id, clips[number - 1].id, later(ANNA, seconds / 10))
    return await stores.library.clips_of(clips[0].source_id)


async def pointers(stores: LibraryStores, source_id: int) -> dict[int, int | None]:
    return {clip.first: clip.grouped_with for clip in await stores.library.clips_of(source_id) if clip.live}


async def test_joining_groups_can_be_undone(stores: LibraryStores) -> None:
    clips = await six(stores)
    one, *_, four, five, _ = clips
    assert await pointers(stores, one.source_id) == {
        0: None, 100: one.id, 200: one.id, 300: None, 400: four.id, 500: four.id,
    }  # fmt: skip
    before = await stores.rows("library_clips", without=PASSING)

    done = await stores.review.group(four.id, clips[2].id, later(ANNA, 5))

    assert set((await pointers(stores, one.source_id)).values()) == {None, one.id}
    assert done.after.keys() == {clips[2].id, four.id, five.id, clips[5].id}
    with pytest.raises(EditRefused, match="already grouped"):
        await stores.review.group(one.id, clips[5].id, later(ANNA, 6))
    await stores.review.undo(later(ANNA, 7))
    assert await stores.rows("library_clips", without=PASSING) == before


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("kind", ["split", "merge"])
async def test_created_clips_stay_in_the_group(stores: LibraryStores, which: int, kind: str) -> None:
    """Whether it is the one that the others point at or not."""
    clips = await six(stores)
    before = await stores.rows("library_clips", without=PASSING)
    cut = clips[which]

    async def edit(seconds: float) -> ActionRecord:
        who = later(ANNA, seconds)
        if kind == "split":
            return await stores.review.split(cut.id, cut.first + 10, who)
        return await stores.review.merge(cut.id, clips[which + 1].id, who)

    await edit(5)
    await stores.review.undo(later(ANNA, 6))
    assert await stores.rows("library_clips", without=PASSING) == before

    done = await edit(7)
    assert {(await stores.library.clip(id_)).grouped_with for id_ in done.made} == {clips[0].id}
    assert await stores.review.settle_edit(done.id, later(ANNA, 67).now)
    kept = await pointers(stores, cut.source_id)
    first, *others = [kept[at] for at in sorted(kept) if at < 300]
    assert set(others) == {clips[0].id}
    assert first == (None if which else clips[0].id), "it stands for the group itself, where it is still there"


async def test_a_group_outlives_its_first_clip(stores: LibraryStores) -> None:
    clips = await six(stores)
    done = await stores.review.split(clips[0].id, 10, later(ANNA, 5))
    await stores.review.settle_edit(done.id, later(ANNA, 65).now)

    await stores.review.group(clips[3].id, clips[2].id, later(ANNA, 66))

    assert set((await pointers(stores, clips[0].source_id)).values()) == {clips[0].id}


async def test_a_merge_across_groups_joins_them_until_undone(stores: LibraryStores) -> None:
    clips = await six(stores)
    before = await stores.rows("library_clips", without=PASSING)
    done = await stores.review.merge(clips[2].id, clips[3].id, later(ANNA, 5))
    assert set((await pointers(stores, clips[0].source_id)).values()) == {None, clips[0].id}
    await stores.review.undo(later(ANNA, 6), done.id)
    assert await stores.rows("library_clips", without=PASSING) == before


async def test_a_group_does_not_move_while_an_edit_of_it_can_be_undone(stores: LibraryStores) -> None:
    """Undo would bring back a clip that points where the group was."""
    clips = await six(stores)
    split = await stores.review.split(clips[5].id, 510, later(ANNA, 5))
    with pytest.raises(EditRefused, match=f"cannot move clip {split.made[0]} to another group: it is just edited"):
        await stores.review.group(clips[3].id, clips[2].id, later(ANNA, 6))


async def test_concurrent_joins_keep_group_ids_valid(stores: LibraryStores) -> None:
    clips = await stores.ready(frames=800, cuts=range(100, 800, 100))
    ids = [clip.id for clip in clips]

    async def tried(action: Callable[[], Awaitable[ActionRecord]]) -> None:
        try:
            await action()
        except EditRefused:
            return

    def group(one: int, other: int) -> Callable[[], Awaitable[ActionRecord]]:
        return lambda: stores.review.group(ids[one], ids[other], ANNA)

    def undo(number: int) -> Callable[[], Awaitable[ActionRecord]]:
        return lambda: stores.review.undo(later(ANNA, number))

    pairs = [(1, 0), (3, 2), (2, 1), (5, 4), (4, 3), (7, 6), (0, 7), (6, 5)]
    await asyncio.gather(*(tried(group(*pair)) for pair in pairs), *(tried(undo(number)) for number in range(1, 4)))

    at = {clip.id: clip.grouped_with for clip in await stores.library.clips_of(clips[0].source_id)}
    assert all(root is None or at[root] is None for root in at.values()), at


async def test_embedded_clips_are_grouped_without_another_review(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    when = NOW + UNDO_FOR
    await stores.review.group(two.id, one.id, ANNA)
    for clip in (one, two):
        await stores.run("keyframes", clip.id, when)
    await stores.run("embeddings", one.id, when)

    await stores.review.group(three.id, two.id, later(ANNA, 61))

    states = [(await stores.library.clip(clip.id)).state for clip in (one, two, three)]
    assert states == [ClipState.EMBEDDED, ClipState.KEYFRAMED, ClipState.REVIEW_APPROVED]
    assert await pointers(stores, one.source_id) == {0: None, 40: one.id, 70: one.id}
    await stores.review.undo(later(ANNA, 62))
    assert (await stores.library.clip(two.id)).state is ClipState.KEYFRAMED
    assert (await stores.library.clip(three.id)).grouped_with is None
