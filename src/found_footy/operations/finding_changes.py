"""When a finding of the operations page is announced, and when its end is: once each, however often it is measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from found_footy.operations.models import Finding, SystemGrade


class FindingState(StrEnum):
    """Second part of the topic of an announcement."""

    FAILED = "failed"
    DEGRADED = "degraded"
    ENDED = "ended"


OUTAGE_KINDS = frozenset({"engine_database", "engine_temporal", "engine_cache"})
"""While one of these engines is away, other problems cannot be seen, so none of them counts as ended."""


@dataclass(frozen=True, slots=True)
class FindingRules:
    begins_after: timedelta = timedelta(seconds=60)
    """How long a finding lasts before it is announced: a blip is not worth a message."""
    ends_after: timedelta = timedelta(seconds=120)
    """How long it is absent before its end is announced."""


@dataclass(frozen=True, slots=True)
class TrackedFinding:
    """A finding from its first sight until its end is announced."""

    finding: Finding
    first_seen: datetime
    last_seen: datetime
    announced: SystemGrade | None = None
    """Worst grade that was announced."""


@dataclass(frozen=True, slots=True)
class FindingChange:
    state: FindingState
    finding: Finding


@dataclass(frozen=True, slots=True)
class FindingUpdate:
    tracked: tuple[TrackedFinding, ...] = ()
    """All findings to remember. Those no longer listed are forgotten."""
    changes: tuple[FindingChange, ...] = ()


def track_findings(
    known: Iterable[TrackedFinding], seen: Sequence[Finding], now: datetime, rules: FindingRules
) -> FindingUpdate:
    """Compare what is listed now with what is known. Worsening is announced at once, improvement only by the end."""
    before = {each.finding.key: each for each in known}
    # Failures first: of two with one key, the worse one counts.
    current = {each.key: each for each in sorted(seen, key=lambda each: each.grade is SystemGrade.FAILED)}
    is_blind = any(each.kind in OUTAGE_KINDS for each in seen)
    tracked, changes = [], []
    for key, finding in current.items():
        old = before.get(key)
        entry = replace(old, finding=finding, last_seen=now) if old else TrackedFinding(finding, now, now)
        is_due = entry.announced is not None or now - entry.first_seen >= rules.begins_after
        if is_due and entry.announced in (None, SystemGrade.DEGRADED) and entry.announced is not finding.grade:
            changes.append(FindingChange(FindingState(finding.grade), finding))
            entry = replace(entry, announced=finding.grade)
        tracked.append(entry)
    for key, old in before.items():
        if key in current:
            continue
        if is_blind and old.finding.kind not in OUTAGE_KINDS:
            tracked.append(replace(old, last_seen=now))
        elif old.announced is None:
            continue
        elif now - old.last_seen >= rules.ends_after:
            changes.append(FindingChange(FindingState.ENDED, old.finding))
        else:
            tracked.append(old)
    return FindingUpdate(tuple(tracked), tuple(changes))
