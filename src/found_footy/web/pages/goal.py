"""`/g/{event}`: the page of a goal, for good. Its parts are drawn anew for whoever heard news of it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any, Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from found_footy.domain.errors import NotFound
from found_footy.domain.videos.readings import Proof
from found_footy.web.access.visitors import NOBODY, visitor
from found_footy.web.answers.etags import response_of
from found_footy.web.answers.preferences import preferences
from found_footy.web.answers.rendering import render
from found_footy.web.goal.aligned_clips import AlignedClips
from found_footy.web.goal.alignment import ClipFacts
from found_footy.web.goal.sharing import goal_tags, goal_title, hidden_tags, match_title
from found_footy.web.goal.view import GoalPage, goal_page
from found_footy.web.services import Given, Services

router = APIRouter(include_in_schema=False)

PRIVATE = {"Cache-Control": "private, no-cache", "Vary": "Cookie"}
"""What a page shows depends on what its reader chose to hide."""

GONE = b" data-withdrawn>"
"""By which a page of a withdrawn goal is known; nobody's text can hold it, because its last sign is escaped."""

Part = Literal["all", "head", "player", "copies", "proofs", "more"]


@router.get("/g/{event_id}")
@router.head("/g/{event_id}")
async def goal(request: Request, services: Given, event_id: str) -> Response:
    """Drawn once for everybody who is nobody in particular, until something changes."""
    if visitor(request) != NOBODY or request.url.query:
        return await _page(request, services, event_id)
    chose, base = preferences(request), base_url(request, services)
    name = ("goal", event_id, base, chose.theme, chose.hide_scores, chose.hides(match_of(event_id)))
    return await _kept(request, services, name, lambda: _page(request, services, event_id))


@router.get("/g/{event_id}/fragment")
async def fragment(request: Request, services: Given, event_id: str, part: Part = "all") -> Response:
    """A part of the page, or the notice of a withdrawal in its place; nothing for whoever hides scores."""
    if preferences(request).hides(match_of(event_id)):
        return Response(status_code=204, headers=PRIVATE)
    name = ("fragment", event_id, part)
    return await _kept(request, services, name, lambda: _part(request, services, event_id, part))


async def _page(request: Request, services: Services, event_id: str) -> HTMLResponse:
    # Before the goal is read: whatever happens afterwards is told as news.
    after = services.live.position
    page = await read_goal(request, services, event_id)
    hidden, base = preferences(request).hides(page.fixture_id), base_url(request, services)
    values: dict[str, Any] = {
        "goal": page,
        "hidden": hidden,
        "after": "" if after is None else after,
        "stale": services.rules.stale_seconds,
        "canonical": f"{base}/g/{page.id}",
        "title": match_title(page) if hidden else goal_title(page),
        "tags": hidden_tags(page, base) if hidden else goal_tags(page, base),
    }
    gone = page.withdrawn_at is not None and not hidden
    return render(request, "goal.html", values, 410 if gone else 200, PRIVATE)


async def _part(request: Request, services: Services, event_id: str, part: Part) -> HTMLResponse:
    page = await read_goal(request, services, event_id)
    if page.withdrawn_at is not None:
        return render(request, "goal/withdrawn.html", {"goal": page}, 410, PRIVATE)
    template = "goal/parts.html" if part == "all" else f"goal/{part}.html"
    return render(request, template, {"goal": page}, 200, PRIVATE)


async def _kept(
    request: Request, services: Services, name: Hashable, draw: Callable[[], Awaitable[HTMLResponse]]
) -> Response:
    async def made() -> bytes:
        return bytes((await draw()).body)

    known = await services.kept.answer(name, services.kept.after_version(made))
    if GONE in known.body:
        return HTMLResponse(known.body, 410, PRIVATE)
    response = await response_of(request, known, is_private=True, media_type="text/html")
    response.headers["Vary"] = "Accept-Encoding, Cookie"
    return response


async def read_goal(request: Request, services: Services, event_id: str) -> GoalPage:
    """Raises NotFound, and LinkEnded for a goal whose match is past retention."""
    match_of(event_id)
    try:
        event = await services.goals.event(event_id)
    except NotFound:
        await services.links.require_not_ended(f"g/{event_id}")
        raise NotFound(f"there is no goal {event_id}") from None
    aligned = await _clips(request, services).aligned(event_id, _facts(event))
    return goal_page(event, aligned, services.rules)


def match_of(event_id: str) -> int:
    """The number of its match, with which every id of a goal begins. Raises NotFound."""
    found = re.fullmatch(r"([0-9]{1,18})_[A-Za-z0-9_.-]{1,180}", event_id)
    if found is None:
        raise NotFound("there is no such goal")
    return int(found[1])


def base_url(request: Request, services: Services) -> str:
    """Our address as others reach it, without a slash at its end."""
    return str(services.rules.public_url or request.base_url).rstrip("/")


def _facts(event: Mapping[str, Any]) -> list[ClipFacts]:
    """The clips by rank; their fingerprints are fetched only where nobody has asked before."""
    proofs = event["_proofs"]
    return [
        ClipFacts(video["md5"], None, Proof.from_json(proofs[video["md5"]]).readings if video["md5"] in proofs else ())
        for video in event["_s3_videos"]
    ]


def _clips(request: Request, services: Services) -> AlignedClips:
    """One for each application."""
    state = request.app.state
    if not hasattr(state, "aligned_clips"):
        state.aligned_clips = AlignedClips(services.links)
    clips: AlignedClips = state.aligned_clips
    return clips
