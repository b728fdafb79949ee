"""One picture out of a sheet, as a template draws it: an SVG shows a part of an image without any style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SheetPicture:
    url: str
    width: int
    height: int
    """Of the picture."""
    left: int
    top: int
    sheet_width: int
    sheet_height: int


def picture_of(sheet: Mapping[str, Any] | None, frame: int | None = None) -> SheetPicture | None:
    """The one that shows this frame of the source, or the last before it; without a frame, one from its first third,
    since films often begin in black. None where there is no sheet."""
    if sheet is None:
        return None
    count, columns, rows = (max(1, int(sheet[name])) for name in ("count", "columns", "rows"))
    width, height = int(sheet["width"]), int(sheet["height"])
    wanted = count // 3 if frame is None else (frame - int(sheet["first"])) // max(1, int(sheet["every"]))
    place = min(max(0, wanted), count - 1, columns * rows - 1)
    return SheetPicture(
        str(sheet["url"]), width, height, place % columns * width, place // columns * height, columns * width,
        rows * height,
    )  # fmt: skip
