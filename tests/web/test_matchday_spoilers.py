"""Hidden scores on the matchday: nothing in the page reveals a result."""

from __future__ import annotations

import httpx

from tests.conftest import SampleDataCopy
from tests.web.match_cards import card, order

HIDDEN = {"cookie": "spoilers=hidden"}
OPENED = {"cookie": "spoilers=hidden; opened=7001"}
TELLING = ("Salah", "Haaland", "Núñez", "Kane", "Romero", "Goal_1", "/v/", "/g/", "clip<", "clips<", "seen ", "no clip",
           "FT", "class=\"score\"", "<svg class=\"line\"", "<circle", "withdrawn")  # fmt: skip


async def test_hidden_matches_reveal_nothing(site: httpx.AsyncClient) -> None:
    for path in ("/", "/day/2026-08-22", "/day/2026-08-22?show=live", "/fragments/match/7001", "/fragments/match/7003"):
        html = (await site.get(path, headers=HIDDEN)).text
        body = html[html.find("<main") if "<main" in html else 0 :]
        assert [word for word in TELLING if word in body] == [], path
        assert "score hidden" in body
    page = (await site.get("/", headers=HIDDEN)).text
    assert [word in card(page, 7001) for word in ("under way", "Liverpool", 'name="open" value="7001"')] == [True] * 3
    assert "finished" in card(page, 7003)
    assert "score hidden" not in card(page, 7004)


async def test_a_hidden_match_looks_the_same_whatever_the_score(
    web: httpx.AsyncClient, small_world: SampleDataCopy
) -> None:
    before = (await web.get("/fragments/match/7001", headers=HIDDEN)).text
    async with small_world.store.database.connection() as connection:
        await connection.execute("update fixtures set status = 'P', home_goals = 4, home_penalties = 2 where id = 7001")
        await connection.execute("delete from events where fixture_id = 7001")
    assert (await web.get("/fragments/match/7001", headers=HIDDEN)).text == before


async def test_an_opened_match_is_shown_while_others_stay_hidden(web: httpx.AsyncClient) -> None:
    answer = await web.post("/preferences", data={"open": "7001", "back": "/day/2026-08-22#match-7001"}, headers=HIDDEN)
    assert answer.headers["location"] == "/day/2026-08-22#match-7001"
    page = (await web.get("/", headers=OPENED)).text
    assert "Mohamed Salah" in card(page, 7001)
    assert "score hidden" in card(page, 7002)
    assert order(page) == ["7005", "7007", "7002", "7001", "7004", "7003"]
    clips = (await web.get("/day/2026-08-22?show=clips", headers=OPENED)).text
    assert order(clips) == ["7001"]
