"""The running system as a page shows it: words, and plots as numbers. Nothing here asks anybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import quote

from markupsafe import Markup, escape

from found_footy.domain.operations.causes import WORKER_SILENCE
from found_footy.domain.operations.effects import poll_limit
from found_footy.domain.operations.findings import Finding, Limits, Verdict, spoken
from found_footy.domain.operations.measured import GoalInWork, Hour, LiveMatch, Measured, TemporalState
from found_footy.web.answers.rendering import text
from found_footy.web.services import WebRules

MOST_MATCHES = 40
MOST_GOALS = 50
BANDS = 5
"""Classes of losses with a colour of their own; the rest share one."""
REST = "other classes"
LIMIT_AT = 50.0
"""Where the line of the limit stands, in a plot that is 100 wide: what is twice as old fills it."""

Hides = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class PollBar:
    match: str
    fixture_id: int
    age: str
    width: float
    late: bool
    problem: str


@dataclass(frozen=True, slots=True)
class GoalRow:
    event_id: str
    title: str
    match: str
    state: str
    standing: str
    posts: str
    began: str
    sign_of_life: str
    late: bool
    workflow_url: str | None


@dataclass(frozen=True, slots=True)
class WorkerRow:
    identity: str
    seen: str
    late: bool


@dataclass(frozen=True, slots=True)
class Segment:
    y: float
    height: float
    band: int


@dataclass(frozen=True, slots=True)
class Column:
    at: datetime
    x: float
    segments: tuple[Segment, ...]
    said: str


@dataclass(frozen=True, slots=True)
class Stack:
    """Bars on top of each other, in a picture that is 24 columns of 10 wide and 60 high."""

    names: tuple[str, ...]
    totals: tuple[int, ...]
    columns: tuple[Column, ...]
    highest: int
    """What a whole column stands for."""

    @property
    def total(self) -> int:
        return sum(self.totals)


def poll_bars(measured: Measured, limits: Limits) -> tuple[PollBar, ...]:
    """The oldest first."""
    matches = measured.recorded.matches if measured.recorded else ()
    limit = poll_limit(measured, limits)
    ordered = sorted(matches, key=lambda match: (match.since, match.fixture_id))
    return tuple(_poll_bar(match, measured.at, limit) for match in ordered[:MOST_MATCHES])


def _poll_bar(match: LiveMatch, now: datetime, limit: timedelta) -> PollBar:
    age = max(timedelta(0), now - match.since)
    problem = f"{match.error_kind}: {match.error_message}" if match.error_kind else ""
    said = spoken(age) if match.polled_at else "not yet"
    width = min(100.0, round(LIMIT_AT * (age / limit), 1))
    return PollBar(f"{match.home} – {match.away}", match.fixture_id, said, width, age > limit, problem)


def goal_rows(measured: Measured, rules: WebRules, limits: Limits, hides: Hides) -> tuple[GoalRow, ...]:
    goals = measured.recorded.goals if measured.recorded else ()
    shown = [goal for goal in goals if not hides(goal.fixture_id)]
    return tuple(_goal_row(goal, measured.at, rules, limits) for goal in shown[:MOST_GOALS])


def _goal_row(goal: GoalInWork, now: datetime, rules: WebRules, limits: Limits) -> GoalRow:
    quiet = now - goal.sign_of_life
    return GoalRow(
        goal.event_id,
        f"{goal.player or 'Unknown'} {goal.moment}",
        f"{goal.home} – {goal.away}",
        goal.status,
        standing(goal, rules),
        posts_in_words(goal.states),
        spoken(now - goal.first_seen),
        spoken(quiet),
        goal.stable_at is not None and quiet > limits.search_silence,
        workflow_url(rules, f"search-{goal.event_id}") if goal.begun else None,
    )


def standing(goal: GoalInWork, rules: WebRules) -> str:
    if goal.status == "validating":
        return f"seen {goal.seen}/{rules.debounce_polls}"
    if not goal.begun:
        return "search to begin"
    return f"search {goal.attempts}/{rules.search_attempts}"


_POST_WORDS = ("waiting", "downloading", "checking", "kept", "duplicate", "lost")


def posts_in_words(states: Mapping[str, int]) -> str:
    return " · ".join(f"{states[name]} {name}" for name in _POST_WORDS if states.get(name)) or "no posts yet"


def workflow_url(rules: WebRules, workflow_id: str) -> str | None:
    """Temporal's own page; None where its address is not known."""
    if rules.temporal_ui_url is None:
        return None
    base = rules.temporal_ui_url.rstrip("/")
    return f"{base}/namespaces/{quote(rules.temporal_namespace, safe='')}/workflows/{quote(workflow_id, safe='')}"


