"""Writing the MP4 that browsers play while it still comes, with pictures and sound side by side in it."""

from __future__ import annotations

import errno
import heapq
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import av
import av.error
from av.container import OutputContainer
from av.packet import Packet

from found_footy.domain.errors import DecoderUnavailable, FootyError, MediaBroken, MediaTooLarge
from found_footy.media.pacing import ticks

AnyPacket: TypeAlias = "Packet[Any]"


@contextmanager
def new_film(to: Path, rate: Fraction) -> Iterator[OutputContainer]:
    """Streams are added to it, then packets. Where the block ends, the index is moved to the front."""
    units, _ = ticks(rate)
    options = {"movflags": "+faststart", "video_track_timescale": str(units)}
    container = av.open(str(to), "w", format="mp4", container_options=options)
    try:
        yield container
        with _writing(to):
            container.close()
    finally:
        with suppress(av.error.FFmpegError):  # the error that matters is on its way already
            container.close()


def put(container: OutputContainer, to: Path, *streams: Iterable[AnyPacket]) -> None:
    """Writes the packets of all streams, each in the order of its times, so that neither waits long for another."""
    for packet in heapq.merge(*streams, key=_when):
        with _writing(to):
            container.mux_one(packet)


def packet_of(
    data: bytes, stream: Any, pts: int, dts: int, base: Fraction, keyframe: bool, lasts: int = 1
) -> AnyPacket:
    """A packet with nothing on it that another file's container had to say."""
    packet: AnyPacket = Packet(data)
    packet.stream = stream
    packet.time_base = base
    packet.pts, packet.dts, packet.duration = pts, dts, lasts
    packet.is_keyframe = keyframe
    return packet


def _when(packet: AnyPacket) -> float:
    assert packet.dts is not None
    return packet.dts * packet.time_base.numerator / packet.time_base.denominator


@contextmanager
def _writing(to: Path) -> Iterator[None]:
    try:
        yield
    except av.error.FFmpegError as error:
        raise _not_written(to, error) from error


def _not_written(to: Path, error: av.error.FFmpegError) -> FootyError:
    if error.errno == errno.EFBIG:
        return MediaTooLarge(f"{to}: the film becomes larger than it may")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DecoderUnavailable(f"{to}: there is no room left to write it")
    return MediaBroken(f"{to}: the film cannot be written: {error.strerror}")
