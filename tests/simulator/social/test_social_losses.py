"""Every dead link, got by the real sources and downloader from the simulator.

Each is lost for the reason that the verdict asks for, from whatever place its link comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from social_helpers import scenario_with

from footy_simulator.checks import allowed_rejections
from footy_simulator.clips.models import DEAD
from footy_simulator.server import Simulator
from found_footy.clips.download_http import DownloadLimits
from found_footy.clips.downloader import open_downloader
from found_footy.discovery.bluesky import Bluesky
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.reddit import Reddit
from found_footy.discovery.sources import SocialSource
from found_footy.errors import CandidateRejected

KINDS = tuple(sorted(DEAD))
# Each kind twice: the first of a pair is posted on Bluesky, the second on Reddit.
SCENARIO = scenario_with(*(kind for kind in KINDS for _ in range(2)))
QUERY = SearchQuery(("Smith",), ("Town",))


def _now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    async with Simulator(SCENARIO, lockstep=False, speed=1e9) as simulator:
        yield simulator


@pytest.fixture
async def sources(simulator: Simulator) -> AsyncIterator[list[SocialSource]]:
    handle, password = simulator.bluesky_handle, simulator.bluesky_password
    hosts = (urlsplit(simulator.url).netloc,)
    sources: list[SocialSource] = [
        Bluesky(simulator.url, handle, password, timeout=60, now=_now),
        Reddit(simulator.url, "soccer", timeout=60, extra_hosts=hosts, now=_now),
    ]
    yield sources
    for source in sources:
        await source.aclose()


async def loss_of(simulator: Simulator, kind: str, media_url: str, to: Path) -> str:
    # Only a drip waits for the end of its time.
    seconds = 15 if kind == "drip" else 60
    limits = DownloadLimits(5_000_000, seconds, 5, private_hosts=(urlsplit(simulator.url).netloc,))
    downloader = open_downloader(
        limits,
        x_syndication_url=simulator.url,
        fxtwitter_url=simulator.url,
        x_url=simulator.url,
        drop_folder=None,
        plc_url=f"{simulator.url}/plc",
    )
    try:
        await downloader.fetch(media_url, to)
    except CandidateRejected as error:
        return error.reason
    finally:
        await downloader.aclose()
    return "nothing lost"


async def test_each_is_rejected_for_its_true_reason_on_every_source(
    simulator: Simulator, sources: list[SocialSource], tmp_path: Path
) -> None:
    links = [
        (simulator.clip_of(source.name, post.id), post.media_url)
        for source in sources
        for post in await source.search(QUERY, _now() - timedelta(minutes=3))
    ]
    links += [
        (simulator.clip_of("x", post.id), f"{simulator.url}/{post.author}/status/{post.id}")
        for post in simulator.posts_of("x")
        if simulator.clip_of("x", post.id) is not None
    ]
    assert len(links) == 4 * len(KINDS), "each of a pair on X, and on one of the others"
    clips = [clip for clip, _ in links if clip is not None]
    assert len(clips) == len(links), "nothing that is old, and no chatter"
    # The drips take their time side by side, while the others come one after the other.
    waiting = {
        link: asyncio.create_task(loss_of(simulator, clip.kind, link, tmp_path / f"{number}.mp4"))
        for number, (clip, (_, link)) in enumerate(zip(clips, links, strict=True))
        if clip.kind == "drip"
    }
    wrong = []
    for clip, (_, link) in zip(clips, links, strict=True):
        loss = await (waiting.get(link) or loss_of(simulator, clip.kind, link, tmp_path / "clip.mp4"))
        if loss not in allowed_rejections(clip, SCENARIO.matches[0], 0):
            wrong.append((clip.kind, link, loss))
    assert wrong == []
