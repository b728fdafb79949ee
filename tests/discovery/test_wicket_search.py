"""What a wicket is searched by."""

from __future__ import annotations

import pytest

from found_footy.discovery.query import (
    DISMISSAL_WORDS,
    MAX_QUERY_LENGTH,
    SearchQuery,
    build_query,
    cricket_team_names,
    wicket_query,
)
from found_footy.fixtures.models import Sport, Team
from tests.clips.test_wicket_proof import sought

INDIA, AUSTRALIA = ("India", "IND"), ("Australia", "AUS")
QUERY = wicket_query("Virat Kohli", "A Zampa", INDIA, AUSTRALIA)


def test_a_query_has_batter_bowler_teams_and_a_dismissal_term() -> None:
    assert QUERY.text == (
        "(Virat OR Kohli OR Zampa) (India OR Australia OR IND OR AUS) "
        "(wicket OR out OR bowled OR caught OR catch OR lbw OR stumped OR dismissed OR gone)"
    )
    assert QUERY.sport is Sport.CRICKET


@pytest.mark.parametrize(
    ("post", "fits"),
    [
        ("WICKET! Virat Kohli c Head b Zampa 44 (31) | India 98/2", True),
        ("KOHLI IS GONE!!! #INDvAUS Australia on top", True),
        ("Kohli run out by a mile, IND in trouble", True),
        ("What a ball by Zampa, clean bowled him! AUS", True),
        ("Kohli with a cover drive for four, India flying", False),  # nobody is out
        ("Rohit Sharma bowled! India 31/1", False),  # somebody else
        ("Kohli caught on camera dancing", False),  # no team
    ],
)
def test_a_post_must_contain_all_three(post: str, fits: bool) -> None:
    assert QUERY.matches(post) is fits


def test_without_the_batter_the_bowler_alone_would_find_all_his_wickets() -> None:
    assert wicket_query(None, "Adam Zampa", INDIA, AUSTRALIA).players == ()
    assert wicket_query("Virat Kohli", None, INDIA, AUSTRALIA).players == ("Virat", "Kohli")


def test_a_query_is_never_too_long() -> None:
    many = tuple(f"Some Team Name Number {n}" for n in range(30))
    query = wicket_query("Virat Kohli", "Adam Zampa", many, many)
    assert len(query.text) <= MAX_QUERY_LENGTH
    assert query.words == DISMISSAL_WORDS


@pytest.mark.parametrize(
    ("team", "names"),
    [
        (Team(1, "India", "IND"), ("India", "IND")),
        (Team(1, "New Zealand", "NZ"), ("New Zealand", "NZL", "NZ")),
        (Team(1, "Chennai Super Kings", "CSK"), ("Chennai Super Kings", "CSK")),
        (Team(1, "Harbour Lions", "Lions!"), ("Harbour Lions",)),
        (Team(1, "Harbour Lions"), ("Harbour Lions",)),
    ],
)
def test_a_cricket_team_is_called_by_its_name_and_its_letters(team: Team, names: tuple[str, ...]) -> None:
    assert cricket_team_names(team) == names


def test_a_wicket_has_its_own_search_terms_and_no_football_nicknames() -> None:
    query = build_query(sought(1, 2))
    assert query.words == DISMISSAL_WORDS
    assert set(query.teams) >= {"India", "Australia", "AUS", "IND"}


def test_optional_words_are_added_to_the_query() -> None:
    assert SearchQuery(("Salah",), ("LFC",)).text == "Salah LFC"
    assert SearchQuery(("Kohli",), ("India",), ("run out", "lbw")).text == 'Kohli India ("run out" OR lbw)'
