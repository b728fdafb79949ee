"""Opens untrusted video files.

Only local files are read, through a Python file object, and only by demuxers on a short list: playlists and concat
scripts can reference other files and addresses, so they are rejected before their header is parsed. Sizes are checked
before pixels are allocated. PyAV's errors are translated here.
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
import numpy as np
from av.container import InputContainer
from av.packet import Packet
from av.stream import Disposition
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from found_footy.errors import MediaBroken, MediaTooLarge, NotAVideo, NotFound

DEMUXERS = "mov,mp4,matroska,webm,avi,flv,mpegts,mpeg,asf,ogg"
"""Formats of posted videos. Playlists (hls, dash, concat), images and raw streams are excluded on purpose."""

STILL = Disposition.attached_pic | Disposition.still_image
"""Cover art of audio files, and photos in a video container."""
HEAD_BYTES = 192
"""Includes the second packet of a transport stream."""
PROBE_BYTES = 5_000_000
PROBE_MICROSECONDS = 5_000_000


@dataclass(frozen=True, slots=True)
class DecodeLimits:
    """Limits of one file. Larger ones raise MediaTooLarge."""

    side_pixels: int = 8192
    frame_pixels: int = 8192 * 4320
    frames: int = 72_000
    """120 frames per second over the maximum duration."""
    seconds: float = 600.0
    wall_seconds: float = 120.0
    """Wall-clock limit of one pass over the file, including decoding."""


class VideoSource(NamedTuple):
    container: InputContainer
    stream: VideoStream


class DecodeDeadline:
    """Deadline of one pass over a file."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._path = path
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        if time.monotonic() > self._end:
            raise MediaTooLarge(f"{self._path}: not read within {self._seconds:g} s")


@contextmanager
def open_video(path: Path, limits: DecodeLimits) -> Iterator[VideoSource]:
    """Open a container with its first real video stream. Decoding errors inside the block are translated too."""
    if path.exists() and not path.is_file():
        # Opening a pipe would block until a writer appears.
        raise NotAVideo(f"{path} is not a regular file")
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
                yield VideoSource(container, _find_video_stream(container, path, limits))
        except av.error.ExitError as error:
            raise MediaTooLarge(f"{path}: not read within {limits.wall_seconds:g} s") from error
        except av.error.MemoryError as error:
            raise MediaTooLarge(f"{path}: not enough memory") from error
        except (av.error.InvalidDataError, av.error.ArgumentError, av.error.EOFError) as error:
            if _looks_like_video(head):
                raise MediaBroken(f"{path} is damaged or truncated: {error.strerror}") from error
            raise NotAVideo(f"{path} is not a readable video: {error.strerror}") from error
        except av.error.FFmpegError as error:
            raise MediaBroken(f"{path} cannot be decoded: {error.strerror}") from error


def _find_video_stream(container: InputContainer, path: Path, limits: DecodeLimits) -> VideoStream:
    streams = [each for each in container.streams.video if not each.disposition & STILL]
    if not streams:
        raise NotAVideo(f"{path} has no video stream")
    stream = streams[0]
    context = stream.codec_context
    if context is None:
        raise NotAVideo(f"{path}: its video stream cannot be decoded")
    check_size(path, context.width, context.height, limits)
    context.options = {**context.options, "max_pixels": str(limits.frame_pixels)}
    return stream


def check_size(path: Path, width: int, height: int, limits: DecodeLimits) -> None:
    if max(width, height) > limits.side_pixels or width * height > limits.frame_pixels:
        raise MediaTooLarge(f"{path}: {width}x{height} pixels exceed the limit")


def decode_packet(context: VideoCodecContext, packet: Packet[VideoStream] | None) -> list[VideoFrame]:
    """Return the frames that the decoder emits for a packet, or at the end for None; none for a damaged packet."""
    try:
        return context.decode(packet)
    except av.error.InvalidDataError:
        return []


def _looks_like_video(head: bytes) -> bool:
    """Whether the first bytes are the signature of a video container."""
    return (
        head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"skip", b"free")
        or head[:4] in (b"\x1aE\xdf\xa3", b"OggS", b"0&\xb2u", b"\x00\x00\x01\xba")
        or head[:3] == b"FLV"
        or (head[:4] == b"RIFF" and head[8:12] == b"AVI ")
        or (head[:1] == b"G" and head[188:189] == b"G")
    )


