"""Follow page: followed competitions and teams, and their cost in feed requests."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from found_footy.access.models import Role
from found_footy.errors import BadRequest, FollowUnknown
from found_footy.fixtures.competitions import COMPETITIONS, PRESET_LABELS, PRESETS, REGIONS, TOP_TEAMS, competition_key
from found_footy.fixtures.follow_list import FollowState
from found_footy.fixtures.following import Following, parse_entry
from found_footy.web.api.follow import follow_names, follow_state, reset_follow, unfollow_names
from found_footy.web.rendering import NO_STORE, render
from found_footy.web.requests import read_form
from found_footy.web.services import ServicesDep, WebServices
from found_footy.web.users import User, current_user, require_role

router = APIRouter(include_in_schema=False)

MAX_TYPED = 2000
MAX_CHANGES_SHOWN = 20
DONE = {
    "added": "Added. Its matches are being fetched now.",
    "added-later": "Added. Its matches are fetched with the next daily ingest; `footy ingest` fetches them now.",
    "removed": "Removed. Matches that are already listed stay until they are over.",
    "reset": "All changes are discarded; only the setting applies.",
}

Operator = Annotated[User, Depends(require_role(Role.OPERATOR))]


@router.get("/follow")
async def page(request: Request, services: ServicesDep, done: str = "") -> Response:
    return await _page(request, services, message=DONE.get(done, ""))


@router.post("/follow")
async def change(request: Request, services: ServicesDep, user: Operator) -> Response:
    """One button or the text field of the page: `add`, `remove`, `names` or `reset`."""
    form = await read_form(request)
    anchor = form.get("place", "") if form.get("place", "") in _anchors() else ""
    entered = form.get("names", "")[:MAX_TYPED]
    try:
        if "reset" in form:
            await reset_follow(services)
            return _back("reset", "")
        if "remove" in form:
            await unfollow_names(services, [form["remove"]], user.name)
            return _back("removed", anchor)
        names = [form["add"]] if "add" in form else [part.strip() for part in entered.split(",") if part.strip()]
        if not names:
            raise BadRequest("enter the name of a competition or a team")
        changed = await follow_names(services, names, user.name)
    except (FollowUnknown, BadRequest) as error:
        return await _page(request, services, problem=str(error), entered=entered, status=400)
    return _back("added" if changed.ingest else "added-later", anchor)


def _back(done: str, anchor: str) -> Response:
    return RedirectResponse(f"/follow?done={done}" + (f"#{anchor}" if anchor else ""), 303)


async def _page(
    request: Request,
    services: WebServices,
    *,
    message: str = "",
    problem: str = "",
    entered: str = "",
    status: int = 200,
) -> Response:
    state = await follow_state(services)
    values = {
        "state": state,
        "may_change": current_user(request).may(Role.OPERATOR),
        "presets": _presets(state.following),
        "regions": _regions(state.following),
        "clubs": _clubs(state),
        "changes": [_change(each) for each in reversed(state.changes)][:MAX_CHANGES_SHOWN],
        "more_changes": max(0, len(state.changes) - MAX_CHANGES_SHOWN),
        "known": [each.name for each in COMPETITIONS] + [team.name for team in TOP_TEAMS],
        "message": message,
        "problem": problem,
        "entered": entered,
    }
    return render(request, "follow.html", values, status, NO_STORE)


def _anchor(region: str) -> str:
    return competition_key(region).replace(" ", "-")


def _anchors() -> frozenset[str]:
    return frozenset([*map(_anchor, REGIONS), "presets", "teams"])


def _presets(following: Following) -> list[dict[str, Any]]:
    return [
        {"entry": name, "name": label, "on": following.follows_preset(name), "title": _members(name)}
        for name, label in PRESET_LABELS.items()
    ]


def _members(preset: str) -> str:
    names = [each.name for each in COMPETITIONS if each.slug in PRESETS.get(preset, ())]
    return ", ".join(names)


def _regions(following: Following) -> list[dict[str, Any]]:
    return [
        {
            "name": region,
            "place": _anchor(region),
            "items": [
                {"entry": each.slug, "name": each.name, "on": following.follows_competition(each.slug), "title": ""}
                for each in COMPETITIONS
                if each.region == region
            ],
        }
        for region in REGIONS
    ]


def _clubs(state: FollowState) -> list[dict[str, Any]]:
    """Teams by country; followed teams that are not in the table come first."""
    followed = state.following.teams
    others = [team for team in followed if team not in TOP_TEAMS]
    groups = [{"country": "Others", "items": [_team(team.entry, team.name, True) for team in others]}] if others else []
    for country, teams in groupby(TOP_TEAMS, key=lambda team: team.country):
        items = [_team(team.entry, team.name, team in followed) for team in teams]
        groups.append({"country": country or "", "items": items})
    return groups


def _team(entry: str, name: str, on: bool) -> dict[str, Any]:
    return {"entry": entry, "name": name, "on": on, "title": ""}


def _change(change: Any) -> dict[str, Any]:
    try:
        name = parse_entry(change.entry).name
    except FollowUnknown:
        name = change.entry
    return {"name": PRESET_LABELS.get(name, name), "followed": change.followed, "at": change.at, "by": change.by}
