from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from found_footy.adapters.download.downloader import open_downloader
from found_footy.adapters.download.limits import DownloadLimits
from found_footy.adapters.guarded.connections import Resolve, system_resolve
from found_footy.ports import Downloader

from .hostile_server import Answers, HostileServer

Serve = Callable[[Answers], Awaitable[HostileServer]]
Open = Callable[..., Downloader]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with AsyncExitStack() as stack:

        async def start(answers: Answers) -> HostileServer:
            return await stack.enter_async_context(HostileServer(answers))

        yield start


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:

        def open_one(
            *servers: HostileServer | str,
            max_bytes: int = 100_000,
            max_seconds: float = 150,
            max_redirects: int = 3,
            x: str = "https://x.com",
            drop_folder: Path | None = None,
            resolve: Resolve = system_resolve,
        ) -> Downloader:
            hosts = [each if isinstance(each, str) else each.host for each in servers]
            limits = DownloadLimits(max_bytes, max_seconds, max_redirects, hosts)
            one = next((each.url for each in servers if isinstance(each, HostileServer)), "https://x.invalid")
            made = open_downloader(
                limits,
                x_syndication_url=one,
                fxtwitter_url=one,
                x_url=x,
                drop_folder=drop_folder,
                resolve=resolve,
            )
            stack.push_async_callback(made.aclose)
            return made

        yield open_one


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    folder.mkdir()
    return folder / "clip.mp4"


def names_in(folder: Path) -> Sequence[str]:
    return sorted(path.name for path in folder.iterdir())


def saved(path: Path) -> bytes:
    return path.read_bytes()
