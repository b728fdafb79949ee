"""What in a feed's faults must fit together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from found_footy.simulator.course import course_of
from found_footy.simulator.crex_feed import MODES
from found_footy.simulator.feed_script import MATCH_FAULTS, Fault
from found_footy.simulator.problems import Problem
from found_footy.simulator.script import Match


def fault_problems(path: str, fault: Fault, matches: Sequence[Match]) -> Iterator[Problem]:
    """Of a feed that lists football matches."""
    yield from _times(path, fault)
    known = {match.id: match for match in matches}
    if fault.kind in MATCH_FAULTS:
        if fault.match not in known:
            ids = ", ".join(str(match_id) for match_id in sorted(known))
            yield Problem(f"{path}.match", fault.match, f"the id of a match: {ids}")
        elif fault.kind == "invented_goal" and not course_of(known[fault.match]).at(fault.at).in_play:
            yield Problem(f"{path}.at", f"{fault.at} s", "a time at which the match is being played")
    elif fault.match is not None:
        yield Problem(f"{path}.match", fault.match, f"nothing: {fault.kind} is a fault of the whole feed")
    if (fault.kind == "timeout") != (fault.seconds is not None):
        allowed = "a number of seconds" if fault.kind == "timeout" else f"nothing with {fault.kind}"
        yield Problem(f"{path}.seconds", fault.seconds, allowed)


def crex_fault_problems(path: str, fault: Fault) -> Iterator[Problem]:
    """Of pages: those of all matches break together, and a page that hangs does so until its reader gives up."""
    yield from _times(path, fault)
    if fault.kind not in MODES:
        yield Problem(f"{path}.kind", fault.kind, f"one of {', '.join(MODES)}")
    for field in ("match", "seconds"):
        if getattr(fault, field) is not None:
            yield Problem(f"{path}.{field}", getattr(fault, field), "nothing: pages break as a whole")


def _times(path: str, fault: Fault) -> Iterator[Problem]:
    if fault.at < 0:
        yield Problem(f"{path}.at", f"{fault.at} s", "a time after the matchday's start")
    if fault.lasts is not None and "polls" in fault.model_fields_set:
        yield Problem(f"{path}.lasts", fault.lasts, "either polls or lasts")
