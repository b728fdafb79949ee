from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from found_footy.clips.download_http import DownloadLimits
from found_footy.clips.downloader import Downloader, open_downloader
from found_footy.clips.frame_selection import Vision
from found_footy.clips.llama_vision import LlamaVision
from found_footy.clips.ocr_vision import OcrVision
from found_footy.media.ocr import OcrEngine
from found_footy.runtime.addresses import Resolve, system_resolve
from tests.clips.hostile_server import Answers, HostileServer

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


ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def ocr_engine() -> OcrEngine:
    """Its models are loaded once for all tests."""
    return OcrEngine()


@pytest.fixture(scope="session")
def llama_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real llama.cpp server. In a process of its own: its threads outlive whoever starts it in theirs."""
    folder = tmp_path_factory.mktemp("llama")
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.clips.llama_server", str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        with process:
            assert process.stdout is not None
            lines = (line.strip() for line in process.stdout)
            address = next((line.rpartition(" ")[2] for line in lines if line.startswith("listening at ")), None)
            assert address is not None, (folder / "server.log").read_text()[-2000:]
            yield address
            process.kill()


@pytest.fixture(params=["ocr", "llama"])
async def vision(request: pytest.FixtureRequest) -> AsyncIterator[Vision]:
    if request.param == "ocr":
        engine: Vision = OcrVision(request.getfixturevalue("ocr_engine"))
    else:
        engine = LlamaVision(request.getfixturevalue("llama_url"), timeout=60)
    yield engine
    await engine.aclose()
