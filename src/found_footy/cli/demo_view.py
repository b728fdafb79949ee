"""Output of the demo: a live table in a terminal, otherwise one line per change."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from found_footy.cli.demo import DemoResult, DemoSnapshot
from found_footy.cli.match_view import goal_line, goal_state, make_printable, matchday_table, printable, score
from found_footy.clips.progress import progress_line
from found_footy.config import Settings
from found_footy.fixtures.documents import GoalDetails
from found_footy.runtime.system import pages_url

WIDE = 130
"""Terminal width from which the table shows each match's feeds."""


class DemoView:
    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="visible")
        self._printed: dict[str, str] = {}
        self._last: DemoSnapshot | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
            self._live.update(Text("starting PostgreSQL, Valkey, Temporal and the workers …", "dim"), refresh=True)
        else:
            self._console.print(f"{self._title}: starting PostgreSQL, Valkey, Temporal and the workers …")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._live.stop()

    def show_rendering(self, missing: int, total: int) -> None:
        """Show the progress of rendering the clips, which are kept for the next demo."""
        if self._console.is_terminal:
            bar = ProgressBar(total, total - missing, width=40)
            text = Text(f"rendering clips: {total - missing} of {total}", "dim")
            self._live.update(Group(text, bar), refresh=True)
        elif not self._printed.get("rendering"):
            self._printed["rendering"] = "yes"
            self._console.print(f"rendering {missing} of {total} clips, once …")

    def show(self, snapshot: DemoSnapshot) -> None:
        self._last = snapshot
        if self._console.is_terminal:
            self._live.update(self._page(snapshot), refresh=True)
        else:
            self._print_changes(snapshot)

    def _page(self, snapshot: DemoSnapshot) -> Group:
        minutes = int(snapshot.state.offset_seconds // 60)
        head = Text()
        head.append(self._title, "bold")
        head.append(f"  matchday minute {minutes} · poll {snapshot.state.polls} · Ctrl-C stops\n", "dim")
        head.append("watch it at ", "dim")
        head.append(f"{pages_url(snapshot.settings)}\n", "bold cyan")
        legend = Text("\n1/3 polls with the goal · 4/10 searches · ✓2 clips · ✓0 none found · ✗ withdrawn", "dim")
        table = self._table(snapshot)
        return Group(head, table, Text(), self._searches(snapshot), legend, *self._library(snapshot))

    def _library(self, snapshot: DemoSnapshot) -> list[Text | ProgressBar]:
        if snapshot.library is None:
            return []
        library = snapshot.library
        scenes = f"{library.ready} of {library.scenes} scenes" if library.scenes else "no scenes yet"
        text = Text(f"\nlibrary: {library.cut} of {library.kept} clips cut, {scenes} ready for review", "dim")
        return [text, ProgressBar(max(1, library.kept + library.scenes), library.cut + library.ready, width=40)]

    def _table(self, snapshot: DemoSnapshot) -> Table:
        debounce, attempts = snapshot.settings.debounce_polls, snapshot.settings.search_attempts
        return matchday_table(snapshot.documents, debounce, attempts, feeds=self._console.width >= WIDE)

    def _searches(self, snapshot: DemoSnapshot) -> Table:
        """Return a table of the goals being searched for, with the progress of each."""
        table = Table(box=None, pad_edge=False, show_header=False)
        for document in map(make_printable, snapshot.documents):
            for event in document["events"]:
                if goal_state(event, snapshot.settings.debounce_polls) == "searching":
                    steps = progress_line(GoalDetails.model_validate(event), snapshot.settings.search_attempts)
                    table.add_row(goal_line(event, snapshot.settings.debounce_polls), Text(steps, "dim"))
        return table

    def _print_changes(self, snapshot: DemoSnapshot) -> None:
        if not self._printed.get("pages"):
            self._printed["pages"] = "yes"
            self._console.print(f"the pages are at {pages_url(snapshot.settings)}")
        if snapshot.library is not None and not self._printed.get("library"):
            self._printed["library"] = "yes"
            self._console.print(f"cutting {snapshot.library.kept} clips into scenes …")
        debounce = snapshot.settings.debounce_polls
        for document in snapshot.documents:
            teams = document["teams"]
            name = printable(f"{teams['home']['name']} – {teams['away']['name']}")
            self._print_change(
                f"{document['_id']}", document["fixture"]["status"]["short"], Text(f"{name} {score(document)}")
            )
            for event in document["events"]:
                line = Text(name).append_text(goal_line(event, debounce))
                steps = progress_line(
                    GoalDetails.model_validate(make_printable(event)), snapshot.settings.search_attempts
                )
                feeds = ", ".join(event["_feeds"])
                line.append(f" · {steps}" if steps else f" · reported by {feeds}" if feeds else "", "dim")
                # Print a line only when a search finds something.
                details = steps.partition(" · ")[2] if steps.startswith("searching") else steps
                self._print_change(event["_event_id"], goal_state(event, debounce), line, details)

    def _print_change(self, key: str, state: str, line: Text, more: str = "") -> None:
        if self._printed.get(key) != f"{state} {more}":
            self._printed[key] = f"{state} {more}"
            self._console.print(Text(f"{state:>9}  ").append_text(line), soft_wrap=True)

    def summary(self, result: DemoResult) -> None:
        # A terminal still shows the live table's last state.
        if self._last is not None and not self._console.is_terminal:
            self._console.print(self._table(self._last))
        if self._last is not None and self._last.settings.browser_url is None:
            self._console.print("\nCricket and the X browser source were left out: no Chromium found", style="dim")
        matchday, clips = result.matchday, result.clips
        rejected = ", ".join(f"{count} {loss}" for loss, count in sorted(clips.refused.items()))
        self._console.print(f"\n{clips.videos} clips, {clips.verified} of them verified, {clips.duplicates} duplicates")
        self._console.print(f"rejected: {rejected or 'nothing'}", soft_wrap=True)
        library = result.library
        self._console.print(f"library: {library.scenes} scenes of {library.cut} clips, {library.ready} to review")
        wickets = f" and {matchday.wickets} wickets" if matchday.wickets else ""
        counted = f"{matchday.matches} matches, {matchday.goals} goals{wickets}, {matchday.withdrawn} withdrawn"
        if matchday.unconfirmed:
            counted += f", {matchday.unconfirmed} reported by one feed and never confirmed"
        self._console.print(f"{counted}: ", end="", soft_wrap=True)
        if not result.mismatches:
            self._console.print("all as scripted", style="green")
            return
        self._console.print(f"{len(result.mismatches)} mismatches", style="red")
        table = Table("match", "what", "expected", "got", box=None)
        for mismatch in result.mismatches:
            table.add_row(str(mismatch.match), mismatch.what, mismatch.expected, mismatch.got)
        self._console.print(table)

    def show_login(self, settings: Settings, token: str) -> None:
        pages = pages_url(settings)
        self._console.print(f"\nthe pages stay up at {pages} until Ctrl-C", style="bold", soft_wrap=True)
        self._console.print(f"to review the scenes, log in at {pages}/login with this token:", soft_wrap=True)
        self._console.print(token, style="bold", markup=False, highlight=False, soft_wrap=True)
        command = f"FOOTY_DATA_DIR={settings.data_dir} {sys.argv[0]}"
        self._console.print(f"in another terminal: {command} fixtures", style="dim", soft_wrap=True)
