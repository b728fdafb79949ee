"""Search by words: folding, prefixes, corrected names."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from found_footy.fixtures.models import FixtureStage, MatchMinute, Score, Side, Team
from found_footy.fixtures.store import FixtureStore
from tests.conftest import SampleDataCopy
from tests.support.web_world import (
    HAALAND,
    HOSTILE_GOAL,
    NO_CLIP,
    NUNEZ,
    PREMIER,
    SALAH,
    SEEN,
    goal,
    match,
)
from tests.support.web_world_feeds import WICKET_OF_HEAD

FOLDED = [
    ("Núñez", "nunez"),
    ("1. FC Köln", "1. fc koln"),
    ("MÜNCHEN", "munchen"),
    ("Ødegaard", "odegaard"),
    ("Łukasz Piszczek", "lukasz piszczek"),
    ("Đoković", "dokovic"),
    ("Großaspach", "grossaspach"),
    ("İlkay Gündoğan", "ilkay gundogan"),
    ("Kızılcık", "kizilcik"),
    ("Sævarsson", "saevarsson"),
    ("Þór", "thor"),
    ("Œuvre", "oeuvre"),
    ("N’Golo Kanté", "ngolo kante"),
    ("O'Neill", "oneill"),
    ("Vinícius Júnior", "vinicius junior"),
    ("Ｆｕｌｌ", "full"),
    ("Дзюба", "дзюба"),
    ("n\u0303", "n"),
    ("", ""),
]


async def test_names_are_folded_to_plain_letters(store: FixtureStore) -> None:
    async with store.database.connection() as connection:
        for name, plain in FOLDED:
            row = await (await connection.execute("select fold_text(%s) as it", [name])).fetchone()
            assert row is not None
            assert row["it"] == plain


async def test_search_words_cannot_inject_query_syntax(store: FixtureStore) -> None:
    async with store.database.connection() as connection:
        for said, question in [
            ("salah liv", "'liv':* & 'salah':*"),
            ("a | !b & c:*", "'a':* & 'b':* & 'c':*"),
            ("'; drop", "'drop':*"),
            ("!!! …", None),
            ("", None),
            ("<->", None),
            ("one two three four five six seven eight nine ten", None),
        ]:
            row = await (await connection.execute("select prefix_query(%s)::text as it", [said])).fetchone()
            assert row is not None
            if question is None and row["it"] is not None:
                assert row["it"].count("&") == 7
            else:
                assert row["it"] == question
        row = await (await connection.execute("select prefix_query('Köln', 't')::text as it")).fetchone()
        assert row == {"it": "'t.koln':*"}
        row = await (await connection.execute("select cardinality(split_words(%s)) as it", ["x y " * 5000])).fetchone()
        assert row == {"it": 2}


GOALS: list[tuple[str, set[str]]] = [
    ("q=nunez", {NUNEZ}),
    ("q=NÚÑ", {NUNEZ}),
    ("q=koln", {NO_CLIP}),
    ("q=köln", {NO_CLIP}),
    ("q=münchen", {NO_CLIP}),
    ("q=munch%20kane", {NO_CLIP}),
    ("q=sal%20liv", {SALAH}),
    ("q=salah%20city", {SALAH}),
    ("q=liverpool", {SALAH, HAALAND, NUNEZ}),
    ("q=bundesliga", {NO_CLIP}),
    ("q=england", {SALAH, HAALAND, NUNEZ}),
    ("q=alah", set()),
    ("q=head&sport=cricket", {WICKET_OF_HEAD}),
    ("q=head&sport=football", set()),
    ("q=salah%20sevilla", set()),
    ("q=lewandowski", set()),
    ("q=!!!&sport=football", {SALAH, HAALAND, NUNEZ, NO_CLIP, SEEN, HOSTILE_GOAL}),
    ("team=liverpool", {SALAH, NUNEZ}),
    ("player=liverpool", set()),
    ("competition=premier", {SALAH, HAALAND, NUNEZ}),
    ("competition=liverpool", set()),
    ("competition=78", {NO_CLIP}),
    ("q=liv&minute=45", {HAALAND}),
    ("q=liv&verified=true", {SALAH, HAALAND}),
    ("q=liv&verified=false", {NUNEZ}),
    ("q=liv&has_clip=false", {NUNEZ}),
    ("q=liv&date=2026-08-22", {SALAH, HAALAND, NUNEZ}),
    ("q=liv&date=2026-08-21", set()),
    ("q=liv&from=2026-08-20&to=2026-08-22", {SALAH, HAALAND, NUNEZ}),
    ("q=liv&from=2026-08-23", set()),
    ("q=liv&to=2026-08-21", set()),
]
MATCHES = [
    ("q=koln", {7003}),
    ("q=arsenal", {7004, 7006}),
    ("q=salah", {7001}),
    ("q=lewandowski", set()),
    ("q=salah%20liverpool%20prem", {7001}),
    ("team=manchester", {7001, 7006}),
    ("team=manchester&player=haaland", {7001}),
    ("minute=88", {7003}),
    ("has_clip=true", {7001, 7005}),
    ("verified=true&team=40", {7001}),
    ("date=2026-08-21", {7006}),
    ("competition=la%20liga", {7002}),
]


async def test_goals_matches_and_clips_are_found_by_words_and_filters(site: httpx.AsyncClient) -> None:
    for query, wanted in GOALS:
        found = (await site.get(f"/api/v1/search?{query}")).json()
        assert (found["kind"], {each["_event_id"] for each in found["items"]}) == ("goals", wanted), query
    for query, matches in MATCHES:
        found = (await site.get(f"/api/v1/search?kind=fixtures&{query}")).json()
        assert (found["kind"], {each["_id"] for each in found["items"]}) == ("fixtures", matches), query
    for query, clips in [
        ("q=salah", [(SALAH, 1), (SALAH, 2), (SALAH, 3)]),
        ("q=salah&verified=true", [(SALAH, 1), (SALAH, 2)]),
        ("q=salah&verified=false", [(SALAH, 3)]),
        ("team=50", [(HAALAND, 1)]),
        ("minute=23", [(SALAH, 1), (SALAH, 2), (SALAH, 3)]),
        ("q=kane", []),
    ]:
        answer = (await site.get(f"/api/v1/search?kind=clips&{query}")).json()
        assert [(each["event_id"], each["rank"]) for each in answer["items"]] == clips, query


@pytest.mark.parametrize("by", ["scorer", "team"])
async def test_corrected_names_are_searchable(web: httpx.AsyncClient, small_world: SampleDataCopy, by: str) -> None:
    world = small_world.world
    waiting = match(7300, PREMIER, Team(61, "Old Name"), Team(62, "Others"), status="NS")
    await world.add(waiting, stage=FixtureStage.STAGING)
    if by == "team":
        await world.add(replace(waiting, home=Team(61, "Nouveau Été")), stage=FixtureStage.ACTIVE)
        assert (await web.get("/api/v1/search?kind=fixtures&q=old")).json()["items"] == []
        assert len((await web.get("/api/v1/search?kind=fixtures&q=ete")).json()["items"]) == 1
        async with small_world.store.database.connection() as connection:
            await connection.execute("update fixtures set home_name = 'Los Ñandúes' where id = 7001")
        found = (await web.get("/api/v1/search?q=nandu%20salah")).json()["items"]
        assert [each["_event_id"] for each in found] == [SALAH]
        return
    await world.add(waiting, stage=FixtureStage.ACTIVE)
    first = goal("10", Side.HOME, 1, "Wrong Man")
    live = replace(waiting, status="1H", minute=MatchMinute(11), score=Score(1, 0))
    await world.poll(replace(live, goals=(first,)), times=3)
    assert len((await web.get("/api/v1/search?q=wrong")).json()["items"]) == 1
    await world.poll(replace(live, goals=(goal("10", Side.HOME, 2, "Señor Right"),)), times=1)
    assert (await web.get("/api/v1/search?q=wrong")).json()["items"] == []
    (found,) = (await web.get("/api/v1/search?q=senor")).json()["items"]
    assert found["_event_id"] == "7300_61_1_Goal_1"
