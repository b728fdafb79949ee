"""Downloads with yt-dlp, and classification of its error messages: yt-dlp reports errors as text, not codes."""

from __future__ import annotations

import logging
import os
import re
import tempfile
from pathlib import Path

import httpx

from found_footy.clips.download_http import READ_TIMEOUT_SECONDS, DownloadLimits, DownloadProgress
from found_footy.clips.models import RejectionReason
from found_footy.clips.ytdlp_state import js_runtimes
from found_footy.errors import CandidateRejected, DownloadUnavailable
from found_footy.runtime.http import redact_url, redact_urls
from found_footy.runtime.sandbox import NetworkAccess, Sandbox, SandboxEnd, SandboxError, SandboxLimits, stderr_tail
from found_footy.text import clean_text

_PATTERNS: tuple[tuple[str, RejectionReason | None], ...] = (
    # The host suspects a bot or limits requests: retry later.
    (r"not a bot|too many requests|error 429|rate.?limit", None),
    (r"larger than max-filesize|file too large", RejectionReason.TOO_LARGE),
    (r"longer than the maximum", RejectionReason.TOO_LONG),
    (
        r"geo.?restrict|geo.?block|available (?:from|in) your|in your (?:country|region|location|territory)"
        r"|from your (?:country|region|location)|error 451",
        RejectionReason.GEO_BLOCKED,
    ),
    (
        r"\bprivate\b|log.?in\b|logged.?in|sign.?in|authenticat|registered users|members.only|subscribers"
        r"|--cookies|password|age.?restrict|confirm your age|error 40[13]",
        RejectionReason.PRIVATE,
    ),
    (
        r"video unavailable|error 404|error 410|removed|deleted|no longer (?:available|exist)|not found"
        r"|doesn.t exist|does not exist|suspended|terminated|not available\b(?! in)",
        RejectionReason.GONE,
    ),
    (r"shows several videos", RejectionReason.NOT_A_VIDEO),
    (
        r"no (?:video|media)\b.*(?:found|in this)|(?:contains|has) no video|there.s no video",
        RejectionReason.NOT_A_VIDEO,
    ),
    (r"unsupported url|no suitable|drm|live stream|format is not available|scheme|ffmpeg", RejectionReason.UNSUPPORTED),
)
_REASONS = tuple((re.compile(words, re.IGNORECASE), reason) for words, reason in _PATTERNS)
_ANSI_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_LINK = re.compile(r"\w+://\S*")
"""Removed first: words inside a URL are not part of the message."""
_NOISE = re.compile(r"^ERROR: |; please report this issue.*|\(caused by.*", re.DOTALL)


def reason_for_message(message: str) -> RejectionReason | None:
    """Classify a message; None if a retry may help."""
    text = _LINK.sub("", _strip_noise(message))
    if re.search(r"requested format is not available", text, re.IGNORECASE):
        return RejectionReason.UNSUPPORTED
    return next((reason for words, reason in _REASONS if words.search(text)), None)


def shorten_message(message: str) -> str:
    return redact_urls(_strip_noise(message), 160)


def _strip_noise(message: str) -> str:
    return _NOISE.sub("", _ANSI_COLOURS.sub("", message[:4000]).strip()).strip()


# --- Playlists, and sites that only yt-dlp supports: yt-dlp runs in the sandbox.


log = logging.getLogger(__name__)

SANDBOX_TARGET = "found_footy.clips.ytdlp_process:download"
MEMORY_MB = 2048
FILE_MARGIN_BYTES = 1024**2
"""A file may exceed the limit by this much before the kernel stops it, so that yt-dlp reports it itself."""
MAX_OPEN_FILES = 256
MAX_PROCESSES = 32


