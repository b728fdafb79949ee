"""Restricts the addresses that untrusted URLs may lead to. Standard library only: sandboxed processes import it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

PORTS = frozenset({80, 443, 8080, 8443})
"""Web ports, which excludes databases and mail servers."""
MAX_ADDRESSES = 4
"""Maximum number of addresses per name to try, in order."""

_UNUSED_ADDRESSES = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses reserved for documentation, which no machine has."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_SPECIAL = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",
        "168.63.129.16/32",  # metadata of Azure, the only cloud with a global address for it
        "192.0.0.0/24",
        "192.88.99.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
    )
)
"""Special-purpose networks that `ipaddress` reports as global in some Python versions."""


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_public(address: str) -> bool:
    """Whether the address is globally routable. For an IPv4 address embedded in IPv6, the IPv4 address counts."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and (inner := _embedded_ipv4(ip)) is not None:
        ip = inner
    elif isinstance(ip, IPv6Address) and ip not in _UNICAST:
        return False
    return ip.is_global and not any(ip in network for network in _SPECIAL)


def is_own(address: str) -> bool:
    """Whether the address belongs to this machine, whose services may trust local clients. Tries to bind to it."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # Some machines can bind to any address; there, the test is inconclusive.
    return _can_bind(family, address) and not _can_bind(family, _UNUSED_ADDRESSES[family])


def _can_bind(family: socket.AddressFamily, address: str) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except (OSError, UnicodeError):
        return False
    return True


def _embedded_ipv4(ip: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address inside a mapped, 6to4 or NAT64 address."""
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


async def system_resolve(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class AddressPolicy:
    """Allows public addresses on web ports, plus the private `host:port` pairs from the settings."""

    def __init__(self, private_hosts: Collection[str] = (), ports: Collection[int] = PORTS) -> None:
        self._ports = frozenset(ports)
        self._private = frozenset(_host_and_port(each) for each in private_hosts)

    def is_allowed_private(self, host: str, port: int) -> bool:
        return (_normalized(host), port) in self._private

    def check(self, host: str, port: int, addresses: Iterable[str]) -> str | None:
        """Return why connecting is forbidden, or None. One private address among public ones is enough to forbid it."""
        if self.is_allowed_private(host, port):
            return None
        if port not in self._ports:
            return f"port {port} is not allowed"
        given = list(addresses)
        if not all(is_public(address) for address in given):
            return "address is not public"
        if any(is_own(address) for address in given):
            return "address belongs to this machine"
        return None


def _host_and_port(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"invalid address {text!r}: expected host:port")
    return _normalized(host), int(port)


def _normalized(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()
