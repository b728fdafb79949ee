"""Which keys an object may have: those that mean the same in a folder and on S3, and never lead out of either."""

from __future__ import annotations

import re
import unicodedata

from found_footy.domain.errors import ObjectStoreError

KEY_BYTES = 800
"""S3 allows 1,024, with the prefix."""

NAME_BYTES = 200
"""Of each part between slashes. File systems allow 255, and the file's name grows a little while it is written."""

_UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}
"""Control characters, halves of characters, line and paragraph separators."""


def check_key(key: str) -> str:
    """The key itself, or an ObjectStoreError that says what is wrong with it."""
    fault = _fault(key)
    if fault is not None:
        shown = repr(key if len(key) <= 80 else key[:77] + "...")
        raise ObjectStoreError(f"{shown} cannot be the key of an object: {fault}")
    return key


def check_prefix(prefix: str) -> str:
    """A prefix without its last slash; nothing for the whole store. It always stands for whole names: `a` is `a/`."""
    return check_key(prefix.removesuffix("/")) if prefix else ""


def is_key(key: str) -> bool:
    """What others left in the store, or we ourselves in hidden folders, is no object."""
    return _fault(key) is None


def _fault(key: str) -> str | None:
    if any(unicodedata.category(char) in _UNPRINTABLE for char in key):
        return "it has a control character"
    if len(key.encode()) > KEY_BYTES:
        return f"it is longer than {KEY_BYTES} bytes"
    if "\\" in key:
        return "it has a backslash"
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
        # So are files named in a folder that are still being written.
        return "a part of it ends with # and a number"
    return None
