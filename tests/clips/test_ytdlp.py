"""yt-dlp in its own process: what it finds, what it says, and that it can be killed and kept from our network."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected, DownloadUnavailable
from tests.clips.conftest import Open, Serve, names_in, saved
from tests.clips.hostile_server import VIDEO, Answers, HostileServer, Reply, html, redirect

PLAYER = '<html><body><script>jwplayer("p").setup({"file": "%s", "title": "Goal"});</script></body></html>'
"""A page that names its video only in a script: not for us, but for yt-dlp."""


def playlist(*parts: str) -> Reply:
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:4"]
    for part in parts:
        lines += ["#EXTINF:4.0,", part]
    return Reply("\n".join([*lines, "#EXT-X-ENDLIST", ""]).encode(), kind="application/vnd.apple.mpegurl")


async def test_a_page_that_only_yt_dlp_understands(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve({})
    server.answers = {"/goal": html(PLAYER % f"{server.url}/v.mp4"), "/v.mp4": Reply(VIDEO)}
    await opened(server).fetch(f"{server.url}/goal", target)
    assert saved(target) == VIDEO
    assert names_in(target.parent) == [target.name]


async def test_a_playlist_is_put_together(serve: Serve, opened: Open, target: Path) -> None:
    # Segments that are no transport stream stay as they are; test_hls.py has the others.
    parts = {f"/{n}.mp4": Reply(VIDEO[n * 3000 : n * 3000 + 3000]) for n in range(3)}
    server = await serve({"/list.m3u8": playlist("0.mp4", "1.mp4", "2.mp4"), **parts})
    await opened(server).fetch(f"{server.url}/list.m3u8", target)
    assert saved(target) == b"".join(reply.body for reply in parts.values())


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"/goal": html("<h1>Nothing to see</h1>")}, RejectionReason.UNSUPPORTED),
        ({"/goal": html(PLAYER % "/v.mp4"), "/v.mp4": Reply(VIDEO * 20)}, RejectionReason.TOO_LARGE),
        ({"/goal": html(PLAYER % "http://169.254.169.254/v.mp4")}, RejectionReason.FORBIDDEN_ADDRESS),
        ({"/goal": playlist("a.ts"), "/a.ts": Reply(status=404)}, RejectionReason.GONE),
        ({"/goal": playlist("a.ts"), "/a.ts": redirect("http://127.0.0.1:9/")}, RejectionReason.FORBIDDEN_ADDRESS),
        ({"/goal": playlist("a.ts"), "/a.ts": redirect("http://[::1]/a.ts")}, RejectionReason.FORBIDDEN_ADDRESS),
        ({"/goal": playlist("a.ts", "http://10.0.0.1/b.ts"), "/a.ts": Reply(b"G")}, RejectionReason.FORBIDDEN_ADDRESS),
        ({"/goal": playlist("a.ts"), "/a.ts": Reply(bytes(300_000), unmeasured=True)}, RejectionReason.TOO_LARGE),
    ],
)
async def test_ytdlp_failures_have_an_error_class(
    serve: Serve, opened: Open, target: Path, answers: Answers, reason: RejectionReason
) -> None:
    server = await serve(answers)
    with pytest.raises(CandidateRejected) as raised:
        await opened(server, max_bytes=150_000).fetch(f"{server.url}/goal?key=secret", target)
    assert raised.value.reason == reason
    assert "secret" not in str(raised.value)
    assert names_in(target.parent) == []


async def test_a_server_that_fails_may_be_better_later(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve({"/goal": playlist("a.ts"), "/a.ts": Reply(status=503)})
    with pytest.raises(DownloadUnavailable):
        await opened(server).fetch(f"{server.url}/goal", target)
    assert names_in(target.parent) == []


async def test_the_process_is_killed_on_cancellation(serve: Serve, opened: Open, target: Path) -> None:
    drip = Reply(b"G", length=90_000, then=b" ", pause=0.05)
    server = await serve({"/goal": playlist("a.ts"), "/a.ts": drip})
    before = _sandboxed()
    task = asyncio.create_task(opened(server).fetch(f"{server.url}/goal", target))
    await _asked_for(server, "/a.ts")
    started = _sandboxed() - before
    assert started
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while started & _sandboxed():
        await asyncio.sleep(0.01)
    assert names_in(target.parent) == []


async def test_the_process_inherits_no_environment(
    serve: Serve, opened: Open, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = await serve(Reply(VIDEO))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    server = await serve({"/goal": playlist("a.ts"), "/a.ts": Reply(VIDEO)})
    await opened(server, proxy).fetch(f"{server.url}/goal", target)
    assert saved(target) == VIDEO
    assert proxy.requests == []


async def _asked_for(server: HostileServer, path: str) -> None:
    while path not in [request.path for request in server.requests]:
        await asyncio.sleep(0.01)


def _sandboxed() -> set[str]:
    """Live grandchildren of this process: those that its fork servers forked."""
    parents: dict[str, str] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[status.parent.name] = parent
    return {pid for pid, parent in parents.items() if parents.get(parent) == str(os.getpid())}


async def test_curl_cffi_is_hidden_unless_it_is_allowed() -> None:
    """libcurl connects by itself, so the address guard would not see it."""
    code = (
        "from found_footy.clips import ytdlp_process as child\n"
        "from found_footy.runtime.sandbox_child import SandboxContext, SocketGuard\n"
        "request = {'impersonate': False, 'generic': True, 'js_runtimes': {}, 'max_bytes': 1, 'folder': '.',"
        " 'max_duration_seconds': None, 'read_timeout_seconds': 1, 'url': 'http://127.0.0.1:9/'}\n"
        "child.download(SandboxContext(1, 1, None, SocketGuard(None)), request)\n"
        "from yt_dlp.dependencies import curl_cffi\n"
        "assert curl_cffi is None\n"
        "try:\n    import curl_cffi\nexcept ImportError:\n    print('hidden')\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert (process.returncode, out) == (0, b"hidden\n")
