"""Atom feeds: content, spoilers, caching, well-formedness."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from xml.etree import ElementTree as ET

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.fixtures.models import MatchMinute, Score
from found_footy.notifications.models import AtomClip, AtomGoal
from found_footy.web.api.atom import AtomFeed, render_atom, title
from found_footy.web.services import WebServices
from tests.conftest import SampleDataCopy
from tests.support.web_world import HAALAND, HOSTILE_GOAL, NOW, SALAH, WITHDRAWN, Clip, clip_bytes, served

ATOM = "{http://www.w3.org/2005/Atom}"
TAG = "tag:found-footy,2026:goal/"


def entries(content: bytes) -> dict[str, ET.Element]:
    """By goal, after checking what RFC 4287 asks of every feed and every entry."""
    root = ET.fromstring(content)
    assert root.tag == f"{ATOM}feed"
    for one in ("id", "title", "updated", "author"):
        assert len(root.findall(ATOM + one)) == 1
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    found = root.findall(f"{ATOM}entry")
    for entry in found:
        for one in ("id", "title", "updated", "published", "summary"):
            assert len(entry.findall(ATOM + one)) == 1
            assert entry.findtext(ATOM + one)
        assert datetime.fromisoformat(entry.findtext(f"{ATOM}updated", "")).tzinfo
        assert [link.get("rel") for link in entry.findall(f"{ATOM}link")].count("alternate") == 1
    named = {entry.findtext(f"{ATOM}id", "").removeprefix(TAG): entry for entry in found}
    assert len(named) == len(found)
    return named


def links(entry: ET.Element) -> dict[str, str]:
    return {link.get("type", ""): link.get("href", "") for link in entry.findall(f"{ATOM}link")}


def said(entry: ET.Element) -> tuple[str, str]:
    return entry.findtext(f"{ATOM}title", ""), entry.findtext(f"{ATOM}summary", "")


@pytest.mark.parametrize(
    ("path", "goals"),
    [
        ("all", {SALAH, HAALAND, WITHDRAWN, HOSTILE_GOAL}),
        ("team/40", {SALAH, HAALAND}),  # for it and against it
        ("team/50", {SALAH, HAALAND}),
        ("team/529", {WITHDRAWN}),
        ("competition/39", {SALAH, HAALAND}),
        ("competition/78", set()),  # a match without a clip
    ],
)
async def test_a_feed_lists_goals_with_clips(site: httpx.AsyncClient, path: str, goals: set[str]) -> None:
    answer = await site.get(f"/feeds/{path}.atom")
    assert answer.headers["content-type"] == "application/atom+xml"
    assert set(entries(answer.content)) == goals


async def test_an_entry_links_goal_clip_and_poster(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    entry = entries((await web.get("/feeds/all.atom")).content)[SALAH]
    best = (await small_world.store.event(SALAH))["_s3_videos"][0]
    base = str(web.base_url).rstrip("/")
    assert links(entry) == {
        "text/html": f"{base}/g/{SALAH}",
        "video/mp4": f"{base}/v/{best['id']}",
        "image/jpeg": f"{base}/v/{best['id']}/poster.jpg",
    }
    assert entry.find(f"{ATOM}link[@type='video/mp4']").get("length") == str(best["file_size"])  # type: ignore[union-attr]
    summary = "3 clips, 2 verified by the match clock. Premier League."
    assert said(entry) == ("Liverpool 1–0 Manchester City: Mohamed Salah 23'", summary)


async def test_a_withdrawn_goal_is_marked_and_has_no_clips(site: httpx.AsyncClient) -> None:
    entry = entries((await site.get("/feeds/all.atom")).content)[WITHDRAWN]
    assert list(links(entry)) == ["text/html"]
    words = said(entry)
    assert words[0].startswith("Withdrawn: Barcelona 1–0 Sevilla")
    assert "no longer lists it (VAR)" in words[1]


async def test_without_scores_an_entry_reveals_nothing(site: httpx.AsyncClient) -> None:
    answer = await site.get("/feeds/all.atom?scores=no")
    found = entries(answer.content)
    assert said(found[SALAH])[0] == "Liverpool – Manchester City: a goal, 23'"
    assert said(found[WITHDRAWN])[0] == "Barcelona – Sevilla: a goal was withdrawn, 12'"
    assert set(links(found[SALAH])) == {"text/html", "video/mp4"}
    for spoiler in ("Salah", "Haaland", "1–0", "1-0", "poster"):
        assert spoiler not in answer.text


async def test_hostile_names_stay_text(site: httpx.AsyncClient) -> None:
    answer = await site.get("/feeds/team/999001.atom")
    root = ET.fromstring(answer.content)
    assert "<script>" not in answer.text
    assert "<script>document.title" in root.findtext(f"{ATOM}title", "")
    assert "\u202e" not in answer.text
    assert len(said(entries(answer.content)[HOSTILE_GOAL])[0]) < 250


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("team/12345", 404),
        ("competition/12345", 404),
        ("team/-1", 422),
        ("team/x", 422),
        ("team/99999999999999999999", 422),
        ("all.atom?scores=maybe&x=", 422),
        ("nothing", 404),
    ],
)
async def test_an_unknown_feed_is_not_found(site: httpx.AsyncClient, path: str, status: int) -> None:
    answer = await site.get(f"/feeds/{path}.atom")
    assert (answer.status_code, set(answer.json())) == (status, {"error"})


async def test_an_unchanged_feed_returns_304(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    first = await web.get("/feeds/all.atom")
    tag, date = first.headers["etag"], first.headers["last-modified"]

    async def again(**headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return (await web.get("/feeds/all.atom", headers=named)).status_code

    assert await again(if_none_match=tag) == await again(if_modified_since=date) == 304
    assert await again(if_none_match=f'"other", W/{tag}') == 304
    assert await again(if_none_match='"other"', if_modified_since=date) == 200
    assert await again(if_modified_since="yesterday, or so") == 200
    await small_world.world.publish(HAALAND, Clip("another", clip_bytes(9)), attempt=3)
    assert await again(if_none_match=tag) == 200
    entry = entries((await web.get("/feeds/all.atom")).content)[HAALAND]
    assert said(entry)[1].startswith("2 clips, ")


async def test_links_use_the_public_url(small_world: SampleDataCopy) -> None:
    settings = small_world.settings.model_copy(update={"public_url": "https://goals.example/footy/"})
    async with served(settings) as (running, _), httpx.AsyncClient(base_url=running.url) as client:
        content = (await client.get("/feeds/all.atom?scores=no")).content
    assert links(entries(content)[SALAH])["text/html"] == f"https://goals.example/footy/g/{SALAH}"
    itself = ET.fromstring(content).find(f"{ATOM}link[@rel='self']")
    assert itself is not None
    assert itself.get("href") == "https://goals.example/footy/feeds/all.atom?scores=no"


async def test_only_the_newest_goals_are_listed(server: tuple[str, WebServices]) -> None:
    assert len(await server[1].notifications.atom_goals(None, None, 2)) == 2
    assert len(await server[1].notifications.atom_goals("team", 40, 1)) == 1


GOAL = AtomGoal(
    "1_2_3_Goal_1", 1, "League", "Home", "Away", "Home", "Scorer", MatchMinute(90, 3), Score(1, 0), NOW,
    NOW + timedelta(minutes=1), 1, 0, AtomClip("0123456789abcdef", 1000),
)  # fmt: skip


@given(st.text(max_size=400), st.text(max_size=400), st.text(max_size=100), st.booleans())
def test_a_feed_is_well_formed_with_hostile_names(name: str, reason: str, goal_id: str, scores: bool) -> None:
    goal = replace(GOAL, id=goal_id, home=name, player=name or None, league=name, withdrawn=reason or None)
    root = ET.fromstring(render_atom(AtomFeed("/feeds/all.atom", name, [goal], scores), "http://127.0.0.1:8000"))
    assert len(root.findall(f"{ATOM}entry")) == 1
    assert root.findtext(f"{ATOM}updated") == "2026-08-22T15:31:00.000Z"


def test_an_entry_without_a_scorer_names_the_team() -> None:
    assert title(replace(GOAL, player=None), scores=True) == "Home 1–0 Away: Home 90+3'"


def test_an_empty_feed_is_stable() -> None:
    empty = AtomFeed("/feeds/team/1.atom", "Goals", [])
    assert render_atom(empty, "http://a") == render_atom(empty, "http://a")
    assert b"1970-01-01T00:00:00.000Z" in render_atom(empty, "http://a")
