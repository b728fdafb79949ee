"""The `footy` command without engines: exit codes, streams, JSON, start-up cost."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.main import get_command_name

from footy_simulator.loader import load_scenario
from footy_simulator.server import Simulator
from found_footy.cli.main import app
from found_footy.version import current_build
from tests.cli.conftest import FOOTY, Footy

COMMANDS = sorted(get_command_name(each.callback.__name__) for each in app.registered_commands if each.callback)
NEED_SETTINGS = [
    ("up",),
    ("worker",),
    ("web",),
    ("doctor",),
    ("ingest",),
    ("fixtures",),
    ("fixture", "1"),
    ("goal", "1_40_306_Goal_1"),
    ("demo",),
]
NEED_ENGINES = [
    ("worker",),
    ("web",),
    ("watchdog",),
    ("health",),
    ("recycle", "poller"),
    ("feeds", "list"),
    ("ingest",),
    ("fixtures",),
    ("fixture", "1"),
    ("goal", "1_40_306_Goal_1"),
]
NOBODY_ANSWERS = dict.fromkeys(
    (
        "FOOTY_WIKIDATA_URL",
        "FOOTY_WIKIDATA_SPARQL_URL",
        "FOOTY_FXTWITTER_URL",
        "FOOTY_REDDIT_URL",
        "FOOTY_ESPN_URL",
    ),
    "http://127.0.0.1:9",
) | {"FOOTY_RETRY_SECONDS": "0"}
HAVE_JSON = [("ingest",), ("fixtures",), ("fixture", "1"), ("goal", "1_40_306_Goal_1")]


def test_the_command_list_is_complete() -> None:
    assert COMMANDS == [
        "clips",
        "demo",
        "doctor",
        "fixture",
        "fixtures",
        "goal",
        "health",
        "ingest",
        "init",
        "migrate",
        "recycle",
        "replay",
        "restore",
        "scaler",
        "search",
        "simulate",
        "submit",
        "up",
        "watchdog",
        "web",
        "worker",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_despite_invalid_settings(footy: Footy, command: str) -> None:
    ended = footy(command, "--help", FOOTY_WORKERS="none")
    assert (ended.code, ended.err) == (0, "")
    assert f"Usage: footy {command}" in ended.out
    described = next(each.callback for each in app.registered_commands if each.callback.__name__ == command)  # type: ignore[union-attr]
    assert described.__doc__ is not None
    assert " ".join(described.__doc__.split()) in " ".join(ended.out.split())


HEAVY = ("temporalio", "cv2", "numpy", "av", "playwright", "fastapi", "psycopg", "redis", "httpx", "footy_simulator")
PROGRAM = """
import sys
from found_footy.cli.main import main
try:
    main()
except SystemExit as ended:
    print(",".join(name for name in sys.argv[-1].split(",") if name in sys.modules))
    raise
"""


def test_help_imports_no_heavy_module(environment: dict[str, str]) -> None:
    """`footy --help` must start at once: each command imports what it needs when it runs."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "--help", ",".join(HEAVY)], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == ""


def test_reading_commands_import_neither_temporal_nor_media(environment: dict[str, str], database_url: str) -> None:
    code = PROGRAM.replace("main()\n", "main()\n    raise SystemExit\n")
    heavy = ",".join(name for name in HEAVY if name != "psycopg")
    program = f"import sys; sys.argv[1:] = ['token', 'list', '--json']\n{code}".replace("sys.argv[-1]", repr(heavy))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"DATABASE_URL": database_url},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.splitlines()) == (0, ["[]", ""]), done.stderr


