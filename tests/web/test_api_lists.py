"""Lists of the API with their filters, on the small world."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from found_footy.clips.store import SQL as CLIPS_SQL
from found_footy.errors import BadRequest
from found_footy.fixtures.models import MatchMinute, Score, Side, Team
from found_footy.web.api.goals import period
from found_footy.web.api.parameters import NameOrId, day_range, parse_minute, parse_name_or_id
from tests.conftest import SampleDataCopy
from tests.support.web_world import (
    CITY,
    HAALAND,
    HOSTILE_GOAL,
    KICKOFF,
    LIVERPOOL,
    NO_CLIP,
    NOW,
    NUNEZ,
    PREMIER,
    SALAH,
    SEEN,
    WITHDRAWN,
    goal,
    match,
)
from tests.support.web_world_feeds import CRICKET, WICKET_OF_HEAD


async def items(web: httpx.AsyncClient, path: str, name: str) -> set[object]:
    answer = await web.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.text
    return {each[name] for each in answer.json()["items"]}


async def test_days_have_counts_of_matches_goals_and_clips(site: httpx.AsyncClient) -> None:
    assert (await site.get("/api/v1/dates")).json() == {
        "items": [
            {"date": "2026-08-22", "matches": 6, "goals": 8, "clips": 5},
            {"date": "2026-08-21", "matches": 1, "goals": 0, "clips": 0},
        ],
        "next": None,
    }


async def test_matches_are_filtered_by_day_stage_competition_and_team(site: httpx.AsyncClient) -> None:
    for query, wanted in [
        ("date=2026-08-21", {7006}),
        ("date=2026-08-22", {7001, 7002, 7003, 7004, 7005, CRICKET}),
        ("sport=cricket", {CRICKET}),
        ("sport=football&team=india", set()),
        ("date=2026-08-20", set()),
        ("stage=staging", {7004}),
        ("stage=completed", {7003, 7006}),
        ("league=39", {7001, 7004, 7006}),
        ("league=premier%20l", {7001, 7004, 7006}),
        ("league=germany", {7003}),
        ("team=50", {7001, 7006}),
        ("team=man%20CITY", {7001, 7006}),
        ("team=arsenal&date=2026-08-21", {7006}),
        ("team=liverpool&league=140", set()),
        ("team=99999999999999999999999999", set()),
        ("team=%20", {7001, 7002, 7003, 7004, 7005, 7006, CRICKET}),
    ]:
        assert await items(site, f"fixtures?{query}", "_id") == wanted, query


async def test_goals_are_filtered_by_status_match_team_scorer_and_minute(site: httpx.AsyncClient) -> None:
    for query, wanted in [
        ("status=complete", {SALAH, NO_CLIP}),
        ("status=withdrawn", {WITHDRAWN}),
        ("status=validating", {SEEN}),
        ("status=watching&sport=football", {HAALAND, HOSTILE_GOAL}),
        ("sport=cricket&minute=2", {WICKET_OF_HEAD}),
        ("player=travis", {WICKET_OF_HEAD}),
        ("status=extracting", {NUNEZ}),
        ("fixture=7001", {SALAH, HAALAND, NUNEZ}),
        ("team=40", {SALAH, NUNEZ}),
        ("team=manchester", {HAALAND}),
        ("player=306", {SALAH}),
        ("player=nunez", {NUNEZ}),
        ("player=mohamed%20SAL", {SALAH}),
        ("league=39&has_clip=true", {SALAH, HAALAND}),
        ("league=39&has_clip=false", {NUNEZ}),
        ("date=2026-08-21", set()),
        ("minute=23", {SALAH}),
        ("minute=45", {HAALAND}),
        ("minute=45%2B2", {HAALAND}),
        ("minute=45+2", {HAALAND}),
        ("minute=45+3", set()),
        ("fixture=7009", set()),
    ]:
        assert await items(site, f"events?{query}", "_event_id") == wanted, query


async def test_a_withdrawn_goal_never_shows_a_clip(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    listed = (await web.get("/api/v1/events?status=withdrawn")).json()["items"]
    whole = (await web.get(f"/api/v1/events/{WITHDRAWN}")).json()
    of_match = (await web.get("/api/v1/fixtures/7002")).json()["events"]
    in_list = (await web.get("/api/v1/fixtures?team=529")).json()["items"][0]["events"]
    for event in [*listed, whole, *of_match, *in_list]:
        if event["_event_id"] == WITHDRAWN:
            assert (event["status"], event["_s3_videos"]) == ("withdrawn", [])
    assert await items(web, f"videos?event={WITHDRAWN}", "id") == set()
    for kind in ("goals", "clips"):
        assert (await web.get(f"/api/v1/search?q=lewandowski&kind={kind}")).json()["items"] == []
    rows = await small_world.store.database.fetch(CLIPS_SQL["states"], id=WITHDRAWN)
    assert [row["state"] for row in rows] == ["kept"]
    async with small_world.store.database.connection() as connection:
        found = await connection.execute("select id from videos where event_id = %s", [WITHDRAWN])
        row = await found.fetchone()
        assert row is not None
    answer = await web.get(f"/api/v1/videos/{row['id']}")
    assert answer.status_code == 410
    assert answer.json()["error"]["class"] == "LinkGone"
    assert "withdrawn" in answer.json()["error"]["message"]


async def test_clips_are_filtered_by_goal_match_and_verification(site: httpx.AsyncClient) -> None:
    of_salah = (await site.get(f"/api/v1/videos?event={SALAH}")).json()["items"]
    assert {(each["rank"], each["timestamp_verified"]) for each in of_salah} == {(1, True), (2, True), (3, False)}
    assert {each["event_id"] for each in of_salah} == {SALAH}
    best = next(each for each in of_salah if each["rank"] == 1)
    assert (best["url"], best["poster"]) == (f"/v/{best['id']}", f"/v/{best['id']}/poster.jpg")
    assert await items(site, "videos?fixture=7001&verified=false", "rank") == {3}
    assert len(await items(site, "videos?fixture=7001&verified=true", "id")) == 3
    assert len(await items(site, "videos?since=2026-08-22T15:30:00Z", "id")) == 5
    assert await items(site, "videos?since=2026-08-22T17:30:01%2B02:00", "id") == set()

    whole = (await site.get(f"/api/v1/videos/{best['id']}")).json()
    assert whole["proof"]["readings"][0]["clock"] == "22:41"
    assert whole["leads_to"] is None
    (copy,) = best["copies"]
    merged = (await site.get(f"/api/v1/videos/{copy['id']}")).json()
    assert merged["leads_to"] == {
        "id": best["id"],
        "url": f"/v/{best['id']}",
        "offset_seconds": 1.0,
        "mirrored": False,
    }


async def test_rejections_are_counted_by_reason_and_hour(site: httpx.AsyncClient) -> None:
    answer = (await site.get("/api/v1/losses?until=2026-08-23&fixture=7003")).json()
    assert answer["losses"] == [{"loss": "gone", "posts": 1}, {"loss": "too short", "posts": 1}]
    assert answer["goals"] == {"certain": 1, "with_clips": 0, "searching": 0, "nothing_posted": 0, "all_lost": 1}
    assert answer["posts"] == {"found": 2, "kept": 0, "duplicate": 0, "lost": 2, "in_work": 0}
    assert answer["hours"] == [
        {"hour": "2026-08-22T15:00:00+00:00", "nothing_posted": 0, "losses": {"gone": 1, "too short": 1}}
    ]


async def test_a_goal_without_posts_is_counted_separately(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    await small_world.world.clips.close(HAALAND, "over")
    quiet = match(7100, PREMIER, LIVERPOOL, CITY)
    await small_world.world.add(quiet)
    late = goal("70", Side.HOME, 306, "Mohamed Salah")
    await small_world.world.poll(replace(quiet, goals=(late,), score=Score(1, 0), minute=MatchMinute(70)), times=3)
    await small_world.world.clips.close("7100_40_306_Goal_1", "over")
    answer = (await web.get("/api/v1/losses?fixture=7100")).json()
    assert answer["goals"]["nothing_posted"] == 1
    assert [(hour["nothing_posted"], hour["losses"]) for hour in answer["hours"]] == [(1, {})]
    assert answer["losses"] == []


async def test_new_items_do_not_shift_pages(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    first = (await web.get("/api/v1/fixtures?limit=3")).json()
    early = match(7200, PREMIER, Team(1, "A"), Team(2, "B"), status="NS", kickoff=KICKOFF - timedelta(days=1))
    late = match(7201, PREMIER, Team(1, "A"), Team(2, "B"), status="NS", kickoff=KICKOFF + timedelta(hours=9))
    await small_world.world.add(early, late, stage="staging")
    second = (await web.get(f"/api/v1/fixtures?limit=10&cursor={first['next']}")).json()
    listed = [each["_id"] for each in first["items"] + second["items"]]
    assert listed == [7006, 7001, 7002, 7003, 7005, 7007, 7004, 7201]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (None, NameOrId()),
        ("", NameOrId()),
        (" 40 ", NameOrId(id=40)),
        ("liv", NameOrId(words="liv")),
        ("９", NameOrId(words="９")),
        ("1" * 19, NameOrId(words="1" * 19)),
        ("1. FC", NameOrId(words="1. FC")),
    ],
)
def test_names_and_ids_are_both_accepted(text: str | None, meant: NameOrId) -> None:
    assert parse_name_or_id(text) == meant


def test_the_narrower_of_two_date_ranges_applies() -> None:
    day = KICKOFF.date()
    whole = day_range(day, day - timedelta(days=3), day + timedelta(days=3))
    assert (whole["since"], whole["until"]) == (KICKOFF.replace(hour=0), KICKOFF.replace(day=23, hour=0))
    assert day_range(None) == {"since": None, "until": None}
    assert parse_minute("45+2") == {"minute": 45, "extra": 2}


@pytest.mark.parametrize(
    ("since", "until", "hours"),
    [(None, None, 24), (NOW - timedelta(hours=2), None, 2), (None, NOW - timedelta(days=3), 24), (NOW, None, 1 / 3600)],
)
def test_rejections_default_to_the_last_day(since: object, until: object, hours: float) -> None:
    first, last = period(since, until, NOW)  # type: ignore[arg-type]
    assert last - first == timedelta(hours=hours)


def test_reversed_or_too_long_periods_are_rejected() -> None:
    for since, until in [(NOW, NOW), (NOW, NOW - timedelta(days=1)), (NOW - timedelta(days=32), NOW)]:
        with pytest.raises(BadRequest):
            period(since, until, NOW)
