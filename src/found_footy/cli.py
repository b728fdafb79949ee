"""The command `footy`. Each command loads what it needs, so that `footy --help` answers at once."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Callable, Coroutine
from datetime import date
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from found_footy.cli_browser import browser
from found_footy.cli_doctor import doctor
from found_footy.cli_feeds import feeds
from found_footy.cli_follow import follow
from found_footy.cli_health import health, recycle, watchdog
from found_footy.cli_init import init
from found_footy.cli_library import library
from found_footy.cli_media import media
from found_footy.cli_play import demo, simulate
from found_footy.cli_search import search
from found_footy.cli_submit import submit
from found_footy.cli_time import record, replay
from found_footy.cli_token import token
from found_footy.command import AsJson, run, stop_signal
from found_footy.config import Settings, load_settings
from found_footy.console import err, out, print_json
from found_footy.domain.errors import (
    AlreadyRunning,
    CacheUnavailable,
    EngineError,
    FeedError,
    FollowUnknown,
    FootyError,
    KnowledgeError,
    NotFound,
    ObjectStoreError,
    RecordingBroken,
    ScenarioError,
    SettingsError,
    SourceError,
    StoreUnavailable,
    VisionError,
)
from found_footy.ops.logging import configure

if TYPE_CHECKING:
    from found_footy.adapters.storage.postgres.store import PostgresStore

T = TypeVar("T")

EXIT_CODES: dict[type[FootyError], int] = {
    SettingsError: 2,
    FollowUnknown: 2,
    ScenarioError: 2,
    RecordingBroken: 2,
    NotFound: 3,
    AlreadyRunning: 5,
    EngineError: 4,
    StoreUnavailable: 4,
    CacheUnavailable: 4,
    FeedError: 4,
    VisionError: 4,
    ObjectStoreError: 4,
    SourceError: 4,
    KnowledgeError: 4,
}
"""Documented in docs/reference/cli.md. 1 is everything else."""

app = typer.Typer(
    name="footy",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(media)
app.add_typer(browser)
app.add_typer(token)
app.add_typer(feeds)
app.add_typer(follow)
app.add_typer(library)
app.add_typer(record)


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"found-footy {version('found-footy')}", highlight=False)
        raise typer.Exit


@app.callback()
def footy(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Tell which one this is.")
    ] = False,
) -> None:
    """Watches live matches, notices each goal and finds its clips."""


def main() -> None:
    try:
        app()
    except FootyError as error:
        fail(error)


def fail(error: FootyError) -> NoReturn:
    if "--json" in sys.argv:
        answer = {"error": {"class": error.kind, "message": str(error), "hint": error.hint}}
        sys.stderr.write(json.dumps(answer, ensure_ascii=False) + "\n")
    else:
        err.print(f"[red]{error.kind}[/]: ", end="")
        err.print(str(error), markup=False, soft_wrap=True)
        if error.hint:
            err.print(error.hint, style="dim", markup=False, soft_wrap=True)
    raise SystemExit(next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), 1))


def settings_and_logs(*, quiet: bool = False) -> Settings:
    settings = load_settings()
    configure(settings.log_format, "ERROR" if quiet else settings.log_level)
    return settings


def read(look: Callable[[PostgresStore], Coroutine[Any, Any, T]]) -> T:
    """Asks the database of the running system."""
    from found_footy.bootstrap_stores import open_store
    from found_footy.ops.locate import with_running_engines

    settings = settings_and_logs(quiet=True)
    located = settings if settings.database_url else with_running_engines(settings)

    async def body() -> T:
        async with open_store(located) as store:
            return await look(store)

    return run(body)


# --- running the system


@app.command()
def up(workers: Annotated[int | None, typer.Option(min=1, max=64, help="Worker processes to start.")] = None) -> None:
    """Start engines, workers and pages, and keep them running until Ctrl-C."""
    from found_footy.ops.running import running
    from found_footy.ops.serving import pages_url
    from found_footy.ops.startup_banner import print_banner

    settings = settings_and_logs()
    if workers is not None:
        settings = settings.model_copy(update={"workers": workers})

    async def body() -> None:
        async with running(settings) as system:
            names = ", ".join(f"{child.name} (pid {child.pid})" for child in system.supervisor.status())
            pages = pages_url(system.settings)
            logging.getLogger(__name__).info(f"ready: {names}; pages at {pages}", extra={"action": "ready"})
            await print_banner(system, pages)
            await asyncio.Event().wait()

    run(body, when_stopped=0)


@app.command()
def worker() -> None:
    """Run one worker against the engines that the settings name, or that `footy up` runs here."""
    from found_footy.ops.locate import with_running_engines
    from found_footy.ops.work import work

    settings = with_running_engines(settings_and_logs())

    async def body() -> None:
        await work(settings, stop_signal())

    run(body, when_stopped=0)


@app.command()
def web() -> None:
    """Serve pages, API and live updates, on the engines that the settings name or that `footy up` runs here."""
    import uvloop

    from found_footy.ops.locate import with_running_engines
    from found_footy.ops.serving import serve

    settings = with_running_engines(settings_and_logs())

    async def body() -> None:
        await serve(settings, stop_signal())

    run(body, when_stopped=0, loop_factory=uvloop.new_event_loop)


app.command()(init)
app.command()(submit)
app.command()(watchdog)
app.command()(health)
app.command()(recycle)


app.command()(doctor)


@app.command()
def ingest(
    day: Annotated[str | None, typer.Option("--date", help="First day, as YYYY-MM-DD; today if not given.")] = None,
    fixture: Annotated[list[int] | None, typer.Option(help="Only this fixture; may be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fetch fixtures now, without waiting for the daily ingest."""
    from dataclasses import replace

    from found_footy.ops.ingest_now import ingest_now
    from found_footy.ops.locate import with_running_engines
    from found_footy.ops.temporal_setup import ingest_order

    if day and fixture:
        raise typer.BadParameter("give either a date or fixtures", param_hint="--date")
    parsed_day(day)
    settings = with_running_engines(settings_and_logs(quiet=True))
    order = replace(ingest_order(settings), fixture_ids=fixture or [], day=day)
    with err.status("asking the feed …"):
        result = run(lambda: ingest_now(settings, order))
    parts = dict(result.days) if result.fixtures is None else {"fixtures": result.fixtures}
    if as_json:
        print_json({name: vars(part) for name, part in parts.items()} | {"deleted": result.deleted})
        return
    for name, part in parts.items():
        rejected = f", {part.rejected} rejected" if part.rejected else ""
        unknown = f", unknown to the feed: {part.unknown}" if part.unknown else ""
        out.print(f"{name}: {part.found} found, {part.tracked} tracked, {part.added} new{rejected}{unknown}")


