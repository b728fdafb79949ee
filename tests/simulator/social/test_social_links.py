"""Links that lead nowhere good, and X's syndication endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from social_helpers import scenario_with

from footy_simulator.server import Simulator
from footy_simulator.x import fits, token_of

KINDS = ("gone", "geo_blocked", "private", "loopback", "redirect_private", "endless", "huge", "drip")
SCENARIO = scenario_with("copy", *KINDS)


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    async with Simulator(SCENARIO, lockstep=False, speed=1e9) as simulator:
        yield simulator


@pytest.fixture
async def client(simulator: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=simulator.url, timeout=10) as client:
        yield client


def post_id(simulator: Simulator, kind: str) -> str:
    for post in simulator.posts_of("x"):
        clip = simulator.clip_of("x", post.id)
        if clip is not None and clip.kind == kind:
            return post.id
    raise AssertionError(f"nobody has posted {kind}")


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [
        ("gone", 410, "Gone"),
        ("geo_blocked", 451, "not available in your country"),
        ("private", 403, "private"),
        ("loopback", 302, ""),
        ("redirect_private", 302, ""),
        ("unheard_of", 404, "Not Found"),
    ],
)
async def test_responses_of_a_dead_link(client: httpx.AsyncClient, kind: str, status: int, said: str) -> None:
    answer = await client.get(f"/trap/{kind}/1-0-0.mp4")
    assert answer.status_code == status
    assert said in answer.text


async def test_redirects_lead_to_closed_addresses_and_never_to_the_simulator(
    simulator: Simulator, client: httpx.AsyncClient
) -> None:
    assert (await client.get("/trap/loopback/1.mp4")).headers["location"] == "http://127.0.0.1:9/goal.mp4"
    targets = {(await client.get(f"/trap/redirect_private/{n}.mp4")).headers["location"] for n in range(9)}
    assert "http://169.254.169.254/latest/meta-data/" in targets
    assert len(targets) == 3
    assert not any(target.startswith(simulator.url) for target in targets)


async def test_an_endless_response_ends_when_the_client_disconnects(client: httpx.AsyncClient) -> None:
    async with client.stream("GET", "/trap/endless/1.mp4") as answer:
        assert "content-length" not in answer.headers
        assert answer.headers["content-type"] == "video/mp4"
        size = 0
        async for chunk in answer.aiter_raw():
            size += len(chunk)
            if size > 20_000_000:
                break
    assert (await client.get("/simulator/state")).status_code == 200


async def test_ten_gigabytes_are_announced(client: httpx.AsyncClient) -> None:
    async with client.stream("GET", "/trap/huge/1.mp4") as answer:
        assert answer.headers["content-length"] == str(10 * 1024**3)
        assert (await anext(answer.aiter_raw()))[4:8] == b"ftyp"
    head = await client.head("/trap/huge/1.mp4")
    assert (head.headers["content-length"], head.content) == (str(10 * 1024**3), b"")


async def test_a_slow_response_is_sent_byte_by_byte(client: httpx.AsyncClient) -> None:
    async with client.stream("GET", "/trap/drip/1.mp4") as answer:
        assert len(await anext(answer.aiter_raw())) == 1


async def test_an_open_flood_does_not_keep_the_simulator_from_stopping() -> None:
    first = asyncio.Event()

    async def read(url: str) -> None:
        async with httpx.AsyncClient(timeout=10) as client, client.stream("GET", f"{url}/trap/endless/1.mp4") as answer:
            async for _ in answer.aiter_raw():
                first.set()

    async with asyncio.timeout(20):
        async with Simulator(SCENARIO) as simulator:
            reading = asyncio.create_task(read(simulator.url))
            await first.wait()
        await reading


async def test_the_endpoint_returns_the_video_url(simulator: Simulator, client: httpx.AsyncClient) -> None:
    id_ = post_id(simulator, "copy")
    body = (await client.get("/tweet-result", params={"id": id_, "token": token_of(int(id_))[:11]})).json()
    assert body["__typename"] == "Tweet"
    assert body["id_str"] == id_
    variants = body["mediaDetails"][0]["video_info"]["variants"]
    assert {each["content_type"] for each in variants} == {"video/mp4", "application/x-mpegURL"}
    best = max(variants, key=lambda each: each.get("bitrate", 0))
    [post] = [post for post in simulator.posts_of("x") if post.id == id_]
    assert best["url"] == simulator.url + post.media
    assert len({each["url"] for each in variants}) == 4


@pytest.mark.parametrize("kind", ["geo_blocked", "loopback", "redirect_private", "endless", "huge", "drip"])
async def test_the_endpoint_leads_into_the_traps(simulator: Simulator, client: httpx.AsyncClient, kind: str) -> None:
    id_ = post_id(simulator, kind)
    body = (await client.get("/tweet-result", params={"id": id_, "token": token_of(int(id_))[:11]})).json()
    variants = body["mediaDetails"][0]["video_info"]["variants"]
    assert all(each["url"].startswith(f"{simulator.url}/trap/{kind}/5001-0-") for each in variants)


@pytest.mark.parametrize(("kind", "words"), [("gone", "deleted"), ("private", "limits who can view")])
async def test_a_deleted_or_protected_post_is_a_tombstone(
    simulator: Simulator, client: httpx.AsyncClient, kind: str, words: str
) -> None:
    id_ = post_id(simulator, kind)
    answer = await client.get("/tweet-result", params={"id": id_, "token": token_of(int(id_))[:11]})
    assert answer.status_code == 200
    assert answer.json()["__typename"] == "TweetTombstone"
    assert words in answer.json()["tombstone"]["text"]["text"]


@pytest.mark.parametrize(
    ("id_", "token", "status"),
    [
        ("1671508600538161153", token_of(1671508600538161153)[:10], 404),
        ("1671508600538161153", "", 400),
        ("1671508600538161153", "abcdefghij", 400),
        ("one", "abcdefghij", 400),
        ("", "", 400),
        ("9" * 400, "abcdefghij", 400),
    ],
)
async def test_an_unknown_post_and_a_wrong_token(client: httpx.AsyncClient, id_: str, token: str, status: int) -> None:
    assert (await client.get("/tweet-result", params={"id": id_, "token": token})).status_code == status


@pytest.mark.parametrize(
    ("post", "token"),
    [
        # ((id / 1e15) * Math.PI).toString(36).replace(/(0+|\.)/g, "")
        (1671508600538161153, "41v7632hztx"),
        (1992187654321098765, "4tun45sekjs"),
        (1730000000000000000, "46yye21k8o"),
    ],
)
def test_a_token_as_a_browser_writes_it_fits(post: int, token: str) -> None:
    assert fits(token, post)
    assert not fits(token, post + 10**12)
