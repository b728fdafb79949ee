"""Permanent links of videos: ranges, merges, retention, slow and leaving clients."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from found_footy.clips.models import clip_key
from found_footy.web import files as streaming
from found_footy.web.services import WebServices
from found_footy.web.visitors import ConcurrencyLimit
from tests.conftest import SampleDataCopy
from tests.support.football import delete_expired
from tests.support.web_world import HOSTILE_GOAL, NOW, SALAH, WITHDRAWN, Clip, clip_bytes, served

FILM = clip_bytes(1)
SIZE = len(FILM)
LAST = SIZE - 1


async def ids(world: SampleDataCopy, event_id: str = SALAH, state: str | None = None) -> list[str]:
    """In the order of their ranks, those without one last."""
    async with world.store.database.connection() as connection:
        cursor = await connection.execute(
            "select id from videos where event_id = %s and (%s::text is null or state = %s) order by rank nulls last",
            (event_id, state, state),
        )
        return [row["id"] for row in await cursor.fetchall()]


@pytest.fixture
async def best(small_world: SampleDataCopy) -> str:
    return (await ids(small_world))[0]


async def test_a_whole_file_has_all_headers_a_player_needs(web: httpx.AsyncClient, best: str) -> None:
    answer = await web.get(f"/v/{best}")
    assert (answer.status_code, answer.content) == (200, FILM)
    headers = answer.headers
    assert headers["content-type"] == "video/mp4"
    assert headers["accept-ranges"] == "bytes"
    assert headers["content-length"] == str(SIZE)
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "public, no-cache"
    assert headers["content-disposition"].startswith(
        'inline; filename="Mohamed Salah 23 Liverpool Manchester City.mp4"'
    )
    assert (await web.get(f"/v/{best}?download=1")).headers["content-disposition"].startswith("attachment; ")


async def test_a_range_returns_exactly_its_bytes(web: httpx.AsyncClient, best: str) -> None:
    """The table of ranges is in test_byte_ranges.py."""
    for asked, start, end in (
        ("bytes=0-0", 0, 0),
        ("bytes=100-", 100, LAST),
        (f"bytes={LAST}-", LAST, LAST),
        ("bytes=-100", SIZE - 100, LAST),
        (f"bytes=10-{SIZE * 10}", 10, LAST),
    ):
        answer = await web.get(f"/v/{best}", headers={"range": asked})
        assert answer.status_code == 206
        assert answer.headers["content-range"] == f"bytes {start}-{end}/{SIZE}"
        assert answer.headers["content-length"] == str(end - start + 1)
        assert answer.content == FILM[start : end + 1]
    for asked in (f"bytes={SIZE}-", "bytes=-0"):
        answer = await web.get(f"/v/{best}", headers={"range": asked})
        assert (answer.status_code, answer.headers["content-range"], answer.content) == (416, f"bytes */{SIZE}", b"")
    for asked in ("bytes=9-0", "bytes=0-1,5-9", "bytes=٣-٩", "items=0-5", "bytes=" + "9" * 10_000 + "-"):
        answer = await web.get(f"/v/{best}", headers={"range": asked.encode()})
        assert (answer.status_code, len(answer.content)) == (200, SIZE)


async def test_a_known_file_returns_304_and_if_range_prevents_mixing(web: httpx.AsyncClient, best: str) -> None:
    etag = (await web.head(f"/v/{best}")).headers["etag"]
    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        answer = await web.get(f"/v/{best}", headers={"if-none-match": known, "range": "bytes=0-9"})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)
    for unknown in ('"other"', "", etag.strip('"'), '"' + "x" * 5000):
        assert (await web.get(f"/v/{best}", headers={"if-none-match": unknown})).status_code == 200
    for if_range, status in ((etag, 206), ('"other"', 200), (f"W/{etag}", 200), ("Sat, 22 Aug 2026 15:30:00 GMT", 200)):
        answer = await web.get(f"/v/{best}", headers={"range": "bytes=0-9", "if-range": if_range})
        assert answer.status_code == status


async def test_head_has_the_same_headers(web: httpx.AsyncClient, best: str) -> None:
    whole, head = await web.get(f"/v/{best}"), await web.head(f"/v/{best}")
    assert (head.status_code, head.content) == (200, b"")
    same = ("content-length", "content-type", "etag", "accept-ranges", "cache-control", "content-disposition")
    assert [head.headers[name] for name in same] == [whole.headers[name] for name in same]


# --- merges and ends


async def test_a_merged_video_redirects_to_the_same_moment(
    web: httpx.AsyncClient, small_world: SampleDataCopy, best: str
) -> None:
    (late,) = await ids(small_world, state="replaced")
    answer = await web.get(f"/v/{late}", headers={"range": "bytes=0-9"})
    assert (answer.status_code, answer.headers["location"]) == (307, f"/v/{best}#t=1")
    assert "immutable" not in answer.headers["cache-control"]
    assert (await web.get(f"/v/{late}?download=1")).headers["location"] == f"/v/{best}?download=1#t=1"
    followed = await web.get(f"/v/{late}", headers={"range": "bytes=5-9"}, follow_redirects=True)
    assert (followed.status_code, followed.content) == (206, FILM[5:10])


async def test_a_link_survives_any_number_of_merges(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    """Every merge that follows moves the earlier ones along; here none of them was."""
    first, *_ = names = await ids(small_world)
    async with small_world.store.database.connection() as connection:
        rows = await (await connection.execute("select id, md5 from videos where event_id = %s", (SALAH,))).fetchall()
        md5 = {row["id"]: row["md5"] for row in rows}
        for name, into in zip(names[1:], names, strict=False):
            await connection.execute(
                "update videos set state = 'replaced', rank = null, replaced_by = %s, offset_seconds = 0.5 "
                "where id = %s",
                (md5[into], name),
            )
    for steps, name in enumerate(names[1:], start=1):
        answer = await web.get(f"/v/{name}")
        assert (answer.status_code, answer.headers["location"]) == (307, f"/v/{first}#t={0.5 * steps:g}")


async def test_circular_replacements_end_in_an_error(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    async with small_world.store.database.connection() as connection:
        await connection.execute(
            "update videos v set state = 'replaced', rank = null, offset_seconds = 0, replaced_by = "
            "(select md5 from videos o where o.event_id = v.event_id and o.md5 <> v.md5 order by md5 limit 1) "
            "where event_id = %s",
            (SALAH,),
        )
    for name in await ids(small_world):
        assert (await web.get(f"/v/{name}")).status_code == 404


async def test_a_withdrawn_video_returns_410_as_html_or_json(
    web: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    (name,) = await ids(small_world, WITHDRAWN)
    answer = await web.get(f"/v/{name}", headers={"range": "bytes=0-9"})
    assert answer.status_code == 410
    assert answer.json()["error"]["class"] == "LinkGone"
    assert "VAR" in answer.json()["error"]["message"]
    page = await web.get(f"/v/{name}", headers={"accept": "text/html"})
    assert (page.status_code, "VAR" in page.text, "<h1>Gone" in page.text) == (410, True, True)
    assert (await web.get(f"/v/{name}/poster.jpg")).status_code == 410


async def test_an_unknown_video_is_not_found(web: httpx.AsyncClient) -> None:
    for name in ("0" * 16, "0" * 15, "G" * 16, "x" * 500, "%00" * 16, "..%2f..%2fetc", "0000000000000000%0a", "ÄÖÜ"):
        for path in ("", "/poster.jpg", "/proof.jpg"):
            assert (await web.get(f"/v/{name}{path}")).status_code == 404


async def test_an_unpublished_video_has_no_link(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    md5 = await small_world.world.clip(HOSTILE_GOAL, Clip("unsettled", clip_bytes(9)))
    names = set(await ids(small_world, HOSTILE_GOAL)) - set(await ids(small_world, HOSTILE_GOAL, "kept"))
    assert len(names) == 1
    for name in names:
        assert (await web.get(f"/v/{name}")).status_code == 404
    await small_world.world.clips.reject_video(HOSTILE_GOAL, md5, "wrong minute", "71 is not 5")
    for name in names:
        assert (await web.get(f"/v/{name}")).status_code == 404


async def test_links_past_retention_return_410(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    names = [*await ids(small_world, state="kept"), *await ids(small_world, state="replaced")]
    (withdrawn,) = await ids(small_world, WITHDRAWN)
    waiting = await small_world.world.clip(SALAH, Clip("never settled", clip_bytes(9)))
    (unpublished,) = set(await ids(small_world)) - set(names)
    async with small_world.store.database.connection() as connection:
        await connection.execute("update fixtures set stage = 'completed', completed_at = %s where id < 7003", (NOW,))
    assert await delete_expired(small_world.store, NOW + timedelta(seconds=1)) >= 2
    assert len(names) == 4
    for path in (*(f"/v/{name}" for name in names), f"/g/{SALAH}"):
        answer = await web.get(path)
        assert (answer.status_code, "past the time" in answer.json()["error"]["message"]) == (410, True)
    answer = await web.get(f"/v/{withdrawn}")
    assert (answer.status_code, "VAR" in answer.json()["error"]["message"]) == (410, True)
    assert (waiting != "", (await web.get(f"/v/{unpublished}")).status_code) == (True, 404)


async def test_deleting_a_restored_match_again_succeeds(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    async with small_world.store.database.connection() as connection:
        await connection.execute(
            "insert into ended_links (path, reason, ended_at) values (%s, 'an earlier end', %s)", (f"g/{SALAH}", NOW)
        )
        await connection.execute("update fixtures set stage = 'completed', completed_at = %s where id = 7001", (NOW,))
    assert (await web.get(f"/g/{SALAH}")).status_code == 200
    await delete_expired(small_world.store, NOW + timedelta(seconds=1))
    assert "past the time" in (await web.get(f"/g/{SALAH}")).json()["error"]["message"]


# --- files that are not there, and readers who are


async def test_a_missing_file_is_never_an_empty_response(
    web: httpx.AsyncClient, small_world: SampleDataCopy, best: str, caplog: pytest.LogCaptureFixture
) -> None:
    (video, *_) = (await small_world.store.event(SALAH))["_s3_videos"]
    await small_world.world.objects.delete([clip_key(7001, SALAH, video["md5"])])
    for method in ("GET", "HEAD"):
        with caplog.at_level(logging.ERROR):
            answer = await web.request(method, f"/v/{best}")
        assert answer.status_code == 503
        assert "retry-after" in answer.headers
        assert "is missing in the object store" in caplog.text
    assert (await web.get(f"/v/{best}")).json()["error"]["class"] == "ObjectStoreError"


async def test_a_truncated_file_is_detected(
    web: httpx.AsyncClient, small_world: SampleDataCopy, best: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "CHUNK_BYTES", 10_000)
    (video, *_) = (await small_world.store.event(SALAH))["_s3_videos"]
    short = tmp_path / "short.mp4"
    short.write_bytes(FILM[:25_000])
    await small_world.world.objects.put(video["_s3_key"], short)
    with pytest.raises(httpx.RemoteProtocolError):
        await web.get(f"/v/{best}")
    assert (await web.get(f"/v/{best}", headers={"range": "bytes=30000-"})).status_code == 503
    assert (await web.head(f"/v/{best}")).status_code == 503


@pytest.fixture
async def large(small_world: SampleDataCopy, tmp_path: Path) -> str:
    """A file that no socket takes at once; what stands in it does not matter here."""
    (video, *_) = (await small_world.store.event(SALAH))["_s3_videos"]
    file = tmp_path / "large.mp4"
    with file.open("wb") as out:
        out.truncate(24_000_000)
    await small_world.world.objects.put(video["_s3_key"], file)
    async with small_world.store.database.connection() as connection:
        await connection.execute("update videos set file_size = 24000000 where id = %s", (video["id"],))
    name: str = video["id"]
    return name


async def opened(url: str, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A reader who asks, reads the head of the answer, and then nothing more."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**14)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    assert b"200 OK" in await reader.readuntil(b"\r\n")
    return reader, writer


class Counted:
    """An object store that counts what is read from it."""

    def __init__(self, services: WebServices) -> None:
        self._read = services.files.read
        self.bytes = 0
        self.largest = 0

    async def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        piece = await self._read(key, start, length)
        self.bytes += len(piece)
        self.largest = max(self.largest, len(piece))
        return piece


async def test_slow_readers_hold_one_chunk_each(
    server: tuple[str, WebServices], large: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, services = server
    counted = Counted(services)
    monkeypatch.setattr(services.files, "read", counted.read)
    slow = [await opened(url, f"/v/{large}") for _ in range(50)]
    async with httpx.AsyncClient(base_url=url) as client:
        answer = await client.get(f"/v/{large}", headers={"range": "bytes=0-1000000"})
    assert len(answer.content) == 1_000_001
    assert counted.largest <= 256 * 1024
    assert counted.bytes < 50 * 24_000_000 / 2, "what nobody takes is not read"
    for _, writer in slow:
        writer.transport.abort()


async def test_a_disconnect_ends_the_reading(
    server: tuple[str, WebServices], large: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, services = server
    counted = Counted(services)
    monkeypatch.setattr(services.files, "read", counted.read)
    readers = ConcurrencyLimit(500, "downloads")
    monkeypatch.setattr("found_footy.web.files.downloads_of", lambda request: readers)
    for _ in range(3):
        _, writer = await opened(url, f"/v/{large}")
        assert readers.running == 1
        writer.transport.abort()
        while readers.running:
            await asyncio.sleep(0)
    assert counted.bytes < 3 * 24_000_000


async def test_downloads_over_the_limit_return_503(
    server: tuple[str, WebServices], large: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, _ = server
    readers = ConcurrencyLimit(noun="downloads", limit=1)
    monkeypatch.setattr("found_footy.web.files.downloads_of", lambda request: readers)
    _, writer = await opened(url, f"/v/{large}")
    async with httpx.AsyncClient(base_url=url) as client:
        refused = await client.get(f"/v/{large}")
        assert (refused.status_code, refused.json()["error"]["class"]) == (503, "StreamFull")
        assert "retry-after" in refused.headers
        writer.transport.abort()
        while readers.running:
            await asyncio.sleep(0)
        assert (await client.get(f"/v/{large}", headers={"range": "bytes=0-9"})).status_code == 206


async def test_links_need_a_token_if_reading_does(small_world: SampleDataCopy, best: str) -> None:
    settings = small_world.settings.model_copy(update={"read_access": "token"})
    async with served(settings) as (running, _), httpx.AsyncClient(base_url=running.url) as client:
        assert (await client.get(f"/v/{best}")).status_code == 401
        assert (await client.get(f"/v/{best}/poster.jpg")).status_code == 401
        assert (await client.get(f"/g/{SALAH}")).status_code == 401


async def test_videos_can_redirect_to_the_object_store(
    small_world: SampleDataCopy, best: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = small_world.settings.model_copy(update={"video_links": "redirect"})
    async with served(settings) as (running, services), httpx.AsyncClient(base_url=running.url) as client:
        assert (await client.get(f"/v/{best}")).status_code == 200, "a folder has no addresses"

        async def signed(key: str, seconds: float) -> str:
            return f"https://s3.example/{key}?signature=1"

        monkeypatch.setattr(services.files, "signed_url", signed)
        answer = await client.get(f"/v/{best}", headers={"range": "bytes=0-9"})
        assert (answer.status_code, answer.headers["cache-control"]) == (307, "no-store")
        assert answer.headers["location"].startswith(f"https://s3.example/7001/{SALAH}/")
        assert (await client.head(f"/v/{best}")).headers["content-length"] == str(SIZE)
        saved = await client.get(f"/v/{best}?download=1")
        assert (saved.status_code, saved.content) == (200, FILM)