# --- Frame times, read from the packets without decoding.


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DEFAULT_RATE = 25.0
"""Frames per second for a file without a declared rate and usable timestamps."""

CUT_OFF_SHARE = 0.9
CUT_OFF_SECONDS = 1.0
"""A file is truncated if it holds less than this share of its declared duration and misses more than this time."""


@dataclass(frozen=True, slots=True, eq=False)
class FrameTimeline:
    """The frames of a video in decoding order."""

    pts: Ints
    """In the stream's time base."""
    seconds: Floats
    """Time since the first shown frame."""
    keyframe: NDArray[np.bool_]
    shown: NDArray[np.bool_]
    """False for frames that an edit list hides; they are decoded only because others reference them."""
    trusted: bool
    """False if the packets have no usable timestamps; then `seconds` is derived from the count and `pts` is invalid."""
    rate: float
    """Average frames per second."""

    @property
    def frames(self) -> int:
        return int(np.count_nonzero(self.shown))

    @property
    def duration(self) -> float:
        """Duration in seconds, including that of the last frame."""
        return float(self.seconds[self.shown].max()) + 1.0 / self.rate

    @property
    def variable(self) -> bool:
        """Whether the frame intervals vary."""
        steps = np.diff(np.sort(self.seconds[self.shown]))
        return bool(steps.size) and float(np.ptp(steps)) > 0.25 * float(np.median(steps)) + 0.001


def timeline_from_packets(path: Path, limits: DecodeLimits) -> FrameTimeline:
    with open_video(path, limits) as source:
        return read_timeline(source, path, limits)


def read_timeline(source: VideoSource, path: Path, limits: DecodeLimits) -> FrameTimeline:
    """Read all packets once, within the limits."""
    container, stream = source
    declared = container.duration / 1_000_000 if container.duration else 0.0
    if declared > limits.seconds:
        raise MediaTooLarge(f"{path}: {declared:.0f} s exceed the limit of {limits.seconds:g} s")
    if stream.frames > limits.frames:
        raise MediaTooLarge(f"{path}: {stream.frames} frames exceed the limit of {limits.frames}")
    deadline = DecodeDeadline(path, limits.wall_seconds)
    pts: list[int | None] = []
    key: list[bool] = []
    shown: list[bool] = []
    reached = 0.0
    for packet in container.demux():
        if packet.size == 0:
            continue
        reached = max(reached, _end_seconds(packet))
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
        raise MediaBroken(f"{path} has no video frames")
    start = (container.start_time or 0) / 1_000_000
    if reached - start < min(CUT_OFF_SHARE * declared, declared - CUT_OFF_SECONDS):
        raise MediaBroken(f"{path} is truncated: only {reached - start:.1f} of {declared:.1f} s can be decoded")
    timeline = _timeline(stream, pts, np.array(key), np.array(shown))
    if timeline.duration > limits.seconds:
        raise MediaTooLarge(f"{path}: more than {limits.seconds:g} s")
    return timeline


def _end_seconds(packet: Packet) -> float:  # type: ignore[type-arg]
    moment = packet.pts if packet.pts is not None else packet.dts
    return float((moment + (packet.duration or 0)) * packet.time_base) if moment is not None else 0.0


def _timeline(
    stream: VideoStream, pts: list[int | None], key: NDArray[np.bool_], shown: NDArray[np.bool_]
) -> FrameTimeline:
    known_pts = [moment for moment in pts if moment is not None]
    declared_rate = float(stream.average_rate or stream.guessed_rate or DEFAULT_RATE)
    if len(known_pts) < len(pts) or len(set(known_pts)) < len(known_pts) or stream.time_base is None:
        count = np.arange(len(pts))
        return FrameTimeline(count, count / declared_rate, key, shown, False, declared_rate)
    moments = np.array(known_pts, dtype=np.int64)
    seconds = (moments - moments[shown].min()) * float(stream.time_base)
    span = float(np.ptp(seconds[shown]))
    rate = (np.count_nonzero(shown) - 1) / span if span > 0 else declared_rate
    return FrameTimeline(moments, seconds, key, shown, True, float(rate))
