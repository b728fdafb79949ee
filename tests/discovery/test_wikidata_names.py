"""The adapter against the simulator, over HTTP: the right team of several, and all its names."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from footy_simulator.loader import load_scenario, parse_scenario
from footy_simulator.scenario import Scenario
from footy_simulator.wikidata import names_for, wikidata_routes
from found_footy.config import Settings
from found_footy.discovery.aliases import select_aliases
from found_footy.discovery.models import NameKind, TeamName
from found_footy.discovery.query import goal_query
from found_footy.discovery.registry import is_contact_missing
from found_footy.discovery.wikidata import Wikidata, choose_entity, is_contact, parse_entities
from found_footy.fixtures.team_names import is_national
from found_footy.runtime.http import USER_AGENT
from tests.discovery.conftest import Open
from tests.discovery.serving import serving
from tests.discovery.wikidata_server import Stub, bindings, found, row

NATIONS = """
leagues: {cup: {id: 1, name: World Cup, country: World, season: 2026, round: Final}}
matches:
  - {id: 1, league: cup, kickoff: +0m, home: {id: 25, name: Germany}, away: {id: 2, name: France}}
  - {id: 2, league: cup, kickoff: +0m, home: {id: 9001, name: Nowhere}, away: {id: 9002, name: Utopia}}
"""


@pytest.fixture(scope="module")
def bundled() -> Scenario:
    return load_scenario("matchday")


@pytest.fixture
async def matchday(bundled: Scenario) -> AsyncIterator[str]:
    async with serving(wikidata_routes(bundled)) as url:
        yield url


@pytest.fixture
async def cup() -> AsyncIterator[str]:
    async with serving(wikidata_routes(parse_scenario(NATIONS, "nations"))) as url:
        yield url


def teams(scenario: Scenario) -> list[tuple[str, str, str]]:
    """Name, league and country of each team."""
    return list(
        dict.fromkeys(
            (team.name, scenario.league_of(match).name, scenario.league_of(match).country)
            for match in scenario.matches
            for team in (match.home, match.away)
        )
    )


async def test_labels_aliases_and_nicknames_have_their_language(wikidata: Open, matchday: str) -> None:
    knowledge = wikidata(matchday)
    names = await knowledge.team_names("Liverpool", country="England")
    assert TeamName("Liverpool F.C.", "en", NameKind.LABEL) in names
    assert TeamName("LFC", "en", NameKind.ALIAS) in names
    assert TeamName("The Reds", "en", NameKind.NICKNAME) in names


async def test_only_names_in_the_clubs_language_are_returned(wikidata: Open, matchday: str) -> None:
    names = await wikidata(matchday).team_names("Bayern München", country="Germany")
    assert TeamName("FC Bayern München", "de", NameKind.ALIAS) in names
    assert TeamName("FC Bayern", "mul", NameKind.SHORT) in names
    assert {name.language for name in names} == {"en", "mul", "de"}


@pytest.mark.parametrize("name", ["matchday", "quick"])
async def test_all_nicknames_of_a_scenario_are_found(wikidata: Open, name: str) -> None:
    scenario = load_scenario(name)
    async with serving(wikidata_routes(scenario)) as url:
        knowledge = wikidata(url)
        for team, league, country in teams(scenario):
            national = is_national(team, league, country)
            names = await knowledge.team_names(team, country=country, national=national)
            assert names, team
            query = goal_query(None, select_aliases(team, names))
            assert [said for said in names_for(team) if not query.matches(said)] == []
            assert not any("Women" in alias or "Lionesses" in alias for alias in query.teams)


async def test_a_national_team_is_distinguished_from_the_womens_team(wikidata: Open, cup: str) -> None:
    knowledge = wikidata(cup)
    men = await knowledge.team_names("Germany", country="World", national=True)
    assert TeamName("Germany men's national football team", "en", NameKind.LABEL) in men
    assert select_aliases("Germany", men)[:2] == ("Germany", "GER")
    women = await knowledge.team_names("Germany W", country="World", national=True)
    assert TeamName("Germany women's national football team", "en", NameKind.LABEL) in women


async def test_countries_and_clubs_are_distinguished(wikidata: Open, cup: str) -> None:
    assert await wikidata(cup).team_names("Germany", national=False) == []
    assert await wikidata(cup).team_names("Nowhere", national=True) == []


async def test_an_obscure_team_has_only_its_label(wikidata: Open, cup: str) -> None:
    names = await wikidata(cup).team_names("Utopia", country="World")
    assert names == [TeamName("Utopia", "en", NameKind.LABEL)]


@pytest.mark.parametrize("team", ["No Such Club", "???", "", " \u202e ", "x" * 5000, '"} DROP', "Liv\nerpool}"])
async def test_an_unknown_team_has_no_names(wikidata: Open, matchday: str, team: str) -> None:
    assert await wikidata(matchday).team_names(team) == []


async def test_the_check_reports_that_the_search_responds(wikidata: Open, matchday: str) -> None:
    assert "search works" in await wikidata(matchday).check()


async def test_a_few_polite_requests_are_enough(wikidata: Open) -> None:
    stub = Stub(found("Q1", "Q2"), bindings([row("Q1", "label", "Ajax"), row("Q1", "alias", "AFC Ajax")]))
    async with serving(stub.routes) as url:
        names = await wikidata(url).team_names("Ajax", country="Netherlands")
    assert [name.text for name in names] == ["Ajax", "AFC Ajax"]
    assert [request.url.path for request in stub.asked] == ["/w/api.php"] * 3 + ["/sparql"]
    assert [request.query_params["search"] for request in stub.asked[:3]] == ["Ajax", "Ajax F.C.", "FC Ajax"]
    (query,) = stub.queries()
    assert "VALUES ?item { wd:Q1 wd:Q2 }" in query
    assert "wd:Q476028" in query
    assert "wd:Q6979593" in query
    agents = {request.headers["user-agent"] for request in stub.asked}
    assert agents == {USER_AGENT}


async def test_the_operators_contact_is_sent_along() -> None:
    """As the Wikimedia Foundation's User-Agent policy asks: the tool, and how to reach who runs it."""
    stub = Stub(found())
    async with serving(stub.routes) as url:
        knowledge = Wikidata(url, url, contact="footy@example.org")
        await knowledge.team_names("Ajax")
        await knowledge.aclose()
    assert {request.headers["user-agent"] for request in stub.asked} == {f"{USER_AGENT[:-1]}; footy@example.org)"}


