"""A source leaves the library: by its clips, or at once where it has none."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from found_footy.errors import EditRefused, NotFound
from found_footy.library.models import ClipState, RemovalResult, clip_file_key, master_key, sprite_key, upload_key
from found_footy.library.review import ActionKind
from found_footy.library.stages import find_stage
from tests.library.goals import VIDEO, add_goal
from tests.support.library_rows import ANNA, BEN, NOW, UNDO_FOR, LibraryStores, later

AFTER = NOW + UNDO_FOR


async def named(stores: LibraryStores) -> list[str]:
    async with aclosing(stores.library.expected_keys()) as keys:
        return [key async for key in keys]


async def cleaned_up(stores: LibraryStores, clip_id: int) -> list[str]:
    async with stores.stage("clean-up", clip_id, AFTER):
        return await stores.library.release_files(clip_id)


async def test_all_clips_are_archived_as_one_action_that_can_be_undone(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    await stores.review.decide(ActionKind.APPROVE, [one.id], ANNA)
    who = later(BEN, 60)
    before = await stores.library.clips_of(one.source_id)

    removed = await stores.review.remove_source(one.source_id, who)
    assert (removed.deleted, removed.clips) == (False, 3)
    assert {clip.state for clip in await stores.library.clips_of(one.source_id)} == {ClipState.REVIEW_ARCHIVED}
    assert await stores.tiles(one.source_id) == [(0, 40), (40, 70), (70, 100)]
    assert await stores.review.remove_source(one.source_id, who) == RemovalResult(one.source_id, False), (
        "safe to repeat"
    )

    await stores.review.undo(who, removed.action_id)
    after = await stores.library.clips_of(one.source_id)
    assert [(clip.id, clip.state) for clip in after] == [(clip.id, clip.state) for clip in before]


async def test_the_master_is_deleted_with_the_last_clip(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    source, master = one.source_id, master_key(one.source_id)
    await stores.library.mark_deleted(await stores.library.pending_deletions(9))
    await stores.review.decide(ActionKind.ARCHIVE, [one.id, two.id], ANNA)
    for clip in (one, two):
        assert master not in await cleaned_up(stores, clip.id)
    assert master in await named(stores)
    assert (await stores.library.source(source)).film_deleted_at is None

    await stores.review.decide(ActionKind.ARCHIVE, [three.id], ANNA)
    assert master in await cleaned_up(stores, three.id)
    assert master in await stores.library.release_files(three.id), "safe to repeat"
    assert await named(stores) == []
    found = await stores.library.source(source)
    assert found.film_deleted_at is not None
    assert found.master is not None, "the places of its clips are still known"
    assert await stores.review.remove_source(source, later(ANNA, 120)) == RemovalResult(source, False)


async def test_concurrent_clean_ups_delete_the_master(stores: LibraryStores) -> None:
    clips = await stores.ready(cuts=range(10, 100, 10))
    await stores.review.remove_source(clips[0].source_id, ANNA)
    await asyncio.gather(*(cleaned_up(stores, clip.id) for clip in clips))
    assert master_key(clips[0].source_id) in await stores.library.pending_deletions(99)


async def test_the_master_is_kept_while_an_undo_is_possible(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    merged = await stores.review.merge(two.id, three.id, ANNA)
    await stores.review.decide(ActionKind.ARCHIVE, [one.id], ANNA)
    assert master_key(one.source_id) not in await cleaned_up(stores, one.id)
    assert merged.made
    with pytest.raises(EditRefused, match="can still be undone"):
        await stores.review.remove_source(one.source_id, ANNA)


@pytest.mark.parametrize("state", ["new", "download_failed", "downloaded", "splicing_failed"])
async def test_a_source_without_clips_is_deleted_with_its_objects(stores: LibraryStores, state: str) -> None:
    source = await stores.new_source("wrong")
    async with stores.database.connection() as connection:
        await connection.execute("update library_sources set state = %s", [state])
    assert await stores.review.remove_source(source, ANNA) == RemovalResult(source, True)
    assert await stores.library.pending_deletions(9) == [master_key(source), upload_key("wrong")]
    assert await named(stores) == []
    with pytest.raises(NotFound):
        await stores.review.remove_source(source, ANNA)
    assert not await stores.library.begin(find_stage("download"), source, NOW)
    assert {"source": source, "state": "deleted"} in await stores.news("library.source")


async def test_a_source_with_a_running_stage_is_not_removed(stores: LibraryStores) -> None:
    source = await stores.new_source()
    assert await stores.library.begin(find_stage("download"), source, NOW)
    with pytest.raises(EditRefused, match="downloading"):
        await stores.review.remove_source(source, ANNA)
    one, *_ = await stores.cut(name="other")
    assert await stores.library.begin(find_stage("sprites"), one.id, NOW)
    with pytest.raises(EditRefused, match="being prepared for review"):
        await stores.review.remove_source(one.source_id, ANNA)
    assert await stores.library.pending_deletions(9) == []


async def test_a_removed_clip_of_a_goal_is_not_imported_again(stores: LibraryStores) -> None:
    await add_goal(stores)
    assert await stores.library.import_published_clips(NOW, 9) == 1
    (row,) = await stores.rows("library_sources")
    assert (await stores.review.remove_source(row["id"], ANNA)).deleted
    assert await stores.library.import_published_clips(NOW, 9) == 0
    assert [row["md5"] for row in await stores.rows("videos", "md5")] == [VIDEO], "the goal keeps its own"
    assert all(VIDEO not in key for key in await stores.library.pending_deletions(9))


async def test_deletions_never_include_the_goals_own_file(stores: LibraryStores) -> None:
    """Links to goals' clips never die: the library has files of its own."""
    (clip,) = await stores.ready(cuts=())
    await stores.review.decide(ActionKind.ARCHIVE, [clip.id], ANNA)
    source, keys = clip.source_id, await cleaned_up(stores, clip.id)
    assert sorted(keys) == sorted([clip_file_key(source, clip.id), sprite_key(source, clip.id), master_key(source)])
