"""Clips that stages have worked on already are cut anew, undone and cleaned up."""

from __future__ import annotations

import pytest

from found_footy.errors import EditRefused
from found_footy.library.models import ClipState
from found_footy.library.review import EDITABLE, ActionKind
from found_footy.library.stages import STAGES, ItemKind, find_stage
from tests.library.test_leftovers import LATER, embedded, keys_of, named
from tests.library.test_review_actions import set_states
from tests.support.library_rows import ANNA, BEN, NOW, UNDO_FOR, LibraryStores, later, pending

PASSING = ("claimed_by", "claimed_until", "changed_at")
MODELS = {"mobilenet_v3_small": "another"}
"""One that no clip has a vector of."""


async def everything(stores: LibraryStores) -> list[object]:
    clips = await stores.rows("library_clips", without=PASSING)
    return [clips, await stores.rows("library_keyframes", "1, 2"), await stores.rows("library_embeddings", "clip_id")]


async def test_a_clip_of_the_library_is_merged_with_the_next_one_and_back(stores: LibraryStores) -> None:
    """About a minute after the first of them was approved, which is when one sees that they belong together."""
    one, two, _ = await stores.ready()
    await embedded(stores, one)
    before = await everything(stores)

    done = await stores.review.merge(two.id, one.id, later(BEN, 61))
    assert await stores.tiles(one.source_id) == [(0, 70), (70, 100)]
    await stores.review.undo(later(BEN, 120), done.id)
    await stores.review.release(BEN)
    assert await everything(stores) == before, "its pictures and its vector, too"

    done = await stores.review.merge(two.id, one.id, later(BEN, 121))
    assert await stores.review.settle_edit(done.id, later(BEN, 181).now)
    await stores.run("clean-up", one.id, later(BEN, 181).now)
    assert await stores.library.release_files(one.id) == keys_of(one, 2)
    assert await stores.library.keyframes(one.id) == []
    assert await stores.rows("library_embeddings", "1") == []
    assert not set(keys_of(one, 2)) & set(await named(stores))
    await stores.tiles(one.source_id)


@pytest.mark.parametrize("state", sorted(EDITABLE))
async def test_no_stage_takes_a_replaced_clip(stores: LibraryStores, state: ClipState) -> None:
    """Not before undo has ended, and then the clean-up alone. A failed one is not tried again either."""
    one, *_ = await stores.ready()
    await set_states(stores, [one.id], [state])
    async with stores.database.connection() as connection:
        await connection.execute("update library_clips set retry_at = %s where id = %s", [NOW, one.id])
        await connection.execute("insert into library_embeddings (clip_id) values (%s)", [one.id])
    done = await stores.review.split(one.id, 10, ANNA)
    stages = [stage for stage in STAGES if stage.item is ItemKind.CLIP]

    for now in (NOW, LATER):
        for stage in stages:
            assert one.id not in await pending(stores.library, stage.name, MODELS, now), stage.name
            assert not await stores.library.begin(stage, one.id, now), stage.name
    await stores.review.settle_edit(done.id, LATER)
    assert [stage.name for stage in stages if one.id in await pending(stores.library, stage.name, MODELS, LATER)] == [
        "clean-up"
    ]
    assert await stores.library.begin(find_stage("clean-up"), one.id, LATER)


async def test_edits_of_a_clip_in_a_stage_are_refused(stores: LibraryStores) -> None:
    one, two, _ = await stores.ready()
    await stores.review.decide(ActionKind.APPROVE, [one.id], ANNA)
    async with stores.stage("keyframes", one.id, LATER):
        for tried in (
            stores.review.split(one.id, 10, later(ANNA, 61)),
            stores.review.merge(one.id, two.id, later(ANNA, 61)),
        ):
            with pytest.raises(EditRefused, match="extracting keyframes, try again later"):
                await tried
        with pytest.raises(EditRefused, match="extracting keyframes, try again later"):
            await stores.review.group(two.id, one.id, later(ANNA, 61))
    await stores.review.merge(one.id, two.id, later(ANNA, 61))


async def test_approval_and_archiving_can_be_undone_in_turn(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    await stores.review.decide(ActionKind.APPROVE, [one.id], ANNA)
    await stores.review.decide(ActionKind.ARCHIVE, [one.id], later(ANNA, 30))
    assert not await stores.library.begin(find_stage("clean-up"), one.id, LATER)
    assert not await stores.library.begin(find_stage("keyframes"), one.id, LATER)

    await stores.review.undo(later(ANNA, 40))
    clip = await stores.library.clip(one.id)
    assert (clip.state, clip.settles_at) == (ClipState.REVIEW_APPROVED, NOW + UNDO_FOR)
    await stores.review.undo(later(ANNA, 50))
    assert (await stores.library.clip(one.id)).state is ClipState.PENDING_REVIEW
