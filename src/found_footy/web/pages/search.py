"""The search page: a form that works by itself, and its results alone for whoever types."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.web.access.visitors import reads
from found_footy.web.answers.paging import page
from found_footy.web.answers.preferences import preferences
from found_footy.web.answers.rendering import render
from found_footy.web.api.search import ORDERS
from found_footy.web.search.form import SearchForm, search_form
from found_footy.web.search.view import found
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False, dependencies=[Depends(reads)])

A_PAGE = 20
PRIVATE = {"Cache-Control": "private, no-cache", "Vary": "Cookie"}
NOUNS = {"goals": ("goal", "goals"), "fixtures": ("match", "matches"), "clips": ("clip", "clips")}


@router.get("/search")
async def search(request: Request, services: Given) -> HTMLResponse:
    form = search_form(request.query_params)
    return render(request, "search.html", await _results(request, services, form), headers=PRIVATE)


@router.get("/search/results")
async def results(request: Request, services: Given) -> HTMLResponse:
    form = search_form(request.query_params)
    return render(request, "parts/found.html", await _results(request, services, form), headers=PRIVATE)


async def _results(request: Request, services: Services, form: SearchForm) -> dict[str, Any]:
    kind, cursor = form.wishes.kind, request.query_params.get("cursor") or None
    text = await page(services, ORDERS[kind], form.wishes.wanted, cursor, A_PAGE)
    answer = json.loads(text)
    shown = found(kind, answer["items"], preferences(request).hides)
    return {
        "form": form,
        "kind": kind,
        "found": shown,
        "count": counted(
            form,
            len(answer["items"]),
            more=answer["next"] is not None,
            later=cursor is not None,
            hidden=any(each.is_hidden for each in shown),
        ),
        "next": form.address(cursor=answer["next"]) if answer["next"] else None,
        "back": form.address(**({"cursor": cursor} if cursor else {})),
        "others": [(each, NOUNS[each][1]) for each in ORDERS if each != kind],
    }


def nouns(form: SearchForm) -> tuple[str, str]:
    if form.wishes.kind == "goals" and form.wishes.sport == "cricket":
        return "wicket", "wickets"
    return NOUNS[form.wishes.kind]


def counted(form: SearchForm, number: int, *, more: bool, later: bool, hidden: bool) -> str:
    """For people's ears, too. How many goals were found tells of a hidden match how it went."""
    one, many = nouns(form)
    if hidden and form.wishes.kind != "fixtures":
        return "Found, with scores hidden"
    if later:
        return f"{number} more {one if number == 1 else many}"
    if form.is_empty:
        return f"The latest {many}"
    if not number:
        return f"No {many} found"
    return f"More than {number} {many}" if more else f"{number} {one if number == 1 else many}"
