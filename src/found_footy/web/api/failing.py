"""How the routes of the API can fail, for its reference."""

from __future__ import annotations

from typing import Any

from found_footy.web.api.models import Failure

_SAID = {
    304: "Nothing has changed since the tag in `If-None-Match`.",
    400: "The cursor is not one of this list with these filters.",
    401: "Reading needs a token here, or the token that was sent does not hold.",
    404: "There is no such thing.",
    410: "It is gone for good; the message says why.",
    422: "A parameter cannot be understood.",
    429: "Too many wrong tokens from this address.",
    503: "The database cannot be reached.",
}

Answers = dict[int | str, dict[str, Any]]


def failing(*statuses: int) -> Answers:
    """Those that are named, and those that every route has."""
    answers: Answers = {304: {"description": _SAID[304]}}
    for status in sorted({*statuses, 401, 422, 429, 503}):
        answers[status] = {"model": Failure, "description": _SAID[status]}
    return answers
