"""A follow list names leagues that ESPN may not (or no longer) list: they must not cost the others their matches."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from found_footy.errors import FeedNotFound
from found_footy.feeds.espn import Espn
from found_footy.runtime.http_server import HttpServer
from tests.feeds.espn_answers import event, scoreboard


async def answer(request: Request) -> Response:
    if request.path_params["league"] != "eng.1":
        return JSONResponse({"code": 404, "message": "not found"}, status_code=404)
    return JSONResponse(scoreboard(event(1)))


APP = Starlette(routes=[Route("/apis/site/v2/sports/soccer/{league}/scoreboard", answer)])


@pytest.mark.parametrize(("leagues", "found"), [(("eng.1", "no.such"), 1), (("no.such", "eng.1", "nor.that"), 1)])
async def test_an_unknown_league_affects_only_itself(leagues: tuple[str, ...], found: int) -> None:
    async with HttpServer(APP, grace_seconds=1) as server:
        feed = Espn(server.url, leagues, timeout=5, now=lambda: datetime.now(UTC))
        try:
            answered = await feed.fixtures_on(scoreboard_day())
        finally:
            await feed.aclose()
    assert (len(answered.fixtures), answered.errors) == (found, ())


async def test_where_no_league_is_known_the_feed_has_failed() -> None:
    async with HttpServer(APP, grace_seconds=1) as server:
        feed = Espn(server.url, ("no.such",), timeout=5, now=lambda: datetime.now(UTC))
        try:
            with pytest.raises(FeedNotFound):
                await feed.fixtures_on(scoreboard_day())
        finally:
            await feed.aclose()


def scoreboard_day() -> date:
    return datetime.fromisoformat(scoreboard(event(1))["events"][0]["date"].replace("Z", "+00:00")).date()
