"""yt-dlp in the sandbox: chooses formats, downloads, and muxes streams into one file without the ffmpeg program.

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

AUDIO_DEMUXERS = f"{DEMUXERS},aac,mp3"
"""HLS may deliver audio as raw AAC or MP3 frames."""
RAW_AUDIO_FORMATS = frozenset({"aac", "mp3"})
"""Formats without timestamps: they start with the video."""

_MP4_VIDEO_CODECS = frozenset({"h264", "hevc", "av1", "mpeg4"})
_MP4_AUDIO_CODECS = frozenset({"aac", "mp3", "ac3", "eac3", "alac"})
_PACKET_BYTES = 188


def is_transport_stream(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(_PACKET_BYTES + 1)
    return head[:1] == b"G" and head[_PACKET_BYTES:] in (b"G", b"")


def mux_files(paths: Sequence[str], folder: str) -> str:
    """Mux the video of the first file with the audio of the last one; return the new file's path.

    Raises OSError, also for files that cannot be read.
    """
    try:
        return _mux_files(paths, folder)
    except av.error.FFmpegError as error:
        raise OSError(error.errno, f"the download contains no video: {error.strerror}") from error


def _mux_files(paths: Sequence[str], folder: str) -> str:
    with ExitStack() as stack:
        files = [stack.enter_context(_open_container(path, first=number == 0)) for number, path in enumerate(paths)]
        video, audio = next(iter(files[0].streams.video), None), next(iter(files[-1].streams.audio), None)
        if video is None or (audio is None and len(files) > 1):
            raise OSError("the download has no video or no audio stream")
        streams = [each for each in (video, audio) if each is not None]
        format_name, extension, options = _output_format(video, audio)
        path = os.path.join(folder, f"joined.{extension}")
        out = stack.enter_context(av.open(path, "w", format=format_name, options=options))
        output_streams = {id(stream): out.add_stream_from_template(stream) for stream in streams}
        start = _start_seconds(video)
        packets = [
            _aligned_packets(film, [each for each in streams if each.container is film], output_streams, start)
            for film in files
        ]
        for packet in heapq.merge(*packets, key=lambda packet: float(packet.dts * packet.time_base)):
            out.mux_one(packet)
    return path


@contextmanager
def _open_container(path: str, *, first: bool) -> Iterator[Any]:
    """Open with a short allowlist of demuxers, as for every untrusted file."""
    options = {"format_whitelist": DEMUXERS if first else AUDIO_DEMUXERS}
    with open(path, "rb") as file, av.open(file, "r", container_options=options) as container:
        yield container


def _output_format(video: Any, audio: Any) -> tuple[str, str, dict[str, str]]:
    is_mp4 = video.codec_context.name in _MP4_VIDEO_CODECS and (
        audio is None or audio.codec_context.name in _MP4_AUDIO_CODECS
    )
    return ("mp4", "mp4", {"movflags": "faststart"}) if is_mp4 else ("matroska", "mkv", {})


def _start_seconds(stream: Any) -> Fraction:
    """Seconds at which a stream starts: transport streams do not start at zero."""
    return max(Fraction(0), (stream.start_time or 0) * Fraction(stream.time_base))


def _aligned_packets(
    file: Any, streams: Sequence[Any], output_streams: Mapping[int, Any], start: Fraction
) -> Iterator[Any]:
    """Yield a file's packets with timestamps that start with the video."""
    shift = Fraction(0) if file.format.name in RAW_AUDIO_FORMATS else start
    by_index = {stream.index: stream for stream in streams}
    for packet in file.demux(*streams):
        if packet.dts is None:
            continue
        ticks = round(shift / Fraction(packet.time_base))
        packet.dts -= ticks
        packet.pts = packet.dts if packet.pts is None else packet.pts - ticks
        packet.stream = output_streams[id(by_index[packet.stream.index])]
        yield packet


# --- Format selection. Sites may offer video and audio separately.


MAX_HEIGHT = 1080

Format = Mapping[str, Any]


def choose_formats(formats: Sequence[Format]) -> list[Format]:
    """Choose the best video up to 1080p, plus audio if the video has none. `formats` are sorted from worst to best.

    At the same height, a format with audio wins, because it needs no muxing; then mp4, which plays everywhere.
    """
    videos = [each for each in formats if _may_have(each, "vcodec")]
    if not videos:
        return []
    within_limit = [each for each in videos if (each.get("height") or 0) <= MAX_HEIGHT]

    def video_rank(item: tuple[int, Format]) -> tuple[int, bool, bool, int]:
        order, video = item
        return video.get("height") or 0, _may_have(video, "acodec"), _is_mp4(video), order

    _, video = max(enumerate(within_limit or videos), key=video_rank)
    audios = [each for each in formats if _may_have(each, "acodec") and not _may_have(each, "vcodec")]
    if _may_have(video, "acodec") or not audios:
        return [video]

    def audio_rank(item: tuple[int, Format]) -> tuple[bool, int]:
        order, audio = item
        return _is_mp4(audio) == _is_mp4(video), order

    _, audio = max(enumerate(audios), key=audio_rank)
    return [video, audio]


