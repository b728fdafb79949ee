"""Embeddings from a server: OpenAI's `/embeddings`, with `modality` as in the Infinity server.

An image is sent as a data URL in `input`, text as it is. The response is
`{"data": [{"index": …, "embedding": […]}]}`.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from typing import Literal

import numpy as np

from found_footy.errors import EmbeddingError, EmbeddingUnavailable
from found_footy.library.onnx_embedders import Pixels, Vectors, normalize_rows
from found_footy.media.images import to_jpeg
from found_footy.runtime.http import HttpClient, HttpError, HttpLimits

NAME = "server"
MAX_SIDE = 512
"""Pixels. Models use 224 to 384."""
JPEG_QUALITY = 92
MAX_BYTES = 8 * 1024 * 1024
BATCH_SIZE = 8
MAX_CHARACTERS = 1000
RETRYABLE_STATUSES = frozenset({408, 425, 429})


class ServerEmbedder:
    """Model and dimensions come from the settings, because the server may be unavailable at startup."""

    name = NAME
    supports_text = True

    def __init__(self, url: str, model: str, dimensions: int, *, timeout: float = 30.0) -> None:
        self._client = HttpClient(
            HttpLimits(timeout, max_bytes=MAX_BYTES), base_url=url.rstrip("/"), translate=_translate
        )
        self._model = model
        self.dimensions = dimensions

    @property
    def version(self) -> str:
        return f"{self._model[:80]}-1"

    async def embed_images(self, bgr: Sequence[Pixels]) -> Vectors:
        parts = []
        for at in range(0, len(bgr), BATCH_SIZE):
            batch = [await asyncio.to_thread(_data_url, image) for image in bgr[at : at + BATCH_SIZE]]
            parts.append(await self._request(batch, "image"))
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), dtype=np.float32)

    async def embed_text(self, words: str) -> Vectors:
        vector: Vectors = (await self._request([words[:MAX_CHARACTERS]], "text"))[0]
        return vector

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _request(self, inputs: list[str], modality: Literal["image", "text"]) -> Vectors:
        body = {"model": self._model, "input": inputs, "modality": modality, "encoding_format": "float"}
        response = await self._client.request("POST", "/embeddings", json=body)
        status, content = response.status, response.body
        if status != 200:
            message = f"{self._endpoint} returned HTTP {status}: {content[:120].decode('utf-8', 'replace')}"
            raise (
                EmbeddingUnavailable(message)
                if status >= 500 or status in RETRYABLE_STATUSES
                else EmbeddingError(message)
            )
        return normalize_rows(self._vectors(content, len(inputs)), len(inputs), self.dimensions)

    def _vectors(self, content: bytes, count: int) -> Vectors:
        """Vectors sorted by index: the server may return any order."""
        try:
            found = {each["index"]: each["embedding"] for each in json.loads(content)["data"]}
            return np.array([found[number] for number in range(count)], dtype=np.float32)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise EmbeddingError(f"{self._endpoint} did not return {count} vectors") from None

    @property
    def _endpoint(self) -> str:
        url = self._client.base_url
        return f"{url.host}:{url.port}" if url.port else url.host


def _translate(error: HttpError) -> EmbeddingError:
    return (EmbeddingUnavailable if error.is_transient else EmbeddingError)(str(error))


def _data_url(bgr: Pixels) -> str:
    jpeg = to_jpeg(bgr, MAX_SIDE, JPEG_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
