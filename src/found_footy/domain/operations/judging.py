"""What needs a person, and what to do about it. A pure function of what was measured."""

from __future__ import annotations

from found_footy.domain.operations.causes import disk_findings, engines, feed_findings, workers
from found_footy.domain.operations.effects import deliveries, failures, goals_in_work, news, polls, sources
from found_footy.domain.operations.findings import Grade, Limits, Verdict
from found_footy.domain.operations.measured import Measured

NO_POLLS = {"engine_temporal", "no_worker", "polls_paused", "schedule_missing", "feed", "quota_used"}
NO_WORK = {"engine_temporal", "no_worker"}


def judge(measured: Measured, limits: Limits) -> Verdict:
    """The causes first. What follows from a cause that is named is not named again."""
    causes = [*engines(measured), *workers(measured), *feed_findings(measured, limits), *disk_findings(measured)]
    kinds = {finding.kind for finding in causes}
    found = list(causes)
    if measured.recorded is not None:
        if not kinds & NO_POLLS:
            found += polls(measured, limits)
        if not kinds & NO_WORK:
            found += goals_in_work(measured.recorded.goals, measured.at, limits)
        found += sources(measured.recorded)
        found += deliveries(measured.recorded, measured.at)
        found += news(measured, measured.recorded)
    found += failures(measured)
    return Verdict(tuple(sorted(found, key=lambda finding: finding.grade is not Grade.FAILED)))
