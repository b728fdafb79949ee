"""What the demo shows: a live table where there is a terminal, a line for each change where there is none."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from found_footy.config import Settings
from found_footy.domain.videos.goal_way import way
from found_footy.ops.demo import DemoVerdict, Look
from found_footy.ops.serving import pages_url
from found_footy.ops.terminal import goal_line, goal_state, matchday_table, printable, score, shown

WIDE = 130
"""Columns from which on there is room for who told of a match."""


class DemoView:
    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="visible")
        self._told: dict[str, str] = {}
        self._last: Look | None = None

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

    def rendering(self, missing: int, total: int) -> None:
        """The matchday's clips are made once, and kept for the next demo."""
        if self._console.is_terminal:
            bar = ProgressBar(total, total - missing, width=40)
            said = Text(f"filming the matchday: {total - missing} of {total} clips", "dim")
            self._live.update(Group(said, bar), refresh=True)
        elif not self._told.get("rendering"):
            self._told["rendering"] = "told"
            self._console.print(f"filming the matchday: {missing} of {total} clips are to be made, once …")

    def show(self, look: Look) -> None:
        self._last = look
        if self._console.is_terminal:
            self._live.update(self._page(look), refresh=True)
        else:
            self._tell_changes(look)

    def _page(self, look: Look) -> Group:
        minutes = int(look.state.offset_seconds // 60)
        head = Text()
        head.append(self._title, "bold")
        head.append(f"  matchday minute {minutes} · poll {look.state.polls} · Ctrl-C stops\n", "dim")
        head.append("watch it at ", "dim")
        head.append(f"{pages_url(look.settings)}\n", "bold cyan")
        legend = Text("\n1/3 seen by so many polls · 4/10 searching · ✓2 clips · ✓0 none found · ✗ withdrawn", "dim")
        table = self._table(look)
        return Group(head, table, Text(), self._searches(look), legend, *self._library(look))

    def _library(self, look: Look) -> list[Text | ProgressBar]:
        if look.library is None:
            return []
        known = look.library
        scenes = f"{known.ready} of {known.scenes} scenes" if known.scenes else "no scenes yet"
        said = Text(f"\nthe library: {known.cut} of {known.kept} clips are cut, {scenes} are ready for review", "dim")
        return [said, ProgressBar(max(1, known.kept + known.scenes), known.cut + known.ready, width=40)]

    def _table(self, look: Look) -> Table:
        debounce, attempts = look.settings.debounce_polls, look.settings.search_attempts
        return matchday_table(look.documents, debounce, attempts, feeds=self._console.width >= WIDE)

    def _searches(self, look: Look) -> Table:
        """The goals that are searched for at this moment, and the way of each."""
        table = Table(box=None, pad_edge=False, show_header=False)
        for document in map(shown, look.documents):
            for event in document["events"]:
                if goal_state(event, look.settings.debounce_polls) == "searching":
                    steps = way(event, look.settings.search_attempts)
                    table.add_row(goal_line(event, look.settings.debounce_polls), Text(steps, "dim"))
        return table

    def _tell_changes(self, look: Look) -> None:
        if not self._told.get("pages"):
            self._told["pages"] = "told"
            self._console.print(f"the pages are at {pages_url(look.settings)}")
        if look.library is not None and not self._told.get("library"):
            self._told["library"] = "told"
            self._console.print(f"the library cuts {look.library.kept} clips into scenes …")
        debounce = look.settings.debounce_polls
        for document in look.documents:
            teams = document["teams"]
            name = printable(f"{teams['home']['name']} – {teams['away']['name']}")
            self._tell(f"{document['_id']}", document["fixture"]["status"]["short"], Text(f"{name} {score(document)}"))
            for event in document["events"]:
                line = Text(name).append_text(goal_line(event, debounce))
                steps = way(shown(event), look.settings.search_attempts)
                told_by = ", ".join(event["_feeds"])
                line.append(f" · {steps}" if steps else f" · told by {told_by}" if told_by else "", "dim")
                # Each search would be a line of its own; what it brings is what people want to see.
                news = steps.partition(" · ")[2] if steps.startswith("searching") else steps
                self._tell(event["_event_id"], goal_state(event, debounce), line, news)

    def _tell(self, key: str, state: str, line: Text, more: str = "") -> None:
        if self._told.get(key) != f"{state} {more}":
            self._told[key] = f"{state} {more}"
            self._console.print(Text(f"{state:>9}  ").append_text(line), soft_wrap=True)

    def summary(self, verdict: DemoVerdict) -> None:
        # A terminal still shows the live table's last state.
        if self._last is not None and not self._console.is_terminal:
            self._console.print(self._table(self._last))
        if self._last is not None and self._last.settings.browser_url is None:
            self._console.print("\nCricket and X by browser were left out: no Chromium is installed here", style="dim")
        told, clips = verdict.matchday, verdict.clips
        refused = ", ".join(f"{count} {loss}" for loss, count in sorted(clips.refused.items()))
        self._console.print(f"\n{clips.videos} clips, {clips.verified} of them verified, {clips.duplicates} duplicates")
        self._console.print(f"refused: {refused or 'nothing'}", soft_wrap=True)
        library = verdict.library
        self._console.print(f"the library: {library.scenes} scenes of {library.cut} clips, {library.ready} to review")
        wickets = f" and {told.wickets} wickets" if told.wickets else ""
        doubted = f", {told.doubted} that one feed made up and nobody believed" if told.doubted else ""
        counted = f"{told.matches} matches, {told.goals} goals{wickets}, {told.withdrawn} withdrawn{doubted}: "
        self._console.print(counted, end="", soft_wrap=True)
        if not verdict.mismatches:
            self._console.print("all as scripted", style="green")
            return
        self._console.print(f"{len(verdict.mismatches)} mismatches", style="red")
        table = Table("match", "what", "expected", "got", box=None)
        for mismatch in verdict.mismatches:
            table.add_row(str(mismatch.match), mismatch.what, mismatch.expected, mismatch.got)
        self._console.print(table)

    def keep(self, settings: Settings, token: str) -> None:
        pages = pages_url(settings)
        self._console.print(f"\nthe pages stay at {pages} until Ctrl-C", style="bold", soft_wrap=True)
        self._console.print(f"to review the scenes, log in at {pages}/login with this token:", soft_wrap=True)
        self._console.print(token, style="bold", markup=False, highlight=False, soft_wrap=True)
        command = f"FOOTY_DATA_DIR={settings.data_dir} {sys.argv[0]}"
        self._console.print(f"in another terminal: {command} fixtures", style="dim", soft_wrap=True)
