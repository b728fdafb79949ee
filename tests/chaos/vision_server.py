"""An OpenAI-compatible vision server in a process of its own, backed by the embedded OCR.

`python -m tests.chaos.vision_server PORT FOLDER` serves until it is killed. Answers are stored in the folder, since
each run shows it the same frames.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import cv2
import httpx
import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from found_footy.clips.ocr_vision import OcrVision
from found_footy.media.models import Frame
from found_footy.runtime.engine import free_port
from tests.support.processes import stopped_with_parent


class VisionServer:
    """Controls the process, which keeps its address over kills and starts."""

    name = "vision"

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int | None:
        """Pid, None if it is not running."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    async def start(self) -> None:
        """Return once it responds."""
        self._process = self._spawn()
        async with asyncio.timeout(120), httpx.AsyncClient(base_url=self.url, trust_env=False) as client:
            while True:
                assert self._process.poll() is None, (self._folder / "log").read_text()
                try:
                    (await client.get("/health")).raise_for_status()
                    return
                except httpx.TransportError:
                    await asyncio.sleep(0.05)

    def _spawn(self) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            command = [sys.executable, "-m", __name__, str(self._port), str(self._folder)]
            return subprocess.Popen(stopped_with_parent(command), stdout=log, stderr=log)

    async def wait(self) -> int:
        """Wait for the process to exit and return its exit code."""
        assert self._process is not None
        while (code := self._process.poll()) is None:
            await asyncio.sleep(0.05)
        return code

    async def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _app(folder: Path) -> Starlette:
    open_vision = functools.cache(OcrVision)

    async def answer(request: Request) -> JSONResponse:
        content = (await request.json())["messages"][0]["content"]
        jpeg = base64.b64decode(content[1]["image_url"]["url"].partition(",")[2])
        stored = folder / f"{hashlib.sha256(jpeg).hexdigest()}.json"
        if not stored.exists():
            unfinished = stored.with_suffix(f".{uuid4().hex}")
            unfinished.write_text(json.dumps(await read(jpeg)))
            unfinished.rename(stored)
        message = {"message": {"role": "assistant", "content": stored.read_text()}}
        return JSONResponse({"choices": [message]})

    async def read(jpeg: bytes) -> dict[str, Any]:
        bgr = np.asarray(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR), np.uint8)
        reading = await open_vision().open_clip().read_frames([Frame(0.0, bgr)])
        return {
            "soccer": reading.soccer is not False,  # a model answers yes or no
            "screen": reading.screen,
            "clock": reading.clock,
            "added": reading.added,
            "stoppage_clock": reading.stoppage_clock,
            "home": reading.teams[0] if reading.teams else None,
            "away": reading.teams[1] if reading.teams else None,
            "home_goals": reading.score.home if reading.score else None,
            "away_goals": reading.score.away if reading.score else None,
        }

    async def health(_: Request) -> Response:
        return Response(status_code=204)

    return Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"]), Route("/health", health)])


if __name__ == "__main__":
    uvicorn.run(_app(Path(sys.argv[2])), host="127.0.0.1", port=int(sys.argv[1]), log_level="error", ws="none")
