"""What needs a person, and what to do about it. A pure function of what was measured."""

from __future__ import annotations

from found_footy.domain.operations.causes import disk_findings, engines, workers
from found_footy.domain.operations.clocks import clocks
from found_footy.domain.operations.effects import deliveries, failures, goals_in_work, news, polls, sources
from found_footy.domain.operations.feed_causes import feed_findings
from found_footy.domain.operations.feed_effects import disputes, doubts, health_findings
from found_footy.domain.operations.findings import Grade, Limits, Verdict
from found_footy.domain.operations.measured import Measured

NO_POLLS = {
    "engine_temporal",
    "engine_cache",
    "no_worker",
    "polls_paused",
    "schedule_missing",
    "feed",
    "feeds_off",
    "feed_lacks",
    "quota_used",
}
NO_WORK = {"engine_temporal", "no_worker"}


def judge(measured: Measured, limits: Limits) -> Verdict:
    """The causes first. What follows from a cause that is named is not named again."""
    causes = [*engines(measured), *workers(measured), *feed_findings(measured, limits), *disk_findings(measured)]
    # A feed that fails while another goes on explains nothing.
    kinds = {finding.kind for finding in causes if finding.grade is Grade.FAILED}
    found = list(causes)
    health = list(health_findings(measured, limits))
    if kinds & NO_POLLS:
        health = [finding for finding in health if finding.kind == "no_judgement"]
    found += health
    if measured.recorded is not None:
        if not kinds & NO_POLLS and not any(finding.kind == "health_failing" for finding in health):
            found += polls(measured, limits)
            found += clocks(measured, measured.recorded, limits)
        if not kinds & NO_WORK:
            found += goals_in_work(measured.recorded.goals, measured.at, limits)
        found += disputes(measured, measured.recorded, limits)
        found += doubts(measured.recorded)
        found += sources(measured.recorded)
        found += deliveries(measured.recorded, measured.at)
        found += news(measured, measured.recorded)
    found += failures(measured)
    return Verdict(tuple(sorted(found, key=lambda finding: finding.grade is not Grade.FAILED)))
