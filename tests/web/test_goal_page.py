"""The goal page in every state, and previews of shared links."""

from __future__ import annotations

import asyncio
import re
from html import unescape
from html.parser import HTMLParser

import httpx
import pytest

from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.web_world import (
    HAALAND,
    HOSTILE,
    HOSTILE_GOAL,
    NO_CLIP,
    NUNEZ,
    SALAH,
    SEEN,
    WITHDRAWN,
    Clip,
    clip_bytes,
    served,
)

HIDDEN = {"cookie": "spoilers=hidden"}


def text_of(html: str) -> str:
    """What a reader sees, roughly."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html.partition("<main")[2])).split())


def tags(html: str) -> dict[str, str]:
    found = re.findall(r'<meta (?:property|name)="((?:og|twitter):[^"]+)" content="([^"]*)">', html)
    return {name: unescape(content) for name, content in found}


async def videos(world: SampleDataCopy, event_id: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = (await world.store.event(event_id))["_s3_videos"]
    return found


async def test_the_goal_page_shows_the_goal(site: httpx.AsyncClient) -> None:
    answer = await site.get(f"/g/{SALAH}")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "private, no-cache"
    said = text_of(answer.text)
    for words in ("Premier League", "Mohamed Salah 23'", "Liverpool", "Manchester City", "from 0–0", "3 clips"):
        assert words in said
    assert '<a href="/day/2026-08-22#match-7001">' in answer.text


async def test_each_copy_is_a_link_without_scripts(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    html = (await web.get(f"/g/{SALAH}")).text
    names = [video["id"] for video in await videos(small_world, SALAH)]
    assert re.findall(r'href="/v/(\w+)" data-copy="(\w+)" data-rank="(\d)"', html) == [
        (name, name, str(rank)) for rank, name in enumerate(names, start=1)
    ]
    assert (
        f'<video id="video" controls playsinline preload="metadata" width="1280" height="720" src="/v/{names[0]}"'
        in html
    )
    assert f'poster="/v/{names[0]}/poster.jpg?w=1280"' in html
    for name in names:
        assert (await web.get(f"/v/{name}", headers={"range": "bytes=0-1"})).status_code == 206
        assert (await web.get(f"/v/{name}/poster.jpg?w=320")).status_code == 200
    for path in set(re.findall(r'(?:src|href)="(/(?:v|static)/[^"#]+)', html)):
        assert (await web.get(unescape(path))).status_code in (200, 307), path


class Elements(HTMLParser):
    """Every element of a page, as a browser reads it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


async def test_the_goal_page_complies_with_the_csp(site: httpx.AsyncClient) -> None:
    for event_id in (SALAH, NO_CLIP, WITHDRAWN, HOSTILE_GOAL):
        for tag, attributes in Elements((await site.get(f"/g/{event_id}")).text).found:
            assert not [name for name in attributes if name == "style" or name.startswith("on")]
            assert tag != "style"
            assert tag != "script" or attributes["src"]
            for name in ("src", "poster", "action"):
                assert (attributes.get(name) or "/").startswith("/"), "everything comes from here"


