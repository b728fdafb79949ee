"""Sprite sheets of thumbnails for scrubbing through a range of a master.

Thumbnails are reduced and placed in YUV, as decoded; only the finished sheet is converted. WebP stores YUV too.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import sqrt
from pathlib import Path

import av
import cv2
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import Colorspace
from numpy.typing import NDArray

from found_footy.media.container import DecodeLimits
from found_footy.media.cut import frames_by_number, open_master
from found_footy.media.encode import matrix_of
from found_footy.media.models import SpriteSheet

TILES = 160
COLUMNS = 10
PIXELS = 240 * 136
"""Pixels per thumbnail: 240 wide at 16:9, and the same area at any other aspect ratio."""
MAX_SIDE_PX = 960
"""Maximum side of a thumbnail: ten columns and sixteen rows fit into WebP's limit of 16,383."""
QUALITY = 70
METHOD = 1
"""WebP method, 0 to 6. Measured: higher ones take twice as long for a sheet that is a tenth smaller."""

Plane = NDArray[np.uint8]


def plan_layout(frames: int, width: int, height: int, rate: Fraction) -> SpriteSheet:
    """Compute the layout with the smallest step at which all thumbnails of a clip fit."""
    every = -(-frames // TILES)
    count = -(-frames // every)
    columns = min(COLUMNS, count)
    scale = min(1.0, sqrt(PIXELS / (width * height)), MAX_SIDE_PX / max(width, height))
    return SpriteSheet(
        columns=columns,
        rows=-(-count // columns),
        width=_even(width * scale),
        height=_even(height * scale),
        count=count,
        every=every,
        frames=frames,
        rate=rate,
    )


def make_sprite_sheet(
    path: Path,
    first: int,
    end: int,
    to: Path,
    limits: DecodeLimits | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> SpriteSheet:
    """Write the sprite sheet of a range. Raises MediaError."""
    with open_master(path, limits or DecodeLimits()) as master:
        master.check(first, end)
        context = master.source.stream.codec_context
        sheet = plan_layout(end - first, context.width, context.height, master.rate)
        planes = _black_planes(sheet)
        colours = 0
        for number, picture in frames_by_number(master, range(first, end, sheet.every)):
            _place_thumbnail(planes, sheet, (number - first) // sheet.every, picture)
            colours = picture.colorspace
            progress((number - first) / (end - first))
        matrix = matrix_of(colours, context.height)
    _write(planes, matrix, to)
    return sheet


def _black_planes(sheet: SpriteSheet) -> tuple[Plane, Plane, Plane]:
    """Return black planes, the two colour planes at half size."""
    height, width = sheet.rows * sheet.height, sheet.columns * sheet.width
    half = (height // 2, width // 2)
    return np.full((height, width), 16, np.uint8), np.full(half, 128, np.uint8), np.full(half, 128, np.uint8)


def _place_thumbnail(planes: tuple[Plane, Plane, Plane], sheet: SpriteSheet, place: int, picture: VideoFrame) -> None:
    row, column = divmod(place, sheet.columns)
    for number, (plane, stored) in enumerate(zip(planes, picture.planes, strict=True)):
        width, height = (sheet.width, sheet.height) if number == 0 else (sheet.width // 2, sheet.height // 2)
        rows: Plane = np.frombuffer(memoryview(stored), dtype=np.uint8)
        large = rows.reshape(-1, stored.line_size)[: stored.height, : stored.width]
        tile = plane[row * height : (row + 1) * height, column * width : (column + 1) * width]
        cv2.resize(_halve(large, width, height), (width, height), dst=tile, interpolation=cv2.INTER_AREA)


def _halve(plane: Plane, width: int, height: int) -> Plane:
    """Halve while the result stays large enough. Measured: halving takes a tenth of the time of any other ratio."""
    while (
        plane.shape[0] % 2 == plane.shape[1] % 2 == 0 and plane.shape[0] >= 2 * height and plane.shape[1] >= 2 * width
    ):
        half = (plane.shape[1] // 2, plane.shape[0] // 2)
        plane = np.asarray(cv2.resize(plane, half, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return plane


def _write(planes: tuple[Plane, Plane, Plane], matrix: str, to: Path) -> None:
    height, width = planes[0].shape
    flat = np.concatenate([plane.reshape(-1) for plane in planes]).reshape(height * 3 // 2, width)
    frame = VideoFrame.from_ndarray(flat, format="yuv420p")
    if matrix == "bt709":  # WebP supports BT.601 only
        frame = frame.reformat(src_colorspace=Colorspace.ITU709, dst_colorspace=Colorspace.ITU601, threads=1)
    frame.pts = 0
    with av.open(str(to), "w", format="webp") as out:
        stream = out.add_stream("libwebp", rate=1, width=width, height=height)
        stream.pix_fmt = "yuv420p"
        stream.options = {"quality": str(QUALITY), "compression_level": str(METHOD)}
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))


def _even(side: float) -> int:
    return max(2, round(side / 2) * 2)
