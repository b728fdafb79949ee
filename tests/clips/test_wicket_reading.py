"""What both engines read in pictures of a wicket."""

from __future__ import annotations

import json
from typing import Any

import pytest

from footy_simulator.clips.broadcast import GOAL_AT
from footy_simulator.clips.encode import scene_of
from footy_simulator.clips.models import CRICKET_STYLES
from footy_simulator.clips.plan import wicket_footage
from footy_simulator.loader import load_scenario
from found_footy.clips.llama_vision import CRICKET_SCHEMA, LlamaVision
from found_footy.clips.models import FrameReading
from found_footy.clips.ocr_vision import OcrVision
from found_footy.errors import InvalidVisionResponse
from found_footy.fixtures.models import Score, Sport
from found_footy.media.models import Frame
from found_footy.media.ocr import OcrEngine
from tests.feeds.raw_server import RawServer, Reply, json_reply
from tests.media.pictures import match_picture

MATCH = load_scenario("quick").cricket[0]
ANSWER = {
    "cricket": True,
    "screen": False,
    "batting": "IND",
    "other": "AUS",
    "runs": 95,
    "wickets": 3,
    "overs": "12.3",
}


@pytest.mark.parametrize("height", [360, 720])
@pytest.mark.parametrize("style", CRICKET_STYLES)
async def test_scoreboards_of_all_styles_are_read(ocr_engine: OcrEngine, style: str, height: int) -> None:
    footage = wicket_footage(MATCH.model_copy(update={"style": style}), 1)
    scene = scene_of(footage, height * 16 // 9, height)
    clip = OcrVision(ocr_engine).open_clip(Sport.CRICKET)
    first = await clip.read_frames([Frame(1.0, scene.draw(GOAL_AT - 1.0))])
    pair = Score(1, 106) if style == "southern" else Score(106, 1)
    assert (first.clock, first.score, first.batting) == ("13.1", pair, "ENG")
    assert first.soccer
    assert first.box is not None
    assert first.box.top > 0.75


async def test_a_frame_without_a_scoreboard_may_show_cricket(ocr_engine: OcrEngine) -> None:
    scene = scene_of(wicket_footage(MATCH, 1), 640, 360)
    frame = scene.draw(GOAL_AT - 1.0)[:280]
    reading = await OcrVision(ocr_engine).open_clip(Sport.CRICKET).read_frames([Frame(1.0, frame)])
    assert (reading.clock, reading.score, reading.batting, reading.box) == (None, None, None, None)
    assert reading.soccer


async def test_a_football_scoreboard_gives_no_overs(ocr_engine: OcrEngine) -> None:
    reading = await OcrVision(ocr_engine).open_clip(Sport.CRICKET).read_frames([Frame(1.0, match_picture())])
    assert reading.clock is None


def said(**changes: Any) -> Reply:
    content = json.dumps({**ANSWER, **changes})
    return json_reply({"choices": [{"message": {"role": "assistant", "content": content}}]})


class Listening(LlamaVision):
    """Remembers what it asked."""

    asked: Any = None

    async def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        self.asked = body
        return await super().request(method, path, body)


async def look(reply: Reply) -> tuple[FrameReading, dict[str, Any]]:
    async with RawServer(reply) as server:
        vision = Listening(server.url, timeout=5)
        try:
            reading = await vision.open_clip(Sport.CRICKET).read_frames([Frame(2.0, match_picture(320, 180))])
        finally:
            await vision.aclose()
        return reading, vision.asked


async def test_the_model_prompt_covers_cricket() -> None:
    reading, asked = await look(said())
    assert reading == FrameReading(
        2.0, True, False, clock="12.3", teams=("IND", "AUS"), score=Score(95, 3), batting="IND"
    )
    assert asked["response_format"]["json_schema"]["schema"] == CRICKET_SCHEMA
    assert "cricket" in asked["messages"][0]["content"][0]["text"]


@pytest.mark.parametrize("changes", [{"runs": None}, {"wickets": None}, {"overs": "soon"}, {"batting": "n/a"}])
async def test_fields_that_a_model_cannot_read_are_none(changes: dict[str, Any]) -> None:
    reading, _ = await look(said(**changes))
    assert None in (reading.score, reading.clock, reading.batting)


@pytest.mark.parametrize("changes", [{"wickets": 11}, {"runs": -1}, {"overs": "9" * 40}, {"soccer": True}])
async def test_a_response_of_another_form_is_invalid(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidVisionResponse):
        await look(said(**changes))
