"""Pictures of any kind into H.264 that every browser plays: upright, square pixels, 4:2:0 in 8 bits, even sides."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import av.error
from av.container import OutputContainer
from av.filter import Graph
from av.video.frame import VideoFrame

from found_footy.domain.errors import MediaTooLarge
from found_footy.media.film_writing import AnyPacket

MOST_PIXELS = 1920 * 1080
"""What is encoded anew is brought to this size; what can be kept is kept as large as it is."""
GROUP_SECONDS = 2
"""From one keyframe to the next at most: a seek has to decode all between them."""
LONGEST_GROUP = 250
THREADS = 4
"""Each takes memory for some frames."""
CRF_MASTER, CRF_CUT = 20, 18
"""x264's measure of loss. A cut is a copy of a copy, so it is a little finer."""
BT709, SMPTE170M, BT2020 = 1, 6, 9
MATRICES = {BT709: "bt709", 5: "smpte170m", SMPTE170M: "smpte170m", 7: "smpte240m", BT2020: "bt2020"}
"""FFmpeg's numbers of colour spaces, and its names for them."""
HD_HEIGHT = 720
"""From here on, pictures that do not tell their colour space are taken for BT.709."""
_COUNT = Fraction(1, 1000)
"""The time base in which pictures are numbered on their way through the filters."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What has to be done to pictures so that a browser shows them as they are meant."""

    width: int
    height: int
    """As they come out."""
    turns: int = 0
    """Quarters counterclockwise."""
    interlaced: bool = False


def shape_of(width: int, height: int, aspect: Fraction, turns: int, interlaced: bool) -> Shape:
    """For stored sides, the shape of a pixel (width to height), and quarter turns counterclockwise."""
    across, down = width * float(aspect), float(height)
    if turns % 2:
        across, down = down, across
    scale = min(1.0, (MOST_PIXELS / (across * down)) ** 0.5)
    return Shape(_even(across * scale), _even(down * scale), turns % 4, interlaced)


@dataclass(frozen=True, slots=True)
class Colours:
    """What numbers of colour mean, in FFmpeg's numbers: as `Shaper` makes them, if nothing else is said."""

    range: int = 1
    space: int = BT709
    primaries: int = BT709
    curve: int = BT709


def add_h264(
    out: OutputContainer, rate: Fraction, width: int, height: int, crf: int, colours: Colours | None = None
) -> Any:
    """For pictures in 4:2:0."""
    colours = colours or Colours()
    group = max(1, min(LONGEST_GROUP, round(GROUP_SECONDS * rate)))
    stream = out.add_stream("libx264", rate=rate, time_base=1 / rate, width=width, height=height)
    # Every scene may begin with a keyframe, however short the one before: there films are cut without encoding.
    stream.options = {"preset": "veryfast", "crf": str(crf), "g": str(group), "keyint_min": "1"}
    context = stream.codec_context
    context.pix_fmt = "yuv420p"
    context.color_range, context.colorspace = colours.range, colours.space
    context.color_primaries, context.color_trc = colours.primaries, colours.curve
    context.thread_count = min(THREADS, os.cpu_count() or 1)
    return stream


def h264(stream: Any, pictures: Iterator[tuple[int, VideoFrame]], rate: Fraction) -> Iterator[AnyPacket]:
    """(place, picture) in order, into packets."""
    for place, picture in pictures:
        picture.pts, picture.time_base = place, 1 / rate
        picture.pict_type = 0  # what it was in the film it comes from says nothing here
        yield from _encoded(stream, picture)
    yield from _encoded(stream, None)


def _encoded(stream: Any, picture: VideoFrame | None) -> list[AnyPacket]:
    try:
        packets: list[AnyPacket] = stream.encode(picture)
    except (av.error.ExternalError, av.error.MemoryError) as error:  # x264 does not say it in any other way
        raise MediaTooLarge("encoding it needs more memory than there is") from error
    return packets


class Shaper:
    """Brings pictures to one shape, also where their size changes on the way. Keeps at most a few of them."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._graph: Graph | None = None
        self._kind: tuple[int, int, str] | None = None
        self._seconds: dict[int, float] = {}
        self._count = 0

    def shaped(self, pictures: Iterator[tuple[float, VideoFrame]]) -> Iterator[tuple[float, VideoFrame]]:
        """(seconds, picture) in, the same out."""
        for seconds, picture in pictures:
            kind = (picture.width, picture.height, picture.format.name)
            if self._graph is None or kind != self._kind:
                yield from self._pulled(flush=True)
                self._graph, self._kind = self._made(picture), kind
            self._seconds[self._count] = seconds
            picture.pts, picture.time_base = self._count, _COUNT
            self._count += 1
            self._graph.vpush(picture)
            yield from self._pulled()
        yield from self._pulled(flush=True)

    def _made(self, picture: VideoFrame) -> Graph:
        shape = self._shape
        graph = Graph()
        graph.threads = 1
        steps = [graph.add_buffer(width=picture.width, height=picture.height, format=picture.format, time_base=_COUNT)]
        if shape.interlaced:
            steps.append(graph.add("yadif", "deint=interlaced"))
        across, down = (shape.height, shape.width) if shape.turns % 2 else (shape.width, shape.height)
        matrix = matrix_of(picture.colorspace, picture.height)
        scale = f"{across}:{down}:flags=bicubic:in_color_matrix={matrix}:out_color_matrix=bt709:out_range=tv"
        steps.append(graph.add("scale", scale))
        steps.append(graph.add("format", "yuv420p"))
        steps += [graph.add(*each) for each in _TURNED[shape.turns]]
        steps += [graph.add("setsar", "1"), graph.add("buffersink")]
        graph.link_nodes(*steps).configure()
        return graph

    def _pulled(self, flush: bool = False) -> Iterator[tuple[float, VideoFrame]]:
        if self._graph is None:
            return
        if flush:
            self._graph.vpush(None)
        while True:
            try:
                picture = self._graph.vpull()
            except (av.error.BlockingIOError, av.error.EOFError):
                return
            assert picture.pts is not None
            assert picture.time_base is not None
            number = round(picture.pts * picture.time_base / _COUNT)
            yield self._seconds.pop(number), picture


def matrix_of(colorspace: int, height: int) -> str:
    """The colour space of pictures, guessed by their size where they do not tell."""
    return MATRICES.get(colorspace, "bt709" if height >= HD_HEIGHT else "smpte170m")


_TURNED: tuple[tuple[tuple[str, ...], ...], ...] = (
    (),
    (("transpose", "cclock"),),
    (("hflip",), ("vflip",)),
    (("transpose", "clock"),),
)


def _even(side: float) -> int:
    return max(2, round(side / 2) * 2)
