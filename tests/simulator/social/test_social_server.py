"""All of it joined: a poll brings posts to light, and each place leads to their videos in its own way."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from social_helpers import scenario_with
from tests.support.clocks import SecondsClock

from footy_simulator.clips.encode import render
from footy_simulator.clips.plan import all_clips
from footy_simulator.posts import Platform
from footy_simulator.server import Simulator

# The files that make no work: what is behind a link is looked at elsewhere.
SCENARIO = scenario_with("html", "zip", "gone", "geo_blocked", minute=2)


@pytest.fixture
def wall() -> SecondsClock:
    return SecondsClock()


@pytest.fixture
async def simulator(wall: SecondsClock, tmp_path: Path) -> AsyncIterator[Simulator]:
    for clip in all_clips(SCENARIO):
        render(clip, tmp_path)
    async with Simulator(SCENARIO, time_source=wall, clips_folder=tmp_path) as simulator:
        yield simulator


@pytest.fixture
async def client(simulator: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"x-apisports-key": simulator.key}
    async with httpx.AsyncClient(base_url=simulator.url, headers=headers, timeout=10) as client:
        yield client


async def poll(client: httpx.AsyncClient, wall: SecondsClock, minutes: int) -> None:
    for _ in range(minutes):
        wall.now += 1
        await client.get("/fixtures", params={"ids": "5001"})


def kinds(simulator: Simulator, platform: Platform) -> set[str]:
    posts = simulator.posts_of(platform)
    return {clip.kind for post in posts if (clip := simulator.clip_of(platform, post.id))}


async def test_only_polls_bring_posts_to_light(
    simulator: Simulator, client: httpx.AsyncClient, wall: SecondsClock
) -> None:
    wall.now += 500
    assert simulator.posts_of("x") == ()
    await poll(client, wall, 4)
    assert kinds(simulator, "x") == set(), "the goal is at minute 3, the posts a minute later"
    before = datetime.now(UTC)
    await poll(client, wall, 1)
    assert kinds(simulator, "x") == {"html", "zip", "gone", "geo_blocked"}
    assert kinds(simulator, "bluesky") == {"html", "gone"}
    assert kinds(simulator, "reddit") == {"zip", "geo_blocked"}
    newest = simulator.posts_of("x")[0].posted_at
    assert before <= newest <= datetime.now(UTC)
    await poll(client, wall, 3)
    assert simulator.posts_of("x")[0].posted_at == newest


async def test_x_finds_the_posts(simulator: Simulator, client: httpx.AsyncClient, wall: SecondsClock) -> None:
    await poll(client, wall, 6)
    simulator.x_state.noise = False
    found = (await client.get("/i/api/graphql/simulated/SearchTimeline", params={"q": "(Smith) (Town)"})).json()
    ids = {post["id"] for post in found["posts"]}
    assert {post.id for post in simulator.posts_of("x") if simulator.clip_of("x", post.id)} <= ids


async def test_bluesky_leads_to_the_video_and_into_the_trap(
    simulator: Simulator, client: httpx.AsyncClient, wall: SecondsClock
) -> None:
    await poll(client, wall, 6)
    login = {"identifier": simulator.bluesky_handle, "password": simulator.bluesky_password}
    session = (await client.post("/xrpc/com.atproto.server.createSession", json=login)).json()
    own = session["didDoc"]["service"][0]["serviceEndpoint"]
    found = await client.get(
        f"{own}/xrpc/app.bsky.feed.searchPosts",
        params={"q": "Smith Town"},
        headers={"authorization": f"Bearer {session['accessJwt']}"},
    )
    ends = set()
    for post in found.json()["posts"]:
        blob = {"did": post["author"]["did"], "cid": post["embed"]["cid"]}
        refused = await client.get("/xrpc/com.atproto.sync.getBlob", params=blob)
        document = (await client.get(f"/plc/{blob['did']}")).json()
        pds = document["service"][0]["serviceEndpoint"]
        end = await client.get(f"{pds}/xrpc/com.atproto.sync.getBlob", params=blob, follow_redirects=True)
        ends.add((refused.status_code, end.status_code, end.url.path.split("/")[1]))
    assert pds != own
    assert ends == {(400, 200, "media"), (400, 410, "trap")}
    assert (await client.get("/plc/did:plc:nobody")).status_code == 404


async def test_reddit_links_to_hosts(simulator: Simulator, client: httpx.AsyncClient, wall: SecondsClock) -> None:
    await poll(client, wall, 6)
    headers = {"accept": "text/html", "accept-language": "en"}
    fragment = await client.get("/svc/shreddit/community-more-posts/new/", params={"name": "soccer"}, headers=headers)
    assert "Town [1] - 0 Rovers - Smith 2&#x27;" in fragment.text
    assert (await client.get("/r/soccer/new.json")).status_code == 403
    links = re.findall(r'content-href="(http[^"]+)"', fragment.text)
    assert len(links) == 2, "what every subreddit has besides leads nowhere"
    assert all(link.startswith(f"{simulator.url}/hosts/") for link in links)


async def test_a_team_has_names(client: httpx.AsyncClient) -> None:
    params = {"action": "wbsearchentities", "search": "Town", "language": "en"}
    assert (await client.get("/w/api.php", params=params)).json()["search"]


async def test_remaining_posts_appear_after_the_last_match(wall: SecondsClock) -> None:
    async with Simulator(scenario_with("html +99m"), time_source=wall, max_step=1e6) as simulator:
        headers = {"x-apisports-key": simulator.key}
        async with httpx.AsyncClient(base_url=simulator.url, headers=headers) as client:
            for seconds, settled, shown in ((0, False, set()), (80, False, set()), (20, True, {"html"})):
                wall.now += seconds
                await client.get("/fixtures", params={"ids": "5001"})
                assert simulator.state().settled is settled
                assert kinds(simulator, "x") == shown


async def test_an_old_post_is_there_from_the_first_poll_on(
    simulator: Simulator, client: httpx.AsyncClient, wall: SecondsClock
) -> None:
    await poll(client, wall, 1)
    [old] = [
        post for post in simulator.posts_of("x") if simulator.clip_of("x", post.id) is None and "memory" in post.media
    ]
    assert datetime.now(UTC) - old.posted_at > timedelta(minutes=10)
