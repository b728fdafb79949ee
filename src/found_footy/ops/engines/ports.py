"""Ports on loopback that stay the same from one run to the next."""

from __future__ import annotations

import random
import socket
from pathlib import Path

from found_footy.domain.errors import EngineError
from found_footy.ops.data_folder import write_private

HOST = "127.0.0.1"

# Below the range from which systems take the ports of outgoing connections. In that range any connection could take
# the port while a server restarts; a client that keeps knocking may even be connected to itself.
_LOWEST, _HIGHEST = 20_000, 29_999


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of loopback now."""
    with socket.socket() as probe:
        # As servers do: connections of the last run that linger do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def require_free(port: int) -> None:
    """EngineError when somebody listens on this port."""
    if not is_free(port):
        raise EngineError(f"Port {port} on {HOST} is in use by another program.")


def free_port() -> int:
    """A port that is free at this moment."""
    for port in random.sample(range(_LOWEST, _HIGHEST + 1), 200):
        if is_free(port):
            return port
    raise EngineError(f"No free port between {_LOWEST} and {_HIGHEST} on {HOST}.")


class StickyPort:
    """The port of one engine: the given one, else that of the last run if free, else any free one.

    Once kept, it stays for as long as this object lives, because others have been told about it.
    """

    def __init__(self, given: int | None, memory: Path) -> None:
        self._port = given
        self._memory = memory

    @property
    def number(self) -> int:
        """The port, once it is known."""
        if self._port is None:
            raise EngineError("The engine has no port before it is started.")
        return self._port

    def choose(self) -> int:
        """The port to try now; EngineError when only one will do and it is taken."""
        if self._port is not None:
            require_free(self._port)
            return self._port
        remembered = self._remembered()
        return remembered if remembered is not None and is_free(remembered) else free_port()

    def keep(self, port: int) -> None:
        """This port worked: hold on to it, also in the next run."""
        self._port = port
        if port != self._remembered():
            write_private(self._memory, f"{port}\n")

    def _remembered(self) -> int | None:
        try:
            return int(self._memory.read_text())
        except (FileNotFoundError, ValueError):
            return None
