"""Vectors from a server: OpenAI's `/embeddings`, with `modality` as the Infinity server has added it.

A picture is sent as a data address in `input`, a text as it is. The answer is
`{"data": [{"index": …, "embedding": […]}]}`.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from typing import Any, Literal

import httpx
import numpy as np

from found_footy.adapters.embeddings.preparing import Pixels, Vectors, unit
from found_footy.domain.errors import EmbeddingError, EmbeddingUnavailable
from found_footy.media.jpeg import to_jpeg

NAME = "server"
LONGEST_SIDE = 512
"""Pixels. Models look at 224 to 384."""
QUALITY = 92
MAX_BYTES = 8 * 1024 * 1024
AT_ONCE = 8
MOST_CHARACTERS = 1000
LATER = frozenset({408, 425, 429})
"""Statuses that ask to come again; the other ones below 500 will not change."""


class EmbeddingServer:
    """Fills `Embedder`. Model and dimensions are told by the settings: it may be away at the start."""

    name = NAME
    has_text = True

    def __init__(self, url: str, model: str, dimensions: int, *, timeout: float = 30.0) -> None:
        self._client = httpx.AsyncClient(base_url=url.rstrip("/"), timeout=timeout)
        self._model, self._timeout = model, timeout
        self.dimensions = dimensions

    @property
    def version(self) -> str:
        return f"{self._model[:80]}-1"

    async def pictures(self, bgr: Sequence[Pixels]) -> Vectors:
        parts = []
        for at in range(0, len(bgr), AT_ONCE):
            some = [await asyncio.to_thread(_data_address, picture) for picture in bgr[at : at + AT_ONCE]]
            parts.append(await self._ask(some, "image"))
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), dtype=np.float32)

    async def text(self, words: str) -> Vectors:
        vector: Vectors = (await self._ask([words[:MOST_CHARACTERS]], "text"))[0]
        return vector

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _ask(self, inputs: list[str], modality: Literal["image", "text"]) -> Vectors:
        body = {"model": self._model, "input": inputs, "modality": modality, "encoding_format": "float"}
        try:
            # httpx bounds each read; a server that drips needs a bound on the whole.
            async with asyncio.timeout(self._timeout):
                status, content = await self._exchange(body)
        except (TimeoutError, httpx.TimeoutException):
            raise EmbeddingUnavailable(f"{self._where} did not answer within {self._timeout:g} s") from None
        except httpx.HTTPError as error:
            raise EmbeddingUnavailable(f"{self._where}: {type(error).__name__}: {error}") from error
        if status != 200:
            said = f"{self._where} answered HTTP {status}: {content[:120].decode('utf-8', 'replace')}"
            raise EmbeddingUnavailable(said) if status >= 500 or status in LATER else EmbeddingError(said)
        return unit(self._vectors(content, len(inputs)), len(inputs), self.dimensions)

    async def _exchange(self, body: dict[str, Any]) -> tuple[int, bytes]:
        async with self._client.stream("POST", "/embeddings", json=body) as response:
            chunks, size = [], 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > MAX_BYTES:
                    raise EmbeddingError(f"{self._where}: the answer is larger than {MAX_BYTES} bytes")
                chunks.append(chunk)
            return response.status_code, b"".join(chunks)

    def _vectors(self, content: bytes, count: int) -> Vectors:
        """By their index: the order is the server's own."""
        try:
            told = json.loads(content)["data"]
            found = {each["index"]: each["embedding"] for each in told}
            return np.array([found[number] for number in range(count)], dtype=np.float32)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise EmbeddingError(f"{self._where} sent something else than {count} vectors") from None

    @property
    def _where(self) -> str:
        url = self._client.base_url
        return f"{url.host}:{url.port}" if url.port else url.host


def _data_address(bgr: Pixels) -> str:
    jpeg = to_jpeg(bgr, LONGEST_SIDE, QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
