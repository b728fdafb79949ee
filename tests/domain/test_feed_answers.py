"""When the feeds' grade rests on an answer, and when nothing is known."""

from __future__ import annotations

import pytest

from found_footy.domain.feeds.health_values import HealthGrade
from found_footy.domain.operations.feed_answers import missing_answers, shown_grade
from found_footy.domain.operations.feeds_measured import FeedUse
from tests.support.operations import NOW, a_summary, ago


def use(answered_hours: float | None, error: str | None = None, feed: str = "espn", asked_hours: float = 0) -> FeedUse:
    return FeedUse(
        feed, ago(hours=asked_hours), None if answered_hours is None else ago(hours=answered_hours), error, None
    )


@pytest.mark.parametrize(
    ("feeds", "following", "reason"),
    [
        ([], False, "no feed has answered yet; none has been asked so far"),
        ([], True, "no feed has answered yet; none has been asked so far"),
        ([use(None, "A: a")], False, "no feed has answered yet; last error: espn: A: a"),
        ([use(None, "A: a")], True, "no feed has answered yet; last error: espn: A: a"),
        (
            [use(None, "A: a", asked_hours=1), use(None, "B: b", "crex")],
            False,
            "no feed has answered yet; last error: crex: B: b",
        ),
        ([use(2, "A: a")], False, "no feed answers; last error: espn: A: a"),
        ([use(2, "A: a")], True, ""),  # the ages of the matches show it
        ([use(2, "A: a"), use(0, None, "crex")], False, ""),
        ([use(0)], False, ""),
        ([use(26)], False, ""),
        ([use(26.1)], False, "no feed has answered for 1 d"),
        ([use(26.1)], True, ""),
    ],
)
def test_why_nothing_is_known(feeds: list[FeedUse], following: bool, reason: str) -> None:
    assert missing_answers(feeds, NOW, following=following) == reason


@pytest.mark.parametrize(
    ("grade", "no_data", "shown"),
    [
        (None, "", "unknown"),
        (HealthGrade.HEALTHY, "", "healthy"),
        (HealthGrade.HEALTHY, "no feed answers", "unknown"),
        (HealthGrade.DEGRADED, "", "degraded"),
        (HealthGrade.DEGRADED, "no feed answers", "unknown"),
        (HealthGrade.FAILING, "no feed answers", "failing"),
        (HealthGrade.RECOVERING, "no feed answers", "recovering"),
    ],
)
def test_no_grade_claims_health_without_an_answer(grade: HealthGrade | None, no_data: str, shown: str) -> None:
    assert shown_grade(a_summary(grade) if grade else None, no_data) == shown
