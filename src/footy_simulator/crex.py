"""Serve the cricket matches of a matchday as CREX does: pages, their embedded JSON and their data requests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib.resources import files
from itertools import groupby
from typing import Any

from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from footy_simulator.cricket import CricketInnings, CricketPlayer, CricketSide, CricketState, CricketWicket
from footy_simulator.faults import FaultyFeed
from footy_simulator.scenario import FaultKind
from found_footy.fixtures.models import Phase, Side, WicketKind, phase_of

DESCRIBED = 20
SHORT_WORDS = {
    "INNBRK": "Innings Break",
    "DRINKS": "Drinks",
    "LUNCH": "Lunch",
    "TEA": "Tea",
    "DINNER": "Dinner",
    "RAIN": "Rain Stopped",
    "STUMPS": "Stumps",
    "NR": "No Result",
    "ABD": "Abandoned",
    "DRAW": "Match Drawn",
    "TIE": "Match Tied",
    "CANC": "Cancelled",
}


def path_of(match: CricketState) -> str:
    words = f"{match.home.short} vs {match.away.short} {_number(match)} {match.series}"
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return f"/cricket-live-score/{slug}-match-updates-{match.code.upper()}"


def list_data(matches: Sequence[CricketState]) -> dict[str, Any]:
    ordered = sorted(matches, key=lambda match: match.start)
    return {
        "names": {key: name for match in ordered for key, name in _team_names(match).items()},
        # The most important part first, as for search engines.
        "events": [_event(match) for match in ordered[:DESCRIBED]],
        "days": [
            {"date": f"{day:%a, %d %b %Y}", "matches": [_card(match) for match in group]}
            for day, group in groupby(ordered, key=lambda match: match.start.date())
        ],
    }


def match_data(match: CricketState) -> dict[str, Any]:
    now = match.innings[-1] if match.innings else None
    batting = now.batting if now is not None else _bats_first(match)
    fielding = Side.AWAY if batting is Side.HOME else Side.HOME
    return {
        "names": {**_team_names(match), **_player_names(match)},
        "event": {"@type": "SportsEvent", **_event(match)},
        "title": f"{match.home.short} vs {match.away.short}, {_number(match)}, {match.series}",
        "series": match.series,
        "series_path": f"/series/{re.sub(r'[^a-z0-9]+', '-', match.series.lower())}-{_series_key(match)}",
        "venue": match.venue,
        "date": f"{match.start:%d %b, %I:%M %p}",
        "toss": _toss(match),
        "box": _box(match),
        "comment": _comment(match),
        "batting": _head(match, batting),
        "bowling": _head(match, fielding),
        "innings": [_innings(match, each) for each in match.innings],
    }


def _side(match: CricketState, side: Side) -> CricketSide:
    return match.home if side is Side.HOME else match.away


def _number(match: CricketState) -> str:
    return f"{match.match_number} {match.match_type}"


def _series_key(match: CricketState) -> str:
    """A short key that is stable for a series."""
    return f"{sum(ord(letter) * place for place, letter in enumerate(match.series, 1)) % 46655 + 1:X}"


def _iso(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _event(match: CricketState) -> dict[str, Any]:
    return {
        "name": f"{match.home.name} vs {match.away.name}, {_number(match)}, {match.series}",
        "startDate": _iso(match.start),
        "url": path_of(match),
        "location": {"@type": "Place", "name": match.venue},
        "competitor": [{"@type": "SportsTeam", "name": side.name} for side in (match.home, match.away)],
    }


def _team_names(match: CricketState) -> dict[str, str]:
    sides = (match.home, match.away)
    return {f"t_{each.key}_name": each.name for each in sides} | {f"t_{each.key}_short": each.short for each in sides}


def _players(wickets: Iterable[CricketWicket]) -> Iterable[CricketPlayer]:
    for wicket in wickets:
        yield from (each for each in (wicket.batter, wicket.bowler, wicket.fielder) if each is not None)


def _player_names(match: CricketState) -> dict[str, str]:
    wickets = [wicket for innings in match.innings for wicket in innings.wickets]
    return {f"p_{player.key}_name": player.name for player in _players(wickets)}


def _score(innings: CricketInnings) -> str:
    return f"{innings.runs}-{len(innings.wickets)}"


def _overs(innings: CricketInnings) -> str:
    return f"({innings.overs}.{innings.balls})" if innings.balls else f"({innings.overs}.0)"


def _head(match: CricketState, side: Side) -> dict[str, str]:
    played = [innings for innings in match.innings if innings.batting is side]
    return {
        "short": _side(match, side).short,
        "score": " & ".join(_score(each) for each in played) or "Yet to bat",
        "overs": _overs(played[-1]) if played else "",
    }


def _card(match: CricketState) -> dict[str, Any]:
    phase = phase_of(match.status)
    shown = {side: _head(match, side) for side in Side}
    return {
        "path": path_of(match),
        "home": {
            **shown[Side.HOME],
            "name": match.home.short,
            "score": shown[Side.HOME]["score"] if match.innings else "",
        },
        "away": {
            **shown[Side.AWAY],
            "name": match.away.short,
            "score": shown[Side.AWAY]["score"] if match.innings else "",
        },
        "live": phase in (Phase.IN_PLAY, Phase.INTERRUPTED),
        "result": _comment(match) if phase.is_over else "",
        "time": f"{match.start:%I:%M %p}".lstrip("0"),
        "what": f"{_number(match)}, {match.series}",
    }


def _bats_first(match: CricketState) -> Side:
    if match.toss_winner is None:
        return Side.HOME
    other = Side.AWAY if match.toss_winner is Side.HOME else Side.HOME
    return match.toss_winner if match.toss_decision == "bat" else other


def _toss(match: CricketState) -> str:
    if match.toss_winner is None:
        return ""
    chose = "bat" if match.toss_decision == "bat" else "bowl"
    return f"{_side(match, match.toss_winner).name} won the toss and chose to {chose}"


def _box(match: CricketState) -> str:
    """Centre of the header: the last ball, or why there is none."""
    if match.status in SHORT_WORDS:
        return SHORT_WORDS[match.status]
    if match.status == "RESULT":
        return "Match Ended"
    return {"W": "Wicket", "wd": "Wide", "nb": "No Ball"}.get(match.last_ball, match.last_ball)


def _comment(match: CricketState) -> str:
    if match.result:
        return match.result
    if match.status == "STUMPS":
        return f"Day {match.day}: Stumps"
    if match.status in SHORT_WORDS:
        return SHORT_WORDS[match.status]
    if match.toss_winner is not None and len(match.innings) < 2:
        chose = "bat" if match.toss_decision == "bat" else "bowl"
        return f"{_side(match, match.toss_winner).short} opt to {chose}"
    return ""


def _innings(match: CricketState, innings: CricketInnings) -> dict[str, Any]:
    bowlers = list(dict.fromkeys(wicket.bowler.name for wicket in innings.wickets if wicket.bowler is not None))
    return {
        "short": _side(match, innings.batting).short,
        "score": _score(innings),
        "overs": _overs(innings),
        "batting": [
            {
                "name": wicket.batter.name,
                "decision": decision_of(wicket),
                "runs": str(wicket.batter_runs),
                "balls": str(wicket.batter_balls),
            }
            for wicket in innings.wickets
        ],
        "bowling": [
            {"name": name, "wickets": str(sum(w.bowler is not None and w.bowler.name == name for w in innings.wickets))}
            for name in bowlers
        ],
        "falls": [
            {
                "name": wicket.batter.name,
                "score": f"{wicket.runs}-{wicket.number}",
                "over": f"{wicket.over}.{wicket.ball}",
            }
            for wicket in innings.wickets
        ],
    }


def decision_of(wicket: CricketWicket) -> str:
    """A dismissal in scorecard notation."""
    bowler = wicket.bowler.name if wicket.bowler is not None else ""
    fielder = wicket.fielder.name if wicket.fielder is not None else ""
    match wicket.kind:
        case WicketKind.BOWLED:
            return f"b {bowler}"
        case WicketKind.CAUGHT:
            return f"c & b {bowler}" if fielder in ("", bowler) else f"c {fielder} b {bowler}"
        case WicketKind.LBW:
            return f"lbw b {bowler}"
        case WicketKind.STUMPED:
            return f"st {fielder} b {bowler}"
        case WicketKind.HIT_WICKET:
            return f"hit wicket b {bowler}"
        case WicketKind.RUN_OUT:
            return f"run out ({fielder})" if fielder else "run out"
        case WicketKind.OTHER:
            return "retired out"


# --- JSON embedded in the pages, in the form of Angular's TransferState.


_API, _STATS = "https://api.goscorer.com/api/v3", "https://stats.crickapi.com"
_NAMES = "https://oc.crickapi.com/mapping/getHomeMapData"
_STAYS = CricketPlayer("ZZ9", "Not Out")
"""The batter at the other end, who is not scripted."""


def embedded_match(match: CricketState) -> str:
    data = match_data(match)
    players = {player.key: player for innings in match.innings for player in _embedded_players(innings)}
    state = {
        f"{_API}/getSV3": _embedded_score(match, data),
        f"{_API}/getSC4": [_embedded_card(match, innings) for innings in match.innings],
        f"{_STATS}/live/getWD": [_out(innings) for innings in match.innings],
        f"{_NAMES}scorecard": {**_teams([match]), "p": [{"f_key": p.key, "n": p.name} for p in players.values()]},
    }
    if phase_of(match.status).is_over or match.toss_winner is not None:
        state[f"{_STATS}/i/live/getPostMatchDataV2"] = _post(match)
    event = f'<script type="application/ld+json">{json.dumps(data["event"]).replace("<", "")}</script>'
    return event + _script(state)


def embedded_list(matches: Sequence[CricketState]) -> str:
    fixtures = [
        {
            "mf": match.code.upper(),
            "b": match.home.key,
            "c": match.away.key,
            "ti": int(match.start.timestamp() * 1000),
            "d": 1 if phase_of(match.status) in (Phase.IN_PLAY, Phase.INTERRUPTED) else 0,
            "res": match.result or (SHORT_WORDS.get(match.status, "") if phase_of(match.status).is_over else ""),
            "mn": f"{match.match_number} {match.match_type}",
            "q": f"^{_embedded_series_key(match)}",
            "v": match.venue,
        }
        for match in sorted(matches, key=lambda match: match.start)
    ]
    return _script({f"{_STATS}/fixture/getFixture": fixtures, f"{_NAMES}datewise": _teams(matches)})


def _script(state: dict[str, Any]) -> str:
    text = json.dumps(state, ensure_ascii=False)
    for plain, escaped in (("&", "&a;"), ('"', "&q;"), ("'", "&s;"), ("<", "&l;"), (">", "&g;")):
        text = text.replace(plain, escaped)
    return f'<script id="app-root-state" type="application/json">{text}</script>'


def _embedded_series_key(match: CricketState) -> str:
    return f"{sum(ord(letter) * place for place, letter in enumerate(match.series, 1)) % 46655 + 1:X}"


def _teams(matches: Sequence[CricketState]) -> dict[str, Any]:
    sides = {side.key: side for match in matches for side in (match.home, match.away)}
    serieses = {_embedded_series_key(match): match.series for match in matches}
    return {
        "t": [{"f_key": side.key, "n": side.name, "sn": side.short} for side in sides.values()],
        "s": [{"f_key": key, "n": name} for key, name in serieses.items()],
    }


def _embedded_score(match: CricketState, data: dict[str, Any]) -> dict[str, Any]:
    """The batting side comes first."""
    batting = match.innings[-1].batting if match.innings else Side.HOME
    first, second = (match.home, match.away) if batting is Side.HOME else (match.away, match.home)
    ball = data["box"] if match.status == "LIVE" else ""
    return {
        "team1": first.short,
        "team1_f_n": first.name,
        "team2": second.short,
        "team2_f_n": second.name,
        "score1": data["batting"]["score"],
        "over1": data["batting"]["overs"].strip("()"),
        "score2": data["bowling"]["score"],
        "over2": data["bowling"]["overs"].strip("()"),
        "comment1": data["comment"],
        "lastovers": [{"over": "Over 1", "overinfo": [ball]}] if ball else [],
    }


def _embedded_players(innings: CricketInnings) -> list[CricketPlayer]:
    fallen = [(each.batter, each.bowler, each.fielder) for each in innings.wickets]
    return [_STAYS, *(player for players in fallen for player in players if player is not None)]


def _embedded_card(match: CricketState, innings: CricketInnings) -> dict[str, Any]:
    side = match.home if innings.batting is Side.HOME else match.away
    balls = innings.overs * 6 + innings.balls
    partnerships, runs, faced = [], 0, 0
    for wicket in innings.wickets:
        at = wicket.over * 6 + wicket.ball
        partnerships.append(_pair(wicket.batter, wicket.runs - runs, at - faced))
        runs, faced = wicket.runs, at
    if len(innings.wickets) < 10:
        partnerships.append(_pair(CricketPlayer("ZZ8", "New Batter"), innings.runs - runs, max(0, balls - faced)))
    return {
        "c": side.key,
        "d": f"{innings.runs}/{len(innings.wickets)}({balls}",
        "b": [
            *(f"{each.batter.key}.{each.batter_runs}.{each.batter_balls}.0.0/1" for each in innings.wickets),
            f"{_STAYS.key}.0.0.0.0",
        ],
        "p": partnerships,
    }


def _pair(batter: CricketPlayer, runs: int, balls: int) -> str:
    return f"{batter.key}.{runs}.{balls}.{_STAYS.key}.0.0.{runs}.{balls}"


def _out(innings: CricketInnings) -> dict[str, str]:
    return {wicket.batter.key: decision_of(wicket) for wicket in innings.wickets}


def _post(match: CricketState) -> dict[str, Any]:
    over = phase_of(match.status).is_over
    words = match.result or SHORT_WORDS.get(match.status, "")
    side = {Side.HOME: match.home, Side.AWAY: match.away, None: None}[match.toss_winner]
    toss = {"toss_team": side.key, "chose_to": 1 if match.toss_decision == "bat" else 2} if side else {}
    return {"r": words if over else "", **toss}


# --- Faulty responses.


MAX_HOLD_SECONDS = 60.0
HUGE_PIECE = b"<p>" + b"x" * 65_536 + b"</p>"
HUGE_PIECES = 4_096
"""256 MB unless the client stops reading."""


class CrexMode(StrEnum):
    NORMAL = "normal"
    CAPTCHA = "captcha"
    CONSENT = "consent"
    BLANK = "blank"
    """The page loads completely and never shows anything."""
    CHANGED = "changed"
    """Every element has another name."""
    DOWN = "down"
    RATE_LIMITED = "rate limited"
    MISSING = "missing"
    REDIRECT_LOOP = "redirect loop"
    ELSEWHERE = "elsewhere"
    """Redirected to a host that is not the feed's."""
    HUGE = "huge"
    HANGING_PAGE = "hanging page"
    HANGING = "hanging"
    """The page loads; its data request is never answered."""
    BROKEN = "broken"
    """The page loads; its data request fails."""
    TRUNCATED = "truncated"
    HOSTILE = "hostile"
    """Opens windows, dialogs and downloads and requests private addresses; the scorecard is shown as well."""
    FROZEN = "frozen"
    """An endless script: the page no longer reacts."""


