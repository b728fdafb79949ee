"""`GET /api/v1/stream`: news as they happen, and those since a reader was last here."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from starlette.responses import Response

from found_footy.domain.errors import BadRequest
from found_footy.web.access.visitors import reads
from found_footy.web.api.failing import Answers, failing
from found_footy.web.api.models import Failure
from found_footy.web.live.response import NewsStream
from found_footy.web.live.wishes import wishes
from found_footy.web.services import Given

router = APIRouter(prefix="/api/v1", tags=["live"], dependencies=[Depends(reads)])

MOST_WISHES = 100

ANSWERS: Answers = {
    200: {
        "description": "Server-sent events, for as long as one listens.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    **failing(),
    400: {"model": Failure, "description": "There is no such topic, or no such position."},
    503: {"model": Failure, "description": "No room for another listener, or the database cannot be reached."},
}
del ANSWERS[304]

Fixtures = Annotated[
    list[int], Query(default_factory=list, max_length=MOST_WISHES, description="Only news of these matches.")
]
Events = Annotated[
    list[str], Query(default_factory=list, max_length=MOST_WISHES, description="Only news of these goals.")
]
Topics = Annotated[
    list[str],
    Query(
        default_factory=list,
        max_length=MOST_WISHES,
        description="Only these topics; `goal.*` is all that begin with `goal.`",
    ),
]
After = Annotated[str | None, Query(description="The position after which to begin; the header `Last-Event-ID` wins.")]
LastEventId = Annotated[str | None, Header(description="The last id that was received.")]


@router.get("/stream", response_class=Response, responses=ANSWERS, summary="News as they happen")
async def stream(
    services: Given,
    fixture: Fixtures,
    event: Events,
    topic: Topics,
    after: After = None,
    last_event_id: LastEventId = None,
) -> Response:
    """News as server-sent events: each with its position as `id`, its topic as `event` and a JSON object as `data`.

    The first event is `hello`, with the position from which on nothing is missed and the topics that can follow.
    A reader that comes back with its last id gets all that it missed. Where that is no longer kept, `reset` says so.
    """
    wants = wishes(fixture, event, topic)
    position = await services.live.start_of(position_of(last_event_id or after))
    return NewsStream(services.live, wants, position)


def position_of(given: str | None) -> int | None:
    """Raises BadRequest for what is none."""
    if given is None:
        return None
    if not re.fullmatch(r"[0-9]{1,18}", given):
        raise BadRequest(f"{given[:40]!r} is no position; it is a whole number, as in the `id` of each message")
    return int(given)
