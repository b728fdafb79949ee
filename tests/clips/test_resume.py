"""A broken connection costs only what was not sent yet, where the server can prove that the file is the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from found_footy.clips import downloader as saving
from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected, DownloadUnavailable
from tests.clips.conftest import Open, Serve, names_in, saved
from tests.clips.hostile_server import VIDEO, Reply, Request

HALF = 5_000
TAG = {"ETag": '"one"'}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "INITIAL_BACKOFF_SECONDS", 0)


def breaking(*rest: Callable[[Request], Reply], headers: dict[str, str]) -> Callable[[Request], Reply]:
    """Sends half of the video and closes; then what the others say, the last one for ever."""
    ways = list(rest)
    first = [Reply(VIDEO[:HALF], headers=headers, length=len(VIDEO))]

    def answer(request: Request) -> Reply:
        if first:
            return first.pop()
        return (ways.pop(0) if len(ways) > 1 else ways[0])(request)

    return answer


def the_rest(request: Request) -> Reply:
    start = int(request.headers["range"].removeprefix("bytes=").removesuffix("-"))
    told = {"Content-Range": f"bytes {start}-{len(VIDEO) - 1}/{len(VIDEO)}", **TAG}
    return Reply(VIDEO[start:], 206, headers=told)


def a_little_more(request: Request) -> Reply:
    whole = the_rest(request)
    return Reply(whole.body[:1000], 206, headers=whole.headers, length=len(whole.body))


async def test_only_the_remaining_range_is_requested(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(breaking(the_rest, headers=TAG))
    await opened(server).fetch(f"{server.url}/v.mp4", target)
    assert saved(target) == VIDEO
    assert [request.headers.get("range") for request in server.requests] == [None, f"bytes={HALF}-"]
    assert server.requests[1].headers["if-range"] == '"one"'


async def test_a_date_proves_it_too(serve: Serve, opened: Open, target: Path) -> None:
    date = {"Last-Modified": "Sat, 22 Aug 2026 14:00:00 GMT", "ETag": 'W/"weak"'}
    server = await serve(breaking(the_rest, headers=date))
    await opened(server).fetch(f"{server.url}/v.mp4", target)
    assert saved(target) == VIDEO
    assert server.requests[1].headers["if-range"] == date["Last-Modified"]


async def test_it_may_break_more_than_once(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(breaking(a_little_more, a_little_more, the_rest, headers=TAG))
    await opened(server).fetch(f"{server.url}/v.mp4", target)
    assert saved(target) == VIDEO
    assert [request.headers.get("range") for request in server.requests][1:] == [
        f"bytes={HALF}-",
        f"bytes={HALF + 1000}-",
        f"bytes={HALF + 2000}-",
    ]


@pytest.mark.parametrize(
    ("headers", "rest"),
    [
        ({}, lambda request: Reply(VIDEO)),  # nothing to prove it by
        (TAG, lambda request: Reply(VIDEO, headers={"ETag": '"two"'})),  # another file by now
    ],
)
async def test_a_file_that_may_have_changed_is_downloaded_again(
    serve: Serve, opened: Open, target: Path, headers: dict[str, str], rest: Callable[[Request], Reply]
) -> None:
    server = await serve(breaking(rest, headers=headers))
    await opened(server).fetch(f"{server.url}/v.mp4", target)
    assert saved(target) == VIDEO


@pytest.mark.parametrize(
    "wrong",
    [
        Reply(VIDEO, 206, headers={"Content-Range": f"bytes 0-{len(VIDEO) - 1}/{len(VIDEO)}"}),
        Reply(VIDEO, 206),
        Reply(VIDEO, 206, headers={"Content-Range": "bytes many"}),
        Reply(status=416),
    ],
)
async def test_a_wrong_range_is_rejected(serve: Serve, opened: Open, target: Path, wrong: Reply) -> None:
    server = await serve(breaking(lambda request: wrong, lambda request: Reply(VIDEO), headers=TAG))
    await opened(server).fetch(f"{server.url}/v.mp4", target)
    assert saved(target) == VIDEO
    assert "range" not in server.requests[2].headers


@pytest.mark.parametrize("tag", ['"\u00e9\u4e16"', '"' + "x" * 500 + '"'])
async def test_a_mark_that_cannot_be_sent_back_is_none(serve: Serve, opened: Open, target: Path, tag: str) -> None:
    server = await serve(breaking(lambda request: Reply(VIDEO), headers={"ETag": tag}))
    await opened(server).fetch(f"{server.url}/v.mp4", target)
    assert saved(target) == VIDEO


async def test_an_unrequested_range_is_rejected(serve: Serve, opened: Open, target: Path) -> None:
    part = {"Content-Range": f"bytes 0-{len(VIDEO) - 1}/{len(VIDEO)}", **TAG}
    server = await serve(Reply(VIDEO, 206, headers=part))
    with pytest.raises(DownloadUnavailable):
        await opened(server).fetch(f"{server.url}/v.mp4", target)


async def test_a_connection_that_always_breaks_is_abandoned(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(Reply(VIDEO[:HALF], headers=TAG, length=len(VIDEO)))
    with pytest.raises(DownloadUnavailable, match="broke"):
        await opened(server).fetch(f"{server.url}/v.mp4", target)
    assert len(server.requests) == saving.MAX_RESUMES + 1
    assert names_in(target.parent) == []


async def test_added_entries_count_towards_the_limit(serve: Serve, opened: Open, target: Path) -> None:
    def more(request: Request) -> Reply:
        return Reply(bytes(200_000), 206, headers={"Content-Range": f"bytes {HALF}-204999/205000", **TAG})

    server = await serve(breaking(more, headers=TAG))
    with pytest.raises(CandidateRejected) as raised:
        await opened(server).fetch(f"{server.url}/v.mp4", target)
    assert raised.value.reason == RejectionReason.TOO_LARGE


async def test_many_downloads_at_once_do_not_mix(serve: Serve, opened: Open, target: Path) -> None:
    server = await serve(lambda request: Reply(VIDEO + request.path.encode()))
    downloader = opened(server)
    targets = [target.with_name(f"{number}.mp4") for number in range(30)]
    await asyncio.gather(*(downloader.fetch(f"{server.url}/{each.name}", each) for each in targets))
    assert all(saved(each) == VIDEO + f"/{each.name}".encode() for each in targets)
