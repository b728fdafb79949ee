"""Properties of a video that decide whether a browser can play it unchanged, and basic information about it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from av.video.frame import VideoFrame

from found_footy.errors import MediaBroken
from found_footy.media.container import (
    DecodeDeadline,
    DecodeLimits,
    FrameTimeline,
    VideoSource,
    check_size,
    decode_packet,
    open_video,
    timeline_from_packets,
)
from found_footy.media.encode import OutputFormat, output_format
from found_footy.media.mp4 import find_constant_rate, nal_length_bytes

PROGRESSIVE = (0, 1)
"""FFmpeg's field orders "unknown" and "progressive"."""
DEFAULT_ASPECT = Fraction(1)


@dataclass(frozen=True, slots=True)
class Playability:
    codec: str
    kind: tuple[int, int, str]
    """Stored width and height, and pixel format."""
    has_mp4_configuration: bool
    """The codec configuration has the form that MP4 requires."""
    rate: Fraction | None
    """None if it is not constant."""
    declared_rate: Fraction | None
    all_shown: bool
    """No frame is hidden by an edit list."""
    keyframe_first: bool
    has_square_pixels: bool
    shape: OutputFormat
    """Format for display."""
    start: float
    """Timestamp in seconds of the first shown frame."""

    @property
    def width(self) -> int:
        return self.kind[0]

    @property
    def height(self) -> int:
        return self.kind[1]


def inspect(path: Path, timeline: FrameTimeline, limits: DecodeLimits) -> Playability:
    with open_video(path, limits) as source:
        stream = source.stream
        first = _decode_first_frame(source, path, limits)
        context = stream.codec_context
        aspect = stream.sample_aspect_ratio or DEFAULT_ASPECT
        turns = round(first.rotation / 90) % 4
        interlaced = first.interlaced_frame or context.field_order not in PROGRESSIVE
        declared_rate = stream.average_rate or stream.guessed_rate
        return Playability(
            codec=context.codec.canonical_name,
            kind=(first.width, first.height, first.format.name),
            has_mp4_configuration=nal_length_bytes(context.extradata) is not None,
            rate=find_constant_rate(np.sort(timeline.seconds[timeline.shown]), declared_rate)
            if timeline.trusted
            else None,
            declared_rate=declared_rate,
            all_shown=bool(timeline.shown.all()),
            keyframe_first=bool(timeline.keyframe[0]),
            has_square_pixels=aspect == 1,
            shape=output_format(first.width, first.height, aspect, turns, interlaced),
            start=_start_seconds(source, timeline),
        )


def reencode_reason(video: Playability) -> str | None:
    """Return why the video cannot be copied, or None if it can."""
    reasons = {
        f"codec {video.codec} is not supported by all browsers": video.codec != "h264",
        f"pixel format is {video.kind[2]}": video.kind[2] != "yuv420p",
        "codec configuration is missing": not video.has_mp4_configuration,
        "frame rate is not constant": video.rate is None,
        "an edit list hides frames": not video.all_shown,
        "first frame is not a keyframe": not video.keyframe_first,
        "pixels are not square": not video.has_square_pixels,
        "video is rotated": video.shape.quarter_turns != 0,
        "video is interlaced": video.shape.interlaced,
        "width or height is odd": bool(video.width % 2 or video.height % 2),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _decode_first_frame(source: VideoSource, path: Path, limits: DecodeLimits) -> VideoFrame:
    deadline = DecodeDeadline(path, limits.wall_seconds)
    for packet in source.container.demux(source.stream):
        deadline.check()
        for frame in decode_packet(source.stream.codec_context, packet):
            check_size(path, frame.width, frame.height, limits)
            return frame
    raise MediaBroken(f"{path}: no decodable frames")


def _start_seconds(source: VideoSource, timeline: FrameTimeline) -> float:
    base = source.stream.time_base
    if not timeline.trusted or base is None:
        return (source.container.start_time or 0) / 1_000_000
    return float(int(timeline.pts[timeline.shown].min()) * base)


# --- Basic information, from the packets and the first frame.


@dataclass(frozen=True, slots=True)
class VideoInfo:
    container: str
    """FFmpeg's name, such as `mov,mp4,m4a,3gp,3g2,mj2`."""
    codec: str
    width: int
    """Pixels as displayed, after rotation."""
    height: int
    aspect: float
    """Display aspect ratio, width to height, including non-square pixels."""
    fps: float
    """Average."""
    variable_frame_rate: bool
    duration: float
    """Seconds, computed from the packets: the declared duration is not trusted."""
    frames: int
    bit_rate: int
    """Bits per second over all streams."""
    file_size: int
    """Bytes."""
    rotation: int
    """Counterclockwise rotation by the player in degrees: 0, 90, 180 or 270."""
    has_audio: bool


def probe(path: Path, limits: DecodeLimits | None = None) -> VideoInfo:
    """Read the file once and decode one frame. Raises MediaError for an unusable file."""
    limits = limits or DecodeLimits()
    timeline = timeline_from_packets(path, limits)
    with open_video(path, limits) as source:
        first = _decode_first_frame(source, path, limits)
        stream = source.stream
        size = path.stat().st_size
        rotation = round(first.rotation / 90) % 4 * 90
        shape = float(stream.sample_aspect_ratio or 1) * first.width / first.height
        is_turned = rotation in (90, 270)
        return VideoInfo(
            container=source.container.format.name,
            codec=stream.codec_context.codec.canonical_name,
            width=first.height if is_turned else first.width,
            height=first.width if is_turned else first.height,
            aspect=round(1 / shape if is_turned else shape, 4),
            fps=round(timeline.rate, 3),
            variable_frame_rate=timeline.variable,
            duration=round(timeline.duration, 3),
            frames=timeline.frames,
            bit_rate=round(size * 8 / timeline.duration),
            file_size=size,
            rotation=rotation,
            has_audio=bool(source.container.streams.audio),
        )
