"""What an editor hands in: addresses that may be fetched, and words about them that may be shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import BadRequest

LONGEST_URL = 2000
LONGEST_TITLE = 200
LONGEST_FACT = 100
FACTS = ("player", "team", "competition", "minute")
"""What can be told of a source that is no goal of ours, so that its clips are found again."""

Refusal = Callable[[str, int, Iterable[str]], str | None]
"""Why nothing may be fetched from a host, a port and these addresses of it; None where it may."""

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[\w.:-]{1,253}")
"""Names, also of other scripts, and addresses of both kinds."""


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    host: str
    port: int
    numbers: tuple[str, ...]
    """The host, where it is written as a number. Names are looked up when somebody connects."""

    @property
    def name(self) -> str:
        return name_of_address(self.url)


def checked_url(text: str, refusal: Refusal) -> Address:
    """Raises BadRequest, with what is wrong. Where a name leads is checked again when somebody connects."""
    plain = text.strip()
    if not plain:
        raise BadRequest("no address was given")
    if len(plain) > LONGEST_URL:
        raise BadRequest(f"the address is longer than {LONGEST_URL} characters")
    if not plain.isprintable() or re.search(r"\s", plain):
        raise BadRequest("the address holds characters that no address has")
    try:
        parts = urlsplit(plain)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise BadRequest("this is no address of a film: it cannot be taken apart") from None
    if parts.scheme not in _PORTS or not host:
        raise BadRequest("an address begins with http:// or https://, and names a host")
    if not _HOST.fullmatch(host):
        raise BadRequest("the address names no host")
    if parts.username is not None or parts.password is not None:
        raise BadRequest("the address brings a user's name along; leave it out")
    address = Address(plain, host, port or _PORTS[parts.scheme], (host,) if _is_number(host) else ())
    if (reason := refusal(address.host, address.port, address.numbers)) is not None:
        raise BadRequest(f"nothing may be fetched from {clean_text(host, 100)}: {reason}")
    return address


def name_of_address(url: str) -> str:
    """What a source is called that has no better title: its host and the last part of its path.

    One that is called so gives way to the title that its page tells; one that somebody chose does not.
    """
    parts = urlsplit(url)
    last = PurePosixPath(unquote(parts.path)).name
    host = parts.hostname or ""
    return clean_text(f"{host}/…/{last}" if last else host, LONGEST_TITLE)


def checked_title(given: str | None, otherwise: str) -> str:
    return clean_text(given or "", LONGEST_TITLE) or clean_text(otherwise, LONGEST_TITLE)


def title_of_file(name: str) -> str:
    """The name without folders, of either kind, and without its ending."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return clean_text(last.rpartition(".")[0] or last, LONGEST_TITLE)


def checked_facts(given: Mapping[str, str | None]) -> dict[str, str]:
    """Raises BadRequest for what nobody asked for."""
    if unknown := sorted(set(given) - set(FACTS)):
        raise BadRequest(f"{clean_text(unknown[0], 40)!r} is none of {', '.join(FACTS)}")
    plain = {name: clean_text(value or "", LONGEST_FACT) for name, value in given.items()}
    return {name: value for name, value in plain.items() if value}


def _is_number(host: str) -> bool:
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
