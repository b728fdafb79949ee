"""Puts downloaded streams into one file without re-encoding. Runs in yt-dlp's process, and needs no ffmpeg program.

Hosts deliver pictures and sound as two files, and HLS as an MPEG transport stream, which browsers do not play. Both
become an mp4, or Matroska where mp4 does not take the codecs.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any

import av
import av.error

from found_footy.media.opening import DEMUXERS

SOUND_DEMUXERS = f"{DEMUXERS},aac,mp3"
"""HLS may deliver sound as bare AAC or MP3 frames."""
BARE_SOUND = frozenset({"aac", "mp3"})
"""Formats without timestamps: they start when the pictures do."""

_MP4_PICTURES = frozenset({"h264", "hevc", "av1", "mpeg4"})
_MP4_SOUND = frozenset({"aac", "mp3", "ac3", "eac3", "alac"})
_PACKET = 188


def is_transport_stream(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(_PACKET + 1)
    return head[:1] == b"G" and head[_PACKET:] in (b"G", b"")


def join(paths: Sequence[str], folder: str) -> str:
    """Joins the pictures of the first file with the sound of the last one; returns the new file's path.

    Raises OSError, also for files that cannot be read.
    """
    try:
        return _join(paths, folder)
    except av.error.FFmpegError as error:
        raise OSError(error.errno, f"no video was found in what was downloaded: {error.strerror}") from error


def _join(paths: Sequence[str], folder: str) -> str:
    with ExitStack() as stack:
        films = [stack.enter_context(_opened(path, first=number == 0)) for number, path in enumerate(paths)]
        pictures, sound = next(iter(films[0].streams.video), None), next(iter(films[-1].streams.audio), None)
        if pictures is None or (sound is None and len(films) > 1):
            raise OSError("no video was found in what was downloaded, or no sound")
        wanted = [each for each in (pictures, sound) if each is not None]
        kind, ending, options = _container(pictures, sound)
        path = os.path.join(folder, f"joined.{ending}")
        out = stack.enter_context(av.open(path, "w", format=kind, options=options))
        into = {id(stream): out.add_stream_from_template(stream) for stream in wanted}
        start = _start(pictures)
        parts = [_packets(film, [each for each in wanted if each.container is film], into, start) for film in films]
        for packet in heapq.merge(*parts, key=lambda packet: float(packet.dts * packet.time_base)):
            out.mux_one(packet)
    return path


@contextmanager
def _opened(path: str, *, first: bool) -> Iterator[Any]:
    """By a short list of demuxers, as wherever a stranger's file is opened."""
    options = {"format_whitelist": DEMUXERS if first else SOUND_DEMUXERS}
    with open(path, "rb") as file, av.open(file, "r", container_options=options) as container:
        yield container


def _container(pictures: Any, sound: Any) -> tuple[str, str, dict[str, str]]:
    fits = pictures.codec_context.name in _MP4_PICTURES and (sound is None or sound.codec_context.name in _MP4_SOUND)
    return ("mp4", "mp4", {"movflags": "faststart"}) if fits else ("matroska", "mkv", {})


def _start(stream: Any) -> Fraction:
    """Seconds at which a stream starts: transport streams count from anywhere."""
    return max(Fraction(0), (stream.start_time or 0) * Fraction(stream.time_base))


def _packets(film: Any, streams: Sequence[Any], into: Mapping[int, Any], start: Fraction) -> Iterator[Any]:
    """A file's packets on the common clock, which starts with the pictures."""
    shift = Fraction(0) if film.format.name in BARE_SOUND else start
    by_index = {stream.index: stream for stream in streams}
    for packet in film.demux(*streams):
        if packet.dts is None:
            continue
        ticks = round(shift / Fraction(packet.time_base))
        packet.dts -= ticks
        packet.pts = packet.dts if packet.pts is None else packet.pts - ticks
        packet.stream = into[id(by_index[packet.stream.index])]
        yield packet
