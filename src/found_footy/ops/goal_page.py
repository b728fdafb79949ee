"""One goal explained: how certain it is, what was searched and found, and what became of each post."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from found_footy.domain.videos.goal_way import count, source_failures, way, why_no_clip
from found_footy.ops.terminal import STATE_STYLES, goal_state, minute, moment, shown

Document = Mapping[str, Any]

CANDIDATE_STYLES = {"kept": "green", "duplicate": "dim", "lost": "yellow"}


def goal_page(event: Document, debounce: int, attempts: int) -> RenderableType:
    event = shown(event)
    lines: list[RenderableType] = [_head(event, debounce)]
    for change in event["_attributions"]:
        what = ", ".join(f"{name} {values['from']} → {values['to']}" for name, values in change["changed"].items())
        lines.append(Text(f"  {moment(change['at'])} {what}", "dim"))
    if event["_monitor_complete"]:
        lines.append(_searches(event, attempts))
    if event["_s3_videos"]:
        lines += [Text("\nclips", "bold"), _clips(event["_s3_videos"], event["_proofs"])]
    if event["_discovered_videos"]:
        lines += [Text("\nposts", "bold"), _posts(event["_discovered_videos"])]
    if reason := why_no_clip(event):
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
        head.append(f" · certain {moment(event['_stable_at'])}")
    if event["_removed"]:
        head.append(f" · withdrawn {moment(event['_removed_at'])}: {event['_removed_reason']}")
    return head


def _searches(event: Document, attempts: int) -> Text:
    text = Text()
    if event["_search_query"]:
        done = count(event["_searches"], "search", "searches")
        text.append(f"\n{done} for {event['_search_query']}\n")
    text.append(way(event, attempts), "cyan")
    for source, (times, said) in source_failures(event).items():
        text.append(f"\n{source} failed {times} of {len(event['_searches'])} times: {said}", "red")
    return text


def _clips(videos: Sequence[Document], proofs: Mapping[str, Document]) -> Table:
    table = _clip_table()
    table.add_column("proof")
    for video in videos:
        table.add_row(*_clip_cells(video), Text(proof_line(proofs.get(video["md5"])), "dim"))
    return table


def proof_line(proof: Document | None) -> str:
    """`11:52 LIV 0-0 MCI at 1.5 s`: what the deciding picture says, and where in the clip it is."""
    if proof is None:
        return ""
    reading = next((each for each in proof["readings"] if each["at"] == proof["at"]), None)
    if reading is None:
        return ""
    home, away = reading["teams"] or ("", "")
    said = [reading["clock"], reading["added"], reading["stoppage_clock"], home, reading["score"], away]
    words = " ".join(word for word in said if word)
    return f"{words or 'nothing to read'} at {reading['at']:.1f} s"


def _clip_table(*before: str) -> Table:
    table = Table(*before, box=None, pad_edge=False, header_style="dim")
    for column in ("rank", "clock", "posts", "length", "picture", "size"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("file", no_wrap=True)
    return table


def _clip_cells(video: Document) -> list[Text]:
    proved = Text(f"✓ {video['extracted_minute']}'", "green") if video["timestamp_verified"] else Text("unverified")
    return [
        Text(str(video["rank"]), "bold"),
        proved,
        Text(str(video["popularity"])),
        Text(f"{video['duration']:.1f} s"),
        Text(f"{video['width']}×{video['height']}"),
        Text(f"{video['file_size'] / 1e6:.1f} MB"),
        Text(f"{video['md5'][:12]}", "dim"),
    ]


def _posts(candidates: Sequence[Document]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("search", "what became of it", "post"):
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


def clips_list(clips: Sequence[Document]) -> Table:
    """Clips of many goals: the goal in front of each."""
    table = _clip_table("goal")
    for clip in map(shown, clips):
        goal = Text(f"{clip['home']} – {clip['away']} ")
        goal.append(f"{minute({'elapsed': clip['minute'], 'extra': clip['extra']})} {clip['player'] or '?'}", "bold")
        table.add_row(goal, *_clip_cells(clip))
    return table
