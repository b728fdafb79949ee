"""When the feed's answers are wrong, and how."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from found_footy.simulator.script import MATCH_FAULTS, Fault


@dataclass(frozen=True, slots=True)
class DueFaults:
    """What is wrong with one answer: the feed as a whole, or some of its matches."""

    feed: Fault | None = None
    matches: tuple[Fault, ...] = ()


class FaultSchedule:
    """Counts faults down in polls, so that they do not depend on the speed of the matchday."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = sorted(faults, key=lambda fault: fault.at)
        self._polls_left = [fault.polls for fault in self._faults]

    def due(self, offset: float, match_ids: Collection[int]) -> DueFaults:
        """The faults of the poll at `offset` for these matches; each has then one poll less to go."""
        running = [
            index for index, fault in enumerate(self._faults) if fault.at <= offset and self._polls_left[index] > 0
        ]
        for index in running:
            fault = self._faults[index]
            if fault.kind not in MATCH_FAULTS:
                # One at a time: a second one waits until this one is over.
                self._polls_left[index] -= 1
                return DueFaults(feed=fault)
        wanted = [index for index in running if self._faults[index].match in match_ids]
        for index in wanted:
            self._polls_left[index] -= 1
        return DueFaults(matches=tuple(self._faults[index] for index in wanted))


def corrupted(item: dict[str, Any], faults: Sequence[Fault]) -> dict[str, Any]:
    """The `/fixtures` item with the faults of its match put in."""
    mine = [fault for fault in faults if fault.match == item["fixture"]["id"]]
    if not mine:
        return item
    item = copy.deepcopy(item)
    for fault in mine:
        if fault.kind == "wrong_score":
            item["goals"]["home"] = (item["goals"]["home"] or 0) + 1
        elif fault.kind == "bad_schema":
            item["fixture"]["status"]["elapsed"] = "abc"
        elif fault.kind == "unknown_status":
            item["fixture"]["status"].update(short="XYZ", long="Unheard Of")
    return item
