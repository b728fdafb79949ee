"""Pictures out of a file: a few in colour near given moments, or many small grey ones at even steps.

Both go through the file once and decode only what has to be: what nobody refers to is skipped, and so is the end
of a group of pictures after the last one that is asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from found_footy.domain.errors import MediaBroken
from found_footy.media.opening import Deadline, Limits, Source, check_size, decoded, opened
from found_footy.media.sampling_plan import Plan, plan
from found_footy.media.timeline import Timeline, timeline_of

Picture = NDArray[np.uint8]

PLANAR_GREY = frozenset({"yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p", "nv12", "gray"})
"""Pixel formats whose first plane is the brightness in 8 bits: it can be used as it is."""

LATE_SECONDS = 0.1
"""By which a picture may come after one that was lost, to stand for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture, turned the right way up."""

    seconds: float
    """Since the first picture of the file."""
    pixels: Picture
    """Height x width x 3 in the order blue, green, red; or height x width for grey. 0-255."""


def frames_at(path: Path, fractions: Sequence[float], limits: Limits | None = None) -> list[Frame]:
    """The pictures (BGR) nearest to the given fractions of the duration, in that order."""
    limits = limits or Limits()
    timeline = timeline_of(path, limits)
    moments = [fraction * timeline.duration for fraction in fractions]
    found: dict[int, Frame] = {}
    for place, seconds, frame in _pictures(path, timeline, moments, limits):
        found[place] = Frame(
            seconds, _upright(np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8), frame.rotation)
        )
    if not found:
        raise MediaBroken(f"{path}: no picture of it can be decoded")
    # A damaged picture is replaced by the nearest one that can be decoded.
    return [found.get(i) or min(found.values(), key=lambda f: abs(f.seconds - moments[i])) for i in range(len(moments))]


def sample(
    path: Path,
    every_seconds: float,
    longest_side: int,
    limits: Limits | None = None,
    timeline: Timeline | None = None,
) -> Iterator[Frame]:
    """Small grey pictures at 0, 1, 2… steps; `seconds` is the step's own time. Damaged ones are left out.

    All have the size of the first, also where the resolution changes on the way. Who has read the file's timeline
    already can pass it.
    """
    limits = limits or Limits()
    timeline = timeline or timeline_of(path, limits)
    count = int(timeline.duration / every_seconds - 1e-6) + 1
    moments = [step * every_seconds for step in range(count)]
    size: tuple[int, int] | None = None
    for place, _, frame in _pictures(path, timeline, moments, limits):
        grey = _grey(frame)
        size = size or _fitted(grey.shape[1], grey.shape[0], longest_side)
        small = np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        yield Frame(moments[place], _upright(small, frame.rotation))


def _pictures(
    path: Path, timeline: Timeline, moments: Sequence[float], limits: Limits
) -> Iterator[tuple[int, float, VideoFrame]]:
    """(place in `moments`, seconds, picture), in the order in which the pictures are shown."""
    with opened(path, limits) as source:
        stream = source.stream
        stream.thread_type = "AUTO"
        deadline = Deadline(path, limits.wall_seconds)
        way = _planned if timeline.trusted else _counted
        for place, seconds, frame in way(source, timeline, moments, deadline):
            check_size(path, frame.width, frame.height, limits)
            yield place, seconds, frame


def _planned(
    source: Source, timeline: Timeline, moments: Sequence[float], deadline: Deadline
) -> Iterator[tuple[int, float, VideoFrame]]:
    todo = plan(timeline, moments)
    second = dict(zip(timeline.pts.tolist(), timeline.seconds.tolist(), strict=True))
    waiting = deque(sorted(todo.moments))
    for frame in _needed(source, todo, deadline):
        # A wanted picture that the decoder lost is replaced by the next one that comes soon enough.
        while waiting and frame.pts is not None and waiting[0] <= frame.pts:
            due = waiting.popleft()
            if second.get(frame.pts, 0.0) - second[due] <= LATE_SECONDS:
                for place in todo.moments[due]:
                    yield place, second[due], frame


def _needed(source: Source, todo: Plan, deadline: Deadline) -> Iterator[VideoFrame]:
    context = source.stream.codec_context
    at, gap = -1, False
    for packet in source.container.demux(source.stream):
        deadline.check()
        if packet.size:
            at += 1
            if at >= todo.needed.size or not todo.needed[at]:
                gap = True
                continue
            if gap:
                # As after a seek: a keyframe need not be one that makes the decoder forget what it has seen.
                yield from decoded(context, None)
                context.flush_buffers()
            gap = False
            context.skip_frame = "DEFAULT" if todo.wanted[at] else "NONREF"
        yield from decoded(context, packet)


def _counted(
    source: Source, timeline: Timeline, moments: Sequence[float], deadline: Deadline
) -> Iterator[tuple[int, float, VideoFrame]]:
    """For files without usable times: the n-th picture is shown at n / rate."""
    place = 0
    context = source.stream.codec_context
    frames = (frame for packet in source.container.demux(source.stream) for frame in decoded(context, packet))
    for number, frame in enumerate(frames):
        deadline.check()
        seconds = number / timeline.rate
        while place < len(moments) and moments[place] < seconds + 0.5 / timeline.rate:
            yield place, seconds, frame
            place += 1


def _grey(frame: VideoFrame) -> Picture:
    if frame.format.name not in PLANAR_GREY:
        frame = frame.reformat(format="gray")
    plane = frame.planes[0]
    rows: Picture = np.frombuffer(memoryview(plane), dtype=np.uint8)
    return rows.reshape(-1, plane.line_size)[: frame.height, : frame.width]


def _fitted(width: int, height: int, longest_side: int) -> tuple[int, int]:
    scale = longest_side / max(width, height)
    return max(16, round(width * scale)), max(16, round(height * scale))


def _upright(pixels: Picture, rotation: int) -> Picture:
    """Turns counterclockwise by a multiple of 90 degrees, as a player does."""
    turns = round(rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(pixels, turns)) if turns else pixels
