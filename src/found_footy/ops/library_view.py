"""The library's documents as people read them in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from found_footy.domain.clips.states import ClipState, SourceState, words_for
from found_footy.ops.terminal import moment, shown

Document = Mapping[str, Any]

STYLES = {
    SourceState.SPLICED: "green",
    SourceState.DOWNLOAD_FAILED: "red",
    SourceState.SPLICING_FAILED: "red",
    ClipState.EMBEDDED: "green",
    ClipState.SPRITE_FAILED: "red",
    ClipState.KEYFRAME_FAILED: "red",
    ClipState.EMBEDDING_FAILED: "red",
    ClipState.CLEANING_FAILED: "red",
    ClipState.PENDING_REVIEW: "yellow",
}


def sources_list(documents: Sequence[Document]) -> RenderableType:
    """Each source in a line, its clips and its trouble below it."""
    lines: list[RenderableType] = []
    for document in documents:
        lines += _source_lines(shown(document))
    return Group(*lines)


def source_page(document: Document) -> RenderableType:
    document = shown(document)
    lines: list[RenderableType] = _source_lines(document)
    about = [f"{document['kind']}, since {moment(document['created_at'])}"]
    if document["submitted_by"]:
        about.append(f"handed in by {document['submitted_by']}")
    if document["url"]:
        about.append(document["url"])
    lines.append(Text(f"       {' · '.join(about)}", "dim"))
    facts = [f"{name}: {value}" for name, value in document["facts"].items() if value not in (None, "")]
    if facts:
        lines.append(Text(f"       {', '.join(facts)}", "dim"))
    rate = float(document["film"]["rate"]) if document["film"] else 0.0
    for tile in document["tiles"]:
        state = ClipState(tile["state"])
        line = Text(f"{tile['id']:>8} frames {tile['first']}–{tile['end'] - 1}  ")
        line.append(f"{tile['first'] / rate:.1f}–{tile['end'] / rate:.1f} s  ", "dim")
        line.append(words_for(state), STYLES.get(state, ""))
        if tile["reviewed_by"]:
            line.append(f"  {tile['reviewed_by']}, {moment(tile['reviewed_at'])}", "dim")
        if tile["error"]:
            line.append(f"  {tile['error']}", "red")
        lines.append(line)
    if document["tile_count"] > len(document["tiles"]):
        lines.append(Text(f"       {len(document['tiles'])} of {document['tile_count']} clips are shown", "yellow"))
    return Group(*lines)


def leftovers_list(rows: Sequence[Document]) -> RenderableType:
    lines = []
    for row in map(shown, rows):
        asked: datetime = row["asked_at"]
        line = Text(f"{row['key']}  ")
        line.append(f"since {asked:%Y-%m-%d %H:%M:%S}, tried {row['tries']} times", "dim")
        if row["error"]:
            line.append(f"  {row['error']}", "red")
        lines.append(line)
    return Group(*lines)


def _source_lines(document: Document) -> list[RenderableType]:
    state, film = SourceState(document["state"]), document["film"]
    head = Text(f"{document['id']:>6} ", "dim")
    head.append(document["title"] or document["url"] or "without a title", "not dim bold")
    head.append(f"  {words_for(state)}", f"not dim {STYLES.get(state, 'cyan')}")
    if document["progress"] is not None:
        head.append(f", {document['progress']:.0%}", "not dim cyan")
    if film:
        head.append(f"  {film['seconds']:.1f} s, {film['width']}×{film['height']}", "dim")
    lines: list[RenderableType] = [head]
    if document["clips"]:
        counts = [f"{number} {words_for(ClipState(name))}" for name, number in sorted(document["clips"].items())]
        lines.append(Text(f"       {', '.join(counts)}"))
    if document["error"]:
        lines.append(_trouble(document["error"]))
    return lines


def _trouble(error: Document) -> Text:
    line = Text(f"       {error['class']}: {error['message']}", "red")
    again = f"tried again at {moment(error['retry_at'])}" if error["retry_at"] else "not tried again by itself"
    line.append(f" ({error['failures']} times; {again})", "dim")
    return line
