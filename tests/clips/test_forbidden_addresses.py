"""No link leads into our own network: not directly, not by a redirect, a page, a post, or a name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected, DownloadUnavailable
from tests.clips.conftest import Open, Serve, names_in, saved
from tests.clips.hostile_server import VIDEO, Reply, html, redirect

INSIDE = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://localhost/",
    "http://0.0.0.0/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://10.0.0.1/",
    "http://192.168.0.1:8080/",
    "http://169.254.169.254/latest/meta-data/",
    "https://172.16.0.1/",
    "http://100.64.0.1/",
    "http://224.0.0.1/",
    "http://1.1.1.1:22/",
    "http://user:secret@127.0.0.1/",
]


@pytest.mark.parametrize("link", INSIDE)
async def test_a_link_into_the_local_network_is_rejected(opened: Open, target: Path, link: str) -> None:
    await refused(opened(), link, target)


@pytest.mark.parametrize("link", INSIDE)
async def test_a_redirect_into_the_local_network_is_rejected(
    serve: Serve, opened: Open, target: Path, link: str
) -> None:
    server = await serve(redirect(link))
    await refused(opened(server), f"{server.url}/v.mp4", target)


async def test_a_redirect_to_another_port_of_a_named_host_is_refused(serve: Serve, opened: Open, target: Path) -> None:
    secret = await serve(Reply(VIDEO))
    server = await serve(redirect(f"{secret.url}/v.mp4"))
    await refused(opened(server), f"{server.url}/v.mp4", target)
    assert secret.requests == []


async def test_a_page_must_not_link_into_the_local_network(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(html('<video src="http://169.254.169.254/v.mp4">'))
    await refused(opened(server), f"{server.url}/page", target)


async def test_a_post_must_not_link_into_the_local_network(serve: Serve, opened: Open, target: Path) -> None:
    variant = {"content_type": "video/mp4", "bitrate": 1, "url": "http://127.0.0.1:80/v.mp4"}
    body = json.dumps({"mediaDetails": [{"video_info": {"variants": [variant]}}]}).encode()
    server = await serve(Reply(body, kind="application/json"))
    await refused(opened(server), "https://x.com/someone/status/1846987139428634858", target)


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::ffff:192.168.0.1"], ["fe80::1%lo"]]
)
async def test_a_name_that_resolves_to_a_private_address_is_refused(
    opened: Open, target: Path, addresses: list[str]
) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        assert host == "goals.example"
        return addresses

    await refused(opened(resolve=resolve), "http://goals.example/v.mp4", target)


async def test_a_name_is_resolved_once_for_each_connection(serve: Serve, opened: Open, target: Path) -> None:
    """DNS rebinding: the second answer would lead elsewhere, so there must be no second question."""
    server = await serve(Reply(VIDEO))
    port = int(server.host.rpartition(":")[2])
    asked: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    await opened(f"goals.example:{port}", resolve=resolve).fetch(f"http://goals.example:{port}/v.mp4", target)
    assert asked == ["goals.example"]
    assert server.requests[0].headers["host"] == f"goals.example:{port}"
    assert saved(target) == VIDEO


async def test_the_next_address_of_a_name_is_tried(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(Reply(VIDEO))
    port = int(server.host.rpartition(":")[2])

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["::1", "127.0.0.1"]

    await opened(f"goals.example:{port}", resolve=resolve).fetch(f"http://goals.example:{port}/v.mp4", target)
    assert saved(target) == VIDEO


async def test_an_unresolvable_name_is_retryable(opened: Open, target: Path) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    with pytest.raises(DownloadUnavailable, match="not known"):
        await opened(resolve=resolve).fetch("http://goals.example/v.mp4", target)


async def test_proxies_of_the_environment_are_not_used(
    serve: Serve, opened: Open, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, server = await serve(Reply(VIDEO)), await serve(Reply(VIDEO))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    await opened(server).fetch(f"{server.url}/v.mp4", target)
    assert proxy.requests == []


async def refused(downloader: object, link: str, target: Path) -> None:
    with pytest.raises(CandidateRejected) as raised:
        await downloader.fetch(link, target)  # type: ignore[attr-defined]
    assert raised.value.reason == RejectionReason.FORBIDDEN_ADDRESS
    assert "secret" not in str(raised.value)
    assert names_in(target.parent) == []
