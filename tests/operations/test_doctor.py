"""`footy doctor` on real engines and the simulator: what it finds, and that each hint, followed, helps."""

from __future__ import annotations

import asyncio
import json
import os
from collections import namedtuple
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from temporalio.client import Client

from footy_simulator.loader import load_scenario
from footy_simulator.server import Simulator
from found_footy.app import prepare_temporal
from found_footy.cli.demo import demo_settings
from found_footy.clips.ytdlp_state import JsRuntime, YtdlpState
from found_footy.config import Settings
from found_footy.operations import doctor
from found_footy.operations.check_store import PostgresServiceChecks
from found_footy.operations.doctor import (
    Diagnosis,
    Examination,
    Progress,
    confinement_finding,
    connections_finding,
    examine,
    ytdlp_findings,
)
from found_footy.operations.doctor_report import MAX_REPORT_BYTES, report_document, to_markdown, write_report
from found_footy.operations.models import UnexpectedAnswer
from found_footy.operations.service_checks import ServiceChecker
from found_footy.runtime.confinement import Available
from found_footy.runtime.http_server import HttpServer
from found_footy.runtime.redaction import Redactor
from found_footy.runtime.schedules import ALL_SCHEDULES
from found_footy.secrets import build_redactor
from found_footy.storage.migrations import migrate
from found_footy.storage.postgres import Database

NOBODY = "http://127.0.0.1:9"
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    async with Simulator(load_scenario("quick").football) as playing:
        yield playing


def playing_with(simulator: Simulator, folder: Path, **more: Any) -> Settings:
    """Everything that needs no browser, against the simulator."""
    given = {
        "data_dir": folder,
        "retry_seconds": 0.0,
        "wikidata_contact": "https://footy.example/contact",
        "sources": ("bluesky", "reddit"),
        **more,
    }
    return demo_settings(Settings(_env_file=None), simulator).model_copy(update=given)


async def found(settings: Settings, **more: Any) -> dict[str, Diagnosis]:
    return {finding.what: finding for finding in (await examine(settings, **more)).findings}


# --- what is said


async def test_a_live_check_reports_request_response_and_duration(
    simulator: Simulator, tmp_path: Path, database_url: str
) -> None:
    settings = playing_with(simulator, tmp_path, database_url=SecretStr(database_url))
    shown: list[str] = []
    findings = await found(settings, live=True, progress=Progress(shown.append))
    live = {name: finding for name, finding in findings.items() if finding.result is not None}
    assert {name: finding.state for name, finding in live.items()} == {
        "feed api_football": "ok",
        "source bluesky": "ok",
        "source reddit": "ok",
        "team names": "ok",
    }
    for finding in live.values():
        lines = finding.details(datetime.now(UTC))
        assert any(line.startswith("asked: GET 127.0.0.1:") for line in lines), finding
        assert any(line.startswith("answer: HTTP 200, ") for line in lines), finding
        assert lines[-1].startswith("working for ")
    assert any("waiting for" in words for words in shown)
    assert json.dumps([finding.to_json() for finding in findings.values()])


async def test_without_live_the_last_result_is_shown_with_its_age(
    simulator: Simulator, tmp_path: Path, database_url: str
) -> None:
    settings = playing_with(simulator, tmp_path, database_url=SecretStr(database_url))
    before = await found(settings)
    assert (before["source reddit"].state, before["source reddit"].advice) == ("unknown", doctor.CHECK_LIVE)
    await found(settings, live=True)  # as the hint says
    away = settings.model_copy(update={"reddit_url": NOBODY, "api_football_url": NOBODY})
    quick = await found(away)
    assert quick["source reddit"].state == "ok"
    assert quick["source reddit"].summary.endswith(" s ago)")
    await found(away, live=True)
    quick = await found(settings)
    assert quick["source reddit"].state == "failed"
    assert doctor.CHECK_LIVE in quick["source reddit"].advice
    database = Database(database_url)
    await database.open()
    checks = {check.name: check for check in await PostgresServiceChecks(database).checks()}
    await database.close()
    reddit = checks["source reddit"]
    assert not reddit.ok
    assert reddit.last_ok_at is not None
    assert reddit.since > reddit.last_ok_at


