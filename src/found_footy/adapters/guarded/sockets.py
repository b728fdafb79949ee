"""The address rule for a whole process whose network code is not ours: yt-dlp's, or Apprise's.

Nothing there connects but through `socket`. Names are checked when they are resolved, so that each refusal has its
reason, and every connection is checked once more by its number, so that no other way leads out.
"""

from __future__ import annotations

import socket
from typing import Any

from found_footy.adapters.guarded.addresses import AddressRule


class SocketGuard:
    def __init__(self, rule: AddressRule) -> None:
        self._rule = rule
        self._named: set[tuple[str, int]] = set()
        """Numbers that a named private host was resolved to, with its port."""
        self._resolve = socket.getaddrinfo
        self._connect = socket.socket.connect
        self._connect_ex = socket.socket.connect_ex
        self.refused: list[str] = []

    def install(self) -> None:
        guard = self

        def connect(sock: socket.socket, address: Any) -> None:
            guard._check(sock.family, address)
            guard._connect(sock, address)

        def connect_ex(sock: socket.socket, address: Any) -> int:
            guard._check(sock.family, address)
            return guard._connect_ex(sock, address)

        socket.getaddrinfo = self._guarded_resolve
        socket.socket.connect = connect  # type: ignore[method-assign, assignment]
        socket.socket.connect_ex = connect_ex  # type: ignore[method-assign, assignment]

    def _guarded_resolve(self, host: Any, port: Any, *args: Any, **kwargs: Any) -> list[Any]:
        found: list[Any] = list(self._resolve(host, port, *args, **kwargs))
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        for *_, (address, number, *_rest) in found:
            if self._rule.is_named(name, number):
                self._named.add((address, number))
            else:
                self._refuse(self._rule.refusal(name, number, [address]), name)
        return found

    def _check(self, family: int, address: Any) -> None:
        if family not in (socket.AF_INET, socket.AF_INET6):
            self._refuse("only the internet may be asked", "a socket")
        host, port = str(address[0]), int(address[1])
        if (host, port) not in self._named:
            self._refuse(self._rule.refusal(host, port, [host]), host)

    def _refuse(self, reason: str | None, host: str) -> None:
        if reason is not None:
            self.refused.append(f"{host}: {reason}")
            raise PermissionError(reason)
