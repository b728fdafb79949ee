"""When the next search begins."""

from __future__ import annotations


def wait_seconds(passed: float, every: float, gap: float) -> float:
    """Searches begin `every` so many seconds, however long one takes, with a `gap` between them at least.

    `passed` is how long ago the last one began.
    """
    return max(gap, every - passed)
