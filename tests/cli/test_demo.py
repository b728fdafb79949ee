"""The demo's feeds file."""

from __future__ import annotations

from pathlib import Path

import pytest

from footy_simulator.loader import load_scenario
from footy_simulator.scenario import Scenario
from footy_simulator.server import Simulator
from found_footy.cli.demo import demo_settings, simulator_environment, with_feeds, write_sources
from found_footy.config import Settings
from found_footy.feeds.sources_file import load_sources

URL = "http://127.0.0.1:4711"
LEAGUES = ["eng.1", "esp.1", "ger.1", "fra.1", "ita.1", "uefa.champions"]


@pytest.mark.parametrize(
    ("name", "browser", "feeds"),
    [
        ("matchday", True, ["api_football", "crex", "espn"]),
        ("matchday", False, ["api_football", "espn"]),
        ("quick", True, ["api_football", "crex", "espn"]),
    ],
)
def test_the_sources_file_declares_the_feeds_of_the_scenario(
    name: str, browser: bool, feeds: list[str], tmp_path: Path
) -> None:
    sources = load_sources(write_sources(tmp_path / "demo", load_scenario(name), URL, browser=browser))
    assert [source.id for source in sources] == feeds
    assert {source.metadata["base_url"] for source in sources} == {URL}
    assert [source.precedence for source in sources] == sorted((s.precedence for s in sources), reverse=True)
    assert all(source.enabled for source in sources)


def test_espn_polls_the_leagues_of_the_scenario(tmp_path: Path) -> None:
    *_, espn = load_sources(write_sources(tmp_path, load_scenario("matchday"), URL, browser=True))
    assert list(espn.metadata["leagues"]) == LEAGUES


def without_espn() -> Scenario:
    whole = load_scenario("quick").football
    return whole.model_copy(update={"feeds": whole.feeds.model_copy(update={"espn": None})})


def test_a_scenario_with_one_feed_declares_one(tmp_path: Path) -> None:
    (only,) = load_sources(write_sources(tmp_path, without_espn(), URL, browser=True))
    assert only.id == "api_football"


async def test_the_demo_uses_its_own_sources_file(tmp_path: Path) -> None:
    async with Simulator(load_scenario("quick").football) as simulator:
        settings = demo_settings(Settings(_env_file=None, data_dir=tmp_path), simulator)
        assert settings.feed == "api_football"
        settings = with_feeds(settings, simulator)
    assert settings.feed is None
    assert settings.feeds_file == tmp_path / "demo" / "sources.yaml"
    assert [source.id for source in load_sources(settings.feeds_file)] == ["api_football", "espn"]


async def test_simulate_prints_the_path_of_the_sources_file(tmp_path: Path) -> None:
    async with Simulator(load_scenario("quick").football) as simulator:
        plain, whole = simulator_environment(simulator), simulator_environment(simulator, tmp_path)
    assert plain["FOOTY_FEED"] == "api_football"
    assert "FOOTY_FEED" not in whole
    assert whole["FOOTY_FEEDS_FILE"] == str(tmp_path / "sources.yaml")