async def test_a_hanging_service_does_not_delay_the_others(
    simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = ServiceChecker(lambda: datetime.now(UTC), Redactor(), seconds=10)
    monkeypatch.setattr(doctor, "build_checker", lambda settings: impatient)

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = playing_with(simulator, tmp_path, reddit_url=f"http://127.0.0.1:{port}", source_timeout_seconds=60.0)
    async with asyncio.timeout(120):
        findings = await found(settings, live=True)
    server.close()
    assert findings["source reddit"].state == "failed"
    assert findings["source reddit"].advice
    assert findings["feed api_football"].state == findings["source bluesky"].state == "ok"


# --- each hint, followed


async def test_the_hint_fixes_an_unusable_data_folder(simulator: Simulator, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bad = await found(playing_with(simulator, tmp_path / "file" / "data"))
    assert bad["data folder"].state == "failed"
    assert "FOOTY_DATA_DIR" in bad["data folder"].advice
    assert (await found(playing_with(simulator, tmp_path / "other")))["data folder"].state == "ok"


@pytest.mark.parametrize(("gib", "state"), [(0.9, "failed"), (4.9, "warning"), (5.1, "ok")])
async def test_disk_space(
    simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gib: float, state: str
) -> None:
    usage = namedtuple("usage", "total used free")(10**12, 0, int(gib * doctor.GIB))
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    finding = (await found(playing_with(simulator, tmp_path)))["data folder"]
    assert (finding.state, bool(finding.advice)) == (state, state != "ok")


@pytest.fixture
def empty_database(postgres_server: str) -> str:
    """As after `createdb`: without our schema."""
    name = f"empty_{uuid4().hex}"
    with psycopg.connect(urlsplit(postgres_server)._replace(path="/postgres").geturl(), autocommit=True) as connection:
        connection.execute(sql.SQL("create database {} template template0").format(sql.Identifier(name)))
    return urlsplit(postgres_server)._replace(path=f"/{name}").geturl()


async def test_a_missing_schema_is_applied_by_what_footy_up_runs(
    simulator: Simulator, tmp_path: Path, empty_database: str
) -> None:
    settings = playing_with(simulator, tmp_path, database_url=SecretStr(empty_database))
    bad = await found(settings)
    assert bad["PostgreSQL"].state == "failed"
    assert "footy up" in bad["PostgreSQL"].advice
    await migrate(empty_database)
    assert (await found(settings))["PostgreSQL"].state == "ok"


async def test_missing_schedules_are_registered_by_what_footy_up_runs(
    simulator: Simulator, tmp_path: Path, temporal_settings: dict[str, str], temporal: Client
) -> None:
    settings = playing_with(simulator, tmp_path, task_queue=f"test-{uuid4()}", **temporal_settings)
    bad = await found(settings)
    assert bad["Temporal"].state == "failed"
    assert "footy up" in bad["Temporal"].advice
    await prepare_temporal(temporal, settings)
    try:
        async with asyncio.timeout(30):
            while (await found(settings))["Temporal"].state != "ok":  # Temporal's list lags behind
                await asyncio.sleep(0.2)
    finally:
        for name in ALL_SCHEDULES:
            await temporal.get_schedule_handle(name).delete()


async def test_wrong_addresses_of_engines_are_corrected(
    simulator: Simulator, tmp_path: Path, valkey_server: str, database_url: str
) -> None:
    wrong = {
        "redis_url": SecretStr("redis://127.0.0.1:9/0"),
        "database_url": SecretStr("postgresql://127.0.0.1:9/footy"),
        "temporal_address": "127.0.0.1:9",
    }
    bad = await found(playing_with(simulator, tmp_path, **wrong))
    for engine, variable in (("PostgreSQL", "DATABASE_URL"), ("Temporal", "TEMPORAL_ADDRESS"), ("Redis", "REDIS_URL")):
        assert (bad[engine].state, variable in bad[engine].advice) == ("failed", True)
    right = {"redis_url": SecretStr(valkey_server), "database_url": SecretStr(database_url)}
    good = await found(playing_with(simulator, tmp_path, **right))
    assert (good["PostgreSQL"].state, good["Redis"].state) == ("ok", "ok")


@pytest.mark.parametrize(
    ("version", "state"),
    [("2026.10.26", "ok"), ("2026.10.18", "warning"), ("2026.11.18", "ok"), ("2025.1.1", "warning"), ("dev", "ok")],
)
def test_an_old_yt_dlp_is_a_warning_until_it_is_updated(version: str, state: str) -> None:
    finding, _ = ytdlp_findings(YtdlpState(version, (), (), True, False), date(2026, 11, 18))
    assert finding.state == state
    assert ("make update-ytdlp" in finding.advice) is (state == "warning")


@pytest.mark.parametrize(
    ("runtimes", "has_ejs", "state", "words"),
    [
        ((), True, "warning", "a JavaScript runtime"),
        ((JsRuntime("deno", "/opt/deno"),), False, "warning", "yt-dlp-ejs"),
        ((JsRuntime("deno", "/opt/deno"),), True, "ok", "deno (/opt/deno)"),
    ],
)
def test_missing_youtube_requirements_are_a_warning(
    runtimes: tuple[JsRuntime, ...], has_ejs: bool, state: str, words: str
) -> None:
    needed = ("yt-dlp-ejs==0.8.0", "deno>=2.9.8")
    _, finding = ytdlp_findings(YtdlpState("2026.11.01", needed, runtimes, has_ejs, False), date(2026, 11, 18))
    assert (finding.state, words in finding.summary) == (state, True)
    assert ('-m pip install "yt-dlp-ejs==0.8.0" "deno>=2.9.8"' in finding.advice) is (state == "warning")


async def test_the_contact_for_wikidata_is_set(simulator: Simulator, tmp_path: Path) -> None:
    default = Settings.model_fields["wikidata_contact"].default
    bad = (await examine(playing_with(simulator, tmp_path, wikidata_contact=default))).findings
    (contact,) = [finding for finding in bad if finding.what == "Wikidata contact"]
    assert (contact.state, "FOOTY_WIKIDATA_CONTACT" in contact.advice) == ("warning", True)
    assert (await found(playing_with(simulator, tmp_path)))["Wikidata contact"].state == "ok"


async def test_warnings_do_not_fail(simulator: Simulator, tmp_path: Path) -> None:
    default = Settings.model_fields["wikidata_contact"].default
    examination = await examine(playing_with(simulator, tmp_path, wikidata_contact=default), live=True)
    assert not examination.failed
    assert any(finding.state == "warning" for finding in examination.findings)


async def test_without_a_usable_feed_the_keyless_one_helps(simulator: Simulator, tmp_path: Path) -> None:
    bad = await found(playing_with(simulator, tmp_path, api_football_key=None))
    assert (bad["feeds"].state, "FOOTY_FEED=espn" in bad["feeds"].advice) == ("failed", True)
    assert bad["feed api_football"].state == "off"
    espn = playing_with(simulator, tmp_path, api_football_key=None, feed="espn", espn_url=simulator.url)
    good = await found(espn)
    assert (good["feeds"].state, "API_FOOTBALL_KEY" in good["feeds"].advice) == ("warning", True)
    with_key = await found(playing_with(simulator, tmp_path), live=True)
    assert (with_key["feeds"].state, with_key["feed api_football"].state) == ("ok", "ok")


async def test_a_refused_key_is_replaced(simulator: Simulator, tmp_path: Path) -> None:
    wrong = await found(playing_with(simulator, tmp_path, api_football_key=SecretStr("not the key")), live=True)
    bad = wrong["feed api_football"]
    assert bad.result is not None
    assert (bad.state, bad.result.error_class) == ("failed", "FeedUnauthorized")
    assert "API_FOOTBALL_KEY" in bad.advice
    assert "not the key" not in json.dumps([finding.to_json() for finding in wrong.values()])
    assert wrong["feeds"].state == "failed"
    assert (await found(playing_with(simulator, tmp_path), live=True))["feed api_football"].state == "ok"


async def test_unreachable_services_recover(simulator: Simulator, tmp_path: Path) -> None:
    names = ("api_football_url", "bluesky_url", "reddit_url", "wikidata_url")
    bad = await found(playing_with(simulator, tmp_path, **dict.fromkeys(names, NOBODY)), live=True)
    for name in ("feed api_football", "source bluesky", "source reddit", "team names"):
        assert (bad[name].state, bool(bad[name].advice)) == ("failed", True), name
    good = await found(playing_with(simulator, tmp_path), live=True)
    assert {good[name].state for name in ("feed api_football", "source bluesky", "source reddit", "team names")} == {
        "ok"
    }


async def test_an_unreachable_vision_server_can_be_removed_or_started(simulator: Simulator, tmp_path: Path) -> None:
    bad = await found(playing_with(simulator, tmp_path, llama_url=NOBODY), live=True)
    assert (bad["vision server"].state, "Without LLAMA_URL" in bad["vision server"].advice) == ("failed", True)
    assert "vision server" not in await found(playing_with(simulator, tmp_path), live=True)


async def test_a_browser_that_is_away_is_started(simulator: Simulator, tmp_path: Path) -> None:
    bad = await found(playing_with(simulator, tmp_path, browser_url=NOBODY), live=True)
    assert bad["browser"].state == "failed"
    assert "footy browser" in bad["browser"].summary

    async def health(request: Request) -> JSONResponse:
        return JSONResponse({"healthy": True, "browser": {"processes": 4, "pages": 1}})

    async with HttpServer(Starlette(routes=[Route("/health", health)])) as server:
        good = await found(playing_with(simulator, tmp_path, browser_url=server.url), live=True)
    assert (good["browser"].state, good["browser"].summary) == ("ok", "4 processes, 1 pages open")


async def test_an_object_store_that_is_away_is_replaced(simulator: Simulator, tmp_path: Path) -> None:
    keys = {"s3_access_key": SecretStr("access"), "s3_secret_key": SecretStr("secret"), "s3_endpoint": NOBODY}
    bad = await found(playing_with(simulator, tmp_path, object_store_url="s3://footy", **keys), live=True)
    assert (bad["object store"].state, "FOOTY_OBJECT_STORE_URL" in bad["object store"].advice) == ("failed", True)
    folder = (tmp_path / "films").as_uri()
    good = await found(playing_with(simulator, tmp_path, object_store_url=folder), live=True)
    assert good["object store"].state == "ok"


# --- the bug report

SECRETS = {
    "api_football_key": "k3y-of-api-football",
    "bluesky_password": "app-pass-word-1234",
    "database_url": "postgresql://footy:database-pa55@db.example/footy",
    "redis_url": "redis://:redis-pa55@cache.example/0",
    "s3_secret_key": "s3-secret-value",
}
PERSONAL = {"bluesky_handle": "operator.example.social", "wikidata_contact": "operator@example.org"}


def secret_settings(folder: Path) -> Settings:
    given = {name: SecretStr(value) for name, value in SECRETS.items()} | PERSONAL | {"data_dir": folder}
    return Settings(_env_file=None).model_copy(update=given)


def planted() -> UnexpectedAnswer:
    """As a worker of an older version, which knew fewer secrets, may have kept it."""
    body = "\n".join(
        [
            *SECRETS.values(),
            *PERSONAL.values(),
            "database-pa55 redis-pa55",
            "Cookie: auth_token=c00kie-value; ct0=cc",
            '{"accessJwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig-nature", "refresh_token": "r3fresh"}',
            "Authorization: Bearer b3arer-token-value",
            "fan@example.com",
            "```\n# not a heading of the report\n```",
        ]
    )
    return UnexpectedAnswer(
        "source bluesky", NOW, "SourceChanged", body[:900], f"GET bsky.social/?q={PERSONAL['bluesky_handle']}", 200,
        {"location": "https://x.example/?token=t0ken-value"}, body,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["report.md", "report.json"])
def test_the_report_holds_no_secret(tmp_path: Path, name: str) -> None:
    findings = (
        Diagnosis(
            "source bluesky", "failed", f"logged in as {PERSONAL['bluesky_handle']} with {SECRETS['bluesky_password']}"
        ),
        Diagnosis("PostgreSQL", "failed", f"cannot connect to {SECRETS['database_url']}"),
    )
    examination = Examination(findings, NOW, (planted(),))
    text = write_report(secret_settings(tmp_path), examination, tmp_path / name).read_text(encoding="utf-8")
    known = [*SECRETS.values(), *PERSONAL.values(), "database-pa55", "redis-pa55", "c00kie-value", "r3fresh"]
    known += ["b3arer-token-value", "fan@example.com", "t0ken-value", "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxIn0"]
    for secret in known:
        assert secret not in text, secret
    for kept in ("source bluesky", "SourceChanged", "GET bsky.social", "API_FOOTBALL_KEY", "(set)"):
        assert kept in text, kept


def test_the_report_is_bounded_and_keeps_the_newest(tmp_path: Path) -> None:
    body = "é" * 60_000
    kept = tuple(
        UnexpectedAnswer(
            "feed espn", NOW - timedelta(hours=number), "FeedMalformed", str(number), "GET x", 200, {}, body
        )
        for number in range(30)
    )
    document = report_document(secret_settings(tmp_path), Examination((), NOW, kept))
    assert [answer["message"] for answer in document["answers"]] == [str(n) for n in range(len(document["answers"]))]
    assert 0 < len(document["answers"]) < 30
    assert document["answers_left_out"] == 30 - len(document["answers"])
    assert len(to_markdown(document).encode()) <= MAX_REPORT_BYTES
    assert f"{document['answers_left_out']} older responses are omitted" in to_markdown(document)


def test_a_page_cannot_break_out_of_its_fence(tmp_path: Path) -> None:
    text = to_markdown(report_document(secret_settings(tmp_path), Examination((), NOW, (planted(),))))
    assert "\n````\n" in text


def test_secret_settings_are_marked() -> None:
    redactor = build_redactor(secret_settings(Path(os.curdir)))
    assert redactor.text("x database-pa55 operator.example.social y") == "x *** *** y"


@pytest.mark.parametrize(
    ("kernel", "state", "said"),
    [
        (Available(7, True, "nobody"), "ok", "Landlock 7, seccomp, user nobody"),
        (Available(4, True, None), "ok", "Landlock 4, seccomp"),
        (Available(0, True, None), "warning", "not provide Landlock"),
        (Available(0, False, None), "warning", "not provide Landlock and seccomp"),
    ],
)
def test_the_doctor_reports_missing_confinement(kernel: Available, state: str, said: str) -> None:
    finding = confinement_finding(kernel)
    assert finding.state == state
    assert said in finding.summary


@pytest.mark.parametrize(
    ("allowed", "given", "state", "advice"),
    [
        (97, {}, "ok", ""),
        (97, {"workers": 17, "library_workers": 0}, "ok", ""),
        (97, {"workers": 16, "library_workers": 2}, "warning", "18 workers need 99"),
        (97, {"workers": 64, "library_workers": 0}, "warning", "64 workers need 283"),
        (297, {"workers": 64, "library_workers": 1}, "ok", ""),
        # The scaler may start more than there are now.
        (57, {"workers": 2, "scaler": True, "workers_most": 20}, "warning", "22 workers need 115"),
    ],
)
def test_connections_for_all_workers_are_compared_with_the_servers_limit(
    allowed: int, given: dict[str, Any], state: str, advice: str
) -> None:
    found = connections_finding(Settings(**given), allowed)
    assert found.state == state
    assert found.advice.startswith(advice)