def _is_mp4(each: Format) -> bool:
    return each.get("ext") in ("mp4", "m4a", "m4v", "aac", "mov")


def _may_have(each: Format, codec: str) -> bool:
    """Whether the format may have a codec. An unknown one counts: hosts with a single file do not describe it."""
    return each.get(codec) != "none"


# --- The sandboxed process in which yt-dlp runs.


MAX_LOG_LINES = 20
TOO_LARGE = "larger than max-filesize"
WITHOUT_GENERIC = ["default", "-generic"]
SEVERAL_VIDEOS = "the page shows several videos; its own cannot be identified"


class _TooLarge(Exception):
    pass


class _Log:
    """Collects yt-dlp's last messages."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def debug(self, message: str) -> None:
        self.lines = [*self.lines, str(message)[:1000]][-MAX_LOG_LINES:]

    info = warning = error = debug


def download(context: SandboxContext, request: dict[str, Any]) -> Reply:
    """Download a file, or return the reason in `failed`."""
    answer = _download(context, request)
    return {**answer, "refused": context.guard.refused[:1]}, ()


def _download(context: SandboxContext, request: dict[str, Any]) -> dict[str, Any]:
    if not request["impersonate"]:
        # Make the import fail as if curl_cffi were not installed.
        sys.modules["curl_cffi"] = None  # type: ignore[assignment]
    # Imported here, after the limits and the guard are in place.
    yt_dlp: Any = import_module("yt_dlp")
    log = _Log()
    try:
        with yt_dlp.YoutubeDL(_ytdlp_options(context, request, log)) as loader:
            info = loader.extract_info(request["url"], download=True)
        found = _downloaded_file(info, request["folder"])
    except _TooLarge:
        return {"failed": TOO_LARGE}
    except (yt_dlp.utils.YoutubeDLError, OSError) as error:
        return {"failed": TOO_LARGE if getattr(error, "errno", None) == errno.EFBIG else str(error)[:2000]}
    except MemoryError:
        return {"failed": "out of memory"}
    return found or {"failed": next(iter(reversed(log.lines)), "no video was found")}


def _downloaded_file(info: Any, folder: str) -> dict[str, Any] | None:
    while isinstance(info, dict) and info.get("entries"):
        info = next(iter(info["entries"]), None)
    downloads = info.get("requested_downloads") if isinstance(info, dict) else None
    paths = [each.get("filepath") for each in downloads or ()]
    if not paths or not all(path and os.path.isfile(path) for path in paths):
        return None
    if len(paths) == 2 or is_transport_stream(paths[0]):
        paths = [mux_files(paths, folder)]
    return {"file": os.path.basename(paths[0]), "title": str(info.get("title") or "")[:500]}


def _progress_share(progress: dict[str, Any]) -> float | None:
    """Downloaded share: by fragments if they are counted, else by bytes."""
    done, total = progress.get("fragment_index"), progress.get("fragment_count")
    if not done or not total:
        done = progress.get("downloaded_bytes")
        total = progress.get("total_bytes") or progress.get("total_bytes_estimate")
    return done / total if done and total else None


def _ytdlp_options(context: SandboxContext, request: dict[str, Any], log: _Log) -> dict[str, Any]:
    sizes: dict[str, int] = {}

    def on_progress(progress: dict[str, Any]) -> None:
        # yt-dlp's own max_filesize reports a segment that is too large as missing, so it is not used.
        # Video and audio may be two files, each counted with all its segments.
        sizes[str(progress.get("filename"))] = max(
            progress.get("downloaded_bytes") or 0, progress.get("total_bytes") or 0
        )
        if sum(sizes.values()) > request["max_bytes"]:
            raise _TooLarge
        is_audio_only = (progress.get("info_dict") or {}).get("vcodec") == "none"
        if not is_audio_only and (share := _progress_share(progress)) is not None:
            context.report(share)

    def reject_reason(info: dict[str, Any], *, incomplete: bool = False) -> str | None:
        if info.get("is_live"):
            return "this is a live stream"
        if info.get("extractor_key") == "Generic" and (info.get("playlist_count") or 0) > 1:
            return SEVERAL_VIDEOS
        max_duration, seconds = request["max_duration_seconds"], info.get("duration")
        too_long = max_duration is not None and isinstance(seconds, int | float) and seconds > max_duration
        return "the video is longer than the maximum" if too_long else None

    return {
        "quiet": True,
        "noprogress": True,
        "logger": log,
        "progress_hooks": [on_progress],
        "match_filter": reject_reason,
        "format": lambda offered: iter(choose_formats(offered["formats"])),
        "allowed_extractors": ["default"] if request["generic"] else WITHOUT_GENERIC,
        "socket_timeout": request["read_timeout_seconds"],
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
