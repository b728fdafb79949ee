"""The simulated Wikidata: the shapes of the real one, and the traps in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from footy_simulator.loader import load_scenario
from footy_simulator.scenario import Scenario
from footy_simulator.team_facts import FACTS
from footy_simulator.wikidata import names_for, wikidata_routes


def asking(scenario: Scenario) -> httpx.AsyncClient:
    app = Starlette(routes=list(wikidata_routes(scenario)))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://wikidata")


@pytest.fixture(scope="module")
def matchday() -> Scenario:
    return load_scenario("matchday")


@pytest.fixture
async def client(matchday: Scenario) -> AsyncIterator[httpx.AsyncClient]:
    async with asking(matchday) as client:
        yield client


async def search(client: httpx.AsyncClient, text: str, **params: str) -> Any:
    asked = {"action": "wbsearchentities", "search": text, "language": "en", "type": "item", "format": "json", **params}
    return (await client.get("/w/api.php", params=asked)).json()


async def query(client: httpx.AsyncClient, *ids: str) -> list[dict[str, Any]]:
    text = f"SELECT * WHERE {{ VALUES ?item {{ {' '.join(f'wd:{item}' for item in ids)} }} }}"
    answer = await client.get("/sparql", params={"query": text, "format": "json"})
    assert answer.headers["content-type"].startswith("application/sparql-results+json")
    assert answer.json()["head"]["vars"] == ["item", "what", "value"]
    rows: list[dict[str, Any]] = answer.json()["results"]["bindings"]
    return rows


async def test_a_search_finds_the_city_first_then_the_team_and_its_women(client: httpx.AsyncClient) -> None:
    answer = await search(client, "liverpool")
    assert answer["success"] == 1
    assert answer["searchinfo"] == {"search": "liverpool"}
    assert [item["label"] for item in answer["search"]] == [
        "Liverpool",
        "Liverpool F.C.",
        "Liverpool Women F.C.",
        "Liverpool II",
    ]
    city = answer["search"][0]
    assert city["match"] == {"type": "label", "language": "en", "text": "Liverpool"}
    assert city["concepturi"] == f"http://www.wikidata.org/entity/{city['id']}"


async def test_aliases_are_searched_too_without_regard_to_accents(client: httpx.AsyncClient) -> None:
    (found, *_) = (await search(client, "barca"))["search"]
    assert (found["label"], found["match"]["type"], found["aliases"]) == ("FC Barcelona", "alias", ["Barça"])


async def test_a_limit_holds(client: httpx.AsyncClient) -> None:
    assert len((await search(client, "a", limit="2"))["search"]) == 2
    assert len((await search(client, "a", limit="x"))["search"]) == 7
    assert (await search(client, "No Such Club"))["search"] == []


@pytest.mark.parametrize("params", [{"action": "query"}, {"search": ""}, {"language": ""}])
async def test_errors_come_with_http_200_as_wikidata_sends_them(
    client: httpx.AsyncClient, params: dict[str, str]
) -> None:
    asked = {"action": "wbsearchentities", "search": "Liverpool", "language": "en", **params}
    answer = await client.get("/w/api.php", params=asked)
    assert answer.status_code == 200
    assert answer.json()["error"]["code"] in ("badvalue", "missingparam")


async def test_the_query_service_returns_names_with_languages(client: httpx.AsyncClient) -> None:
    team = (await search(client, "FC Bayern"))["search"][0]
    rows = await query(client, team["id"])
    told = {(row["what"]["value"], row["value"]["value"], row["value"].get("xml:lang")) for row in rows}
    assert ("label", "FC Bayern Munich", "en") in told
    assert ("alias", "FC Bayern München", "de") in told
    assert ("short", "FC Bayern", "mul") in told
    assert ("language", "de", None) in told
    assert {row["item"]["value"] for row in rows} == {f"http://www.wikidata.org/entity/{team['id']}"}


async def test_a_city_or_an_unknown_id_is_not_a_team(client: httpx.AsyncClient) -> None:
    city = (await search(client, "Liverpool"))["search"][0]
    assert await query(client, city["id"], "Q1") == []


async def test_womens_teams_are_identified_by_class(client: httpx.AsyncClient) -> None:
    women = (await search(client, "Liverpool Women"))["search"][0]
    types = [row["value"]["value"] for row in await query(client, women["id"]) if row["what"]["value"] == "type"]
    assert types == ["women's association football club"]


async def test_a_query_that_names_no_items_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.get("/sparql", params={"query": "SELECT * WHERE { ?s ?p ?o }"})
    assert answer.status_code == 400


async def test_a_recording_has_no_teams_to_know() -> None:
    async with asking(load_scenario("quick").model_copy(update={"matches": ()})) as client:
        assert (await search(client, "Liverpool"))["search"] == []


@pytest.mark.parametrize("scenario", ["matchday", "quick"])
def test_every_team_of_a_bundled_scenario_is_known_well(scenario: str) -> None:
    names = {team.name for match in load_scenario(scenario).matches for team in (match.home, match.away)}
    assert names - FACTS.keys() == set()


@pytest.mark.parametrize(
    ("team", "names"),
    [
        ("Liverpool", ("Liverpool", "LFC", "Liverpool FC")),
        ("Tottenham", ("Tottenham", "Spurs", "THFC")),
        ("No Such Club", ("No Such Club",)),
    ],
)
def test_nicknames_of_a_team(team: str, names: tuple[str, ...]) -> None:
    assert names_for(team) == names
