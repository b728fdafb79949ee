"""yt-dlp in the sandbox: chooses formats, downloads, and joins streams into one file without the ffmpeg program.

Hosts deliver video and audio as two files, and HLS as an MPEG transport stream, which browsers do not play. Both are
remuxed into MP4, or Matroska if MP4 does not support the codecs.
"""

from __future__ import annotations

import errno
import heapq
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from importlib import import_module
from typing import Any

import av
import av.error

from found_footy.media.container import DEMUXERS
from found_footy.runtime.sandbox_child import Reply, SandboxContext

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
        raise OSError(error.errno, f"the download contains no video: {error.strerror}") from error


def _join(paths: Sequence[str], folder: str) -> str:
    with ExitStack() as stack:
        films = [stack.enter_context(_opened(path, first=number == 0)) for number, path in enumerate(paths)]
        pictures, sound = next(iter(films[0].streams.video), None), next(iter(films[-1].streams.audio), None)
        if pictures is None or (sound is None and len(films) > 1):
            raise OSError("the download lacks a video or an audio stream")
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
    """Open with a short allowlist of demuxers, as for every untrusted file."""
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


# --- Which of the formats that a site offers are downloaded, where pictures and sound may be separate.


MAX_HEIGHT = 1080

Format = Mapping[str, Any]


def chosen(formats: Sequence[Format]) -> list[Format]:
    """The best picture up to 1080p, and sound where the picture has none. `formats` are in yt-dlp's order, worst first.

    Of the same height, a format with its own sound wins, since nothing has to be joined; then mp4, which plays
    everywhere.
    """
    films = [each for each in formats if _has(each, "vcodec")]
    small = [each for each in films if (each.get("height") or 0) <= MAX_HEIGHT]
    if not films:
        return []
    ranked = enumerate(small or films)
    _, film = max(
        ranked,
        key=lambda place: (place[1].get("height") or 0, _has(place[1], "acodec"), _is_mp4(place[1]), place[0]),
    )
    sounds = [each for each in formats if _has(each, "acodec") and not _has(each, "vcodec")]
    if _has(film, "acodec") or not sounds:
        return [film]
    return [film, max(enumerate(sounds), key=lambda place: (_is_mp4(place[1]) == _is_mp4(film), place[0]))[1]]


def _is_mp4(each: Format) -> bool:
    return each.get("ext") in ("mp4", "m4a", "m4v", "aac", "mov")


def _has(each: Format, codec: str) -> bool:
    """An unknown codec may be there: hosts with a single file do not describe it."""
    return each.get(codec) != "none"


# --- The sandboxed process in which yt-dlp runs.


KEPT_LINES = 20
TOO_LARGE = "larger than max-filesize"
NAMED_ONLY = ["default", "-generic"]
SEVERAL = "the page shows several videos and does not mark its own"


class _TooLarge(Exception):
    pass


class _Log:
    """Collects yt-dlp's last messages."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def debug(self, message: str) -> None:
        self.lines = [*self.lines, str(message)[:1000]][-KEPT_LINES:]

    info = warning = error = debug


def download(context: SandboxContext, request: dict[str, Any]) -> Reply:
    """Download a file, or return the reason in `failed`."""
    answer = _download(context, request)
    return {**answer, "refused": context.guard.refused[:1]}, ()


def _download(context: SandboxContext, request: dict[str, Any]) -> dict[str, Any]:
    if not request["impersonate"]:
        # From here on, importing it fails as if it were not installed.
        sys.modules["curl_cffi"] = None  # type: ignore[assignment]
    # Imported here, after the limits and the guard are in place.
    yt_dlp: Any = import_module("yt_dlp")
    log = _Log()
    try:
        with yt_dlp.YoutubeDL(_options(context, request, log)) as loader:
            info = loader.extract_info(request["url"], download=True)
        found = _found(info, request["folder"])
    except _TooLarge:
        return {"failed": TOO_LARGE}
    except (yt_dlp.utils.YoutubeDLError, OSError) as error:
        return {"failed": TOO_LARGE if getattr(error, "errno", None) == errno.EFBIG else str(error)[:2000]}
    except MemoryError:
        return {"failed": "out of memory"}
    return found or {"failed": next(iter(reversed(log.lines)), "no video was found")}


def _found(info: Any, folder: str) -> dict[str, Any] | None:
    while isinstance(info, dict) and info.get("entries"):
        info = next(iter(info["entries"]), None)
    done = info.get("requested_downloads") if isinstance(info, dict) else None
    paths = [each.get("filepath") for each in done or ()]
    if not paths or not all(path and os.path.isfile(path) for path in paths):
        return None
    if len(paths) == 2 or is_transport_stream(paths[0]):
        paths = [join(paths, folder)]
    return {"file": os.path.basename(paths[0]), "title": str(info.get("title") or "")[:500]}


def _share(progress: dict[str, Any]) -> float | None:
    """How much is downloaded: by bytes, or by fragments of a stream of unknown size."""
    done, whole = progress.get("fragment_index"), progress.get("fragment_count")
    if not done or not whole:
        done = progress.get("downloaded_bytes")
        whole = progress.get("total_bytes") or progress.get("total_bytes_estimate")
    return done / whole if done and whole else None


def _options(context: SandboxContext, request: dict[str, Any], log: _Log) -> dict[str, Any]:
    sizes: dict[str, int] = {}

    def bounded(progress: dict[str, Any]) -> None:
        # Not by yt-dlp's own max_filesize, which reports a segment that is too large as missing.
        # Pictures and sound may be two files; all segments of each are counted.
        sizes[str(progress.get("filename"))] = max(
            progress.get("downloaded_bytes") or 0, progress.get("total_bytes") or 0
        )
        if sum(sizes.values()) > request["max_bytes"]:
            raise _TooLarge
        sound_alone = (progress.get("info_dict") or {}).get("vcodec") == "none"
        if not sound_alone and (share := _share(progress)) is not None:
            context.report(share)

    def wanted(info: dict[str, Any], *, incomplete: bool = False) -> str | None:
        if info.get("is_live"):
            return "this is a live stream"
        if info.get("extractor_key") == "Generic" and (info.get("playlist_count") or 0) > 1:
            return SEVERAL
        longest, seconds = request["longest_seconds"], info.get("duration")
        too_long = longest is not None and isinstance(seconds, int | float) and seconds > longest
        return "this video is longer than is taken" if too_long else None

    return {
        "quiet": True,
        "noprogress": True,
        "logger": log,
        "progress_hooks": [bounded],
        "match_filter": wanted,
        "format": lambda offered: iter(chosen(offered["formats"])),
        "allowed_extractors": ["default"] if request["generic"] else NAMED_ONLY,
        "socket_timeout": request["silence_seconds"],
        "outtmpl": {"default": "clip.%(format_id)s.%(ext)s"},
        "paths": {"home": request["folder"], "temp": request["folder"]},
        "restrictfilenames": True,
        "noplaylist": True,
        "playlist_items": "1",
        "cachedir": False,
        "usenetrc": False,
        "proxy": "",
        "geo_bypass": False,
        "retries": 2,
        "fragment_retries": 2,
        "extractor_retries": 1,
        "file_access_retries": 0,
        "skip_unavailable_fragments": False,
        "hls_prefer_native": True,
        "external_downloader": {"default": "native"},
        "ffmpeg_location": os.path.join(request["folder"], "none"),
        "js_runtimes": request["js_runtimes"],
        "fixup": "never",
        "postprocessors": [],
        "updatetime": False,
        "color": {"stdout": "no_color", "stderr": "no_color"},
    }
