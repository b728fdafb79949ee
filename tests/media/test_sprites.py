"""A sheet shows every picture that it promises, at its place, in sizes that a page and WebP can take."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from found_footy.errors import MediaBroken, MediaError, NotAVideo
from found_footy.media.cut import frames_by_number, open_master
from found_footy.media.master import make_master
from found_footy.media.models import SpriteSheet
from found_footy.media.sprites import TILES, make_sprite_sheet, plan_layout
from tests.media.made_clips import remux, write
from tests.media.numbered_films import LONG, lumas, number_in, numbered, tell_nobody, write_film
from tests.support.recorded import recorded


@pytest.mark.parametrize(
    ("frames", "width", "height", "every", "count", "columns", "rows", "tile"),
    [
        (1, 1280, 720, 1, 1, 1, 1, (240, 136)),
        (7, 1280, 720, 1, 7, 7, 1, (240, 136)),
        (160, 1280, 720, 1, 160, 10, 16, (240, 136)),
        (161, 1280, 720, 2, 81, 10, 9, (240, 136)),
        (1500, 1920, 1080, 10, 150, 10, 15, (240, 136)),
        (360_000, 1920, 1080, 2250, 160, 10, 16, (240, 136)),
        (100, 1080, 1920, 1, 100, 10, 10, (136, 240)),
        (100, 64, 36, 1, 100, 10, 10, (64, 36)),  # never enlarged
        (160, 8192, 64, 1, 160, 10, 16, (960, 8)),
        (160, 64, 8192, 1, 160, 10, 16, (8, 960)),
        (10, 2, 2, 1, 10, 10, 1, (2, 2)),
    ],
)
def test_the_layout(
    frames: int, width: int, height: int, every: int, count: int, columns: int, rows: int, tile: tuple[int, int]
) -> None:
    made = plan_layout(frames, width, height, Fraction(25))
    assert (made.every, made.count, made.columns, made.rows) == (every, count, columns, rows)
    assert (made.width, made.height) == tile
    assert max(made.columns * made.width, made.rows * made.height) <= 16_383
    assert made.count <= TILES
    assert (made.count - 1) * made.every < frames


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("film")
    made = write_film(folder / "film.mp4", numbered(400, 320, 180), g="50", bf="3", refs="3")
    make_master(made, folder / "master.mp4", tell_nobody, LONG)
    return folder / "master.mp4"


def tiles(path: Path, sheet: SpriteSheet) -> list[NDArray[np.uint8]]:
    picture = cv2.imread(str(path))
    assert picture is not None
    assert picture.shape == (sheet.rows * sheet.height, sheet.columns * sheet.width, 3)
    cells = [divmod(place, sheet.columns) for place in range(sheet.count)]
    return [
        np.asarray(picture[row * sheet.height :, column * sheet.width :][: sheet.height, : sheet.width], np.uint8)
        for row, column in cells
    ]


@pytest.mark.parametrize(("first", "end"), [(0, 400), (0, 1), (37, 300), (399, 400), (120, 280)])
def test_each_tile_shows_its_frame(film: Path, tmp_path: Path, first: int, end: int) -> None:
    sheet = make_sprite_sheet(film, first, end, tmp_path / "sheet.webp")
    assert (sheet.frames, sheet.rate) == (end - first, Fraction(25))
    shown = [number_in(tile[..., 1]) for tile in tiles(tmp_path / "sheet.webp", sheet)]
    assert shown == list(range(first, end, sheet.every))
    assert (tmp_path / "sheet.webp").read_bytes()[8:12] == b"WEBP"


def test_colours_are_those_of_the_film(tmp_path: Path) -> None:
    """Large pictures are stored by another rule for colours than WebP has."""
    colours = [(40, 40, 200), (40, 180, 40), (190, 60, 40)]
    for width, height in ((1280, 720), (320, 180)):
        with av.open(str(tmp_path / "film.mkv"), "w") as out:
            stream = out.add_stream("ffv1", rate=25, width=width, height=height)
            stream.pix_fmt = "bgr0"
            for each in colours:
                picture = np.full((height, width, 3), each, np.uint8)
                out.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
            out.mux(stream.encode(None))
        make_master(tmp_path / "film.mkv", tmp_path / "master.mp4", tell_nobody, LONG)
        sheet = make_sprite_sheet(tmp_path / "master.mp4", 0, 3, tmp_path / "sheet.webp")
        for tile, colour in zip(tiles(tmp_path / "sheet.webp", sheet), colours, strict=True):
            assert np.abs(tile.mean(axis=(0, 1)) - colour).max() < 12


def test_requested_frames_are_returned_in_order(film: Path) -> None:
    wanted = [0, 3, 49, 50, 51, 99, 301, 399]
    with open_master(film, LONG) as master:
        assert [number for number, _ in frames_by_number(master, wanted)] == wanted
        assert [number for number, _ in frames_by_number(master, [])] == []


def test_a_long_film_is_not_read_through(tmp_path: Path) -> None:
    """An hour in 157 pictures: each is sought, and little is read between them."""
    short = write(tmp_path / "short.mp4", numbered(2, 64, 36), fps=1, g="1", bf="0")
    film = remux(short, tmp_path / "film.mp4", repeat=1800, format="mp4", shift=1000)
    make_master(film, tmp_path / "master.mp4", tell_nobody, LONG)
    sheet = make_sprite_sheet(tmp_path / "master.mp4", 0, 3600, tmp_path / "sheet.webp")
    assert (sheet.every, sheet.count) == (23, 157)
    assert {number_in(tile[..., 1]) for tile in tiles(tmp_path / "sheet.webp", sheet)} == {0, 1}


@pytest.mark.parametrize(("first", "end"), [(5, 5), (9, 3), (-1, 5), (0, 401), (400, 401)])
def test_frames_that_are_not_there_are_refused(film: Path, tmp_path: Path, first: int, end: int) -> None:
    with pytest.raises(MediaError, match="are outside its 400 frames"):
        make_sprite_sheet(film, first, end, tmp_path / "sheet.webp")


def test_what_is_no_master_is_refused(film: Path, tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("no film")
    (tmp_path / "half.mp4").write_bytes(film.read_bytes()[: film.stat().st_size // 2])
    with pytest.raises(NotAVideo):
        make_sprite_sheet(tmp_path / "text.mp4", 0, 10, tmp_path / "sheet.webp")
    with pytest.raises(MediaBroken):
        make_sprite_sheet(tmp_path / "half.mp4", 0, 400, tmp_path / "sheet.webp")


def test_the_sheet_of_a_real_film(tmp_path: Path) -> None:
    make_master(recorded("video", "scenes", "testvideo.mp4"), tmp_path / "master.mp4", tell_nobody, LONG)
    sheet = make_sprite_sheet(tmp_path / "master.mp4", 90, 210, tmp_path / "sheet.webp")
    assert (sheet.every, sheet.count, sheet.width, sheet.height) == (1, 120, 240, 136)
    frames = lumas(tmp_path / "master.mp4", 210)
    for place, tile in list(enumerate(tiles(tmp_path / "sheet.webp", sheet)))[::17]:
        small = cv2.resize(frames[90 + place], (240, 136), interpolation=cv2.INTER_AREA).astype(int)
        light = (cv2.cvtColor(tile, cv2.COLOR_BGR2GRAY).astype(int) * 219) // 255 + 16
        assert np.abs(light - small).mean() < 6
