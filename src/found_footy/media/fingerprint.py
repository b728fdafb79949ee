"""Perceptual fingerprints of clips: content crop, difference hashes, and their serialization.

Posted clips have black bars, coloured borders, captions on bars, or bars filled with a blurred copy of the frame. The
crop is computed once per clip from frames spread over it: a dark scene is short, a bar stays.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from pathlib import Path

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from found_footy.errors import MediaBroken
from found_footy.media.container import DecodeLimits, timeline_from_packets
from found_footy.media.cut import frames_by_number, open_master
from found_footy.media.frames import sample_grey

SAMPLED_FRAMES = 40
"""Number of frames, spread over the clip, used to find bars."""
BAR_DEVIATION = 3.0
"""Maximum deviation of a bar's pixel from the bar's colour in grey levels, averaged over time."""
BAR_SHARE = 0.8
"""Minimum share of a bar's row that has the bar's colour."""
CAPTION_MARGIN = 0.04
"""A row with a caption counts as bar if this share at both of its ends has the bar's colour."""
BAR_STEP = 8.0
"""Minimum step from a bar to the content, in grey levels: even grass in the foreground has the colour of a bar, but
passes into the rest of the picture without an edge.
"""
MAX_CROP = 0.4
"""Maximum share of a side to crop; a clip that is mostly bar is left unchanged."""
MIN_EDGE = 3.0
"""Minimum edge between content and blurred bar, as a multiple of the difference between adjacent rows of the bar."""
MAX_DETAIL = 0.35
"""Maximum fine detail of a blurred bar, as a share of that of the content."""
MAX_ASYMMETRY = 0.03
"""Maximum difference in size of two opposite blurred bars, as a share of the side."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CropBox:
    """Rows top to bottom and columns left to right, ends exclusive."""

    top: int
    bottom: int
    left: int
    right: int


def content_box(frames: NDArray[np.uint8]) -> CropBox:
    """Find the content in grey frames of shape (frames, height, width)."""
    sampled = frames[np.unique(np.linspace(0, len(frames) - 1, SAMPLED_FRAMES).astype(int))].astype(np.float32)
    box = CropBox(0, sampled.shape[1], 0, sampled.shape[2])
    # Bars can be nested: a clip that already had some is posted with new ones.
    for find_bars in (_soft_bars, _flat_bars, _flat_bars):
        rows = find_bars(sampled[:, box.top : box.bottom, box.left : box.right])
        box = replace(box, top=box.top + rows[0], bottom=box.bottom - rows[1])
        columns = find_bars(sampled[:, box.top : box.bottom, box.left : box.right].swapaxes(1, 2))
        box = replace(box, left=box.left + columns[0], right=box.right - columns[1])
    return box


def _flat_bars(frames: Floats) -> tuple[int, int]:
    """Return the number of single-coloured rows to crop at the top and the bottom."""
    limit = int(frames.shape[1] * MAX_CROP)
    above, below = _flat_rows(frames), _flat_rows(frames[:, ::-1])
    if above > limit or below > limit:
        return 0, 0
    # Scaling mixes the outermost row of the content with the bar.
    return above + (above > 0), below + (below > 0)


def _flat_rows(frames: Floats) -> int:
    near = np.abs(frames - np.median(frames[:, 0])).mean(axis=0) < BAR_DEVIATION
    flat = near.mean(axis=1) >= BAR_SHARE
    margin = max(1, round(near.shape[1] * CAPTION_MARGIN))
    caption = near[:, :margin].all(axis=1) & near[:, -margin:].all(axis=1)
    bar = flat | caption
    reach = int(bar.size if bar.all() else np.argmin(bar))
    inside = np.flatnonzero(flat[:reach])
    rows = int(inside[-1]) + 1 if inside.size else 0
    return rows if 0 < rows < bar.size and _ends_in_a_step(frames, rows) else 0


def _ends_in_a_step(frames: Floats, rows: int) -> bool:
    """Compare the bar with the second row of the content: scaling mixes the first one with the bar."""
    content = frames[:, min(rows + 1, frames.shape[1] - 1)]
    return float(np.median(np.abs(content - frames[:, :rows].mean()))) >= BAR_STEP


def _soft_bars(frames: Floats) -> tuple[int, int]:
    """Return the number of blurred rows to crop at the top and the bottom, if both end in a sharp edge."""
    height = frames.shape[1]
    steps = np.abs(np.diff(frames, axis=1)).mean(axis=0)
    line = np.median(steps, axis=1)
    limit, slack = int(height * MAX_CROP), max(1, round(height * MAX_ASYMMETRY))
    upper = int(np.argmax(line[:limit]))
    lower = int(np.argmax(line[::-1][:limit]))
    if abs(upper - lower) > slack or min(upper, lower) < slack or max(upper, lower) + 2 > limit:
        return 0, 0
    detail = np.abs(np.diff(frames, n=2, axis=2)).mean(axis=(0, 2))
    inside = float(np.median(detail[upper + 2 : height - lower - 2]))
    soft = max(detail[: upper - 1].mean(), detail[height - lower + 1 :].mean()) < MAX_DETAIL * inside
    sharp = line[upper] > MIN_EDGE * np.median(line[:upper]) and line[-1 - lower] > MIN_EDGE * np.median(
        line[height - 1 - lower :]
    )
    return (upper + 2, lower + 2) if soft and sharp else (0, 0)


# --- Fingerprint: 64-bit frame hashes at even steps, and their text and binary forms.


STEP = 0.125
"""Seconds between two hashes: a copy cut between two of them is at most a sixteenth of a second off. At twice the step,
fast motion is too different from one sample to the next.
"""

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]

_HEADER = struct.Struct("<2sHI")
_MAGIC = b"F1"
_TEXT = re.compile(r"dense:(\d+(?:\.\d+)?):(.*)")
_PAIR = re.compile(r"(\d+(?:\.\d+)?)=([0-9a-f]{16})")
_MIRRORED = np.array([int(f"{byte:08b}"[::-1], 2) ^ 0xFF for byte in range(256)], dtype=np.uint8)
MAX_FRAMES = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    places: Places
    """Ascending from 0; place n is at n * step seconds."""
    hashes: Hashes
    step: float = STEP

    def __post_init__(self) -> None:
        if self.places.shape != self.hashes.shape or self.places.ndim != 1:
            raise ValueError("expected one hash per frame position")
        if not 0.001 <= self.step <= 60:
            raise ValueError(f"invalid step of {self.step} s: expected 0.001 to 60")
        if self.places.size and (
            self.places[0] < 0 or self.places[-1] >= MAX_FRAMES or np.any(np.diff(self.places) <= 0)
        ):
            raise ValueError(f"expected ascending frame positions from 0 to {MAX_FRAMES - 1}")

    def __len__(self) -> int:
        return int(self.hashes.size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fingerprint) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def to_text(self) -> str:
        pairs = zip(self.places.tolist(), self.hashes.tolist(), strict=True)
        return f"dense:{_format_number(self.step)}:" + ",".join(
            f"{_format_number(n * self.step)}={h:016x}" for n, h in pairs
        )

    @classmethod
    def from_text(cls, text: str) -> Fingerprint:
        whole = _TEXT.fullmatch(text.strip())
        if whole is None:
            raise ValueError("a fingerprint begins with dense:<step>:")
        step = float(whole[1])
        pairs = [_PAIR.fullmatch(part) for part in whole[2].split(",")] if whole[2] else []
        if not all(pairs):
            raise ValueError("each entry of a fingerprint is <seconds>=<16 hexadecimal digits>")
        places = [round(float(pair[1]) / step) for pair in pairs if pair] if step else []
        hashes = [int(pair[2], 16) for pair in pairs if pair]
        return cls(np.array(places, dtype=np.int64), np.array(hashes, dtype=np.uint64), step)

    def to_bytes(self) -> bytes:
        """Serialize as step in milliseconds, number of places, one bit per place for "has a hash", then the hashes."""
        count = int(self.places[-1]) + 1 if self.places.size else 0
        present = np.zeros(count, dtype=np.bool_)
        present[self.places] = True
        header = _HEADER.pack(_MAGIC, round(self.step * 1000), count)
        return header + np.packbits(present).tobytes() + self.hashes.astype("<u8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Fingerprint:
        if len(data) < _HEADER.size or data[:2] != _MAGIC:
            raise ValueError("not a stored fingerprint")
        _, milliseconds, count = _HEADER.unpack_from(data)
        begin = _HEADER.size + (count + 7) // 8
        if count > MAX_FRAMES or len(data) < begin:
            raise ValueError("a stored fingerprint is truncated")
        present = np.unpackbits(np.frombuffer(data[_HEADER.size : begin], dtype=np.uint8), count=count)
        places = np.flatnonzero(present)
        if len(data) != begin + 8 * places.size:
            raise ValueError("a stored fingerprint is truncated")
        return cls(places, np.frombuffer(data, dtype="<u8", offset=begin).astype(np.uint64), milliseconds / 1000)


def mirror(fingerprint: Fingerprint) -> Fingerprint:
    """Return the fingerprint of the horizontally flipped clip.

    A bit is set if the right neighbour is brighter. Flipping reverses the bits of a row and inverts them, so no second
    hash has to be stored.
    """
    rows = np.ascontiguousarray(fingerprint.hashes).view(np.uint8)
    return Fingerprint(fingerprint.places, _MIRRORED[rows].view(np.uint64), fingerprint.step)


def _format_number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


# --- Hashing a clip, independent of size and colour.


MAX_SIDE_PX = 192
"""Longest side of reduced frames in pixels: one pixel is half a percent of the frame, enough to find its borders."""
ROWS, COLUMNS = 8, 8
MIN_CONTRAST = 1.0
"""Minimum mean difference of adjacent cells in grey levels (0-255), before equalization; below it, bits are noise."""


def hash_video(path: Path, limits: DecodeLimits | None = None) -> Fingerprint:
    return hash_with_duration(path, limits)[0]


def hash_with_duration(path: Path, limits: DecodeLimits | None = None) -> tuple[Fingerprint, float]:
    """Return the fingerprint and the duration in seconds from one pass."""
    limits = limits or DecodeLimits()
    timeline = timeline_from_packets(path, limits)
    frames = list(sample_grey(path, STEP, MAX_SIDE_PX, limits, timeline))
    if not frames:
        raise MediaBroken(f"{path}: no decodable frames")
    places = np.array([round(frame.seconds / STEP) for frame in frames], dtype=np.int64)
    return fingerprint_of(np.stack([frame.pixels for frame in frames]), places), timeline.duration


def fingerprint_of(frames: NDArray[np.uint8], places: NDArray[np.int64]) -> Fingerprint:
    """Hash grey frames of shape (frames, height, width). Flat and dark frames are omitted."""
    box = content_box(frames)
    hashes = [_dhash(picture, box) for picture in frames]
    hashed = np.array([each is not None for each in hashes])
    return Fingerprint(places[hashed], np.array([each for each in hashes if each is not None], dtype=np.uint64))


def _dhash(picture: NDArray[np.uint8], box: CropBox) -> int | None:
    """Return the bits row by row from the top left, highest bit first; None for a frame without contrast."""
    cut = np.ascontiguousarray(picture[box.top : box.bottom, box.left : box.right])
    if np.abs(np.diff(_cells(cut), axis=1)).mean() < MIN_CONTRAST:
        return None
    cells = _cells(np.asarray(cv2.equalizeHist(cut), dtype=np.uint8))
    return int.from_bytes(np.packbits(cells[:, 1:] > cells[:, :-1]).tobytes(), "big")


def _cells(picture: NDArray[np.uint8]) -> NDArray[np.int16]:
    return np.asarray(cv2.resize(picture, (COLUMNS + 1, ROWS), interpolation=cv2.INTER_AREA), dtype=np.int16)


# --- Hashing a range of a master.


MAX_SECONDS = 600
"""Only the start of a longer range is hashed: no copy of a goal is that long."""
MIN_SIDE_PX = 16


def hash_range(path: Path, first: int, end: int, limits: DecodeLimits | None = None) -> Fingerprint:
    """Return the same result as `hash_video` for a file with these frames. Raises MediaError."""
    with open_master(path, limits or DecodeLimits()) as master:
        master.check(first, end)
        numbers = [first + place for place in select_frames_to_hash(end - first, master.rate)]
        small = {number: _grey(frame) for number, frame in frames_by_number(master, numbers)}
    return fingerprint_of(np.stack([small[number] for number in numbers]), np.arange(len(numbers), dtype=np.int64))


def select_frames_to_hash(frames: int, rate: Fraction) -> list[int]:
    """Return the frame nearest to each step of a range of `frames` frames."""
    step = Fraction(STEP)
    seconds = min(frames / rate, Fraction(MAX_SECONDS))
    # The earlier one of two equally near frames.
    nearest = (ceil(place * step * rate - Fraction(1, 2)) for place in range(ceil(seconds / step)))
    return [min(number, frames - 1) for number in nearest]


def _grey(frame: VideoFrame) -> NDArray[np.uint8]:
    plane = frame.planes[0]  # brightness, in a master
    rows: NDArray[np.uint8] = np.frombuffer(memoryview(plane), dtype=np.uint8)
    scale = MAX_SIDE_PX / max(frame.width, frame.height)
    size = (max(MIN_SIDE_PX, round(frame.width * scale)), max(MIN_SIDE_PX, round(frame.height * scale)))
    picture = rows.reshape(-1, plane.line_size)[: frame.height, : frame.width]
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
