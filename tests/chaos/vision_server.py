"""A vision model's server for tests: it speaks the protocol, reads with the embedded OCR, and can go away."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from types import TracebackType
from typing import Any

import cv2
import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from found_footy.adapters.vision.ocr import OcrVision
from found_footy.ports import Picture


class VisionServer:
    def __init__(self) -> None:
        self._vision = OcrVision()
        self._port = _free_port()
        self._server: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def start(self) -> None:
        app = Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])
        config = uvicorn.Config(app, host="127.0.0.1", port=self._port, log_config=None, lifespan="off", ws="none")
        self._server = uvicorn.Server(config)
        self._server.capture_signals = _nothing  # type: ignore[method-assign]
        self._serving = asyncio.create_task(self._server.serve())

    async def stop(self) -> None:
        assert self._server is not None
        assert self._serving is not None
        self._server.should_exit = True
        await self._serving

    async def __aenter__(self) -> VisionServer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _answer(self, request: Request) -> JSONResponse:
        self.asked += 1
        content = (await request.json())["messages"][0]["content"]
        jpeg = base64.b64decode(content[1]["image_url"]["url"].partition(",")[2])
        bgr = np.asarray(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR), np.uint8)
        seen = await self._vision.open_clip().look([Picture(0.0, bgr)])
        answer: dict[str, Any] = {
            "soccer": seen.soccer,
            "screen": seen.screen,
            "clock": seen.clock,
            "added": seen.added,
            "stoppage_clock": seen.stoppage_clock,
            "home": seen.teams[0] if seen.teams else None,
            "away": seen.teams[1] if seen.teams else None,
            "home_goals": seen.score.home if seen.score else None,
            "away_goals": seen.score.away if seen.score else None,
        }
        return JSONResponse({"choices": [{"message": {"role": "assistant", "content": json.dumps(answer)}}]})


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class _nothing:
    """Stands for uvicorn's handling of signals, which are pytest's here."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None
