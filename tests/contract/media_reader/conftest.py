from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from found_footy.adapters.media.fork_server import ForkServer
from found_footy.adapters.media.limited import LimitedMedia
from found_footy.adapters.media.limited_process import LimitedProcess

MISBEHAVING = "tests.contract.media_reader.misbehaving"


@dataclass(frozen=True)
class Limited:
    server: ForkServer
    process: LimitedProcess

    async def run(self, name: str, path: Path = Path("clip.mp4"), *arguments: Any) -> dict[str, Any]:
        return (await self.process.run(f"{MISBEHAVING}:{name}", path, *arguments))[0]


Make = Callable[..., Limited]


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """One for all tests that do not harm it: loading the libraries takes a while."""
    server = ForkServer([MISBEHAVING])
    yield server
    asyncio.run(server.aclose())


@pytest.fixture
async def limited(fork_server: ForkServer) -> AsyncIterator[Make]:
    async with AsyncExitStack() as stack:

        def make(
            memory_mb: int = 512, seconds: float = 60, at_once: int | None = None, *, own: bool = False
        ) -> Limited:
            server = ForkServer([MISBEHAVING]) if own else fork_server
            if own:
                stack.push_async_callback(server.aclose)
            return Limited(server, LimitedProcess(server, memory_mb, seconds, at_once=at_once))

        yield make


@pytest.fixture
async def media() -> AsyncIterator[LimitedMedia]:
    made = LimitedMedia(1024, 60)
    yield made
    await made.aclose()


def is_alive(pid: int) -> bool:
    """Zombies do not count: whoever has to wait for them may take a moment."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def is_gone(pid: int) -> None:
    while is_alive(pid):
        await asyncio.sleep(0.005)


async def written_in(path: Path) -> int:
    """The number that a process leaves in a file, as soon as it is there."""
    while not await asyncio.to_thread(path.exists):
        await asyncio.sleep(0.005)
    return int(await asyncio.to_thread(path.read_text))
