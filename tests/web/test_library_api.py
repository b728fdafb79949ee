"""Library API: lists, documents, submission and removal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import TypeAdapter

from found_footy.access.models import Role
from found_footy.library.review import ActionKind
from found_footy.library.stages import find_stage
from found_footy.library.views import ClipDetail, ClipSummary, SourceDetail, SourceSummary
from found_footy.media.models import Keyframe
from found_footy.web.api.models import Page
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.library_pages import WHO, Library, filled_library
from tests.support.library_rows import pending
from tests.support.web_access import bearer, make_token
from tests.support.web_world import NOW, served


@pytest.fixture
async def library(server: tuple[str, WebServices], web: httpx.AsyncClient, small_world: SampleDataCopy) -> Library:
    return await filled_library(server[1], web, small_world)


async def items(library: Library, path: str) -> list[int]:
    answer = await library.web.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["items"]]


async def test_sources_are_listed_newest_first_and_filtered(library: Library) -> None:
    first, whole = library.first.source_id, library.whole.source_id
    for query, found in {
        "": [whole, first],
        "?state=spliced": [whole, first],
        "?state=new": [],
        "?kind=file": [whole, first],
        "?kind=goal": [],
        "?q=lodz": [whole],
        "?q=lewa%20liga": [whole],
        "?q=SALAH+LIV": [first],
        "?event=1_2_3_Goal_1": [],
    }.items():
        assert await items(library, f"sources{query}") == found, query


async def test_clips_are_filtered(library: Library) -> None:
    clips, whole = [*library.first.clips], library.whole.clips[0]
    await library.services.library.review.decide(ActionKind.APPROVE, [clips[1]], WHO)
    for query, found in {
        "": [whole, *reversed(clips)],
        f"?source={library.first.source_id}": [*reversed(clips)],
        "?state=review_approved": [clips[1]],
        "?state=embedded": [],
        "?q=lewandowski": [whole],
    }.items():
        assert await items(library, f"clips{query}") == found, query


async def test_lists_are_paginated_and_cursors_belong_to_one_list(library: Library) -> None:
    seen, cursor = [], ""
    while cursor is not None:
        page = (
            await library.web.get("/api/v1/clips", params={"limit": 2, **({"cursor": cursor} if cursor else {})})
        ).json()
        seen += [each["id"] for each in page["items"]]
        cursor = page["next"]
    assert seen == sorted([*library.first.clips, *library.whole.clips], reverse=True)
    stolen = (await library.web.get("/api/v1/clips?limit=1")).json()["next"]
    for path in (f"sources?cursor={stolen}", f"clips?q=x&cursor={stolen}", "clips?cursor=AAAA"):
        answer = await library.web.get(f"/api/v1/{path}")
        assert (answer.status_code, answer.json()["error"]["class"]) == (400, "BadRequest")


async def test_library_documents_match_the_schema(library: Library) -> None:
    store, review = library.services.library.store, library.services.library.review
    clip = library.whole.clips[0]
    await store.save_keyframes(clip, [Keyframe(0, 6, "25%", 640, 360), Keyframe(1, 12, "sharpest", 640, 360)])
    await store.save_duplicates(clip, [library.first.clips[0]])
    await review.set_verdict(clip, library.first.clips[1], False, WHO)
    lost = await new_source(library)
    assert await store.begin(find_stage("download"), lost, NOW)
    await store.fail(find_stage("download"), lost, "no such page", "CandidateRejected", False, NOW)
    split = await review.split(library.first.clips[2], 60, WHO)
    shapes = [
        ("sources", Page[SourceSummary]),
        ("clips", Page[ClipSummary]),
        *((f"sources/{each}", SourceDetail) for each in await items(library, "sources")),
        *((f"clips/{each}", ClipDetail) for each in [*await items(library, "clips"), library.first.clips[2]]),
    ]
    for path, shape in shapes:
        answer = await library.web.get(f"/api/v1/{path}")
        assert answer.status_code == 200, answer.text
        understood = TypeAdapter(shape).validate_json(answer.content)
        written = json.loads(TypeAdapter(shape).dump_json(understood, by_alias=True))
        assert keys(written) == keys(answer.json()), path
    document = (await library.web.get(f"/api/v1/clips/{clip}")).json()
    assert [(each["id"], each["looks_alike"], each["same"]) for each in document["copies"]] == [
        (library.first.clips[0], True, None),
        (library.first.clips[1], False, False),
    ]
    gone = (await library.web.get(f"/api/v1/clips/{library.first.clips[2]}")).json()
    assert (gone["live"], gone["parts"]) == (False, list(split.made))


def keys(value: object) -> object:
    """The names in a document, without their values; facts are as they come."""
    if isinstance(value, dict):
        return {name: keys(each) for name, each in value.items() if name not in ("facts", "clips")}
    return [keys(each) for each in value] if isinstance(value, list) else None


async def new_source(library: Library, **more: str) -> int:
    order = {"url": "https://films.example/a.mp4?key=secret", **more}
    answer = await library.web.post("/api/v1/sources", json=order, headers=library.editor)
    assert answer.status_code == 201, answer.text
    made: int = answer.json()["id"]
    return made


async def test_an_edited_clip_has_the_previous_sprite_sheet(library: Library) -> None:
    one, other = library.first.clips[:2]
    merged = await library.services.library.review.merge(one, other, WHO)
    document = (await library.web.get(f"/api/v1/clips/{merged.made[0]}")).json()
    assert (document["state"], document["file"]) == ("edit_pending", None)
    assert (document["sheet"]["clip"], document["sheet"]["first"]) == (one, 0)
    split = await library.services.library.review.split(library.first.clips[2], 60, WHO)
    tiles = (await library.web.get(f"/api/v1/sources/{library.first.source_id}")).json()["tiles"]
    sheets = {each["id"]: (each["sheet"]["clip"], each["sheet"]["first"]) for each in tiles}
    assert [sheets[made] for made in split.made] == [(library.first.clips[2], 50)] * 2
    assert [(each["first"], each["end"]) for each in tiles] == [(0, 50), (50, 60), (60, 75), (75, 100)]


async def test_unchanged_library_responses_return_304(library: Library) -> None:
    for path in ("sources", "clips", f"sources/{library.first.source_id}", f"clips/{library.whole.clips[0]}"):
        answer = await library.web.get(f"/api/v1/{path}")
        known = {"if-none-match": answer.headers["etag"]}
        assert (await library.web.get(f"/api/v1/{path}", headers=known)).status_code == 304
    await library.services.library.review.decide(ActionKind.SKIP, [library.first.clips[0]], WHO)
    assert (await library.web.get(f"/api/v1/sources/{library.first.source_id}")).json()["clips"] == {
        "pending_review": 3,
        "review_skipped": 1,
    }


async def test_unknown_ids_are_not_found(library: Library) -> None:
    for path in ("sources/999", "clips/999", f"sources/{2**63 - 1}"):
        answer = await library.web.get(f"/api/v1/{path}")
        assert (answer.status_code, answer.json()["error"]["class"]) == (404, "NotFound")
    for path in ("sources/0", f"clips/{2**63}", "clips/x", "clips?state=nothing", "sources?kind=book"):
        assert (await library.web.get(f"/api/v1/{path}")).status_code == 422


# --- handing in


async def test_a_submitted_url_becomes_a_new_source(library: Library) -> None:
    made = await new_source(library, title="  Cup\u202e final\n ", player="Ana", minute="90+3")
    document = (await library.web.get(f"/api/v1/sources/{made}")).json()
    assert (document["kind"], document["state"], document["title"]) == ("url", "new", "Cup final")
    assert document["facts"] == {"player": "Ana", "minute": "90+3"}
    assert (document["url"], document["submitted_by"]) == ("https://films.example/a.mp4", "Ada")
    assert (await library.services.library.store.source(made)).url == "https://films.example/a.mp4?key=secret"
    untitled = (await library.web.get(f"/api/v1/sources/{await new_source(library)}")).json()
    assert untitled["title"] == "films.example/…/a.mp4"


async def test_a_forbidden_url_is_rejected_with_a_reason(library: Library) -> None:
    """The table of addresses is in tests/library/test_submitting.py."""
    for url, said in {
        "http://169.254.169.254/latest": "address is not public",
        "http://[::ffff:10.0.0.1]/a.mp4": "address is not public",
        "http://films.example:5432/": "port 5432 is not allowed",
        "https://ada:secret@films.example/": "user name or password",
    }.items():
        answer = await library.web.post("/api/v1/sources", json={"url": url}, headers=library.editor)
        assert (answer.status_code, answer.json()["error"]["class"]) == (400, "BadRequest")
        assert said in answer.json()["error"]["message"]
        assert "secret" not in answer.text


ORDERS = [
    ("{", "application/json", 422),
    ("[]", "application/json", 422),
    ('{"title": "x"}', "application/json", 422),
    ('{"url": 7}', "application/json", 422),
    ('{"url": "https://a.example/", "surprise": 1}', "application/json", 422),
    ('{"url": "https://a.example/\\ud800"}', "application/json", 422),
    (json.dumps({"url": "https://a.example/" + "a" * 2000}), "application/json", 422),
    (json.dumps({"url": "https://a.example/", "title": "x" * 70_000}), "application/json", 400),
    ("url=https://a.example/", "application/x-www-form-urlencoded", 400),
    ("film", "text/plain", 400),
    ("", "application/octet-stream", 400),
    ("film", "", 400),
]


async def test_an_invalid_submission_is_rejected(library: Library) -> None:
    for body, kind, status in ORDERS:
        headers = {**library.editor, "content-type": kind}
        answer = await library.web.post("/api/v1/sources", content=body, headers=headers)
        assert answer.status_code == status, (body[:50], answer.text)
        assert set(answer.json()["error"]) >= {"class", "message", "hint"}
    assert len(await items(library, "sources")) == 2


async def test_an_upload_is_streamed_and_stored_under_its_key(library: Library, small_world: SampleDataCopy) -> None:
    content = bytes(range(256)) * 12_000  # larger than any other body may be

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(content), 70_000):
            yield content[start : start + 70_000]

    answer = await library.web.post(
        "/api/v1/sources",
        params={"name": "C:\\films\\Łódź derby.mkv", "team": "Widzew"},
        content=pieces(),
        headers={**library.editor, "content-type": "video/x-matroska"},
    )
    assert answer.status_code == 201, answer.text
    document = answer.json()
    assert (document["kind"], document["title"], document["facts"]) == ("file", "Łódź derby", {"team": "Widzew"})
    source = await library.services.library.store.source(document["id"])
    assert source.upload_key is not None
    assert source.upload_key.startswith("library/uploads/")
    assert await small_world.world.objects.read(source.upload_key) == content


async def test_a_too_large_upload_is_refused_and_leaves_nothing(small_world: SampleDataCopy) -> None:
    token = await make_token(small_world.store, Role.EDITOR)
    settings = small_world.settings.model_copy(update={"source_mb": 1})
    headers = {**bearer(token), "content-type": "application/octet-stream"}

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 100_000

    async with served(settings) as (server, _), httpx.AsyncClient(base_url=server.url) as web:
        for content in (b"x" * 1_000_001, pieces()):
            try:
                answer = await web.post("/api/v1/sources", content=content, headers=headers)
            except httpx.WriteError:  # the server has hung up before all of it was sent
                continue
            assert answer.status_code == 413
        assert (await web.get("/api/v1/sources")).json()["items"] == []
    assert [each.key async for each in small_world.world.objects.list("library/")] == []


async def test_an_interrupted_upload_leaves_nothing(library: Library, small_world: SampleDataCopy) -> None:
    before = await items(library, "sources")
    url = httpx.URL(str(library.web.base_url))
    _, writer = await asyncio.open_connection(url.host, url.port)
    head = f"POST /api/v1/sources HTTP/1.1\r\nHost: {url.host}\r\nAuthorization: {library.editor['authorization']}\r\n"
    writer.write((head + "Content-Type: video/mp4\r\nContent-Length: 100000\r\n\r\n").encode() + b"x" * 5000)
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert await items(library, "sources") == before
    assert [each.key async for each in small_world.world.objects.list("library/uploads/")] == []


# --- trying again


async def test_an_editor_retries_a_failed_stage(library: Library) -> None:
    store, made = library.services.library.store, await new_source(library)
    assert await store.begin(find_stage("download"), made, NOW)
    await store.fail(find_stage("download"), made, "no such page", "CandidateRejected", False, NOW)
    failed = (await library.web.get(f"/api/v1/sources/{made}")).json()
    assert (failed["state"], failed["error"]["class"]) == ("download_failed", "CandidateRejected")
    assert failed["error"]["retry_at"] is None
    answer = await library.web.post(f"/api/v1/sources/{made}/retry", headers=library.editor)
    assert answer.status_code == 202
    assert await pending(store, "download", {}, NOW) == [made]
    nothing = f"/api/v1/sources/{library.first.source_id}/retry"
    answer = await library.web.post(nothing, headers=library.editor)
    assert (answer.status_code, answer.json()["error"]["class"]) == (409, "EditRefused")
    clip = f"/api/v1/clips/{library.first.clips[0]}/retry"
    assert (await library.web.post(clip, headers=library.editor)).status_code == 409
    assert (await library.web.post("/api/v1/clips/999/retry", headers=library.editor)).status_code == 404
    assert (await library.web.post(clip)).status_code == 401


# --- removing


async def test_removing_a_source_can_be_undone(library: Library) -> None:
    path = f"/api/v1/sources/{library.first.source_id}"
    assert (await library.web.delete(path)).status_code == 401
    answer = await library.web.delete(path, headers=library.editor)
    assert answer.status_code == 200, answer.text
    removed = answer.json()
    assert (removed["source"], removed["deleted"], removed["clips"]) == (library.first.source_id, False, 4)
    assert (await library.web.get(path)).json()["clips"] == {"review_archived": 4}
    again = (await library.web.delete(path, headers=library.editor)).json()
    assert (again["clips"], again["action"]) == (0, None)

    made = await new_source(library)
    gone = f"/api/v1/sources/{made}"
    assert (await library.web.delete(gone, headers=library.editor)).json()["deleted"] is True
    assert (await library.web.get(gone)).status_code == 404
    assert (await library.web.delete(gone, headers=library.editor)).status_code == 404


async def test_a_source_in_progress_cannot_be_removed(library: Library) -> None:
    made = await new_source(library)
    assert await library.services.library.store.begin(find_stage("download"), made, NOW)
    answer = await library.web.delete(f"/api/v1/sources/{made}", headers=library.editor)
    assert (answer.status_code, answer.json()["error"]["class"]) == (409, "EditRefused")
    assert "downloading" in answer.json()["error"]["message"]
