"""Frame-accurate access to masters and cuts from them, decoding from the preceding keyframe only.

In a master (see `master.py`), frame n is shown at exactly n / rate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
from av.container import OutputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from found_footy.errors import MediaBroken, MediaError
from found_footy.media import audio as sound
from found_footy.media import encode as encoding
from found_footy.media.container import (
    DecodeDeadline,
    DecodeLimits,
    FrameTimeline,
    VideoSource,
    check_size,
    decode_packet,
    open_video,
)
from found_footy.media.frames import DecodePlan, plan_decode
from found_footy.media.mp4 import (
    AnyPacket,
    copy_video_packets,
    find_copyable_span,
    is_idr,
    mux,
    nal_length_bytes,
    open_mp4,
    resample_frames,
)

SEEK_DISTANCE_SECONDS = 8.0
"""Requested frames that are farther apart are reached by seeking, without reading between them."""


@dataclass(frozen=True, slots=True)
class MasterFile:
    path: Path
    source: VideoSource
    rate: Fraction
    frames: int
    unit: int
    """Duration of a frame in units of the stream's time base."""
    limits: DecodeLimits
    deadline: DecodeDeadline

    def number(self, moment: int) -> int:
        """Return the number of the frame shown at this time, in units of the stream's time base."""
        return round(moment / self.unit)

    def check(self, first: int, end: int) -> None:
        if not 0 <= first < end <= self.frames:
            raise MediaError(f"{self.path}: frames {first} to {end} are outside its {self.frames} frames")


@contextmanager
def open_master(path: Path, limits: DecodeLimits) -> Iterator[MasterFile]:
    with open_video(path, limits) as source:
        stream = source.stream
        stream.thread_type = "AUTO"
        rate, base = stream.average_rate, stream.time_base
        if not rate or not base or not stream.frames:
            raise MediaBroken(f"{path} is not a master: its frame rate or frame count is missing")
        unit = 1 / (rate * base)
        if unit.denominator != 1:
            raise MediaBroken(f"{path} is not a master: frame durations are not whole time units")
        deadline = DecodeDeadline(path, limits.wall_seconds)
        yield MasterFile(path, source, rate, stream.frames, int(unit), limits, deadline)


