"""What the demo shows: a live table where there is a terminal, a line for each change where there is none."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from found_footy.config import Settings
from found_footy.ops.demo import Look
from found_footy.ops.terminal import goal_line, goal_state, matchday_table, printable, score
from found_footy.simulator.verdict import Verdict


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
            self._live.update(Text("starting PostgreSQL, Temporal and the workers …", "dim"), refresh=True)
        else:
            self._console.print(f"{self._title}: starting PostgreSQL, Temporal and the workers …")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._live.stop()

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
        legend = Text("\n1/3 seen by so many polls · … searching · ✓ certain · ✗ withdrawn", "dim")
        return Group(head, matchday_table(look.documents, look.settings.debounce_polls), legend)

    def _tell_changes(self, look: Look) -> None:
        debounce = look.settings.debounce_polls
        for document in look.documents:
            teams = document["teams"]
            name = printable(f"{teams['home']['name']} – {teams['away']['name']}")
            self._tell(f"{document['_id']}", document["fixture"]["status"]["short"], Text(f"{name} {score(document)}"))
            for event in document["events"]:
                line = goal_line(event, debounce)
                self._tell(event["_event_id"], goal_state(event, debounce), Text(name).append_text(line))

    def _tell(self, key: str, state: str, line: Text) -> None:
        if self._told.get(key) != state:
            self._told[key] = state
            self._console.print(Text(f"{state:>9}  ").append_text(line), soft_wrap=True)

    def summary(self, verdict: Verdict) -> None:
        # A terminal still shows the live table's last state.
        if self._last is not None and not self._console.is_terminal:
            self._console.print(matchday_table(self._last.documents, self._last.settings.debounce_polls))
        self._console.print(
            f"\n{verdict.matches} matches, {verdict.goals} goals, {verdict.withdrawn} withdrawn: ", end=""
        )
        if not verdict.mismatches:
            self._console.print("all as scripted", style="green")
            return
        self._console.print(f"{len(verdict.mismatches)} mismatches", style="red")
        table = Table("match", "what", "expected", "got", box=None)
        for mismatch in verdict.mismatches:
            table.add_row(str(mismatch.match), mismatch.what, mismatch.expected, mismatch.got)
        self._console.print(table)

    def keep(self, settings: Settings) -> None:
        self._console.print(
            f"still running; look around in another terminal with\n"
            f"  FOOTY_DATA_DIR={settings.data_dir} {sys.argv[0]} fixtures\n"
            f"and stop with Ctrl-C",
            soft_wrap=True,
        )
