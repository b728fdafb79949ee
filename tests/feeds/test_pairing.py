"""Which of our matches a listing is: names, times, competitions and marks, in rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from found_footy.feeds.match_pairing import is_same_competition, pair_listing
from found_footy.feeds.models import MatchListing, Pairing, PairingCandidate, PairingVerdict
from found_footy.fixtures.models import Sport

START = datetime(2026, 3, 14, 15, 0, tzinfo=UTC)
SAME, DOUBTFUL, DIFFERENT = PairingVerdict.SAME, PairingVerdict.DOUBTFUL, PairingVerdict.DIFFERENT


def teams(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`Liverpool/LIV - Chelsea`: the first name is the feed's own."""
    home, _, away = text.partition(" - ")
    return tuple(home.split("/")), tuple(away.split("/"))


def listing(text: str, hours: float = 0, competition: str = "", sport: Sport = Sport.FOOTBALL) -> MatchListing:
    home, away = teams(text)
    return MatchListing("espn", 401, sport, home, away, START + timedelta(hours=hours), competition)


def candidate(
    text: str, number: int = 1, hours: float = 0, competition: str = "", sport: Sport = Sport.FOOTBALL
) -> PairingCandidate:
    home, away = teams(text)
    return PairingCandidate(number, sport, home, away, START + timedelta(hours=hours), competition)


def paired(
    theirs: str,
    ours: str,
    hours: float = 0,
    competitions: tuple[str, str] = ("", ""),
    sport: Sport = Sport.FOOTBALL,
) -> Pairing:
    one = candidate(ours, competition=competitions[1], sport=sport)
    return pair_listing(listing(theirs, hours, competitions[0], sport), [one])


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("Liverpool - Chelsea", "Liverpool - Chelsea"),
        ("Man City - Tottenham Hotspur", "Manchester City - Tottenham"),
        ("Atlético Madrid - Internazionale", "Atletico Madrid - Inter"),
        ("Arsenal - FC Porto", "Arsenal FC - Porto"),
        ("Bayern Munich - Borussia Dortmund", "FC Bayern München - BVB"),
        ("Mainz - TSG Hoffenheim", "FSV Mainz 05 - 1899 Hoffenheim"),
        ("FC Cologne - 1. FC Heidenheim 1846", "1.FC Köln - FC Heidenheim"),
        ("Newcastle United - Leeds United", "Newcastle - Leeds"),
        ("Wolverhampton Wanderers - Brighton & Hove Albion", "Wolves - Brighton"),
        ("Paris Saint-Germain - AS Monaco", "PSG - Monaco"),
        ("Brest - Stade Rennais", "Stade Brestois 29 - Rennes"),
        ("Sporting CP - SL Benfica", "Sporting Lisbon - Benfica"),
        ("Athletic Club - Real Betis", "Athletic Bilbao - Betis"),
        ("West Bromwich Albion - Queens Park Rangers", "West Brom - QPR"),
        ("Red Bull Bragantino - Vasco da Gama", "RB Bragantino - Vasco DA Gama"),
        ("Borussia Monchengladbach - SV Darmstadt 98", "Borussia Mönchengladbach - Darmstadt"),
        ("Brøndby - FC København", "Broendby IF - FC Copenhagen"),
        ("Türkiye - Czechia", "Turkey - Czech Republic"),
        ("Bosnia-Herzegovina - Congo DR", "Bosnia & Herzegovina - DR Congo"),
        ("United States - South Korea", "USA - Korea Republic"),
        ("Colombia W - Puerto Rico W", "Colombia Women - Puerto Rico Women"),
        ("Curaçao U20 - Barbados U20", "Curacao U-20 - Barbados U-20"),
        ("Boca Juniors Res. - Independiente Res.", "Boca Juniors Reserves - Independiente Reserves"),
        ("Real Madrid Castilla - Deportivo Alavés", "Real Madrid II - Alaves"),
    ],
)
def test_names_of_one_match(theirs: str, ours: str) -> None:
    found = paired(theirs, ours)
    assert (found.verdict, found.fixture_id, found.swapped) == (SAME, 1, False), found.reasons
    assert found.confidence > 0.5
    assert paired(ours, theirs).verdict is SAME


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Inter", "Milan"),
        ("Inter Milan", "AC Milan"),
        ("Internazionale", "Milan"),
        ("Manchester City", "Manchester United"),
        ("Man City", "Man Utd"),
        ("Real Madrid", "Atlético Madrid"),
        ("Real Madrid", "Real Sociedad"),
        ("Rayo Vallecano", "Real Madrid"),
        ("Paris FC", "Paris Saint-Germain"),
        ("Paris FC", "PSG"),
        ("Dynamo Kyiv", "Dinamo Zagreb"),
        ("Dynamo Moscow", "Spartak Moscow"),
        ("West Ham", "West Brom"),
        ("West Ham United", "West Bromwich Albion"),
        ("Sheffield United", "Sheffield Wednesday"),
        ("Espanyol Barcelona", "Barcelona"),
        ("Hertha Berlin", "Union Berlin"),
        ("Bayern Munich", "1860 Munich"),
        ("Lecce", "Lecco"),
        ("Al Ahly", "Al Ahli"),
        ("Slovakia", "Slovenia"),
        ("Austria", "Australia"),
        ("Niger", "Nigeria"),
        ("Guinea", "Guinea-Bissau"),
        ("Juventus Turin", "Torino"),
        ("Lazio", "Roma"),
        ("Real Madrid", "Real Madrid Castilla"),
        ("Barcelona", "Barcelona Atlètic"),
        ("Barcelona", "Barcelona SC"),
        ("Hapoel Tel Aviv", "Maccabi Tel Aviv"),
        ("Gimnasia La Plata", "Estudiantes La Plata"),
        ("Club Brugge", "Cercle Brugge"),
    ],
)
def test_teams_that_must_not_be_confused(a: str, b: str) -> None:
    """Not even with the same opponent at the same time: then a person decides."""
    other = "Lyon" if a != "Lyon" else "Nice"
    assert paired(f"{a} - {other}", f"{b} - {other}", competitions=("Cup", "Cup")).verdict is not SAME
    assert paired(f"{other} - {b}", f"{other} - {a}").verdict is not SAME
    assert paired(f"{a} - Santos", f"{b} - Torpedo Kutaisi").verdict is DIFFERENT


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("England Women - Spain Women", "England - Spain"),
        ("England W - Spain W", "England - Spain"),
        ("England U21 - Spain U21", "England - Spain"),
        ("England U19 - Spain U19", "England U21 - Spain U21"),
        ("Liverpool Legends - Chelsea Legends", "Liverpool - Chelsea"),
        ("Bayern Munich II - Augsburg II", "Bayern Munich - Augsburg"),
        ("Villarreal B - Sevilla", "Villarreal - Sevilla"),
        ("Jong Ajax - Jong PSV", "Ajax - PSV"),
        ("Flamengo Futsal - Santos Futsal", "Flamengo - Santos"),
    ],
)
def test_marks_make_another_match_of_the_same_names(theirs: str, ours: str) -> None:
    assert paired(theirs, ours).verdict is DIFFERENT
    assert paired(ours, theirs).verdict is DIFFERENT


