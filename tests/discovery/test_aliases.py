"""The names that a team is searched by, whether it plays for a country, and the query that comes of it all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from found_footy.discovery.aliases import select_aliases
from found_footy.discovery.models import NameKind, TeamName
from found_footy.discovery.query import MAX_QUERY_LENGTH, SearchQuery, goal_query
from found_footy.fixtures.team_names import (
    Squad,
    core,
    country_code,
    is_distinctive,
    is_national,
    squad_of,
    without_squad,
)
from tests.support.recorded import recorded


def known(text: str) -> list[TeamName]:
    """`label: Liverpool F.C.; alias: LFC; nickname de: Die Roten`."""
    names = []
    for entry in filter(None, text.split("; ")):
        kind, _, name = entry.partition(": ")
        what, _, language = kind.partition(" ")
        names.append(TeamName(name, language or "en", NameKind(what)))
    return names


@pytest.mark.parametrize(
    ("team", "names", "chosen"),
    [
        # A name that contains a chosen one is found by it; a colour means many clubs.
        (
            "Liverpool",
            "label: Liverpool F.C.; alias: LFC; alias: Liverpool Football Club; nickname: The Reds",
            ("Liverpool", "LFC"),
        ),
        (
            "Manchester City",
            "label: Manchester City F.C.; alias: MCFC; alias: City; alias: Man City; nickname: The Sky Blues",
            ("Manchester City", "MCFC", "Man City", "Sky Blues"),
        ),
        (
            "Manchester United",
            "alias: MUFC; alias: Man Utd; alias: United; alias: Manchester; nickname: The Red Devils",
            ("Manchester United", "MUFC", "Man Utd", "Red Devils"),
        ),
        ("Chelsea", "alias: CFC; nickname: The Blues; nickname: The Pensioners", ("Chelsea", "CFC", "Pensioners")),
        ("Tottenham", "label: Tottenham Hotspur F.C.; alias: Spurs; alias: THFC", ("Tottenham", "THFC", "Spurs")),
        ("Arsenal", "alias: AFC; alias: FC; nickname: The Gunners", ("Arsenal", "Gunners")),
        # The feed's own name first, also without the kind of club and in plain letters.
        ("1.FC Köln", "alias: Effzeh; alias: 1. FC Cologne", ("1.FC Köln", "Köln", "Koln", "Effzeh", "Cologne")),
        ("AS Roma", "alias: A.S. Roma; alias: ASR", ("AS Roma", "Roma", "ASR")),
        (
            "Bayern München",
            "label: FC Bayern Munich; short: FC Bayern; alias: FCB; alias de: Die Roten",
            ("Bayern München", "Bayern Munchen", "FCB", "Bayern"),
        ),
        ("Borussia Dortmund", "short: BVB; alias: Borussia; alias: BVB 09", ("Borussia Dortmund", "BVB")),
        ("Paris Saint Germain", "alias: PSG; alias: Paris; alias: Paris SG", ("Paris Saint Germain", "PSG")),
        ("Marseille", "label: Olympique de Marseille; alias: OM; alias fr: Phocéens", ("Marseille", "OM", "Phocéens")),
        ("Paris FC", "", ("Paris FC",)),
        ("FC Schalke 04", "alias: S04", ("FC Schalke 04", "Schalke", "S04")),
        # Countries, with FIFA's letters where these are no everyday word.
        (
            "Germany",
            "label: Germany men's national football team; alias: DFB; alias de: Die Mannschaft",
            ("Germany", "DFB", "GER", "Die Mannschaft"),
        ),
        ("Canada", "label: Canada national soccer team; nickname: The Reds", ("Canada",)),
        ("Türkiye", "", ("Türkiye", "Turkiye", "TUR")),
        ("Colombia W", "label: Colombia women's national football team", ("Colombia", "COL")),
        # Nothing known, nothing usable.
        ("Real Madrid", "", ("Real Madrid",)),
        ("Зенит", "", ("Зенит",)),
        ("Zenit", "label: Зенит; alias ru: Зенит; alias: 泽尼特", ("Zenit",)),
        ("Boca Juniors Res.", "", ("Boca Juniors",)),
        ("Ajax", f"alias: {'x' * 31}; alias: x; alias: ; alias: ??; alias: 1900", ("Ajax",)),
        ("Wolves", "alias: Wolverhampton W.; alias: Wanderers", ("Wolves",)),
        ("", "alias: LFC", ("LFC",)),
        ("???", "", ()),
        # A stranger's text stays text.
        ("Ajax", 'alias: Ajax" OR from:me; alias: (Joden); nickname: God\u202es Sons\u0000', ("Ajax", "Gods Sons")),
    ],
)
def test_the_names_that_a_team_is_searched_by(team: str, names: str, chosen: tuple[str, ...]) -> None:
    assert select_aliases(team, known(names)) == chosen


def test_only_so_many_names_are_chosen_and_the_best_of_them() -> None:
    names = known("; ".join(f"alias: Nickname number {letter}" for letter in "abcdefg"))
    names += known("alias: LFC; short: The Pool")
    chosen = select_aliases("Liverpool", names, max_names=4)
    assert chosen[:3] == ("Liverpool", "LFC", "Pool")
    assert len(chosen) == 4
    assert len(select_aliases("Liverpool", names)) == 8


def test_the_order_of_wikidatas_answer_does_not_matter() -> None:
    names = known("label: Manchester City F.C.; alias: MCFC; alias: Man City; nickname: Citizens; alias: Cityzens")
    assert select_aliases("Manchester City", names) == select_aliases("Manchester City", names[::-1])


@settings(deadline=None)
@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=12), st.integers(0, 9))
def test_the_number_of_chosen_names_is_bounded(team: str, texts: list[str], most: int) -> None:
    names = [TeamName(text, "en", NameKind.ALIAS) for text in texts]
    chosen = select_aliases(team, names, max_names=most)
    assert len(chosen) <= most
    assert len(set(chosen)) == len(chosen)
    assert not any(re.search(r"[\"“”():\[\]\n]", name) for name in chosen)


@pytest.mark.parametrize(
    ("name", "shorter"),
    [
        ("Liverpool F.C.", "Liverpool"),
        ("AFC Bournemouth", "Bournemouth"),
        ("1. FC Nürnberg", "Nürnberg"),
        ("Real Madrid Club de Fútbol", "Real Madrid"),
        ("Club de Fútbol Getafe", "Getafe"),
        ("Stade de Reims", "Reims"),
        ("UD Las Palmas", "Las Palmas"),
        ("S.S.C. Napoli", "Napoli"),
        ("TSV 1860 München", "1860 München"),
        ("FSV Mainz 05", "Mainz"),
        ("Vfl Bochum", "Bochum"),
        ("The Gunners", "Gunners"),
        ("United States men's national soccer team", "United States"),
        ("Manchester United", "Manchester United"),
        ("FC", "FC"),
        ("", ""),
    ],
)
def test_the_kind_of_club_is_dropped_from_names(name: str, shorter: str) -> None:
    assert core(name) == shorter


@pytest.mark.parametrize(
    ("name", "tells"),
    [
        *[(name, True) for name in ("LFC", "Man City", "Red Star", "Young Boys", "1860 München", "OM", "Les Bleus")],
        *[(name, True) for name in ("Spurs", "Wolves", "Sevilla", "Die Mannschaft", "GER", "Three Lions")],
        *[(name, False) for name in ("United", "City", "FC", "F.C.", "The Reds", "Blues", "Madrid", "Die Roten")],
        *[(name, False) for name in ("CAN", "NOR", "PER", "United FC", "Real", "Atlético", "1900", "", "Hamburger")],
    ],
)
def test_a_name_shared_by_many_teams_identifies_none(name: str, tells: bool) -> None:
    assert is_distinctive(name) is tells


@pytest.mark.parametrize(
    ("team", "league", "country", "national"),
    [
        ("Germany", "World Cup", "World", True),
        ("Germany", "FIFA World Cup", None, True),
        ("Türkiye", "Euro Championship", "World", True),
        ("Colombia W", "CONCACAF Gold Cup - Women", "World", True),
        ("Curaçao U20", "CONCACAF U20 - Qualification", "World", True),
        ("Bosnia & Herzegovina", "UEFA Nations League", "World", True),
        ("USA", "Friendlies", "World", True),
        ("Zanzibar", "Africa Cup of Nations - Qualification", "World", True),
        ("Korea Republic", "", None, True),
        ("Inter", "UEFA Champions League", "World", False),
        ("Real Madrid", "FIFA Club World Cup", "World", False),
        ("Inter", "Friendlies Clubs", "World", False),
        ("Boca Juniors", "CONMEBOL Libertadores", "World", False),
        ("Liverpool", "Premier League", "England", False),
        ("Nacional", "World Cup", "Uruguay", False),
        ("", "", None, False),
    ],
)
def test_teams_that_play_for_their_country(team: str, league: str, country: str | None, national: bool) -> None:
    assert is_national(team, league, country) is national


@pytest.mark.parametrize("edition", ["worldcup-2018", "worldcup-2022"])
def test_every_team_of_the_world_cups_is_known_as_a_country(edition: str) -> None:
    text = recorded("feeds", "openfootball", f"{edition}.json").read_text(encoding="utf-8")
    teams = set(re.findall(r'"team[12]": "([^"]+)"', text))
    assert len(teams) == 32
    assert [team for team in teams if not country_code(team)] == []


@pytest.mark.parametrize(
    ("name", "squad", "alone"),
    [
        ("Liverpool", Squad.FIRST, "Liverpool"),
        ("Boca Juniors", Squad.FIRST, "Boca Juniors"),
        ("Colombia W", Squad.WOMEN, "Colombia"),
        ("Arsenal Women", Squad.WOMEN, "Arsenal"),
        ("women's association football club", Squad.WOMEN, "women's association football club"),
        ("Curaçao U20", Squad.YOUTH, "Curaçao"),
        ("England national under-21 football team", Squad.YOUTH, "England national under-21 football team"),
        ("Boca Juniors Res.", Squad.RESERVES, "Boca Juniors"),
        ("Bayern München II", Squad.RESERVES, "Bayern München"),
        ("reserve team", Squad.RESERVES, "reserve team"),
        ("FC Barcelona Futsal", Squad.OTHER_GAME, "FC Barcelona Futsal"),
        ("W", Squad.WOMEN, "W"),
        ("", Squad.FIRST, ""),
    ],
)
def test_which_of_a_clubs_teams_a_name_means(name: str, squad: Squad, alone: str) -> None:
    assert squad_of(name) is squad
    assert without_squad(name) == alone


@pytest.mark.parametrize(
    ("player", "aliases", "other", "text"),
    [
        ("Florian Wirtz", ("LFC", "Liverpool"), (), "(Florian OR Wirtz) (LFC OR Liverpool)"),
        ("M. Salah", ("Liverpool",), (), "Salah Liverpool"),
        (None, ("Liverpool", "LFC"), (), "(Liverpool OR LFC)"),
        ("?", ("Man City",), (), '"Man City"'),
        # An own goal: the team that it counts for first, then in turns.
        ("C. Romero", ("Arsenal",), ("Tottenham", "Spurs"), "Romero (Arsenal OR Tottenham OR Spurs)"),
        (None, ("A1", "A2"), ("B1", "B2"), "(A1 OR B1 OR A2 OR B2)"),
        ("Rodri", (), (), "Rodri"),
    ],
)
def test_one_query_for_a_goal(player: str | None, aliases: tuple[str, ...], other: tuple[str, ...], text: str) -> None:
    assert goal_query(player, aliases, other).text == text


def test_a_long_query_loses_its_last_names() -> None:
    aliases = tuple(f"A name of {number:02} letters, more" for number in range(20))
    query = goal_query("Florian Wirtz", aliases)
    assert len(query.text) <= MAX_QUERY_LENGTH < len(SearchQuery(query.players, aliases).text)
    assert query.teams == aliases[: len(query.teams)]


@settings(deadline=None)
@given(st.text(max_size=150), st.text(max_size=150), st.lists(st.text(max_size=100), max_size=10))
def test_no_names_make_a_query_too_long(player: str, team: str, texts: list[str]) -> None:
    aliases = select_aliases(team, [TeamName(text, "en", NameKind.NICKNAME) for text in texts])
    assert len(goal_query(player, aliases, aliases).text) <= MAX_QUERY_LENGTH


def clubs(path: Path) -> list[tuple[str, list[str]]]:
    """Clubs with their other names, from openfootball's lists. Second teams and shortened words are left out."""
    found: list[tuple[str, list[str]]] = []
    second_team = False
    for line in path.read_text(encoding="utf-8").splitlines():
        text = re.sub(r"\[\w+\]|\([^)]*\)", "", line.split("#")[0]).rstrip()
        if text.lstrip().startswith("|") and found and not second_team:
            found[-1][1].extend(name for part in text.split("|") if (name := part.strip()) and "." not in name)
        elif re.match(r"\w+\)", text):
            second_team = True
        elif re.match(r"[^\s=|]", text):
            second_team = False
            found.append((text.split(",")[0].strip(), []))
    return found


@pytest.mark.parametrize("country", ["eng", "de", "es", "fr", "it"])
def test_real_clubs_are_found_by_their_names_and_not_by_their_neighbours(country: str) -> None:
    listed = clubs(recorded("feeds", "openfootball", f"{country}.clubs.txt"))
    queries = [
        (club, names, goal_query(None, select_aliases(club, [TeamName(name, "en", NameKind.ALIAS) for name in names])))
        for club, names in listed
    ]
    asked = [(query, name) for _, names, query in queries for name in names]
    met = sum(query.matches(name) for query, name in asked)
    others = [(query, other) for club, _, query in queries for other, _, _ in queries if other != club]
    mixed_up = sum(query.matches(other) for query, other in others)
    # What is missed are full names that nobody writes, and words that many clubs share.
    assert met >= 0.94 * len(asked) > 100
    assert mixed_up <= 0.003 * len(others)