class YtDlp:
    """Downloads with yt-dlp. The caller limits the time."""

    def __init__(self) -> None:
        self._sandbox = Sandbox(max_processes=MAX_PROCESSES)

    async def aclose(self) -> None:
        await self._sandbox.aclose()

    async def fetch_playlist(
        self, url: httpx.URL, to: Path, limits: DownloadLimits, progress: DownloadProgress
    ) -> None:
        """Download the video of an HLS or DASH playlist, replacing an existing file."""
        await self._fetch(url, to, limits, progress, generic=True, impersonate=False)

    async def fetch(
        self, url: httpx.URL, to: Path, limits: DownloadLimits, progress: DownloadProgress, *, generic: bool = True
    ) -> None:
        """Download a site's video, replacing an existing file. Without `generic`, use only site-specific extractors."""
        if not limits.impersonate:
            await self._fetch(url, to, limits, progress, generic=generic, impersonate=False)
            return
        try:
            # curl-cffi bypasses the address guard, so it is limited to sites with an extractor of their own.
            await self._fetch(url, to, limits, progress, generic=False, impersonate=True)
        except CandidateRejected as error:
            if error.reason != RejectionReason.UNSUPPORTED:
                raise
            await self._fetch(url, to, limits, progress, generic=generic, impersonate=False)

    async def _fetch(
        self,
        url: httpx.URL,
        to: Path,
        limits: DownloadLimits,
        progress: DownloadProgress,
        *,
        generic: bool,
        impersonate: bool,
    ) -> None:
        with tempfile.TemporaryDirectory(prefix=".yt-dlp-", dir=to.parent) as name:
            folder = Path(name)
            found_runtimes = js_runtimes()
            runtimes = {each.name: {"path": each.path} for each in found_runtimes}
            request = {
                "url": str(url),
                "folder": str(folder),
                "max_bytes": limits.max_bytes,
                "read_timeout_seconds": min(READ_TIMEOUT_SECONDS, limits.max_seconds),
                "max_duration_seconds": progress.max_duration_seconds,
                "generic": generic,
                "impersonate": impersonate,
                "js_runtimes": runtimes,
            }
            sandboxed = SandboxLimits(
                seconds=limits.max_seconds,
                memory_mb=MEMORY_MB,
                file_bytes=limits.max_bytes + FILE_MARGIN_BYTES,
                total_bytes=2
                * (limits.max_bytes + FILE_MARGIN_BYTES),  # the streams, and the file that they are muxed into
                programs=tuple(Path(runtime.path) for runtime in found_runtimes),
                open_files=MAX_OPEN_FILES,
                processors=1,
                limit_address_space=not runtimes,
                folder=folder,
                network=NetworkAccess(tuple(limits.private_hosts)),
                environment={"YTDLP_NO_PLUGINS": "1"},
            )
            try:
                result = (await self._sandbox.run(SANDBOX_TARGET, [request], sandboxed, progress.on_progress)).header
            except SandboxError as error:
                log.warning(
                    "yt-dlp failed: %s",
                    error,
                    extra={"action": "ytdlp_failed", "stderr": shorten_message(stderr_tail(folder))},
                )
                if error.end is SandboxEnd.TOO_MANY_BYTES:
                    raise CandidateRejected(RejectionReason.TOO_LARGE, f"{redact_url(url)}: {error.detail}") from None
                raise DownloadUnavailable(f"{redact_url(url)}: yt-dlp failed: {error.end}") from None
            if "failed" in result:
                if result.get("refused"):
                    refused = clean_text(str(result["refused"][0]), 160)
                    raise CandidateRejected(RejectionReason.FORBIDDEN_ADDRESS, refused)
                raise _failure(str(result["failed"]), redact_url(url))
            found = folder / os.path.basename(str(result.get("file")))
            if found.is_symlink() or not found.is_file():
                raise DownloadUnavailable(f"{redact_url(url)}: yt-dlp produced no file")
            if found.stat().st_size > limits.max_bytes:
                detail = f"{redact_url(url)}: larger than {limits.max_bytes} bytes"
                raise CandidateRejected(RejectionReason.TOO_LARGE, detail)
            progress.title = clean_text(str(result.get("title") or ""), 200)
            os.replace(found, to)


def _failure(message: str, url: str) -> CandidateRejected | DownloadUnavailable:
    reason, text = reason_for_message(message), f"{url}: {shorten_message(message)}"
    return DownloadUnavailable(text) if reason is None else CandidateRejected(reason, text)
