"""Makes the library's master of any film: kept as it is where that will do, encoded anew otherwise."""

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

from found_footy.domain.errors import MediaBroken, NotAVideo
from found_footy.media import encoding, sound
from found_footy.media.copying import begins_anew, copied_video, ranks, stored_length
from found_footy.media.film_look import Look, look_at, why_encoded
from found_footy.media.film_writing import AnyPacket, new_film, put
from found_footy.media.opening import Deadline, Limits, Source, check_size, decoded, opened
from found_footy.media.pacing import chosen_rate, places
from found_footy.media.timeline import Timeline, timeline_of

Tell = Callable[[float], None]

LOST_SHARE = 0.5
"""Of its pictures that cannot be decoded; a film that loses more is broken."""
TELL_FRAMES = 16


@dataclass(frozen=True, slots=True)
class Made:
    """What is known of a master when it is written."""

    frames: int
    rate: Fraction
    width: int
    height: int
    audio: bool


class _NotAsItIs(Exception):
    """Found out on the way: the pictures cannot be taken over after all."""


def make_master(path: Path, to: Path, tell: Tell, limits: Limits) -> Made:
    """Goes through the file a few times, whatever its length in constant memory. Raises a MediaError."""
    tell(0.0)
    timeline = timeline_of(path, limits)
    if timeline.frames < 2:
        raise NotAVideo(f"{path}: a single picture is no film")
    look = look_at(path, timeline, limits)
    heard = sound.sound_of(path, look.start, limits)
    if why_encoded(look) is None:
        try:
            return _Writer(path, to, timeline, look, heard, tell, limits).copy()
        except _NotAsItIs:
            pass
    return _Writer(path, to, timeline, look, heard, tell, limits).encode()


@dataclass(slots=True)
class _Writer:
    path: Path
    to: Path
    timeline: Timeline
    look: Look
    heard: sound.Sound | None
    tell: Tell
    limits: Limits
    seen: int = 0

    def copy(self) -> Made:
        look, count = self.look, self.timeline.frames
        assert look.rate is not None
        with ExitStack() as stack:
            source = stack.enter_context(opened(self.path, self.limits))
            out = stack.enter_context(new_film(self.to, look.rate))
            stream = out.add_stream_from_template(source.stream)
            packets = copied_video(self._checked(source), ranks(self.timeline.pts), stream, look.rate)
            audio = self._put(stack, out, packets, count / look.rate)
        return Made(count, look.rate, look.width, look.height, audio)

    def encode(self) -> Made:
        look, timeline = self.look, self.timeline
        shown = np.sort(timeline.seconds[timeline.shown])
        rate = look.rate if look.rate is not None and look.rate <= 60 else chosen_rate(shown, look.named_rate)
        total = max(1, round(timeline.duration * rate))
        with ExitStack() as stack:
            source = stack.enter_context(opened(self.path, self.limits))
            out = stack.enter_context(new_film(self.to, rate))
            stream = encoding.add_h264(out, rate, look.shape.width, look.shape.height, encoding.CRF_MASTER)
            shaped = encoding.Shaper(look.shape).shaped(self._pictures(source))
            packets = encoding.h264(stream, places(shaped, rate, total), rate)
            audio = self._put(stack, out, packets, total / rate)
        if self.seen < (1 - LOST_SHARE) * timeline.frames:
            raise MediaBroken(f"{self.path}: only {self.seen} of {timeline.frames} pictures can be decoded")
        return Made(total, rate, look.shape.width, look.shape.height, audio)

    def _put(self, stack: ExitStack, out: OutputContainer, video: Iterator[AnyPacket], seconds: Fraction) -> bool:
        """Writes the pictures and what there is of sound; returns whether there is any."""
        heard: Iterator[AnyPacket] | None = None
        if self.heard is not None:
            container = stack.enter_context(opened(self.path, self.limits)).container
            stream = sound.usable(container)
            assert stream is not None
            into = sound.add_stream(out, stream, self.heard.copies)
            take = sound.copied if self.heard.copies else sound.encoded
            deadline = Deadline(self.path, self.limits.wall_seconds)
            start = self.look.start
            heard = take(container, stream, into, start, start + float(seconds), deadline)
        put(out, self.to, video, *([heard] if heard is not None else []))
        return heard is not None

    def _checked(self, source: Source) -> Iterator[Packet[VideoStream]]:
        """The packets of the pictures; each picture is decoded too, so that a master holds none that is lost."""
        stream = source.stream
        stream.thread_type = "AUTO"
        context: Any = stream.codec_context
        context.options = {**context.options, "skip_loop_filter": "all"}  # nobody looks at these pictures
        length = stored_length(context.extradata)
        deadline = Deadline(self.path, self.limits.wall_seconds)
        count = 0
        for packet in source.container.demux(stream):
            deadline.check()
            for frame in decoded(context, packet):
                self._check(frame)
            if packet.size:
                if count == 0 and not begins_anew(bytes(packet), length or 4):
                    raise _NotAsItIs
                count += 1
                yield packet
        if self.seen != self.timeline.frames:
            raise _NotAsItIs

    def _check(self, frame: VideoFrame) -> None:
        self._count()
        kind = (frame.width, frame.height, frame.format.name)
        if kind != self.look.kind or frame.interlaced_frame or frame.rotation:
            raise _NotAsItIs

    def _pictures(self, source: Source) -> Iterator[tuple[float, VideoFrame]]:
        """(seconds since the first picture, picture), in the order of showing."""
        stream, timeline = source.stream, self.timeline
        stream.thread_type = "AUTO"
        deadline = Deadline(self.path, self.limits.wall_seconds)
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
            raise MediaBroken(f"{self.path}: no picture of it can be decoded")

    def _count(self) -> None:
        self.seen += 1
        if self.seen % TELL_FRAMES == 0:
            self.tell(min(1.0, self.seen / self.timeline.frames))
