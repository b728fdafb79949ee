"""A feed that responds immediately, in a separate process: `python -m bench.static_feed FIXTURES`.

Prints its port. Each fixture has five goals; `PUT /changed?step=…` moves one goal's minute in one of a hundred
fixtures, which is the change that a poll cycle finds.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


def fixture(id_: int, step: int) -> dict[str, Any]:
    home, away = {"id": 1, "name": "Home"}, {"id": 2, "name": "Away"}
    changed = step if id_ % 100 == 0 else 0
    events = [
        {
            "time": {"elapsed": 10 * n + (changed % 2 if n == 5 else 0), "extra": None},
            "team": home,
            "player": {"id": n, "name": f"Player {n}"},
            "assist": {"id": None, "name": None},
            "type": "Goal",
            "detail": "Normal Goal",
            "comments": None,
        }
        for n in range(1, 6)
    ]
    nothing = {"home": None, "away": None}
    return {
        "fixture": {
            "id": id_,
            "date": "2026-08-22T14:00:00+00:00",
            "status": {"long": "Second Half", "short": "2H", "elapsed": 60 + step % 30},
        },
        "league": {"id": 39, "name": "Premier League", "country": "England", "season": 2026, "round": "1"},
        "teams": {"home": home, "away": away},
        "goals": {"home": 5, "away": 0},
        "score": {"halftime": nothing, "fulltime": nothing, "extratime": nothing, "penalty": nothing},
        "events": events,
    }


def app() -> Starlette:
    step = 0
    texts: dict[int, str] = {}

    async def fixtures(request: Request) -> Response:
        asked = request.query_params.get("ids")
        # A list of the day's matches, which the poll requests every few minutes, has none that are new.
        ids = [int(id_) for id_ in asked.split("-")] if asked else []
        items = []
        for id_ in ids:
            if id_ not in texts:
                texts[id_] = json.dumps(fixture(id_, step))
            items.append(texts[id_])
        body = f'{{"get": "fixtures", "errors": [], "paging": {{"total": 1}}, "response": [{",".join(items)}]}}'
        return Response(body, media_type="application/json")

    async def changed(request: Request) -> Response:
        nonlocal step
        step = int(request.query_params["step"])
        texts.clear()
        return JSONResponse({})

    return Starlette(routes=[Route("/fixtures", fixtures), Route("/changed", changed, methods=["PUT"])])


async def main() -> None:
    server = uvicorn.Server(uvicorn.Config(app(), host="127.0.0.1", port=0, log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await serving


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
