"""`/operations/match/{id}`: for each field of a match which feed said it, when, and what the others said."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.domain.operations.findings import spoken
from found_footy.web.answers.preferences import preferences
from found_footy.web.answers.rendering import render
from found_footy.web.api.fixture_feeds import MatchFeeds, feeds
from found_footy.web.api.parameters import FixtureId
from found_footy.web.operating.said import said_words
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False)

HEADERS = {"Cache-Control": "no-store"}
FIELDS = ("status", "score", "clock", "minute", "innings", "events", "goals", "kickoff", "toss", "venue", "last_event")
"""These first, in this order; then all others by name."""


@router.get("/operations/match/{fixture_id}")
async def page(request: Request, services: Given, fixture_id: FixtureId) -> HTMLResponse:
    return render(request, "match_words.html", await _values(request, services, fixture_id), headers=HEADERS)


@router.get("/operations/match/{fixture_id}/fragment")
async def fragment(request: Request, services: Given, fixture_id: FixtureId) -> HTMLResponse:
    values = await _values(request, services, fixture_id)
    return render(request, "parts/match_words.html", values, headers=HEADERS)


async def _values(request: Request, services: Services, fixture_id: int) -> dict[str, Any]:
    hidden = preferences(request).hides(fixture_id)
    told = await feeds(services, fixture_id)
    match = await services.scores.words.words(fixture_id)
    now = services.now()
    return {
        "match": match,
        "told": told,
        "fields": [] if hidden else _ordered(told),
        "hidden": hidden,
        "said": lambda value: "hidden" if hidden else said_words(value),
        "age": lambda at: spoken(now - at),
    }


def _ordered(told: MatchFeeds) -> list[tuple[str, Any]]:
    known = {name: place for place, name in enumerate(FIELDS)}
    return sorted(told.fields.items(), key=lambda item: (known.get(item[0], len(FIELDS)), item[0]))
