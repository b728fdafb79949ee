"""Cuts a stretch of frames out of a master, exactly: as it is where the cut allows it, encoded anew otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import numpy as np
from av.container import OutputContainer
from av.video.frame import VideoFrame

from found_footy.media import encoding, sound
from found_footy.media.copying import begins_anew, copied_video, span, stored_length
from found_footy.media.film_writing import AnyPacket, new_film, put
from found_footy.media.opening import Limits, opened
from found_footy.media.pacing import places
from found_footy.media.stretches import MasterFile, all_pictures, master_file, packets, packets_from


def cut(path: Path, first: int, end: int, to: Path, limits: Limits | None = None) -> bool:
    """The frames from `first` up to but without `end`, with their sound; returns whether they were encoded anew."""
    limits = limits or Limits()
    with ExitStack() as stack:
        master = stack.enter_context(master_file(path, limits))
        master.check(first, end)
        copied = _copied_span(master, first, end)
        out = stack.enter_context(new_film(to, master.rate))
        # A stream may be added only before the first packet, and not at all where nothing is heard.
        video = _copied(master, first, end, copied, out) if copied else _encoded(master, first, end, out)
        heard = _heard(stack, master, first, end, out)
        put(out, to, video, *([heard] if heard is not None else []))
    return copied is None


def _copied_span(master: MasterFile, first: int, end: int) -> tuple[int, int] | None:
    timeline = packets(master, first, end)
    numbers = np.round(timeline.pts / master.unit).astype(np.int64)
    found = span(numbers, timeline.keyframe, first, end)
    length = stored_length(master.source.stream.codec_context.extradata)
    if found is None or length is None:
        return None
    head = next(islice(packets_from(master, first), found[0], None))
    return found if begins_anew(bytes(head), length) else None


def _copied(
    master: MasterFile, first: int, end: int, copied: tuple[int, int], out: OutputContainer
) -> Iterator[AnyPacket]:
    timeline = packets(master, first, end)
    stream = out.add_stream_from_template(master.source.stream)
    numbers = np.round(timeline.pts[slice(*copied)] / master.unit).astype(np.int64) - first
    return copied_video(islice(packets_from(master, first), *copied), numbers, stream, master.rate)


def _encoded(master: MasterFile, first: int, end: int, out: OutputContainer) -> Iterator[AnyPacket]:
    context = master.source.stream.codec_context
    colours = encoding.Colours(context.color_range, context.colorspace, context.color_primaries, context.color_trc)
    stream = encoding.add_h264(out, master.rate, context.width, context.height, encoding.CRF_CUT, colours)
    return encoding.h264(stream, places(_timed(master, first, end), master.rate, end - first), master.rate)


def _timed(master: MasterFile, first: int, end: int) -> Iterator[tuple[float, VideoFrame]]:
    for number, picture in all_pictures(master, first, end):
        yield float((number - first) / master.rate), picture


def _heard(
    stack: ExitStack, master: MasterFile, first: int, end: int, out: OutputContainer
) -> Iterator[AnyPacket] | None:
    container = stack.enter_context(opened(master.path, master.limits)).container
    stream = sound.usable(container)
    if stream is None:
        return None
    begin, stop = float(first / master.rate), float(end / master.rate)
    if sound.begun(sound.copied(container, stream, stream, begin, stop, master.deadline)) is None:
        return None
    into = sound.add_stream(out, stream, copies=True)
    return sound.copied(container, stream, into, begin, stop, master.deadline)
