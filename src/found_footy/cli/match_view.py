"""Terminal views of fixtures, goals and clips."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from found_footy.clips.progress import count, progress_line, source_failures, why_no_clip
from found_footy.fixtures.documents import GoalDetails

Document = Mapping[str, Any]


def is_cricket(document: Document) -> bool:
    return document.get("sport") == "cricket"


def runs(document: Document) -> str:
    """Format the score as 187/3 – 95/3; a side that has not batted shows a dash."""
    sides = {"home": "", "away": ""}
    for innings in document["innings"]:
        line = f"{innings['runs']}/{innings['wickets']}"
        earlier = sides[innings["batting"]]
        sides[innings["batting"]] = f"{earlier} & {line}" if earlier else line
    return f"{sides['home'] or '–'} – {sides['away'] or '–'}" if any(sides.values()) else "–"


def overs(time: Document) -> str:
    """Format overs: 12.3 is twelve overs and three balls."""
    return f"{time['elapsed']}.{time.get('extra') or 0}"


NBSP = "\N{NO-BREAK SPACE}"
STATE_STYLES = {"stable": "green", "withdrawn": "red", "searching": "cyan"}


_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters, including the escape of terminal sequences
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # text direction marks
    "\u2028\u2029\ud800-\udfff]"  # line separators and surrogates
)


def printable(text: str) -> str:
    """Strip control characters and direction marks: text from feeds and files must not control the terminal."""
    return _UNPRINTABLE.sub("", text)


def make_printable(value: Any) -> Any:
    """Return the value with all texts made printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {key: make_printable(part) for key, part in value.items()}
    return [make_printable(part) for part in value] if isinstance(value, list | tuple) else value


def goal_state(event: Document, debounce: int) -> str:
    """Return the state: seen 2/3, searching, stable or withdrawn."""
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
    event = make_printable(event)
    state = goal_state(event, debounce)
    note = {"Penalty": " (pen)", "Own Goal": " (og)"}.get(event["detail"], "")
    after = event["_score_after"]
    line = Text(f"{minute(event['time']):>6} {after['home']}–{after['away']} ")
    line.append(f"{event['player']['name'] or 'scorer unknown'}{note} ", "strike dim" if event["_removed"] else "")
    line.append(state, STATE_STYLES.get(state, "yellow"))
    return line


def fixtures_view(documents: Sequence[Document], debounce: int) -> RenderableType:
    """Show one line per match, followed by its goals, in 80 columns."""
    lines: list[RenderableType] = []
    for document in map(make_printable, documents):
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
    """Show one row per match with its goals side by side, and optionally its feeds."""
    table = Table(box=None, pad_edge=False, header_style="dim", expand=False)
    table.add_column("match", ratio=3)
    for column in ("score", "clock"):
        table.add_column(column, no_wrap=True)
    table.add_column("goals", ratio=5)
    if feeds:
        table.add_column("feeds", style="dim")
    for document in map(make_printable, documents):
        teams = document["teams"]
        goals = Text("  ").join(_chip(event, debounce, attempts) for event in document["events"])
        if document["error"]:
            goals.append(f"  last poll failed: {document['error']['class']}", "red")
        match = Text(f"{teams['home']['name']} – {teams['away']['name']}")
        feed_cells = [Text(", ".join(feed["feed"] for feed in document["_feeds"]))] if feeds else []
        table.add_row(match, Text(score(document), "bold"), Text(_short_clock(document)), goals, *feed_cells)
    return table


def _chip(event: Document, debounce: int, attempts: int) -> Text:
    """Format a goal as 12' Salah ✓2, with its number of clips and without line breaks."""
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


def fixture_view(document: Document, debounce: int) -> RenderableType:
    document = make_printable(document)
    teams, league = document["teams"], document["league"]
    head = Text()
    head.append(f"{teams['home']['name']} {score(document)} {teams['away']['name']}\n", "bold")
    competition = ", ".join(str(part) for part in (league["name"], league["country"], league["round"]) if part)
    head.append(
        f"{competition}\n{clock(document)} · kick-off {moment(document['fixture']['date'])} · {document['stage']}"
    )
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


# --- One goal in detail


CANDIDATE_STYLES = {"kept": "green", "duplicate": "dim", "lost": "yellow"}


