"""Three score feeds on loopback, in a separate process: `python -m bench.feed_world MATCHES FAILURE_SHARE`.

Two use API-Football's format, one ESPN's; each has its own ids and delay. Prints its port. `GET /log` returns the start
and end of each request by feed, on the monotonic clock shared by all processes of the machine.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

LEAGUES = 20
"""ESPN leagues, which is the number of requests per poll."""
SYLLABLES = ("bar", "cel", "dor", "fen", "gal", "hul", "jor", "kal", "lim", "mon", "nor", "par", "quin", "ros", "sal")
KICKOFF = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=30)
DELAYS = {"one": 0.05, "two": 0.15, "espn": 0.1}
"""Response time of each feed in seconds."""


def team_name(number: int) -> str:
    size = len(SYLLABLES)
    return (SYLLABLES[number % size] + SYLLABLES[number // size % size] + SYLLABLES[number // size**2 % size]).title()


def teams(match: int) -> tuple[str, str]:
    return team_name(2 * match), team_name(2 * match + 1)


def minute() -> int:
    return 30 + int((datetime.now(UTC) - KICKOFF - timedelta(minutes=30)).total_seconds() // 60) % 15


def api_football(match: int, base: int) -> dict[str, Any]:
    home, away = teams(match)
    nothing = {"home": None, "away": None}
    return {
        "fixture": {
            "id": base + match,
            "date": KICKOFF.isoformat(),
            "status": {"long": "First Half", "short": "1H", "elapsed": minute()},
        },
        "league": {"id": 39, "name": "Premier League", "country": "England", "season": 2026, "round": "1"},
        "teams": {"home": {"id": base + 2 * match, "name": home}, "away": {"id": base + 2 * match + 1, "name": away}},
        "goals": {"home": 0, "away": 0},
        "score": {"halftime": nothing, "fulltime": nothing, "extratime": nothing, "penalty": nothing},
        "events": [],
    }


def espn(match: int) -> dict[str, Any]:
    home, away = teams(match)
    status = {"displayClock": f"{minute()}'", "type": {"name": "STATUS_FIRST_HALF", "state": "in"}}
    sides = [
        {"id": str(700_000 + 2 * match + n), "homeAway": where, "score": "0", "team": {"displayName": name}}
        for n, (where, name) in enumerate((("home", home), ("away", away)))
    ]
    game = {"status": status, "competitors": sides, "details": []}
    return {"id": str(400_000 + match), "date": KICKOFF.isoformat(), "season": {"year": 2026}, "competitions": [game]}


class SimulatedFeeds:
    def __init__(self, matches: int, failing: float) -> None:
        self.matches = matches
        self.failing = failing
        self.log: list[tuple[str, float, float, bool]] = []
        self.draw = random.Random(7)

    async def answer(self, feed: str, body: dict[str, Any]) -> Response:
        began = time.monotonic()
        await asyncio.sleep(DELAYS[feed])
        fails = self.draw.random() < self.failing
        self.log.append((feed, began, time.monotonic(), fails))
        if not fails:
            return JSONResponse(body)
        kind = self.draw.choice(("500", "html", "truncated"))
        if kind == "500":
            return Response("no", 500)
        text = "<html>Please wait</html>" if kind == "html" else '{"response": [{"fixture": {"id"'
        return Response(text, media_type="application/json")

    def routes(self) -> list[Route]:
        async def fixtures(request: Request) -> Response:
            feed = request.path_params["feed"]
            base = {"one": 1_000_000, "two": 5_000_000}[feed]
            asked = request.query_params.get("ids")
            wanted = range(self.matches) if asked is None else [int(id_) - base for id_ in asked.split("-")]
            items = [api_football(match, base) for match in wanted]
            body = {"get": "fixtures", "errors": [], "paging": {"total": 1}, "response": items}
            return await self.answer(feed, body) if asked else JSONResponse(body)

        async def scoreboard(request: Request) -> Response:
            number = int(request.path_params["league"].removeprefix("l"))
            events = [espn(match) for match in range(number, self.matches, LEAGUES)]
            body = {"leagues": [{"id": str(number + 1), "name": "Premier League"}], "events": events}
            # An ingest requests a month.
            is_poll = len(request.query_params["dates"]) == len("20261118")
            return await self.answer("espn", body) if is_poll else JSONResponse(body)

        async def log(request: Request) -> Response:
            return JSONResponse(self.log)

        return [
            Route("/{feed:str}/fixtures", fixtures),
            Route("/espn/apis/site/v2/sports/soccer/{league}/scoreboard", scoreboard),
            Route("/log", log),
        ]


async def main() -> None:
    world = SimulatedFeeds(int(sys.argv[1]), float(sys.argv[2]))
    app = Starlette(routes=world.routes())
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await serving


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
