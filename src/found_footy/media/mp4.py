"""MP4 files: constant frame rates, muxing, and copying H.264 without re-encoding."""

from __future__ import annotations

import errno
import heapq
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import av
import av.error
import numpy as np
from av.container import OutputContainer
from av.packet import Packet
from av.video.stream import VideoStream
from numpy.typing import NDArray

from found_footy.errors import DecoderUnavailable, FootyError, MediaBroken, MediaTooLarge
from found_footy.media.container import Floats

T = TypeVar("T")

STANDARD_RATES = tuple(
    Fraction(numerator, denominator)
    for numerator, denominator in (
        *((24000, 1001), (24, 1), (25, 1), (30000, 1001), (30, 1), (50, 1), (60000, 1001), (60, 1)),
        *((5, 1), (8, 1), (10, 1), (12, 1), (25, 2), (15000, 1001), (15, 1), (20, 1), (48, 1), (100, 1), (120, 1)),
    )
)
MAX_RATE = Fraction(60)
"""Maximum frame rate of re-encoded video."""
MAX_COPIED_RATE = Fraction(120)
MIN_RATE = Fraction(1, 10)
MAX_DEVIATION = 0.25
"""Maximum deviation of each frame from a constant rate, as a share of a frame."""
MAX_DENOMINATOR = 1001


def find_constant_rate(seconds: Floats, declared: Fraction | None) -> Fraction | None:
    """Return the rate at which frame n is shown at n / rate, or None.

    `seconds` ascend from 0. `declared` is the rate that the file declares, preferred if it fits.
    """
    span = float(seconds[-1]) if seconds.size else 0.0
    if seconds.size < 2 or span <= 0:
        return None
    mean = Fraction((seconds.size - 1) / span).limit_denominator(MAX_DENOMINATOR)
    declared = declared.limit_denominator(MAX_DENOMINATOR) if declared else None
    nearest = sorted(STANDARD_RATES, key=lambda rate: abs(rate - mean))
    candidates = [rate for rate in (declared, *nearest[:3], mean) if rate and MIN_RATE <= rate <= MAX_COPIED_RATE]
    if not candidates:
        return None
    # Rounded, so that differences due to the file's coarse timestamps tie, and the likelier rate comes first.
    deviations = [round(_deviation(seconds, rate), 2) for rate in candidates]
    deviation, best = min(zip(deviations, candidates, strict=True), key=lambda pair: pair[0])
    return best if deviation <= MAX_DEVIATION else None


def choose_rate(seconds: Floats, declared: Fraction | None) -> Fraction:
    """Return the standard rate nearest to the median interval, for a video with a variable frame rate."""
    steps = np.diff(seconds)
    steps = steps[steps > 0]
    if not steps.size:
        declared = (declared or Fraction(0)).limit_denominator(MAX_DENOMINATOR)
        return declared if MIN_RATE <= declared <= MAX_RATE else Fraction(25)
    step = Fraction(1 / float(np.median(steps))).limit_denominator(MAX_DENOMINATOR)
    if step < MIN_STANDARD_RATE:
        return max(step, MIN_RATE)
    return min((rate for rate in STANDARD_RATES if rate <= MAX_RATE), key=lambda rate: abs(rate - step))


MIN_STANDARD_RATE = min(STANDARD_RATES) * Fraction(9, 10)
"""Slower rates (door cameras, slides) are kept."""


def resample_frames(pictures: Iterable[tuple[float, T]], rate: Fraction, total: int) -> Iterator[tuple[int, T]]:
    """Yield (number, frame) for each number below `total`, from (seconds, frame) in display order.

    Of two frames with one number the later one wins; a missing frame is replaced by the previous one.
    """
    at = 0
    pending: list[T] = []
    for seconds, picture in pictures:
        place = min(max(round(seconds * rate), 0), total - 1)
        while pending and at < place:
            yield at, pending[0]
            at += 1
        pending = [picture]
    while pending and at < total:
        yield at, pending[0]
        at += 1


