"""Validation of what editors submit: URLs, titles and facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from found_footy.errors import BadRequest
from found_footy.text import clean_text

MAX_URL_LENGTH = 2000
MAX_TITLE_LENGTH = 200
MAX_FACT_LENGTH = 100
FACTS = ("player", "team", "competition", "minute")
"""Facts that an editor can submit about a source, used by searches."""

AddressCheck = Callable[[str, int, Iterable[str]], str | None]
"""Returns why a host, port and IP addresses must not be requested; None if allowed."""

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[\w.:-]{1,253}")
"""Names in any script, and IPv4 and IPv6 addresses."""


@dataclass(frozen=True, slots=True)
class SubmittedUrl:
    url: str
    host: str
    port: int
    addresses: tuple[str, ...]
    """The host, if it is an IP address. Names are resolved when connecting."""

    @property
    def title(self) -> str:
        return default_title(self.url)


def validate_url(text: str, refusal: AddressCheck) -> SubmittedUrl:
    """Validate a submitted URL. The host's addresses are checked again when connecting. Raises BadRequest."""
    plain = text.strip()
    if not plain:
        raise BadRequest("no URL given")
    if len(plain) > MAX_URL_LENGTH:
        raise BadRequest(f"the URL is longer than {MAX_URL_LENGTH} characters")
    if not plain.isprintable() or re.search(r"\s", plain):
        raise BadRequest("the URL contains invalid characters")
    try:
        parts = urlsplit(plain)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise BadRequest("cannot parse the URL") from None
    if parts.scheme not in _PORTS or not host:
        raise BadRequest("the URL must start with http:// or https:// and contain a host")
    if not _HOST.fullmatch(host):
        raise BadRequest("the URL contains an invalid host")
    if parts.username is not None or parts.password is not None:
        raise BadRequest("the URL must not contain a user name or password")
    address = SubmittedUrl(plain, host, port or _PORTS[parts.scheme], (host,) if _is_ip_address(host) else ())
    if (reason := refusal(address.host, address.port, address.addresses)) is not None:
        raise BadRequest(f"cannot download from {clean_text(host, 100)}: {reason}")
    return address


def default_title(url: str) -> str:
    """Host and last path segment, used until the page's title is known. A title from the submitter takes precedence."""
    parts = urlsplit(url)
    last = PurePosixPath(unquote(parts.path)).name
    host = parts.hostname or ""
    return clean_text(f"{host}/…/{last}" if last else host, MAX_TITLE_LENGTH)


def validate_title(title: str | None, default: str) -> str:
    return clean_text(title or "", MAX_TITLE_LENGTH) or clean_text(default, MAX_TITLE_LENGTH)


def title_from_filename(name: str) -> str:
    """File name without folders (of either separator) and extension."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return clean_text(last.rpartition(".")[0] or last, MAX_TITLE_LENGTH)


def validate_facts(facts: Mapping[str, str | None]) -> dict[str, str]:
    """Validate submitted facts and drop empty ones. Raises BadRequest for an unknown name."""
    if unknown := sorted(set(facts) - set(FACTS)):
        raise BadRequest(f"unknown fact {clean_text(unknown[0], 40)!r}: choose from {', '.join(FACTS)}")
    plain = {name: clean_text(value or "", MAX_FACT_LENGTH) for name, value in facts.items()}
    return {name: value for name, value in plain.items() if value}


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