def test_the_installed_program_uses_exit_codes_and_streams(environment: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run([FOOTY, "fixtures", "--json"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (4, "")
    assert json.loads(done.stderr)["error"]["class"] == "EngineError"


def test_help_lists_every_command_despite_invalid_settings(footy: Footy) -> None:
    ended = footy("-h", FOOTY_WORKERS="none")
    assert (ended.code, ended.err) == (0, "")
    assert re.findall(r"^│ (\w+) ", ended.out, re.MULTILINE) == [
        *(each.callback.__name__ for each in app.registered_commands if each.callback),
        "backup",
        "feeds",
        "follow",
        "library",
        "media",
        "record",
        "browser",
        "takedown",
        "token",
    ]


def test_version_is_shown_despite_invalid_settings(footy: Footy) -> None:
    ended = footy("--version", FOOTY_WORKERS="none")
    assert (ended.code, ended.out, ended.err) == (0, f"found-footy {current_build()}\n", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["fixtures", "--nonsense"], "No such option: --nonsense"),
        (["fixtures", "--stage", "over"], "invalid value 'over': expected one of staging, active, completed"),
        (["ingest", "--date", "nonsense"], "invalid date 'nonsense': expected YYYY-MM-DD"),
        (["ingest", "--date", "2026-13-01"], "invalid date '2026-13-01'"),
        (["ingest", "--fixture", "abc"], "integer"),
        (["fixture", "abc"], "integer"),
        (["fixture"], "fixture_id"),
        (["goal"], "event_id"),
        (["up", "--workers", "0"], "--workers"),
        (["demo", "--speed", "0"], "--speed"),
        (["simulate", "--port", "65536"], "--port"),
    ],
)
def test_wrong_usage_exits_with_2_and_a_message(footy: Footy, arguments: list[str], words: str) -> None:
    ended = footy(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert words.lower() in ended.words.lower()
    assert "Traceback" not in ended.err


def test_an_invalid_date_is_wrong_usage_without_engines(footy: Footy) -> None:
    ended = footy("fixtures", "--date", "nonsense")
    assert ended.code == 2
    assert "invalid date 'nonsense'" in ended.words


@pytest.mark.parametrize("command", NEED_SETTINGS, ids=lambda command: command[0])
def test_an_invalid_setting_exits_with_2_before_starting(
    footy: Footy, command: tuple[str, ...], tmp_path: Path
) -> None:
    ended = footy(*command, FOOTY_WORKERS="none")
    assert (ended.code, ended.out) == (2, "")
    assert "SettingsError: FOOTY_WORKERS: got 'none', expected a whole number from 1 to 64" in ended.words
    assert "docs/reference/settings.md" in ended.words
    assert "Traceback" not in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [*HAVE_JSON, ("doctor",), ("demo",)], ids=lambda command: command[0])
def test_an_invalid_setting_is_reported_as_json(footy: Footy, command: tuple[str, ...]) -> None:
    ended = footy(*command, "--json", FOOTY_WORKERS="none")
    assert (ended.code, ended.out) == (2, "")
    error = ended.error()
    assert error["class"] == "SettingsError"
    assert error["message"] == "FOOTY_WORKERS: got 'none', expected a whole number from 1 to 64"
    assert error["hint"]


@pytest.mark.parametrize("command", NEED_ENGINES, ids=lambda command: command[0])
def test_without_engines_the_command_exits_with_4_and_a_hint(
    footy: Footy, command: tuple[str, ...], tmp_path: Path
) -> None:
    ended = footy(*command)
    assert (ended.code, ended.out) == (4, "")
    assert (
        f"EngineError: no engines are running on the data folder {tmp_path / 'data'}; start `footy up`" in ended.words
    )
    assert "Run `footy doctor`" in ended.words
    assert "Traceback" not in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", HAVE_JSON, ids=lambda command: command[0])
def test_errors_are_json_with_json_output(footy: Footy, command: tuple[str, ...]) -> None:
    ended = footy(*command, "--json")
    assert (ended.code, ended.out) == (4, "")
    error = ended.error()
    assert error["class"] == "EngineError"
    assert "start `footy up`" in error["message"]
    assert "footy doctor" in error["hint"]


@pytest.mark.parametrize("command", ["demo", "simulate"])
def test_an_unknown_scenario_exits_with_2_and_lists_the_bundled_ones(
    footy: Footy, command: str, tmp_path: Path
) -> None:
    ended = footy(command, "--scenario", "nofile.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert "ScenarioError: nofile.yaml: cannot be read" in ended.words
    assert "bundled are matchday, quick" in ended.words
    assert list(tmp_path.iterdir()) == []


def test_an_invalid_scenario_is_reported_as_json(footy: Footy, tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text("title: Wrong\nmatches: [{id: none}]\n")
    ended = footy("demo", "--scenario", "wrong.yaml", "--json")
    assert (ended.code, ended.out) == (2, "")
    error = ended.error()
    assert error["class"] == "ScenarioError"
    assert "wrong.yaml: matches[0].id" in error["message"]


def test_settings_are_read_from_the_env_file(footy: Footy, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FOOTY_POL_SECONDS=5\n")
    ended = footy("fixtures")
    assert ended.code == 2
    assert "FOOTY_POL_SECONDS is not a setting; did you mean FOOTY_POLL_SECONDS?" in ended.words


OF_THIS_MACHINE = {"confinement", "yt-dlp", "JavaScript runtime"}
"""They depend on the day and on what is installed."""
MARKS = {"ok": "✓", "unknown": "?", "off": "–", "warning": "!", "failed": "✗"}
ASKED = ("feed espn", "team names", "source fxtwitter", "source reddit")
EMPTY_FOLDER = {
    "data folder": "ok",
    "embedded engines": "ok",
    "PostgreSQL": "off",
    "Temporal": "off",
    "Redis": "off",
    "Wikidata contact": "warning",
    "feed api_football": "off",
    "object store": "off",
    **dict.fromkeys(["source x", "source bluesky", "source folder"], "off"),
}


@pytest.mark.parametrize(
    ("words", "code", "states"),
    [
        (
            ("doctor",),
            0,
            {
                "feeds": "warning",
                **dict.fromkeys(["feed espn", "team names", "source fxtwitter", "source reddit"], "unknown"),
            },
        ),
        (
            ("doctor", "--live"),
            6,
            {"feeds": "failed", **dict.fromkeys(ASKED, "failed")},
        ),
    ],
)
def test_doctor_in_an_empty_folder(
    footy: Footy, tmp_path: Path, words: tuple[str, ...], code: int, states: dict[str, str]
) -> None:
    ended = footy(*words, "--json", **NOBODY_ANSWERS)
    assert (ended.code, ended.err) == (code, "")
    findings = {each["what"]: each for each in json.loads(ended.out) if each["what"] not in OF_THIS_MACHINE}
    expected = {**EMPTY_FOLDER, **states}
    assert {what: finding["state"] for what, finding in findings.items()} == expected
    assert str(tmp_path / "data") in findings["data folder"]["said"]
    assert "API_FOOTBALL_KEY" in findings["feed api_football"]["said"]
    assert "footy up" in findings["PostgreSQL"]["advice"]
    assert all(finding["advice"] for finding in findings.values() if finding["state"] in ("failed", "warning"))
    assert list(tmp_path.iterdir()) == [], "looking must not leave anything behind"

    ended = footy(*words, **NOBODY_ANSWERS)
    assert (ended.code, ended.err) == (code, "")
    marks = {what: mark for mark, what in re.findall(r"^(\S) ([^:]+): ", ended.out, re.MULTILINE)}
    assert {what: mark for what, mark in marks.items() if what not in OF_THIS_MACHINE} == {
        what: MARKS[state] for what, state in expected.items()
    }


@pytest.mark.parametrize(("words", "name"), [(("mine.json",), "mine.json"), ((), "footy-report-*.md")])
def test_doctor_writes_a_report(footy: Footy, tmp_path: Path, words: tuple[str, ...], name: str) -> None:
    ended = footy("doctor", "--report", *words, API_FOOTBALL_KEY="k3y-that-nobody-sees", **NOBODY_ANSWERS)
    assert ended.code == 0, ended.err
    (written,) = tmp_path.glob(name)
    assert f"wrote {written.name}" in ended.err
    text = written.read_text(encoding="utf-8")
    assert "k3y-that-nobody-sees" not in text
    assert "FOOTY_REDDIT_URL" in text


def test_doctor_writes_a_file_only_with_report(footy: Footy, tmp_path: Path) -> None:
    ended = footy("doctor", "mine.md", **NOBODY_ANSWERS)
    assert ended.code == 2
    assert "--report" in ended.words
    assert list(tmp_path.iterdir()) == []


def test_doctor_reports_an_unwritable_data_folder(footy: Footy, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = footy("doctor", "--json", FOOTY_DATA_DIR=str(tmp_path / "file"))
    assert ended.code == 6
    folder = json.loads(ended.out)[0]
    assert (folder["what"], folder["state"]) == ("data folder", "failed")
    assert "FOOTY_DATA_DIR" in folder["advice"]


@pytest.mark.parametrize(("key", "state", "code"), [("right", "ok", 0), ("wrong", "failed", 6)])
async def test_doctor_live_checks_the_api_key(footy: Footy, key: str, state: str, code: int) -> None:
    async with Simulator(load_scenario("quick"), key="right") as simulator:
        places = ("API_FOOTBALL", "WIKIDATA", "WIKIDATA_SPARQL", "FXTWITTER", "REDDIT")
        names = [f"FOOTY_{place}_URL" for place in places]
        settings = {"API_FOOTBALL_KEY": key, "FOOTY_FEED": "api_football", **dict.fromkeys(names, simulator.url)}
        ended = await asyncio.to_thread(footy, "doctor", "--live", "--json", **settings)
    assert ended.code == code, ended.out
    states = {finding["what"]: finding["state"] for finding in json.loads(ended.out)}
    assert states["feed api_football"] == state
    assert states["team names"] == states["source fxtwitter"] == states["source reddit"] == "ok"


async def test_simulate_serves_until_stopped(environment: dict[str, str]) -> None:
    process = await asyncio.create_subprocess_exec(
        FOOTY,
        "simulate",
        "--scenario",
        "quick",
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = (await asyncio.wait_for(process.stdout.readline(), 120)).decode()
        url, key = re.search(r"http://127\.0\.0\.1:\d+", line), re.search(r"the key ([\w-]+)", line)
        assert url is not None, line
        assert key is not None, line
        async with httpx.AsyncClient(base_url=url[0], headers={"x-apisports-key": key[1]}) as client:
            status = (await client.get("/status")).json()
        assert status["errors"] == []
        process.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(process.communicate(), 60)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    assert (process.returncode, err.decode()) == (0, "")
