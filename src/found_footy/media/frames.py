"""Decoding of selected frames: planning which packets to decode, and extracting frames at given times."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from found_footy.errors import MediaBroken
from found_footy.media.container import (
    DecodeDeadline,
    DecodeLimits,
    Floats,
    FrameTimeline,
    VideoSource,
    check_size,
    decode_packet,
    open_video,
    timeline_from_packets,
)
from found_footy.media.models import Frame

SHORT_GAP_SECONDS = 0.1
"""Measured: skipping less than this saves no time."""


@dataclass(frozen=True, slots=True, eq=False)
class DecodePlan:
    """Flags for each packet of the file, in decoding order."""

    requested: NDArray[np.bool_]
    """The frame is requested."""
    needed: NDArray[np.bool_]
    """The packet must be decoded: it is requested, or a requested one may reference it."""
    moments: dict[int, list[int]]
    """Maps the pts of each requested frame to the indexes of the times at which it is shown."""


def plan_decode(timeline: FrameTimeline, moments: Iterable[float]) -> DecodePlan:
    times = np.fromiter(moments, dtype=np.float64)
    order = np.flatnonzero(timeline.shown)
    order = order[np.argsort(timeline.seconds[order], kind="stable")]
    chosen = order[_frames_shown_at(timeline.seconds[order], times, 1.0 / timeline.rate)]
    requested = np.zeros(timeline.pts.size, dtype=np.bool_)
    requested[chosen] = True
    indexes_by_pts: dict[int, list[int]] = {}
    for place, packet in enumerate(chosen.tolist()):
        indexes_by_pts.setdefault(int(timeline.pts[packet]), []).append(place)
    return DecodePlan(requested, _fill_short_gaps(_mark_needed(timeline, requested), timeline.rate), indexes_by_pts)


def _frames_shown_at(shown: Floats, times: Floats, interval: float) -> NDArray[np.intp]:
    """Return the index of the frame nearest to each time; in a gap, the previous frame is still on screen."""
    after = np.searchsorted(shown, times, side="right").clip(0, shown.size - 1)
    before = (after - 1).clip(0)
    nearer = (shown[after] - times < times - shown[before]) & (shown[after] - shown[before] < 1.5 * interval)
    late = times >= shown[after]
    return np.where(nearer | late, after, before)


def _mark_needed(timeline: FrameTimeline, requested: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark packets from each keyframe to the last requested frame before the next keyframe.

    Frames that follow a keyframe but are shown before it (open GOP) also reference the previous group; if one of them
    is requested, that whole group is needed.
    """
    needed = np.zeros(requested.size, dtype=np.bool_)
    bounds = [0, *(np.flatnonzero(timeline.keyframe[1:]) + 1).tolist(), requested.size]
    whole = False
    for begin, end in reversed(list(pairwise(bounds))):
        inside = np.flatnonzero(requested[begin:end])
        if whole:
            needed[begin:end] = True
        elif inside.size:
            needed[begin : begin + int(inside[-1]) + 1] = True
        leading = timeline.seconds[begin:end] < timeline.seconds[begin]
        whole = bool(np.any(leading & requested[begin:end]))
    return needed


def _fill_short_gaps(needed: NDArray[np.bool_], rate: float) -> NDArray[np.bool_]:
    """Fill short gaps: after a gap the decoder restarts, which costs about as much as a short one saves."""
    filled = needed.copy()
    places = np.flatnonzero(needed)
    for before, after in pairwise(places.tolist()):
        if after - before <= SHORT_GAP_SECONDS * rate:
            filled[before:after] = True
    return filled


# --- Frames of a file: a few in colour at given times, or many small grey ones at even steps.


Picture = NDArray[np.uint8]

PLANAR_GREY = frozenset({"yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p", "nv12", "gray"})
"""Pixel formats whose first plane is 8-bit brightness and can be used directly."""

LATE_SECONDS = 0.1
"""Maximum delay of a frame that replaces a lost one."""


def frames_at(path: Path, fractions: Sequence[float], limits: DecodeLimits | None = None) -> list[Frame]:
    """Return the frames (BGR) nearest to the given fractions of the duration, in that order."""
    limits = limits or DecodeLimits()
    timeline = timeline_from_packets(path, limits)
    moments = [fraction * timeline.duration for fraction in fractions]
    found: dict[int, Frame] = {}
    for place, seconds, frame in _decode_pictures(path, timeline, moments, limits):
        found[place] = Frame(
            seconds, _rotate_upright(np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8), frame.rotation)
        )
    if not found:
        raise MediaBroken(f"{path}: no decodable frames")
    # Replace a damaged frame by the nearest one that can be decoded.
    return [found.get(i) or min(found.values(), key=lambda f: abs(f.seconds - moments[i])) for i in range(len(moments))]


