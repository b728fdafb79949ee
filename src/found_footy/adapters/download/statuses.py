"""What an HTTP status means for a clip."""

from __future__ import annotations

import re

from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss

GEO = re.compile(
    r"geo.?(?:block|restrict|fenc)|(?:your|this) (?:country|region|location|territory)|unavailable for legal reasons",
    re.IGNORECASE,
)

_LATER = frozenset({408, 421, 425, 429})


def trouble(status: int, where: str, body: str = "") -> ClipLost | DownloadUnavailable | None:
    """None where the answer is what was asked for. `body` is looked through for words about countries."""
    said = f"{where} answered HTTP {status}"
    if status in (200, 206):
        return None
    if status in (404, 410):
        return ClipLost(Loss.GONE, said)
    if status == 451 or (status == 403 and GEO.search(body)):
        return ClipLost(Loss.GEO_BLOCKED, said)
    if status in (401, 403):
        return ClipLost(Loss.PRIVATE, said)
    if status >= 500 or status in _LATER:
        return DownloadUnavailable(said)
    return ClipLost(Loss.UNREACHABLE, said)
