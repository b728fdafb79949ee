"""A page of CREX becomes a match of ours, or a failure that names the field."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.errors import FeedSchemaError
from found_footy.feeds.crex import parse_list
from found_footy.feeds.crex_page import parse_match, parse_match_code
from found_footy.feeds.snapshot import decode, to_payload
from found_footy.fixtures.models import (
    Innings,
    LiveFixture,
    MatchMinute,
    Player,
    Score,
    Side,
    Sport,
    Team,
    Toss,
    WicketKind,
)
from tests.feeds.crex_answers import CODE, FIRST, MATCH_ID, PATH, SECOND, card, list_answer, match_answer


def parsed(*innings: dict[str, Any], **changes: Any) -> LiveFixture:
    return parse_match(match_answer(*innings, **changes), MATCH_ID, "crex")


def test_a_match_is_mapped() -> None:
    match = parsed()
    assert (match.id, match.feed, match.sport, match.status) == (MATCH_ID, "crex", Sport.CRICKET, "LIVE")
    assert match.kickoff == datetime(2026, 8, 22, 14, 0, tzinfo=UTC)
    assert (match.home, match.away) == (Team(51, "Harbour Lions", "HBL"), Team(88, "Valley Kites", "VKT"))
    assert (match.league.name, match.league.season, match.league.round) == ("Coast Cup 2026", 2026, "3rd T20")
    assert match.innings == (
        Innings(1, Side.HOME, 160, 2, 20, 0, over=True),
        Innings(2, Side.AWAY, 33, 1, 4, 2),
    )
    assert (match.score, match.minute) == (Score(home=1, away=2), MatchMinute(4, 2, 2))
    assert (match.venue, match.metadata["match_type"], match.metadata["series"]) == (
        "Harbour Oval",
        "T20",
        "Coast Cup 2026",
    )
    assert match.last_event is not None
    assert (match.last_event.type, match.last_event.description) == ("runs", "VKT 33-1 (4.2): 4")


def test_each_wicket_has_batter_bowler_kind_and_ball_and_counts_for_the_side_in_the_field() -> None:
    assert [(w.side, w.minute, w.player, w.kind, w.assist) for w in parsed().goals] == [
        (
            Side.AWAY,
            MatchMinute(8, 3, 1),
            Player(parse_match_code("6BS"), "Arun Patel"),
            WicketKind.CAUGHT,
            Player(264, "Tom Hale"),
        ),
        (Side.AWAY, MatchMinute(13, 6, 1), Player(parse_match_code("6BT"), "Dev Rao"), WicketKind.RUN_OUT, Player()),
        (
            Side.HOME,
            MatchMinute(2, 3, 2),
            Player(name="Lee Moor"),
            WicketKind.LBW,
            Player(parse_match_code("6BS"), "Arun Patel"),
        ),
    ]


def test_it_survives_the_cache() -> None:
    match = parsed()
    assert decode(to_payload(match)) == match


@pytest.mark.parametrize(
    ("changes", "status", "over"),
    [
        ({"box": "Stumps", "comment": "Day 1: Stumps"}, "STUMPS", False),
        ({"box": "Rain Stopped"}, "RAIN", False),
        ({"box": "Match Ended", "comment": "Valley Kites won by 9 wickets"}, "RESULT", True),
        # A side's name is no word of the weather's.
        ({"box": "", "comment": "HBL opt to bat"}, "LIVE", False),
    ],
)
def test_a_break_is_not_the_end(changes: dict[str, str], status: str, over: bool) -> None:
    match = parsed(**changes)
    assert (match.status, match.innings[-1].over) == (status, over)


def test_before_the_start_there_is_no_score() -> None:
    heads = [{"name": name, "score": "Yet to bat", "overs": ""} for name in ("HBL", "VKT")]
    match = parsed(innings=[], teams=heads, box="", comment="HBL opt to bowl")
    assert (match.status, match.score, match.innings, match.goals, match.minute) == ("NS", None, (), (), None)
    assert match.toss == Toss(Side.HOME, "field")


@pytest.mark.parametrize(
    ("innings", "toss", "order"),
    [
        ((FIRST, SECOND), Toss(Side.HOME, "bat"), [Side.HOME, Side.AWAY]),
        ((FIRST, SECOND), Toss(Side.HOME, "field"), [Side.AWAY, Side.HOME]),
        ((SECOND, FIRST), Toss(Side.HOME, "bat"), [Side.HOME, Side.AWAY]),
        ((SECOND, FIRST), Toss(Side.AWAY, "field"), [Side.HOME, Side.AWAY]),
        ((SECOND, FIRST), None, [Side.AWAY, Side.HOME]),
    ],
)
def test_the_toss_determines_the_first_innings(
    innings: tuple[dict[str, Any], ...], toss: Toss | None, order: list[Side]
) -> None:
    match = parse_match(match_answer(*innings), MATCH_ID, "crex", toss)
    assert [each.batting for each in match.innings] == order
    assert ("innings" in match.confidence) == (toss is None)


def test_a_side_that_is_yet_to_bat_has_no_innings() -> None:
    assert [each.number for each in parsed(FIRST, SECOND | {"score": "Yet to bat", "overs": ""}).innings] == [1]


def test_inconsistent_data_lowers_confidence() -> None:
    late = FIRST | {"score": "160-3"}
    assert parsed(late).confidence["goals"] < 1
    assert parsed(FIRST | {"score": "160"}).confidence["goals"] < 1
    assert parsed(FIRST).confidence == {}


def test_who_went_off_hurt_is_not_out() -> None:
    hurt = [{"name": "Sam Iyer", "decision": "retired hurt", "runs": "9", "balls": "9"}]
    row = {"name": "Sam Iyer", "score": "60-1", "over": "9.1"}
    match = parsed(FIRST | {"batting": [*FIRST["batting"][:2], *hurt], "falls": [*FIRST["falls"], row]})
    assert len(match.goals) == 2


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"path": "/cricket-live-score/x-vs-y-match-updates-118P/match-scorecard"}, "path"),
        ({"path": "/login"}, "link"),
        ({"event": None}, "event.name"),
        ({"event": {"name": "A vs B", "start": "2026-08-22T14:00:00Z"}}, "event.competitors"),
        ({"event": {"name": "Harbour Lions vs Valley Kites", "start": "22 August"}}, "event.start"),
        ({"event": {"name": "Harbour Lions vs Harbour Lions", "start": "2026-08-22T14:00:00Z"}}, "event.competitors"),
        ({"event": {"name": "Harbour Lions", "start": "2026-08-22T14:00:00Z"}}, "event.name"),
        ({"names": {}}, "event.competitors"),
        ({"innings": {}}, "innings"),
        ({"innings": [FIRST] * 9}, "innings"),
        # The head shows runs, and the scorecard is missing: then its wickets are not gone.
        ({"innings": []}, "innings"),
        ({"innings": [FIRST | {"team": "XYZ"}]}, "innings.0.team"),
        ({"innings": [FIRST | {"score": "160-12"}]}, "innings.0.score"),
        ({"innings": [FIRST | {"overs": "(20.9)"}]}, "innings.0.overs"),
        ({"innings": [FIRST | {"overs": "(-1.2)"}]}, "innings.0.overs"),
        ({"innings": [FIRST | {"shown": False}]}, "innings.0.shown"),
        ({"innings": [FIRST | {"falls": [{"name": "A", "score": "1-1", "over": "soon"}]}]}, "innings.0.falls.0.over"),
        ({"innings": [FIRST | {"falls": [{"score": "1-1", "over": "1.1"}]}]}, "innings.0.falls.0.name"),
        ({"innings": [FIRST | {"falls": [FIRST["falls"][0]] * 31}]}, "innings.0.falls"),
        # The tables of the other innings are still shown.
        ({"innings": [FIRST, SECOND | {"falls": FIRST["falls"]}]}, "innings.1.falls"),
        ({"innings": [FIRST, SECOND | {"falls": FIRST["falls"][:1]}]}, "innings.1.falls.0.score"),
        ({"innings": [FIRST | {"falls": [FIRST["falls"][0] | {"score": "many"}]}]}, "innings.0.falls.0.score"),
        ({"box": "a\x00b", "title": "\x00"}, "raw"),
    ],
)
def test_invalid_data_is_a_failure_that_names_the_field(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(FeedSchemaError) as caught:
        parsed(**changes)
    assert caught.value.field == field


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(match_answer())), JUNK)
def test_no_page_makes_anything_but_a_match_or_a_failure(key: str, junk: Any) -> None:
    try:
        match = parse_match(match_answer() | {key: junk}, MATCH_ID, "crex")
    except FeedSchemaError:
        return
    assert decode(to_payload(match)) == match


@given(st.sampled_from(["events", "cards", "names", "empty"]), JUNK)
def test_no_list_makes_anything_but_matches_or_a_failure(key: str, junk: Any) -> None:
    try:
        listed = parse_list(list_answer() | {key: junk}, "crex")
    except FeedSchemaError:
        return
    assert set(listed.failures) | {each.id for each in listed.fixtures} == set(listed.bases)


def test_a_list_has_matches_with_their_page_urls() -> None:
    listed = parse_list(list_answer(), "crex")
    (match,) = listed.fixtures
    assert (match.id, match.status, match.home.name, match.venue) == (MATCH_ID, "NS", "Harbour Lions", "Harbour Oval")
    assert match.kickoff.date() == date(2026, 8, 22)
    assert listed.bases == {MATCH_ID: PATH}


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"live": True}, "LIVE"),
        ({"live": True, "reason": "Rain Stopped"}, "RAIN"),
        ({"result": "Harbour Lions won by 12 runs"}, "RESULT"),
        ({"result": "Match Drawn"}, "DRAW"),
        ({"result": "Match abandoned without a ball bowled"}, "ABD"),
        ({"result": "No result"}, "NR"),
        ({"reason": "Match postponed"}, "PST"),
    ],
)
def test_a_card_has_the_state_of_its_match(changes: dict[str, Any], status: str) -> None:
    assert parse_list(list_answer(card(**changes)), "crex").fixtures[0].status == status


def test_a_card_without_data_for_programs_is_read_as_people_do() -> None:
    (match,) = parse_list(list_answer(events=[]), "crex").fixtures
    assert match.kickoff == datetime(2026, 8, 22, 14, 0, tzinfo=UTC)
    assert (match.home.name, match.league.name, match.league.round) == ("Harbour Lions", "Coast Cup 2026", "3rd T20")


def test_an_invalid_card_does_not_affect_the_others() -> None:
    bad = card(link=PATH.replace(CODE, "118P"), teams=["HBL"])
    listed = parse_list(list_answer(card(), bad, card(link="/series/x"), card()), "crex")
    assert [match.id for match in listed.fixtures] == [MATCH_ID]
    assert list(listed.failures) == [parse_match_code("118P")]


def test_a_list_without_matches_is_rejected() -> None:
    with pytest.raises(FeedSchemaError, match="cards"):
        parse_list(list_answer(card(link="/x")), "crex")
    assert parse_list(list_answer(cards=[], events=[], empty=True), "crex").fixtures == ()
