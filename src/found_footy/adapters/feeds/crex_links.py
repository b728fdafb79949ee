"""CREX's addresses and ids. A match is known by a few letters and digits, which are a number in base 36 to us."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from found_footy.domain.errors import FeedSchemaError

LIST_PATH = "/fixtures/match-list"
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_CODE = re.compile(r"[0-9A-Za-z]{1,7}", re.ASCII)
_LINK = re.compile(r"(/cricket-live-score/[\w-]+-(\w+))(?:/[\w-]+)?/?", re.ASCII)


def id_of(code: str, field: str = "id") -> int:
    if not _CODE.fullmatch(code) or code.startswith("0"):
        raise FeedSchemaError(field, code, "up to seven letters and digits")
    return int(code, 36)


def code_of(id_: int) -> str:
    digits = ""
    while id_ > 0:
        id_, digit = divmod(id_, 36)
        digits = DIGITS[digit] + digits
    return digits


def base_of(link: str) -> tuple[str, int]:
    """The address of a match without the name of one of its pages, and the match's id."""
    path = urlsplit(link).path
    found = _LINK.fullmatch(path)
    if found is None:
        raise FeedSchemaError("link", link, "the address of a match")
    return found[1], id_of(found[2], "link")


def short_base(id_: int) -> str:
    """For a match whose full address is not known. Any text before the code works; a bare code is refused."""
    return slug_base("match", code_of(id_))


def slug_base(text: str, code: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "match"
    return f"/cricket-live-score/{slug}-match-updates-{code}"


def scorecard_path(base: str) -> str:
    return f"{base}/match-scorecard"


def details_path(base: str) -> str:
    return f"{base}/match-details"