_CAPTCHA = """<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>
<h1>Verify you are human by completing the action below.</h1><form id="challenge-form" action="/cdn-cgi/challenge">
<div class="cf-turnstile" data-sitekey="simulated"></div></form></body></html>"""
_CONSENT = """<!DOCTYPE html><html><head><title>Before you continue</title></head><body>
<h1>Before you continue</h1><p>We use cookies. Please accept or reject them to go on.</p>
<form action="/consent"><button>Reject all</button><button>Accept all</button></form></body></html>"""
_BLANK = (
    """<!DOCTYPE html><html><head><title>Cricket live scores</title></head><body><app-root></app-root></body></html>"""
)
_FROZEN = _BLANK.replace("</body>", "<script>setTimeout(() => { for (;;); }, 50)</script></body>")
_HOSTILE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Cricket live scores</title></head>
<body data-page="scorecard" data-key="{key}"><app-root></app-root>
<script>
  const asked = new URLSearchParams(location.search).get("private") || "http://127.0.0.1:9/";
  const quietly = (what) => {{ try {{ what(); }} catch (error) {{ /* refused */ }} }};
  for (let number = 0; number < 5; number++) {{
    quietly(() => window.open("/crex-assets/main.js?window=" + number, "_blank", "noopener"));
    quietly(() => window.open("/crex-assets/main.js?window=" + number, "w" + number));
  }}
  quietly(() => alert("hello"));
  quietly(() => confirm("really?"));
  for (const host of [asked, "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[::1]:9/"]) {{
    fetch(host, {{ mode: "no-cors" }}).catch(() => {{}});
    quietly(() => navigator.sendBeacon(host, "x"));
    const frame = document.createElement("iframe");
    frame.src = host;
    document.body.append(frame);
    quietly(() => new WebSocket(host.replace("http", "ws")));
  }}
  fetch("/crex-traps/loop/0").catch(() => {{}});
  quietly(() => navigator.serviceWorker.register("/crex-assets/main.js"));
  const download = document.createElement("a");
  download.href = "data:application/octet-stream,x";
  download.download = "x.bin";
  document.body.append(download);
  quietly(() => download.click());
  window.addEventListener("beforeunload", (event) => {{ event.preventDefault(); event.returnValue = "stay"; }});
