"""The `footy` command: its command groups, error output and exit codes.

Commands import what they need when they run, so that `footy --help` and reading commands start fast.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, NoReturn

import typer

from found_footy.cli.backup import backup, restore
from found_footy.cli.browser import browser
from found_footy.cli.common import err, out
from found_footy.cli.doctor import doctor
from found_footy.cli.feeds import feeds
from found_footy.cli.follow import follow
from found_footy.cli.health import health, recycle
from found_footy.cli.init import init
from found_footy.cli.library import library, submit
from found_footy.cli.matches import clips, fixture, fixtures, goal, ingest
from found_footy.cli.media import media
from found_footy.cli.processes import migrate, scaler, up, watchdog, web, worker
from found_footy.cli.recordings import record, replay
from found_footy.cli.scenarios import demo, simulate
from found_footy.cli.search import search
from found_footy.cli.takedown import takedown
from found_footy.cli.tokens import token
from found_footy.errors import (
    AlreadyRunning,
    CacheUnavailable,
    EngineError,
    FeedError,
    FollowUnknown,
    FootyError,
    NotFound,
    ObjectStoreError,
    RecordingBroken,
    ScenarioError,
    SettingsError,
    SourceError,
    StoreUnavailable,
    VisionError,
    WikidataError,
)
from found_footy.version import current_build

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
    WikidataError: 4,
}
"""Documented in docs/reference/cli.md. Any other error exits with 1."""

app = typer.Typer(
    name="footy",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(show_version: bool) -> None:
    if show_version:
        out.print(f"found-footy {current_build()}", highlight=False)
        raise typer.Exit


@app.callback()
def footy(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show version and commit."),
    ] = False,
) -> None:
    """Watch live matches, detect goals and collect their clips."""


for command in (
    *(init, up, worker, web, watchdog, scaler, migrate),
    *(health, recycle, doctor),
    *(ingest, fixtures, fixture, goal, clips),
    *(submit, search),
    *(replay, demo, simulate),
    restore,
):
    app.command()(command)
for group in (backup, feeds, follow, library, media, record, browser, takedown, token):
    app.add_typer(group)


def main() -> None:
    try:
        app(prog_name="footy")
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
