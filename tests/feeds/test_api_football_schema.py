"""Fields of API-Football that do not fit: each is named, and only its own fixture fails."""

from __future__ import annotations

from typing import Any

import pytest

from found_footy.errors import FeedSchemaError, UnknownStatus
from found_footy.feeds.api_football import parse_fixture
from found_footy.feeds.validation import MAX_GOALS
from found_footy.fixtures.models import GoalKind, LastEvent, LiveGoal, MatchMinute, Player, Score, Side
from tests.feeds.api_answers import AWAY, GONE, HOME, body, changed, goal, item
from tests.feeds.conftest import Open
from tests.feeds.raw_server import RawServer, json_reply

CARD = {"time": {"elapsed": -3}, "team": {"id": None}, "type": "Card", "detail": "Yellow Card"}


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("fixture.status.elapsed", "abc", "fixture.status.elapsed"),
        ("fixture.status.elapsed", -1, "fixture.status.elapsed"),
        ("fixture.status", GONE, "fixture.status"),
        ("fixture.date", "yesterday", "fixture.date"),
        ("fixture.date", "2026-08-22T14:00:00", "fixture.date"),
        ("fixture.date", "2026-13-45T14:00:00+00:00", "fixture.date"),
        ("fixture.date", 1787407200, "fixture.date"),
        ("goals.home", -1, "goals.home"),
        ("goals.home", "2", "goals.home"),
        ("goals.home", 2.5, "goals.home"),
        ("goals.home", True, "goals.home"),
        ("goals.home", 201, "goals.home"),
        ("goals", GONE, "goals"),
        ("score.penalty.away", "4", "score.penalty.away"),
        ("teams", GONE, "teams"),
        ("teams.away", GONE, "teams.away"),
        ("teams.home.id", 0, "teams.home.id"),
        ("teams.home.id", 2**60, "teams.home.id"),
        ("teams.home.name", "Liver\x00pool", "teams.home.name"),
        ("teams.home.name", "Liver\ud800pool", "teams.home.name"),
        ("teams.home.name", "L" * 301, "teams.home.name"),
        ("teams.home.name", None, "teams.home.name"),
        ("league.season", 10**12, "league.season"),
        ("events", "none", "events"),
        ("events", [1], "events.0"),
        ("events.0.team.id", 77, "events.team.id"),
        ("events.0.detail", "Bicycle Kick", "events.detail"),
        ("events.0.detail", GONE, "events.0.detail"),
        ("events.0.time.elapsed", None, "events.0.time.elapsed"),
        ("events.0.player.name", ["M. Salah"], "events.0.player.name"),
        ("events", [goal(minute) for minute in range(1, MAX_GOALS + 2)], "events"),
        ("events", [{**CARD, "comments": "Foul\x00"}], "raw"),
        ("fixture.referee", "A. \udfff Taylor", "raw"),
        ("fixture.timestamp", float("nan"), "raw"),
        ("fixture.timestamp", float("inf"), "raw"),
    ],
)
async def test_a_field_that_does_not_fit_is_named_and_fails_only_its_fixture(
    api_football: Open, path: str, value: object, field: str
) -> None:
    items = [item(1), changed(item(2), path, value), item(3)]
    async with RawServer(json_reply(body(items))) as server:
        answer = await api_football(server.url).fixtures_by_ids([1, 2, 3])
    assert [fixture.id for fixture in answer.fixtures] == [1, 3]
    assert answer.unknown == ()
    error = answer.failures[2]
    assert isinstance(error, FeedSchemaError)
    assert error.field == field
    assert str(error).startswith(f"{field}: got ")
    assert len(server.requests) == 1


async def test_an_unknown_status_has_its_own_error(api_football: Open) -> None:
    items = [changed(item(1), "fixture.status.short", "XYZ"), item(2)]
    async with RawServer(json_reply(body(items))) as server:
        answer = await api_football(server.url).fixtures_by_ids([1, 2])
    assert [fixture.id for fixture in answer.fixtures] == [2]
    assert type(answer.failures[1]) is UnknownStatus
    assert "'XYZ'" in str(answer.failures[1])


@pytest.mark.parametrize("second", [item(1), item(1, goals={"home": 9, "away": 9}), item(1, teams=None)])
@pytest.mark.parametrize("swapped", [False, True])
async def test_a_duplicate_fixture_is_rejected(api_football: Open, second: Any, swapped: bool) -> None:
    pair = [second, item(1)] if swapped else [item(1), second]
    async with RawServer(json_reply(body([*pair, item(2)]))) as server:
        answer = await api_football(server.url).fixtures_by_ids([1, 2])
    assert [fixture.id for fixture in answer.fixtures] == [2]
    assert isinstance(answer.failures[1], FeedSchemaError)


@pytest.mark.parametrize(
    "entry", [None, 7, [], {}, {"fixture": None}, {"fixture": {"id": "1"}}, {"fixture": {"id": True}}]
)
async def test_an_entry_without_an_id_leaves_its_fixture_unknown(api_football: Open, entry: Any) -> None:
    async with RawServer(json_reply(body([entry, item(2)]))) as server:
        answer = await api_football(server.url).fixtures_by_ids([1, 2])
    assert ([fixture.id for fixture in answer.fixtures], answer.unknown) == ([2], (1,))
    assert answer.failures == {}


