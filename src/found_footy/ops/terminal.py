"""Fixtures and goals as people read them in a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from found_footy.ops.cricket_lines import is_cricket, overs, runs

Document = Mapping[str, Any]

NBSP = "\N{NO-BREAK SPACE}"
STATE_STYLES = {"stable": "green", "withdrawn": "red", "searching": "cyan"}


_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters, among them the start of every terminal command
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of writing
    "\u2028\u2029\ud800-\udfff]"  # line ends, and halves of characters
)


def printable(text: str) -> str:
    """What a feed or a file calls a thing must not command the terminal, nor turn its lines around."""
    return _UNPRINTABLE.sub("", text)


def shown(value: Any) -> Any:
    """A document of which every text can be printed."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {key: shown(part) for key, part in value.items()}
    return [shown(part) for part in value] if isinstance(value, list | tuple) else value


def goal_state(event: Document, debounce: int) -> str:
    """seen 2/3, searching, stable or withdrawn."""
    if event["_removed"]:
        return "withdrawn"
    if event["_download_complete"]:
        return "stable"
    if event["_debounce_complete"]:
        return "searching"
    return f"seen {event['_stable_count']}/{debounce}"


def minute(time: Document) -> str:
    if time.get("innings") is not None:
        return overs(time)
    return f"{time['elapsed']}+{time['extra']}'" if time.get("extra") else f"{time['elapsed']}'"


def score(document: Document) -> str:
    if is_cricket(document):
        return runs(document)
    goals, penalties = document["goals"], document["score"]["penalty"]
    if goals["home"] is None:
        return "–"
    line = f"{goals['home']}–{goals['away']}"
    return line if penalties["home"] is None else f"{line} ({penalties['home']}–{penalties['away']} pens)"


def clock(document: Document) -> str:
    status = document["fixture"]["status"]
    if status["short"] in ("NS", "TBD", "PST"):
        return f"{status['short']} {moment(document['fixture']['date'])}"
    if status["elapsed"] is None:
        return str(status["short"])
    return f"{status['short']} {overs(status) if is_cricket(document) else minute(status)}"


def goal_line(event: Document, debounce: int) -> Text:
    event = shown(event)
    state = goal_state(event, debounce)
    note = {"Penalty": " (pen)", "Own Goal": " (og)"}.get(event["detail"], "")
    after = event["_score_after"]
    line = Text(f"{minute(event['time']):>6} {after['home']}–{after['away']} ")
    line.append(f"{event['player']['name'] or 'scorer unknown'}{note} ", "strike dim" if event["_removed"] else "")
    line.append(state, STATE_STYLES.get(state, "yellow"))
    return line


def fixtures_list(documents: Sequence[Document], debounce: int) -> RenderableType:
    """Each match in a line, its goals below it: readable in 80 columns."""
    lines: list[RenderableType] = []
    for document in map(shown, documents):
        teams = document["teams"]
        head = Text(f"{document['_id']:>8} ", "dim")
        head.append(f"{teams['home']['name']} {score(document)} {teams['away']['name']}", "not dim bold")
        head.append(f"  {clock(document)} · {document['stage']}", "not dim")
        lines.append(head)
        if document["error"]:
            lines.append(Text(f"         last poll failed: {document['error']['class']}", "red"))
        lines += [Text("      ").append_text(goal_line(event, debounce)) for event in document["events"]]
    return Group(*lines)


def matchday_table(documents: Sequence[Document], debounce: int, attempts: int, *, feeds: bool = False) -> Table:
    """A row for each match, its goals side by side: a whole matchday on one screen, with its feeds if there is room."""
    table = Table(box=None, pad_edge=False, header_style="dim", expand=False)
    table.add_column("match", ratio=3)
    for column in ("score", "clock"):
        table.add_column(column, no_wrap=True)
    table.add_column("goals", ratio=5)
    if feeds:
        table.add_column("told by", style="dim")
    for document in map(shown, documents):
        teams = document["teams"]
        goals = Text("  ").join(_chip(event, debounce, attempts) for event in document["events"])
        if document["error"]:
            goals.append(f"  last poll failed: {document['error']['class']}", "red")
        match = Text(f"{teams['home']['name']} – {teams['away']['name']}")
        told_by = [Text(", ".join(feed["feed"] for feed in document["_feeds"]))] if feeds else []
        table.add_row(match, Text(score(document), "bold"), Text(_short_clock(document)), goals, *told_by)
    return table


def _chip(event: Document, debounce: int, attempts: int) -> Text:
    """12' Salah ✓2 with its number of clips, never broken over two lines."""
    state = goal_state(event, debounce)
    searching = f"{len(event['_searches'])}/{attempts}"
    marks = {"stable": f"✓{len(event['_s3_videos'])}", "withdrawn": "✗", "searching": searching}
    mark = marks.get(state, state.removeprefix("seen "))
    name = re.sub(r"^\w\. ", "", event["player"]["name"] or "?").replace(" ", NBSP)
    chip = Text(f"{minute(event['time'])}{NBSP}")
    chip.append(name, "strike dim" if event["_removed"] else "")
    chip.append(f"{NBSP}{mark}", STATE_STYLES.get(state, "yellow"))
    return chip


def _short_clock(document: Document) -> str:
    status = document["fixture"]["status"]
    if status["short"] in ("NS", "TBD", "PST"):
        return f"{status['short']} {datetime.fromisoformat(document['fixture']['date']):%d %b %H:%M}"
    return clock(document)


def fixture_page(document: Document, debounce: int) -> RenderableType:
    document = shown(document)
    teams, league = document["teams"], document["league"]
    head = Text()
    head.append(f"{teams['home']['name']} {score(document)} {teams['away']['name']}\n", "bold")
    place = ", ".join(str(part) for part in (league["name"], league["country"], league["round"]) if part)
    head.append(f"{place}\n{clock(document)} · kick-off {moment(document['fixture']['date'])} · {document['stage']}")
    if document["last_poll_at"]:
        head.append(f" · last poll {moment(document['last_poll_at'])}", "dim")
    if document["error"]:
        error = document["error"]
        head.append(f"\nlast poll failed: {error['class']}: {error['message']} ({moment(error['at'])})", "red")
    lines: list[RenderableType] = [head]
    for event in document["events"]:
        lines.append(goal_line(event, debounce))
        lines.append(Text(f"       {event['_event_id']}", "dim"))
    if not document["events"]:
        lines.append(Text("no goals", "dim"))
    return Group(*lines)


def moment(text: str) -> str:
    return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M:%S")
