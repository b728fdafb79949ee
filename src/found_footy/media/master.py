"""Creates the library's master of a video: copied if possible, otherwise re-encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from av.container import OutputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from found_footy.errors import MediaBroken, NotAVideo
from found_footy.media import audio as sound
from found_footy.media import encode as encoding
from found_footy.media.container import (
    DecodeDeadline,
    DecodeLimits,
    FrameTimeline,
    VideoSource,
    check_size,
    decoded,
    open_video,
    timeline_from_packets,
)
from found_footy.media.mp4 import (
    AnyPacket,
    chosen_rate,
    copied_video,
    is_idr,
    mux,
    open_mp4,
    places,
    ranks,
    stored_length,
)
from found_footy.media.probe import Playability, inspect, reencode_reason

Tell = Callable[[float], None]

LOST_SHARE = 0.5
"""Maximum share of undecodable frames; a video that loses more is broken."""
TELL_FRAMES = 16


@dataclass(frozen=True, slots=True)
class MasterInfo:
    """Properties of a written master."""

    frames: int
    rate: Fraction
    width: int
    height: int
    audio: bool


class _CannotCopy(Exception):
    """Copying turned out to be impossible."""


def make_master(path: Path, to: Path, tell: Tell, limits: DecodeLimits) -> MasterInfo:
    """Read the file several times, in constant memory regardless of its length. Raises MediaError."""
    tell(0.0)
    timeline = timeline_from_packets(path, limits)
    if timeline.frames < 2:
        raise NotAVideo(f"{path}: a single image is not a video")
    look = inspect(path, timeline, limits)
    heard = sound.probe_audio(path, look.start, limits)
    if reencode_reason(look) is None:
        try:
            return _Writer(path, to, timeline, look, heard, tell, limits).copy()
        except _CannotCopy:
            pass
    return _Writer(path, to, timeline, look, heard, tell, limits).encode()


@dataclass(slots=True)
class _Writer:
    path: Path
    to: Path
    timeline: FrameTimeline
    look: Playability
    heard: sound.AudioTrack | None
    tell: Tell
    limits: DecodeLimits
    seen: int = 0

    def copy(self) -> MasterInfo:
        look, count = self.look, self.timeline.frames
        assert look.rate is not None
        with ExitStack() as stack:
            source = stack.enter_context(open_video(self.path, self.limits))
            out = stack.enter_context(open_mp4(self.to, look.rate))
            stream = out.add_stream_from_template(source.stream)
            packets = copied_video(self._checked(source), ranks(self.timeline.pts), stream, look.rate)
            audio = self._put(stack, out, packets, count / look.rate)
        return MasterInfo(count, look.rate, look.width, look.height, audio)

    def encode(self) -> MasterInfo:
        look, timeline = self.look, self.timeline
        shown = np.sort(timeline.seconds[timeline.shown])
        rate = look.rate if look.rate is not None and look.rate <= 60 else chosen_rate(shown, look.named_rate)
        total = max(1, round(timeline.duration * rate))
        with ExitStack() as stack:
            source = stack.enter_context(open_video(self.path, self.limits))
            out = stack.enter_context(open_mp4(self.to, rate))
            stream = encoding.add_h264(out, rate, look.shape.width, look.shape.height, encoding.CRF_MASTER)
            shaped = encoding.FrameNormalizer(look.shape).shaped(self._pictures(source))
            packets = encoding.encode_h264(stream, places(shaped, rate, total), rate)
            audio = self._put(stack, out, packets, total / rate)
        if self.seen < (1 - LOST_SHARE) * timeline.frames:
            raise MediaBroken(f"{self.path}: only {self.seen} of {timeline.frames} pictures can be decoded")
        return MasterInfo(total, rate, look.shape.width, look.shape.height, audio)

    def _put(self, stack: ExitStack, out: OutputContainer, video: Iterator[AnyPacket], seconds: Fraction) -> bool:
        """Write video and audio; return whether there is audio."""
        heard: Iterator[AnyPacket] | None = None
        if self.heard is not None:
            container = stack.enter_context(open_video(self.path, self.limits)).container
            stream = sound.usable(container)
            assert stream is not None
            into = sound.add_stream(out, stream, self.heard.copies)
            take = sound.copy_audio if self.heard.copies else sound.encode_audio
            deadline = DecodeDeadline(self.path, self.limits.wall_seconds)
            start = self.look.start
            heard = take(container, stream, into, start, start + float(seconds), deadline)
        mux(out, self.to, video, *([heard] if heard is not None else []))
        return heard is not None

    def _checked(self, source: VideoSource) -> Iterator[Packet[VideoStream]]:
        """Yield the video packets. Each frame is also decoded, so that a master has no undecodable frames."""
        stream = source.stream
        stream.thread_type = "AUTO"
        context: Any = stream.codec_context
        context.options = {**context.options, "skip_loop_filter": "all"}  # these frames are only checked, not shown
        length = stored_length(context.extradata)
        deadline = DecodeDeadline(self.path, self.limits.wall_seconds)
        count = 0
        for packet in source.container.demux(stream):
            deadline.check()
            for frame in decoded(context, packet):
                self._check(frame)
            if packet.size:
                if count == 0 and not is_idr(bytes(packet), length or 4):
                    raise _CannotCopy
                count += 1
                yield packet
        if self.seen != self.timeline.frames:
            raise _CannotCopy

    def _check(self, frame: VideoFrame) -> None:
        self._count()
        kind = (frame.width, frame.height, frame.format.name)
        if kind != self.look.kind or frame.interlaced_frame or frame.rotation:
            raise _CannotCopy

    def _pictures(self, source: VideoSource) -> Iterator[tuple[float, VideoFrame]]:
        """Yield (seconds since the first frame, frame) in display order."""
        stream, timeline = source.stream, self.timeline
        stream.thread_type = "AUTO"
        deadline = DecodeDeadline(self.path, self.limits.wall_seconds)
        base = float(stream.time_base or 0)
        for packet in source.container.demux(stream):
            deadline.check()
            for frame in decoded(stream.codec_context, packet):
                check_size(self.path, frame.width, frame.height, self.limits)
                seconds = self.seen / timeline.rate
                if timeline.trusted and frame.pts is not None:
                    seconds = frame.pts * base - self.look.start
                self._count()
                yield seconds, frame
        if not self.seen:
            raise MediaBroken(f"{self.path}: no decodable frames")

    def _count(self) -> None:
        self.seen += 1
        if self.seen % TELL_FRAMES == 0:
            self.tell(min(1.0, self.seen / self.timeline.frames))
