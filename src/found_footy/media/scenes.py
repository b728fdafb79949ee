"""The scenes of a film: a file in, the first frame of each scene out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from av.video.frame import VideoFrame

from found_footy.domain.errors import MediaBroken
from found_footy.media.opening import Deadline, Limits, check_size, decoded, opened
from found_footy.media.scene_cuts import cuts_of
from found_footy.media.scene_signal import Meter, reduced
from found_footy.media.timeline import timeline_of

DETECTOR = "tiny-yuv/1"
"""Name and version: what another one has found is not what this one finds."""
LEAST_SECONDS = 0.6
LONG = Limits(frames=6 * 3600 * 120, seconds=6 * 3600.0 + 60, wall_seconds=18_000.0)
"""For sources of hours."""
TELL_EVERY = 64
"""Frames between two words of progress."""


@dataclass(frozen=True, slots=True)
class Scenes:
    fps: float
    """On average."""
    cuts: tuple[int, ...]
    """The first frame of each scene but the first, frames being counted from 0 as they are shown."""
    frames: int


def find_cuts(
    path: Path,
    least_seconds: float = LEAST_SECONDS,
    limits: Limits | None = None,
    progress: Callable[[float], None] | None = None,
) -> Scenes:
    """Decodes every frame once. No scene is shorter than `least_seconds`. Raises a MediaError."""
    limits = limits or LONG
    timeline = timeline_of(path, limits)
    meter, count = Meter(timeline.rate), 0
    for frame in _frames(path, limits):
        meter.take(reduced(frame))
        count += 1
        if progress is not None and count % TELL_EVERY == 0:
            progress(min(1.0, count / timeline.frames))
    if not count:
        raise MediaBroken(f"{path}: no picture of it can be decoded")
    if progress is not None:
        progress(1.0)
    least = max(1, math.ceil(least_seconds * timeline.rate - 1e-6))
    return Scenes(round(timeline.rate, 6), cuts_of(meter.done(), least), count)


def _frames(path: Path, limits: Limits) -> Iterator[VideoFrame]:
    with opened(path, limits) as source:
        source.stream.thread_type = "AUTO"
        context = source.stream.codec_context
        # Smoothing what no other frame refers to costs time and changes nothing that is measured.
        context.options = {**context.options, "skip_loop_filter": "noref"}
        deadline = Deadline(path, limits.wall_seconds)
        for packet in source.container.demux(source.stream):
            deadline.check()
            for frame in decoded(context, packet):
                check_size(path, frame.width, frame.height, limits)
                yield frame