</script>
<script src="/crex-assets/main.js"></script></body></html>"""


async def faulty_page(mode: CrexMode, request: Request) -> Response | None:
    """The response that replaces the page; None if the page is served."""
    match mode:
        case CrexMode.CAPTCHA:
            return HTMLResponse(_CAPTCHA, 403, {"cf-mitigated": "challenge"})
        case CrexMode.CONSENT:
            return HTMLResponse(_CONSENT)
        case CrexMode.BLANK:
            return HTMLResponse(_BLANK)
        case CrexMode.FROZEN:
            return HTMLResponse(_FROZEN)
        case CrexMode.DOWN:
            return PlainTextResponse("Service Unavailable", 503)
        case CrexMode.RATE_LIMITED:
            return PlainTextResponse("Too Many Requests", 429)
        case CrexMode.MISSING:
            return PlainTextResponse("Not Found", 404)
        case CrexMode.REDIRECT_LOOP:
            return RedirectResponse("/crex-traps/loop/0", 302)
        case CrexMode.ELSEWHERE:
            return RedirectResponse("http://consent.example/before-you-continue", 302)
        case CrexMode.HUGE:
            return StreamingResponse(_huge(), media_type="text/html")
        case CrexMode.HANGING_PAGE:
            await wait_for_disconnect(request)
            return PlainTextResponse("", 503)
        case CrexMode.HOSTILE:
            key = request.path_params.get("slug", "").rpartition("-")[2].upper()
            return HTMLResponse(_HOSTILE.format(key=key if key.isalnum() else ""))
    return None


async def faulty_data(mode: CrexMode, request: Request) -> Response | None:
    match mode:
        case CrexMode.BROKEN:
            return PlainTextResponse("Internal Server Error", 500)
        case CrexMode.TRUNCATED:
            return Response('{"title": "Harbour', media_type="application/json")
        case CrexMode.HANGING:
            await wait_for_disconnect(request)
            return PlainTextResponse("", 503)
    return None


async def wait_for_disconnect(request: Request) -> None:
    """Wait until the client gives up."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(MAX_HOLD_SECONDS):
            while (await request.receive())["type"] != "http.disconnect":
                pass


