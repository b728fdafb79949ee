"""`footy init`: ask for the main settings, check each answer and write them to `.env`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from dotenv import set_key

from found_footy.cli.common import err, out, run
from found_footy.config import ENV_FILE, environment_names, load_settings
from found_footy.errors import SettingsError
from found_footy.runtime.clock import utc_now
from found_footy.runtime.logging import configure

if TYPE_CHECKING:
    from found_footy.operations.models import CheckResult

SOURCE_HELP = {
    "fxtwitter": "public posts on X, through FxEmbed's API; no login",
    "reddit": "r/soccer; no login",
    "bluesky": "needs an account and an app password",
    "x": "X through your own browser; needs a login, see docs/howto/search-x.md",
    "folder": "your own recordings, in a folder",
}


def init(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept all defaults without asking.")] = False,
    check: Annotated[bool, typer.Option("--check/--no-check", help="Verify each answer with its service.")] = True,
) -> None:
    """Set up this folder: choose what to follow and where to search, and write the settings to `.env`."""
    if not yes and not is_terminal():
        raise SettingsError("footy init asks questions and needs a terminal; use `footy init --yes` without one")
    configure("pretty", "CRITICAL")
    answers = Answers(Path(ENV_FILE), ask=not yes, live=check)
    if not yes:
        out.print("Press Enter to keep the value in brackets.\n", style="dim")
    answers.follow()
    answers.feeds()
    answers.sources()
    answers.contact()
    answers.data_folder()
    answers.write()
    answers.summary()


def is_terminal() -> bool:
    return sys.stdin.isatty()


class Answers:
    """Settings chosen so far. Nothing is written before `write`."""

    def __init__(self, path: Path, *, ask: bool, live: bool) -> None:
        self._path = path
        self._ask = ask
        self._live = live
        self._new: dict[str, str] = {}
        self._names = environment_names()
        self._settings = load_settings()
        self._failed = 0

    def follow(self) -> None:
        from found_footy.fixtures.following import describe_following, following_of

        self._set(
            "follow",
            "What to follow: leagues, cups, teams, or top5, european-cups, tournaments, top50-teams, all",
            ", ".join(self._settings.follow),
        )
        out.print(f"  follows {describe_following(following_of(self._settings.follow))}", style="dim", markup=False)

    def feeds(self) -> None:
        if self._settings.api_football_key is None:
            self._set("api_football_key", "API-Football key (Enter: none; ESPN needs no key)", "", secret=True)
        self._check("feed ")

    def sources(self) -> None:
        enabled = list(self._settings.sources)
        if self._ask:
            for name, text in SOURCE_HELP.items():
                out.print(f"  {name:<10} {text}", style="dim", markup=False)
        self._set("sources", "Sources of clips", ", ".join(enabled))
        if "bluesky" in self._settings.sources and self._settings.bluesky_handle is None:
            self._set("bluesky_handle", "Bluesky handle (Enter: leave Bluesky off)", "")
            if self._settings.bluesky_handle:
                self._set("bluesky_password", "Bluesky app password", "", secret=True)
        if "folder" in self._settings.sources and self._settings.drop_folder is None:
            self._set("drop_folder", "Folder with your own recordings (Enter: none)", "")
        self._check("source ")

    def contact(self) -> None:
        default = type(self._settings).model_fields["wikidata_contact"].default
        if self._settings.wikidata_contact == default:
            self._set("wikidata_contact", "Your e-mail or web page, sent to Wikidata (Enter: none)", "")
        self._check("team names")

    def data_folder(self) -> None:
        from found_footy.operations.doctor import data_folder_finding

        self._set("data_dir", "Data folder", str(self._settings.data_dir))
        finding = data_folder_finding(self._settings.data_dir)
        self._show(finding.state in ("ok", "warning"), finding.what, finding.summary, finding.advice)

    def write(self) -> None:
        """Write the settings, keeping other lines and comments. The file holds keys, so only its owner may read it."""
        if not self._path.exists():
            self._path.touch(mode=0o600)
        for name, value in self._new.items():
            set_key(self._path, name, value, quote_mode="auto")
        os.chmod(self._path, 0o600)

    def summary(self) -> None:

        from found_footy.app import setup_overview
        from found_footy.cli.startup_banner import print_overview

        settings = load_settings()
        out.print(f"\nWrote {self._path.absolute()}", markup=False, soft_wrap=True)
        overview = run(lambda: setup_overview(settings, None, utc_now()))
        print_overview(overview, None, "shown once `footy up` has fetched the fixtures")
        if self._failed:
            out.print(
                f"{self._failed} {'check' if self._failed == 1 else 'checks'} failed: follow the hints above, "
                "then run `footy doctor --live`.",
                style="yellow",
                soft_wrap=True,
            )
        out.print("Start with `footy up`.")

    def _set(self, field: str, question: str, current: str, *, secret: bool = False) -> None:
        """Prompt until the answer is valid. An empty answer keeps the setting."""
        name = self._names[field]
        while True:
            answer = current
            if self._ask:
                answer = typer.prompt(
                    question, default=current, hide_input=secret, show_default=not secret and bool(current)
                )
            answer = str(answer).strip()
            if answer == current and (not answer or name not in ("FOOTY_FOLLOW", "FOOTY_SOURCES", "FOOTY_DATA_DIR")):
                return
            try:
                self._settings = load_settings({**self._new, name: answer})
            except SettingsError as error:
                if not self._ask:
                    raise
                out.print(f"  {error}", style="red", markup=False, soft_wrap=True)
                continue
            self._new[name] = answer
            return

    def _check(self, prefix: str) -> None:
        if not self._live:
            return
        from found_footy.feeds.registry import feeds_declared
        from found_footy.operations.service_checks import build_checker, build_probes

        async def results() -> Sequence[CheckResult]:
            probes = build_probes(self._settings, await feeds_declared(self._settings))
            return await build_checker(self._settings).run([each for each in probes if each.name.startswith(prefix)])

        with err.status("checking …"):
            found = run(results)
        for each in found:
            self._show(each.ok, each.name, each.summary, each.hint)

    def _show(self, ok: bool, name: str, summary: str, hint: str) -> None:
        self._failed += not ok
        out.print(f"  {'[green]✓[/]' if ok else '[red]✗[/]'} {name}: ", end="")
        out.print(summary, markup=False, soft_wrap=True)
        if hint and not ok:
            out.print(f"    → {hint}", markup=False, soft_wrap=True)
