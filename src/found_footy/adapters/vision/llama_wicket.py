"""What a vision model is asked about a picture of a wicket, the form of its answer, and the answer's meaning."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from found_footy.adapters.vision.llama_answer import nullable_text, said, validated
from found_footy.domain.fixtures.model import Score
from found_footy.domain.videos.cricket_board import MOST_RUNS, MOST_WICKETS
from found_footy.domain.videos.overs_text import parse_overs
from found_footy.domain.videos.readings import FrameReading

WICKET_QUESTIONS = """Answer about this video frame, in JSON.
cricket: does it show a cricket match, in play, in a replay, or its players during the match?
screen: was a television or monitor filmed with a camera (visible bezel, moire, glare, slanted picture)?
batting: the team beside the innings' score on the scoreboard exactly as it is written; null if not readable.
other: the other team if the scoreboard names it; null if not.
runs, wickets: the innings' score, such as 95 and 3 for "95-3", "95/3" or "3-95"; not a bowler's figures; null if not \
readable.
overs: the overs that have been bowled in the innings as they are written, such as "12.3"; null if not readable."""


class _Answer(BaseModel):
    """Strict: a model that answers in another form has not understood the question."""

    model_config = ConfigDict(strict=True, extra="forbid")

    cricket: bool
    screen: bool
    batting: Annotated[str, Field(max_length=24)] | None
    other: Annotated[str, Field(max_length=24)] | None
    runs: Annotated[int, Field(ge=0, le=MOST_RUNS)] | None
    wickets: Annotated[int, Field(ge=0, le=MOST_WICKETS)] | None
    overs: Annotated[str, Field(max_length=8)] | None


def _number(most: int) -> dict[str, Any]:
    return {"anyOf": [{"type": "integer", "minimum": 0, "maximum": most}, {"type": "null"}]}


_PROPERTIES: dict[str, Any] = {
    "cricket": {"type": "boolean"},
    "screen": {"type": "boolean"},
    "batting": nullable_text(24),
    "other": nullable_text(24),
    "runs": _number(MOST_RUNS),
    "wickets": _number(MOST_WICKETS),
    "overs": nullable_text(8),
}
WICKET_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": _PROPERTIES,
    "required": list(_PROPERTIES),
    "additionalProperties": False,
}


def parse_wicket_answer(text: str, at: float) -> FrameReading:
    """Raises VisionNonsense where the answer does not have the form that was asked for."""
    answer = validated(_Answer, text)
    batting, other, overs = said(answer.batting), said(answer.other), said(answer.overs)
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
