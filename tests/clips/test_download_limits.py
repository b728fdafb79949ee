"""Bytes, seconds and redirects are bounded, whatever the server does; nothing is left behind."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from pathlib import Path

import pytest

from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected, DownloadUnavailable, FootyError
from tests.clips.conftest import Open, Serve, names_in, saved
from tests.clips.hostile_server import VIDEO, HostileServer, Reply, html, redirect

MB = b"\0" * 1_000_000


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(VIDEO, then=bytes(10_000), unmeasured=True), RejectionReason.TOO_LARGE),
        (Reply(VIDEO, length=10 * 1024**3, then=b" ", pause=0.05), RejectionReason.TOO_LARGE),
        (Reply(gzip.compress(MB * 50, 1), headers={"Content-Encoding": "gzip"}), RejectionReason.TOO_LARGE),
        (Reply(zlib.compress(MB * 50, 1), headers={"Content-Encoding": "deflate"}), RejectionReason.TOO_LARGE),
        (Reply(VIDEO + b"no gzip", headers={"Content-Encoding": "gzip"}), RejectionReason.BROKEN),
        (Reply(VIDEO, headers={"Content-Encoding": "br"}), RejectionReason.UNSUPPORTED),
        (Reply(VIDEO, headers={"Content-Encoding": "gzip, gzip"}), RejectionReason.UNSUPPORTED),
        (Reply(b""), RejectionReason.NOT_A_VIDEO),
        (Reply(b"{}", kind="application/json"), RejectionReason.NOT_A_VIDEO),
        (Reply(b"\xff\xd8\xff", kind="image/jpeg"), RejectionReason.NOT_A_VIDEO),
        (html("<h1>No video here</h1>"), RejectionReason.NOT_A_VIDEO),
        (Reply(b"<html>", kind="video/mp4"), RejectionReason.NOT_A_VIDEO),
        (Reply(status=404), RejectionReason.GONE),
        (Reply(status=401), RejectionReason.PRIVATE),
        (html("Not available in your region", 403), RejectionReason.GEO_BLOCKED),
        (Reply(b"no", 403, "text/plain", then=b"x" * 1000, unmeasured=True), RejectionReason.PRIVATE),
        (Reply(status=451), RejectionReason.GEO_BLOCKED),
        (Reply(status=418), RejectionReason.UNREACHABLE),
        (redirect("/again.mp4"), RejectionReason.UNREACHABLE),
        (redirect("ftp://example.org/v.mp4"), RejectionReason.UNSUPPORTED),
        (redirect("http://[bad"), RejectionReason.UNSUPPORTED),
    ],
)
async def test_a_loss_has_its_class(
    serve: Serve, opened: Open, target: Path, reply: Reply, reason: RejectionReason
) -> None:
    server = await serve(reply)
    with pytest.raises(CandidateRejected) as raised:
        await opened(server).fetch(f"{server.url}/v.mp4?key=secret", target)
    assert raised.value.reason == reason
    assert "secret" not in str(raised.value)
    assert len(str(raised.value)) < 300
    assert names_in(target.parent) == []


async def test_an_endless_body_is_abandoned_soon(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(Reply(VIDEO, then=bytes(10_000), unmeasured=True))
    with pytest.raises(CandidateRejected):
        await opened(server, max_bytes=50_000).fetch(f"{server.url}/v.mp4", target)
    assert server.sent < 50_000_000


@pytest.mark.parametrize(
    "reply",
    [
        Reply(VIDEO, length=90_000, then=b" ", pause=0.02),
        Reply(VIDEO, unmeasured=True, then=b" ", pause=0.02),
        Reply(b"<html>", kind="text/html", then=b" ", pause=0.02, unmeasured=True),
    ],
)
async def test_a_drip_is_too_slow(serve: Serve, opened: Open, target: Path, reply: Reply) -> None:
    server = await serve(reply)
    with pytest.raises(CandidateRejected) as raised:
        await opened(server, max_seconds=3).fetch(f"{server.url}/v.mp4", target)
    assert raised.value.reason == RejectionReason.TOO_SLOW
    assert names_in(target.parent) == []


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500),
        Reply(status=503),
        Reply(status=429),
        Reply(VIDEO, length=len(VIDEO) + 10),
        Reply(VIDEO, headers={"X": "y" * 200_000}),
        Reply(VIDEO, headers={"Content-Length": "many"}, unmeasured=True),
    ],
)
async def test_retryable_errors_are_not_rejections(serve: Serve, opened: Open, target: Path, reply: Reply) -> None:
    server = await serve(reply)
    with pytest.raises(DownloadUnavailable) as failed:
        await opened(server).fetch(f"{server.url}/v.mp4?key=secret", target)
    assert failed.value.retryable
    assert "secret" not in str(failed.value)
    assert names_in(target.parent) == []


@pytest.mark.parametrize(
    "said", [b"", b"\0\1\2\r\n\r\n", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"]
)
async def test_a_server_that_does_not_speak_http_is_retryable(opened: Open, target: Path, said: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(DownloadUnavailable):
            await opened(host).fetch(f"http://{host}/v.mp4", target)


async def test_a_silent_server_is_retryable(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(Reply(silent=True))
    with pytest.raises(DownloadUnavailable):
        await opened(server, max_seconds=0.5).fetch(f"{server.url}/v.mp4", target)


async def test_a_refused_connection_may_pass(opened: Open, target: Path) -> None:
    async with HostileServer(Reply()) as server:
        host = server.host
    with pytest.raises(DownloadUnavailable):
        await opened(host).fetch(f"http://{host}/v.mp4", target)


@pytest.mark.parametrize(("hops", "arrives"), [(0, True), (3, True), (4, False)])
async def test_redirects_are_counted(serve: Serve, opened: Open, target: Path, hops: int, arrives: bool) -> None:
    ways = {f"/{n}": redirect(f"{n + 1}", status) for n, status in enumerate((301, 302, 303, 307, 308)[:hops])}
    server = await serve({**ways, f"/{hops}": Reply(VIDEO)})
    try:
        await opened(server, max_redirects=3).fetch(f"{server.url}/0", target)
    except FootyError:
        assert not arrives
        return
    assert arrives
    assert saved(target) == VIDEO


async def test_a_packed_video_within_bounds_is_unpacked(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(Reply(gzip.compress(VIDEO), headers={"Content-Encoding": "gzip"}))
    await opened(server).fetch(f"{server.url}/v.mp4", target)
    assert saved(target) == VIDEO
    assert server.requests[0].headers["accept-encoding"] == "identity"


async def test_no_cookie_is_carried_from_one_download_to_the_next(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(Reply(VIDEO, headers={"Set-Cookie": "who=you; Path=/"}))
    downloader = opened(server)
    for _ in range(2):
        await downloader.fetch(f"{server.url}/v.mp4", target)
    assert all("cookie" not in request.headers for request in server.requests)


async def test_a_cancelled_download_leaves_nothing(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(Reply(VIDEO, unmeasured=True, then=b" ", pause=0.01))
    task = asyncio.create_task(opened(server).fetch(f"{server.url}/v.mp4", target))
    while not names_in(target.parent) or not server.sent:
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert names_in(target.parent) == []


async def test_an_older_file_stays_until_the_new_one_is_whole(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve({"/good.mp4": Reply(VIDEO), "/old.mp4": Reply(VIDEO + b"old")})
    await opened(server).fetch(f"{server.url}/old.mp4", target)
    with pytest.raises(CandidateRejected):
        await opened(server).fetch(f"{server.url}/bad.mp4", target)
    assert saved(target) == VIDEO + b"old"
    await opened(server).fetch(f"{server.url}/good.mp4", target)
    assert saved(target) == VIDEO
    assert names_in(target.parent) == [target.name]


async def test_a_folder_that_cannot_be_written_to_may_be_better_later(
    serve: Serve, opened: Open, tmp_path: Path
) -> None:
    server = await serve(Reply(VIDEO))
    with pytest.raises(DownloadUnavailable, match="could not be saved"):
        await opened(server).fetch(f"{server.url}/v.mp4", tmp_path / "missing" / "clip.mp4")
