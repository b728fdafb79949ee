"""The workshop does all of its work in processes of their own, and hands back files and facts that hold."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from fractions import Fraction
from pathlib import Path

import cv2
import pytest

from found_footy.errors import FootyError, MediaBroken, MediaError, MediaTooLarge, NotAVideo, NotFound, SettingsError
from found_footy.media.fingerprint import hash_video
from found_footy.media.models import SpriteSheet
from found_footy.media.processor import MediaProcessor
from tests.media.made_clips import scene, write
from tests.media.numbered_films import beeps, beeps_in, flashes_in, lumas, number_in, numbered, write_film

MEMORY_MB = 1024


@pytest.fixture
async def workshop() -> AsyncIterator[MediaProcessor]:
    made = MediaProcessor(MEMORY_MB, 60, max_video_seconds=3600, max_video_bytes=50_000_000)
    yield made
    await made.aclose()


def nobody(share: float) -> None:
    pass


async def test_a_video_passes_all_stages(workshop: MediaProcessor, tmp_path: Path) -> None:
    """Two scenes, and a flash with a beep in the second."""
    filled: MediaProcessor = workshop
    pictures = [*(picture[:90, :160] for picture in scene(2)), *numbered(60, flashes=[20])]
    film = write_film(tmp_path / "film.avi", pictures, beeps(4.4, [70 / 25]), codec="mpeg4", audio="mp2")
    told: list[float] = []
    master = await filled.make_master(film, tmp_path / "master.mp4", told.append)
    data = (tmp_path / "master.mp4").read_bytes()
    assert (master.frames, master.rate, master.width, master.height, master.audio) == (110, Fraction(25), 160, 90, True)
    assert (master.size, master.md5) == (len(data), hashlib.md5(data).hexdigest())
    assert told
    assert told == sorted(told)

    assert 50 in await filled.find_scene_cuts(tmp_path / "master.mp4", 0.6, told.append)
    assert filled.scene_detector

    await filled.cut_clip(tmp_path / "master.mp4", 50, 110, tmp_path / "clip.mp4")
    assert [number_in(luma) for luma in lumas(tmp_path / "clip.mp4")] == list(range(60))
    assert flashes_in(tmp_path / "clip.mp4") == [20 / 25]
    assert beeps_in(tmp_path / "clip.mp4") == pytest.approx([20 / 25], abs=0.02)

    sheet = await filled.make_sprite_sheet(tmp_path / "master.mp4", 50, 110, tmp_path / "sheet.webp")
    assert sheet == SpriteSheet(10, 6, 160, 90, 60, 1, 60, Fraction(25))
    picture = cv2.imread(str(tmp_path / "sheet.webp"))
    assert picture is not None
    assert picture.shape == (540, 1600, 3)

    (tmp_path / "keyframes").mkdir()
    wanted = ("25%", "75%", "sharpest")
    taken = await filled.extract_keyframes(tmp_path / "master.mp4", 0, 50, wanted, tmp_path / "keyframes")
    assert [each.number for each in taken] == list(range(len(taken)))
    assert [each.chosen_by for each in taken[:2]] == ["25%", "75%"]
    assert len(list((tmp_path / "keyframes").iterdir())) == len(taken)

    fingerprint = await filled.fingerprint_range(tmp_path / "master.mp4", 0, 110)
    assert fingerprint == hash_video(tmp_path / "master.mp4")


async def test_many_at_once(workshop: MediaProcessor, tmp_path: Path) -> None:
    await workshop.make_master(write(tmp_path / "film.mp4", scene(2)), tmp_path / "master.mp4", nobody)
    cuts = [(number, number + 9) for number in range(6)]
    await asyncio.gather(
        *(workshop.cut_clip(tmp_path / "master.mp4", first, end, tmp_path / f"{first}.mp4") for first, end in cuts)
    )
    assert [len(lumas(tmp_path / f"{first}.mp4")) for first, _ in cuts] == [9] * 6


async def test_other_files_than_videos_are_rejected_without_leftovers(workshop: MediaProcessor, tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("no film")
    whole = write_film(tmp_path / "whole.mp4", numbered(50))
    (tmp_path / "half.mp4").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    wrong: list[tuple[str, type[FootyError]]] = [
        ("none.mp4", NotFound),
        ("text.mp4", NotAVideo),
        ("half.mp4", MediaBroken),
    ]
    for name, kind in wrong:
        with pytest.raises(kind):
            await workshop.make_master(tmp_path / name, tmp_path / "to.mp4", nobody)
        with pytest.raises(kind):
            await workshop.cut_clip(tmp_path / name, 0, 1, tmp_path / "to.mp4")
        with pytest.raises(kind):
            await workshop.make_sprite_sheet(tmp_path / name, 0, 1, tmp_path / "to.mp4")
        with pytest.raises(kind):
            await workshop.fingerprint_range(tmp_path / name, 0, 1)
    with pytest.raises(MediaError, match="are outside its 50 frames"):
        await workshop.cut_clip(whole, 10, 51, tmp_path / "to.mp4")
    assert not (tmp_path / "to.mp4").exists()


async def test_an_unknown_request_reaches_no_process(workshop: MediaProcessor, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="'nicest'"):
        await workshop.extract_keyframes(tmp_path / "none.mp4", 0, 1, ["nicest"], tmp_path)


async def test_the_bounds_of_a_film_hold(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mp4", numbered(100))
    for bounds, words in (
        ({"max_video_seconds": 60.0, "max_video_bytes": 1000}, "exceed the maximum of 1000"),
        ({"max_video_seconds": 3.0, "max_video_bytes": 10**9}, "exceed the limit of 3 s"),
    ):
        narrow = MediaProcessor(MEMORY_MB, 60, **bounds)  # type: ignore[arg-type]
        with pytest.raises(MediaTooLarge, match=words):
            await narrow.make_master(film, tmp_path / "to.mp4", nobody)
        await narrow.aclose()
    assert not (tmp_path / "to.mp4").exists()


async def test_a_film_that_grows_too_large_is_stopped_and_leaves_nothing(
    workshop: MediaProcessor, tmp_path: Path
) -> None:
    await workshop.make_master(write(tmp_path / "film.mp4", scene(3)), tmp_path / "master.mp4", nobody)
    narrow = MediaProcessor(MEMORY_MB, 60, max_video_seconds=60, max_video_bytes=20_000)
    with pytest.raises(MediaTooLarge, match="exceeds the size limit"):
        await narrow.cut_clip(tmp_path / "master.mp4", 1, 70, tmp_path / "to.mp4")
    await narrow.aclose()
    assert not (tmp_path / "to.mp4").exists()


async def test_work_that_takes_too_long_is_stopped_and_leaves_nothing(tmp_path: Path) -> None:
    film = write(tmp_path / "film.mkv", scene(8), codec="ffv1")
    hasty = MediaProcessor(MEMORY_MB, 0.15, max_video_seconds=60, max_video_bytes=10**9)
    with pytest.raises(MediaTooLarge, match="longer than"):
        await hasty.make_master(film, tmp_path / "to.mp4", nobody)
    await hasty.aclose()
    assert not (tmp_path / "to.mp4").exists()


async def test_a_cancellation_leaves_no_process_or_file(workshop: MediaProcessor, tmp_path: Path) -> None:
    film = write(tmp_path / "film.mkv", scene(8), codec="ffv1")
    begun = asyncio.Event()
    work = asyncio.create_task(workshop.make_master(film, tmp_path / "to.mp4", lambda _: begun.set()))
    await begun.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not (tmp_path / "to.mp4").exists()
    await workshop.make_master(film, tmp_path / "to.mp4", nobody)
    assert len(lumas(tmp_path / "to.mp4")) == 200
