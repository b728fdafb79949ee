"""The service as it is really served."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from sim_helpers import FODEN, LEAGUE, SALAH, START, goal, script
from tests.support.clocks import SecondsClock

from footy_simulator.loader import load_scenario
from footy_simulator.scenario import Scenario, ScriptedFault, ScriptedLimits, ScriptedMatch
from footy_simulator.server import Simulator, serve_forever
from found_footy.errors import EngineError


class Consumer:
    """Asks the simulator; every poll comes a matchday minute after the one before."""

    def __init__(self, simulator: Simulator, client: httpx.AsyncClient, wall: SecondsClock) -> None:
        self.simulator = simulator
        self.client = client
        self.wall = wall

    async def get(self, path: str, **params: object) -> dict[str, Any]:
        response = await self.client.get(path, params=params)
        assert response.status_code == 200
        return response.json()

    async def poll(self, ids: str = "1-2") -> httpx.Response:
        self.wall.now += 1
        return await self.client.get("/fixtures", params={"ids": ids})


ROWS = [
    script(kickoff="-20m", goals=[goal(15), goal(22, "away", player=FODEN)]),
    script(id=2, kickoff="+2h", home={"id": 42, "name": "Arsenal"}, away={"id": 47, "name": "Tottenham"}),
    script(id=3, kickoff="+1d", home={"id": 33, "name": "Manchester United"}, away={"id": 45, "name": "Everton"}),
]
SCENARIO = Scenario(leagues={"pl": LEAGUE}, matches=tuple(ScriptedMatch.model_validate(row) for row in ROWS))


@pytest.fixture
def scenario() -> Scenario:
    return SCENARIO


@pytest.fixture
async def consumer(scenario: Scenario) -> AsyncIterator[Consumer]:
    wall = SecondsClock()
    async with Simulator(scenario, start=START, time_source=wall) as simulator:
        headers = {"x-apisports-key": simulator.key}
        async with httpx.AsyncClient(base_url=simulator.url, headers=headers, timeout=5) as client:
            yield Consumer(simulator, client, wall)


async def test_by_ids(consumer: Consumer) -> None:
    body = await consumer.get("/fixtures", ids="1-3-99")
    assert [item["fixture"]["id"] for item in body["response"]] == [1, 3]
    assert {key: body[key] for key in ("get", "parameters", "errors", "results", "paging")} == {
        "get": "fixtures",
        "parameters": {"ids": "1-3-99"},
        "errors": [],
        "results": 2,
        "paging": {"current": 1, "total": 1},
    }
    assert list(body["response"][0])[5:] == ["events", "lineups", "statistics", "players"]
    assert len(body["response"][0]["events"]) == 1


async def test_by_id(consumer: Consumer) -> None:
    body = await consumer.get("/fixtures", id=1)
    assert [item["teams"]["home"]["name"] for item in body["response"]] == ["Liverpool"]


async def test_by_date_there_are_no_events(consumer: Consumer) -> None:
    body = await consumer.get("/fixtures", date="2025-11-22", timezone="UTC")
    assert [item["fixture"]["id"] for item in body["response"]] == [1, 2]
    assert list(body["response"][0]) == ["fixture", "league", "teams", "goals", "score"]
    tomorrow = await consumer.get("/fixtures", date="2025-11-23")
    assert [item["fixture"]["id"] for item in tomorrow["response"]] == [3]


@pytest.mark.parametrize(("live", "ids"), [("all", [1]), ("39", [1]), ("61-39", [1]), ("61", [])])
async def test_live_statuses(consumer: Consumer, live: str, ids: list[int]) -> None:
    body = await consumer.get("/fixtures", live=live)
    assert [item["fixture"]["id"] for item in body["response"]] == ids
    assert all("lineups" not in item and "events" in item for item in body["response"])


@pytest.mark.parametrize(
    ("path", "params", "field"),
    [
        ("/fixtures", {}, "required"),
        ("/fixtures", {"timezone": "UTC"}, "required"),
        ("/fixtures", {"id": "1", "color": "red"}, "required"),
        ("/fixtures", {"id": "1", "date": "2025-11-22"}, "date"),
        ("/fixtures", {"id": "1", "timezone": "Asia/Seoul"}, "timezone"),
        ("/fixtures", {"id": "one"}, "id"),
        ("/fixtures", {"ids": "1,2"}, "ids"),
        ("/fixtures", {"ids": "-".join(str(number) for number in range(1, 22))}, "ids"),
        ("/fixtures", {"date": "22.11.2025"}, "date"),
        ("/fixtures", {"live": "everything"}, "live"),
        ("/fixtures/events", {}, "required"),
        ("/fixtures/events", {"fixture": "x"}, "fixture"),
        ("/teams", {}, "required"),
        ("/teams", {"league": "39"}, "required"),
        ("/teams", {"search": "Liv", "league": "39"}, "league"),
        ("/teams", {"search": "L"}, "search"),
    ],
)
async def test_errors_come_inside_200(consumer: Consumer, path: str, params: dict[str, str], field: str) -> None:
    body = await consumer.get(path, **params)
    assert list(body["errors"]) == [field]
    assert body["parameters"] == (params or [])
    assert (body["results"], body["response"]) == (0, [])
    assert consumer.simulator.state().polls == 0, "a refused request is no poll"


@pytest.mark.parametrize("path", ["/fixtures?id=1", "/fixtures/events?fixture=1", "/teams?id=40", "/status"])
@pytest.mark.parametrize("key", [None, "wrong"])
async def test_no_answer_without_the_key(consumer: Consumer, path: str, key: str | None) -> None:
    async with httpx.AsyncClient(headers={"x-apisports-key": key} if key else {}) as stranger:
        response = await stranger.get(consumer.simulator.url + path)
    assert response.status_code == 200
    assert list(response.json()["errors"]) == ["token"]


async def test_the_events_of_a_fixture(consumer: Consumer) -> None:
    for _ in range(4):
        await consumer.poll()
    everything = await consumer.get("/fixtures/events", fixture=1)
    assert [event["player"]["name"] for event in everything["response"]] == ["M. Salah", "P. Foden"]
    assert everything["response"][0]["player"] == SALAH
    away = await consumer.get("/fixtures/events", fixture=1, type="goal", team=50)
    assert [event["player"]["name"] for event in away["response"]] == ["P. Foden"]
    assert (await consumer.get("/fixtures/events", fixture=1, type="Card"))["response"] == []


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({"id": "40"}, ["Liverpool"]),
        ({"search": "manchester"}, ["Manchester City", "Manchester United"]),
        (
            {"league": "39", "season": "2025"},
            ["Liverpool", "Manchester City", "Arsenal", "Tottenham", "Manchester United", "Everton"],
        ),
        ({"league": "39", "season": "2019"}, []),
    ],
)
async def test_teams(consumer: Consumer, params: dict[str, str], names: list[str]) -> None:
    body = await consumer.get("/teams", **params)
    assert [entry["team"]["name"] for entry in body["response"]] == names


async def test_status_and_headers(consumer: Consumer) -> None:
    response = await consumer.poll()
    assert response.headers["x-ratelimit-requests-limit"] == "150000"
    assert response.headers["x-ratelimit-requests-remaining"] == "149999"
    assert response.headers["x-ratelimit-limit"] == "1200"
    assert response.headers["x-ratelimit-remaining"] == "1199"
    body = await consumer.get("/status")
    assert body["response"]["requests"] == {"current": 1, "limit_day": 150000}
    assert body["results"] == 1


async def test_only_polls_move_the_matchday(consumer: Consumer) -> None:
    await consumer.poll()
    consumer.wall.now += 1000
    await consumer.get("/fixtures", date="2025-11-22")
    await consumer.get("/fixtures/events", fixture=1)
    assert (await consumer.get("/simulator/state")) == {
        "now": "2025-11-22T15:00:00+00:00",
        "offset_seconds": 0.0,
        "polls": 1,
        "settled": False,
        "finished": False,
    }
    await consumer.get("/fixtures", live="all")
    assert consumer.simulator.state().offset_seconds == 60


@pytest.mark.parametrize("scenario", [SCENARIO.model_copy(update={"limits": ScriptedLimits(per_minute=2, per_day=3)})])
async def test_too_many_requests(consumer: Consumer) -> None:
    answers = [(await consumer.poll()).json()["errors"] for _ in range(3)]
    assert answers == [[], [], {"rateLimit": "Too many requests. Your rate limit is 2 requests per minute."}]
    consumer.wall.now += 60
    assert (await consumer.poll()).json()["errors"] == []
    refused = (await consumer.poll()).json()["errors"]
    assert refused["requests"].startswith("You have reached the request limit for the day, ")


FAULTY = SCENARIO.model_copy(
    update={
        "faults": (
            ScriptedFault(at="+1m", kind="server_error"),
            ScriptedFault(at="+2m", kind="truncated"),
            ScriptedFault(at="+3m", kind="html"),
            ScriptedFault(at="+4m", kind="rate_limit"),
            ScriptedFault(at="+5m", kind="wrong_score", match=1),
            ScriptedFault(at="+5m", kind="bad_schema", match=1),
        )
    }
)


@pytest.mark.parametrize("scenario", [FAULTY])
async def test_faults_of_the_feed(consumer: Consumer) -> None:
    first, error, cut, page, limited, wrong, last = [await consumer.poll() for _ in range(7)]
    assert first.json()["errors"] == []
    assert error.status_code == 500
    assert cut.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        cut.json()
    assert page.headers["content-type"].startswith("text/html")
    assert list(limited.json()["errors"]) == ["rateLimit"]
    faulty, other = wrong.json()["response"]
    assert (faulty["goals"]["home"], faulty["fixture"]["status"]["elapsed"]) == (2, "abc")
    assert other["fixture"]["status"]["short"] == "NS"
    assert last.json()["response"][0]["goals"] == {"home": 1, "away": 1}


HOLDING = SCENARIO.model_copy(update={"faults": (ScriptedFault(at="+0m", kind="timeout", seconds=60),)})


@pytest.mark.parametrize("scenario", [HOLDING])
async def test_a_held_request_times_out_and_does_not_hold_up_the_end(consumer: Consumer) -> None:
    with pytest.raises(httpx.ReadTimeout):
        await consumer.client.get("/fixtures", params={"id": 1}, timeout=httpx.Timeout(30, read=1))
    assert (await consumer.poll()).json()["errors"] == []


async def test_a_whole_matchday_over_http() -> None:
    wall = SecondsClock()
    scenario = load_scenario("matchday").football.model_copy(update={"faults": ()})
    ids = "-".join(str(match.id) for match in scenario.matches)
    async with Simulator(scenario, start=START, time_source=wall) as simulator:
        headers = {"x-apisports-key": simulator.key}
        async with httpx.AsyncClient(base_url=simulator.url, headers=headers) as client:
            consumer = Consumer(simulator, client, wall)
            while not simulator.state().settled:
                final = (await consumer.poll(ids)).json()["response"]
            assert not simulator.state().finished
            for _ in range(4):
                await consumer.poll(ids)
            state = await consumer.get("/simulator/state")
            truth = await consumer.get("/simulator/truth")
    assert (state["finished"], state["polls"]) == (True, 108)
    assert truth == json.loads(json.dumps(simulator.truth.to_json()))
    for item, known in zip(final, truth["matches"], strict=True):
        assert item["fixture"]["status"]["short"] == known["status"]
        assert [item["goals"]["home"], item["goals"]["away"]] == (known["score"] or [None, None])


async def test_the_port_is_released_and_can_be_reused() -> None:
    async with Simulator(SCENARIO) as first:
        port = int(first.url.rsplit(":", 1)[1])
        with pytest.raises(EngineError, match="cannot bind port"):
            async with Simulator(SCENARIO, port=port):
                pass
    async with Simulator(SCENARIO, port=port, key="mine") as second, httpx.AsyncClient() as client:
        answer = await client.get(f"{second.url}/teams?id=40", headers={"x-apisports-key": "mine"})
        assert answer.json()["results"] == 1


async def test_serve_forever_until_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    ready: asyncio.Queue[str] = asyncio.Queue()
    serving = asyncio.create_task(serve_forever(SCENARIO, on_ready=lambda simulator: ready.put_nowait(simulator.url)))
    url = await ready.get()
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{url}/simulator/state")).json()["polls"] == 0
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    async with httpx.AsyncClient() as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"{url}/simulator/state")
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []
