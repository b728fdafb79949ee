"""Opening a video file without trusting it.

Only local files are read, through a Python file object, and only by demuxers on a short list: a playlist or a
concat script can name other files and addresses, so those never get as far as their header. Sizes are checked
before pixels are allocated, and PyAV's errors become the project's own here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import av
import av.error
from av.container import InputContainer
from av.packet import Packet
from av.stream import Disposition
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from found_footy.domain.errors import MediaBroken, MediaTooLarge, NotAVideo, NotFound

DEMUXERS = "mov,mp4,matroska,webm,avi,flv,mpegts,mpeg,asf,ogg"
"""What people post. Playlists (hls, dash, concat), images and raw streams are left out on purpose."""

STILL = Disposition.attached_pic | Disposition.still_image
"""A song's cover, or a photograph in a video's container."""
HEAD_BYTES = 192
"""Enough for the second packet of a transport stream."""
PROBE_BYTES = 5_000_000
PROBE_MICROSECONDS = 5_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may ask of this machine. Beyond them it is refused as MediaTooLarge."""

    side_pixels: int = 8192
    frame_pixels: int = 8192 * 4320
    frames: int = 72_000
    """120 frames a second over the longest allowed duration."""
    seconds: float = 600.0
    wall_seconds: float = 120.0
    """For one pass over the file, decoding included."""


class Source(NamedTuple):
    container: InputContainer
    stream: VideoStream


class Deadline:
    """The moment by which one pass over a file has to be through."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._path = path
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        if time.monotonic() > self._end:
            raise MediaTooLarge(f"{self._path}: not read within {self._seconds:g} s")


@contextmanager
def opened(path: Path, limits: Limits) -> Iterator[Source]:
    """The container with its first real video stream; decoding errors inside the block are translated too."""
    if path.exists() and not path.is_file():
        # Opening a pipe would wait for somebody to write into it.
        raise NotAVideo(f"{path} is a folder, or no file of its own")
    try:
        file = path.open("rb")
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from None
    with file:
        head = file.read(HEAD_BYTES)
        if not head:
            raise NotAVideo(f"{path} is empty")
        file.seek(0)
        try:
            with av.open(
                file,
                "r",
                options={"max_pixels": str(limits.frame_pixels)},
                container_options={
                    "format_whitelist": DEMUXERS,
                    "probesize": str(PROBE_BYTES),
                    "analyzeduration": str(PROBE_MICROSECONDS),
                },
                metadata_errors="replace",
                timeout=limits.wall_seconds,
            ) as container:
                yield Source(container, _video_stream(container, path, limits))
        except av.error.ExitError as error:
            raise MediaTooLarge(f"{path}: not read within {limits.wall_seconds:g} s") from error
        except av.error.MemoryError as error:
            raise MediaTooLarge(f"{path}: needs more memory than there is") from error
        except (av.error.InvalidDataError, av.error.ArgumentError, av.error.EOFError) as error:
            if _looks_like_video(head):
                raise MediaBroken(f"{path} is damaged or cut off: {error.strerror}") from error
            raise NotAVideo(f"{path} is no video that can be read: {error.strerror}") from error
        except av.error.FFmpegError as error:
            raise MediaBroken(f"{path} cannot be decoded: {error.strerror}") from error


def _video_stream(container: InputContainer, path: Path, limits: Limits) -> VideoStream:
    streams = [each for each in container.streams.video if not each.disposition & STILL]
    if not streams:
        raise NotAVideo(f"{path} has no video stream")
    stream = streams[0]
    context = stream.codec_context
    if context is None:
        raise NotAVideo(f"{path}: its video stream cannot be decoded here")
    check_size(path, context.width, context.height, limits)
    context.options = {**context.options, "max_pixels": str(limits.frame_pixels)}
    return stream


def check_size(path: Path, width: int, height: int, limits: Limits) -> None:
    if max(width, height) > limits.side_pixels or width * height > limits.frame_pixels:
        raise MediaTooLarge(f"{path}: {width}x{height} pixels are more than can be handled")


def decoded(context: VideoCodecContext, packet: Packet[VideoStream] | None) -> list[VideoFrame]:
    """The pictures that come out of the decoder with this packet, or at its end; none from a damaged one."""
    try:
        return context.decode(packet)
    except av.error.InvalidDataError:
        return []


def _looks_like_video(head: bytes) -> bool:
    """Whether the first bytes are those of a container that holds videos."""
    return (
        head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"skip", b"free")
        or head[:4] in (b"\x1aE\xdf\xa3", b"OggS", b"0&\xb2u", b"\x00\x00\x01\xba")
        or head[:3] == b"FLV"
        or (head[:4] == b"RIFF" and head[8:12] == b"AVI ")
        or (head[:1] == b"G" and head[188:189] == b"G")
    )
