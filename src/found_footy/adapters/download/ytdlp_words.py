"""What yt-dlp's messages mean for a clip. It has words for each host, and no codes."""

from __future__ import annotations

import re

from found_footy.adapters.download.urls import shown_text
from found_footy.domain.videos.losses import Loss

_WORDS: tuple[tuple[str, Loss | None], ...] = (
    # A host that takes us for a robot at this moment.
    (r"not a bot|too many requests|error 429|rate.?limit", None),
    (r"larger than max-filesize|file too large", Loss.TOO_LARGE),
    (r"longer than is taken", Loss.TOO_LONG),
    (
        r"geo.?restrict|geo.?block|available (?:from|in) your|in your (?:country|region|location|territory)"
        r"|from your (?:country|region|location)|error 451",
        Loss.GEO_BLOCKED,
    ),
    (
        r"\bprivate\b|log.?in\b|logged.?in|sign.?in|authenticat|registered users|members.only|subscribers"
        r"|--cookies|password|age.?restrict|confirm your age|error 40[13]",
        Loss.PRIVATE,
    ),
    (
        r"video unavailable|error 404|error 410|removed|deleted|no longer (?:available|exist)|not found"
        r"|doesn.t exist|does not exist|suspended|terminated|not available\b(?! in)",
        Loss.GONE,
    ),
    (r"shows several videos", Loss.NOT_A_VIDEO),
    (r"no (?:video|media)\b.*(?:found|in this)|no video was found|there.s no video", Loss.NOT_A_VIDEO),
    (r"unsupported url|no suitable|drm|live stream|format is not available|scheme|ffmpeg", Loss.UNSUPPORTED),
)
_TABLE = tuple((re.compile(words, re.IGNORECASE), loss) for words, loss in _WORDS)
_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_LINK = re.compile(r"\w+://\S*")
"""What a link is made of says nothing of what went wrong."""
_NOISE = re.compile(r"^ERROR: |; please report this issue.*|\(caused by.*", re.DOTALL)


def loss_of(message: str) -> Loss | None:
    """None where it may work a little later."""
    text = _LINK.sub("", _without_noise(message))
    if re.search(r"requested format is not available", text, re.IGNORECASE):
        return Loss.UNSUPPORTED
    return next((loss for words, loss in _TABLE if words.search(text)), None)


def short_text(message: str) -> str:
    return shown_text(_without_noise(message), 160)


def _without_noise(message: str) -> str:
    return _NOISE.sub("", _COLOURS.sub("", message[:4000]).strip()).strip()
