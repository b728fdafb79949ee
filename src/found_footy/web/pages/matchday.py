"""The matchday: matches by competition, and the card of a single one for whoever heard news of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from fastapi import APIRouter
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from found_footy.domain.errors import NotFound
from found_footy.web.answers.kept_pages import kept_page
from found_footy.web.answers.preferences import preferences
from found_footy.web.answers.rendering import environment, render
from found_footy.web.matches.order import AROUND, Show, chosen, day_words, groups, nearest, tabs
from found_footy.web.matches.view import MatchView, match_view
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False)

MOST_MATCHES = 400
"""On one page. Whoever follows more sees the first ones, and is told so."""
YEARS = range(1900, 2200)
PRIVATE = {"Cache-Control": "private, no-cache", "Vary": "Cookie"}
"""What a page shows depends on what its reader chose to hide."""


@router.get("/")
async def today(request: Request, services: Given, show: Show = "all") -> Response:
    """Today, or the nearest day that has matches."""
    return await kept_page(request, services, lambda: _today(request, services, show))


@router.get("/day/{day}")
async def one_day(request: Request, services: Given, day: str, show: Show = "all") -> Response:
    return await kept_page(request, services, lambda: _one_day(request, services, day_of(day), show))


async def _today(request: Request, services: Services, show: Show) -> HTMLResponse:
    day = services.now().astimezone(UTC).date()
    around = await services.matchday.days(day, AROUND)
    elsewhere = nearest(day, around["before"], around["after"])
    if around["counts"].get(day) or elsewhere == day:
        return await _page(request, services, day, around, show)
    return await _page(request, services, elsewhere, await services.matchday.days(elsewhere, AROUND), show)


async def _one_day(request: Request, services: Services, day: date, show: Show) -> HTMLResponse:
    return await _page(request, services, day, await services.matchday.days(day, AROUND), show)


@router.get("/fragments/match/{fixture_id}")
async def card(request: Request, services: Given, fixture_id: str) -> HTMLResponse:
    if not re.fullmatch(r"[0-9]{1,18}", fixture_id):
        raise NotFound("a match has a number")
    row = await services.matchday.match(int(fixture_id))
    hidden = preferences(request).hides(row["id"])
    match = match_view(row, hidden=hidden, now=_now(services), rules=services.rules)
    return HTMLResponse(card_html(match), headers=PRIVATE)


@router.get("/fragments/heard/{day}")
async def heard(request: Request, services: Given, day: str) -> Response:
    """When each match under way was last heard of: what `staleness.js` asks for. One query a second for everybody."""
    chosen_day, now = day_of(day), services.now()

    async def made() -> bytes:
        times = await services.matchday.heard(chosen_day, MOST_MATCHES)
        return json.dumps(
            {"now": now.timestamp(), "heard": {match: int(at.timestamp()) for match, at in times.items()}}
        ).encode()

    key = ("heard", chosen_day, int(now.timestamp()))
    known = await services.kept.answer(key, services.kept.after_version(made))
    return Response(known.body, media_type="application/json", headers={"Cache-Control": "no-store"})


@lru_cache(maxsize=2048)
def card_html(match: MatchView) -> Markup:
    """A card says nothing but what its match says, so the same match is never drawn twice."""
    return Markup(environment().get_template("parts/match.html").render(match=match))


def day_of(text: str) -> date:
    """Raises NotFound."""
    try:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) and (day := date.fromisoformat(text)).year in YEARS:
            return day
    except ValueError:
        pass
    raise NotFound(f"there is no day {text[:40]!r}; days are written like 2026-08-22")


def _has_matches(around: Mapping[str, Any]) -> bool:
    return bool(around["before"] or around["after"] or any(around["counts"].values()))


def _now(services: Services) -> datetime:
    return services.now().astimezone(UTC)


async def _page(request: Request, services: Services, day: date, around: dict[str, Any], show: Show) -> HTMLResponse:
    now, chose = _now(services), preferences(request)
    rows = await services.matchday.matches(day, MOST_MATCHES) if around["counts"].get(day) else []
    matches = [match_view(row, hidden=chose.hides(row["id"]), now=now, rules=services.rules) for row in rows]
    values = {
        "day": day,
        "today": now.date(),
        "words": day_words(day, now.date()),
        "around": around,
        "tabs": tabs(day, around["counts"]),
        "show": show,
        "counts": {each: len(chosen(matches, each)) for each in ("all", "live", "clips")},
        "elsewhere": request.url.path == "/" and day != now.date(),
        "left_out": around["counts"].get(day, 0) - len(matches),
        "groups": groups(chosen(matches, show)),
        "veiled": any(match.hidden for match in matches),
        "now": int(now.timestamp()),
        "card": card_html,
        "stale": services.rules.stale_seconds,
        "overview": None if _has_matches(around) else await services.overview(),
    }
    return render(request, "matchday.html", values, headers=PRIVATE)
