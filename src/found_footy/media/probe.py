"""What a file is: its container, its pictures and its length, from its packets and its first picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from av.video.frame import VideoFrame

from found_footy.domain.errors import MediaBroken
from found_footy.media.opening import Deadline, Limits, Source, check_size, decoded, opened
from found_footy.media.timeline import timeline_of


@dataclass(frozen=True, slots=True)
class VideoInfo:
    container: str
    """FFmpeg's name, such as `mov,mp4,m4a,3gp,3g2,mj2`."""
    codec: str
    width: int
    """Pixels as shown: after rotation."""
    height: int
    aspect: float
    """Width to height as shown, pixels that are not square counted in."""
    fps: float
    """On average."""
    variable_frame_rate: bool
    duration: float
    """Seconds, counted from the packets: what the file announces is not trusted."""
    frames: int
    bit_rate: int
    """Bits a second, over all streams."""
    file_size: int
    """Bytes."""
    rotation: int
    """Degrees counterclockwise that a player turns the stored picture by: 0, 90, 180 or 270."""
    has_audio: bool


def probe(path: Path, limits: Limits | None = None) -> VideoInfo:
    """Reads the file once and decodes one picture. A file that cannot be used raises a MediaError."""
    limits = limits or Limits()
    timeline = timeline_of(path, limits)
    with opened(path, limits) as source:
        first = _first_picture(source, path, limits)
        stream = source.stream
        size = path.stat().st_size
        rotation = round(first.rotation / 90) % 4 * 90
        shape = float(stream.sample_aspect_ratio or 1) * first.width / first.height
        turned = rotation in (90, 270)
        return VideoInfo(
            container=source.container.format.name,
            codec=stream.codec_context.codec.canonical_name,
            width=first.height if turned else first.width,
            height=first.width if turned else first.height,
            aspect=round(1 / shape if turned else shape, 4),
            fps=round(timeline.rate, 3),
            variable_frame_rate=timeline.variable,
            duration=round(timeline.duration, 3),
            frames=timeline.frames,
            bit_rate=round(size * 8 / timeline.duration),
            file_size=size,
            rotation=rotation,
            has_audio=bool(source.container.streams.audio),
        )


def _first_picture(source: Source, path: Path, limits: Limits) -> VideoFrame:
    deadline = Deadline(path, limits.wall_seconds)
    for packet in source.container.demux(source.stream):
        deadline.check()
        for frame in decoded(source.stream.codec_context, packet):
            check_size(path, frame.width, frame.height, limits)
            return frame
    raise MediaBroken(f"{path}: no picture of it can be decoded")
