"""The library's pages: all sources with how far they are, one source with its clips, one clip with its copies."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Path
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from found_footy.domain.clips.submitting import FACTS, LONGEST_FACT, LONGEST_TITLE, LONGEST_URL
from found_footy.domain.errors import BadRequest
from found_footy.web.access.visitors import Role, Visitor, allow, reads, visitor
from found_footy.web.answers.forms import form_of
from found_footy.web.answers.preferences import preferences
from found_footy.web.answers.rendering import render
from found_footy.web.api.parameters import BIGINT
from found_footy.web.library.acting import act_on_clip, act_on_source, can_do
from found_footy.web.library.clip_view import clip_row
from found_footy.web.library.form import Filters, filters_of
from found_footy.web.library.listing import listed_page
from found_footy.web.library.source_view import source_row, tile_rows
from found_footy.web.library.submitting import submit_url
from found_footy.web.library.words import counted
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False, dependencies=[Depends(reads)])

A_PAGE = 24
MANY_TILES = 200
PRIVATE = {"Cache-Control": "private, no-cache", "Vary": "Cookie"}
DONE = {
    "retry": "It is tried again with the library's next look for work.",
    "archive": "The clip is archived. Its files are deleted when the time for undo is over.",
    "undo": "It is as it was.",
    "remove": "All its clips are archived. Their files and the film are deleted when the time for undo is over.",
    "deleted": "The source is removed.",
    "same": "Noted: both show the same moment.",
    "different": "Noted: these are two moments.",
    "withdraw": "What was said of the two is withdrawn: their pictures count again.",
    "submitted": "The source is in. It is downloaded and cut into scenes by itself.",
}

Number = Annotated[int, Path(ge=1, le=BIGINT)]
Editor = Annotated[Visitor, Depends(allow(Role.EDITOR))]


@router.get("/library")
async def library(request: Request, services: Given) -> Response:
    return await _library(request, services)


@router.get("/library/fragment")
async def fragment(request: Request, services: Given) -> Response:
    """What the page replaces itself with when something has changed."""
    values = await _sources(request, services, filters_of(request.query_params))
    return render(request, "library_list.html", values, headers=PRIVATE)


@router.post("/library")
async def submit(request: Request, services: Given, who: Editor) -> Response:
    form = await form_of(request)
    facts = {name: form.get(name) for name in FACTS}
    try:
        made = await submit_url(services, form.get("url", ""), form.get("title"), facts, who.name)
    except BadRequest as error:
        return await _library(request, services, form=form, problem=str(error), status=400)
    return RedirectResponse(f"/library/sources/{made}?done=submitted", 303)


@router.get("/library/sources/{source_id}")
async def source(request: Request, services: Given, source_id: Number, done: str = "", action: str = "") -> Response:
    values = await _source(request, services, source_id)
    said = {"said": DONE.get(done, ""), "undo": action if done == "remove" and _is_number(action) else ""}
    return await _drawn(request, "library_source.html", {**values, **said})


@router.get("/library/sources/{source_id}/fragment")
async def source_fragment(request: Request, services: Given, source_id: Number) -> Response:
    return await _drawn(request, "library_source_part.html", await _source(request, services, source_id))


@router.post("/library/sources/{source_id}")
async def change_source(request: Request, services: Given, source_id: Number, who: Editor) -> Response:
    return RedirectResponse(await act_on_source(services, who, source_id, await form_of(request)), 303)


@router.get("/library/clips/{clip_id}")
async def clip(request: Request, services: Given, clip_id: Number, done: str = "", action: str = "") -> Response:
    values = await _clip(request, services, clip_id)
    undo = action if done == "archive" and _is_number(action) else ""
    said = {"said": DONE.get(done, ""), "undo": undo}
    return render(request, "library_clip.html", {**values, **said}, headers=PRIVATE)


@router.get("/library/clips/{clip_id}/fragment")
async def clip_fragment(request: Request, services: Given, clip_id: Number) -> Response:
    return render(request, "library_clip_part.html", await _clip(request, services, clip_id), headers=PRIVATE)


@router.post("/library/clips/{clip_id}")
async def act(request: Request, services: Given, clip_id: Number, who: Editor) -> Response:
    said = await act_on_clip(services, who, clip_id, await form_of(request))
    return RedirectResponse(f"/library/clips/{clip_id}?{said}", 303)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 20


# --- what the templates are given


async def _library(
    request: Request, services: Services, *, form: dict[str, str] | None = None, problem: str = "", status: int = 200
) -> HTMLResponse:
    filters = filters_of(request.query_params)
    values = {
        **await _sources(request, services, filters),
        "form": {**dict.fromkeys(("url", "title", *FACTS), ""), **(form or {})},
        "problem": problem,
        "said": DONE["deleted"] if request.query_params.get("done") == "deleted" else "",
        "longest": {"url": LONGEST_URL, "title": LONGEST_TITLE, "fact": LONGEST_FACT},
        "most_mb": services.rules.source_mb,
    }
    return render(request, "library.html", values, status, PRIVATE)


async def _sources(request: Request, services: Services, filters: Filters) -> dict[str, Any]:
    position = services.live.position  # before anything is read: what comes later is told
    reading, cursor = services.library.reading, request.query_params.get("cursor") or None
    answer = json.loads(await listed_page(reading, "sources", filters.wanted, cursor, A_PAGE))
    totals = json.loads(await reading.totals())
    return {
        **_frame(request, position),
        "filters": filters,
        "sources": [source_row(each, preferences(request).hides) for each in answer["items"]],
        "clips": counted(totals["clips"]),
        "number": sum(totals["sources"].values()),
        "next": filters.address(cursor=answer["next"]) if answer["next"] else None,
        "fragment": "/library/fragment" + (f"?{request.url.query}" if request.url.query else ""),
        "cursor": cursor,
    }


async def _source(request: Request, services: Services, source_id: int) -> dict[str, Any]:
    position = services.live.position
    document = json.loads(await services.library.reading.source(source_id))
    row = source_row(document, preferences(request).hides)
    link = row.url
    if row.url is not None and visitor(request).may(Role.EDITOR):
        # Whole: its query may be what makes it work, and who handed it in knows it anyway.
        link = (await services.library.store.source(source_id)).url
    return {
        **_frame(request, position),
        "source": row,
        "link": link,
        "tiles": tile_rows(document),
        "all": document["tile_count"],
    }


async def _drawn(request: Request, template: str, values: dict[str, Any]) -> Response:
    """A film of hours has thousands of tiles: to draw them all must keep nobody else waiting."""
    if len(values["tiles"]) <= MANY_TILES:
        return render(request, template, values, headers=PRIVATE)
    return await asyncio.to_thread(render, request, template, values, headers=PRIVATE)


async def _clip(request: Request, services: Services, clip_id: int) -> dict[str, Any]:
    position = services.live.position
    document = json.loads(await services.library.reading.clip(clip_id))
    row = clip_row(document, preferences(request).hides, can_do(document, visitor(request)))
    return {**_frame(request, position), "clip": row}


def _frame(request: Request, position: int | None) -> dict[str, Any]:
    after = {"after": position} if position is not None else {}
    may = visitor(request).may(Role.EDITOR)
    return {"news": urlencode({"topic": "library.*", **after}), "edits": may, "csrf": visitor(request).csrf}
