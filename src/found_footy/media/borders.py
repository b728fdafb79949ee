"""Where the picture proper lies inside the frames of a clip: bars and borders do not belong to it.

People post clips with black bars, coloured frames, captions on the bars, or bars filled with a blurred copy of the
picture. What is cut is decided once for the whole clip, from frames spread over it: a dark scene lasts for moments, a
bar stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FRAMES = 40
"""So many frames, spread over the clip, are looked at."""
BAR_DEVIATION = 3.0
"""Grey levels by which a pixel of a bar may differ from the bar's colour, on average over time."""
BAR_SHARE = 0.8
"""Of a bar's row, the share that has the bar's colour."""
CAPTION_MARGIN = 0.04
"""Rows with a caption count as bar if at both ends this share of them has the bar's colour."""
LARGEST_CUT = 0.4
"""No more than this share of a side is cut; a clip that is mostly bar is left as it is."""
EDGE = 3.0
"""The edge between picture and blurred bar, as a multiple of the difference between neighbouring rows of the bar."""
BLUR = 0.35
"""Fine detail in a blurred bar, as a share of that in the picture."""
ALIKE = 0.03
"""Blurred bars on both sides are alike within this share of the side."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Box:
    """Rows top..bottom and columns left..right, the ends not included."""

    top: int
    bottom: int
    left: int
    right: int


def picture_box(frames: NDArray[np.uint8]) -> Box:
    """For frames x height x width of grey levels."""
    chosen = frames[np.unique(np.linspace(0, len(frames) - 1, FRAMES).astype(int))].astype(np.float32)
    box = Box(0, chosen.shape[1], 0, chosen.shape[2])
    # Bars may lie around bars: a clip that had some already is posted with new ones.
    for find in (_soft_bars, _flat_bars, _flat_bars):
        rows = find(chosen[:, box.top : box.bottom, box.left : box.right])
        box = replace(box, top=box.top + rows[0], bottom=box.bottom - rows[1])
        columns = find(chosen[:, box.top : box.bottom, box.left : box.right].swapaxes(1, 2))
        box = replace(box, left=box.left + columns[0], right=box.right - columns[1])
    return box


def _flat_bars(frames: Floats) -> tuple[int, int]:
    """How many rows of one colour to cut at the top and at the bottom."""
    most = int(frames.shape[1] * LARGEST_CUT)
    above, below = _flat_rows(frames), _flat_rows(frames[:, ::-1])
    if above > most or below > most:
        return 0, 0
    # The outermost row of the picture is mixed with the bar when the frame is reduced.
    return above + (above > 0), below + (below > 0)


def _flat_rows(frames: Floats) -> int:
    near = np.abs(frames - np.median(frames[:, 0])).mean(axis=0) < BAR_DEVIATION
    flat = near.mean(axis=1) >= BAR_SHARE
    margin = max(1, round(near.shape[1] * CAPTION_MARGIN))
    caption = near[:, :margin].all(axis=1) & near[:, -margin:].all(axis=1)
    bar = flat | caption
    reach = int(bar.size if bar.all() else np.argmin(bar))
    inside = np.flatnonzero(flat[:reach])
    return int(inside[-1]) + 1 if inside.size else 0


def _soft_bars(frames: Floats) -> tuple[int, int]:
    """How many rows to cut at the top and at the bottom, where both are soft and end in a sharp line."""
    height = frames.shape[1]
    steps = np.abs(np.diff(frames, axis=1)).mean(axis=0)
    line = np.median(steps, axis=1)
    most, slack = int(height * LARGEST_CUT), max(1, round(height * ALIKE))
    upper = int(np.argmax(line[:most]))
    lower = int(np.argmax(line[::-1][:most]))
    if abs(upper - lower) > slack or min(upper, lower) < slack or max(upper, lower) + 2 > most:
        return 0, 0
    detail = np.abs(np.diff(frames, n=2, axis=2)).mean(axis=(0, 2))
    inside = float(np.median(detail[upper + 2 : height - lower - 2]))
    soft = max(detail[: upper - 1].mean(), detail[height - lower + 1 :].mean()) < BLUR * inside
    sharp = line[upper] > EDGE * np.median(line[:upper]) and line[-1 - lower] > EDGE * np.median(
        line[height - 1 - lower :]
    )
    return (upper + 2, lower + 2) if soft and sharp else (0, 0)
