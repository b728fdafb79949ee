"""Values that describe media files and their derivatives; standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class MasterVideo:
    """A source's file in the library: H.264 in MP4, upright, constant frame rate (frame n at n / rate seconds)."""

    frames: int
    rate: Fraction
    """Frames per second."""
    width: int
    height: int
    audio: bool
    size: int
    """Bytes."""
    md5: str
    """MD5 of the file, the cache key of scene cuts."""

    @property
    def seconds(self) -> float:
        return float(self.frames / self.rate)


@dataclass(frozen=True, slots=True)
class SpriteSheet:
    """One image with thumbnails of a clip, row by row. Thumbnail n shows the clip's frame `n * every`."""

    columns: int
    rows: int
    width: int
    """Of one thumbnail, as is `height`."""
    height: int
    count: int
    every: int
    """Frames from one thumbnail to the next."""
    frames: int
    """Of the clip."""
    rate: Fraction


@dataclass(frozen=True, slots=True)
class Keyframe:
    number: int
    frame: int
    """Counted in frames of the master."""
    chosen_by: str
    """A position such as `25%`, `sharpest` or `informative`."""
    width: int
    height: int


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    seconds: float
    """From the video's start."""
    pixels: NDArray[np.uint8]
    """Height, width, BGR."""


@dataclass(frozen=True, slots=True)
class RelativeBox:
    """Part of a frame, in fractions of its width and height, so that it holds for every rendition."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class TextLine:
    """A text with its place in pixels."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return max(1.0, self.bottom - self.top)

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2
