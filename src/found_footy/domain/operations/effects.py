"""Matches that are not polled, goals that stand still, sources and subscribers that do not answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from found_footy.domain.operations.feed_causes import poll_pace
from found_footy.domain.operations.findings import Finding, Grade, Limits
from found_footy.domain.operations.measured import GoalInWork, LiveMatch, Measured, Recorded

POLLS_MISSED = 3
"""So many intervals without a poll are too many."""
LEAST_PATIENCE = timedelta(seconds=10)
SOURCE_FAILURES = 3
DELIVERY_PATIENCE = timedelta(minutes=10)
NEWS_BEHIND = 1000
MOST_GOALS = 5
"""Named one by one; beyond that, they are counted."""


def poll_limit(measured: Measured, limits: Limits) -> timedelta:
    """The age at which the last poll of a live match is too old."""
    allowed = poll_pace(measured, limits)
    return max(LEAST_PATIENCE, POLLS_MISSED * max(limits.poll, allowed.interval or limits.poll))


def polls(measured: Measured, limits: Limits) -> Iterator[Finding]:
    assert measured.recorded is not None
    limit = poll_limit(measured, limits)
    late = [match for match in measured.recorded.matches if measured.at - match.since > limit]
    yield from _refused([match for match in measured.recorded.matches if match.error_kind and match not in late])
    if not late:
        return
    oldest = min(match.since for match in late)
    if len(late) == 1:
        what = f"{late[0].home} – {late[0].away} is not polled{_reason(late[0])}"
    else:
        what = f"{len(late)} of {len(measured.recorded.matches)} live matches are not polled{_reason(late[0])}"
    advice = "The workers' log says why: look for `poll_failed` and `monitor`."
    yield Finding("polls", Grade.FAILED, what, oldest, advice, "matches")


def _refused(matches: Sequence[LiveMatch]) -> Iterator[Finding]:
    if matches:
        more = f", and {len(matches) - 1} more" if len(matches) > 1 else ""
        what = f"The last poll of {matches[0].home} – {matches[0].away}{more} failed{_reason(matches[0])}"
        advice = "The next poll tries again; if it goes on, the workers' log has `poll_failed` with more."
        yield Finding("poll_refused", Grade.DEGRADED, what, min(each.since for each in matches), advice, "matches")


def _reason(match: LiveMatch) -> str:
    return f": {match.error_kind}: {match.error_message}" if match.error_kind else ""


def goals_in_work(goals: Sequence[GoalInWork], now: datetime, limits: Limits) -> Iterator[Finding]:
    late_start = max(LEAST_PATIENCE, POLLS_MISSED * limits.poll)
    yield from _each(
        [goal for goal in goals if goal.stable_at is not None and not goal.begun and now - goal.stable_at > late_start],
        "goal_not_begun",
        Grade.FAILED,
        lambda goal: f"The search for {_named(goal)} has not begun",
        "The next poll starts it; if it does not, look for `search` in the workers' log.",
    )
    yield from _each(
        [goal for goal in goals if goal.begun and now - goal.sign_of_life > limits.search_silence],
        "goal_silent",
        Grade.FAILED,
        lambda goal: f"The search for {_named(goal)} shows no sign of life",
        "The next poll starts it again; Temporal's page of the workflow says where it hangs.",
    )
    yield from _each(
        [goal for goal in goals if goal.unanswered >= SOURCE_FAILURES],
        "goal_unanswered",
        Grade.DEGRADED,
        lambda goal: f"No source answered the last {goal.unanswered} searches for {_named(goal)}",
        "See the sources below: each says what it failed with.",
    )


def _each(
    goals: Sequence[GoalInWork], kind: str, grade: Grade, words: Callable[[GoalInWork], str], advice: str
) -> Iterator[Finding]:
    for goal in goals[:MOST_GOALS]:
        since = goal.sign_of_life
        yield Finding(kind, grade, words(goal), since, advice, "goals", goal.event_id, goal.fixture_id)
    if len(goals) > MOST_GOALS:
        more = len(goals) - MOST_GOALS
        since = min(goal.sign_of_life for goal in goals[MOST_GOALS:])
        yield Finding(kind, grade, f"The same of {more} more goals", since, advice, "goals")


def _named(goal: GoalInWork) -> str:
    unknown = "the goal" if goal.innings is None else "the wicket"
    return f"{goal.player or unknown} {goal.moment} ({goal.home} – {goal.away})"


def sources(recorded: Recorded) -> Iterator[Finding]:
    used = recorded.sources
    failing = [each for each in used if each.failures_in_a_row >= SOURCE_FAILURES]
    all_fail = bool(used) and len(failing) == len(used)
    for each in failing:
        said = f": {each.error_kind}: {each.error_message}" if each.error_kind else ""
        what = f"{each.source} failed {each.failures_in_a_row} times in a row{said}"
        grade = Grade.FAILED if all_fail else Grade.DEGRADED
        yield Finding("source", grade, what, each.failing_since, source_advice(each.error_kind), "sources")


def source_advice(error_kind: str | None) -> str:
    return {
        "SourceLoggedOut": "Log in again: `footy browser login` for X, a new app password for Bluesky.",
        "SourceBlocked": "Set FOOTY_REDDIT_CLIENT_ID and _SECRET, or remove reddit from FOOTY_SOURCES.",
        "SourceRateLimited": "It passes by itself; fewer sources or a longer FOOTY_SEARCH_SECONDS help for good.",
        "SourceChanged": "The source changed its pages; look for a newer version.",
    }.get(error_kind or "", "`footy doctor` asks each source and says what to do.")


def deliveries(recorded: Recorded, now: datetime) -> Iterator[Finding]:
    sent = recorded.deliveries
    if sent.dead:
        letters = "message was given up" if sent.dead == 1 else "messages were given up"
        advice = "Correct the subscription's address and send the dead letters again, or delete it."
        yield Finding("dead_letters", Grade.DEGRADED, f"{sent.dead} {letters}", sent.dead_since, advice, "deliveries")
    if sent.overdue_since is not None and now - sent.overdue_since > DELIVERY_PATIENCE:
        waits = "message waits" if sent.waiting == 1 else "messages wait"
        what = f"{sent.waiting} {waits} for their subscribers"
        advice = "Do the receivers answer? Each subscription lists its attempts."
        yield Finding("deliveries_late", Grade.DEGRADED, what, sent.overdue_since, advice, "deliveries")


def news(measured: Measured, recorded: Recorded) -> Iterator[Finding]:
    if measured.news_read is not None and recorded.news - measured.news_read > NEWS_BEHIND:
        what = f"Live updates are {recorded.news - measured.news_read} messages behind"
        yield Finding(
            "news_behind", Grade.DEGRADED, what, None, "Restart `footy web`; nobody misses a message.", "engines"
        )


def failures(measured: Measured) -> Iterator[Finding]:
    failed = measured.temporal.failed if measured.temporal else 0
    if failed:
        what = f"{failed} workflow{'s' if failed > 1 else ''} ended badly in the last hour"
        advice = "Temporal's pages tell why; goals that were left are searched for again by themselves."
        yield Finding("workflows_failed", Grade.DEGRADED, what, None, advice, "engines")