def packets(master: MasterFile, first: int, end: int) -> FrameTimeline:
    """Return the packets needed to show frames `first` to `end` (exclusive), in decoding order.

    `seconds` are those of the master; frames outside the range are not `shown`.
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
        raise MediaBroken(f"{master.path}: it has only {count} of the frames {first} to {end}")
    return FrameTimeline(moments, numbers / float(master.rate), np.array(key), shown, True, float(master.rate))


def packets_from(master: MasterFile, frame: int) -> Iterator[Packet[VideoStream]]:
    """Yield packets from the last keyframe that is shown no later than this frame."""
    container, stream = master.source
    target = frame * master.unit
    while True:
        container.seek(target, stream=stream)
        found = _timed_packets(master)
        head = next(found, None)
        if head is None or head.pts is None:
            raise MediaBroken(f"{master.path}: cannot seek to frame {frame}")
        # A seek may go by decoding time and so end at a keyframe that is shown too late.
        if master.number(head.pts) <= frame:
            yield head
            yield from found
            return
        if head.dts is None or head.dts - 1 >= target:
            raise MediaBroken(f"{master.path}: cannot seek to frame {frame}")
        target = head.dts - 1


def frames_by_number(master: MasterFile, requested: Sequence[int]) -> Iterator[tuple[int, VideoFrame]]:
    """Yield (number, frame) for each requested frame in order. The next good frame replaces an undecodable one."""
    if not requested:
        return
    last: VideoFrame | None = None
    missing: list[int] = []
    for run in _split_runs(sorted(set(requested)), round(SEEK_DISTANCE_SECONDS * master.rate)):
        timeline = packets(master, run[0], run[-1] + 1)
        plan = plan_decode(timeline, [number / float(master.rate) for number in run])
        waiting = deque([*missing, *run])
        for frame in _decode_needed(master, plan, run[0]):
            check_size(master.path, frame.width, frame.height, master.limits)
            assert frame.pts is not None
            while waiting and waiting[0] <= master.number(frame.pts):
                yield waiting.popleft(), frame
            last = frame
        missing = list(waiting)
    if last is None:
        raise MediaBroken(f"{master.path}: no decodable frames")
    for number in missing:
        yield number, last


def all_frames(master: MasterFile, first: int, end: int) -> Iterator[tuple[int, VideoFrame]]:
    """Yield all decodable frames from `first` to `end` (exclusive)."""
    for frame in _decode_range(master, first, end):
        check_size(master.path, frame.width, frame.height, master.limits)
        if frame.pts is not None and first <= (number := master.number(frame.pts)) < end:
            yield number, frame


def _decode_range(master: MasterFile, first: int, end: int) -> Iterator[VideoFrame]:
    context = master.source.stream.codec_context
    context.skip_frame = "DEFAULT"
    for packet in packets_from(master, first):
        master.deadline.check()
        if packet.dts is not None and packet.dts >= end * master.unit:
            break
        yield from decode_packet(context, packet)
    yield from decode_packet(context, None)


def _decode_needed(master: MasterFile, plan: DecodePlan, first: int) -> Iterator[VideoFrame]:
    context = master.source.stream.codec_context
    gap = False
    for needed, requested, packet in zip(plan.needed, plan.requested, packets_from(master, first), strict=False):
        master.deadline.check()
        if not needed:
            gap = True
            continue
        if gap:
            # Flush as after a seek: not every keyframe resets the decoder.
            yield from decode_packet(context, None)
            context.flush_buffers()
            gap = False
        context.skip_frame = "DEFAULT" if requested else "NONREF"
        yield from decode_packet(context, packet)
    yield from decode_packet(context, None)


def _timed_packets(master: MasterFile) -> Iterator[Packet[VideoStream]]:
    for packet in master.source.container.demux(master.source.stream):
        master.deadline.check()
        if not packet.size:
            continue
        if packet.pts is None:
            raise MediaBroken(f"{master.path} is not a master: it has frames without a timestamp")
        yield packet


def _split_runs(numbers: Sequence[int], max_gap: int) -> Iterator[list[int]]:
    """Split ascending numbers into runs without gaps larger than `max_gap`."""
    begin = 0
    for place, (before, after) in enumerate(pairwise(numbers), 1):
        if after - before > max_gap:
            yield list(numbers[begin:place])
            begin = place
    yield list(numbers[begin:])


# --- Cutting.


PROGRESS_FRAMES = 64
"""Frames between two progress reports."""


def cut(
    path: Path,
    first: int,
    end: int,
    to: Path,
    limits: DecodeLimits | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> bool:
    """Write frames `first` to `end` (exclusive) with audio, copied if possible. Return whether they were re-encoded."""
    limits = limits or DecodeLimits()
    with ExitStack() as stack:
        master = stack.enter_context(open_master(path, limits))
        master.check(first, end)
        copied = _copied_span(master, first, end)
        out = stack.enter_context(open_mp4(to, master.rate))
        # Streams must be added before the first packet, and an audio stream without packets must not be added.
        video = _copy_packets(master, first, end, copied, out) if copied else _encode_frames(master, first, end, out)
        audio = _audio_packets(stack, master, first, end, out)
        counted = _report_progress(video, end - first, progress)
        mux(out, to, counted, *([audio] if audio is not None else []))
    return copied is None


def can_copy(path: Path, first: int, end: int, limits: DecodeLimits | None = None) -> bool:
    """Whether `cut` copies these frames, which is fast for any length."""
    with open_master(path, limits or DecodeLimits()) as master:
        master.check(first, end)
        return _copied_span(master, first, end) is not None


def encode_piece(
    path: Path,
    first: int,
    end: int,
    to: Path,
    limits: DecodeLimits | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> None:
    """Write frames `first` to `end` (exclusive), re-encoded and without audio, for `join_pieces`."""
    with ExitStack() as stack:
        master = stack.enter_context(open_master(path, limits or DecodeLimits()))
        master.check(first, end)
        out = stack.enter_context(open_mp4(to, master.rate))
        mux(out, to, _report_progress(_encode_frames(master, first, end, out), end - first, progress))


def join_pieces(
    path: Path, pieces: Sequence[Path], first: int, end: int, to: Path, limits: DecodeLimits | None = None
) -> None:
    """Write frames `first` to `end` (exclusive) from consecutive pieces, with the audio of the master."""
    limits = limits or DecodeLimits()
    numbers: list[NDArray[np.int64]] = []
    setup = None
    for piece in pieces:
        with open_master(piece, limits) as part:
            offset = sum(each.size for each in numbers)
            numbers.append(offset + np.array([part.number(packet.pts or 0) for packet in _timed_packets(part)]))
            if setup not in (None, part.source.stream.codec_context.extradata):
                raise MediaBroken(f"{piece}: its encoding parameters differ from those of the preceding pieces")
            setup = part.source.stream.codec_context.extradata
    shown = np.concatenate(numbers)
    if not np.array_equal(np.sort(shown), np.arange(end - first)):
        raise MediaBroken(f"the pieces of {path} do not contain frames {first} to {end}")
    with ExitStack() as stack:
        master = stack.enter_context(open_master(path, limits))
        template = stack.enter_context(open_master(pieces[0], limits))
        out = stack.enter_context(open_mp4(to, master.rate))
        stream = out.add_stream_from_template(template.source.stream)
        audio = _audio_packets(stack, master, first, end, out)
        video = copy_video_packets(_read_packets(pieces, limits), shown, stream, master.rate)
        mux(out, to, video, *([audio] if audio is not None else []))


def _read_packets(pieces: Sequence[Path], limits: DecodeLimits) -> Iterator[Packet[VideoStream]]:
    for piece in pieces:
        with open_master(piece, limits) as part:
            yield from _timed_packets(part)


def _report_progress(video: Iterator[AnyPacket], frames: int, progress: Callable[[float], None]) -> Iterator[AnyPacket]:
    for number, packet in enumerate(video):
        if number % PROGRESS_FRAMES == 0:
            progress(number / frames)
        yield packet


def _copied_span(master: MasterFile, first: int, end: int) -> tuple[int, int] | None:
    timeline = packets(master, first, end)
    numbers = np.round(timeline.pts / master.unit).astype(np.int64)
    found = find_copyable_span(numbers, timeline.keyframe, first, end)
    length = nal_length_bytes(master.source.stream.codec_context.extradata)
    if found is None or length is None:
        return None
    head = next(islice(packets_from(master, first), found[0], None))
    return found if is_idr(bytes(head), length) else None


def _copy_packets(
    master: MasterFile, first: int, end: int, copied: tuple[int, int], out: OutputContainer
) -> Iterator[AnyPacket]:
    timeline = packets(master, first, end)
    stream = out.add_stream_from_template(master.source.stream)
    numbers = np.round(timeline.pts[slice(*copied)] / master.unit).astype(np.int64) - first
    return copy_video_packets(islice(packets_from(master, first), *copied), numbers, stream, master.rate)


def _encode_frames(master: MasterFile, first: int, end: int, out: OutputContainer) -> Iterator[AnyPacket]:
    context = master.source.stream.codec_context
    colours = encoding.ColorSpec(context.color_range, context.colorspace, context.color_primaries, context.color_trc)
    stream = encoding.add_h264(out, master.rate, context.width, context.height, encoding.CRF_CUT, colours)
    return encoding.encode_h264(
        stream, resample_frames(_timed_frames(master, first, end), master.rate, end - first), master.rate
    )


def _timed_frames(master: MasterFile, first: int, end: int) -> Iterator[tuple[float, VideoFrame]]:
    for number, picture in all_frames(master, first, end):
        yield float((number - first) / master.rate), picture


def _audio_packets(
    stack: ExitStack, master: MasterFile, first: int, end: int, out: OutputContainer
) -> Iterator[AnyPacket] | None:
    container = stack.enter_context(open_video(master.path, master.limits)).container
    stream = sound.find_audio_stream(container)
    if stream is None:
        return None
    begin, stop = float(first / master.rate), float(end / master.rate)
    if sound.none_if_empty(sound.copy_audio(container, stream, stream, begin, stop, master.deadline)) is None:
        return None
    into = sound.add_stream(out, stream, copy=True)
    return sound.copy_audio(container, stream, into, begin, stop, master.deadline)
