"""The process in which yt-dlp works: one link, its own limits, and an end when its parent ends.

yt-dlp cannot be cancelled and does its own networking, so it gets a process that can be killed and that connects only
where the address rule allows. Reads one line of JSON, writes one.

Two optional helpers of yt-dlp do not go through Python's sockets, which is where the guard works:

- A JavaScript runtime, which YouTube's player needs. The parent hands it over by path (PATH is empty here). yt-dlp
  starts deno without any permission; node gets no file access, but could open connections. What runs in it is
  YouTube's player script and yt-dlp-ejs, never a stranger's page.
- curl-cffi, which some sites need because they refuse clients that are not browsers. libcurl resolves names and
  follows redirects by itself, so a stranger's page could lead it to a private address. It is hidden from yt-dlp
  unless FOOTY_DOWNLOAD_IMPERSONATE is set, and even then serves only sites that yt-dlp has an extractor for.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import sys
import threading
from importlib import import_module
from typing import Any, NoReturn

from found_footy.adapters.download.ytdlp_formats import chosen
from found_footy.adapters.guarded.addresses import AddressRule
from found_footy.adapters.guarded.sockets import SocketGuard

MEMORY_BYTES = 2 * 1024**3
SPARE_BYTES = 1024**2
LONGEST_ORDER = 65_536
KEPT_LINES = 20
TOO_LARGE = "larger than max-filesize"
NAMED_ONLY = ["default", "-generic"]
SEVERAL = "the page shows several videos and does not mark its own"


class _TooLarge(Exception):
    pass


class _Log:
    """What yt-dlp says, of which the last lines are kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def debug(self, message: str) -> None:
        self.lines = [*self.lines, str(message)[:1000]][-KEPT_LINES:]

    info = warning = error = debug


def main() -> NoReturn:
    # Whatever a library prints goes elsewhere than the answer.
    out = os.dup(1)
    os.dup2(2, 1)
    order = json.loads(sys.stdin.buffer.readline(LONGEST_ORDER))
    _limit(order)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    guard = SocketGuard(AddressRule(order["private_hosts"]))
    guard.install()
    answer = {**_download(order), "refused": guard.refused[:1]}
    with os.fdopen(out, "w") as pipe:
        json.dump(answer, pipe)
    os._exit(0)


def _limit(order: dict[str, Any]) -> None:
    seconds = int(order["max_seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (order["max_bytes"] + SPARE_BYTES,) * 2)
    if sys.platform == "linux":  # elsewhere it is refused, or does nothing
        # JavaScript engines reserve much more address space than they use.
        memory = resource.RLIMIT_DATA if order["js_runtimes"] else resource.RLIMIT_AS
        resource.setrlimit(memory, (MEMORY_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_with_parent() -> None:
    os.read(0, 1)
    os._exit(1)


def _download(order: dict[str, Any]) -> dict[str, Any]:
    if not order["impersonate"]:
        # Importing it fails from now on, as if it were not installed.
        sys.modules["curl_cffi"] = None  # type: ignore[assignment]
    # Not before the limits and the guard hold.
    yt_dlp: Any = import_module("yt_dlp")
    log = _Log()
    try:
        with yt_dlp.YoutubeDL(_options(order, log)) as loader:
            info = loader.extract_info(order["url"], download=True)
        found = _found(info, order["folder"])
    except _TooLarge:
        return {"error": TOO_LARGE}
    except (yt_dlp.utils.YoutubeDLError, OSError) as error:
        return {"error": TOO_LARGE if getattr(error, "errno", None) == errno.EFBIG else str(error)[:2000]}
    except MemoryError:
        return {"error": "out of memory"}
    return found or {"error": next(iter(reversed(log.lines)), "no video was found")}


def _found(info: Any, folder: str) -> dict[str, Any] | None:
    while isinstance(info, dict) and info.get("entries"):
        info = next(iter(info["entries"]), None)
    done = info.get("requested_downloads") if isinstance(info, dict) else None
    paths = [each.get("filepath") for each in done or ()]
    if not paths or not all(path and os.path.isfile(path) for path in paths):
        return None
    joining = import_module("found_footy.adapters.download.joining")
    if len(paths) == 2 or joining.is_transport_stream(paths[0]):
        paths = [joining.join(paths, folder)]
    return {"file": os.path.basename(paths[0]), "title": str(info.get("title") or "")[:500]}


def _note(path: str, progress: dict[str, Any]) -> None:
    """How much is here: by bytes, or by parts of a stream whose bytes nobody has counted."""
    done, whole = progress.get("fragment_index"), progress.get("fragment_count")
    if not done or not whole:
        done = progress.get("downloaded_bytes")
        whole = progress.get("total_bytes") or progress.get("total_bytes_estimate")
    if not done or not whole:
        return
    with open(f"{path}.new", "w", encoding="ascii") as file:
        file.write(f"{done / whole:.4f}")
    os.replace(f"{path}.new", path)


def _options(order: dict[str, Any], log: _Log) -> dict[str, Any]:
    sizes: dict[str, int] = {}

    def bounded(progress: dict[str, Any]) -> None:
        # Not by yt-dlp's own max_filesize, which reports a segment that is too large as missing.
        # Pictures and sound may be two files; all segments of each are counted.
        sizes[str(progress.get("filename"))] = max(
            progress.get("downloaded_bytes") or 0, progress.get("total_bytes") or 0
        )
        if sum(sizes.values()) > order["max_bytes"]:
            raise _TooLarge
        sound_alone = (progress.get("info_dict") or {}).get("vcodec") == "none"
        if order["progress"] and not sound_alone:
            _note(os.path.join(order["folder"], order["progress"]), progress)

    def wanted(info: dict[str, Any], *, incomplete: bool = False) -> str | None:
        if info.get("is_live"):
            return "this is a live stream"
        if info.get("extractor_key") == "Generic" and (info.get("playlist_count") or 0) > 1:
            return SEVERAL
        longest, seconds = order["longest_seconds"], info.get("duration")
        too_long = longest is not None and isinstance(seconds, int | float) and seconds > longest
        return "this film is longer than is taken" if too_long else None

    return {
        "quiet": True,
        "noprogress": True,
        "logger": log,
        "progress_hooks": [bounded],
        "match_filter": wanted,
        "format": lambda offered: iter(chosen(offered["formats"])),
        "allowed_extractors": ["default"] if order["generic"] else NAMED_ONLY,
        "socket_timeout": order["silence_seconds"],
        "outtmpl": {"default": "clip.%(format_id)s.%(ext)s"},
        "paths": {"home": order["folder"], "temp": order["folder"]},
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
        "ffmpeg_location": os.path.join(order["folder"], "none"),
        "js_runtimes": order["js_runtimes"],
        "fixup": "never",
        "postprocessors": [],
        "updatetime": False,
        "color": {"stdout": "no_color", "stderr": "no_color"},
    }


if __name__ == "__main__":
    main()
