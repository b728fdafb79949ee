"""No frame is lost or doubled between a film and the files of its clips, through all stages and edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from found_footy.fixtures.store import FixtureStore
from found_footy.library.models import clip_file_key
from found_footy.storage.objects.store import ThreadedObjectStore
from tests.support.frame_counter import check_frames, counter
from tests.support.library_system import LibrarySystem, library_system

pytestmark = pytest.mark.timeout(300)


async def check_clips(system: LibrarySystem, source: int, folder: Path) -> list[tuple[int, int]]:
    """Makes the files of all clips that wait for theirs; returns which frames the clips are."""
    for id_ in await system.due("sprites"):
        assert await system.run("sprites", id_)
    clips = [clip for clip in await system.store.clips_of(source) if clip.live]
    for clip in clips:
        assert clip.has_file
        await system.objects.get(clip_file_key(source, clip.id), folder / f"{clip.id}.mp4")
        check_frames(folder / f"{clip.id}.mp4", clip.first, clip.end)
    return [(clip.first, clip.end) for clip in clips]


async def test_each_exported_clip_begins_and_ends_with_its_frames(
    store: FixtureStore, objects: ThreadedObjectStore, tmp_path: Path
) -> None:
    async with library_system(store.database, objects, tmp_path) as system:
        clips = await system.spliced(counter().read_bytes())
        source = clips[0].source_id
        stretches = await check_clips(system, source, tmp_path)
        assert (stretches[0][0], stretches[-1][1]) == (0, 30)
        assert 20 in [first for first, _ in stretches], "the cut of the film"

        # Two of them become one, and that one two others.
        merged = await system.review.merge(clips[0].id, clips[1].id, system.who)
        await settle(system, merged.id)
        stretches = await check_clips(system, source, tmp_path)
        whole = next(clip for clip in await system.store.clips_of(source) if clip.live and clip.first == 0)
        parted = await system.review.split(whole.id, 7, system.who)
        await settle(system, parted.id)
        assert (await check_clips(system, source, tmp_path))[:2] == [(0, 7), (7, stretches[0][1])]


async def settle(system: LibrarySystem, action: int) -> None:
    system.clock.pass_by(61)
    assert await system.review.settle_edit(action, system.clock())
