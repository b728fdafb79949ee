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
    decode_packet,
    open_video,
    timeline_from_packets,
)
from found_footy.media.mp4 import (
    MAX_RATE,
    AnyPacket,
    choose_rate,
    copy_video_packets,
    display_ranks,
    is_idr,
    mux,
    nal_length_bytes,
    open_mp4,
    resample_frames,
)
from found_footy.media.probe import Playability, inspect, reencode_reason

ReportProgress = Callable[[float], None]

MAX_UNDECODABLE_SHARE = 0.5
"""A video with a larger share of undecodable frames is broken."""
PROGRESS_FRAMES = 16


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


def make_master(path: Path, to: Path, progress: ReportProgress, limits: DecodeLimits) -> MasterInfo:
    """Read the file several times, in constant memory regardless of its length. Raises MediaError."""
    progress(0.0)
    timeline = timeline_from_packets(path, limits)
    if timeline.frames < 2:
        raise NotAVideo(f"{path}: a single image is not a video")
    playability = inspect(path, timeline, limits)
    audio_track = sound.probe_audio(path, playability.start, limits)
    if reencode_reason(playability) is None:
        try:
            return _Writer(path, to, timeline, playability, audio_track, progress, limits).copy()
        except _CannotCopy:
            pass
    return _Writer(path, to, timeline, playability, audio_track, progress, limits).encode()


@dataclass(slots=True)
class _Writer:
    path: Path
    to: Path
    timeline: FrameTimeline
    playability: Playability
    audio_track: sound.AudioTrack | None
    progress: ReportProgress
    limits: DecodeLimits
    decoded_frames: int = 0

    def copy(self) -> MasterInfo:
        playability, count = self.playability, self.timeline.frames
        assert playability.rate is not None
        with ExitStack() as stack:
            source = stack.enter_context(open_video(self.path, self.limits))
            out = stack.enter_context(open_mp4(self.to, playability.rate))
            stream = out.add_stream_from_template(source.stream)
            packets = copy_video_packets(
                self._verified_packets(source), display_ranks(self.timeline.pts), stream, playability.rate
            )
            audio = self._mux(stack, out, packets, count / playability.rate)
        return MasterInfo(count, playability.rate, playability.width, playability.height, audio)

    def encode(self) -> MasterInfo:
        playability, timeline = self.playability, self.timeline
        shown = np.sort(timeline.seconds[timeline.shown])
        rate, shape = playability.rate, playability.shape
        if rate is None or rate > MAX_RATE:
            rate = choose_rate(shown, playability.declared_rate)
        total = max(1, round(timeline.duration * rate))
        with ExitStack() as stack:
            source = stack.enter_context(open_video(self.path, self.limits))
            out = stack.enter_context(open_mp4(self.to, rate))
            stream = encoding.add_h264(out, rate, shape.width, shape.height, encoding.CRF_MASTER)
            normalized = encoding.FrameNormalizer(shape).normalize(self._timed_frames(source))
            packets = encoding.encode_h264(stream, resample_frames(normalized, rate, total), rate)
            audio = self._mux(stack, out, packets, total / rate)
        if self.decoded_frames < (1 - MAX_UNDECODABLE_SHARE) * timeline.frames:
            raise MediaBroken(f"{self.path}: only {self.decoded_frames} of {timeline.frames} frames can be decoded")
        return MasterInfo(total, rate, playability.shape.width, playability.shape.height, audio)

    def _mux(self, stack: ExitStack, out: OutputContainer, video: Iterator[AnyPacket], seconds: Fraction) -> bool:
        """Write video and audio; return whether there is audio."""
        audio: Iterator[AnyPacket] | None = None
        if self.audio_track is not None:
            container = stack.enter_context(open_video(self.path, self.limits)).container
            stream = sound.find_audio_stream(container)
            assert stream is not None
            audio_stream = sound.add_stream(out, stream, self.audio_track.is_copyable)
            read_packets = sound.copy_audio if self.audio_track.is_copyable else sound.encode_audio
            deadline = DecodeDeadline(self.path, self.limits.wall_seconds)
            start = self.playability.start
            audio = read_packets(container, stream, audio_stream, start, start + float(seconds), deadline)
        mux(out, self.to, video, *([audio] if audio is not None else []))
        return audio is not None

    def _verified_packets(self, source: VideoSource) -> Iterator[Packet[VideoStream]]:
        """Yield the video packets. Each frame is also decoded, so that a master has no undecodable frames."""
        stream = source.stream
        stream.thread_type = "AUTO"
        context: Any = stream.codec_context
        context.options = {**context.options, "skip_loop_filter": "all"}  # these frames are only checked, not shown
        length = nal_length_bytes(context.extradata)
        deadline = DecodeDeadline(self.path, self.limits.wall_seconds)
        count = 0
        for packet in source.container.demux(stream):
            deadline.check()
            for frame in decode_packet(context, packet):
                self._check(frame)
            if packet.size:
                if count == 0 and not is_idr(bytes(packet), length or 4):
                    raise _CannotCopy
                count += 1
                yield packet
        if self.decoded_frames != self.timeline.frames:
            raise _CannotCopy

    def _check(self, frame: VideoFrame) -> None:
        self._count_frame()
        kind = (frame.width, frame.height, frame.format.name)
        if kind != self.playability.kind or frame.interlaced_frame or frame.rotation:
            raise _CannotCopy

    def _timed_frames(self, source: VideoSource) -> Iterator[tuple[float, VideoFrame]]:
        """Yield (seconds since the first frame, frame) in display order."""
        stream, timeline = source.stream, self.timeline
        stream.thread_type = "AUTO"
        deadline = DecodeDeadline(self.path, self.limits.wall_seconds)
        base = float(stream.time_base or 0)
        for packet in source.container.demux(stream):
            deadline.check()
            for frame in decode_packet(stream.codec_context, packet):
                check_size(self.path, frame.width, frame.height, self.limits)
                seconds = self.decoded_frames / timeline.rate
                if timeline.trusted and frame.pts is not None:
                    seconds = frame.pts * base - self.playability.start
                self._count_frame()
                yield seconds, frame
        if not self.decoded_frames:
            raise MediaBroken(f"{self.path}: no decodable frames")

    def _count_frame(self) -> None:
        self.decoded_frames += 1
        if self.decoded_frames % PROGRESS_FRAMES == 0:
            self.progress(min(1.0, self.decoded_frames / self.timeline.frames))
