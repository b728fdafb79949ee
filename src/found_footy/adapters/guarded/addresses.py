"""Which addresses a stranger's link may lead to. Standard library only: processes of their own need it too."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

PORTS = frozenset({80, 443, 8080, 8443})
"""Where the web is served. Behind other ports sit databases, mail servers and the like."""

_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_CLOSED = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
    )
)
"""What the standard library, by its version, takes for global although nobody serves anything there."""


def is_public(address: str) -> bool:
    """Whether the whole internet sees the same machine there. IPv4 inside of IPv6 counts as what it leads to."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and (inner := _inner(ip)) is not None:
        ip = inner
    elif isinstance(ip, IPv6Address) and ip not in _UNICAST:
        return False
    return ip.is_global and not any(ip in network for network in _CLOSED)


def _inner(ip: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a mapped, 6to4 or NAT64 address leads to."""
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


class AddressRule:
    """Public addresses on the web's ports, and the private hosts that were named."""

    def __init__(self, private_hosts: Collection[str] = (), ports: Collection[int] = PORTS) -> None:
        self._ports = frozenset(ports)
        self._private = frozenset(_host_and_port(each) for each in private_hosts)

    def is_named(self, host: str, port: int) -> bool:
        return (_plain(host), port) in self._private

    def refusal(self, host: str, port: int, addresses: Iterable[str]) -> str | None:
        """Why nobody may connect there; None where one may. One private address among public ones is enough."""
        if self.is_named(host, port):
            return None
        if port not in self._ports:
            return f"port {port} is closed"
        if not all(is_public(address) for address in addresses):
            return "it is not at a public address"
        return None


def _host_and_port(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"{text!r} is not host:port")
    return _plain(host), int(port)


def _plain(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()
