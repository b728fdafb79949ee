"""The one schema for all feeds: written and read back without loss, and nothing read that does not fit."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.errors import FeedSchemaError, UnknownStatus
from found_footy.feeds.models import RECONCILED
from found_footy.feeds.snapshot import decode, to_payload
from found_footy.fixtures.models import (
    GOAL,
    PHASES,
    WICKET,
    GoalKind,
    Innings,
    LastEvent,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    Score,
    Side,
    Sport,
    Team,
    Toss,
    WicketKind,
)

KICKOFF = datetime(2025, 11, 22, 14, 0, tzinfo=UTC)

FOOTBALL = LiveFixture(
    id=401,
    feed="espn",
    status="2H",
    kickoff=KICKOFF,
    league=League(39, "Premier League", "England", 2025, "12"),
    home=Team(40, "Liverpool", "LIV"),
    away=Team(50, "Manchester City"),
    score=Score(1, 0),
    minute=MatchMinute(90, 3),
    goals=(LiveGoal(Side.HOME, MatchMinute(45, 2), Player(306, "M. Salah"), GoalKind.PENALTY, feeds=("espn",)),),
    venue="Anfield, Liverpool",
    last_event=LastEvent("goal", "45'+2' Penalty M. Salah", KICKOFF),
    metadata={"referee": "A. Taylor"},
    confidence={"score": 0.9},
    raw={"event": {"id": "401"}},
)
CRICKET = LiveFixture(
    id=12345,
    feed="crex",
    status="STUMPS",
    kickoff=KICKOFF,
    league=League(8, "India tour of Australia"),
    home=Team(1, "India", "IND"),
    away=Team(2, "Australia", "AUS"),
    score=Score(home=3, away=5),
    minute=MatchMinute(12, 3, 2),
    goals=(
        LiveGoal(
            Side.AWAY,
            MatchMinute(4, 1, 1),
            Player(7, "R. Sharma"),
            WicketKind.CAUGHT,
            Player(9, "P. Cummins"),
            type=WICKET,
        ),
    ),
    sport=Sport.CRICKET,
    innings=(Innings(1, Side.HOME, 187, 5, 20, 0, over=True), Innings(2, Side.AWAY, 95, 3, 12, 3)),
    toss=Toss(Side.HOME, "bat"),
    metadata={"title": "India vs Australia - 3rd T20I", "match_type": "T20I"},
)


def test_a_football_match_reads_as_a_scoreboard_does() -> None:
    payload = to_payload(FOOTBALL)
    shown = {key: payload[key] for key in ("match_id", "domain_id", "title", "status", "status_code", "start_time")}
    assert shown == {
        "match_id": "espn_401",
        "domain_id": "espn",
        "title": "Liverpool vs Manchester City",
        "status": "live",
        "status_code": "2H",
        "start_time": "2025-11-22T14:00:00Z",
    }
    assert payload["teams"] == {
        "team_a": {"id": 40, "name": "Liverpool", "short_name": "LIV"},
        "team_b": {"id": 50, "name": "Manchester City", "short_name": None},
    }
    assert payload["score"] == {"team_a": {"goals": 1}, "team_b": {"goals": 0}}
    assert payload["clock"]["text"] == "90+3'"
    assert payload["current_innings"] is None


def test_a_cricket_match_has_runs_wickets_and_overs_of_each_side() -> None:
    payload = to_payload(CRICKET)
    assert payload["title"] == "India vs Australia - 3rd T20I"
    assert payload["status"] == "live"
    assert payload["score"] == {
        "team_a": {"wickets_taken": 3, "runs": 187, "wickets": 5, "overs": 20.0},
        "team_b": {"wickets_taken": 5, "runs": 95, "wickets": 3, "overs": 12.3},
    }
    assert (payload["current_innings"], payload["clock"]["text"]) == (2, "12.3 ov")
    assert payload["toss"] == {"winner": "team_a", "decision": "bat"}


def test_the_reconciled_snapshot_uses_the_fixture_id() -> None:
    assert to_payload(replace(FOOTBALL, feed=RECONCILED))["match_id"] == "401"


@pytest.mark.parametrize(
    ("codes", "word"),
    [
        ("TBD NS PST", "upcoming"),
        ("1H HT 2H ET BT P LIVE SUSP INT INNBRK DRINKS LUNCH TEA DINNER RAIN STUMPS", "live"),
        ("FT AET PEN RESULT DRAW TIE", "completed"),
        ("NR CANC ABD AWD WO", "abandoned"),
    ],
)
def test_each_status_maps_to_one_of_four_states(codes: str, word: str) -> None:
    assert {to_payload(replace(FOOTBALL, status=code))["status"] for code in codes.split()} == {word}


def test_the_four_states_cover_all_statuses() -> None:
    assert all(to_payload(replace(FOOTBALL, status=code))["status"] for code in PHASES)


def test_an_unknown_status_is_not_encoded() -> None:
    with pytest.raises(UnknownStatus):
        to_payload(replace(FOOTBALL, status="XYZ"))


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
names = texts.filter(bool)
ids = st.integers(0, 2**53)
counts = st.integers(0, 200)
sides = st.sampled_from(Side)
zones = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-9))])
moments = st.builds(
    lambda apart, zone: (KICKOFF + apart).astimezone(zone), st.timedeltas(-timedelta(36500), timedelta(36500)), zones
)
minutes = st.builds(MatchMinute, counts, st.none() | counts, st.none() | st.integers(1, 8))
people = st.builds(Player, st.none() | ids, st.none() | texts)
scores = st.builds(Score, counts, counts)
goals = st.builds(
    LiveGoal, sides, minutes, people, st.sampled_from(GoalKind), people, st.just(GOAL), st.tuples() | st.tuples(names)
)
wickets = st.builds(LiveGoal, sides, minutes, people, st.sampled_from(WicketKind), people, st.just(WICKET))
leagues = st.builds(League, ids, texts, st.none() | texts, st.none() | st.integers(0, 9999), st.none() | texts)
teams = st.builds(Team, ids, texts, st.none() | texts)
innings = st.builds(
    Innings,
    st.integers(1, 8),
    sides,
    st.integers(0, 2000),
    st.integers(0, 20),
    counts,
    st.integers(0, 9),
    st.booleans(),
)
raws = st.dictionaries(texts, st.none() | st.booleans() | ids | texts | st.lists(texts, max_size=2), max_size=3)
lives = st.builds(
    LiveFixture,
    id=ids,
    feed=names,
    status=st.sampled_from(sorted(PHASES)),
    kickoff=moments,
    league=leagues,
    home=teams,
    away=teams,
    score=st.none() | scores,
    penalties=st.none() | scores,
    minute=st.none() | minutes,
    goals=st.lists(goals | wickets, max_size=4).map(tuple),
    raw=raws,
    sport=st.sampled_from(Sport),
    innings=st.lists(innings, max_size=4).map(tuple),
    toss=st.none() | st.builds(Toss, sides, st.sampled_from(["bat", "field"])),
    venue=st.none() | texts,
    last_event=st.none() | st.builds(LastEvent, texts, texts, st.none() | moments),
    metadata=st.dictionaries(texts, texts, max_size=3),
    confidence=st.dictionaries(texts, st.floats(0, 1), max_size=2),
)


@given(lives)
def test_a_snapshot_survives_json(live: LiveFixture) -> None:
    read = decode(json.loads(json.dumps(to_payload(live), allow_nan=False)))
    assert read == live
    assert [goal.feeds for goal in read.goals] == [goal.feeds for goal in live.goals]
    assert (read.raw, read.confidence) == (live.raw, live.confidence)


def test_an_unknown_field_is_ignored() -> None:
    payload = {**to_payload(CRICKET), "weather": {"degrees": 28}}
    payload["teams"]["team_a"]["colour"] = "blue"
    assert decode(payload) == CRICKET


GONE = object()


def changed(payload: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    copied: dict[str, Any] = json.loads(json.dumps(payload))
    place: Any = copied
    *way, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
    for part in way:
        place = place[part]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return copied


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("id", "12345"),
        ("id", -1),
        ("id", True),
        ("id", 2**60),
        ("id", GONE),
        ("domain_id", None),
        ("sport", "curling"),
        ("status_code", "XYZ"),
        ("status_code", GONE),
        ("start_time", "soon"),
        ("start_time", "2025-11-22T14:00:00"),
        ("start_time", 1763820000),
        ("league", None),
        ("league.name", "L" * 301),
        ("league.season", "2025"),
        ("teams", []),
        ("teams.team_b", GONE),
        ("teams.team_a.name", "In\x00dia"),
        ("teams.team_a.name", "\ud800"),
        ("score", GONE),
        ("score.team_a.wickets_taken", -1),
        ("score.team_a.wickets_taken", "3"),
        ("score.team_a.wickets_taken", GONE),
        ("clock.elapsed", 12.3),
        ("clock.innings", -2),
        ("events", None),
        ("events", [{}] * 201),
        ("events.0.kind", "Penalty"),
        ("events.0.side", "home"),
        ("events.0.player", GONE),
        ("events.0.player.id", "7"),
        ("events.0.minute", GONE),
        ("events.0.feeds", "espn"),
        ("innings.0.batting", "team_c"),
        ("innings.0.runs", -4),
        ("innings.0.over", 1),
        ("innings", GONE),
        ("toss.winner", "India"),
        ("toss.decision", "sleep"),
        ("metadata.title", 7),
        ("metadata", []),
        ("confidence", {"score": 1.5}),
        ("confidence", {"score": True}),
        ("raw", []),
    ],
)
def test_a_field_that_does_not_fit_is_named(path: str, value: object) -> None:
    with pytest.raises(FeedSchemaError) as raised:
        decode(changed(to_payload(CRICKET), path, value))
    assert raised.value.field.startswith(path)


@pytest.mark.parametrize("payload", [{}, {"id": 1}, {"match_id": "x"}])
def test_a_document_of_another_kind_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(FeedSchemaError):
        decode(payload)
