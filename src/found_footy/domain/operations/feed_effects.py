"""What the feeds' health, their contradictions and doubtful pairings ask of a person."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from found_footy.domain.feeds.health_values import HealthGrade
from found_footy.domain.operations.feeds_measured import Dispute
from found_footy.domain.operations.findings import Finding, Grade, Limits
from found_footy.domain.operations.measured import Measured, Recorded

DISPUTE_LASTS = timedelta(minutes=2)
"""Feeds differ for a poll or two whenever one of them is slower; that is no news."""
DISPUTE_GOES_ON = timedelta(minutes=1)
"""Or three polls: not seen for so long, it is over."""

_GRADES = {
    HealthGrade.FAILING: (Grade.FAILED, "health_failing", "The feeds are failing"),
    HealthGrade.DEGRADED: (Grade.DEGRADED, "health_degraded", "What is known of the matches grows old"),
    HealthGrade.RECOVERING: (Grade.DEGRADED, "health_recovering", "The feeds were started anew, and nothing came yet"),
}
_ADVICE = {
    HealthGrade.FAILING: "The watchdog starts poller and browser anew by itself; the recoveries below say how it went.",
    HealthGrade.DEGRADED: "It often passes. See below which feed is slow, paused or refuses.",
    HealthGrade.RECOVERING: "It ends with the first answer of any feed.",
}


def health_findings(measured: Measured, limits: Limits) -> Iterator[Finding]:
    """A judgement that nobody renews is none."""
    if measured.health is None and measured.cached is None:
        return  # what they hold cannot be read, which is said elsewhere
    summary = measured.judged(limits.judgement)
    if summary is None:
        what = "Nobody watches over the feeds: no judgement of their health"
        advice = "`footy up` starts the watchdog; by itself it is `footy watchdog`."
        since = measured.summary.generated_at if measured.summary else None
        yield Finding("no_judgement", Grade.DEGRADED, what, since, advice, "health")
    elif summary.grade in _GRADES:
        grade, kind, what = _GRADES[summary.grade]
        reasons = "; ".join(summary.reasons)
        told = f"{what}: {reasons}" if reasons else what
        yield Finding(kind, grade, told, summary.since, _ADVICE[summary.grade], "health")


def lasting(dispute: Dispute, measured: Measured, limits: Limits) -> bool:
    goes_on = measured.at - dispute.last_at <= max(DISPUTE_GOES_ON, 3 * limits.poll)
    return goes_on and dispute.last_at - dispute.first_at >= DISPUTE_LASTS


def disputes(measured: Measured, recorded: Recorded, limits: Limits) -> Iterator[Finding]:
    """Never what was said: that may tell a score that somebody hides."""
    found = [each for each in recorded.disputes if lasting(each, measured, limits)]
    if not found:
        return
    first = min(found, key=lambda each: each.first_at)
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    feeds = " and ".join(sorted(first.said)) or "Feeds"
    what = f"{feeds} disagree on the {first.field} of {first.home} – {first.away}{more}"
    advice = f"{first.chosen} is believed. If it is wrong, switch it off, or change the precedence of the feeds."
    yield Finding("dispute", Grade.DEGRADED, what, first.first_at, advice, "feeds", None, first.fixture_id)


def doubts(recorded: Recorded) -> Iterator[Finding]:
    if recorded.doubts:
        number = len(recorded.doubts)
        what = "1 pairing is in doubt" if number == 1 else f"{number} pairings are in doubt"
        since = min(each.first_seen for each in recorded.doubts)
        advice = "Say below whether they are the same match; until then only one feed follows it."
        yield Finding("pairings", Grade.DEGRADED, what, since, advice, "pairings")