@pytest.mark.parametrize(
    ("theirs", "ours", "competitions", "same"),
    [
        # One feed marks the team, the other only the competition.
        ("England - Spain", "England W - Spain W", ("FIFA Women's World Cup", "World Cup - Women"), SAME),
        ("England - Spain", "England - Spain", ("FIFA Women's World Cup", "World Cup"), DIFFERENT),
        ("Barcelona - Ajax", "Barcelona U19 - Ajax U19", ("UEFA Youth League", "UEFA Youth League"), SAME),
        ("Barcelona - Ajax", "Barcelona - Ajax", ("UEFA Youth League", "UEFA Champions League"), DIFFERENT),
        ("Spain - Japan", "Spain U23 - Japan U23", ("Men's Olympics", "Olympics Men"), SAME),
    ],
)
def test_a_competition_may_bear_the_mark(
    theirs: str, ours: str, competitions: tuple[str, str], same: PairingVerdict
) -> None:
    assert paired(theirs, ours, competitions=competitions).verdict is same


@pytest.mark.parametrize(
    ("hours", "same", "word"),
    [
        (0, SAME, "the same kick-off"),
        (0.25, SAME, "the same kick-off"),
        (1, SAME, "exactly 1 h apart"),  # a wrong time zone
        (-1, SAME, "exactly 1 h apart"),
        (2.5, SAME, "2.5 h apart"),
        (5.5, SAME, "5.5 h apart"),
        (12, SAME, "exactly 12 h apart"),
        (12.1, DIFFERENT, ""),
        (24, DIFFERENT, ""),
        (168, DIFFERENT, ""),  # the second leg
    ],
)
def test_kick_offs_that_differ(hours: float, same: PairingVerdict, word: str) -> None:
    found = paired("Liverpool - Chelsea", "Liverpool - Chelsea", hours)
    assert found.verdict is same
    assert word in " ".join(found.reasons)


