"""CREX's pages, simulated with its DOM, so that a real browser can be driven against them.

A page carries its data as JSON (`crex_embedded`), unless that is switched off; a script then asks for the data and
builds what people see. An address with a bare code is refused. `crex_traps` has the answers that a reader must survive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from found_footy.simulator.crex_data import list_data, match_data
from found_footy.simulator.crex_embedded import embedded_list, embedded_match
from found_footy.simulator.crex_traps import CrexMode, data_trap, page_trap
from found_footy.simulator.cricket import CricketNow

LIST = "/fixtures/match-list"

_SCRIPT = files("found_footy.simulator").joinpath("crex_site.js").read_text("utf-8")
_SHELL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Cricket live scores</title></head>
<body data-page="{page}" data-key="{key}"><app-root></app-root>{embedded}
<script src="/crex-assets/main.js"></script></body></html>"""

MatchesNow = Callable[[], Sequence[CricketNow]]
Asked = Callable[[str], CrexMode]


@dataclass(slots=True)
class CrexSiteState:
    """How the site behaves, switched at any time, and what was asked of it."""

    mode: CrexMode = CrexMode.NORMAL
    embedded: bool = True
    """Whether pages carry their data as JSON."""
    lists: int = 0
    matches: list[str] = field(default_factory=list)
    """The codes whose scorecards were opened."""
    data: int = 0
    """Requests of pages for their data."""


def crex_routes(matches_now: MatchesNow, state: CrexSiteState | None = None, asked: Asked | None = None) -> list[Route]:
    """`asked` is told the code of each scorecard that is opened, which is a poll, and says how that page behaves.

    It is called when the page itself is asked for, since a page that is a captcha asks for no data.
    """
    site = _Site(matches_now, state or CrexSiteState(), asked)
    return [
        Route(LIST, site.list),
        Route("/cricket-live-score/{slug}", site.scorecard),
        Route("/cricket-live-score/{slug}/match-scorecard", site.scorecard),
        Route("/cricket-live-score/{slug}/match-details", site.details),
        Route("/api/v3/getFixtures", site.list_data),
        Route("/api/v3/getSC4", site.match_data),
        Route("/crex-assets/main.js", site.script),
        Route("/crex-traps/loop/{number:int}", site.loop),
    ]


class _Site:
    def __init__(self, matches_now: MatchesNow, state: CrexSiteState, asked: Asked | None) -> None:
        self._matches_now = matches_now
        self._state = state
        self._asked = asked
        self._modes: dict[str, CrexMode] = {}
        """How the page of a match behaves since it was last opened; its requests for data follow it."""

    def _match(self, key: str) -> CricketNow | None:
        return next((each for each in self._matches_now() if each.code.upper() == key.upper()), None)

    async def list(self, request: Request) -> Response:
        self._state.lists += 1
        self._modes[""] = self._state.mode
        trap = await page_trap(self._state.mode, request)
        if trap is not None:
            return trap
        spoiled = await self._spoiled(self._state.mode, request)
        return spoiled or _shell("list", "", embedded_list(self._matches_now()) if self._embeds else "")

    async def scorecard(self, request: Request) -> Response:
        key = request.path_params["slug"].rpartition("-")[2].upper()
        self._state.matches.append(key)
        mode = self._asked(key) if self._asked is not None else self._state.mode
        self._modes[key] = mode
        return await self._page("scorecard", key, mode, request)

    async def details(self, request: Request) -> Response:
        key = request.path_params["slug"].rpartition("-")[2].upper()
        return await self._page("details", key, self._modes.get(key, self._state.mode), request)

    async def _page(self, page: str, key: str, mode: CrexMode, request: Request) -> Response:
        if (trap := await page_trap(mode, request)) is not None:
            return trap
        if "-" not in request.path_params["slug"]:
            return PlainTextResponse("Forbidden", 403)
        match = self._match(key)
        if match is None:
            return PlainTextResponse("Not Found", 404)
        spoiled = await self._spoiled(mode, request)
        return spoiled or _shell(page, key, embedded_match(match) if self._embeds else "")

    @property
    def _embeds(self) -> bool:
        return self._state.embedded and self._state.mode is not CrexMode.CHANGED

    async def _spoiled(self, mode: CrexMode, request: Request) -> Response | None:
        """A page that cannot get its data cannot carry it either."""
        return await data_trap(mode, request) if self._state.embedded else None

    async def list_data(self, request: Request) -> Response:
        self._state.data += 1
        mode = self._modes.get("", self._state.mode)
        return await data_trap(mode, request) or JSONResponse(list_data(self._matches_now()))

    async def match_data(self, request: Request) -> Response:
        self._state.data += 1
        key = request.query_params.get("key", "").upper()
        if (trap := await data_trap(self._modes.get(key, self._state.mode), request)) is not None:
            return trap
        match = self._match(key)
        return PlainTextResponse("{}", 404) if match is None else JSONResponse(match_data(match))

    async def script(self, request: Request) -> Response:
        script = _SCRIPT
        if self._state.mode is CrexMode.CHANGED:
            script = script.replace("team-tab", "innings-tab").replace("live-score-card", "score-box")
            script = script.replace("date-wise-matches-card", "calendar")
        return Response(script, media_type="text/javascript")

    async def loop(self, request: Request) -> Response:
        number = request.path_params["number"]
        return RedirectResponse(f"/crex-traps/loop/{(number + 1) % 5}", 302)


def _shell(page: str, key: str, embedded: str) -> Response:
    return HTMLResponse(_SHELL.format(page=page, key=key if key.isalnum() else "", embedded=embedded))
