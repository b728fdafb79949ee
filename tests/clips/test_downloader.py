"""Each kind of link has its way: pages, posts, playlists, and what only yt-dlp understands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected, DownloadUnavailable
from tests.clips.conftest import Open, Serve, names_in, saved
from tests.clips.hostile_server import VIDEO, Reply, html, redirect

ID = "1846987139428634858"


def told(*links: str) -> Reply:
    variants = [{"content_type": "video/mp4", "bitrate": rate, "url": link} for rate, link in enumerate(links)]
    body = {"__typename": "Tweet", "mediaDetails": [{"type": "video", "video_info": {"variants": variants}}]}
    return Reply(json.dumps(body).encode(), kind="application/json")


@pytest.mark.parametrize("kind", ["video/mp4", "application/octet-stream", "text/plain"])
async def test_a_direct_link(serve: Serve, opened: Open, target: Path, kind: str) -> None:
    server = await serve(Reply(VIDEO, kind=kind))
    await opened(server).fetch(f"{server.url}/v", target)
    assert saved(target) == VIDEO
    assert names_in(target.parent) == [target.name]


@pytest.mark.parametrize(
    "page",
    [
        '<video src="/v/1.mp4?t=2#t=0.1">',
        '<video><source src="../v/1.mp4" type="video/mp4"></video>',
        '<meta property="og:video:secure_url" content="/v/1.mp4">',
        '<meta property="og:video" content="/player">',
        '<video src="/gone.mp4"></video><meta name="twitter:player:stream" content="/v/1.mp4">',
    ],
)
async def test_a_page_leads_to_its_video(serve: Serve, opened: Open, target: Path, page: str) -> None:
    player = html('<video src="v/1.mp4">')
    server = await serve({"/c/goal": html(page), "/player": player, "/v/1.mp4": Reply(VIDEO)})
    await opened(server).fetch(f"{server.url}/c/goal", target)
    assert saved(target) == VIDEO


@pytest.mark.parametrize(
    ("linked", "reason"),
    [
        (Reply(status=404), RejectionReason.GONE),
        (Reply(status=403), RejectionReason.PRIVATE),
        (Reply(VIDEO, length=10**10), RejectionReason.TOO_LARGE),
    ],
)
async def test_a_page_is_rejected_for_the_reason_of_its_video(
    serve: Serve, opened: Open, target: Path, linked: Reply, reason: RejectionReason
) -> None:
    server = await serve({"/goal": html('<video src="/v.mp4">'), "/v.mp4": linked})
    await rejected(opened(server), f"{server.url}/goal", target, reason)


async def test_pages_that_point_at_each_other_end(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(lambda request: html(f'<video src="{request.path}x">'))
    await rejected(opened(server), f"{server.url}/goal", target, RejectionReason.NOT_A_VIDEO)
    assert len(server.requests) < 10


async def test_an_unfinished_page_is_read_as_far_as_it_may_be(serve: Serve, opened: Open, target: Path) -> None:
    endless = Reply(b'<html><video src="/v.mp4">', kind="text/html", then=b"<p>" * 10_000, unmeasured=True)
    server = await serve({"/goal": endless, "/v.mp4": Reply(VIDEO)})
    await opened(server).fetch(f"{server.url}/goal", target)
    assert saved(target) == VIDEO


@pytest.mark.parametrize("link", [f"https://x.com/someone/status/{ID}", f"https://twitter.com/i/status/{ID}?s=20"])
async def test_a_post_on_x(serve: Serve, opened: Open, target: Path, link: str) -> None:
    server = await serve({})
    server.answers = {
        "/tweet-result": told(f"{server.url}/small.mp4", f"{server.url}/large.mp4"),
        "/large.mp4": Reply(VIDEO),
    }
    await opened(server).fetch(link, target)
    assert saved(target) == VIDEO
    assert server.requests[0].target == f"/tweet-result?id={ID}&token=4h6hbo73epi"


async def test_a_link_that_leads_to_a_post(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve({})
    server.answers = {
        "/short": redirect(f"/someone/status/{ID}"),
        f"/someone/status/{ID}": html("<title>X</title>"),
        "/tweet-result": told(f"{server.url}/v.mp4"),
        "/v.mp4": Reply(VIDEO),
    }
    await opened(server, x=server.url).fetch(f"{server.url}/short", target)
    assert saved(target) == VIDEO


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Reply(status=404), RejectionReason.GONE),
        (Reply(b"", kind="application/json"), RejectionReason.GONE),
        (Reply(b"{}"), RejectionReason.GONE),
        (
            Reply(b'{"tombstone": {"text": {"text": "this account owner limits who can view"}}}'),
            RejectionReason.PRIVATE,
        ),
        (Reply(b'{"text": "only words"}'), RejectionReason.NOT_A_VIDEO),
        (told("file:///etc/passwd"), RejectionReason.UNSUPPORTED),
    ],
)
async def test_a_post_that_is_rejected(
    serve: Serve, opened: Open, target: Path, answer: Reply, reason: RejectionReason
) -> None:
    server = await serve({"/tweet-result": answer})
    await rejected(opened(server), f"https://x.com/someone/status/{ID}", target, reason)


def embedded(*links: str) -> Reply:
    formats = [{"container": "mp4", "bitrate": rate, "url": link} for rate, link in enumerate(links)]
    media = {"videos": [{"type": "video", "formats": formats}]}
    body = {"code": 200, "status": {"type": "status", "id": ID, "media": media}}
    return Reply(json.dumps(body).encode(), kind="application/json")


@pytest.mark.parametrize(
    "syndication",
    [
        pytest.param(Reply(status=503), id="503"),
        pytest.param(Reply(status=429), id="429"),
        pytest.param(Reply(status=404), id="404, as for a post that is seconds old"),
        pytest.param(Reply(b"{}"), id="nothing known"),
        pytest.param(html("no JSON"), id="no JSON"),
        pytest.param(Reply(b'{"tombstone": {"text": {"text": "Age-restricted adult content"}}}'), id="tombstone"),
        pytest.param(Reply(b'{"text": "only words"}'), id="no video"),
    ],
)
async def test_fxembed_is_requested_if_syndication_fails(
    serve: Serve, opened: Open, target: Path, syndication: Reply
) -> None:
    server = await serve({})
    server.answers = {
        "/tweet-result": syndication,
        f"/2/status/{ID}": embedded(f"{server.url}/small.mp4", f"{server.url}/large.mp4"),
        "/large.mp4": Reply(VIDEO),
    }
    await opened(server).fetch(f"https://x.com/someone/status/{ID}", target)
    assert saved(target) == VIDEO
    asked = [request.path for request in server.requests]
    assert asked == ["/tweet-result", f"/2/status/{ID}", "/large.mp4"]


async def test_fxembed_is_not_requested_if_syndication_responds(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve({})
    server.answers = {"/tweet-result": told(f"{server.url}/v.mp4"), "/v.mp4": Reply(VIDEO)}
    await opened(server).fetch(f"https://x.com/someone/status/{ID}", target)
    assert [request.path for request in server.requests] == ["/tweet-result", "/v.mp4"]


@pytest.mark.parametrize(
    ("syndication", "fxembed", "reason"),
    [
        (Reply(status=404), Reply(b'{"code": 404, "status": null}', 404), RejectionReason.GONE),
        (Reply(status=404), Reply(b"<html>404</html>", 404), RejectionReason.GONE),
        (Reply(status=404), Reply(status=503), None),
        (Reply(status=503), Reply(b'{"code": 404, "status": null}', 404), None),
        (Reply(status=503), Reply(b'{"code": 500}', 500), None),
        (Reply(status=503), Reply(status=429), None),
        (Reply(status=503), Reply(b"[" * 100_000), None),
    ],
)
async def test_a_post_is_deleted_only_if_both_report_it(
    serve: Serve, opened: Open, target: Path, syndication: Reply, fxembed: Reply, reason: RejectionReason | None
) -> None:
    server = await serve({"/tweet-result": syndication, f"/2/status/{ID}": fxembed})
    with pytest.raises((CandidateRejected, DownloadUnavailable)) as raised:
        await opened(server).fetch(f"https://x.com/someone/status/{ID}", target)
    assert (raised.value.reason if isinstance(raised.value, CandidateRejected) else None) == reason
    assert names_in(target.parent) == []


async def test_a_post_that_links_to_a_page_is_not_a_video(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve({})
    server.answers = {"/tweet-result": told(f"{server.url}/v"), "/v": html('<video src="/v.mp4">')}
    await rejected(opened(server), f"https://x.com/someone/status/{ID}", target, RejectionReason.NOT_A_VIDEO)


@pytest.mark.parametrize(
    "answer",
    [Reply(status=403), Reply(status=429), Reply(status=500), html("no JSON"), Reply(b"[1]"), Reply(b"[" * 100_000)],
)
async def test_an_inconclusive_endpoint_is_retryable(serve: Serve, opened: Open, target: Path, answer: Reply) -> None:
    server = await serve(answer)
    with pytest.raises(DownloadUnavailable):
        await opened(server).fetch(f"https://x.com/someone/status/{ID}", target)


async def rejected(downloader: Any, link: str, target: Path, reason: RejectionReason) -> None:
    with pytest.raises(CandidateRejected) as raised:
        await downloader.fetch(link, target)
    assert raised.value.reason == reason
    assert names_in(target.parent) == []
