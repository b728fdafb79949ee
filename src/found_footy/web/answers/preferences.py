"""What a reader chose: hidden scores, a theme. Cookies only; nothing of it is stored here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse

from found_footy.web.access.origins import local_path
from found_footy.web.answers.forms import form_of

router = APIRouter(include_in_schema=False)

THEMES = ("auto", "light", "dark")
YEAR = 365 * 24 * 3600
MOST_OPENED = 60
"""Matches that stay opened while scores are hidden; a cookie has little room."""

Theme = Literal["auto", "light", "dark"]


@dataclass(frozen=True, slots=True)
class Preferences:
    hide_scores: bool = False
    theme: str = "auto"
    opened: tuple[int, ...] = ()
    """Matches whose result may be shown all the same, the latest last."""

    @property
    def next_theme(self) -> str:
        return THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)]

    def hides(self, fixture_id: int) -> bool:
        return self.hide_scores and fixture_id not in self.opened


def preferences(request: Request) -> Preferences:
    given = request.cookies
    theme = given.get("theme", "auto")
    opened = re.findall(r"\d{1,18}", given.get("opened", "")[:2000])
    return Preferences(
        hide_scores=given.get("spoilers") == "hidden",
        theme=theme if theme in THEMES else "auto",
        opened=tuple(int(number) for number in opened[-MOST_OPENED:]),
    )


@router.post("/preferences")
async def choose(request: Request) -> RedirectResponse:
    form = await form_of(request)
    response = RedirectResponse(local_path(form.get("back", "/")), 303)
    if form.get("spoilers") in ("hidden", "shown"):
        _keep(response, "spoilers", form["spoilers"])
        response.delete_cookie("opened")
    if form.get("theme") in THEMES:
        _keep(response, "theme", form["theme"])
    if form.get("open", "").isdecimal():
        opened = [*preferences(request).opened, int(form["open"][:18])]
        _keep(response, "opened", "-".join(str(number) for number in opened[-MOST_OPENED:]))
    return response


def _keep(response: RedirectResponse, name: str, value: str) -> None:
    response.set_cookie(name, value, max_age=YEAR, samesite="lax", httponly=True)