async def test_an_unrequested_fixture_is_ignored(api_football: Open) -> None:
    items = [item(1), item(7), changed(item(8), "goals.home", -1)]
    async with RawServer(json_reply(body(items))) as server:
        answer = await api_football(server.url).fixtures_by_ids([1])
    assert [fixture.id for fixture in answer.fixtures] == [1]
    assert (answer.failures, answer.unknown) == ({}, ())


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (goal(12), LiveGoal(Side.HOME, MatchMinute(12), Player(306, "M. Salah"))),
        (
            goal(45, AWAY, time={"elapsed": 45, "extra": 2}),
            LiveGoal(Side.AWAY, MatchMinute(45, 2), Player(306, "M. Salah")),
        ),
        (goal(90, time={"elapsed": 90, "extra": 0}), LiveGoal(Side.HOME, MatchMinute(90), Player(306, "M. Salah"))),
        (goal(9, detail="Own Goal"), LiveGoal(Side.HOME, MatchMinute(9), Player(306, "M. Salah"), GoalKind.OWN_GOAL)),
        (goal(9, detail="Penalty"), LiveGoal(Side.HOME, MatchMinute(9), Player(306, "M. Salah"), GoalKind.PENALTY)),
        (goal(9, player={"id": None, "name": None}), LiveGoal(Side.HOME, MatchMinute(9), Player())),
        (goal(9, player={"id": 0, "name": ""}), LiveGoal(Side.HOME, MatchMinute(9), Player())),
        (
            goal(9, player={"id": None, "name": "A. Colazo"}),
            LiveGoal(Side.HOME, MatchMinute(9), Player(None, "A. Colazo")),
        ),
        (
            goal(9, assist={"id": 283, "name": "Trent"}),
            LiveGoal(Side.HOME, MatchMinute(9), Player(306, "M. Salah"), assist=Player(283, "Trent")),
        ),
        (goal(9, detail="Missed Penalty"), None),
        (goal(120, detail="Penalty", comments="Penalty Shootout"), None),
        (CARD, None),
        ({"type": "Var", "detail": "Goal cancelled"}, None),
    ],
)
def test_an_entry_of_the_event_list_is_this_goal_or_none(entry: dict[str, Any], expected: LiveGoal | None) -> None:
    assert parse_fixture(item(1, events=[entry])).goals == ((expected,) if expected else ())


def test_sixty_goals_are_accepted() -> None:
    assert len(parse_fixture(item(1, events=[goal(n) for n in range(1, MAX_GOALS + 1)])).goals) == 60


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("events", GONE),
        ("score", GONE),
        ("league.country", None),
        ("league.round", GONE),
        ("league.season", None),
        ("fixture.status.extra", GONE),
        ("fixture.venue", {"name": "Anfield"}),
        ("weather", "rain"),
        ("teams.home.name", "1. FC Köln ⚽ Ħamrun"),
    ],
)
def test_optional_and_additional_fields_are_tolerated(path: str, value: object) -> None:
    assert parse_fixture(changed(item(1), path, value)).id == 1


@pytest.mark.parametrize(
    ("goals", "score"),
    [({"home": 0, "away": 2}, Score(0, 2)), ({"home": None, "away": None}, None), ({"home": 1, "away": None}, None)],
)
def test_there_is_a_score_once_both_sides_have_one(goals: dict[str, Any], score: Score | None) -> None:
    assert parse_fixture(item(1, goals=goals)).score == score


@pytest.mark.parametrize(
    ("elapsed", "extra", "minute"), [(30, None, MatchMinute(30)), (90, 5, MatchMinute(90, 5)), (None, None, None)]
)
def test_the_minute_of_the_match(elapsed: int | None, extra: int | None, minute: MatchMinute | None) -> None:
    status = {"short": "2H", "elapsed": elapsed, "extra": extra}
    assert parse_fixture(changed(item(1), "fixture.status", status)).minute == minute


def test_stored_responses_have_no_line_ups() -> None:
    parsed = parse_fixture(item(1, lineups=[{"team": HOME}], statistics=[1], players=[2]))
    assert set(parsed.raw) == {"fixture", "league", "teams", "goals", "score", "events"}


def test_venue_short_names_last_event_and_metadata_are_read() -> None:
    entry = changed(item(1), "fixture.venue", {"id": 550, "name": "Anfield", "city": "Liverpool"})
    entry = changed(changed(entry, "fixture.referee", "A. Taylor"), "teams.home.code", "LIV")
    entry = changed(entry, "events", [goal(12), {**goal(30, AWAY), "type": "Card", "detail": "Yellow Card"}])
    match = parse_fixture(entry, "second")
    assert (match.feed, match.venue, match.home.short) == ("second", "Anfield, Liverpool", "LIV")
    assert match.last_event == LastEvent("card", "30' Yellow Card M. Salah (?)")
    assert match.metadata == {"referee": "A. Taylor", "round": "1"}


@pytest.mark.parametrize("nonsense", [7, [], {}, "x" * 301, True, {"name": ["Anfield"]}])
@pytest.mark.parametrize("path", ["fixture.venue", "fixture.referee", "teams.home.code", "fixture.status.long"])
def test_invalid_details_never_reject_the_match(path: str, nonsense: Any) -> None:
    assert parse_fixture(changed(item(1), path, nonsense)).score == Score(1, 0)
