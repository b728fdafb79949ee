"""Library search over HTTP: words, similarity, pictures, hostile input."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import httpx
import pytest

from found_footy.access.models import Role
from found_footy.web import uploads as asking
from tests.conftest import SampleDataCopy
from tests.library.clip_rows import GOAL, ClipRows
from tests.library.scene_pictures import Picture, compressed, cropped, draw_scene, mirrored
from tests.support.library_search import add_clips, jpeg, served_library
from tests.support.web_access import bearer, make_token

API = "/api/v1/library/search"
NUNEZ = {**GOAL, "player": "Darwin Núñez", "kind": "Penalty", "minute": "12'", "verified": False}


@dataclass(frozen=True)
class Site:
    web: httpx.AsyncClient
    editor: dict[str, str]
    """Headers."""
    salah: list[int]
    nunez: list[int]
    waiting: int


@pytest.fixture
async def site(small_world: SampleDataCopy) -> AsyncIterator[Site]:
    database, objects = small_world.store.database, small_world.world.objects
    salah = await add_clips(
        database, objects, [draw_scene(1), draw_scene(2)], "Salah scores", {**GOAL, "fixture_id": 7001}
    )
    nunez = await add_clips(database, objects, [mirrored(draw_scene(1))], "Núñez scores", NUNEZ)
    clip_rows = ClipRows(database)
    await clip_rows.pair(salah[0], nunez[0])
    (waiting,) = await clip_rows.add("Fans in the rain", {}, ["pending_review"])
    async with served_library(small_world.settings, database) as (running, _):
        token = await make_token(small_world.store, Role.EDITOR)
        async with httpx.AsyncClient(base_url=running.url) as web:
            yield Site(web, bearer(token), salah, nunez, waiting)


async def found(site: Site, **params: object) -> list[tuple[int, list[int]]]:
    answer = await site.web.get(API, params={name: str(value) for name, value in params.items()})
    assert answer.status_code == 200, answer.text
    return [(each["clip"]["id"], [copy["id"] for copy in each["copies"]]) for each in answer.json()["items"]]


async def test_a_text_search_returns_moments_with_copies(site: Site) -> None:
    assert sorted(await found(site, q="salah")) == [(site.salah[0], site.nunez), (site.salah[1], [])]
    assert await found(site, q="penalty") == [(site.salah[0], site.nunez)]
    assert await found(site, q="rain") == [(site.waiting, [])]
    assert await found(site, q="nobody") == []


async def test_a_clip_document_has_facts_and_position(site: Site) -> None:
    answer = (await site.web.get(API, params={"q": "salah 90+3", "limit": 1})).json()
    assert (answer["total"], answer["next"], answer["model"], answer["lacking"]) == (2, 1, None, None)
    clip = answer["items"][0]["clip"]
    assert clip["facts"]["player"] == "Mohamed Salah"
    assert (clip["seconds"], clip["state"], clip["state_words"]) == (4.0, "embedded", "in the library")
    assert clip["picture"] == f"/c/{clip['id']}-0.jpg"
    later = (await site.web.get(API, params={"q": "salah 90+3", "limit": 1, "offset": 1})).json()
    assert later["next"] is None
    assert later["items"][0]["clip"]["id"] != clip["id"]


async def test_a_similarity_search_excludes_the_clip_and_filters(site: Site) -> None:
    answer = (await site.web.get(API, params={"like": site.salah[0]})).json()
    assert [each["clip"]["id"] for each in answer["items"]] == [*site.nunez, site.salah[1]]
    assert answer["items"][0]["likeness"] > 0.99
    assert answer["model"] == "mobilenet_v3_small"
    assert await found(site, like=site.salah[0], verified="true") == [(site.salah[1], [])]
    assert await found(site, like=site.salah[0], place="review") == []


@pytest.mark.parametrize("change", [cropped, mirrored, compressed])
async def test_a_picture_finds_its_clip(site: Site, change: Callable[[Picture], Picture]) -> None:
    headers = {**site.editor, "content-type": "image/jpeg"}
    answer = await site.web.post(API, content=jpeg(change(draw_scene(2))), headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.json()["items"][0]["clip"]["id"] == site.salah[1]
    filtered = await site.web.post(API, params={"q": "nunez"}, content=jpeg(change(draw_scene(2))), headers=headers)
    assert [each["clip"]["id"] for each in filtered.json()["items"]] == site.nunez


async def test_similarity_to_an_unknown_clip_is_not_found(site: Site) -> None:
    missing = await site.web.get(API, params={"like": 999})
    assert (missing.status_code, missing.json()["error"]["message"]) == (404, "clip 999 not found")
    waiting = await site.web.get(API, params={"like": site.waiting})
    assert waiting.status_code == 404
    assert "waiting for review" in waiting.json()["error"]["message"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "image/png"),
        (b"no picture", "image/png"),
        (b"\xff\xd8\xff\xe0" + b"\0" * 200, "image/jpeg"),
        (b"#EXTM3U\nhttp://127.0.0.1:1/\n", "image/gif"),
        (b"--x\r\n", "multipart/form-data; boundary=x"),
        (b"{}", "application/json"),
    ],
    ids=["nothing", "text", "a JPEG of nothing", "a playlist", "a form", "JSON"],
)
async def test_an_invalid_picture_is_rejected(site: Site, content: bytes, kind: str) -> None:
    answer = await site.web.post(API, content=content, headers={**site.editor, "content-type": kind})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["class"] == "BadRequest"


async def test_a_too_large_picture_is_rejected(site: Site) -> None:
    content = b"\xff\xd8" + bytes(asking.MAX_PICTURE_BYTES + 10)
    answer = await site.web.post(API, content=content, headers={**site.editor, "content-type": "image/jpeg"})
    assert answer.status_code in (400, 413)


async def test_pictures_are_rate_limited_per_address(site: Site) -> None:
    headers = {**site.editor, "content-type": "image/jpeg"}
    answers = [await site.web.post(API, content=b"none", headers=headers) for _ in range(asking.BURST + 4)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert int(refused[0].headers["retry-after"]) >= 1


@pytest.mark.parametrize(
    "query",
    ["like=0", "like=x", "like=99999999999999999999", "limit=0", "limit=101", "offset=-1", "place=gone", "q=%00",
     "from=0001-01-01", "verified=maybe", "kind=" + "x" * 101],
)  # fmt: skip
async def test_invalid_parameters_are_rejected(site: Site, query: str) -> None:
    assert (await site.web.get(f"{API}?{query}")).status_code == 422


@pytest.mark.parametrize(
    ("q", "number"), [("a & b | !c:*", 0), ("%27%3B--", 0), ("9" * 200, 0), ("'", 3), ("🙂", 3), ("\u202e", 3)]
)
async def test_hostile_words_are_harmless(site: Site, q: str, number: int) -> None:
    assert len(await found(site, q=q)) == number