@pytest.mark.parametrize(
    ("text", "contact"),
    [
        ("footy@example.org", True),
        ("https://example.org/footy", True),
        ("User:Somebody on Meta", True),
        ("run by whoever owns this address", False),
        ("somebody", False),
        (None, False),
    ],
)
def test_a_contact_is_an_address_or_a_page(text: str | None, contact: bool) -> None:
    assert is_contact(text) is contact
    assert is_contact_missing(Settings(wikidata_contact=text)) is not contact


async def test_an_empty_search_sends_no_query(wikidata: Open) -> None:
    stub = Stub(found())
    async with serving(stub.routes) as url:
        assert await wikidata(url).team_names("Ajax") == []
    assert stub.queries() == []


def club(item: str, label: str, country: str = "", links: int = 10, **more: str) -> list[object]:
    rows = [row(item, "label", label), row(item, "sitelinks", str(links), "")]
    rows += [row(item, "country", country)] if country else []
    return [*rows, *(row(item, what, value) for what, value in more.items())]


@pytest.mark.parametrize(
    ("team", "country", "rows", "chosen"),
    [
        # The better known of two …
        (
            "Arsenal",
            None,
            club("Q1", "Arsenal F.C.", links=99) + club("Q2", "Arsenal de Sarandí", alias="Arsenal"),
            "Q1",
        ),
        # … but not when the league is another country's.
        (
            "Arsenal",
            "Argentina",
            club("Q1", "Arsenal F.C.", "United Kingdom", 99) + club("Q2", "Arsenal FC", "Argentina"),
            "Q2",
        ),
        ("Arsenal", "England", club("Q1", "Arsenal F.C.", "United Kingdom") + club("Q2", "Arsenal", "Lesotho"), "Q1"),
        ("Barcelona", "World", club("Q1", "Barcelona SC", "Ecuador") + club("Q2", "FC Barcelona", "Spain", 99), "Q2"),
        # A club abroad, of a league across the border.
        ("Monaco", "France", club("Q1", "AS Monaco FC", "Monaco"), "Q1"),
        # Half a name will do at home, and not elsewhere.
        ("Newcastle", "England", club("Q1", "Newcastle United F.C.", "United Kingdom"), "Q1"),
        ("Newcastle", "England", club("Q1", "Newcastle Jets FC", "Australia", 99), None),
        ("Atletico Madrid", "Spain", club("Q1", "Atlético de Madrid", "Spain"), "Q1"),
        # Another name altogether is another team.
        ("Everton", "England", club("Q1", "Liverpool F.C.", "United Kingdom", 99), None),
        # Never the women, the youth or the reserves.
        ("Ajax", None, club("Q1", "AFC Ajax", links=1) + club("Q2", "Ajax", links=99, type="reserve team"), "Q1"),
        ("Ajax", None, club("Q1", "Ajax Women", links=99) + club("Q2", "Jong Ajax", links=99), None),
        ("Ajax", None, club("Q1", "Ajax", type="women's association football club"), None),
        ("Ajax W", None, club("Q1", "Ajax", links=99) + club("Q2", "Ajax Women"), "Q2"),
        ("Ajax", None, club("Q1", "Ajax Futsal"), None),
    ],
)
def test_the_feeds_team_is_chosen(team: str, country: str | None, rows: list[object], chosen: str | None) -> None:
    answer = {"results": {"bindings": rows}}
    found = choose_entity(team, parse_entities(answer).values(), country=country, national=False)
    assert (found.id if found else None) == chosen


async def test_an_unrequested_item_cannot_be_chosen(wikidata: Open) -> None:
    stub = Stub(found("Q1"), bindings(club("Q77", "AFC Ajax", links=99)))
    async with serving(stub.routes) as url:
        assert await wikidata(url).team_names("Ajax") == []
