"""`/feeds`: Atom feeds (RFC 4287) of the newest goals with clips: all, of a team, or of a competition."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Annotated, Literal
from urllib.parse import quote
from xml.etree import ElementTree as ET

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from found_footy.notifications.models import MAX_BIGINT, AtomGoal
from found_footy.web.errors import Responses, error_responses
from found_footy.web.rendering import plural, text
from found_footy.web.response_cache import etag_matches
from found_footy.web.services import ServicesDep, WebServices

router = APIRouter(prefix="/feeds", tags=["feeds"])

ENTRIES = 50
MEDIA_TYPE = "application/atom+xml"

RESPONSES: Responses = {
    200: {
        "description": "The newest goals that have clips, and those of them that were withdrawn.",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
    },
    **error_responses(),
}
UNKNOWN: Responses = {**RESPONSES, **error_responses(404)}

TeamId = Annotated[int, Path(ge=0, le=MAX_BIGINT, description="Team id.")]
LeagueId = Annotated[int, Path(ge=0, le=MAX_BIGINT, description="Competition id.")]
Scores = Annotated[Literal["yes", "no"], Query(description="`no` omits scores, scorers and pictures.")]


@router.get("/all.atom", response_class=Response, responses=RESPONSES, summary="The newest goals with clips")
async def all_goals(request: Request, services: ServicesDep, scores: Scores = "yes") -> Response:
    goals = await services.notifications.atom_goals(None, None, ENTRIES)
    return _feed_response(request, services, AtomFeed(_path(request, scores), "Goals", goals, scores == "yes"))


@router.get("/team/{team_id}.atom", response_class=Response, responses=UNKNOWN, summary="Goals in a team's matches")
async def of_team(request: Request, services: ServicesDep, team_id: TeamId, scores: Scores = "yes") -> Response:
    """For it and against it."""
    name = await services.notifications.atom_name("team", team_id)
    goals = await services.notifications.atom_goals("team", team_id, ENTRIES)
    title = f"Goals in matches of {text(name, 80)}"
    return _feed_response(request, services, AtomFeed(_path(request, scores), title, goals, scores == "yes"))


@router.get(
    "/competition/{league_id}.atom", response_class=Response, responses=UNKNOWN, summary="Goals in a competition"
)
async def of_competition(
    request: Request, services: ServicesDep, league_id: LeagueId, scores: Scores = "yes"
) -> Response:
    name = await services.notifications.atom_name("competition", league_id)
    goals = await services.notifications.atom_goals("competition", league_id, ENTRIES)
    title = f"Goals in {text(name, 80)}"
    return _feed_response(request, services, AtomFeed(_path(request, scores), title, goals, scores == "yes"))


def _path(request: Request, scores: str) -> str:
    return request.url.path + ("?scores=no" if scores == "no" else "")


def _feed_response(request: Request, services: WebServices, feed: AtomFeed) -> Response:
    base = (services.rules.public_url or str(request.base_url)).rstrip("/")
    content = render_atom(feed, base)
    headers = {
        "ETag": f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"',
        "Last-Modified": format_datetime(feed.updated.replace(microsecond=0), usegmt=True),
        "Cache-Control": "private, max-age=60",
    }
    if _is_current(request, headers["ETag"], feed.updated):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=MEDIA_TYPE)


def _is_current(request: Request, tag: str, updated: datetime) -> bool:
    """Whether the client's copy is current. ETag takes precedence over a date."""
    tags, since = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
    if tags is not None or since is None:
        return etag_matches(tag, tags)
    try:
        seen = parsedate_to_datetime(since)
    except ValueError:
        return False
    return updated.replace(microsecond=0) <= (seen if seen.tzinfo else seen.replace(tzinfo=UTC))


# --- XML.


NAMESPACE = "http://www.w3.org/2005/Atom"
AUTHOR = "Found Footy"
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
MAX_NAME_LENGTH = 60

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class AtomFeed:
    path: str
    """Path of the feed, with its query."""
    title: str
    goals: Sequence[AtomGoal]
    scores: bool = True

    @property
    def updated(self) -> datetime:
        return max((goal.updated for goal in self.goals), default=NEVER)


def render_atom(feed: AtomFeed, base: str) -> bytes:
    """Serialize a feed. `base` is the public URL without a trailing slash."""
    root = ET.Element("feed", {"xmlns": NAMESPACE})
    _add(root, "id", f"tag:found-footy,2026:{feed.path}")
    _add(root, "title", feed.title)
    _add(root, "updated", _moment(feed.updated))
    _add(root, "link", rel="self", type=MEDIA_TYPE, href=base + feed.path)
    _add(root, "link", rel="alternate", type="text/html", href=f"{base}/")
    _add(root, "icon", f"{base}/static/icon.svg")
    _add(ET.SubElement(root, "author"), "name", AUTHOR)
    for goal in feed.goals:
        _entry(ET.SubElement(root, "entry"), goal, base, feed.scores)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content


def _entry(entry: ET.Element, goal: AtomGoal, base: str, scores: bool) -> None:
    name = quote(goal.id)
    # Stable, independent of our URL and of corrections to the scorer.
    _add(entry, "id", f"tag:found-footy,2026:goal/{name}")
    _add(entry, "title", title(goal, scores))
    _add(entry, "published", _moment(goal.published))
    _add(entry, "updated", _moment(goal.updated))
    _add(entry, "link", rel="alternate", type="text/html", href=f"{base}/g/{name}")
    _add(entry, "category", term=_name(goal.league))
    _add(entry, "summary", summary(goal))
    if goal.withdrawn is None:
        video = f"{base}/v/{goal.best.id}"
        _add(entry, "link", rel="enclosure", type="video/mp4", href=video, length=str(goal.best.file_size))
        if scores:  # a poster shows the score
            _add(entry, "link", rel="enclosure", type="image/jpeg", href=f"{video}/poster.jpg")


def title(goal: AtomGoal, scores: bool) -> str:
    home, away = _name(goal.home), _name(goal.away)
    if not scores:
        what = f"a {noun(goal)} was withdrawn" if goal.withdrawn is not None else f"a {noun(goal)}"
        return f"{home} – {away}: {what}, {goal.minute}"
    what = "Withdrawn: " if goal.withdrawn is not None else ""
    scorer = _name(goal.player or goal.team)
    if goal.minute.innings is not None:
        return f"{what}{home} – {away}: {_name(goal.player or 'unknown batter')} is out, {goal.minute}"
    return f"{what}{home} {goal.after.home}–{goal.after.away} {away}: {scorer} {goal.minute}"


def summary(goal: AtomGoal) -> str:
    if goal.withdrawn is not None:
        return f"The {noun(goal)} was withdrawn: {text(goal.withdrawn)}. Its clips were withdrawn, too."
    proved = f", {goal.verified} verified by the match clock" if goal.verified else ""
    return f"{plural(goal.clips, 'clip')}{proved}. {_name(goal.league)}."


def noun(goal: AtomGoal) -> str:
    return "goal" if goal.minute.innings is None else "wicket"


def _name(value: str) -> str:
    return text(value, MAX_NAME_LENGTH)


def _add(parent: ET.Element, name: str, content: str | None = None, /, **attributes: str) -> None:
    element = ET.SubElement(parent, name, {key: _NOT_IN_XML.sub("", value) for key, value in attributes.items()})
    if content is not None:
        element.text = _NOT_IN_XML.sub("", content)


def _moment(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
