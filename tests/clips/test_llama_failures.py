"""A server that is down, slow or talks nonsense: a class of its own each, and never a "no"."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from found_footy.clips.llama_vision import LlamaVision
from found_footy.clips.models import FrameReading
from found_footy.errors import InvalidVisionResponse, VisionError, VisionTimeout, VisionUnavailable
from found_footy.fixtures.models import Score
from found_footy.media.models import Frame
from tests.discovery.serving import serving
from tests.feeds.raw_server import RawServer, Reply, json_reply
from tests.media.pictures import match_picture

ANSWER = {
    "soccer": True,
    "screen": False,
    "clock": "90:00",
    "added": "+4",
    "stoppage_clock": "02:17",
    "home": "RMA",
    "away": "SEV",
    "home_goals": 1,
    "away_goals": 0,
}


def said(content: Any) -> Reply:
    return json_reply({"choices": [{"message": {"role": "assistant", "content": content}}]})


def answered(**changes: Any) -> Reply:
    return said(json.dumps({**ANSWER, **changes}))


@asynccontextmanager
async def asked(url: str, patience: float = 5) -> AsyncIterator[LlamaVision]:
    vision = LlamaVision(url, timeout=patience)
    yield vision
    await vision.aclose()


async def look(reply: Reply, patience: float = 5) -> FrameReading:
    async with RawServer(reply) as server, asked(server.url, patience) as vision:
        return await vision.open_clip().read_frames([Frame(2.0, match_picture(320, 180))])


async def test_an_answer_becomes_a_reading() -> None:
    assert await look(answered()) == FrameReading(
        at=2.0,
        soccer=True,
        screen=False,
        clock="90:00",
        added="+4",
        stoppage_clock="02:17",
        teams=("RMA", "SEV"),
        score=Score(1, 0),
    )


@pytest.mark.parametrize("nothing", [None, "", " ", "null", "None", "N/A"])
async def test_placeholders_for_nothing_are_none(nothing: str | None) -> None:
    reading = await look(answered(clock=nothing, home=nothing, home_goals=None))
    assert (reading.clock, reading.teams, reading.score) == (None, None, None)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<html>"),
        Reply(b""),
        Reply(b"[" * 100_000),
        json_reply({"choices": []}),
        json_reply([1, 2]),
        said(None),
        said([{"type": "text"}]),
        said("yes, it is soccer"),
        said(json.dumps(ANSWER)[:-20]),
        said("{}"),
        answered(soccer="yes"),
        answered(home_goals=-1),
        answered(home_goals=1.5),
        answered(clock="9" * 50),
        answered(weather="fine"),
        Reply(b" " * 2_000_000),
    ],
)
async def test_a_response_of_another_form_is_invalid(reply: Reply) -> None:
    with pytest.raises(InvalidVisionResponse):
        await look(reply)


# Newer Qwen models behind llama.cpp think first; with a JSON schema `content` stays empty and all is in
# `reasoning_content` [ggml-org/llama.cpp#22537, #21600].


async def test_reasoning_is_disabled() -> None:
    sent = []

    async def completions(request: Request) -> JSONResponse:
        sent.append(await request.json())
        return JSONResponse({"choices": [{"message": {"role": "assistant", "content": json.dumps(ANSWER)}}]})

    route = Route("/v1/chat/completions", completions, methods=["POST"])
    async with serving(lambda url: [route]) as url, asked(url) as vision:
        await vision.open_clip().read_frames([Frame(2.0, match_picture(320, 180))])
    assert [body["chat_template_kwargs"] for body in sent] == [{"enable_thinking": False}]


@pytest.mark.parametrize("content", ["", None])
async def test_reasoning_without_an_answer_has_a_hint(content: str | None) -> None:
    message = {"role": "assistant", "content": content, "reasoning_content": "The frame shows..."}
    with pytest.raises(InvalidVisionResponse, match="disable thinking"):
        await look(json_reply({"choices": [{"message": message}]}))


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
async def test_a_server_that_refuses_is_unavailable(status: int) -> None:
    with pytest.raises(VisionUnavailable, match=str(status)):
        await look(Reply(b'{"error": {"message": "Loading model"}}', status))


async def test_a_server_that_hangs_up_is_unavailable() -> None:
    with pytest.raises(VisionUnavailable):
        await look(Reply(b"{", missing=100))


async def test_a_server_that_is_down_is_unavailable() -> None:
    async with RawServer(Reply()) as server:
        url = server.url
    async with asked(url) as vision:
        with pytest.raises(VisionUnavailable):
            await vision.open_clip().read_frames([Frame(2.0, match_picture(320, 180))])
        with pytest.raises(VisionUnavailable):
            await vision.check()


@pytest.mark.parametrize("reply", [Reply(held=True), Reply(drips=True)], ids=["silent", "dripping"])
async def test_a_server_that_is_slow_times_out(reply: Reply) -> None:
    with pytest.raises(VisionTimeout):
        await look(reply, patience=0.3)


async def test_all_of_these_are_retryable() -> None:
    assert all(kind.retryable for kind in (VisionError, VisionUnavailable, VisionTimeout, InvalidVisionResponse))


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
async def test_the_servers_url_may_be_written_with_or_without_its_version(suffix: str) -> None:
    async with RawServer(answered()) as server, asked(server.url + suffix) as vision:
        await vision.open_clip().read_frames([Frame(2.0, match_picture(320, 180))])
        assert server.requests[0].path == "/v1/chat/completions"
