"""Vision by a multimodal model: prompts, response schemas and response parsing."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from found_footy.clips.cricket_scoreboard import MAX_RUNS, MAX_WICKETS, parse_overs
from found_footy.clips.frame_selection import ClipVision
from found_footy.clips.models import FrameReading
from found_footy.errors import InvalidVisionResponse, VisionError, VisionTimeout, VisionUnavailable
from found_footy.fixtures.models import Score, Sport
from found_footy.media.images import to_jpeg
from found_footy.media.models import Frame
from found_footy.runtime.http import HttpClient, HttpError, HttpErrorKind, HttpLimits

AnswerModel = TypeVar("AnswerModel", bound=BaseModel)

FOOTBALL_PROMPT = """Answer about this video frame, in JSON.
soccer: does it show an association football match, in play, in a replay, or its players during the match?
screen: was a television or monitor filmed with a camera (visible bezel, moire, glare, slanted picture)?
clock: the match clock exactly as it is written, with its period mark if there is one, such as "67:23", "2H 12:30", \
"45+2" or "HT"; null if there is none. Not the time of day, and not the score.
added: the announced stoppage time as it is written, such as "+4"; null if there is none.
stoppage_clock: a second, smaller clock that counts the stoppage time, such as "02:36"; null if there is none.
home, away: the left and the right team on the scoreboard exactly as they are written; null if not readable.
home_goals, away_goals: their goals in this match, not the aggregate; null if not readable."""


class _FootballAnswer(BaseModel):
    """Strict: a response in another form is rejected."""

    model_config = ConfigDict(strict=True, extra="forbid")

    soccer: bool
    screen: bool
    clock: Annotated[str, Field(max_length=16)] | None
    added: Annotated[str, Field(max_length=8)] | None
    stoppage_clock: Annotated[str, Field(max_length=8)] | None
    home: Annotated[str, Field(max_length=24)] | None
    away: Annotated[str, Field(max_length=24)] | None
    home_goals: Annotated[int, Field(ge=0, le=99)] | None
    away_goals: Annotated[int, Field(ge=0, le=99)] | None


def nullable_text(max_length: int) -> dict[str, Any]:
    # Only characters that a scoreboard can show, without quote and backslash. Unconstrained, a small model generates
    # until its tokens run out, including characters that JSON does not allow.
    return {"anyOf": [{"type": "string", "pattern": f"^[ !#-[\\]-~À-ž]{{0,{max_length}}}$"}, {"type": "null"}]}


_GOALS = {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 99}, {"type": "null"}]}
_FOOTBALL_PROPERTIES: dict[str, Any] = {
    "soccer": {"type": "boolean"},
    "screen": {"type": "boolean"},
    "clock": nullable_text(16),
    "added": nullable_text(8),
    "stoppage_clock": nullable_text(8),
    "home": nullable_text(24),
    "away": nullable_text(24),
    "home_goals": _GOALS,
    "away_goals": _GOALS,
}
FOOTBALL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": _FOOTBALL_PROPERTIES,
    "required": list(_FOOTBALL_PROPERTIES),
    "additionalProperties": False,
}


def parse_football_answer(text: str, at: float) -> FrameReading:
    """Parse a response. Raises InvalidVisionResponse if it does not match the schema."""
    answer = validate_answer(_FootballAnswer, text)
    home, away = text_or_none(answer.home), text_or_none(answer.away)
    return FrameReading(
        at=at,
        soccer=answer.soccer,
        screen=answer.screen,
        clock=text_or_none(answer.clock),
        added=text_or_none(answer.added),
        stoppage_clock=text_or_none(answer.stoppage_clock),
        teams=(home, away) if home and away else None,
        score=_score(answer),
    )


def validate_answer(model: type[AnswerModel], text: str) -> AnswerModel:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "answer"
        raise InvalidVisionResponse(f"{field}: {first['msg']}; the answer starts with {text[:60]!r}") from None


def text_or_none(text: str | None) -> str | None:
    """Replace placeholders by None: models write "n/a" and the like despite the prompt."""
    plain = (text or "").strip()
    return None if plain.casefold() in ("", "null", "none", "n/a", "-", "--", "unknown") else plain


def _score(answer: _FootballAnswer) -> Score | None:
    if answer.home_goals is None or answer.away_goals is None:
        return None
    return Score(answer.home_goals, answer.away_goals)


# --- Cricket: prompt, response schema and parsing.


CRICKET_PROMPT = """Answer about this video frame, in JSON.
cricket: does it show a cricket match, in play, in a replay, or its players during the match?
screen: was a television or monitor filmed with a camera (visible bezel, moire, glare, slanted picture)?
batting: the team beside the innings' score on the scoreboard exactly as it is written; null if not readable.
other: the other team if the scoreboard names it; null if not.
runs, wickets: the innings' score, such as 95 and 3 for "95-3", "95/3" or "3-95"; not a bowler's figures; null if not \
readable.
overs: the overs that have been bowled in the innings as they are written, such as "12.3"; null if not readable."""


class _CricketAnswer(BaseModel):
    """Strict: a response in another form is rejected."""

    model_config = ConfigDict(strict=True, extra="forbid")

    cricket: bool
    screen: bool
    batting: Annotated[str, Field(max_length=24)] | None
    other: Annotated[str, Field(max_length=24)] | None
    runs: Annotated[int, Field(ge=0, le=MAX_RUNS)] | None
    wickets: Annotated[int, Field(ge=0, le=MAX_WICKETS)] | None
    overs: Annotated[str, Field(max_length=8)] | None


def nullable_integer(maximum: int) -> dict[str, Any]:
    return {"anyOf": [{"type": "integer", "minimum": 0, "maximum": maximum}, {"type": "null"}]}


_CRICKET_PROPERTIES: dict[str, Any] = {
    "cricket": {"type": "boolean"},
    "screen": {"type": "boolean"},
    "batting": nullable_text(24),
    "other": nullable_text(24),
    "runs": nullable_integer(MAX_RUNS),
    "wickets": nullable_integer(MAX_WICKETS),
    "overs": nullable_text(8),
}
CRICKET_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": _CRICKET_PROPERTIES,
    "required": list(_CRICKET_PROPERTIES),
    "additionalProperties": False,
}


def parse_cricket_answer(text: str, at: float) -> FrameReading:
    """Parse a response. Raises InvalidVisionResponse if it does not match the schema."""
    answer = validate_answer(_CricketAnswer, text)
    batting, other, overs = text_or_none(answer.batting), text_or_none(answer.other), text_or_none(answer.overs)
    scored = answer.runs is not None and answer.wickets is not None
    return FrameReading(
        at=at,
        soccer=answer.cricket,
        screen=answer.screen,
        clock=overs if overs and parse_overs(overs) is not None else None,
        teams=(batting, other) if batting and other else None,
        score=Score(answer.runs or 0, answer.wickets or 0) if scored else None,
        batting=batting,
    )


# --- Client of an OpenAI-compatible server, such as llama.cpp with Qwen3-VL.


MAX_SIDE_PX = 1280
"""Pixels. Models split larger images into more tiles, which takes longer and does not improve accuracy."""
MAX_TOKENS = 1000
"""A response has about 80 tokens plus whitespace; a longer one does not terminate."""
MAX_BYTES = 1024 * 1024


class LlamaVision:
    """Sends one frame per moment: a model needs no vote, and each request takes seconds."""

    name = "llama"

    def __init__(self, url: str, *, timeout: float = 60.0, model: str = "default") -> None:
        self._client = HttpClient(
            HttpLimits(timeout, max_bytes=MAX_BYTES),
            base_url=url.rstrip("/").removesuffix("/v1"),
            translate=_translate,
        )
        self._model = model

    def open_clip(self, sport: Sport = Sport.FOOTBALL) -> ClipVision:
        return LlamaClip(self, sport)

    async def check(self) -> str:
        answer = await self.request("GET", "/v1/models")
        try:
            return str(answer["data"][0]["id"])
        except (TypeError, KeyError, IndexError):
            raise InvalidVisionResponse(f"{self._server} does not list a model") from None

    async def ask(self, jpeg: bytes, sport: Sport = Sport.FOOTBALL) -> str:
        """Return the model's raw response for an image."""
        cricket = sport is Sport.CRICKET
        prompt, schema = (CRICKET_PROMPT, CRICKET_SCHEMA) if cricket else (FOOTBALL_PROMPT, FOOTBALL_SCHEMA)
        url = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
        content = [{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": url}}]
        answer = await self.request(
            "POST",
            "/v1/chat/completions",
            {
                "model": self._model,
                "messages": [{"role": "user", "content": content}],
                "response_format": {"type": "json_schema", "json_schema": {"name": "frame", "schema": schema}},
                "temperature": 0,
                "max_tokens": MAX_TOKENS,
                # Newer Qwen models reason first; with a JSON schema, their response then stays empty (llama.cpp#22537).
                "chat_template_kwargs": {"enable_thinking": False},
            },
        )
        try:
            message = answer["choices"][0]["message"]
            text = message["content"]
        except (TypeError, KeyError, IndexError):
            message, text = {}, None
        if not text and message.get("reasoning_content"):
            raise InvalidVisionResponse(
                f"{self._server} returned only reasoning and no answer: disable thinking on the server "
                "(llama-server --reasoning-budget 0), or use a model without it"
            )
        if not isinstance(text, str):
            raise InvalidVisionResponse(f"{self._server} returned no message: {str(answer)[:80]!r}")
        return text

    async def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        response = await self._client.request(method, path, json=body)
        if not response.ok:
            excerpt = response.body[:120].decode("utf-8", "replace")
            raise VisionUnavailable(f"{self._server}: HTTP {response.status}: {excerpt}")
        return response.json()

    @property
    def _server(self) -> str:
        url = self._client.base_url
        return f"{url.host}:{url.port}" if url.port else url.host

    async def aclose(self) -> None:
        await self._client.aclose()


def _translate(error: HttpError) -> VisionError:
    if error.kind is HttpErrorKind.TIMEOUT:
        return VisionTimeout(str(error))
    return (VisionUnavailable if error.is_transient else InvalidVisionResponse)(str(error))


class LlamaClip:
    """One clip. Stateless: each frame is a separate request."""

    def __init__(self, vision: LlamaVision, sport: Sport = Sport.FOOTBALL) -> None:
        self._vision = vision
        self._sport = sport

    async def read_frames(self, frames: Sequence[Frame]) -> FrameReading:
        frame = frames[len(frames) // 2]
        jpeg = await asyncio.to_thread(to_jpeg, frame.pixels, MAX_SIDE_PX)
        parse = parse_cricket_answer if self._sport is Sport.CRICKET else parse_football_answer
        return parse(await self._vision.ask(jpeg, self._sport), frame.seconds)
