"""Vectors from a server over HTTP: what it is asked, and what it can do wrong."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import cv2
import numpy as np
import pytest
from fastapi import FastAPI, Request

from found_footy.errors import EmbeddingError, EmbeddingUnavailable
from found_footy.library.embedding_server import MAX_BYTES, ServerEmbedder
from found_footy.runtime.http_server import HttpServer
from tests.feeds.raw_server import RawServer, Reply, json_reply

DIMENSIONS = 4
GREY = np.full((90, 160, 3), 90, np.uint8)


@asynccontextmanager
async def asked(url: str, patience: float = 5) -> AsyncIterator[ServerEmbedder]:
    server = ServerEmbedder(url, "clip", DIMENSIONS, timeout=patience)
    yield server
    await server.aclose()


def colour_server(bodies: list[dict[str, Any]]) -> FastAPI:
    """Speaks the protocol: the mean colour of a picture, the length of a text; the last first, as it may."""
    app = FastAPI()

    @app.post("/v1/embeddings")
    async def embeddings(request: Request) -> dict[str, Any]:
        body = await request.json()
        bodies.append(body)
        data = [{"index": number, "embedding": _vector(each, body)} for number, each in enumerate(body["input"])]
        return {"object": "list", "data": data[::-1], "model": body["model"]}

    return app


def _vector(each: str, body: dict[str, Any]) -> list[float]:
    if body["modality"] == "text":
        return [float(len(each)), 1.0, 0.0, 0.0]
    head, _, data = each.partition(",")
    assert head == "data:image/jpeg;base64"
    picture = cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    return [*picture.mean(axis=(0, 1)).tolist(), 1.0]


async def test_requests_follow_the_servers_protocol() -> None:
    bodies: list[dict[str, Any]] = []
    red, blue = np.zeros((2, 600, 800, 3), np.uint8)
    red[:, :, 2], blue[:, :, 0] = 255, 255
    async with HttpServer(colour_server(bodies)) as running, asked(f"{running.url}/v1/") as server:
        seen = await server.embed_images([red, blue] * 5)
        said = await server.embed_text("goal")
    assert seen.shape == (10, DIMENSIONS)
    assert np.allclose(np.linalg.norm(seen, axis=1), 1)
    assert seen[0].argmax() == 2
    assert seen[1].argmax() == 0
    assert said.argmax() == 0
    assert [(body["model"], body["modality"], len(body["input"])) for body in bodies] == [
        ("clip", "image", 8),
        ("clip", "image", 2),
        ("clip", "text", 1),
    ]


def vectors(*found: Any) -> Reply:
    return json_reply({"data": [{"index": number, "embedding": each} for number, each in enumerate(found)]})


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=503),
        Reply(status=429),
        Reply(b"{", missing=100),
        Reply(held=True),
        Reply(drips=True),
    ],
    ids=["down", "busy", "cut off", "silent", "drips"],
)
async def test_an_unresponsive_server_is_retryable(reply: Reply) -> None:
    async with RawServer(reply) as running, asked(running.url, 0.5) as server:
        with pytest.raises(EmbeddingUnavailable) as raised:
            await server.embed_images([GREY])
    assert raised.value.retryable


async def test_an_unreachable_server_is_named() -> None:
    async with asked("http://127.0.0.1:9") as server:
        with pytest.raises(EmbeddingUnavailable, match=r"127\.0\.0\.1:9"):
            await server.embed_text("goal")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<html>", 200),
        Reply(b"no such model", 404),
        json_reply([]),
        json_reply({"data": []}),
        json_reply({"data": [{"index": 5, "embedding": [1, 2, 3, 4]}]}),
        vectors([1, 2, 3]),
        vectors("many numbers"),
        vectors([1, 2, 3, None]),
        vectors([0, 0, 0, 0]),
        Reply(b'{"data": [{"index": 0, "embedding": [1, 2, 3, NaN]}]}'),
        Reply(b'{"data": [{"index": 0, "embedding": [1, 2, 3, 1e400]}]}'),
        Reply(json.dumps({"data": "x" * MAX_BYTES}).encode()),
        Reply(b"[" * 100_000),
    ],
    ids=[
        "a page", "refused", "a list", "nothing", "another one", "too short", "text", "holes", "no direction",
        "no number", "endless", "too large", "too deep",
    ],
)  # fmt: skip
async def test_invalid_responses_are_rejected(reply: Reply) -> None:
    async with RawServer(reply) as running, asked(running.url) as server:
        with pytest.raises(EmbeddingError) as raised:
            await server.embed_images([GREY])
    assert not raised.value.retryable
