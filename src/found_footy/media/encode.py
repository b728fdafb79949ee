"""Encodes frames as H.264 for all browsers: upright, square pixels, 8-bit 4:2:0, even dimensions."""

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

from found_footy.errors import MediaTooLarge
from found_footy.media.mp4 import AnyPacket

MAX_PIXELS = 1920 * 1080
"""Maximum size of re-encoded video; copied video keeps its size."""
GROUP_SECONDS = 2
"""Maximum keyframe interval: a seek must decode all frames since the last keyframe."""
MAX_GOP_FRAMES = 250
THREADS = 4
"""Each thread buffers some frames."""
CRF_MASTER, CRF_CUT = 20, 18
"""x264 quality (lower is better). A cut is encoded a second time, so its quality is a little higher."""
BT709, SMPTE170M, BT2020 = 1, 6, 9
MATRICES = {BT709: "bt709", 5: "smpte170m", SMPTE170M: "smpte170m", 7: "smpte240m", BT2020: "bt2020"}
"""FFmpeg's numbers and names of colour spaces."""
HD_HEIGHT = 720
"""Minimum height at which frames without a declared colour space are assumed to be BT.709."""
_COUNT = Fraction(1, 1000)
"""Time base of frame numbers inside the filter graph."""


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """Conversion that frames need for correct display in a browser."""

    width: int
    height: int
    """Output size."""
    quarter_turns: int = 0
    """Counterclockwise quarter turns."""
    interlaced: bool = False


def output_format(width: int, height: int, aspect: Fraction, quarter_turns: int, interlaced: bool) -> OutputFormat:
    """Compute the format from the stored size, the pixel aspect ratio and counterclockwise quarter turns."""
    across, down = width * float(aspect), float(height)
    if quarter_turns % 2:
        across, down = down, across
    scale = min(1.0, (MAX_PIXELS / (across * down)) ** 0.5)
    return OutputFormat(_even(across * scale), _even(down * scale), quarter_turns % 4, interlaced)


@dataclass(frozen=True, slots=True)
class ColorSpec:
    """Colour properties in FFmpeg's numbers. The defaults are those of `FrameNormalizer`."""

    range: int = 1
    space: int = BT709
    primaries: int = BT709
    curve: int = BT709


def add_h264(
    out: OutputContainer, rate: Fraction, width: int, height: int, crf: int, colours: ColorSpec | None = None
) -> Any:
    """Add an H.264 stream for 4:2:0 frames."""
    colours = colours or ColorSpec()
    group = max(1, min(MAX_GOP_FRAMES, round(GROUP_SECONDS * rate)))
    stream = out.add_stream("libx264", rate=rate, time_base=1 / rate, width=width, height=height)
    # Allow a keyframe at every scene start, however short the last scene, so that cuts there need no encoding.
    stream.options = {"preset": "veryfast", "crf": str(crf), "g": str(group), "keyint_min": "1"}
    context = stream.codec_context
    context.pix_fmt = "yuv420p"
    context.color_range, context.colorspace = colours.range, colours.space
    context.color_primaries, context.color_trc = colours.primaries, colours.curve
    context.thread_count = min(THREADS, os.cpu_count() or 1)
    return stream


def encode_h264(stream: Any, pictures: Iterator[tuple[int, VideoFrame]], rate: Fraction) -> Iterator[AnyPacket]:
    """Encode (number, frame) pairs in order."""
    for place, picture in pictures:
        picture.pts, picture.time_base = place, 1 / rate
        picture.pict_type = 0  # ignore the frame type of the input
        yield from _encode_picture(stream, picture)
    yield from _encode_picture(stream, None)


def _encode_picture(stream: Any, picture: VideoFrame | None) -> list[AnyPacket]:
    try:
        packets: list[AnyPacket] = stream.encode(picture)
    except (av.error.ExternalError, av.error.MemoryError) as error:  # x264 reports a lack of memory as either
        raise MediaTooLarge("not enough memory to encode the video") from error
    return packets


class FrameNormalizer:
    """Converts frames to one format, even if their size changes midway. Buffers only a few frames."""

    def __init__(self, shape: OutputFormat) -> None:
        self._shape = shape
        self._graph: Graph | None = None
        self._kind: tuple[int, int, str] | None = None
        self._seconds: dict[int, float] = {}
        self._count = 0

    def normalize(self, pictures: Iterator[tuple[float, VideoFrame]]) -> Iterator[tuple[float, VideoFrame]]:
        """Convert (seconds, frame) pairs."""
        for seconds, picture in pictures:
            kind = (picture.width, picture.height, picture.format.name)
            if self._graph is None or kind != self._kind:
                yield from self._pull(flush=True)
                self._graph, self._kind = self._build_graph(picture), kind
            self._seconds[self._count] = seconds
            picture.pts, picture.time_base = self._count, _COUNT
            self._count += 1
            self._graph.vpush(picture)
            yield from self._pull()
        yield from self._pull(flush=True)

    def _build_graph(self, picture: VideoFrame) -> Graph:
        shape = self._shape
        graph = Graph()
        graph.threads = 1
        steps = [graph.add_buffer(width=picture.width, height=picture.height, format=picture.format, time_base=_COUNT)]
        if shape.interlaced:
            steps.append(graph.add("yadif", "deint=interlaced"))
        across, down = (shape.height, shape.width) if shape.quarter_turns % 2 else (shape.width, shape.height)
        matrix = matrix_of(picture.colorspace, picture.height)
        scale = f"{across}:{down}:flags=bicubic:in_color_matrix={matrix}:out_color_matrix=bt709:out_range=tv"
        steps.append(graph.add("scale", scale))
        steps.append(graph.add("format", "yuv420p"))
        steps += [graph.add(*each) for each in _ROTATIONS[shape.quarter_turns]]
        steps += [graph.add("setsar", "1"), graph.add("buffersink")]
        graph.link_nodes(*steps).configure()
        return graph

    def _pull(self, flush: bool = False) -> Iterator[tuple[float, VideoFrame]]:
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
    """Return the colour space of frames, guessed from their size if not declared."""
    return MATRICES.get(colorspace, "bt709" if height >= HD_HEIGHT else "smpte170m")


_ROTATIONS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (),
    (("transpose", "cclock"),),
    (("hflip",), ("vflip",)),
    (("transpose", "clock"),),
)


def _even(side: float) -> int:
    return max(2, round(side / 2) * 2)
