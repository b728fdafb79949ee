"""Any text as an object's metadata, although S3 carries metadata in ASCII headers.

Values are percent-encoded UTF-8. RFC 2047 would be the other way, but Amazon decodes that by itself and other servers
do not, so that the answer would depend on the server; a percent sign means nothing to any of them. Spaces are encoded
too, because signatures and proxies fold them. Names are written with hyphens, because some proxies drop headers with
underscores.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from found_footy.domain.errors import ObjectStoreError

LIMIT = 2048
"""S3's bound on all names and values together, as they are sent."""

_PREFIX = len("x-amz-meta-")
_SAFE = "/:;,=@()!*'+"
_EMPTY = "%"
"""Servers drop empty headers. No other text is encoded as a lone percent sign."""

_ELLIPSIS = "…"
_LEAST = 32
"""Bytes for a value that has to be cut; with less room, nothing of use would be left."""


def tidy(given: Mapping[str, str]) -> dict[str, str]:
    """The metadata that is kept: as given, or with the longest values cut so that all of it fits."""
    texts = {_checked(name): _without_halves(value) for name, value in given.items()}
    room = LIMIT - sum(_PREFIX + len(name) for name in texts)
    most = _fair_share([len(_encode(text)) for text in texts.values()], room)
    if most < _LEAST:
        raise ObjectStoreError(f"{len(texts)} fields of metadata do not fit into {LIMIT} bytes; store fewer")
    return {name: cut(text, most) for name, text in texts.items()}


def to_headers(metadata: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): _encode(value) for name, value in metadata.items()}


def from_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Own fields are all in lower case; `Content-Type` and its like are none of them."""
    own = {name: value for name, value in headers.items() if name == name.lower()}
    return {name.replace("-", "_"): _decode(value) for name, value in own.items()}


def cut(text: str, size: int) -> str:
    """At most so many bytes when encoded, cut between characters as people see them, with an ellipsis."""
    if len(_encode(text)) <= size:
        return text
    room = size - len(_encode(_ELLIPSIS))
    end = 0
    for char in text:
        room -= len(_encode(char))
        if room < 0:
            break
        end += 1
    while end and _continues(text[end]):
        end -= 1
    return text[:end].rstrip("\u200d ") + _ELLIPSIS


def _continues(char: str) -> bool:
    """Whether a character belongs to the one before it: an accent, a vowel sign, a joiner, an emoji's variant."""
    return unicodedata.category(char).startswith("M") or char == "\u200d"


def _fair_share(sizes: Sequence[int], room: int) -> int:
    """The most that each value may have, where short ones leave the rest of their share to the long ones."""
    for count, size in enumerate(sorted(sizes)):
        share = room // (len(sizes) - count)
        if size > share:
            return share
        room -= size
    return LIMIT


def _checked(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,49}", name):
        raise ObjectStoreError(f"{name[:60]!r} cannot name metadata: only a-z, 0-9 and _, up to 50, a letter first")
    return name


def _without_halves(text: str) -> str:
    """Half of a surrogate pair is no character and has no UTF-8."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def _encode(text: str) -> str:
    return quote(text, safe=_SAFE) if text else _EMPTY


def _decode(text: str) -> str:
    return "" if text == _EMPTY else unquote(text)