def worker_rows(temporal: TemporalState, now: datetime) -> tuple[WorkerRow, ...]:
    """Each worker once, though it takes work from both queues."""
    seen: dict[str, datetime] = {}
    for queue in temporal.queues:
        for worker in queue.workers:
            seen[worker.identity] = max(worker.seen_at, seen.get(worker.identity, worker.seen_at))
    return tuple(WorkerRow(name, spoken(now - at), now - at > WORKER_SILENCE) for name, at in sorted(seen.items()))


def with_code(said: str) -> Markup:
    """What stands between backticks is something to type."""
    parts = text(said, 600).split("`")
    return Markup().join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


def search_stack(hours: Sequence[Hour]) -> Stack:
    return _stack(hours, ("answered", "failed"), lambda hour: (hour.answered, hour.failed))


def loss_stack(hours: Sequence[Hour]) -> Stack:
    """The most frequent classes, each by itself."""
    totals: Counter[str] = Counter()
    for hour in hours:
        totals.update(hour.losses)
    ordered = sorted(totals, key=lambda name: (-totals[name], name))
    named, rest = ordered[:BANDS], ordered[BANDS:]
    if len(rest) == 1:
        named, rest = ordered, []
    names = (*named, REST) if rest else tuple(named)

    def parts(hour: Hour) -> tuple[int, ...]:
        counts = tuple(hour.losses.get(name, 0) for name in named)
        return (*counts, sum(hour.losses.get(name, 0) for name in rest)) if rest else counts

    return _stack(hours, names, parts)


def _stack(hours: Sequence[Hour], names: Sequence[str], parts: Callable[[Hour], tuple[int, ...]]) -> Stack:
    values = [parts(hour) for hour in hours]
    highest = round_up(max((sum(each) for each in values), default=0))
    columns = []
    for number, (hour, counts) in enumerate(zip(hours, values, strict=True)):
        top, segments = 60.0, []
        for band, count in enumerate(counts):
            height = round(60.0 * count / highest, 2)
            if height:
                top = round(top - height, 2)
                segments.append(Segment(top, height, band))
        said = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True) if count) or "none"
        columns.append(Column(hour.at, number * 10.0, tuple(segments), said))
    totals = tuple(sum(each[band] for each in values) for band in range(len(names)))
    return Stack(tuple(names), totals, tuple(columns), highest)


def round_up(number: int) -> int:
    """To the next 1, 2 or 5 with zeros, so that the plot does not jump with each search."""
    size = 1
    while True:
        for step in (1, 2, 5):
            if number <= step * size and step * size >= 5:
                return step * size
        size *= 10


def without_hidden(verdict: Verdict, hides: Hides) -> Verdict:
    """Nothing of a goal whose match is hidden, but that something is wrong."""
    return replace(verdict, findings=tuple(_veiled(finding, hides) for finding in verdict.findings))


def _veiled(finding: Finding, hides: Hides) -> Finding:
    if finding.event_id is None or finding.fixture_id is None or not hides(finding.fixture_id):
        return finding
    return replace(finding, what="Something is wrong in a match that you hide", event_id=None)
