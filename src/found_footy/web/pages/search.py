"""The search page: a form that works by itself, and its results alone for whoever types."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.domain.clips.searching import Found
from found_footy.domain.errors import EmbeddingError, FootyError, NotFound
from found_footy.web.access.visitors import reads
from found_footy.web.answers.paging import page
from found_footy.web.answers.preferences import preferences
from found_footy.web.answers.rendering import render
from found_footy.web.api.search import ORDERS
from found_footy.web.search.asking import pictures_of
from found_footy.web.search.finding import search_services
from found_footy.web.search.form import LIBRARY, LibraryWishes, SearchForm, search_form
from found_footy.web.search.moments_view import shown_moments
from found_footy.web.search.view import found
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False, dependencies=[Depends(reads)])
picture_router = APIRouter(include_in_schema=False, dependencies=[Depends(reads)])

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


@picture_router.post("/search/picture")
async def by_picture(request: Request, services: Given) -> HTMLResponse:
    """The results alone: the picture comes from a page that is open, and is not kept."""
    form = search_form({**request.query_params, "kind": LIBRARY, "like": ""})
    assert form.library is not None
    given = search_services(services)
    bgr = await pictures_of(request).read(request, given.pictures)
    answer: Found | None
    try:
        answer = await given.clips.like_picture(bgr, form.library.wanted)
    except EmbeddingError as error:
        form, answer = _troubled(form, error), None
    values = _moments(request, form, answer, 0, "like this picture")
    return render(request, "parts/found.html", {**values, "next": None}, headers=PRIVATE)


async def _results(request: Request, services: Services, form: SearchForm) -> dict[str, Any]:
    if form.library is not None:
        return await _library(request, services, form, form.library)
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


async def _library(request: Request, services: Services, form: SearchForm, wishes: LibraryWishes) -> dict[str, Any]:
    """What stands in the way of an answer is told on the page: it is not the same as nothing found."""
    skipped = request.query_params.get("skip", "")
    skip = int(skipped) if skipped.isascii() and skipped.isdecimal() and len(skipped) < 5 else 0
    words = "" if wishes.like is None else f"like clip {wishes.like}"
    answer: Found | None
    try:
        clips = search_services(services).clips
        asking = clips.by_words(wishes.wanted) if wishes.like is None else clips.like_clip(wishes.like, wishes.wanted)
        answer = await asking
    except (NotFound, EmbeddingError) as error:
        form, answer = _troubled(form, error), None
    if answer is not None and answer.lacking:
        form = replace(form, problems=(*form.problems, f"Not asked: {answer.lacking}"))
    return _moments(request, form, answer, skip, words)


def _moments(request: Request, form: SearchForm, answer: Found | None, skip: int, words: str) -> dict[str, Any]:
    """None is no answer, which the form's problems explain."""
    moments = answer.moments if answer is not None else ()
    here = moments[skip : skip + A_PAGE]
    shown = shown_moments(here, preferences(request).hides)
    later = skip + A_PAGE
    return {
        "form": form,
        "kind": LIBRARY,
        "found": shown,
        "count": told_moments(form, answer, words, len(here) if skip else None),
        "next": form.address(skip=str(later)) if later < len(moments) else None,
        "back": form.address(),
        "others": [(each, NOUNS[each][1]) for each in ORDERS],
    }


def _troubled(form: SearchForm, error: FootyError) -> SearchForm:
    said = str(error)
    return replace(form, problems=(*form.problems, said[:1].upper() + said[1:] + "."))


def told_moments(form: SearchForm, answer: Found | None, words: str, following: int | None = None) -> str:
    """For people's ears, too. `following` is how many a later page shows."""
    if answer is None:
        return "The library gave no answer"
    if following is not None:
        return f"{following} more {'moment' if following == 1 else 'moments'}"
    number = len(answer.moments)
    if not number:
        return f"No clips found {words}".rstrip()
    if form.is_empty and not words:
        return "The latest clips of the library"
    least = "More than " if answer.more else ""
    return f"{least}{number} {'moment' if number == 1 else 'moments'} {words}".rstrip()


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
