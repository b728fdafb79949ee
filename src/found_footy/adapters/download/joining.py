"""Pictures and sound that came as two files, put into one as they are. For the process in which yt-dlp works."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import av
import av.error

from found_footy.media.opening import DEMUXERS


def join(film: str, sound: str, to: str) -> None:
    """Raises OSError, also for what cannot be read."""
    try:
        _join(film, sound, to)
    except av.error.FFmpegError as error:
        raise OSError(error.errno, f"no video was found in what came: {error.strerror}") from error


def _join(film: str, sound: str, to: str) -> None:
    with ExitStack() as stack:
        one, other = (stack.enter_context(_opened(path)) for path in (film, sound))
        streams: list[tuple[Any, Any]] = [
            (one, next(iter(one.streams.video), None)),
            (other, next(iter(other.streams.audio), None)),
        ]
        if any(stream is None for _, stream in streams):
            raise OSError("no video was found in what came, or no sound")
        # Takes every codec that anybody sends.
        out = stack.enter_context(av.open(to, "w", format="matroska"))
        packets = [_packets(each, stream, out.add_stream_from_template(stream)) for each, stream in streams]
        for packet in heapq.merge(*packets, key=lambda packet: float(packet.dts * packet.time_base)):
            out.mux_one(packet)


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    """By a short list of demuxers, as wherever a stranger's file is opened."""
    with open(path, "rb") as file, av.open(file, "r", container_options={"format_whitelist": DEMUXERS}) as container:
        yield container


def _packets(container: Any, stream: Any, into: Any) -> Iterator[Any]:
    for packet in container.demux(stream):
        if packet.dts is not None:
            packet.stream = into
            yield packet
