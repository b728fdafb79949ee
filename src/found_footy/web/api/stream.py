"""`GET /api/v1/stream`: live updates, and those since the client's last position."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.requests import Request
from starlette.responses import Response

from found_footy.errors import BadRequest
from found_footy.web.api.models import ErrorResponse
from found_footy.web.errors import Responses, error_responses
from found_footy.web.live import EventStreamResponse, stream_filter
from found_footy.web.services import ServicesDep
from found_footy.web.visitors import limited_address

router = APIRouter(prefix="/api/v1", tags=["live"])

MAX_FILTER_VALUES = 100

RESPONSES: Responses = {
    200: {
        "description": "Server-sent events.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    **error_responses(),
    400: {"model": ErrorResponse, "description": "Unknown topic or position."},
    503: {"model": ErrorResponse, "description": "Stream limit reached, or the database is unavailable."},
}
del RESPONSES[304]

Fixtures = Annotated[
    list[int], Query(default_factory=list, max_length=MAX_FILTER_VALUES, description="Only these matches.")
]
Events = Annotated[
    list[str], Query(default_factory=list, max_length=MAX_FILTER_VALUES, description="Only these goals.")
]
Topics = Annotated[
    list[str],
    Query(
        default_factory=list,
        max_length=MAX_FILTER_VALUES,
        description="Only these topics; `goal.*` matches all that start with `goal.`",
    ),
]
After = Annotated[
    str | None, Query(description="Start after this position; the header `Last-Event-ID` takes precedence.")
]
LastEventId = Annotated[str | None, Header(description="The last received id.")]


@router.get("/stream", response_class=Response, responses=RESPONSES, summary="Stream live updates")
async def stream(
    request: Request,
    services: ServicesDep,
    fixture: Fixtures,
    event: Events,
    topic: Topics,
    after: After = None,
    last_event_id: LastEventId = None,
) -> Response:
    """Server-sent events: `id` is the position, `event` the topic, `data` a JSON object.

    The first event is `hello`, with the start position and the topics. A client that reconnects with its last id gets
    everything it missed; `reset` reports that older messages have expired.
    """
    filters = stream_filter(fixture, event, topic)
    position = await services.live.start_position(position_of(last_event_id or after), limited_address(request))
    return EventStreamResponse(services.live, filters, position)


def position_of(position: str | None) -> int | None:
    """Parse a position. Raises BadRequest if it is invalid."""
    if position is None:
        return None
    if not re.fullmatch(r"[0-9]{1,18}", position):
        raise BadRequest(f"{position[:40]!r} is not a valid position: expected an integer, the `id` of a message")
    return int(position)