def sample_grey(
    path: Path,
    every_seconds: float,
    longest_side: int,
    limits: DecodeLimits | None = None,
    timeline: FrameTimeline | None = None,
) -> Iterator[Frame]:
    """Yield small grey frames at 0, 1, 2… steps; `seconds` is the time of the step. Damaged frames are omitted.

    All have the size of the first, even if the resolution changes midway. Pass `timeline` if it was already read.
    """
    limits = limits or DecodeLimits()
    timeline = timeline or timeline_from_packets(path, limits)
    count = int(timeline.duration / every_seconds - 1e-6) + 1
    moments = [step * every_seconds for step in range(count)]
    size: tuple[int, int] | None = None
    for place, _, frame in _decode_pictures(path, timeline, moments, limits):
        grey = _grey(frame)
        size = size or _fit_size(grey.shape[1], grey.shape[0], longest_side)
        small = np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        yield Frame(moments[place], _rotate_upright(small, frame.rotation))


def _decode_pictures(
    path: Path, timeline: FrameTimeline, moments: Sequence[float], limits: DecodeLimits
) -> Iterator[tuple[int, float, VideoFrame]]:
    """Yield (index in `moments`, seconds, frame) in display order."""
    with open_video(path, limits) as source:
        stream = source.stream
        stream.thread_type = "AUTO"
        deadline = DecodeDeadline(path, limits.wall_seconds)
        decode = _decode_planned if timeline.trusted else _decode_by_count
        for place, seconds, frame in decode(source, timeline, moments, deadline):
            check_size(path, frame.width, frame.height, limits)
            yield place, seconds, frame


def _decode_planned(
    source: VideoSource, timeline: FrameTimeline, moments: Sequence[float], deadline: DecodeDeadline
) -> Iterator[tuple[int, float, VideoFrame]]:
    plan = plan_decode(timeline, moments)
    seconds_by_pts = dict(zip(timeline.pts.tolist(), timeline.seconds.tolist(), strict=True))
    waiting = deque(sorted(plan.moments))
    for frame in _needed_frames(source, plan, deadline):
        # Replace a requested frame that the decoder lost by the next one that follows soon enough.
        while waiting and frame.pts is not None and waiting[0] <= frame.pts:
            due = waiting.popleft()
            if seconds_by_pts.get(frame.pts, 0.0) - seconds_by_pts[due] <= LATE_SECONDS:
                for place in plan.moments[due]:
                    yield place, seconds_by_pts[due], frame


def _needed_frames(source: VideoSource, plan: DecodePlan, deadline: DecodeDeadline) -> Iterator[VideoFrame]:
    context = source.stream.codec_context
    at, gap = -1, False
    for packet in source.container.demux(source.stream):
        deadline.check()
        if packet.size:
            at += 1
            if at >= plan.needed.size or not plan.needed[at]:
                gap = True
                continue
            if gap:
                # Flush as after a seek: not every keyframe resets the decoder.
                yield from decode_packet(context, None)
                context.flush_buffers()
            gap = False
            context.skip_frame = "DEFAULT" if plan.requested[at] else "NONREF"
        yield from decode_packet(context, packet)


def _decode_by_count(
    source: VideoSource, timeline: FrameTimeline, moments: Sequence[float], deadline: DecodeDeadline
) -> Iterator[tuple[int, float, VideoFrame]]:
    """Select frames of files without usable timestamps: frame n is shown at n / rate."""
    index = 0
    context = source.stream.codec_context
    frames = (frame for packet in source.container.demux(source.stream) for frame in decode_packet(context, packet))
    for number, frame in enumerate(frames):
        deadline.check()
        seconds = number / timeline.rate
        while index < len(moments) and moments[index] < seconds + 0.5 / timeline.rate:
            yield index, seconds, frame
            index += 1


def _grey(frame: VideoFrame) -> Picture:
    if frame.format.name not in PLANAR_GREY:
        frame = frame.reformat(format="gray")
    plane = frame.planes[0]
    rows: Picture = np.frombuffer(memoryview(plane), dtype=np.uint8)
    return rows.reshape(-1, plane.line_size)[: frame.height, : frame.width]


def _fit_size(width: int, height: int, longest_side: int) -> tuple[int, int]:
    scale = longest_side / max(width, height)
    return max(16, round(width * scale)), max(16, round(height * scale))


def _rotate_upright(pixels: Picture, rotation: int) -> Picture:
    """Rotate counterclockwise by a multiple of 90 degrees, as a player does."""
    turns = round(rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(pixels, turns)) if turns else pixels