# --- looking


def parsed_day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date; write it as YYYY-MM-DD", param_hint="--date") from None


@app.command()
def fixtures(
    day: Annotated[str | None, typer.Option("--date", help="Only matches of this day (UTC), as YYYY-MM-DD.")] = None,
    stage: Annotated[str | None, typer.Option(help="Only staging, active or completed.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the fixtures with their goals."""
    from found_footy.domain.fixtures.model import Stage
    from found_footy.ops.terminal import fixtures_list

    if stage is not None and stage not in list(Stage):
        raise typer.BadParameter(f"{stage!r} is none of {', '.join(Stage)}", param_hint="--stage")
    wanted = parsed_day(day)
    documents = read(lambda store: store.fixtures(stage=stage, day=wanted))
    if as_json:
        print_json(documents)
    elif documents:
        out.print(fixtures_list(documents, load_settings().debounce_polls))
    else:
        out.print("no fixtures; `footy ingest` fetches some")


@app.command()
def fixture(fixture_id: int, as_json: AsJson = False) -> None:
    """Show one fixture with its goals."""
    from found_footy.ops.terminal import fixture_page

    document = read(lambda store: store.fixture(fixture_id))
    if as_json:
        print_json(document)
    else:
        out.print(fixture_page(document, load_settings().debounce_polls))


@app.command()
def goal(event_id: str, as_json: AsJson = False) -> None:
    """Explain one goal: how certain it is, what was searched and found, and what became of each post."""
    from found_footy.ops.goal_page import goal_page

    document = read(lambda store: store.event(event_id))
    if as_json:
        print_json(document)
    else:
        settings = load_settings()
        out.print(goal_page(document, settings.debounce_polls, settings.search_attempts))


@app.command()
def clips(
    fixture: Annotated[int | None, typer.Option(help="Only of this fixture.")] = None,
    goal: Annotated[str | None, typer.Option(help="Only of this goal, by its event id.")] = None,
    verified: Annotated[bool, typer.Option("--verified", help="Only those whose clock proves the goal.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 200,
    as_json: AsJson = False,
) -> None:
    """List the published clips, goal by goal, the best first."""
    from found_footy.adapters.storage.postgres.clips import PostgresClips
    from found_footy.ops.goal_page import clips_list

    def look(store: PostgresStore) -> Coroutine[Any, Any, list[dict[str, Any]]]:
        return PostgresClips(store.database).clips(fixture=fixture, event=goal, verified=verified, limit=limit)

    documents = read(look)
    if as_json:
        print_json(documents)
    elif documents:
        out.print(clips_list(documents))
    else:
        out.print("no clips; `footy goal EVENT_ID` explains why a goal has none")


app.command()(search)


# --- playing


app.command()(replay)
app.command()(demo)
app.command()(simulate)