@pytest.mark.parametrize(
    ("theirs", "ours", "hours", "competitions", "same"),
    [
        # Both names are short forms.
        ("Newcastle United - Leeds United", "Newcastle - Leeds", 2, ("Premier League", "Premier League"), SAME),
        ("Newcastle United - Leeds United", "Newcastle - Leeds", 2, ("", ""), DOUBTFUL),
        ("Newcastle United - Leeds United", "Newcastle - Leeds", 6, ("", ""), DOUBTFUL),
        # One is certain, the other could be two clubs.
        ("Liverpool - Manchester", "Liverpool - Manchester United", 0, ("", ""), SAME),
        ("Liverpool - Manchester", "Liverpool - Manchester United", 2, ("", ""), DOUBTFUL),
        ("Liverpool - Manchester", "Liverpool - Manchester United", 6, ("", ""), DOUBTFUL),
        # Neither is.
        ("Madrid - Manchester", "Real Madrid - Manchester United", 0, ("Friendly", "Friendly"), DOUBTFUL),
        ("Madrid - Manchester", "Real Madrid - Manchester United", 2, ("Friendly", "Friendly"), DIFFERENT),
        # The same team at the same time against somebody else.
        ("Liverpool - Everton", "Liverpool - Tranmere", 0, ("Friendly", "Friendly"), DOUBTFUL),
        ("Liverpool - Everton", "Liverpool - Tranmere", 2, ("", ""), DIFFERENT),
        ("Liverpool - Round of 16 3 Winner", "Liverpool - Chelsea", 0, ("", ""), DOUBTFUL),
        ("TBD - TBD", "TBD - TBD", 0, ("Cup", "Cup"), DIFFERENT),
        ("Round of 32 12 Winner - QF W1", "Round of 32 12 Winner - QF W1", 0, ("", ""), DIFFERENT),
        # Codes only support.
        ("Lisboa Dragoes/DRG - Liverpool", "Club Dragons/DRG - Liverpool", 0, ("", ""), SAME),
        ("Lisboa Dragoes/DRG - Reds/LIV", "Club Dragons/DRG - Liverpool/LIV", 0, ("", ""), DOUBTFUL),
        ("Porto/POR - Liverpool/LIV", "Portugal/POR - Livorno/LIV", 2, ("", ""), DIFFERENT),
        # An alias that somebody has found.
        ("Spurs - Chelsea", "Tottenham/Spurs/Tottenham Hotspur - Chelsea", 0, ("", ""), SAME),
    ],
)  # fmt: skip
def test_less_certain_names(
    theirs: str, ours: str, hours: float, competitions: tuple[str, str], same: PairingVerdict
) -> None:
    found = paired(theirs, ours, hours, competitions)
    assert found.verdict is same, found.reasons


@pytest.mark.parametrize(
    ("theirs", "ours", "sport", "same"),
    [
        ("Chelsea - Liverpool", "Liverpool - Chelsea", Sport.FOOTBALL, SAME),
        ("Leeds United - Newcastle United", "Newcastle - Leeds", Sport.FOOTBALL, DOUBTFUL),
        ("Spain - Germany", "Germany - Spain", Sport.FOOTBALL, SAME),
        ("Australia - India", "India - Australia", Sport.CRICKET, SAME),
        ("Super Kings - Mumbai Indians", "Mumbai Indians - Chennai Super Kings", Sport.CRICKET, SAME),
    ],
)
def test_home_and_away_may_be_swapped(theirs: str, ours: str, sport: Sport, same: PairingVerdict) -> None:
    found = paired(theirs, ours, sport=sport)
    assert (found.verdict, found.swapped) == (same, True)
    assert "home and away are swapped" in found.reasons


