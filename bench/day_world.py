"""Two score feeds over a whole day, with every kind of failure: `python -m bench.day_world FAILURE_SHARE`.

Prints its port. `PUT /now?seconds=…` sets the time of day; each answer is as of that moment.
"""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from bench.feed_world import teams

START = datetime(2026, 8, 22, tzinfo=UTC)
MATCHES = 72
EVERY = timedelta(minutes=20)
GOALS = (20, 60)
"""Minutes of play; the first goal is the home side's."""
ZEROS = gzip.compress(bytes(64 * 1024 * 1024))


def kickoff(match: int) -> datetime:
    return START + match * EVERY


def moment(match: int, now: datetime) -> tuple[str, int | None]:
    minutes = int((now - kickoff(match)).total_seconds() // 60)
    if minutes < 0:
        return "NS", None
    if minutes < 46:
        return "1H", max(1, min(minutes, 45))
    if minutes < 60:
        return "HT", 45
    return ("2H", min(minutes - 15, 90)) if minutes < 106 else ("FT", 90)


def api_football(match: int, now: datetime) -> dict[str, Any]:
    home, away = teams(match)
    sides = ({"id": 2 * match + 1, "name": home}, {"id": 2 * match + 2, "name": away})
    status, minute = moment(match, now)
    scored = [n for n, at in enumerate(GOALS) if minute is not None and minute >= at]
    nothing = {"home": None, "away": None}
    return {
        "fixture": {
            "id": 1_000 + match,
            "date": kickoff(match).isoformat(),
            "status": {"long": status, "short": status, "elapsed": minute},
        },
        "league": {"id": 39, "name": "Premier League", "country": "England", "season": 2026, "round": "1"},
        "teams": {"home": sides[0], "away": sides[1]},
        "goals": nothing if minute is None else {"home": int(0 in scored), "away": int(1 in scored)},
        "score": dict.fromkeys(("halftime", "fulltime", "extratime", "penalty"), nothing),
        "events": [
            {
                "time": {"elapsed": GOALS[n], "extra": None},
                "team": sides[n],
                "player": {"id": 10 * match + n, "name": f"Player {n}"},
                "assist": {"id": None, "name": None},
                "type": "Goal",
                "detail": "Normal Goal",
                "comments": None,
            }
            for n in scored
        ],
    }


STATUSES = {"NS": "SCHEDULED", "1H": "FIRST_HALF", "HT": "HALFTIME", "2H": "SECOND_HALF", "FT": "FULL_TIME"}


def espn(match: int, now: datetime) -> dict[str, Any]:
    now -= timedelta(seconds=40)  # the slower feed
    names = teams(match)
    status, minute = moment(match, now)
    scored = [n for n, at in enumerate(GOALS) if minute is not None and minute >= at]
    ids = [str(700_000 + 2 * match + n) for n in (0, 1)]
    state = "pre" if minute is None else "post" if status == "FT" else "in"
    shown = {"displayClock": f"{minute or 0}'", "type": {"name": f"STATUS_{STATUSES[status]}", "state": state}}
    sides = [
        {"id": ids[n], "homeAway": where, "score": str(int(n in scored)), "team": {"displayName": names[n]}}
        for n, where in enumerate(("home", "away"))
    ]
    plays = [
        {
            "clock": {"displayValue": f"{GOALS[n]}'"},
            "team": {"id": ids[n]},
            "scoringPlay": True,
            "athletesInvolved": [{"id": str(90_000 + 10 * match + n), "displayName": f"Player {n}"}],
        }
        for n in scored
    ]
    game = {"status": shown, "competitors": sides, "details": plays}
    date = kickoff(match).isoformat()
    return {"id": str(400_000 + match), "date": date, "season": {"year": 2026}, "competitions": [game]}


class SimulatedDayServer:
    def __init__(self, failing: float) -> None:
        self.now = START
        self.failing = failing
        self.draw = random.Random(11)
        self.failed: Counter[str] = Counter()
        self.faults: dict[str, Callable[[dict[str, Any]], Response]] = {
            "server error": lambda body: Response("no", 500),
            "html": lambda body: Response("<html><body>Maintenance</body></html>", media_type="text/html"),
            "captcha": lambda body: Response("<html>Are you human? <div class='captcha'></div></html>", 403),
            "truncated": lambda body: Response(json.dumps(body)[:-30], media_type="application/json"),
            "redirect loop": lambda body: RedirectResponse("?again=1"),
            "gzip bomb": lambda body: Response(ZEROS, headers={"content-encoding": "gzip"}),
            "rate limit": lambda body: Response("slow down", 429),
            "clock an hour off": self._hour_off,
            "negative score": lambda body: JSONResponse(_spoilt(body, -1)),
            "text for a number": lambda body: JSONResponse(_spoilt(body, "many")),
            "back in time": lambda body: JSONResponse(_spoilt(body, None)),
            "nothing": lambda body: Response(b"", media_type="application/json"),
        }

    def _hour_off(self, body: dict[str, Any]) -> Response:
        wrong = datetime.now(UTC) - timedelta(hours=1)
        return JSONResponse(body, headers={"date": wrong.strftime("%a, %d %b %Y %H:%M:%S GMT")})

    async def answer(self, body: dict[str, Any]) -> Response:
        if self.draw.random() >= self.failing:
            return JSONResponse(body)
        kind = self.draw.choice([*self.faults, "timeout"])
        self.failed[kind] += 1
        if kind == "timeout":
            await asyncio.sleep(2)
            return JSONResponse(body)
        return self.faults[kind](body)

    def routes(self) -> list[Route]:
        async def fixtures(request: Request) -> Response:
            asked = request.query_params.get("ids")
            if asked is None:
                day = request.query_params.get("date")
                chosen = [match for match in range(MATCHES) if kickoff(match).date().isoformat() == day]
            else:
                chosen = [int(id_) - 1_000 for id_ in asked.split("-")]
            items = [api_football(match, self.now) for match in chosen]
            body = {"get": "fixtures", "errors": [], "paging": {"total": 1}, "response": items}
            return await self.answer(body) if asked else JSONResponse(body)

        async def scoreboard(request: Request) -> Response:
            events = [espn(match, self.now) for match in range(MATCHES)]
            body = {"leagues": [{"id": "23", "name": "Premier League"}], "events": events}
            # An ingest requests a month.
            is_poll = len(request.query_params.get("dates", "")) == len("20261118")
            return await self.answer(body) if is_poll else JSONResponse(body)

        async def put_now(request: Request) -> Response:
            self.now = START + timedelta(seconds=float(request.query_params["seconds"]))
            return JSONResponse(self.failed)

        return [
            Route("/fixtures", fixtures),
            Route("/apis/site/v2/sports/soccer/{league}/scoreboard", scoreboard),
            Route("/now", put_now, methods=["PUT"]),
        ]


def _spoilt(body: dict[str, Any], score: Any) -> dict[str, Any]:
    """Give the first match of an answer an invalid score, or with None set it back to the first minute."""
    body = copy.deepcopy(body)
    for item in body.get("response", [])[:1]:
        if score is None:
            item["fixture"]["status"].update(short="1H", elapsed=1)
        else:
            item["goals"] = {"home": score, "away": 0}
    for event in body.get("events", [])[:1]:
        game = event["competitions"][0]
        if score is None:
            game["status"] = {"displayClock": "1'", "type": {"name": "STATUS_FIRST_HALF", "state": "in"}}
        else:
            game["competitors"][0]["score"] = str(score)
    return body


async def main() -> None:
    app = Starlette(routes=SimulatedDayServer(float(sys.argv[1])).routes())
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off", date_header=False)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await serving


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
