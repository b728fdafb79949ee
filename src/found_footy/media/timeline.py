"""When each picture of a file is shown, from its packets alone: nothing is decoded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from av.packet import Packet
from av.video.stream import VideoStream
from numpy.typing import NDArray

from found_footy.domain.errors import MediaBroken, MediaTooLarge
from found_footy.media.opening import Deadline, Limits, Source, opened

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DEFAULT_RATE = 25.0
"""Frames a second for a file that neither says it nor has usable timestamps."""

CUT_OFF_SHARE = 0.9
CUT_OFF_SECONDS = 1.0
"""A file that holds less than this share of what it announces, and lacks more than this, was cut off."""


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """The pictures of a video in the order in which they are decoded."""

    pts: Ints
    """In the stream's time base."""
    seconds: Floats
    """Since the first picture that is shown."""
    keyframe: NDArray[np.bool_]
    shown: NDArray[np.bool_]
    """False for pictures that an edit list hides; they are decoded only because others refer to them."""
    trusted: bool
    """False where the packets carry no usable times; then `seconds` is counted and `pts` means nothing."""
    rate: float
    """Frames a second, on average."""

    @property
    def frames(self) -> int:
        return int(np.count_nonzero(self.shown))

    @property
    def duration(self) -> float:
        """Seconds, with the time for which the last picture stays."""
        return float(self.seconds[self.shown].max()) + 1.0 / self.rate

    @property
    def variable(self) -> bool:
        """Whether the pictures come at uneven times."""
        steps = np.diff(np.sort(self.seconds[self.shown]))
        return bool(steps.size) and float(np.ptp(steps)) > 0.25 * float(np.median(steps)) + 0.001


def timeline_of(path: Path, limits: Limits) -> Timeline:
    with opened(path, limits) as source:
        return read_timeline(source, path, limits)


def read_timeline(source: Source, path: Path, limits: Limits) -> Timeline:
    """Reads the whole file once, within the limits."""
    container, stream = source
    declared = container.duration / 1_000_000 if container.duration else 0.0
    if declared > limits.seconds:
        raise MediaTooLarge(f"{path}: {declared:.0f} s are more than the {limits.seconds:g} s that can be handled")
    if stream.frames > limits.frames:
        raise MediaTooLarge(f"{path}: {stream.frames} frames are more than the {limits.frames} that can be handled")
    deadline = Deadline(path, limits.wall_seconds)
    pts: list[int | None] = []
    key: list[bool] = []
    shown: list[bool] = []
    reached = 0.0
    for packet in container.demux():
        if packet.size == 0:
            continue
        reached = max(reached, _end(packet))
        if packet.stream_index != stream.index:
            continue
        pts.append(packet.pts)
        key.append(packet.is_keyframe)
        shown.append(not packet.is_discard)
        if len(pts) > limits.frames:
            raise MediaTooLarge(f"{path}: more than {limits.frames} frames")
        if len(pts) % 256 == 0:
            deadline.check()
    if not any(shown):
        raise MediaBroken(f"{path} holds no picture")
    start = (container.start_time or 0) / 1_000_000
    if reached - start < min(CUT_OFF_SHARE * declared, declared - CUT_OFF_SECONDS):
        raise MediaBroken(f"{path} is cut off: {reached - start:.1f} of {declared:.1f} s are there")
    timeline = _timeline(stream, pts, np.array(key), np.array(shown))
    if timeline.duration > limits.seconds:
        raise MediaTooLarge(f"{path}: more than {limits.seconds:g} s")
    return timeline


def _end(packet: Packet) -> float:  # type: ignore[type-arg]
    moment = packet.pts if packet.pts is not None else packet.dts
    return float((moment + (packet.duration or 0)) * packet.time_base) if moment is not None else 0.0


def _timeline(stream: VideoStream, pts: list[int | None], key: NDArray[np.bool_], shown: NDArray[np.bool_]) -> Timeline:
    known = [moment for moment in pts if moment is not None]
    named = float(stream.average_rate or stream.guessed_rate or DEFAULT_RATE)
    if len(known) < len(pts) or len(set(known)) < len(known) or stream.time_base is None:
        count = np.arange(len(pts))
        return Timeline(count, count / named, key, shown, False, named)
    moments = np.array(known, dtype=np.int64)
    seconds = (moments - moments[shown].min()) * float(stream.time_base)
    span = float(np.ptp(seconds[shown]))
    rate = (np.count_nonzero(shown) - 1) / span if span > 0 else named
    return Timeline(moments, seconds, key, shown, True, float(rate))
