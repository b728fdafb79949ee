"""The same answers as from the media library itself, and its errors as the same classes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from found_footy.errors import FootyError, MediaBroken, MediaTooLarge, NotAVideo, NotFound
from found_footy.media.fingerprint import hash_video
from found_footy.media.frames import frames_at
from found_footy.media.probe import probe
from found_footy.media.processor import MediaProcessor
from tests.media.made_clips import scene, write


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("clips") / "Tor für \U0001f98a.mp4", scene(2))


async def test_probing_returns_the_librarys_result(media: MediaProcessor, clip: Path) -> None:
    assert await media.probe(clip) == probe(clip)


async def test_pictures_are_those_of_the_library(media: MediaProcessor, clip: Path) -> None:
    wanted = [0.25, 0.75, 0.5, 0.5, -0.1, 1.2]
    found, expected = await media.frames_at(clip, wanted), frames_at(clip, wanted)
    assert [picture.seconds for picture in found] == [frame.seconds for frame in expected]
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(found, expected, strict=True))
    assert all(picture.pixels.flags.writeable for picture in found)


async def test_no_pictures_are_no_pictures(media: MediaProcessor, clip: Path) -> None:
    with pytest.raises(MediaBroken):
        await media.frames_at(clip, [])


async def test_the_fingerprint_is_that_of_the_library(media: MediaProcessor, clip: Path) -> None:
    assert await media.fingerprint(clip) == hash_video(clip)


def bad(folder: Path, clip: Path) -> dict[Path, type[FootyError]]:
    whole = clip.read_bytes()
    contents = {
        "text.mp4": (b"no video at all, whatever its name says", NotAVideo),
        "empty.mp4": (b"", NotAVideo),
        "list.mp4": (b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", NotAVideo),
        "cut.mp4": (whole[: len(whole) // 3], MediaBroken),
    }
    for name, (content, _) in contents.items():
        (folder / name).write_bytes(content)
    return {folder / "missing.mp4": NotFound, **{folder / name: kind for name, (_, kind) in contents.items()}}


async def test_errors_are_those_of_the_library(media: MediaProcessor, clip: Path, tmp_path: Path) -> None:
    for path, kind in bad(tmp_path, clip).items():
        with pytest.raises(kind) as here:
            probe(path)
        for call in (media.probe(path), media.frames_at(path, [0.5]), media.fingerprint(path)):
            with pytest.raises(kind) as there:
                await call
            assert str(there.value) == str(here.value)


async def test_pictures_that_need_too_much_memory_are_too_large(clip: Path) -> None:
    media = MediaProcessor(8, 60)
    try:
        with pytest.raises(MediaTooLarge, match="memory"):
            await media.frames_at(clip, [0.5] * 100)
    finally:
        await media.aclose()


async def test_many_files_at_once(media: MediaProcessor, clip: Path) -> None:
    expected = probe(clip), hash_video(clip)
    found = await asyncio.gather(*(f(clip) for _ in range(10) for f in (media.probe, media.fingerprint)))
    assert found == [*expected] * 10


def test_each_event_loop_may_have_its_own(clip: Path) -> None:
    async def once() -> int:
        media = MediaProcessor(1024, 60)
        try:
            return (await media.probe(clip)).frames
        finally:
            await media.aclose()

    assert asyncio.run(once()) == asyncio.run(once()) == 50
