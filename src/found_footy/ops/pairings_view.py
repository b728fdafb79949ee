"""Pairings in doubt, as an operator reads them in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from found_footy.ops.terminal import printable, shown


def pairings_page(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    lines: list[RenderableType] = []
    for row in map(shown, rows):
        theirs = f"{row['home']} – {row['away']}, {row['competition']}, {row['kickoff']:%Y-%m-%d %H:%M}"
        ours = f"{row['home_name']} – {row['away_name']}, {row['fixture_competition']},"
        lines.append(Text(f"{row['feed']} {row['feed_id']}: {theirs}", "bold"))
        lines.append(Text(f"  fixture {row['fixture_id']}: {ours} {row['fixture_kickoff']:%Y-%m-%d %H:%M}"))
        reasons = "; ".join(printable(str(reason)) for reason in row["reasons"])
        lines.append(Text(f"  {row['confidence']:.0%} sure: {reasons}", "yellow"))
        decision = f"{row['feed']} {row['feed_id']} {row['fixture_id']}"
        lines.append(Text(f"  footy feeds same {decision}  |  footy feeds different {decision}", "dim"))
    return Group(*lines)
