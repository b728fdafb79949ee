"""Whether the feeds' grade rests on an answer. A system that polls nothing looks fresh, also if no feed answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from found_footy.domain.feeds.health_values import HealthGrade, HealthSummary
from found_footy.domain.operations.feeds_measured import FeedUse
from found_footy.domain.operations.findings import spoken

UNKNOWN = "unknown"
MAX_ANSWER_AGE = timedelta(hours=26)
"""The daily ingest asks every feed; two hours are for its retries."""
UNPROVEN = frozenset({HealthGrade.HEALTHY, HealthGrade.DEGRADED})
"""Grades that claim something works, and need an answer as evidence."""


def missing_answers(feeds: Sequence[FeedUse], now: datetime, *, following: bool) -> str:
    """Why nothing is known of the matches; empty if the feeds answer.

    `feeds` are those that are switched on and have what they need. `following`: matches are polled at every cycle, so
    their ages show whether the feeds answer. Otherwise the daily ingest is the only evidence.
    """
    failing = [feed for feed in feeds if feed.error]
    last = max(failing, key=lambda feed: feed.asked_at, default=None)
    error = f"; last error: {last.feed}: {last.error}" if last else ""
    answered = [feed.answered_at for feed in feeds if feed.answered_at is not None]
    if not answered:
        return f"no feed has answered yet{error or '; none has been asked so far'}"
    if following:
        return ""
    if len(failing) == len(feeds):
        return f"no feed answers{error}"
    age = now - max(answered)
    return f"no feed has answered for {spoken(age)}" if age > MAX_ANSWER_AGE else ""


def shown_grade(judged: HealthSummary | None, no_data: str) -> str:
    """The grade for people and programs: that of the watchdog, if somebody judges and there is something to judge."""
    if judged is None or (no_data and judged.grade in UNPROVEN):
        return UNKNOWN
    return str(judged.grade)
