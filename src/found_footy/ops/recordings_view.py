"""The list of recordings as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from found_footy.ops.terminal import printable
from found_footy.ports_recording import RecordingSummary


def recordings_table(recordings: Sequence[RecordingSummary]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("fixture", "match", "kick-off", "recording"):
        table.add_column(column, no_wrap=column != "match")
    for each in recordings:
        table.add_row(str(each.fixture_id), printable(each.title), f"{each.kickoff:%Y-%m-%d %H:%M}", state_of(each))
    return table


def state_of(recording: RecordingSummary) -> str:
    if recording.sealed_at is not None:
        return f"finished, {(recording.bytes or 0) / 1024:.0f} KiB"
    kept = f"{recording.answers} answers, {recording.searches} searches"
    return f"on, {kept}" if recording.on else f"off, {kept}"
