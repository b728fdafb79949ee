"""What CREX's words mean to us, in tables."""

from __future__ import annotations

import pytest

from found_footy.errors import FeedSchemaError
from found_footy.feeds.alignment import ID_SPAN
from found_footy.feeds.crex_page import (
    Dismissal,
    PageNames,
    Total,
    details_path,
    find_match_type,
    format_match_code,
    is_toss,
    parse_dismissal,
    parse_match_code,
    parse_match_link,
    parse_status,
    parse_total,
    remove_team_names,
    scorecard_path,
    short_match_path,
    split_title,
)
from found_footy.fixtures.models import Player, Team, WicketKind


@pytest.mark.parametrize("code", ["1", "Z", "10", "118N", "T3V", "SIM1", "ZZZZZZZ"])
def test_a_code_and_its_number_are_the_same(code: str) -> None:
    assert format_match_code(parse_match_code(code)) == code
    assert parse_match_code(code.lower()) == parse_match_code(code)
    assert 0 < parse_match_code(code) < ID_SPAN


@pytest.mark.parametrize("code", ["", "0", "01", "12345678", "a_b", "é", "1 2", "-1"])
def test_invalid_codes_are_rejected(code: str) -> None:
    with pytest.raises(FeedSchemaError):
        parse_match_code(code)


NEW = "/cricket-live-score/ind-vs-aus-3rd-t20i-tour-2026-match-updates-118N"
SHORT = "/cricket-live-score/match-118N"


@pytest.mark.parametrize(
    ("link", "base", "code"),
    [
        (NEW, NEW, "118N"),
        (f"{NEW}/match-scorecard", NEW, "118N"),
        (f"{NEW}/match-details/", NEW, "118N"),
        (f"https://crex.com{NEW}?utm=1#top", NEW, "118N"),
        (SHORT, SHORT, "118N"),
        (f"{SHORT}/match-scorecard", SHORT, "118N"),
    ],
)
def test_the_url_of_a_match_contains_its_code(link: str, base: str, code: str) -> None:
    assert parse_match_link(link) == (base, parse_match_code(code))


@pytest.mark.parametrize(
    "link",
    ["", "/series/x-1H0", "/cricket-live-score/118N", "/scoreboard/118N", "/../etc/passwd", "javascript:x()"],
)
def test_other_addresses_are_refused(link: str) -> None:
    with pytest.raises(FeedSchemaError):
        parse_match_link(link)


def test_a_match_has_its_pages_also_where_only_its_code_is_known() -> None:
    assert (scorecard_path(NEW), details_path(NEW)) == (f"{NEW}/match-scorecard", f"{NEW}/match-details")
    assert short_match_path(parse_match_code("118N")) == "/cricket-live-score/match-match-updates-118N"
    assert parse_match_link(short_match_path(parse_match_code("118N"))) == (
        short_match_path(parse_match_code("118N")),
        parse_match_code("118N"),
    )


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("187-5", Total(187, 5)),
        ("187/5", Total(187, 5)),
        (" 0-0 ", Total(0, 0)),
        ("320-8 d", Total(320, 8, declared=True)),
        ("320-8dec.", Total(320, 8, declared=True)),
        ("187-10", Total(187, 10)),
        # All out, or still to lose one: nobody can tell.
        ("187", Total(187, None)),
        ("", None),
        ("Yet to bat", None),
    ],
)
def test_a_score_is_read(text: str, total: Total | None) -> None:
    assert parse_total(text, "score") == total


@pytest.mark.parametrize("text", ["187-11", "-5", "187--5", "9999-1", "abc", "1e3-2", "٣-١", "187-5-3"])
def test_a_score_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(FeedSchemaError, match="score"):
        parse_total(text, "score")


@pytest.mark.parametrize(
    ("text", "kind", "bowler"),
    [
        ("c Pant b Bumrah", WicketKind.CAUGHT, "Bumrah"),
        ("c †Pant b Jasprit Bumrah", WicketKind.CAUGHT, "Jasprit Bumrah"),
        ("c & b Starc", WicketKind.CAUGHT, "Starc"),
        ("c and b Starc", WicketKind.CAUGHT, "Starc"),
        ("c sub (Gill) b Shami", WicketKind.CAUGHT, "Shami"),
        ("b Rabada", WicketKind.BOWLED, "Rabada"),
        ("lbw b Zampa", WicketKind.LBW, "Zampa"),
        ("st Carey b Lyon", WicketKind.STUMPED, "Lyon"),
        ("hit wicket b Boult", WicketKind.HIT_WICKET, "Boult"),
        ("run out (Jadeja)", WicketKind.RUN_OUT, None),
        ("run out (Jadeja/Pant)", WicketKind.RUN_OUT, None),
        ("run out", WicketKind.RUN_OUT, None),
        ("retired out", WicketKind.OTHER, None),
        ("obstructing the field", WicketKind.OTHER, None),
        ("", WicketKind.OTHER, None),
        ("not out", None, None),
        ("Batting", None, None),
        ("retired hurt", None, None),
    ],
)
def test_how_a_batter_got_out(text: str, kind: WicketKind | None, bowler: str | None) -> None:
    assert parse_dismissal(text) == Dismissal(kind, bowler)


