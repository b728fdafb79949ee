"""Library pages: actions on sources and clips, filters, and routes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Path
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from found_footy.access.models import Role
from found_footy.errors import BadRequest
from found_footy.library.review import EDITABLE, ActionKind
from found_footy.library.stages import FAILED
from found_footy.library.submissions import FACTS, MAX_FACT_LENGTH, MAX_TITLE_LENGTH, MAX_URL_LENGTH
from found_footy.library.views import ClipSummary, SourceFilter
from found_footy.text import clean_text
from found_footy.web.api.parameters import MAX_BIGINT
from found_footy.web.pages.library_views import (
    KIND_NAMES,
    SOURCE_GROUPS,
    library_clip_view,
    source_view,
    state_counts,
    tile_views,
)
from found_footy.web.pagination import sources_page
from found_footy.web.rendering import PRIVATE, preferences, render
from found_footy.web.requests import read_form
from found_footy.web.services import ServicesDep, WebServices
from found_footy.web.uploads import submit_url
from found_footy.web.users import User, current_user, library_reviewer, require_role

MAX_ID = 2**63 - 1


def allowed_actions(clip: ClipSummary, user: User) -> frozenset[str]:
    if not user.may(Role.EDITOR):
        return frozenset()
    allowed = {"compare"}
    if clip.state in FAILED:
        allowed.add("retry")
    if clip.live and clip.state in EDITABLE:
        allowed |= {"archive", "review"}
    return frozenset(allowed)


async def act_on_source(services: WebServices, user: User, source_id: int, form: Mapping[str, str]) -> str:
    """Run an action; return the path to redirect to. Raises BadRequest, NotFound, EditRefused."""
    path = f"/library/sources/{source_id}"
    match form.get("do", ""):
        case "retry":
            await services.library.store.retry(source_id, None, services.now())
            return f"{path}?done=retry"
        case "remove":
            if form.get("sure") != "yes":
                raise BadRequest("confirm the removal")
            removed = await services.library.review.remove_source(source_id, library_reviewer(services, user))
            return (
                "/library?done=deleted" if removed.deleted else f"{path}?done=remove&action={removed.action_id or ''}"
            )
        case "undo":
            await services.library.review.undo(library_reviewer(services, user), _number(form.get("action", "")))
            return f"{path}?done=undo"
        case _:
            raise BadRequest("unknown action")


async def act_on_clip(services: WebServices, user: User, clip_id: int, form: Mapping[str, str]) -> str:
    """Run an action; return the result as query of the clip's page. Raises BadRequest, NotFound, EditRefused."""
    reviewer = library_reviewer(services, user)
    review = services.library.review
    match action := form.get("do", ""):
        case "retry":
            await services.library.store.retry(None, clip_id, services.now())
        case "archive":
            done = await review.decide(ActionKind.ARCHIVE, [clip_id], reviewer)
            return f"done=archive&action={done.id}"
        case "undo":
            await review.undo(reviewer, _number(form.get("action", "")))
        case "same" | "different":
            await review.set_verdict(clip_id, _number(form.get("other", "")), action == "same", reviewer)
        case "withdraw":
            await review.clear_verdict(clip_id, _number(form.get("other", "")), reviewer)
        case _:
            raise BadRequest("unknown action")
    return f"done={action}"


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:20]) <= MAX_ID:
        raise BadRequest("missing or invalid clip or action number")
    return int(text)


# --- Filters of the library page, validated.


MAX_QUERY_LENGTH = 100


@dataclass(frozen=True, slots=True)
class LibraryFilter:
    state: str = ""
    kind: str = ""
    q: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.state or self.kind or self.q)

    @property
    def query(self) -> SourceFilter:
        return SourceFilter(SOURCE_GROUPS.get(self.state), self.kind or None, q=self.q or None)

    def address(self, **more: str) -> str:
        fields = {"q": self.q, "state": self.state, "kind": self.kind, **more}
        query = urlencode({name: value for name, value in fields.items() if value})
        return f"/library?{query}" if query else "/library"


def library_filter(query: Mapping[str, str]) -> LibraryFilter:
    """Parse the filters; an invalid value does not filter."""
    state, kind = query.get("state", ""), query.get("kind", "")
    return LibraryFilter(
        state if state in SOURCE_GROUPS else "",
        kind if kind in KIND_NAMES else "",
        clean_text(query.get("q", ""), MAX_QUERY_LENGTH),
    )


# --- Pages: list of sources, one source with its clips, one clip with its copies.


router = APIRouter(include_in_schema=False)

PAGE_SIZE = 24
THREAD_RENDER_TILES = 200
DONE = {
    "retry": "Retry scheduled.",
    "archive": "Clip archived. Its files are deleted when the undo period ends.",
    "undo": "Undone.",
    "remove": "All clips archived. Their files and the video are deleted when the undo period ends.",
    "deleted": "Source removed.",
    "same": "Marked as duplicates.",
    "different": "Marked as different.",
    "withdraw": "Verdict removed; fingerprints decide again.",
    "submitted": "Source added. It is downloaded and split into scenes automatically.",
}

Number = Annotated[int, Path(ge=1, le=MAX_BIGINT)]
Editor = Annotated[User, Depends(require_role(Role.EDITOR))]


@router.get("/library")
async def library(request: Request, services: ServicesDep) -> Response:
    return await _library(request, services)