def goal_view(event: Document, debounce: int, attempts: int) -> RenderableType:
    event = make_printable(event)
    details = GoalDetails.model_validate(event)
    lines: list[RenderableType] = [_head(event, debounce)]
    for change in event["_attributions"]:
        what = ", ".join(f"{name} {values['from']} → {values['to']}" for name, values in change["changed"].items())
        lines.append(Text(f"  {moment(change['at'])} {what}", "dim"))
    if event["_monitor_complete"]:
        lines.append(_searches(details, attempts))
    if event["_s3_videos"]:
        lines += [Text("\nclips", "bold"), _clips(event["_s3_videos"], event["_proofs"])]
    if event["_discovered_videos"]:
        lines += [Text("\nposts", "bold"), _posts(event["_discovered_videos"])]
    if reason := why_no_clip(details):
        lines.append(Text(f"\n{reason}", "yellow"))
    return Group(*lines)


def _head(event: Document, debounce: int) -> Text:
    fixture, time = event["_fixture"], event["time"]
    before, after = event["_score_before"], event["_score_after"]
    head = Text()
    head.append(f"{minute(time)} {event['player']['name'] or 'scorer unknown'} ({event['detail']})", "bold")
    head.append(f" for {event['team']['name']}: {before['home']}–{before['away']} → {after['home']}–{after['away']}\n")
    head.append(f"{fixture['home']} – {fixture['away']}, {fixture['league']}, {moment(fixture['date'])}\n")
    state = goal_state(event, debounce)
    head.append(state, STATE_STYLES.get(state, "yellow"))
    head.append(f" · first seen {moment(event['_first_seen'])}")
    if event["_stable_at"]:
        head.append(f" · stable {moment(event['_stable_at'])}")
    if event["_removed"]:
        head.append(f" · withdrawn {moment(event['_removed_at'])}: {event['_removed_reason']}")
    return head


def _searches(goal: GoalDetails, attempts: int) -> Text:
    text = Text()
    if goal.search_query:
        text.append(f"\n{count(goal.searches, 'search', 'searches')} for {goal.search_query}\n")
    text.append(progress_line(goal, attempts), "cyan")
    for source, (times, message) in source_failures(goal).items():
        text.append(f"\n{source} failed {times} of {len(goal.searches)} times: {message}", "red")
    return text


def _clips(videos: Sequence[Document], proofs: Mapping[str, Document]) -> Table:
    table = _clip_table()
    table.add_column("proof")
    for video in videos:
        table.add_row(*_clip_cells(video), Text(proof_line(proofs.get(video["md5"])), "dim"))
    return table


def proof_line(proof: Document | None) -> str:
    """Return `11:52 LIV 0-0 MCI at 1.5 s`: the text in the deciding frame and its time in the clip."""
    if proof is None:
        return ""
    reading = next((each for each in proof["readings"] if each["at"] == proof["at"]), None)
    if reading is None:
        return ""
    home, away = reading["teams"] or ("", "")
    parts = [reading["clock"], reading["added"], reading["stoppage_clock"], home, reading["score"], away]
    text = " ".join(part for part in parts if part)
    return f"{text or 'no text'} at {reading['at']:.1f} s"


def _clip_table(*before: str) -> Table:
    table = Table(*before, box=None, pad_edge=False, header_style="dim")
    for column in ("rank", "clock", "posts", "length", "picture", "size"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("file", no_wrap=True)
    return table


def _clip_cells(video: Document) -> list[Text]:
    clock_cell = Text(f"✓ {video['extracted_minute']}'", "green") if video["timestamp_verified"] else Text("unverified")
    return [
        Text(str(video["rank"]), "bold"),
        clock_cell,
        Text(str(video["popularity"])),
        Text(f"{video['duration']:.1f} s"),
        Text(f"{video['width']}×{video['height']}"),
        Text(f"{video['file_size'] / 1e6:.1f} MB"),
        Text(f"{video['md5'][:12]}", "dim"),
    ]


def _posts(candidates: Sequence[Document]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("search", "outcome", "post"):
        table.add_column(column)
    for each in candidates:
        state = each["loss"] if each["state"] == "lost" else each["state"]
        outcome = Text(state, CANDIDATE_STYLES.get(each["state"], "cyan"))
        if each["loss_detail"]:
            outcome.append(f" {each['loss_detail']}", "dim")
        elif each["state"] == "duplicate":
            outcome.append(f" of {each['clip'][:12]}", "dim")
        table.add_row(Text(str(each["attempt"] or "–")), outcome, Text(each["url"], "dim"))
    return table


def clips_view(clips: Sequence[Document]) -> Table:
    """Show the clips of several goals, each with its goal."""
    table = _clip_table("goal")
    for clip in map(make_printable, clips):
        goal = Text(f"{clip['home']} – {clip['away']} ")
        goal.append(f"{minute({'elapsed': clip['minute'], 'extra': clip['extra']})} {clip['player'] or '?'}", "bold")
        table.add_row(goal, *_clip_cells(clip))
    return table
