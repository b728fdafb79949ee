"""Where a request comes from, as far as its headers tell: which site, and by which name of ours."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def comes_from_here(headers: Mapping[str, str], public_url: str | None) -> bool:
    """Whether a browser sent it from one of our own pages. What sends neither header is no browser."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return True
    ours = {headers.get("host", "").lower()}
    if public_url:
        ours.add(urlsplit(public_url).netloc.lower())
    parts = origin.lower().partition("://")
    return parts[0] in ("http", "https") and parts[2] in ours


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_name(header: str) -> str | None:
    """The name in a Host header, without its port; None where it cannot be one."""
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?", header)
    return found[1].strip("[]").lower() if found else None


@lru_cache(maxsize=256)  # each request asks, and nearly all by the same name
def is_known_host(header: str | None, bound: str, public_url: str | None) -> bool:
    """A page elsewhere can give its own name our loopback address; only the Host header shows it then."""
    name = host_name(header) if header else None
    if name is None:
        return False
    if not is_loopback(bound):
        return True
    public = urlsplit(public_url).hostname if public_url else None
    return is_loopback(name) or name in (bound.lower(), public)


def local_path(path: str) -> str:
    """A place on these pages, whatever was sent: `//elsewhere.example` is none."""
    return path if re.fullmatch(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,2000}", path) else "/"