@router.get("/library/fragment")
async def fragment(request: Request, services: ServicesDep) -> Response:
    """Content that replaces the list after a change."""
    values = await _sources(request, services, library_filter(request.query_params))
    return render(request, "library_list.html", values, headers=PRIVATE)


@router.post("/library")
async def submit(request: Request, services: ServicesDep, user: Editor) -> Response:
    form = await read_form(request)
    facts = {name: form.get(name) for name in FACTS}
    try:
        created = await submit_url(services, form.get("url", ""), form.get("title"), facts, user.name)
    except BadRequest as error:
        return await _library(request, services, form=form, problem=str(error), status=400)
    return RedirectResponse(f"/library/sources/{created}?done=submitted", 303)


@router.get("/library/sources/{source_id}")
async def source(
    request: Request, services: ServicesDep, source_id: Number, done: str = "", action: str = ""
) -> Response:
    values = await _source(request, services, source_id)
    message = {"message": DONE.get(done, ""), "undo": action if done == "remove" and _is_number(action) else ""}
    return await _render(request, "library_source.html", {**values, **message})


@router.get("/library/sources/{source_id}/fragment")
async def source_fragment(request: Request, services: ServicesDep, source_id: Number) -> Response:
    return await _render(request, "library_source_part.html", await _source(request, services, source_id))


@router.post("/library/sources/{source_id}")
async def change_source(request: Request, services: ServicesDep, source_id: Number, user: Editor) -> Response:
    return RedirectResponse(await act_on_source(services, user, source_id, await read_form(request)), 303)


@router.get("/library/clips/{clip_id}")
async def clip(request: Request, services: ServicesDep, clip_id: Number, done: str = "", action: str = "") -> Response:
    values = await _clip(request, services, clip_id)
    undo = action if done == "archive" and _is_number(action) else ""
    message = {"message": DONE.get(done, ""), "undo": undo}
    return render(request, "library_clip.html", {**values, **message}, headers=PRIVATE)


@router.get("/library/clips/{clip_id}/fragment")
async def clip_fragment(request: Request, services: ServicesDep, clip_id: Number) -> Response:
    return render(request, "library_clip_part.html", await _clip(request, services, clip_id), headers=PRIVATE)


@router.post("/library/clips/{clip_id}")
async def act(request: Request, services: ServicesDep, clip_id: Number, user: Editor) -> Response:
    query = await act_on_clip(services, user, clip_id, await read_form(request))
    return RedirectResponse(f"/library/clips/{clip_id}?{query}", 303)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 20


# --- Template values.


async def _library(
    request: Request, services: WebServices, *, form: dict[str, str] | None = None, problem: str = "", status: int = 200
) -> HTMLResponse:
    filters = library_filter(request.query_params)
    values = {
        **await _sources(request, services, filters),
        "form": {**dict.fromkeys(("url", "title", *FACTS), ""), **(form or {})},
        "problem": problem,
        "message": DONE["deleted"] if request.query_params.get("done") == "deleted" else "",
        "max_lengths": {"url": MAX_URL_LENGTH, "title": MAX_TITLE_LENGTH, "fact": MAX_FACT_LENGTH},
        "max_mb": services.rules.source_mb,
    }
    return render(request, "library.html", values, status, PRIVATE)


async def _sources(request: Request, services: WebServices, filters: LibraryFilter) -> dict[str, Any]:
    position = services.live.position  # read first, so that later changes arrive as live updates
    views, cursor = services.library.views, request.query_params.get("cursor") or None
    page = await sources_page(views, filters.query, cursor, PAGE_SIZE)
    totals = await views.totals()
    return {
        **_frame(request, position),
        "filters": filters,
        "sources": [source_view(each, preferences(request).hides) for each in page.items],
        "clips": state_counts(totals.clips),
        "number": sum(totals.sources.values()),
        "next": filters.address(cursor=page.next) if page.next else None,
        "fragment": "/library/fragment" + (f"?{request.url.query}" if request.url.query else ""),
        "cursor": cursor,
    }


async def _source(request: Request, services: WebServices, source_id: int) -> dict[str, Any]:
    position = services.live.position
    found = await services.library.views.source(source_id)
    row = source_view(found, preferences(request).hides)
    link = row.url
    if row.url is not None and current_user(request).may(Role.EDITOR):
        # The complete URL: it may need its query, and editors can submit URLs anyway.
        link = (await services.library.store.source(source_id)).url
    return {
        **_frame(request, position),
        "source": row,
        "link": link,
        "tiles": tile_views(found),
        "tile_count": found.tile_count,
    }


async def _render(request: Request, template: str, values: dict[str, Any]) -> Response:
    """Render; a source with many tiles in a thread, so that it does not block other requests."""
    if len(values["tiles"]) <= THREAD_RENDER_TILES:
        return render(request, template, values, headers=PRIVATE)
    return await asyncio.to_thread(render, request, template, values, headers=PRIVATE)


async def _clip(request: Request, services: WebServices, clip_id: int) -> dict[str, Any]:
    position = services.live.position
    found = await services.library.views.clip(clip_id)
    row = library_clip_view(found, preferences(request).hides, allowed_actions(found, current_user(request)))
    return {**_frame(request, position), "clip": row}


def _frame(request: Request, position: int | None) -> dict[str, Any]:
    after = {"after": position} if position is not None else {}
    may_edit = current_user(request).may(Role.EDITOR)
    return {"stream": urlencode({"topic": "library.*", **after}), "edits": may_edit, "csrf": current_user(request).csrf}
