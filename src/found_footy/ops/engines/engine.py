"""What the supervisor asks of whatever it keeps running."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Supervised(Protocol):
    """One child. After a failed or cancelled `start` nothing of it runs."""

    @property
    def name(self) -> str:
        """The name in logs and in the status."""

    @property
    def pid(self) -> int | None:
        """The pid while it runs."""

    async def start(self) -> None:
        """Start, and return when it answers; EngineError if it does not."""

    async def wait(self) -> int:
        """The exit code, when the process ends."""

    async def stop(self) -> None:
        """Stop; does nothing when it is not running."""


class Engine(Supervised, Protocol):
    """A server that others reach by address. A second `start` of the same object keeps the address."""

    def environment(self) -> Mapping[str, str]:
        """The settings by which clients find it, once it has started."""

    def ports(self) -> Mapping[str, int]:
        """Its ports by name, once it has started."""
