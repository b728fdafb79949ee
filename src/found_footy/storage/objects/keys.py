"""Valid object keys and metadata. Valid keys work in a folder and on S3, and cannot escape from either."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from found_footy.errors import ObjectStoreError

KEY_BYTES = 800
"""S3 allows 1,024 including the prefix."""

NAME_BYTES = 200
"""Limit of each part between slashes. File systems allow 255, and temporary names are longer."""

_UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}
"""Control characters, surrogates, line and paragraph separators."""


def check_key(key: str) -> str:
    """Return the key. Raises ObjectStoreError with the reason if it is invalid."""
    fault = _find_fault(key)
    if fault is not None:
        shown = repr(key if len(key) <= 80 else key[:77] + "...")
        raise ObjectStoreError(f"{shown} is not a valid object key: {fault}")
    return key


def check_prefix(prefix: str) -> str:
    """Return the prefix without its final slash; empty for the whole store. It matches whole names: `a` means `a/`."""
    return check_key(prefix.removesuffix("/")) if prefix else ""


def is_key(key: str) -> bool:
    """Whether this is an object and not a foreign file or one in a hidden folder."""
    return _find_fault(key) is None


def _find_fault(key: str) -> str | None:
    if any(unicodedata.category(char) in _UNPRINTABLE for char in key):
        return "it contains a control character"
    if len(key.encode()) > KEY_BYTES:
        return f"it is longer than {KEY_BYTES} bytes"
    if "\\" in key:
        return "it contains a backslash"
    names = key.split("/")
    if not all(names):
        return "it is empty, or has an empty part between slashes"
    if any(name.startswith(".") for name in names):
        return "a part of it starts with a dot"
    if any(len(name.encode()) > NAME_BYTES for name in names):
        return f"a part of it is longer than {NAME_BYTES} bytes"
    if any(name != name.strip() for name in names):
        return "a part of it starts or ends with a space"
    if any(re.search(r"#[0-9]+$", name) for name in names):
        # The folder backend uses such names for temporary files.
        return "a part of it ends with # and a number"
    return None


# --- Metadata: any text, encoded for the ASCII headers of S3.


MAX_METADATA_BYTES = 2048
"""S3's limit on all names and values together, in encoded form."""

_PREFIX = len("x-amz-meta-")
_SAFE = "/:;,=@()!*'+"
_EMPTY = "%"
"""Encoded empty value, because servers drop empty headers. No other text is encoded as a lone percent sign."""

_ELLIPSIS = "…"
MIN_VALUE_BYTES = 32
"""Minimum size in bytes of a truncated value; a shorter one would be useless."""


def fit_metadata(given: Mapping[str, str]) -> dict[str, str]:
    """Return the metadata to store, with the longest values truncated if the whole exceeds LIMIT."""
    texts = {_check_name(name): _replace_surrogates(value) for name, value in given.items()}
    room = MAX_METADATA_BYTES - sum(_PREFIX + len(name) for name in texts)
    most = _fair_share([len(_encode(text)) for text in texts.values()], room)
    if most < MIN_VALUE_BYTES:
        raise ObjectStoreError(f"{len(texts)} metadata fields exceed {MAX_METADATA_BYTES} bytes")
    return {name: truncate_value(text, most) for name, text in texts.items()}


def to_headers(metadata: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): _encode(value) for name, value in metadata.items()}


def from_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Decode our fields, which are all lower-case, unlike standard headers such as `Content-Type`."""
    own = {name: value for name, value in headers.items() if name == name.lower()}
    return {name.replace("-", "_"): _decode(value) for name, value in own.items()}


def truncate_value(text: str, size: int) -> str:
    """Truncate to `size` encoded bytes, with an ellipsis and without splitting a visible character."""
    if len(_encode(text)) <= size:
        return text
    room = size - len(_encode(_ELLIPSIS))
    end = 0
    for char in text:
        room -= len(_encode(char))
        if room < 0:
            break
        end += 1
    while end and _is_combining(text[end]):
        end -= 1
    return text[:end].rstrip("\u200d ") + _ELLIPSIS


def _is_combining(char: str) -> bool:
    """Whether a character modifies the previous one: an accent, vowel sign, joiner or emoji variation selector."""
    return unicodedata.category(char).startswith("M") or char == "\u200d"


def _fair_share(sizes: Sequence[int], room: int) -> int:
    """Return the maximum size of a value. Short values leave the rest of their share to long ones."""
    for count, size in enumerate(sorted(sizes)):
        share = room // (len(sizes) - count)
        if size > share:
            return share
        room -= size
    return MAX_METADATA_BYTES


def _check_name(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,49}", name):
        raise ObjectStoreError(
            f"{name[:60]!r} is not a valid metadata name: expected up to 50 of a-z, 0-9 and _, starting with a letter"
        )
    return name


def _replace_surrogates(text: str) -> str:
    """Replace unpaired surrogates, which UTF-8 cannot encode."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def _encode(text: str) -> str:
    return quote(text, safe=_SAFE) if text else _EMPTY


def _decode(text: str) -> str:
    return "" if text == _EMPTY else unquote(text)
