"""A scenario's switches for X and FxEmbed: the wall, and a download that falls back from syndication to FxEmbed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from social_helpers import scenario_with

from footy_simulator.scenario import ScriptedServices
from footy_simulator.server import Simulator
from found_footy.clips.download_http import DownloadLimits
from found_footy.clips.downloader import open_downloader
from found_footy.clips.models import RejectionReason
from found_footy.discovery.fxtwitter import FxTwitter
from found_footy.discovery.query import SearchQuery
from found_footy.errors import CandidateRejected, DownloadUnavailable, SourceUnavailable

QUERY = SearchQuery(("Smith",), ("Town",))


def simulator_with(*clips: str, **services: dict[str, Any]) -> Simulator:
    scenario = scenario_with(*clips).model_copy(update={"services": ScriptedServices(**services)})
    return Simulator(scenario, lockstep=False, speed=1e9)


async def links_of(simulator: Simulator) -> dict[str, str]:
    """The kind of clip to the post that FxEmbed finds."""
    source = FxTwitter(simulator.url, simulator.url, timeout=30)
    try:
        posts = await source.search(QUERY, datetime.now(UTC) - timedelta(minutes=3))
    finally:
        await source.aclose()
    clips = {simulator.clip_of(post.source, post.id): post.media_url for post in posts}
    return {clip.kind: link for clip, link in clips.items() if clip is not None}


async def failure(simulator: Simulator, link: str, to: Path) -> str:
    limits = DownloadLimits(5_000_000, 60, 5, private_hosts=(urlsplit(simulator.url).netloc,))
    places = dict.fromkeys(("x_syndication_url", "fxtwitter_url", "x_url"), simulator.url)
    downloader = open_downloader(limits, drop_folder=None, **places)
    with pytest.raises((CandidateRejected, DownloadUnavailable)) as raised:
        await downloader.fetch(link, to)
    await downloader.aclose()
    return raised.value.reason if isinstance(raised.value, CandidateRejected) else "later"


@pytest.mark.parametrize(
    ("services", "trapped", "gone"),
    [
        ({}, RejectionReason.GEO_BLOCKED, RejectionReason.GONE),
        # FxEmbed leads to the video; that a post is gone it alone cannot prove.
        ({"x": {"syndication": "down"}}, RejectionReason.GEO_BLOCKED, "later"),
        ({"fxtwitter": {"state": "empty"}}, RejectionReason.GEO_BLOCKED, RejectionReason.GONE),
        ({"x": {"syndication": "down"}, "fxtwitter": {"state": "down"}}, "later", "later"),
    ],
)
async def test_a_post_leads_to_its_video_while_one_of_two_answers(
    services: dict[str, Any], trapped: str, gone: str, tmp_path: Path
) -> None:
    async with simulator_with("geo_blocked", "gone") as found:
        kinds = set(await links_of(found))
    assert kinds == {"geo_blocked", "gone"}
    async with simulator_with("geo_blocked", "gone", **services) as simulator:
        posts = {
            clip.kind: f"{simulator.url}/{post.author}/status/{post.id}"
            for post in simulator.posts_of("x")
            if (clip := simulator.clip_of("x", post.id)) is not None
        }
        assert await failure(simulator, posts["geo_blocked"], tmp_path / "a.mp4") == trapped
        assert await failure(simulator, posts["gone"], tmp_path / "b.mp4") == gone


@pytest.mark.parametrize("state", ["down", "empty"])
async def test_a_search_that_is_down_is_never_empty(state: str) -> None:
    async with simulator_with("gone", fxtwitter={"state": state}) as simulator:
        with pytest.raises(SourceUnavailable):
            await links_of(simulator)


@pytest.mark.parametrize(("wall", "status"), [(False, 200), (True, 302)])
async def test_the_login_wall_redirects_to_the_onboarding_page(wall: bool, status: int) -> None:
    async with simulator_with(x={"wall": wall}) as simulator, httpx.AsyncClient() as client:
        answer = await client.get(f"{simulator.url}/search", params={"q": "goal", "f": "live"})
        assert answer.status_code == status
        assert answer.headers.get("location", "").startswith("/i/jf/onboarding/web?") is wall
