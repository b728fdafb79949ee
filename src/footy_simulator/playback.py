"""Progress of a playback, for tests and people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from footy_simulator.expectations import ExpectedOutcome

POLLS_TO_FINISH = 5
"""Polls that must see the final state before the playback counts as finished."""


@dataclass(frozen=True, slots=True)
class PlaybackState:
    now: datetime
    """Matchday time."""
    offset_seconds: float
    polls: int
    settled: bool
    """Every match is in its final state."""
    finished: bool
    """Settled, and enough polls have seen it."""

    def to_json(self) -> dict[str, Any]:
        return {
            "now": self.now.isoformat(),
            "offset_seconds": round(self.offset_seconds, 3),
            "polls": self.polls,
            "settled": self.settled,
            "finished": self.finished,
        }


class Playback(Protocol):
    """What is served: a scripted matchday or a recording."""

    @property
    def truth(self) -> ExpectedOutcome: ...

    def state(self) -> PlaybackState: ...


def control_routes(playback: Playback) -> list[Route]:
    """Routes outside the vendors' paths; requests to them are not polls."""

    async def state(request: Request) -> JSONResponse:
        return JSONResponse(playback.state().to_json())

    async def truth(request: Request) -> JSONResponse:
        return JSONResponse(playback.truth.to_json())

    return [Route("/simulator/state", state), Route("/simulator/truth", truth)]
