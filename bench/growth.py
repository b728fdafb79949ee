"""Whether what a running system uses stays bounded: a judgement of samples, one per day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean


class Resource(StrEnum):
    MEMORY = "memory, MB"
    FILES = "open files"
    PROCESSES = "processes"
    ROWS = "rows"
    DISK = "disk, MB"
    KEYS = "Valkey keys"
    HISTORIES = "workflow histories"


@dataclass(frozen=True, slots=True)
class Tolerance:
    share: float
    slack: float
    """Growth that is allowed in addition, in the resource's unit."""


TOLERANCES: Mapping[Resource, Tolerance] = {
    Resource.MEMORY: Tolerance(0.15, 20),
    Resource.FILES: Tolerance(0.1, 8),
    Resource.PROCESSES: Tolerance(0, 2),
    Resource.ROWS: Tolerance(0.15, 20),
    Resource.DISK: Tolerance(0.15, 10),
    Resource.KEYS: Tolerance(0.15, 20),
    Resource.HISTORIES: Tolerance(0.2, 50),
}
"""Between two pairs of days. What grows by more reaches a disk's or a machine's limit within months."""

Sample = Mapping[tuple[Resource, str], float]
"""Values of one day by resource and name, such as a process or a table."""
WINDOW = 2
"""Days of each level: one day alone may be untypical."""


@dataclass(frozen=True, slots=True)
class Growth:
    resource: Resource
    name: str
    before: float
    after: float

    def __str__(self) -> str:
        return f"{self.resource} of {self.name} grew from {self.before:.0f} to {self.after:.0f}"


def growths(days: Sequence[Sample], steady_from: int) -> list[Growth]:
    """Return what is higher in the last days than in the first ones after `steady_from`, the index of the first day at
    whose end retention deletes as much as a day adds. A name that is missing on a day counts as 0 on it.
    """
    if len(days) < steady_from + 2 * WINDOW:
        raise ValueError(f"{len(days)} days: expected at least {steady_from + 2 * WINDOW}")
    found = []
    for resource, name in sorted({key for day in days for key in day}):
        values = [day.get((resource, name), 0.0) for day in days]
        before, after = fmean(values[steady_from : steady_from + WINDOW]), fmean(values[-WINDOW:])
        allowed = TOLERANCES[resource]
        if after > before * (1 + allowed.share) + allowed.slack:
            found.append(Growth(resource, name, before, after))
    return found
