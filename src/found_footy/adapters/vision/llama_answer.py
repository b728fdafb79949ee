"""What a vision model is asked about a picture, the form that its answer must have, and the answer's meaning."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from found_footy.domain.errors import VisionNonsense
from found_footy.domain.fixtures.model import Score
from found_footy.domain.videos.readings import FrameReading

Form = TypeVar("Form", bound=BaseModel)

QUESTIONS = """Answer about this video frame, in JSON.
soccer: does it show an association football match, in play, in a replay, or its players during the match?
screen: was a television or monitor filmed with a camera (visible bezel, moire, glare, slanted picture)?
clock: the match clock exactly as it is written, with its period mark if there is one, such as "67:23", "2H 12:30", \
"45+2" or "HT"; null if there is none. Not the time of day, and not the score.
added: the announced stoppage time as it is written, such as "+4"; null if there is none.
stoppage_clock: a second, smaller clock that counts the stoppage time, such as "02:36"; null if there is none.
home, away: the left and the right team on the scoreboard exactly as they are written; null if not readable.
home_goals, away_goals: their goals in this match, not the aggregate; null if not readable."""


class _Answer(BaseModel):
    """Strict: a model that answers in another form has not understood the question."""

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


def nullable_text(longest: int) -> dict[str, Any]:
    # What a scoreboard can show, without the quote and the backslash: a small model, left free, writes on until its
    # tokens are used up, in characters that JSON does not allow.
    return {"anyOf": [{"type": "string", "pattern": f"^[ !#-[\\]-~À-ž]{{0,{longest}}}$"}, {"type": "null"}]}


_GOALS = {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 99}, {"type": "null"}]}
_PROPERTIES: dict[str, Any] = {
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
ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": _PROPERTIES,
    "required": list(_PROPERTIES),
    "additionalProperties": False,
}


def parse_answer(text: str, at: float) -> FrameReading:
    """Raises VisionNonsense where the answer does not have the form that was asked for."""
    answer = validated(_Answer, text)
    home, away = said(answer.home), said(answer.away)
    return FrameReading(
        at=at,
        soccer=answer.soccer,
        screen=answer.screen,
        clock=said(answer.clock),
        added=said(answer.added),
        stoppage_clock=said(answer.stoppage_clock),
        teams=(home, away) if home and away else None,
        score=_score(answer),
    )


def validated(form: type[Form], text: str) -> Form:
    try:
        return form.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "answer"
        raise VisionNonsense(f"{where}: {first['msg']}; the answer begins {text[:60]!r}") from None


def said(text: str | None) -> str | None:
    """Models write out that there is nothing, in spite of being asked not to."""
    plain = (text or "").strip()
    return None if plain.casefold() in ("", "null", "none", "n/a", "-", "--", "unknown") else plain


def _score(answer: _Answer) -> Score | None:
    if answer.home_goals is None or answer.away_goals is None:
        return None
    return Score(answer.home_goals, answer.away_goals)
