"""Decodes the pictures that people search with, in processes with limits: a picture can be as hostile as a film."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from found_footy.adapters.media.fork_server import ForkServer
from found_footy.adapters.media.limited_process import LimitedProcess
from found_footy.adapters.media.messages import pictures_of
from found_footy.domain.errors import MediaBroken

OPERATIONS = "found_footy.adapters.media.still_operations"
SECONDS = 10.0
AT_ONCE = 2


class LimitedStills:
    """Fills `PictureDecoder`. No process is started before the first picture comes."""

    def __init__(self, memory_mb: int, seconds: float = SECONDS) -> None:
        self._server = ForkServer([OPERATIONS])
        self._process = LimitedProcess(self._server, memory_mb, seconds, at_once=AT_ONCE)

    async def picture(self, content: bytes) -> NDArray[np.uint8]:
        with tempfile.TemporaryDirectory(prefix="footy-still-", ignore_cleanup_errors=True) as folder:
            path = Path(folder, "picture")
            await asyncio.to_thread(path.write_bytes, content)
            header, payload = await self._process.run(f"{OPERATIONS}:still", path)
        try:
            return pictures_of(header, payload, 1)[0].bgr
        except ValueError as error:
            raise MediaBroken(f"the process that decodes the picture answers nonsense: {error}") from None

    async def aclose(self) -> None:
        await self._server.aclose()
