"""What the stages save: masters, scenes and tiles, sheets, likenesses and keyframes. All of it can be said twice."""

from __future__ import annotations

import asyncio
from fractions import Fraction

import pytest

from found_footy.errors import NotFound
from found_footy.library.models import ClipState, keyframe_key
from found_footy.media.models import Keyframe, MasterVideo
from tests.library.goals import add_goal
from tests.support.clips import fingerprint
from tests.support.library_rows import DETECTOR, NOW, LibraryStores, master, sprite


async def test_a_master_is_kept_as_it_was_measured(stores: LibraryStores) -> None:
    source_id = await stores.new_source("as submitted")
    odd = MasterVideo(1234, Fraction(30_000, 1001), 640, 360, False, 5_000_000_000, "f" * 32)
    await stores.library.save_master(source_id, odd)
    await stores.library.save_master(source_id, odd)
    source = await stores.library.source(source_id)
    assert (source.master, source.title) == (odd, "as submitted")

    await stores.library.save_master(source_id, odd, "as \x00found")
    assert (await stores.library.source(source_id)).title == "as found"


@pytest.mark.parametrize(
    ("cuts", "tiles"),
    [
        ([], [(0, 100)]),
        ([40, 70], [(0, 40), (40, 70), (70, 100)]),
        ([70, 40, 40, 0, 100, -3, 500], [(0, 40), (40, 70), (70, 100)]),
        ([1, 99], [(0, 1), (1, 99), (99, 100)]),
    ],
)
async def test_scenes_become_tiles(stores: LibraryStores, cuts: list[int], tiles: list[tuple[int, int]]) -> None:
    source_id = await stores.new_source()
    await stores.library.save_master(source_id, master())
    assert await stores.library.save_scenes(source_id, "film", DETECTOR, cuts) == len(tiles)
    assert await stores.tiles(source_id) == tiles
    assert {clip.state for clip in await stores.library.clips_of(source_id)} == {ClipState.SPLICED}


async def test_tiles_are_created_once(stores: LibraryStores) -> None:
    clips = await stores.cut(cuts=(40,))
    source_id = clips[0].source_id
    saved = await asyncio.gather(
        *(stores.library.save_scenes(source_id, f"md5-{n}", DETECTOR, [10 * n]) for n in range(1, 4))
    )
    assert saved == [2, 2, 2]
    assert await stores.library.clips_of(source_id) == clips


async def test_scenes_are_cached_by_content_and_detector(stores: LibraryStores) -> None:
    clips = await stores.cut(cuts=(40,), name="film")
    assert await stores.library.known_scenes("film-100", DETECTOR) == [40]
    assert await stores.library.known_scenes("film-100", "another-1") is None
    assert await stores.library.known_scenes("another film", DETECTOR) is None
    await stores.library.save_scenes(clips[0].source_id, "still", DETECTOR, [])
    assert await stores.library.known_scenes("still", DETECTOR) == [], "no cut at all is something that is known"


async def test_there_are_no_scenes_without_a_master(stores: LibraryStores) -> None:
    source_id = await stores.new_source()
    for id_ in (source_id, 4711):
        with pytest.raises(NotFound, match="no master"):
            await stores.library.save_scenes(id_, "film", DETECTOR, [])


async def test_a_sprite_sheet_survives_saving(stores: LibraryStores) -> None:
    one, *_ = await stores.cut()
    for has_file in (False, True):
        await stores.library.save_sprite(one.id, sprite(one.frames), has_file, fingerprint("moment"))
        clip = await stores.library.clip(one.id)
        assert (clip.sprite, clip.has_file) == (sprite(one.frames), has_file)
    with pytest.raises(NotFound):
        await stores.library.save_sprite(4711, sprite(9), True, fingerprint("moment"))
    with pytest.raises(NotFound):
        await stores.library.save_master(4711, master())


async def test_duplicates_are_searched_within_a_goal_or_source(stores: LibraryStores) -> None:
    await add_goal(stores, videos={"a" * 32: "kept", "b" * 32: "kept"})
    await stores.library.import_published_clips(NOW, 9)
    mine, theirs = [row["id"] for row in await stores.rows("library_sources")]
    for source_id in (mine, theirs):
        await stores.library.save_master(source_id, master())
        await stores.library.save_scenes(source_id, f"film-{source_id}", DETECTOR, [50])
    apart = await stores.ready(name="of another goal")
    clips = [*await stores.library.clips_of(mine), *await stores.library.clips_of(theirs)]
    for clip in clips[:3]:
        await stores.prepare(clip)

    beside = await stores.library.sibling_fingerprints(clips[0].id)

    assert beside == {clip.id: fingerprint(f"{clip.source_id}-{clip.first}") for clip in clips[1:3]}
    assert (await stores.library.sibling_fingerprints(apart[0].id)).keys() == {clip.id for clip in apart[1:]}


async def test_the_pairs_of_a_clip_are_replaced(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    await stores.library.save_duplicates(two.id, [one.id, three.id, three.id, two.id, 4711])
    assert await _pairs(stores) == [(one.id, two.id), (two.id, three.id)]
    await stores.library.save_duplicates(one.id, [three.id])
    assert await _pairs(stores) == [(one.id, three.id), (two.id, three.id)]
    await stores.library.save_duplicates(three.id, [])
    assert await _pairs(stores) == []


async def test_concurrent_duplicate_searches_find_each_other(stores: LibraryStores) -> None:
    ids = [clip.id for clip in await stores.cut(cuts=range(10, 100, 10))]
    await asyncio.gather(*(stores.library.save_duplicates(id_, ids) for id_ in (*ids, *reversed(ids))))
    assert len(await _pairs(stores)) == 45


async def test_replaced_keyframes_are_queued_for_deletion(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    await stores.library.mark_deleted(await stores.library.pending_deletions(9))
    four = [Keyframe(number, number * 10, "25%", 640, 360) for number in range(4)]
    assert await stores.library.save_keyframes(one.id, four) == []
    assert await stores.library.keyframes(one.id) == four
    assert await stores.library.save_keyframes(one.id, four[:3]) == [keyframe_key(one.source_id, one.id, 3)]
    assert await stores.library.keyframes(one.id) == four[:3]
    assert await stores.library.pending_deletions(9) == [keyframe_key(one.source_id, one.id, 3)]

    assert await stores.library.save_keyframes(one.id, four) == []
    assert await stores.library.pending_deletions(9) == [], "it is there again"
    with pytest.raises(NotFound):
        await stores.library.save_keyframes(4711, four)


async def _pairs(stores: LibraryStores) -> list[tuple[int, int]]:
    return [(row["one"], row["other"]) for row in await stores.rows("library_duplicates", "one, other")]
