"""Request headers and body: origin, Host header, form fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request

from found_footy.errors import BadRequest
from found_footy.runtime.addresses import is_loopback

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
MAX_FORM_BYTES = 64 * 1024
MAX_FORM_FIELDS = 100


def is_same_origin(headers: Mapping[str, str], public_url: str | None) -> bool:
    """True for requests from our own pages, and for clients that send neither header, which are not browsers."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return True
    own_hosts = {headers.get("host", "").lower()}
    if public_url:
        own_hosts.add(urlsplit(public_url).netloc.lower())
    scheme, _, host = origin.lower().partition("://")
    return scheme in ("http", "https") and host in own_hosts


def host_name(header: str) -> str | None:
    """Host name in a Host header, without the port; None if malformed."""
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?", header)
    return found[1].strip("[]").lower() if found else None


@lru_cache(maxsize=256)
def is_known_host(
    header: str | None, bound: str, public_url: str | None, allowed: tuple[str, ...] = (), reached_at: str | None = None
) -> bool:
    """Whether a request is meant for this server, by its Host header; after DNS rebinding it has another name.

    Accepted are configured names, loopback names, and the address that the request `reached_at`.
    """
    name = host_name(header) if header else None
    if name is None:
        return False
    public = urlsplit(public_url).hostname if public_url else None
    return is_loopback(name) or name in (bound.lower(), public, reached_at) or name in allowed


def safe_redirect_path(path: str) -> str:
    """Return the path if it is on this site, otherwise `/`: `//elsewhere.example` would leave it."""
    return path if re.fullmatch(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,2000}", path) else "/"


async def read_form(request: Request) -> dict[str, str]:
    """Fields of a URL-encoded form; the last value of a name wins. Raises BadRequest."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise BadRequest("expected a form of type application/x-www-form-urlencoded")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            raise BadRequest(f"form is larger than {MAX_FORM_BYTES} bytes")
    try:
        return dict(
            parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS, errors="strict")
        )
    except ValueError as error:
        raise BadRequest(f"invalid form: {error}") from None