CRICKET = [
    ("India - Australia", "India - Australia", 0, ("3rd T20I", "T20I series"), SAME),
    ("India - Australia", "India - Australia", 48, ("T20I series", "T20I series"), DIFFERENT),  # the next of a series
    ("India - Australia", "India - Australia", 48, ("2nd Test", "Test series"), SAME),  # its third day
    ("India - Australia", "India - Australia", 96, ("2nd Test", "Test series"), SAME),
    ("India - Australia", "India - Australia", 144, ("2nd Test", "Test series"), DIFFERENT),
    ("India - Australia", "India - Australia", 48, ("2nd Test", "Border-Gavaskar Trophy"), DOUBTFUL),
    ("India - Australia", "India - Australia", 0, ("2nd Test", "T20I series"), DIFFERENT),
    ("India Women - Australia Women", "India - Australia", 0, ("T20I", "T20I"), DIFFERENT),
    ("India A - Australia A", "India - Australia", 0, ("", ""), DIFFERENT),
    ("England Lions - India A", "England - India", 0, ("", ""), DIFFERENT),
    ("India Legends - England Legends", "India - England", 0, ("", ""), DIFFERENT),
    ("West Indies - Scotland", "West Indies/WI - Scotland/SCO", 0, ("", ""), SAME),
    ("Royal Challengers Bangalore - CSK", "Royal Challengers Bengaluru - CSK", 0, ("IPL", "IPL"), SAME),
    ("Brno - Prague CC", "Brno - Prague CC", 2, ("ECS T10", "European Cricket Series"), DIFFERENT),  # again today
    ("Brno - Prague CC", "Brno - Prague CC", 0.2, ("ECS T10", "European Cricket Series"), SAME),
]


@pytest.mark.parametrize(("theirs", "ours", "hours", "competitions", "same"), CRICKET)
def test_cricket(theirs: str, ours: str, hours: float, competitions: tuple[str, str], same: PairingVerdict) -> None:
    found = paired(theirs, ours, hours, competitions, sport=Sport.CRICKET)
    assert found.verdict is same, found.reasons


def test_another_sport_is_another_match() -> None:
    ours = candidate("India - Australia", sport=Sport.CRICKET)
    assert pair_listing(listing("India - Australia"), [ours]) == Pairing(DIFFERENT)


def test_without_candidates_it_is_a_new_match() -> None:
    assert pair_listing(listing("Liverpool - Chelsea"), []) == Pairing(DIFFERENT)


def test_two_equally_likely_matches_are_left_to_an_operator() -> None:
    twins = [candidate("Liverpool - Chelsea", number) for number in (1, 2)]
    found = pair_listing(listing("Liverpool - Chelsea"), twins)
    assert found.verdict is DOUBTFUL
    assert any("is equally likely" in reason for reason in found.reasons)


def test_the_one_that_fits_clearly_better_is_it() -> None:
    ours = [candidate("Brno - Prague", number, hours, sport=Sport.CRICKET) for number, hours in ((1, 0), (2, 2))]
    for hours, number in ((0, 1), (2, 2)):
        assert pair_listing(listing("Brno - Prague", hours, sport=Sport.CRICKET), ours).fixture_id == number


def test_a_match_that_fits_is_found_among_many() -> None:
    others = [candidate(f"Club {n} - Town {n}", n) for n in range(2, 40)]
    ours = [*others[:20], candidate("Liverpool - Chelsea", 1), *others[20:]]
    assert pair_listing(listing("Liverpool FC - Chelsea FC"), ours).fixture_id == 1


def test_names_that_are_missing_or_endless_end_in_no_pairing() -> None:
    empty = MatchListing("espn", 1, Sport.FOOTBALL, (), (), START, "")
    assert pair_listing(empty, [candidate("Liverpool - Chelsea")]).verdict is DIFFERENT
    endless = MatchListing("espn", 1, Sport.FOOTBALL, ("x" * 10**6,) * 50, ("",), START, "y" * 10**5)
    assert pair_listing(endless, [candidate("Liverpool - Chelsea")]).verdict is DIFFERENT


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        ("UEFA Champions League", "Champions League", True),
        ("English Premier League", "Premier League", True),
        ("CONMEBOL Libertadores", "Copa Libertadores", True),
        ("LaLiga", "La Liga", True),
        ("Serie A", "Serie B", False),
        ("Premier League", "Bundesliga", False),
        ("", "Premier League", False),
    ],
)
def test_similar_competition_names(a: str, b: str, alike: bool) -> None:
    assert is_same_competition(a, b) is alike
