"""Truth tables: what an entry of the follow list means, and which matches it follows.

Names as the feeds write them: ESPN from pseudo-r/Public-ESPN-API#7 (`English Premier League`, no country); API-Football
from davidhuertabeltran/football-scores, league-list-clean.js (`Premier League`, country `England`, id 39).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from found_footy.domain.errors import FollowUnknown
from found_footy.domain.fixtures.competitions import (
    BY_SLUG,
    COMPETITIONS,
    PRESET_LABELS,
    PRESET_NAMES,
    PRESETS,
    REGIONS,
    find_competition,
)
from found_footy.domain.fixtures.follow_teams import TOP_TEAMS, confederation_of
from found_footy.domain.fixtures.following import (
    DEFAULT_ENTRIES,
    EVERYTHING,
    FollowChange,
    describe_following,
    following_of,
    parse_entries,
    parse_entry,
)
from found_footy.domain.fixtures.model import League, LiveFixture, Sport, Team
from found_footy.domain.fixtures.tracking import Tracked, is_tracked

KICKOFF = datetime(2026, 11, 21, 15, tzinfo=UTC)


def match(
    league: str = "Friendlies Clubs",
    country: str | None = None,
    league_id: int = 9999,
    home: str = "Somewhere",
    away: str = "Elsewhere",
    slug: str | None = None,
    sport: Sport = Sport.FOOTBALL,
) -> LiveFixture:
    named = League(league_id, league, country, slug=slug)
    return LiveFixture(1, "feed", "NS", KICKOFF, named, Team(1, home), Team(2, away), sport=sport)


# --- reading entries


@pytest.mark.parametrize(
    ("text", "kind", "canonical"),
    [
        ("Premier League", "competition", "premier-league"),
        ("premier-league", "competition", "premier-league"),
        ("EPL", "competition", "premier-league"),
        ("English Premier League", "competition", "premier-league"),
        ("eng.1", "competition", "premier-league"),
        ("LaLiga", "competition", "la-liga"),
        ("champions-league", "competition", "champions-league"),
        ("UCL", "competition", "champions-league"),
        ("Serie A", "competition", "serie-a"),
        ("Serie A (Brazil)", "competition", "brasileirao"),
        ("Bundesliga (Austria)", "competition", "austrian-bundesliga"),
        ("SÜPER LIG", "competition", "super-lig"),
        ("Women’s World Cup", "competition", "womens-world-cup"),
        ("IPL", "competition", "ipl"),
        ("top5", "preset", "top5"),
        ("European Cups", "preset", "european-cups"),
        ("all", "preset", "all"),
        ("Real Madrid", "team", "Real Madrid"),
        ("man utd", "team", "Manchester United"),
        ("PSG", "team", "Paris Saint-Germain"),
        ("FC Bayern München", "team", "Bayern Munich"),
        ("Inter Milan", "team", "Inter"),
        ("Germany", "team", "Germany"),
        ("GER", "team", "Germany"),
        ("Holland", "team", "Netherlands"),
        ("Arsenal Women", "team", "Arsenal Women"),
        ("Levante", "team", "team:Levante"),
        ("Inter Miami", "team", "team:Inter Miami"),
        ("team:Premier Leage FC", "team", "team:Premier Leage FC"),
    ],
)
def test_an_entry_is_a_preset_a_competition_or_a_team(text: str, kind: str, canonical: str) -> None:
    entry = parse_entry(text)
    assert (entry.kind, entry.text) == (kind, canonical)
    assert parse_entry(entry.text) == entry


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Premier Leage", "unknown competition 'Premier Leage': did you mean Premier League?"),
        ("Champoins League", "unknown competition 'Champoins League': did you mean Champions League?"),
        ("Real Madird", "unknown name 'Real Madird': did you mean Real Madrid?"),
        ("Argentinia", "unknown name 'Argentinia': did you mean Argentina?"),
        ("tournements", "unknown name 'tournements': did you mean tournaments?"),
        ("Egyptian Premier League", "unknown competition 'Egyptian Premier League'"),
        ("", "invalid name ''"),
        ("x" * 200, "invalid name"),
        ("team:", "invalid name 'team:'"),
    ],
)
def test_a_likely_typing_error_is_refused_with_a_suggestion(text: str, message: str) -> None:
    with pytest.raises(FollowUnknown) as caught:
        parse_entry(text)
    assert message in str(caught.value)


def test_all_unknown_entries_are_named_at_once() -> None:
    with pytest.raises(FollowUnknown, match=r"Premier Leage.*Seria A"):
        parse_entries(["Premier Leage", "La Liga", "Seria A"])


# --- competitions in the feeds' forms

PREMIER, SERIE_A, UCL = "premier-league", "serie-a", "champions-league"


@pytest.mark.parametrize(
    ("followed", "adapter", "live", "wanted"),
    [
        (PREMIER, "api_football", match("Premier League", "England", 39), True),
        (PREMIER, "api_football", match("Premier League", "Egypt", 233), False),
        (PREMIER, "api_football", match("Premier League", "Russia", 235), False),
        (PREMIER, "espn", match("English Premier League", slug="eng.1"), True),
        (PREMIER, "espn", match("English Premier League"), True),
        (PREMIER, "espn", match("Egyptian Premier League"), False),
        (PREMIER, "recording", match("Premier League", "England"), True),
        (PREMIER, "recording", match("Premier League", "Egypt"), False),
        ("la-liga", "espn", match("Spanish LALIGA", slug="esp.1"), True),
        ("la-liga", "espn", match("Spanish LALIGA 2", slug="esp.2"), False),
        ("bundesliga", "espn", match("German Bundesliga"), True),
        ("bundesliga", "espn", match("Austrian Bundesliga"), False),
        ("bundesliga", "recording", match("Bundesliga", "Austria"), False),
        (SERIE_A, "api_football", match("Serie A", "Italy", 135), True),
        (SERIE_A, "api_football", match("Serie A", "Brazil", 71), False),
        ("brasileirao", "api_football", match("Serie A", "Brazil", 71), True),
        ("brasileirao", "espn", match("Brazilian Serie A"), True),
        (UCL, "api_football", match("UEFA Champions League", "World", 2), True),
        (UCL, "espn", match("UEFA Champions League Qualifying", slug="uefa.champions_qual"), True),
        (UCL, "espn", match("UEFA Women's Champions League", slug="uefa.wchampions"), False),
        (UCL, "api_football", match("CAF Champions League", "World", 12), False),
        ("conference-league", "api_football", match("UEFA Europa Conference League", "World", 848), True),
        ("liga-f", "api_football", match("Primera División Femenina", "Spain", 142), True),
        ("world-cup", "api_football", match("World Cup", "World", 1), True),
        ("world-cup", "api_football", match("World Cup - Qualification Europe", "World", 32), False),
        ("ipl", "espn", match("Indian Premier League", slug="8048", sport=Sport.CRICKET), True),
        ("ipl", "crex", match("Indian Premier League 2027", sport=Sport.CRICKET), True),
        ("ipl", "crex", match("Nepal Premier League 2026", sport=Sport.CRICKET), False),
        (PREMIER, "crex", match("Nepal Premier League 2026", sport=Sport.CRICKET), True),
    ],
)
def test_a_competition_is_recognised_by_the_feeds_id_or_its_name_and_country(
    followed: str, adapter: str, live: LiveFixture, wanted: bool
) -> None:
    assert following_of([followed]).matches(live, adapter) is wanted


@pytest.mark.parametrize(
    ("followed", "live", "wanted"),
    [
        ("Real Madrid", match("La Liga", "Spain", 140, "Real Madrid", "Levante"), True),
        ("Real Madrid", match("Copa del Rey", "Spain", 143, "Alcoyano", "Real Madrid"), True),
        ("Real Madrid", match("Friendlies Clubs", "World", 667, "Real Madrid", "LAFC"), True),
        ("Real Madrid", match("Primera División Femenina", "Spain", 142, "Real Madrid W", "Levante W"), False),
        ("Real Madrid", match("UEFA Youth League", "World", 14, "Real Madrid U19", "Ajax U19"), False),
        ("Real Madrid", match("Primera Federación", "Spain", 435, "Real Madrid II", "Lugo"), False),
        ("Atletico Madrid", match("La Liga", "Spain", 140, "Real Madrid", "Atletico Madrid"), True),
        ("Atletico Madrid", match("La Liga", "Spain", 140, "Real Madrid", "Athletic Club"), False),
        ("Newcastle United", match("Premier League", "England", 39, "Newcastle", "Leeds"), True),
        ("Newcastle United", match("A-League", "Australia", 188, "Newcastle Jets", "Sydney"), False),
        ("Arsenal", match("Liga Profesional Argentina", "Argentina", 128, "Arsenal Sarandi", "Boca"), False),
        ("Liverpool", match("Primera División", "Uruguay", 268, "Liverpool Montevideo", "Peñarol"), False),
        ("Everton", match("Primera División", "Chile", 265, "Everton de Vina", "Colo Colo"), False),
        ("Barcelona", match("CONMEBOL Libertadores", "World", 13, "Barcelona SC", "Boca Juniors"), False),
        ("Rangers", match("Championship", "England", 40, "Queens Park Rangers", "Hull"), False),
        ("Inter", match("MLS", "USA", 253, "Inter Miami", "LAFC"), False),
        ("Germany", match("UEFA Nations League", "World", 5, "Germany", "Italy"), True),
        ("Germany", match("Friendlies", "World", 10, "Japan", "Germany"), True),
        ("Germany", match("UEFA U21 Championship", "World", 38, "Germany U21", "Italy U21"), False),
        ("Germany", match("World Cup - Women", "World", 8, "Germany W", "Brazil W"), False),
        ("Germany W", match("World Cup - Women", "World", 8, "Germany W", "Brazil W"), True),
        ("Levante", match("La Liga", "Spain", 140, "Levante", "Getafe"), True),
        ("Levante", match("La Liga", "Spain", 140, "Getafe", "Girona"), False),
    ],
)
def test_a_team_is_followed_in_its_matches_and_no_namesake(followed: str, live: LiveFixture, wanted: bool) -> None:
    assert following_of([followed]).matches(live, "api_football") is wanted


@pytest.mark.parametrize(
    ("followed", "live", "wanted"),
    [
        ("Paris Saint-Germain", match("French Ligue 1", slug="fra.1", home="Paris Saint-Germain"), True),
        ("Inter", match("Italian Serie A", slug="ita.1", home="Internazionale"), True),
        ("AC Milan", match("Italian Serie A", slug="ita.1", home="Internazionale"), False),
        ("Tottenham Hotspur", match("English Premier League", slug="eng.1", home="Tottenham Hotspur"), True),
        ("Chelsea", match("English Women's Super League", slug="eng.w.1", home="Chelsea"), False),
        ("Chelsea Women", match("English Women's Super League", slug="eng.w.1", home="Chelsea"), True),
        ("Liverpool", match("Uruguayan Primera División", home="Liverpool Montevideo"), False),
        ("Sporting CP", match("Portuguese Primeira Liga", slug="por.1", home="Sporting CP"), True),
    ],
)
def test_teams_are_recognised_in_espns_names(followed: str, live: LiveFixture, wanted: bool) -> None:
    assert following_of([followed]).matches(live, "espn") is wanted


@pytest.mark.parametrize(
    ("home", "club"),
    [
        ("Bayern München", "Bayern Munich"),
        ("Borussia Monchengladbach", "Borussia Mönchengladbach"),
        ("Bayer Leverkusen", "Bayer Leverkusen"),
        ("Atletico Madrid", "Atlético Madrid"),
        ("Athletic Club", "Athletic Bilbao"),
        ("AS Roma", "AS Roma"),
        ("Inter", "Inter"),
        ("Paris Saint Germain", "Paris Saint-Germain"),
        ("Tottenham", "Tottenham Hotspur"),
        ("West Ham", "West Ham United"),
        ("Newcastle", "Newcastle United"),
        ("Brighton", "Brighton"),
        ("Brighton & Hove Albion", "Brighton"),
        ("PSV Eindhoven", "PSV Eindhoven"),
        ("FC Porto", "Porto"),
        ("Sporting CP", "Sporting CP"),
        ("Sevilla", "Sevilla"),
    ],
)
def test_each_feeds_spelling_of_a_top_club_is_that_club_and_no_other(home: str, club: str) -> None:
    country = next(team.country for team in TOP_TEAMS if team.name == club)
    live = match("Some league", country, home=home)
    assert [team.name for team in TOP_TEAMS if following_of([team.entry]).matches(live, "api_football")] == [club]


# --- setting and changes


def change(minute: int, entry: str, followed: bool) -> FollowChange:
    return FollowChange(entry, followed, KICKOFF + timedelta(minutes=minute))


@pytest.mark.parametrize(
    ("setting", "changes", "slug", "followed"),
    [
        (["top5"], [], "serie-a", True),
        (["top5"], [change(1, "serie-a", False)], "serie-a", False),
        (["top5"], [change(1, "serie-a", False)], "la-liga", True),
        (["top5"], [change(2, "top5", True), change(1, "serie-a", False)], "serie-a", True),
        (["top5"], [change(1, "top5", False), change(2, "la-liga", True)], "la-liga", True),
        (["top5"], [change(1, "top5", False)], "la-liga", False),
        (["all"], [change(1, "friendlies", False)], "friendlies", False),
        (["all"], [change(1, "friendlies", False)], "la-liga", True),
        (["all"], [change(1, "all", False)], "la-liga", False),
        ([], [change(1, "no longer league", True)], "la-liga", False),
    ],
)
def test_the_last_change_wins(setting: list[str], changes: list[FollowChange], slug: str, followed: bool) -> None:
    assert following_of(setting, changes).follows_competition(slug) is followed


def test_everything_except_a_competition_still_follows_a_named_team_in_it() -> None:
    following = following_of(["all", "Germany"], [change(1, "friendlies", False)])
    assert following.matches(match("Friendlies", "World", 10, "Germany", "Japan"), "api_football")
    assert not following.matches(match("Friendlies", "World", 10, "Peru", "Japan"), "api_football")
    assert following.matches(match("Premier League", "Egypt", 233), "api_football")


def test_ids_are_followed_in_addition_to_the_list() -> None:
    tracked = Tracked(teams=[40], leagues=[233], following=following_of(["la-liga"]))
    egypt = match("Premier League", "Egypt", 233)
    assert is_tracked(egypt, tracked, "api_football", own_ids=True)
    assert not is_tracked(egypt, tracked, "espn", own_ids=False)
    assert is_tracked(match("La Liga", "Spain", 140), tracked, "api_football", own_ids=True)
    assert not is_tracked(match("Serie A", "Italy", 135), tracked, "api_football", own_ids=True)


# --- what ESPN is asked for


@pytest.mark.parametrize(
    ("entries", "asked", "not_asked"),
    [
        (["Premier League"], {"eng.1"}, {"eng.fa", "esp.1", "soccer/all"}),
        (["Champions League"], {"uefa.champions", "uefa.champions_qual"}, {"uefa.europa"}),
        (["Real Madrid"], {"esp.1", "esp.copa_del_rey", "uefa.champions"}, {"esp.2", "eng.1", "soccer/all"}),
        (["Germany"], {"uefa.nations", "fifa.friendly", "fifa.worldq.uefa"}, {"ger.1", "conmebol.america"}),
        (["Brazil"], {"conmebol.america", "fifa.worldq.conmebol"}, {"uefa.nations"}),
        (["Levante"], {"soccer/all"}, {"esp.1"}),
        (["IPL"], {"cricket/8048"}, set()),
        (["all"], {"eng.1", "bra.1", "fifa.friendly"}, {"cricket/8048"}),
    ],
)
def test_espn_is_asked_where_followed_matches_may_be(entries: list[str], asked: set[str], not_asked: set[str]) -> None:
    leagues = set(following_of(entries).espn_leagues())
    assert asked <= leagues
    assert not leagues & not_asked


# --- the tables


def test_the_default_covers_the_big_five_the_european_cups_and_tournaments() -> None:
    following = following_of(DEFAULT_ENTRIES)
    for slug in ("premier-league", "la-liga", "bundesliga", "serie-a", "ligue-1", "champions-league", "world-cup"):
        assert following.follows_competition(slug)


def test_there_are_fifty_top_teams() -> None:
    assert len({team.name for team in TOP_TEAMS}) == 50


def test_the_tables_are_consistent() -> None:
    assert len(BY_SLUG) == len(COMPETITIONS)
    ids = [each.api_football for each in COMPETITIONS if each.api_football]
    assert len(ids) == len(set(ids))
    slugs = [slug for each in COMPETITIONS for slug in each.espn]
    assert len(slugs) == len(set(slugs))
    assert {each.region for each in COMPETITIONS} == set(REGIONS)
    assert {slug for members in PRESETS.values() for slug in members} <= set(BY_SLUG)
    assert set(PRESET_LABELS) == set(PRESET_NAMES)
    for each in COMPETITIONS:
        assert find_competition(each.name) == each, each.name


@pytest.mark.parametrize(
    ("code", "confederation"),
    [("GER", "UEFA"), ("BRA", "CONMEBOL"), ("JPN", "AFC"), ("EGY", "CAF"), ("NZL", "OFC"), ("USA", "CONCACAF")],
)
def test_each_country_has_its_confederation(code: str, confederation: str) -> None:
    assert confederation_of(code) == confederation


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        (["top5", "FA Cup", "Real Madrid"], "5 leagues, 1 cup, 1 team: Premier League, La Liga, Bundesliga, Serie A,"),
        (["Germany"], "1 team: Germany"),
        ([], "nothing"),
        (["all"], "everything that the feeds list"),
    ],
)
def test_what_is_followed_is_described_in_a_line(entries: list[str], text: str) -> None:
    assert describe_following(following_of(entries)).startswith(text)


def test_everything_without_some_is_described() -> None:
    following = EVERYTHING.without_entry(parse_entry("friendlies"))
    assert describe_following(following) == "everything except International friendlies"