async def test_the_proof_is_shown_next_to_the_expectation(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    html = (await web.get(f"/g/{SALAH}")).text
    best, _, plain = await videos(small_world, SALAH)
    proof = html.partition(f'data-proof="{best["id"]}"')[2].partition("</details>")[0]
    said = text_of("<main" + proof)
    assert "The broadcast’s clock shows 22:41, within 3 minutes of the goal’s 23'." in said
    assert "Clock 22:41 23' ± 3 min Teams LIV – MCI Liverpool – Manchester City Score 0–0 0–0 or 1–0" in said
    assert f"/v/{best['id']}/proof.jpg?at=1.000" in proof
    (x, y, width, height) = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', proof)[0]
    assert (float(x), float(y)) == pytest.approx((0.05 * 1000 - 8, 0.06 * 562.5 - 8), abs=0.1)
    assert (float(width), float(height)) == pytest.approx((0.08 * 1000 + 16, 0.05 * 562.5 + 16), abs=0.1)
    unproved = html.partition(f'data-proof="{plain["id"]}"')[2].partition("</details>")[0]
    said = text_of("<main" + unproved)
    assert "not verified" in said
    assert "No match clock was readable" in said
    assert "2 frames checked" in said
    assert "<rect" not in unproved


async def test_sources_merged_copies_and_searches_are_shown(
    web: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    html = (await web.get(f"/g/{SALAH}")).text
    said = text_of(html)
    (merged,) = (await videos(small_world, SALAH))[0]["copies"]
    assert f'<a href="/v/{merged["id"]}"' in html  # type: ignore[index]
    assert "into copy 1, begins 1.0 s later" in said
    assert "a fan on Bluesky, 22 Aug 15:29 UTC What a goal! copy 1 the post" in said
    assert "merged into copy 1" in said
    assert '<a href="https://posts.example/best-0" rel="noopener nofollow ugc">the post</a>' in html
    assert "X failed 1 of 2 times: SourceRateLimited: x: too many requests" in said
    assert "6 found · 3 duplicates · 2 verified · 1 unverified" in said


async def test_a_running_search_shows_its_progress(site: httpx.AsyncClient) -> None:
    assert "searching 2/10" in text_of((await site.get(f"/g/{HAALAND}")).text)
    said = text_of((await site.get(f"/g/{NUNEZ}")).text)
    assert "No clip yet The search is running." in said
    assert "searching 1/10 · 1 found · 1 downloading" in said
    said = text_of((await site.get(f"/g/{SEEN}")).text)
    assert "Not confirmed yet" in said
    assert "seen 2/3" in said


async def test_a_missing_clip_is_explained_by_reason(site: httpx.AsyncClient) -> None:
    answer = await site.get(f"/g/{NO_CLIP}")
    said = text_of(answer.text)
    assert answer.status_code == 200
    assert "No clip was found 1 search found 2 posts; all were rejected (1 gone, 1 too short)." in said
    assert "1 gone the post or its video was deleted" in said
    assert "1 too short it is shorter than any clip of a goal" in said
    assert "too short 2.1 s, at least 3 s" in said
    assert "<video" not in answer.text


async def test_attribution_changes_are_shown(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    async with small_world.store.database.connection() as connection:
        await connection.execute(
            "insert into event_attributions (event_id, poll_id, at, changed) values (%s, 'p', now(), %s::jsonb)",
            (SALAH, '{"player": {"from": "Luis Díaz", "to": "Mohamed Salah"}, "player_id": {"from": 1, "to": 306}}'),
        )
    assert "scorer: Luis Díaz → Mohamed Salah" in text_of((await web.get(f"/g/{SALAH}")).text)


# --- ends


async def test_a_withdrawn_goal_page_has_no_clips(site: httpx.AsyncClient) -> None:
    for path in (f"/g/{WITHDRAWN}", f"/g/{WITHDRAWN}/fragment?part=copies"):
        answer = await site.get(path)
        assert answer.status_code == 410
        assert "Withdrawn" in answer.text
        assert "the feed no longer lists it (VAR)" in answer.text
        assert "<video" not in answer.text
        assert "/v/" not in answer.text


async def test_unknown_goals_are_not_found(site: httpx.AsyncClient) -> None:
    for name in ("7001_40_306_Goal_9", "x" * 500, "%00", "..%2f..", "<script>", "7001%0a", "ÄÖÜ"):
        for path in (f"/g/{name}", f"/g/{name}/fragment"):
            assert (await site.get(path, headers={"accept": "text/html"})).status_code == 404


# --- fragments


async def test_each_part_is_available_as_a_fragment(site: httpx.AsyncClient) -> None:
    whole = await site.get(f"/g/{SALAH}/fragment")
    assert (whole.status_code, "<html" in whole.text) == (200, False)
    assert set(re.findall(r'data-part="(\w+)"', whole.text)) == {"head", "player", "copies", "proofs", "more"}
    for part, hook in (
        ("head", "data-status"),
        ("player", "<video"),
        ("copies", "data-copies"),
        ("proofs", "data-proof"),
    ):
        answer = await site.get(f"/g/{SALAH}/fragment?part={part}")
        assert (answer.status_code, hook in answer.text, "data-part" in answer.text) == (200, True, False)
    assert (await site.get(f"/g/{SALAH}/fragment?part=secrets")).status_code == 422


# --- strangers


async def test_a_hostile_post_stays_text(site: httpx.AsyncClient) -> None:
    for path in (f"/g/{HOSTILE_GOAL}", f"/g/{HOSTILE_GOAL}/fragment"):
        html = (await site.get(path)).text
        assert "<script>document" not in html
        assert "<img src=x" not in html
        assert HOSTILE in unescape(html), "it is shown as it was written"
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", html)
        assert len(html) < 60_000


async def test_only_http_links_are_shown_as_links(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    async with small_world.store.database.connection() as connection:
        await connection.execute("update candidates set url = 'javascript:alert(1)' where event_id = %s", (SALAH,))
    assert "javascript:" not in (await web.get(f"/g/{SALAH}")).text


# --- what other sites show


async def test_a_shared_link_has_a_preview_image_and_the_score(
    web: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    html = (await web.get(f"/g/{SALAH}")).text
    best = (await videos(small_world, SALAH))[0]["id"]
    base = str(web.base_url).rstrip("/")
    found = tags(html)
    assert found["og:title"] == "Mohamed Salah 23' · Liverpool 1–0 Manchester City"
    assert found["og:description"] == "3 clips, 2 verified by the match clock · Premier League, 22 Aug 2026"
    assert found["og:url"] == f"{base}/g/{SALAH}"
    assert found["og:image"] == found["twitter:image"] == f"{base}/v/{best}/poster.jpg?w=1280"
    assert (found["og:image:width"], found["og:image:height"]) == ("1280", "720")
    assert found["og:video"] == f"{base}/v/{best}"
    assert found["twitter:card"] == "summary_large_image"
    assert f'<link rel="canonical" href="{base}/g/{SALAH}">' in html
    hostile = tags((await web.get(f"/g/{HOSTILE_GOAL}")).text)
    assert len(hostile["og:title"]) <= 140


async def test_shared_links_use_the_public_url(small_world: SampleDataCopy) -> None:
    settings = small_world.settings.model_copy(update={"public_url": "https://footy.example/"})
    async with served(settings) as (running, _), httpx.AsyncClient(base_url=running.url) as client:
        found = tags((await client.get(f"/g/{SALAH}")).text)
    assert found["og:url"] == f"https://footy.example/g/{SALAH}"
    assert found["og:image"].startswith("https://footy.example/v/")


# --- readers who hide scores


@pytest.mark.parametrize("event_id", [SALAH, HAALAND, WITHDRAWN])
async def test_a_hidden_goal_page_reveals_nothing(site: httpx.AsyncClient, event_id: str) -> None:
    answer = await site.get(f"/g/{event_id}", headers=HIDDEN)
    assert answer.status_code == 200
    html = answer.text
    for secret in (
        "Salah",
        "Haaland",
        "Lewandowski",
        "1–0",
        "1–1",
        "0–0",
        "23'",
        "12'",
        "withdrawn",
        "clip",
        "/v/",
        "og:image",
    ):
        assert secret not in html, secret
    assert "This page reveals the result" in html
    assert tags(html)["og:title"].startswith("A goal in ")
    fragment = await site.get(f"/g/{event_id}/fragment", headers=HIDDEN)
    assert (fragment.status_code, fragment.content) == (204, b"")


async def test_an_opened_match_is_shown(web: httpx.AsyncClient) -> None:
    html = (await web.get(f"/g/{SALAH}", headers=HIDDEN)).text
    assert '<input type="hidden" name="open" value="7001">' in html
    form = {"open": "7001", "back": f"/g/{SALAH}"}
    answer = await web.post("/preferences", data=form, headers=HIDDEN)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/g/{SALAH}")
    opened = {"cookie": f"spoilers=hidden; opened={answer.cookies['opened']}"}
    assert "Mohamed Salah" in (await web.get(f"/g/{SALAH}", headers=opened)).text


# --- drawn once for everybody


async def test_a_cached_page_is_rebuilt_after_a_change(
    web: httpx.AsyncClient, server: tuple[str, WebServices], small_world: SampleDataCopy
) -> None:
    while server[1].live.position is None:  # a page says from which position on it wants to hear
        await asyncio.sleep(0.01)
    first = await web.get(f"/g/{NUNEZ}")
    again = await web.get(f"/g/{NUNEZ}", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    await small_world.world.publish(NUNEZ, Clip("first", clip_bytes(7)))
    page = await web.get(f"/g/{NUNEZ}", headers={"if-none-match": first.headers["etag"]})
    assert (page.status_code, "<video" in page.text, "1 clip" in page.text) == (200, True, True)
    assert set(page.headers["vary"].split(", ")) >= {"Cookie", "Accept-Encoding"}
    hidden = await web.get(f"/g/{NUNEZ}", headers=HIDDEN)
    assert "<video" not in hidden.text
    dark = await web.get(f"/g/{NUNEZ}", headers={"cookie": "theme=dark"})
    assert 'data-theme="dark"' in dark.text
    assert 'data-theme="dark"' not in (await web.get(f"/g/{NUNEZ}")).text