def choose_timescale(rate: Fraction) -> tuple[int, int]:
    """Return the ticks per second at which each frame lasts a whole number of ticks, and that number."""
    factor = max(1, -(-10_000 // rate.numerator))
    return rate.numerator * factor, rate.denominator * factor


def _deviation(seconds: Floats, rate: Fraction) -> float:
    """Return the largest deviation of a frame from its place, in frames."""
    return float(np.max(np.abs(seconds * float(rate) - np.arange(seconds.size))))


# --- Writing MP4 with interleaved video and audio, playable while it loads.


AnyPacket: TypeAlias = "Packet[Any]"


@contextmanager
def open_mp4(to: Path, rate: Fraction) -> Iterator[OutputContainer]:
    """Open an MP4 for adding streams, then packets. At the end of the block, the index is moved to the front."""
    units, _ = choose_timescale(rate)
    options = {"movflags": "+faststart", "video_track_timescale": str(units)}
    container = av.open(str(to), "w", format="mp4", container_options=options)
    try:
        yield container
        with _translate_write_errors(to):
            container.close()
    finally:
        with suppress(av.error.FFmpegError):  # already raising the error that matters
            container.close()


def mux(container: OutputContainer, to: Path, *streams: Iterable[AnyPacket]) -> None:
    """Write the packets of all streams, interleaved by time."""
    for packet in heapq.merge(*streams, key=_decode_time):
        with _translate_write_errors(to):
            container.mux_one(packet)


def build_packet(
    data: bytes, stream: Any, pts: int, dts: int, base: Fraction, keyframe: bool, duration: int = 1
) -> AnyPacket:
    """Build a packet without the side data of its original container."""
    packet: AnyPacket = Packet(data)
    packet.stream = stream
    packet.time_base = base
    packet.pts, packet.dts, packet.duration = pts, dts, duration
    packet.is_keyframe = keyframe
    return packet


def _decode_time(packet: AnyPacket) -> float:
    assert packet.dts is not None
    return packet.dts * packet.time_base.numerator / packet.time_base.denominator


@contextmanager
def _translate_write_errors(to: Path) -> Iterator[None]:
    try:
        yield
    except av.error.FFmpegError as error:
        raise _write_error(to, error) from error


def _write_error(to: Path, error: av.error.FFmpegError) -> FootyError:
    if error.errno == errno.EFBIG:
        return MediaTooLarge(f"{to}: the video exceeds the size limit")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DecoderUnavailable(f"{to}: no space left to write it")
    return MediaBroken(f"{to}: cannot write the video: {error.strerror}")


# --- Copying H.264 without re-encoding.


Ints = NDArray[np.int64]

CONFIGURED = 1
"""First byte of the H.264 configuration in MP4 and Matroska; transport streams use another form."""
_SLICE, _IDR = 1, 5


def display_ranks(moments: Ints) -> Ints:
    """Return the position in display order of each packet; the packets are in decoding order."""
    positions = np.empty(moments.size, dtype=np.int64)
    positions[np.argsort(moments, kind="stable")] = np.arange(moments.size)
    return positions


def copy_video_packets(
    packets: Iterable[Packet[VideoStream]], shown: Ints, into: Any, rate: Fraction
) -> Iterator[AnyPacket]:
    """Copy packets; `shown` has their numbers in the new video, in which frame n is shown at n / rate."""
    reorder_delay = int(np.max(np.arange(shown.size) - shown))
    for place, (packet, number) in enumerate(zip(packets, shown.tolist(), strict=True)):
        yield build_packet(bytes(packet), into, number, place - reorder_delay, 1 / rate, packet.is_keyframe)


def find_copyable_span(numbers: Ints, keyframe: NDArray[np.bool_], first: int, end: int) -> tuple[int, int] | None:
    """Return the range of packets to copy for exactly these frames, or None if it is impossible.

    `numbers` are the frame numbers in decoding order. The range must start with a keyframe, and all frames decoded
    within it must be shown within it, so that none references a frame outside.
    """
    begin = np.flatnonzero((numbers == first) & keyframe)
    if not begin.size:
        return None
    start, stop = int(begin[0]), int(begin[0]) + end - first
    if not np.array_equal(np.sort(numbers[start:stop]), np.arange(first, end)):
        return None
    return start, stop


def nal_length_bytes(extradata: bytes | None) -> int | None:
    """Return the size of NAL unit length fields in bytes; None if units are delimited in another way."""
    if not extradata or len(extradata) < 7 or extradata[0] != CONFIGURED:
        return None
    return (extradata[4] & 3) + 1


def is_idr(data: bytes, length_bytes: int) -> bool:
    """Whether the frame resets the decoder (IDR), which not every keyframe does."""
    at = 0
    while at + length_bytes < len(data):
        size = int.from_bytes(data[at : at + length_bytes], "big")
        kind = data[at + length_bytes] & 31
        if kind in (_SLICE, _IDR):
            return kind == _IDR
        at += length_bytes + size
    return False
