"""A source leaves the library: by its clips, or at once where it has none."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from found_footy.errors import EditRefused, NotFound
from found_footy.library.models import ClipState, RemovalResult, clip_file_key, master_key, sprite_key, upload_key
from found_footy.library.review import ActionKind
from found_footy.library.stages import stage_named
from tests.library.goals import VIDEO, add_goal
from tests.support.library_rows import ANNA, BEN, NOW, UNDO_FOR, Bench, later

AFTER = NOW + UNDO_FOR


async def named(bench: Bench) -> list[str]:
    async with aclosing(bench.library.expected_keys()) as keys:
        return [key async for key in keys]


async def cleaned_up(bench: Bench, clip_id: int) -> list[str]:
    async with bench.stage("clean-up", clip_id, AFTER):
        return await bench.library.release_files(clip_id)


async def test_all_clips_are_archived_as_one_action_that_can_be_undone(bench: Bench) -> None:
    one, *_ = await bench.ready()
    await bench.review.decide(ActionKind.APPROVE, [one.id], ANNA)
    who = later(BEN, 60)
    before = await bench.library.clips_of(one.source_id)

    removed = await bench.review.remove_source(one.source_id, who)
    assert (removed.deleted, removed.clips) == (False, 3)
    assert {clip.state for clip in await bench.library.clips_of(one.source_id)} == {ClipState.REVIEW_ARCHIVED}
    assert await bench.tiles(one.source_id) == [(0, 40), (40, 70), (70, 100)]
    assert await bench.review.remove_source(one.source_id, who) == RemovalResult(one.source_id, False), "safe to repeat"

    await bench.review.undo(who, removed.action_id)
    after = await bench.library.clips_of(one.source_id)
    assert [(clip.id, clip.state) for clip in after] == [(clip.id, clip.state) for clip in before]


async def test_the_master_is_deleted_with_the_last_clip(bench: Bench) -> None:
    one, two, three = await bench.ready()
    source, master = one.source_id, master_key(one.source_id)
    await bench.library.mark_deleted(await bench.library.pending_deletions(9))
    await bench.review.decide(ActionKind.ARCHIVE, [one.id, two.id], ANNA)
    for clip in (one, two):
        assert master not in await cleaned_up(bench, clip.id)
    assert master in await named(bench)
    assert (await bench.library.source(source)).film_deleted_at is None

    await bench.review.decide(ActionKind.ARCHIVE, [three.id], ANNA)
    assert master in await cleaned_up(bench, three.id)
    assert master in await bench.library.release_files(three.id), "safe to repeat"
    assert await named(bench) == []
    found = await bench.library.source(source)
    assert found.film_deleted_at is not None
    assert found.master is not None, "the places of its clips are still known"
    assert await bench.review.remove_source(source, later(ANNA, 120)) == RemovalResult(source, False)


async def test_concurrent_clean_ups_delete_the_master(bench: Bench) -> None:
    clips = await bench.ready(cuts=range(10, 100, 10))
    await bench.review.remove_source(clips[0].source_id, ANNA)
    await asyncio.gather(*(cleaned_up(bench, clip.id) for clip in clips))
    assert master_key(clips[0].source_id) in await bench.library.pending_deletions(99)


async def test_the_master_is_kept_while_an_undo_is_possible(bench: Bench) -> None:
    one, two, three = await bench.ready()
    merged = await bench.review.merge(two.id, three.id, ANNA)
    await bench.review.decide(ActionKind.ARCHIVE, [one.id], ANNA)
    assert master_key(one.source_id) not in await cleaned_up(bench, one.id)
    assert merged.made
    with pytest.raises(EditRefused, match="can still be undone"):
        await bench.review.remove_source(one.source_id, ANNA)


@pytest.mark.parametrize("state", ["new", "download_failed", "downloaded", "splicing_failed"])
async def test_a_source_without_clips_is_deleted_with_its_objects(bench: Bench, state: str) -> None:
    source = await bench.new_source("wrong")
    async with bench.database.connection() as connection:
        await connection.execute("update library_sources set state = %s", [state])
    assert await bench.review.remove_source(source, ANNA) == RemovalResult(source, True)
    assert await bench.library.pending_deletions(9) == [master_key(source), upload_key("wrong")]
    assert await named(bench) == []
    with pytest.raises(NotFound):
        await bench.review.remove_source(source, ANNA)
    assert not await bench.library.begin(stage_named("download"), source, NOW)
    assert {"source": source, "state": "deleted"} in await bench.news("library.source")


async def test_a_source_with_a_running_stage_is_not_removed(bench: Bench) -> None:
    source = await bench.new_source()
    assert await bench.library.begin(stage_named("download"), source, NOW)
    with pytest.raises(EditRefused, match="downloading"):
        await bench.review.remove_source(source, ANNA)
    one, *_ = await bench.cut(name="other")
    assert await bench.library.begin(stage_named("sprites"), one.id, NOW)
    with pytest.raises(EditRefused, match="being prepared for review"):
        await bench.review.remove_source(one.source_id, ANNA)
    assert await bench.library.pending_deletions(9) == []


async def test_a_removed_clip_of_a_goal_is_not_imported_again(bench: Bench) -> None:
    await add_goal(bench)
    assert await bench.library.import_published_clips(NOW, 9) == 1
    (row,) = await bench.rows("library_sources")
    assert (await bench.review.remove_source(row["id"], ANNA)).deleted
    assert await bench.library.import_published_clips(NOW, 9) == 0
    assert [row["md5"] for row in await bench.rows("videos", "md5")] == [VIDEO], "the goal keeps its own"
    assert all(VIDEO not in key for key in await bench.library.pending_deletions(9))


async def test_deletions_never_include_the_goals_own_file(bench: Bench) -> None:
    """Links to goals' clips never die: the library has files of its own."""
    (clip,) = await bench.ready(cuts=())
    await bench.review.decide(ActionKind.ARCHIVE, [clip.id], ANNA)
    source, keys = clip.source_id, await cleaned_up(bench, clip.id)
    assert sorted(keys) == sorted([clip_file_key(source, clip.id), sprite_key(source, clip.id), master_key(source)])