async def _huge() -> AsyncIterator[bytes]:
    yield b"<!DOCTYPE html><html><head><title>Cricket live scores</title></head><body>"
    for _ in range(HUGE_PIECES):
        yield HUGE_PIECE
        await asyncio.sleep(0)


# --- Pages with the DOM of CREX, for a real browser.


LIST = "/fixtures/match-list"

_SCRIPT = files("footy_simulator").joinpath("crex_site.js").read_text("utf-8")
_SHELL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Cricket live scores</title></head>
<body data-page="{page}" data-key="{key}"><app-root></app-root>{embedded}
<script src="/crex-assets/main.js"></script></body></html>"""

MatchesNow = Callable[[], Sequence[CricketState]]
Asked = Callable[[str], CrexMode]


@dataclass(slots=True)
class CrexSiteState:
    """How the site behaves, which can change at any time, and the requests it received."""

    mode: CrexMode = CrexMode.NORMAL
    embedded: bool = True
    """Whether pages embed their data as JSON."""
    lists: int = 0
    matches: list[str] = field(default_factory=list)
    """Codes of the scorecards that were opened."""
    data: int = 0
    """Data requests of pages."""


def crex_routes(matches_now: MatchesNow, state: CrexSiteState | None = None, asked: Asked | None = None) -> list[Route]:
    """`asked` receives the code of each scorecard that is opened, which counts as a poll, and returns how that page
    behaves.

    It is called for the page itself, because a captcha page makes no data request.
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
        """Behaviour of a match's page since it was last opened; its data requests behave the same."""

    def _match(self, key: str) -> CricketState | None:
        return next((each for each in self._matches_now() if each.code.upper() == key.upper()), None)

    async def list(self, request: Request) -> Response:
        self._state.lists += 1
        self._modes[""] = self._state.mode
        trap = await faulty_page(self._state.mode, request)
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
        if (trap := await faulty_page(mode, request)) is not None:
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
        """A page that cannot load its data cannot embed it either."""
        return await faulty_data(mode, request) if self._state.embedded else None

    async def list_data(self, request: Request) -> Response:
        self._state.data += 1
        mode = self._modes.get("", self._state.mode)
        return await faulty_data(mode, request) or JSONResponse(list_data(self._matches_now()))

    async def match_data(self, request: Request) -> Response:
        self._state.data += 1
        key = request.query_params.get("key", "").upper()
        if (trap := await faulty_data(self._modes.get(key, self._state.mode), request)) is not None:
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


# --- Which page behaves how, and when.


MODES: dict[FaultKind, CrexMode] = {
    "server_error": CrexMode.DOWN,
    "timeout": CrexMode.HANGING,
    "truncated": CrexMode.TRUNCATED,
    "html": CrexMode.BLANK,
    "captcha": CrexMode.CAPTCHA,
    "rate_limit": CrexMode.RATE_LIMITED,
    "redirect_loop": CrexMode.REDIRECT_LOOP,
    "gzip_bomb": CrexMode.HUGE,
}
"""How each fault appears on a page."""


class CrexFeed:
    def __init__(self, view: FaultyFeed, state: CrexSiteState) -> None:
        self._view = view
        self._state = state

    def routes(self) -> list[Route]:
        return crex_routes(self._matches_now, self._state, self._asked)

    def _matches_now(self) -> Sequence[CricketState]:
        return self._view.matchday.cricket(self._view.offset)

    def _asked(self, code: str) -> CrexMode:
        """A match page is opened, which counts as a poll."""
        self._view.poll()
        due = self._view.faults(())
        return self._state.mode if due.feed is None else MODES[due.feed.kind]
