"""`footy init`: questions, checks and the written file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from click.testing import Result
from dotenv import dotenv_values
from typer.testing import CliRunner

from found_footy.cli.main import app
from found_footy.config import PREFIX, environment_names, load_settings
from found_footy.errors import SettingsError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, no settings, and a terminal to answer in."""
    for name in list(os.environ):
        if name.startswith(PREFIX) or name in environment_names().values():
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("found_footy.cli.init.is_terminal", lambda: True)
    return tmp_path


def init(*options: str, answers: str = "") -> Result:
    return CliRunner().invoke(app, ["init", "--no-check", *options], input=answers, catch_exceptions=False)


def test_yes_writes_the_defaults_without_questions(folder: Path) -> None:
    done = init("--yes")
    assert done.exit_code == 0, done.output
    written = dotenv_values(folder / ".env")
    assert written == {
        "FOOTY_FOLLOW": "top5, european-cups, tournaments",
        "FOOTY_SOURCES": ", ".join(load_settings().sources),
        "FOOTY_DATA_DIR": ".footy",
    }
    assert stat.S_IMODE((folder / ".env").stat().st_mode) == 0o600
    assert "Premier League" in done.output
    assert "Start with `footy up`." in done.output


def test_answers_are_written_as_settings(folder: Path) -> None:
    answers = [
        "Premier League, Real Madrid",
        "key-123",
        "reddit, bluesky",
        "me.bsky.social",
        "app-pass",
        "me@example.org",
        "data",
    ]
    done = init(answers="\n".join(answers) + "\n")
    assert done.exit_code == 0, done.output
    assert "key-123" not in done.output
    assert "app-pass" not in done.output
    settings = load_settings()
    assert settings.follow == ("Premier League", "Real Madrid")
    assert settings.api_football_key is not None
    assert settings.api_football_key.get_secret_value() == "key-123"
    assert settings.sources == ("reddit", "bluesky")
    assert settings.bluesky_handle == "me.bsky.social"
    assert settings.wikidata_contact == "me@example.org"
    assert settings.data_dir == Path("data")


def test_an_invalid_answer_is_explained_and_asked_again(folder: Path) -> None:
    done = init(answers="Premier Leage\nPremier League\n\nreddit\n\n\n")
    assert done.exit_code == 0, done.output
    assert "did you mean Premier League?" in done.output
    assert load_settings().follow == ("Premier League",)


def test_other_lines_of_the_env_file_are_kept(folder: Path) -> None:
    (folder / ".env").write_text("# mine\nLOG_FORMAT=pretty\nFOOTY_FOLLOW=top5\n")
    assert init("--yes").exit_code == 0
    text = (folder / ".env").read_text()
    assert text.startswith("# mine\nLOG_FORMAT=pretty\n")
    assert dotenv_values(folder / ".env")["FOOTY_FOLLOW"] == "top5", "what was chosen before is the default"


def test_without_a_terminal_init_suggests_yes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("found_footy.cli.init.is_terminal", lambda: False)
    with pytest.raises(SettingsError, match="--yes"):
        init()
    assert not (folder / ".env").exists()
