"""Library results on the search page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest

from found_footy.access.models import Role
from found_footy.web.pages.search import search_form
from tests.conftest import SampleDataCopy
from tests.library.clip_rows import GOAL, ClipRows
from tests.library.scene_pictures import draw_scene, mirrored
from tests.support.library_search import add_clips, jpeg, served_library
from tests.support.web_access import bearer, make_token

PAGE = {"accept": "text/html"}
HOSTILE = {**GOAL, "player": "<script>alert(1)</script>\u202e", "home": "<b>", "kickoff": "soon"}


@dataclass(frozen=True)
class Site:
    web: httpx.AsyncClient
    editor: dict[str, str]
    clips: list[int]
    waiting: int


@pytest.fixture
async def site(small_world: SampleDataCopy) -> AsyncIterator[Site]:
    database, objects = small_world.store.database, small_world.world.objects
    facts = {**GOAL, "fixture_id": 7001, "score": "2–1"}
    clips = await add_clips(database, objects, [draw_scene(1), draw_scene(2)], "Salah scores", facts)
    copies = await add_clips(database, objects, [mirrored(draw_scene(1))], "Salah again", facts)
    clip_rows = ClipRows(database)
    await clip_rows.pair(clips[0], copies[0])
    (waiting,) = await clip_rows.add("A film", HOSTILE, ["pending_review"])
    async with served_library(small_world.settings, database) as (running, _):
        token = await make_token(small_world.store, Role.EDITOR)
        async with httpx.AsyncClient(base_url=running.url, headers=PAGE) as web:
            yield Site(web, bearer(token), [*clips, *copies], waiting)


async def results(site: Site, query: str) -> str:
    page = await site.web.get(f"/search/results?{query}")
    assert page.status_code == 200, page.text
    return page.text


async def test_the_search_page_shows_library_moments(site: Site) -> None:
    page = (await site.web.get("/search?kind=library&q=salah")).text
    assert 'value="library" checked' in page
    assert "2 moments" in page
    assert page.count("data-clip=") == 2
    assert ">1 copy<" in page
    assert f'src="/c/{site.clips[0]}-0.jpg"' in page
    assert "Liverpool 2–1 Manchester City" in page
    assert f'href="/search?like={site.clips[1]}"' in page


async def test_similar_clips_show_their_similarity(site: Site) -> None:
    page = (await site.web.get(f"/search?like={site.clips[0]}")).text
    assert f"2 moments like clip {site.clips[0]}" in page
    assert re.search(r"100% alike|99% alike", page)
    assert f'name="like" value="{site.clips[0]}"' in page
    assert f'data-clip="{site.clips[0]}"' not in page


async def test_similar_clips_can_be_sorted_least_similar_first(site: Site) -> None:
    one, other, copy = site.clips
    alike = f"like={one}&order="
    assert await _clips(site, alike) == [copy, other]
    assert await _clips(site, alike + "least") == [other, copy]
    page = (await site.web.get(f"/search?{alike}least")).text
    assert f"2 moments least like clip {one}" in page
    assert '<option value="least" selected>Least similar first</option>' in page


async def test_similar_clips_can_be_filtered_by_model_and_source(site: Site) -> None:
    one, other, copy = site.clips
    page = (await site.web.get(f"/search?like={one}")).text
    assert 'name="model"' not in page, "one model is no choice"
    assert await _clips(site, f"like={one}&model=mobilenet_v3_small") == [copy, other]
    unknown = await results(site, f"like={one}&model=siglip")
    assert "Unknown model &#39;siglip&#39;: choose from mobilenet_v3_small." in unknown
    found = (await site.web.get("/api/v1/library/search?q=scores")).json()["items"]
    source = next(each["clip"]["source"] for each in found if each["clip"]["id"] == other)
    assert await _clips(site, f"like={one}&source={source}") == [other]
    assert sorted(await _clips(site, f"kind=library&source={source}")) == sorted([one, other])
    assert "Invalid source number." in await results(site, "kind=library&source=x")
    assert f'href="/search?kind=library&amp;source={source}"' in (await site.web.get(f"/library/sources/{source}")).text


async def test_a_thumbnail_of_a_sprite_sheet_does_not_look_like_a_dialog(site: Site) -> None:
    shown = await results(site, "kind=library&place=review")
    assert 'class="shot from-sheet"' in shown
    assert 'class="shot sheet"' not in shown


async def _clips(site: Site, query: str) -> list[int]:
    return [int(each) for each in re.findall(r'data-clip="(\d+)"', await results(site, query))]


async def test_an_unavailable_search_differs_from_an_empty_result(site: Site) -> None:
    waiting = await results(site, f"like={site.waiting}")
    assert "is not embedded yet: it is waiting for review." in waiting
    assert "Library search is unavailable" in waiting
    assert "Clip 999 not found." in await results(site, "like=999")
    assert "Invalid clip number." in await results(site, "like=abc")
    nothing = await results(site, "kind=library&q=nobody")
    assert "No clips found" in nothing
    assert "No results for" in nothing


async def test_filters_narrow_the_library_search(site: Site) -> None:
    assert "data-clip" in await results(site, "kind=library&q=salah&goal=normal&place=library&minute=90%2B3")
    for wish in ("goal=penalty", "place=skipped", "team=arsenal", "minute=12", "from=2026-08-23", "sport=cricket"):
        assert "No clips found" in await results(site, f"kind=library&q=salah&{wish}"), wish


async def test_a_hidden_match_is_listed_once_and_reveals_nothing(site: Site) -> None:
    site.web.cookies.set("spoilers", "hidden")
    shown = await results(site, "kind=library&q=salah")
    assert shown.count("shows the result") == 1
    assert "Liverpool" in shown
    for secret in ("Salah", "2–1", "90+3", "data-clip", "/c/"):
        assert secret not in re.sub(r'name="back" value="[^"]*"', "", shown), secret


async def test_hostile_titles_stay_text(site: Site) -> None:
    shown = await results(site, "kind=library&place=review")
    assert "&lt;script&gt;" in shown
    assert "<script>alert" not in shown
    assert "\u202e" not in shown


async def test_a_picture_search_rejects_other_files(site: Site) -> None:
    headers = {**site.editor, "content-type": "image/jpeg"}
    page = await site.web.post("/search/picture?q=salah", content=jpeg(draw_scene(2)), headers=headers)
    assert page.status_code == 200
    assert "2 moments like this picture" in page.text
    assert page.text.index(f'data-clip="{site.clips[1]}"') < page.text.index("More like this")
    wrong = await site.web.post(
        "/search/picture", content=b"nothing", headers={**headers, "accept": "application/json"}
    )
    assert wrong.status_code == 400


async def test_invalid_fields_cause_no_error(site: Site) -> None:
    for query in ("like=-1", "like=%00", "like=" + "9" * 90, "kind=library&skip=abc", "kind=library&skip=9999",
                  "kind=library&place=x&goal=%3Cb%3E&team=%27"):  # fmt: skip
        assert (await site.web.get(f"/search?{query}")).status_code == 200, query


def test_a_like_link_searches_the_library_unless_a_kind_is_chosen() -> None:
    linked = search_form({"like": "12"})
    assert linked.library is not None
    assert (linked.fields["kind"], linked.library.like) == ("library", 12)
    chosen = search_form({"like": "12", "kind": "fixtures", "team": "x"})
    assert chosen.library is None
    assert (chosen.fields["kind"], chosen.fields["like"], chosen.fields["team"]) == ("fixtures", "", "")
    assert search_form({"kind": "library", "minute": "45 2"}).library.filters.text.minutes == ("45+2",)  # type: ignore[union-attr]
