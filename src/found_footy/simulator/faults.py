"""When a feed's answers are wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from found_footy.simulator.feed_script import MATCH_FAULTS, Fault


@dataclass(frozen=True, slots=True)
class DueFaults:
    """What is wrong with one answer: the feed as a whole, or some of its matches."""

    feed: Fault | None = None
    matches: tuple[Fault, ...] = ()


class FaultSchedule:
    """Counts faults down in polls, so that the speed of the matchday does not matter, unless they last a while."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = sorted(faults, key=lambda fault: fault.at)
        self._polls_left = [fault.polls for fault in self._faults]

    def due(self, offset: float, match_ids: Collection[int]) -> DueFaults:
        """The faults of the poll at `offset` for these matches; each has then one poll less to go."""
        running = [index for index in range(len(self._faults)) if self._runs(index, offset)]
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

    def _runs(self, index: int, offset: float) -> bool:
        fault = self._faults[index]
        if fault.lasts is not None:
            return fault.at <= offset < fault.at + fault.lasts * 60
        return fault.at <= offset and self._polls_left[index] > 0