@pytest.mark.parametrize(
    ("box", "comment", "has_started", "status", "sure"),
    [
        ("", "", False, "NS", True),
        ("", "opt to bat", False, "NS", True),
        ("Toss delayed", "Toss delayed due to rain", False, "NS", True),
        ("Abandoned", "Match abandoned due to rain", False, "ABD", True),
        ("4", "opt to bat", True, "LIVE", True),
        ("Wicket", "need 20 runs in 12 balls", True, "LIVE", True),
        ("", "need 20 runs in 12 balls to win", True, "LIVE", True),
        ("W", "won the toss and opt to bowl", True, "LIVE", True),
        ("Innings Break", "need 161 to win", True, "INNBRK", True),
        ("Drinks", "", True, "DRINKS", True),
        ("Lunch", "Day 1: Lunch", True, "LUNCH", True),
        ("Tea", "Day 1: Tea Break", True, "TEA", True),
        ("Stumps", "Day 2: Stumps - trail by 120 runs", True, "STUMPS", True),
        ("Rain Stopped", "Rain Stopped", True, "RAIN", True),
        ("Bad Light", "", True, "RAIN", True),
        ("Match Ended", "won by 12 runs", True, "RESULT", True),
        # The last ball is still shown.
        ("6", "won by 5 wickets", True, "RESULT", False),
        ("Match Drawn", "Match Drawn", True, "DRAW", True),
        ("Match Tied", "Match Tied", True, "TIE", True),
        ("No Result", "No Result", True, "NR", True),
        # Words that nobody has seen before, in the middle of a match.
        ("Third umpire", "", True, "LIVE", False),
    ],
)
def test_what_happens_now(box: str, comment: str, has_started: bool, status: str, sure: bool) -> None:
    said, share = parse_status(box, comment, has_started=has_started)
    assert (said, share == 1) == (status, sure)
    assert share >= 0.5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("IND opt to bat", True),
        ("India won the toss and chose to bowl", True),
        ("AUS elected to field", True),
        ("AUS need 20 runs to win", False),
        ("India won by 10 runs", False),
    ],
)
def test_a_toss_is_parsed_from_text(text: str, told: bool) -> None:
    assert is_toss(text) is told


def test_the_title_of_a_match_has_its_parts() -> None:
    assert split_title("India vs Australia, 3rd T20I, Tour of Australia, 2026") == (
        ["India", "Australia"],
        "3rd T20I",
        "Tour of Australia, 2026",
    )
    assert split_title("Highlights") == (["Highlights"], "", "")
    assert find_match_type("3rd T20I") == "T20I"
    assert find_match_type("Final", "County Tests 2026") == "Test"
    assert find_match_type("Final") is None


NAMES = PageNames(
    {
        "t_O_name": "India",
        "t_O_short": "IND",
        "t_O1_name": "India A",
        "t_O1_short": "INDA",
        "p_7_name": "Virat Kohli",
        "p_8_name": "Rohit Sharma",
        "p_9_name": "Rahul Sharma",
        "p_bad-key_name": "Nobody",
        "x": "y",
        "p_A_name": 5,
    }
)


@pytest.mark.parametrize(
    ("shown", "person"),
    [
        ("Virat Kohli", Player(7, "Virat Kohli")),
        ("virat  KOHLI (c)", Player(7, "Virat Kohli")),
        ("V Kohli †", Player(7, "Virat Kohli")),
        ("Rohit Sharma", Player(8, "Rohit Sharma")),
        # Two can be meant.
        ("R Sharma", Player(name="R Sharma")),
        ("Shubman Gill", Player(name="Shubman Gill")),
        ("Kohli", Player(name="Kohli")),
        ("", Player()),
    ],
)
def test_a_player_has_an_id_where_only_one_can_be_meant(shown: str, person: Player) -> None:
    assert NAMES.person(shown) == person


def test_a_team_is_found_by_either_name_and_never_guessed() -> None:
    assert NAMES.team("IND", "x") == NAMES.team("india", "x") == Team(24, "India", "IND")
    assert NAMES.team("India A", "x").id == parse_match_code("O1")
    for shown in ("", "Indi", "Australia"):
        with pytest.raises(FeedSchemaError, match="expected a team with an id"):
            NAMES.team(shown, "teams")


def test_teams_may_be_called_after_the_weather() -> None:
    teams = (Team(1, "Rain City", "RAC"), Team(2, "Tea Town", "TEA"))
    assert remove_team_names("RAC need 5 runs, Tea Town bowl: Drinks", teams) == "need 5 runs, bowl: Drinks"


@pytest.mark.parametrize("raw", [None, [], "x", {"t_O_name": None}, {"p_7_name": "\x00"}])
def test_names_that_do_not_fit_are_omitted(raw: object) -> None:
    assert PageNames(raw).person("Virat Kohli") == Player(name="Virat Kohli")
