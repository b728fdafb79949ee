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
from tests.support.library_rows import DETECTOR, NOW, Bench, master, sprite


async def test_a_master_is_kept_as_it_was_measured(bench: Bench) -> None:
    source_id = await bench.new_source("as submitted")
    odd = MasterVideo(1234, Fraction(30_000, 1001), 640, 360, False, 5_000_000_000, "f" * 32)
    await bench.library.save_master(source_id, odd)
    await bench.library.save_master(source_id, odd)
    source = await bench.library.source(source_id)
    assert (source.master, source.title) == (odd, "as submitted")

    await bench.library.save_master(source_id, odd, "as \x00found")
    assert (await bench.library.source(source_id)).title == "as found"


@pytest.mark.parametrize(
    ("cuts", "tiles"),
    [
        ([], [(0, 100)]),
        ([40, 70], [(0, 40), (40, 70), (70, 100)]),
        ([70, 40, 40, 0, 100, -3, 500], [(0, 40), (40, 70), (70, 100)]),
        ([1, 99], [(0, 1), (1, 99), (99, 100)]),
    ],
)
async def test_scenes_become_tiles(bench: Bench, cuts: list[int], tiles: list[tuple[int, int]]) -> None:
    source_id = await bench.new_source()
    await bench.library.save_master(source_id, master())
    assert await bench.library.save_scenes(source_id, "film", DETECTOR, cuts) == len(tiles)
    assert await bench.tiles(source_id) == tiles
    assert {clip.state for clip in await bench.library.clips_of(source_id)} == {ClipState.SPLICED}


async def test_tiles_are_created_once(bench: Bench) -> None:
    clips = await bench.cut(cuts=(40,))
    source_id = clips[0].source_id
    saved = await asyncio.gather(
        *(bench.library.save_scenes(source_id, f"md5-{n}", DETECTOR, [10 * n]) for n in range(1, 4))
    )
    assert saved == [2, 2, 2]
    assert await bench.library.clips_of(source_id) == clips


async def test_scenes_are_cached_by_content_and_detector(bench: Bench) -> None:
    clips = await bench.cut(cuts=(40,), name="film")
    assert await bench.library.known_scenes("film-100", DETECTOR) == [40]
    assert await bench.library.known_scenes("film-100", "another-1") is None
    assert await bench.library.known_scenes("another film", DETECTOR) is None
    await bench.library.save_scenes(clips[0].source_id, "still", DETECTOR, [])
    assert await bench.library.known_scenes("still", DETECTOR) == [], "no cut at all is something that is known"


async def test_there_are_no_scenes_without_a_master(bench: Bench) -> None:
    source_id = await bench.new_source()
    for id_ in (source_id, 4711):
        with pytest.raises(NotFound, match="no master"):
            await bench.library.save_scenes(id_, "film", DETECTOR, [])


async def test_a_sprite_sheet_survives_saving(bench: Bench) -> None:
    one, *_ = await bench.cut()
    for has_file in (False, True):
        await bench.library.save_sprite(one.id, sprite(one.frames), has_file, fingerprint("moment"))
        clip = await bench.library.clip(one.id)
        assert (clip.sprite, clip.has_file) == (sprite(one.frames), has_file)
    with pytest.raises(NotFound):
        await bench.library.save_sprite(4711, sprite(9), True, fingerprint("moment"))
    with pytest.raises(NotFound):
        await bench.library.save_master(4711, master())


async def test_duplicates_are_searched_within_a_goal_or_source(bench: Bench) -> None:
    await add_goal(bench, videos={"a" * 32: "kept", "b" * 32: "kept"})
    await bench.library.import_published_clips(NOW, 9)
    mine, theirs = [row["id"] for row in await bench.rows("library_sources")]
    for source_id in (mine, theirs):
        await bench.library.save_master(source_id, master())
        await bench.library.save_scenes(source_id, f"film-{source_id}", DETECTOR, [50])
    apart = await bench.ready(name="of another goal")
    clips = [*await bench.library.clips_of(mine), *await bench.library.clips_of(theirs)]
    for clip in clips[:3]:
        await bench.prepare(clip)

    beside = await bench.library.sibling_fingerprints(clips[0].id)

    assert beside == {clip.id: fingerprint(f"{clip.source_id}-{clip.first}") for clip in clips[1:3]}
    assert (await bench.library.sibling_fingerprints(apart[0].id)).keys() == {clip.id for clip in apart[1:]}


async def test_the_pairs_of_a_clip_are_replaced(bench: Bench) -> None:
    one, two, three = await bench.ready()
    await bench.library.save_duplicates(two.id, [one.id, three.id, three.id, two.id, 4711])
    assert await _pairs(bench) == [(one.id, two.id), (two.id, three.id)]
    await bench.library.save_duplicates(one.id, [three.id])
    assert await _pairs(bench) == [(one.id, three.id), (two.id, three.id)]
    await bench.library.save_duplicates(three.id, [])
    assert await _pairs(bench) == []


async def test_concurrent_duplicate_searches_find_each_other(bench: Bench) -> None:
    ids = [clip.id for clip in await bench.cut(cuts=range(10, 100, 10))]
    await asyncio.gather(*(bench.library.save_duplicates(id_, ids) for id_ in (*ids, *reversed(ids))))
    assert len(await _pairs(bench)) == 45


async def test_replaced_keyframes_are_queued_for_deletion(bench: Bench) -> None:
    one, *_ = await bench.ready()
    await bench.library.mark_deleted(await bench.library.pending_deletions(9))
    four = [Keyframe(number, number * 10, "25%", 640, 360) for number in range(4)]
    assert await bench.library.save_keyframes(one.id, four) == []
    assert await bench.library.keyframes(one.id) == four
    assert await bench.library.save_keyframes(one.id, four[:3]) == [keyframe_key(one.source_id, one.id, 3)]
    assert await bench.library.keyframes(one.id) == four[:3]
    assert await bench.library.pending_deletions(9) == [keyframe_key(one.source_id, one.id, 3)]

    assert await bench.library.save_keyframes(one.id, four) == []
    assert await bench.library.pending_deletions(9) == [], "it is there again"
    with pytest.raises(NotFound):
        await bench.library.save_keyframes(4711, four)


async def _pairs(bench: Bench) -> list[tuple[int, int]]:
    return [(row["one"], row["other"]) for row in await bench.rows("library_pairs", "one, other")]
