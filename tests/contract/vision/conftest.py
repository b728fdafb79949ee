from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from found_footy.adapters.vision.llama import LlamaVision
from found_footy.adapters.vision.ocr import OcrVision
from found_footy.adapters.vision.ocr_engine import OcrEngine
from found_footy.ports import Vision

ROOT = Path(__file__).parents[3]


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
            [sys.executable, "-m", "tests.contract.vision.llama_server", str(folder)],
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
