"""Rows go first and objects after them: what is left to delete is known until it is done."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from found_footy.errors import ObjectStoreUnavailable
from found_footy.library import store as library_leftovers
from found_footy.library.models import (
    ClipState,
    LibraryClip,
    clip_file_key,
    keyframe_key,
    master_key,
    sprite_key,
    upload_key,
)
from found_footy.library.review import ActionKind
from found_footy.library.stages import find_stage
from found_footy.media.models import Keyframe
from tests.support.library_rows import ANNA, NOW, UNDO_FOR, LibraryStores

LATER = NOW + UNDO_FOR


async def embedded(stores: LibraryStores, clip: LibraryClip) -> None:
    await stores.review.decide(ActionKind.APPROVE, [clip.id], ANNA)
    async with stores.stage("keyframes", clip.id, LATER):
        pictures = [Keyframe(number, number, "sharpest", 640, 360) for number in range(2)]
        await stores.library.save_keyframes(clip.id, pictures)
    await stores.run("embeddings", clip.id, LATER)


def keys_of(clip: LibraryClip, pictures: int = 0) -> list[str]:
    file, sheet = clip_file_key(clip.source_id, clip.id), sprite_key(clip.source_id, clip.id)
    return [*(keyframe_key(clip.source_id, clip.id, number) for number in range(pictures)), file, sheet]


async def named(stores: LibraryStores) -> list[str]:
    async with aclosing(stores.library.expected_keys()) as keys:
        return [key async for key in keys]


async def test_an_archived_clip_leaves_its_row_and_a_list_of_its_objects(stores: LibraryStores) -> None:
    one, two, _ = await stores.ready()
    await embedded(stores, one)
    await stores.library.save_duplicates(one.id, [two.id])

    assert await stores.library.release_files(one.id) == keys_of(one, 2)
    assert await stores.library.release_files(one.id) == keys_of(one, 2), "safe to repeat"

    clip = await stores.library.clip(one.id)
    assert (clip.live, clip.has_file, clip.sprite) == (True, False, None)
    assert await stores.library.keyframes(one.id) == []
    for table in ("library_embeddings", "library_duplicates"):
        assert await stores.rows(table, "1") == []
    assert not set(keys_of(one, 2)) & set(await named(stores))
    assert set(keys_of(two)) <= set(await named(stores))
    await stores.library.mark_deleted(keys_of(one, 2))
    assert keys_of(one)[0] not in await stores.library.pending_deletions(99)
    assert await stores.library.release_files(4711) == []


async def test_unsaved_objects_are_deleted_too(stores: LibraryStores) -> None:
    """Whoever cut the file may have died before its row was written."""
    one, *_ = await stores.cut()
    assert await stores.library.release_files(one.id) == keys_of(one)


async def test_deletions_distinguish_ids_with_a_common_prefix(stores: LibraryStores) -> None:
    clips = await stores.cut(cuts=range(5, 100, 5))
    assert {1, 10} <= {clip.id for clip in clips}
    for clip in reversed(clips):
        assert await stores.library.release_files(clip.id) == keys_of(clip)


async def test_objects_that_cannot_be_deleted_come_after_the_others(stores: LibraryStores) -> None:
    one, two, _ = await stores.cut()
    await stores.library.mark_deleted(await stores.library.pending_deletions(99))
    await stores.library.release_files(one.id)
    await stores.library.record_deletion_failure(keys_of(one), ObjectStoreUnavailable("away\x00"))
    await stores.library.release_files(two.id)

    assert await stores.library.pending_deletions(2) == keys_of(two)
    assert await stores.library.pending_deletions(99) == [*keys_of(two), *keys_of(one)]
    row = next(row for row in await stores.rows("library_deletions", "key") if row["key"] == keys_of(one)[0])
    assert (row["tries"], row["error"]) == (1, "ObjectStoreUnavailable: away")
    await stores.library.mark_deleted([])
    await stores.library.record_deletion_failure([], ObjectStoreUnavailable("away"))


async def test_an_upload_is_kept_until_the_master_exists(stores: LibraryStores) -> None:
    source_id = await stores.new_source("film")
    key = upload_key("film")
    assert await named(stores) == [key]
    assert await stores.library.begin(find_stage("download"), source_id, NOW)
    assert await stores.library.pending_deletions(9) == []
    assert await stores.library.finish(find_stage("download"), source_id, NOW)
    assert await stores.library.pending_deletions(9) == [key]
    assert await named(stores) == []


async def test_expected_keys_are_sorted_as_in_the_object_store(
    stores: LibraryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_leftovers, "KEYS_PER_FETCH", 3)
    clips = await stores.ready(cuts=range(10, 100, 10))
    await embedded(stores, clips[0])
    waiting = upload_key("zz-waiting")
    await stores.new_source("zz-waiting")

    expected = [master_key(clips[0].source_id), waiting, *keys_of(clips[0], 2)]
    expected += [key for clip in clips[1:] for key in keys_of(clip)]

    assert await named(stores) == sorted(expected, key=str.encode)
    async with aclosing(stores.library.expected_keys()) as keys:
        async for key in keys:
            assert key == min(expected)
            break
    assert (await stores.library.clip(clips[0].id)).state is ClipState.EMBEDDED
