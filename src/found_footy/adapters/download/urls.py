"""Links of strangers: which may be followed at all, and how they are shown without their secrets."""

from __future__ import annotations

import re

import httpx

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import ClipLost
from found_footy.domain.videos.losses import Loss

LONGEST_URL = 4096
LONGEST_SHOWN = 120

_QUERY = re.compile(r"(https?://)(?:[^\s/@]*@)?([^\s?#]*)(?:[?#]\S*)?", re.IGNORECASE)
_HOST = re.compile(r"[\w.:-]{1,253}")
"""Names, also of other scripts, and addresses of both kinds."""


def checked_url(text: str, base: httpx.URL | None = None) -> httpx.URL:
    """A link that may be asked for, or ClipLost. Where it leads is checked when somebody connects."""
    try:
        url = base.join(text) if base is not None and len(text) <= LONGEST_URL else httpx.URL(text[: LONGEST_URL + 1])
    except (httpx.InvalidURL, ValueError, UnicodeError):
        raise ClipLost(Loss.UNSUPPORTED, f"this is no link: {shown_text(text)}") from None
    if len(text) > LONGEST_URL:
        raise ClipLost(Loss.UNSUPPORTED, f"{shown(url)}: the link is longer than {LONGEST_URL} characters")
    if url.scheme not in ("http", "https") or not url.host:
        raise ClipLost(Loss.UNSUPPORTED, f"{clean_text(url.scheme, 20) or 'this'} is no scheme that is followed")
    if not _HOST.fullmatch(url.host):
        raise ClipLost(Loss.UNSUPPORTED, f"{shown(url)}: this is no name of a host")
    if url.userinfo:
        raise ClipLost(Loss.FORBIDDEN_ADDRESS, f"{shown(url)}: the link brings a user's name along")
    return url


def shown(url: httpx.URL) -> str:
    """Host and path: a query may hold somebody's key."""
    return clean_text(f"{url.host}{url.path}", LONGEST_SHOWN)


def shown_text(text: str, longest: int = LONGEST_SHOWN) -> str:
    """A text that may have links in it, each without its query and credentials."""
    return clean_text(_QUERY.sub(r"\1\2", text[: longest * 10]), longest)
