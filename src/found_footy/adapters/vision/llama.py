"""Vision by a model behind an OpenAI-compatible server, such as llama.cpp with Qwen3-VL."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Sequence
from typing import Any

import httpx

from found_footy.adapters.vision.llama_answer import ANSWER_SCHEMA, QUESTIONS, parse_answer
from found_footy.adapters.vision.llama_wicket import WICKET_QUESTIONS, WICKET_SCHEMA, parse_wicket_answer
from found_footy.domain.errors import VisionNonsense, VisionTimeout, VisionUnavailable
from found_footy.domain.fixtures.model import Sport
from found_footy.domain.videos.readings import FrameReading
from found_footy.http_exchanges import note_exchange
from found_footy.media.jpeg import to_jpeg
from found_footy.ports import ClipVision, Picture

LONGEST_SIDE = 1280
"""Pixels. A model cuts larger pictures into more pieces, which costs time and reads no better."""
MOST_TOKENS = 1000
"""The answer has some 80, and blanks that the model may add; what is longer does not end."""
MAX_BYTES = 1024 * 1024


class LlamaVision:
    """Asks about one picture of each moment: a model needs no vote, and each question costs seconds."""

    name = "llama"

    def __init__(self, url: str, *, timeout: float = 60.0, model: str = "default") -> None:
        self._client = httpx.AsyncClient(base_url=url.rstrip("/").removesuffix("/v1"), timeout=timeout)
        self._timeout = timeout
        self._model = model

    def open_clip(self, sport: Sport = Sport.FOOTBALL) -> ClipVision:
        return LlamaClip(self, sport)

    async def check(self) -> str:
        answer = await self.request("GET", "/v1/models")
        try:
            return str(answer["data"][0]["id"])
        except (TypeError, KeyError, IndexError):
            raise VisionNonsense(f"{self._where} lists no model") from None

    async def ask(self, jpeg: bytes, sport: Sport = Sport.FOOTBALL) -> str:
        """The model's answer to the questions about a picture, as it wrote it."""
        cricket = sport is Sport.CRICKET
        questions, schema = (WICKET_QUESTIONS, WICKET_SCHEMA) if cricket else (QUESTIONS, ANSWER_SCHEMA)
        url = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
        content = [{"type": "text", "text": questions}, {"type": "image_url", "image_url": {"url": url}}]
        answer = await self.request(
            "POST",
            "/v1/chat/completions",
            {
                "model": self._model,
                "messages": [{"role": "user", "content": content}],
                "response_format": {"type": "json_schema", "json_schema": {"name": "frame", "schema": schema}},
                "temperature": 0,
                "max_tokens": MOST_TOKENS,
                # Newer Qwen models think first; with a JSON schema their answer then stays empty (llama.cpp#22537).
                "chat_template_kwargs": {"enable_thinking": False},
            },
        )
        try:
            message = answer["choices"][0]["message"]
            text = message["content"]
        except (TypeError, KeyError, IndexError):
            message, text = {}, None
        if not text and message.get("reasoning_content"):
            raise VisionNonsense(
                f"{self._where} sent its reasoning and no answer: turn thinking off at the server "
                "(llama-server --reasoning-budget 0), or use a model that does not think"
            )
        if not isinstance(text, str):
            raise VisionNonsense(f"{self._where} sent no message: {str(answer)[:80]!r}")
        return text

    async def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        began, failure = time.monotonic(), ""
        status: int | None = None
        content = b""
        try:
            # httpx bounds each read; a server that drips needs a bound on the whole.
            async with asyncio.timeout(self._timeout):
                status, content = await self._exchange(method, path, body)
        except (TimeoutError, httpx.TimeoutException):
            failure = f"no answer within {self._timeout:g} s"
            raise VisionTimeout(f"{self._where} did not answer within {self._timeout:g} s") from None
        except httpx.HTTPError as error:
            failure = f"{type(error).__name__}: {error}"
            raise VisionUnavailable(f"{self._where}: {failure}") from error
        finally:
            took = time.monotonic() - began
            note_exchange(method, f"{self._client.base_url}{path}", took, status=status, body=content, error=failure)
        if status != 200:
            said = content[:120].decode("utf-8", "replace")
            raise VisionUnavailable(f"{self._where} answered HTTP {status}: {said}")
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise VisionNonsense(f"{self._where} sent something that is not JSON: {content[:60]!r}") from None

    async def _exchange(self, method: str, path: str, body: dict[str, Any] | None) -> tuple[int, bytes]:
        async with self._client.stream(method, path, json=body) as response:
            chunks, size = [], 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > MAX_BYTES:
                    raise VisionNonsense(f"{self._where}: the answer is larger than {MAX_BYTES} bytes")
                chunks.append(chunk)
            return response.status_code, b"".join(chunks)

    @property
    def _where(self) -> str:
        url = self._client.base_url
        return f"{url.host}:{url.port}" if url.port else url.host

    async def aclose(self) -> None:
        await self._client.aclose()


class LlamaClip:
    """One clip. The model sees each picture afresh; nothing is remembered."""

    def __init__(self, vision: LlamaVision, sport: Sport = Sport.FOOTBALL) -> None:
        self._vision = vision
        self._sport = sport

    async def look(self, pictures: Sequence[Picture]) -> FrameReading:
        picture = pictures[len(pictures) // 2]
        jpeg = await asyncio.to_thread(to_jpeg, picture.bgr, LONGEST_SIDE)
        parse = parse_wicket_answer if self._sport is Sport.CRICKET else parse_answer
        return parse(await self._vision.ask(jpeg, self._sport), picture.at)
