"""Markdown tables on standard output."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def share(count: int, of: int) -> str:
    """A share with its 95 % Wilson interval: 0 of 9 is not "none"."""
    if not of:
        return "0 of 0"
    z, p = 1.96, count / of
    middle, half = p + z * z / (2 * of), z * sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    low, high = (max(0.0, (middle + sign * half) / (1 + z * z / of)) * 100 for sign in (-1, 1))
    return f"{count} of {of} ({low:.1f} to {min(high, 100):.1f} %)"
