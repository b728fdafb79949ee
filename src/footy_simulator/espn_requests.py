"""Which requests ESPN accepts, and which days they ask for, as of late 2026.

- A User-Agent without `name/version (+url)` gets 403 [ChuckBuilds/LEDMatrix#436, gtonic/nfl_mcp#135].
- A range of days gets 400 "Failed to get events endpoint" [Pharaoh-Labs/teamarr#873, pseudo-r/Public-ESPN-API#23].
- A `limit` above 500 silently returns 25 events [teamarr#630].
- Days are US-Eastern [teamarr#808]; a single soccer day reaches no further than tomorrow, a month does
  [vasqued2/ha-teamtracker#379].
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from starlette.requests import Request
from starlette.responses import JSONResponse

from footy_simulator.scenario import EspnService

EASTERN = ZoneInfo("America/New_York")
CLIENT = re.compile(r"[\w.-]+/\d[\w.+-]* \(\+https?://[^\s)]+\)", re.ASCII)
MAX_EVENTS, FEW_EVENTS = 500, 25


def eastern_day(moment: datetime) -> date:
    return moment.astimezone(EASTERN).date()


def refused(status: int, message: str) -> JSONResponse:
    return JSONResponse({"code": status, "message": message}, status_code=status)


@dataclass(frozen=True, slots=True)
class ScoreboardRequest:
    """First and last day that a request asks for; none if it names none."""

    first: date | None = None
    last: date | None = None

    @property
    def is_day(self) -> bool:
        return self.first is not None and self.first == self.last

    def has(self, moment: datetime) -> bool:
        return self.first is None or self.last is None or self.first <= eastern_day(moment) <= self.last


def wanted_days(request: Request, service: EspnService) -> ScoreboardRequest | JSONResponse:
    """The parsed request, or the refusal."""
    if service.refuses == "client" or not CLIENT.fullmatch(request.headers.get("user-agent", "")):
        return refused(403, "Forbidden")
    dates = request.query_params.get("dates", "")
    found = _days(dates)
    if found is None or (service.refuses == "query" and dates):
        return refused(400, "Failed to get events endpoint.")
    return found


def limited(events: list[dict[str, Any]], request: Request) -> list[dict[str, Any]]:
    text = request.query_params.get("limit", "100")
    limit = int(text) if text.isdecimal() and len(text) < 8 else 100
    return events[: limit if limit <= MAX_EVENTS else FEW_EVENTS]


def beyond_tomorrow(wanted: ScoreboardRequest, now: datetime) -> bool:
    return wanted.is_day and wanted.first is not None and wanted.first > eastern_day(now) + timedelta(days=1)


def _days(text: str) -> ScoreboardRequest | None:
    if not text:
        return ScoreboardRequest()
    if not re.fullmatch(r"\d{6}(\d{2})?", text, re.ASCII):
        return None
    try:
        year, month = int(text[:4]), int(text[4:6])
        if len(text) == 6:
            return ScoreboardRequest(date(year, month, 1), date(year, month, monthrange(year, month)[1]))
        day = date(year, month, int(text[6:]))
    except ValueError:
        return None
    return ScoreboardRequest(day, day)
