"""`footy follow`, in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from found_footy.cli.main import EXIT_CODES, app
from found_footy.errors import EngineError, FollowUnknown


@pytest.fixture
def at(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("FOOTY_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FOOTY_FOLLOW", "top5, Real Madrid")
    monkeypatch.setenv("FOOTY_FEED", "espn")
    monkeypatch.setenv("COLUMNS", "200")


def footy(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["follow", *arguments])


def listed() -> Any:
    return json.loads(footy("list", "--json").stdout)


def followed() -> set[str]:
    return {each["slug"] for each in listed()["competitions"] if each["followed"]}


def test_names_are_added_removed_and_reset(at: None) -> None:
    added = footy("add", "Süper Lig", "Bayern", "--json")
    assert added.exit_code == 0, added.output
    document = json.loads(added.stdout)
    assert document["ingest"] is False, "no Temporal runs here"
    assert [each["entry"] for each in document["changes"]] == ["Bayern Munich", "super-lig"]
    assert {each["name"] for each in document["teams"]} == {"Real Madrid", "Bayern Munich"}
    assert "super-lig" in followed()

    removed = footy("remove", "Serie A")
    assert (removed.exit_code, removed.stdout.strip()) == (0, "no longer following Serie A")
    assert "serie-a" not in followed()

    assert "3 changes to the setting top5, Real Madrid" in footy("list").stdout
    back = footy("reset")
    assert "3 changes discarded; following 5 leagues, 1 team" in back.stdout
    assert "serie-a" in followed()
    assert listed()["changes"] == []


def test_add_without_temporal_explains_how_to_ingest(at: None) -> None:
    done = footy("add", "MLS")
    assert done.exit_code == 0
    assert "following MLS" in done.stdout
    assert "`footy ingest`" in done.stderr


def test_the_list_shows_regions_teams_and_costs(at: None) -> None:
    words = footy("list").stdout
    assert "following 5 leagues, 1 team: Premier League, La Liga" in words
    assert "England: Premier League" in words
    assert "Teams: Real Madrid" in words
    assert "espn: about" in words
    assert "no limit stated" in words


def test_the_default_command_is_list(at: None) -> None:
    assert footy().stdout == footy("list").stdout


def test_an_unknown_name_is_rejected_with_a_suggestion(at: None) -> None:
    done = footy("add", "Premier Leage")
    assert isinstance(done.exception, FollowUnknown)
    assert "did you mean Premier League?" in str(done.exception)
    assert EXIT_CODES[FollowUnknown] == 2


def test_known_names_are_listed_without_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    words = footy("list", "--known").stdout
    assert "top5" in words
    assert "Champions League" in words
    document = json.loads(footy("list", "--known", "--json").stdout)
    assert len(document["teams"]) == 50


def test_changes_need_a_running_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("FOOTY_DATA_DIR", str(tmp_path / "data"))
    assert isinstance(footy("add", "MLS").exception, EngineError)
