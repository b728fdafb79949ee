"""Each simulated host leads the real downloader to its post's video; switched otherwise, the clip is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.discovery.serving import serving

from footy_simulator.bluesky import bluesky_routes, post_view
from footy_simulator.clip_hosts import clip_host_link, clip_host_routes, host_of
from footy_simulator.posts import Platform, SocialPost
from footy_simulator.scenario import BlueskyService, ClipHostName, ClipHostService
from found_footy.clips.download_http import DownloadLimits
from found_footy.clips.downloader import open_downloader
from found_footy.clips.hosts import is_video_link
from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected

NAMES: tuple[ClipHostName, ...] = get_args(ClipHostName)


def post(number: int, platform: Platform = "reddit") -> SocialPost:
    at = datetime(2026, 8, 22, 15, 0, tzinfo=UTC)
    return SocialPost(platform, f"p{number}", "goalsdaily", "A goal & <more>", at, 12.0, f"/media/copy-{number}.mp4")


def video(name: str) -> bytes:
    return b"\0\0\0\x18ftypmp42" + name.encode() * 50


async def media(request: Request) -> Response:
    return Response(video(request.path_params["name"]), media_type="video/mp4")


POSTS = [post(number) for number in range(80)]
BY_HOST = {host_of(each): each for each in POSTS}


def visible(platform: Platform) -> Sequence[SocialPost]:
    return POSTS if platform == "reddit" else [post(1, "bluesky")]


class ClipHostClient:
    def __init__(self, url: str, target: Path) -> None:
        self.url = url
        self._target = target

    async def fetch(self, link: str) -> bytes:
        limits = DownloadLimits(100_000, 60, 5, [self.url.removeprefix("http://")])
        downloader = open_downloader(
            limits,
            x_syndication_url=self.url,
            fxtwitter_url=self.url,
            x_url="https://x.com",
            drop_folder=None,
            plc_url=f"{self.url}/plc",
        )
        try:
            await downloader.fetch(link, self._target)
        finally:
            await downloader.aclose()
        return self._target.read_bytes()


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Callable[..., object]]:
    async with AsyncExitStack() as stack:

        async def start(hosts: ClipHostService | None = None, bluesky: BlueskyService | None = None) -> ClipHostClient:
            def routes(url: str) -> list[Route]:
                return [
                    *bluesky_routes(visible, lambda: url, "h", "p", bluesky or BlueskyService()),
                    *clip_host_routes(visible, lambda: url, hosts or ClipHostService()),
                    Route("/media/{name}", media),
                ]

            return ClipHostClient(await stack.enter_async_context(serving(routes)), tmp_path / "clip.mp4")

        yield start


@pytest.mark.parametrize("name", NAMES)
async def test_a_host_leads_to_its_video(served: Callable[..., object], name: ClipHostName) -> None:
    world = await served()  # type: ignore[misc]
    link = clip_host_link(BY_HOST[name], world.url)
    assert is_video_link(link, [world.url.removeprefix("http://")])
    assert await world.fetch(link) == video(BY_HOST[name].media.rpartition("/")[2])


@pytest.mark.parametrize("name", NAMES)
async def test_a_dead_hosts_clips_are_gone(served: Callable[..., object], name: ClipHostName) -> None:
    world = await served(ClipHostService(dead=(name,)))  # type: ignore[misc]
    with pytest.raises(CandidateRejected) as raised:
        await world.fetch(clip_host_link(BY_HOST[name], world.url))
    assert raised.value.reason == RejectionReason.GONE


async def test_streamffs_placeholder_means_deleted(served: Callable[..., object]) -> None:
    world = await served(ClipHostService(streamff="placeholder"))  # type: ignore[misc]
    with pytest.raises(CandidateRejected) as raised:
        await world.fetch(clip_host_link(BY_HOST["streamff"], world.url))
    assert raised.value.reason == RejectionReason.GONE


@pytest.mark.parametrize("blobs", ["served", "refused"])
async def test_a_bluesky_video_comes_from_the_pds_or_the_cdn(served: Callable[..., object], blobs: str) -> None:
    world = await served(bluesky=BlueskyService(blobs=blobs))  # type: ignore[misc, arg-type]
    playlist = post_view(post(1, "bluesky"), world.url)["embed"]["playlist"]
    assert await world.fetch(playlist) == video("copy-1.mp4")
