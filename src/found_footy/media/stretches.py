"""Frames of a master by their numbers: from the keyframe before them on, without reading the rest of a long film.

A master is what `mastering.py` makes: frame n is shown at n / rate, exactly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from found_footy.domain.errors import MediaBroken, MediaError
from found_footy.media.opening import Deadline, Limits, Source, check_size, decoded, opened
from found_footy.media.sampling_plan import Plan, plan
from found_footy.media.timeline import Timeline

APART_SECONDS = 8.0
"""Wanted frames that lie farther apart are sought one by one, and nothing between them is read."""


@dataclass(frozen=True, slots=True)
class MasterFile:
    path: Path
    source: Source
    rate: Fraction
    frames: int
    unit: int
    """Of the stream's time base, from one frame to the next."""
    limits: Limits
    deadline: Deadline

    def number(self, moment: int) -> int:
        """The frame that is shown at this moment of the stream's time base."""
        return round(moment / self.unit)

    def check(self, first: int, end: int) -> None:
        if not 0 <= first < end <= self.frames:
            raise MediaError(f"{self.path}: frames {first} to {end} are not among its {self.frames}")


@contextmanager
def master_file(path: Path, limits: Limits) -> Iterator[MasterFile]:
    with opened(path, limits) as source:
        stream = source.stream
        stream.thread_type = "AUTO"
        rate, base = stream.average_rate, stream.time_base
        if not rate or not base or not stream.frames:
            raise MediaBroken(f"{path} is no master: it does not tell its rate and its frames")
        unit = 1 / (rate * base)
        if unit.denominator != 1:
            raise MediaBroken(f"{path} is no master: its frames last no whole units of its time")
        deadline = Deadline(path, limits.wall_seconds)
        yield MasterFile(path, source, rate, stream.frames, int(unit), limits, deadline)


def packets(master: MasterFile, first: int, end: int) -> Timeline:
    """What has to be decoded to show the frames from `first` up to but without `end`, in the order of decoding.

    `seconds` are those of the film, and what is not among these frames is not `shown`.
    """
    pts, key = [], []
    for packet in packets_from(master, first):
        assert packet.pts is not None
        if packet.dts is not None and packet.dts >= end * master.unit:
            break
        pts.append(packet.pts)
        key.append(packet.is_keyframe)
    moments = np.array(pts, dtype=np.int64)
    numbers = np.round(moments / master.unit).astype(np.int64)
    shown = (numbers >= first) & (numbers < end)
    if (count := int(np.count_nonzero(shown))) != end - first:
        raise MediaBroken(f"{master.path}: it holds only {count} of the frames {first} to {end}")
    return Timeline(moments, numbers / float(master.rate), np.array(key), shown, True, float(master.rate))


def packets_from(master: MasterFile, frame: int) -> Iterator[Packet[VideoStream]]:
    """From the last keyframe on that is shown no later than this frame."""
    container, stream = master.source
    target = frame * master.unit
    while True:
        container.seek(target, stream=stream)
        found = _with_times(master)
        head = next(found, None)
        if head is None or head.pts is None:
            raise MediaBroken(f"{master.path}: frame {frame} cannot be reached")
        # A seek may look at when packets are decoded, and so end at a keyframe that is shown too late.
        if master.number(head.pts) <= frame:
            yield head
            yield from found
            return
        if head.dts is None or head.dts - 1 >= target:
            raise MediaBroken(f"{master.path}: frame {frame} cannot be reached")
        target = head.dts - 1


def pictures(master: MasterFile, wanted: Sequence[int]) -> Iterator[tuple[int, VideoFrame]]:
    """(number, picture) for each wanted frame, in order. One that is lost is stood for by the next that is not."""
    if not wanted:
        return
    last: VideoFrame | None = None
    missing: list[int] = []
    for run in _runs(sorted(set(wanted)), round(APART_SECONDS * master.rate)):
        timeline = packets(master, run[0], run[-1] + 1)
        todo = plan(timeline, [number / float(master.rate) for number in run])
        waiting = deque([*missing, *run])
        for frame in _needed(master, todo, run[0]):
            check_size(master.path, frame.width, frame.height, master.limits)
            assert frame.pts is not None
            while waiting and waiting[0] <= master.number(frame.pts):
                yield waiting.popleft(), frame
            last = frame
        missing = list(waiting)
    if last is None:
        raise MediaBroken(f"{master.path}: no picture of it can be decoded")
    for number in missing:
        yield number, last


def all_pictures(master: MasterFile, first: int, end: int) -> Iterator[tuple[int, VideoFrame]]:
    """Each frame from `first` up to but without `end`, as far as it can be decoded."""
    for frame in _decoding(master, first, end):
        check_size(master.path, frame.width, frame.height, master.limits)
        if frame.pts is not None and first <= (number := master.number(frame.pts)) < end:
            yield number, frame


def _decoding(master: MasterFile, first: int, end: int) -> Iterator[VideoFrame]:
    context = master.source.stream.codec_context
    context.skip_frame = "DEFAULT"
    for packet in packets_from(master, first):
        master.deadline.check()
        if packet.dts is not None and packet.dts >= end * master.unit:
            break
        yield from decoded(context, packet)
    yield from decoded(context, None)


def _needed(master: MasterFile, todo: Plan, first: int) -> Iterator[VideoFrame]:
    context = master.source.stream.codec_context
    gap = False
    for needed, wanted, packet in zip(todo.needed, todo.wanted, packets_from(master, first), strict=False):
        master.deadline.check()
        if not needed:
            gap = True
            continue
        if gap:
            # As after a seek: a keyframe need not be one that makes the decoder forget what it has seen.
            yield from decoded(context, None)
            context.flush_buffers()
            gap = False
        context.skip_frame = "DEFAULT" if wanted else "NONREF"
        yield from decoded(context, packet)
    yield from decoded(context, None)


def _with_times(master: MasterFile) -> Iterator[Packet[VideoStream]]:
    for packet in master.source.container.demux(master.source.stream):
        master.deadline.check()
        if not packet.size:
            continue
        if packet.pts is None:
            raise MediaBroken(f"{master.path} is no master: it has frames without a time")
        yield packet


def _runs(numbers: Sequence[int], apart: int) -> Iterator[list[int]]:
    """Rising numbers, parted where the way from one to the next is longer than that."""
    begin = 0
    for place, (one, other) in enumerate(pairwise(numbers), 1):
        if other - one > apart:
            yield list(numbers[begin:place])
            begin = place
    yield list(numbers[begin:])
