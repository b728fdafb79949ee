"""What a film is like, as far as it decides whether a browser can play it as it is. Its first picture is decoded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from av.video.frame import VideoFrame

from found_footy.domain.errors import MediaBroken
from found_footy.media.copying import stored_length
from found_footy.media.encoding import Shape, shape_of
from found_footy.media.opening import Deadline, Limits, Source, check_size, decoded, opened
from found_footy.media.pacing import constant_rate
from found_footy.media.timeline import Timeline

PROGRESSIVE = (0, 1)
"""FFmpeg's numbers for "not told" and "whole pictures"."""
UNTOLD_ASPECT = Fraction(1)


@dataclass(frozen=True, slots=True)
class Look:
    codec: str
    kind: tuple[int, int, str]
    """Width and height as stored, and the pixels' format."""
    stored: bool
    """Its set-up is in the form in which MP4 wants it."""
    rate: Fraction | None
    """None where it is not constant."""
    named_rate: Fraction | None
    all_shown: bool
    """No picture is hidden by an edit list."""
    keyframe_first: bool
    square: bool
    shape: Shape
    """As it has to be shown."""
    start: float
    """Seconds, in the file's own count, at which the first picture is shown."""

    @property
    def width(self) -> int:
        return self.kind[0]

    @property
    def height(self) -> int:
        return self.kind[1]


def look_at(path: Path, timeline: Timeline, limits: Limits) -> Look:
    with opened(path, limits) as source:
        stream = source.stream
        first = _first_picture(source, path, limits)
        context = stream.codec_context
        aspect = stream.sample_aspect_ratio or UNTOLD_ASPECT
        turns = round(first.rotation / 90) % 4
        interlaced = first.interlaced_frame or context.field_order not in PROGRESSIVE
        named = stream.average_rate or stream.guessed_rate
        return Look(
            codec=context.codec.canonical_name,
            kind=(first.width, first.height, first.format.name),
            stored=stored_length(context.extradata) is not None,
            rate=constant_rate(np.sort(timeline.seconds[timeline.shown]), named) if timeline.trusted else None,
            named_rate=named,
            all_shown=bool(timeline.shown.all()),
            keyframe_first=bool(timeline.keyframe[0]),
            square=aspect == 1,
            shape=shape_of(first.width, first.height, aspect, turns, interlaced),
            start=_start(source, timeline),
        )


def why_encoded(look: Look) -> str | None:
    """Why its pictures cannot stay as they are; None where they can."""
    reasons = {
        f"{look.codec} is not played everywhere": look.codec != "h264",
        f"pixels are {look.kind[2]}": look.kind[2] != "yuv420p",
        "it is a stream without a set-up": not look.stored,
        "its rate is not constant": look.rate is None,
        "some of its pictures are hidden": not look.all_shown,
        "it does not begin with a keyframe": not look.keyframe_first,
        "its pixels are not square": not look.square,
        "it has to be turned": look.shape.turns != 0,
        "it is interlaced": look.shape.interlaced,
        "its sides are odd": bool(look.width % 2 or look.height % 2),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _first_picture(source: Source, path: Path, limits: Limits) -> VideoFrame:
    deadline = Deadline(path, limits.wall_seconds)
    for packet in source.container.demux(source.stream):
        deadline.check()
        for frame in decoded(source.stream.codec_context, packet):
            check_size(path, frame.width, frame.height, limits)
            return frame
    raise MediaBroken(f"{path}: no picture of it can be decoded")


def _start(source: Source, timeline: Timeline) -> float:
    base = source.stream.time_base
    if not timeline.trusted or base is None:
        return (source.container.start_time or 0) / 1_000_000
    return float(int(timeline.pts[timeline.shown].min()) * base)
