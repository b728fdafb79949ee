"""Reconciles the reports of several feeds into one fixture, field by field, with provenance and conflicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from found_footy.feeds.alignment import align_to_fixture
from found_footy.feeds.models import (
    MIN_CONFIDENCE,
    FeedConflict,
    FeedReport,
    FieldProvenance,
    FieldReport,
    FixtureIdentity,
    MonitoredFixture,
    ReconciledFixture,
)
from found_footy.fixtures.identity import (
    OTHER_FEED_MINUTES,
    Costs,
    cheapest_pairs,
    minutes_apart,
    mismatch_cost,
    order_goals,
)
from found_footy.fixtures.models import (
    PHASES,
    Innings,
    Kind,
    League,
    LiveFixture,
    LiveGoal,
    Phase,
    Player,
    PollEvidence,
    Score,
    Side,
    Toss,
    WicketKind,
)
from found_footy.fixtures.players import same_player

MAX_RUNS_DIFFERENCE = 0.05
"""Tolerated difference, as a share of the larger number: runs change every minute, and feeds update at different
seconds.
"""


@dataclass(frozen=True, slots=True)
class AlignedReport:
    """One feed's report, aligned with the fixture."""

    feed: str
    at: datetime
    live: LiveFixture
    vendor: str = ""

    def confidence(self, *names: str) -> float:
        """Return the parser's confidence in a field, under the first of its names that has one."""
        stated = self.live.confidence
        return next((stated[name] for name in names if name in stated), 1.0) if stated else 1.0

    def trusts(self, *names: str) -> bool:
        return not self.live.confidence or self.confidence(*names) >= MIN_CONFIDENCE


def find_conflicts(reports: Sequence[AlignedReport]) -> tuple[FeedConflict, ...]:
    """Find conflicts between reports, which are in order of precedence."""
    found = [
        _find_conflict("status", reports, lambda live: live.status, _is_over),
        _find_conflict("score", reports, lambda live: None if live.score is None else str(live.score), str),
        *_innings(reports),
    ]
    return tuple(each for each in found if each is not None)


def _is_over(status: str) -> bool | None:
    phase = PHASES.get(status)
    return None if phase is None else phase.is_over


def _find_conflict(
    field: str, reports: Sequence[AlignedReport], value: Callable[[LiveFixture], Any], key: Callable[[Any], Hashable]
) -> FeedConflict | None:
    values = {report.feed: value(report.live) for report in reports if report.trusts(field)}
    values = {feed: each for feed, each in values.items() if each is not None and key(each) is not None}
    if len({key(each) for each in values.values()}) < 2:
        return None
    return FeedConflict(field, values, next(iter(values)))


def _innings(reports: Sequence[AlignedReport]) -> list[FeedConflict]:
    trusted = [report for report in reports if report.trusts("innings")]
    numbers = sorted({innings.number for report in trusted for innings in report.live.innings})
    conflicts: list[FeedConflict] = []
    for number in numbers:
        values = {
            report.feed: innings
            for report in trusted
            if (innings := _innings_by_number(report.live, number)) is not None
        }
        runs = {feed: innings.runs for feed, innings in values.items()}
        wickets = {feed: innings.wickets for feed, innings in values.items()}
        if runs_differ(list(runs.values())):
            conflicts.append(FeedConflict(f"innings.{number}.runs", runs, next(iter(runs))))
        if len(set(wickets.values())) > 1:
            conflicts.append(FeedConflict(f"innings.{number}.wickets", wickets, next(iter(wickets))))
    return conflicts


def _innings_by_number(live: LiveFixture, number: int) -> Innings | None:
    return next((innings for innings in live.innings if innings.number == number), None)


def runs_differ(runs: Sequence[int]) -> bool:
    return bool(runs) and max(runs) - min(runs) > MAX_RUNS_DIFFERENCE * max(runs)


# --- Merge the goal lists of several feeds; wickets are treated as goals.


SAME_GOAL_MINUTES = 2
MAX_GOALS = 100
"""Maximum goals per feed, to bound the comparison; a match has far fewer."""


@dataclass(frozen=True, slots=True)
class FeedGoals:
    """One feed's goals, in fixture ids."""

    feed: str
    goals: tuple[LiveGoal, ...]
    score: Score | None
    vendor: str = ""
    """Vendor behind the feed; empty if it is the feed itself."""


@dataclass(frozen=True, slots=True)
class _GoalReport:
    listed: FeedGoals
    goal: LiveGoal


_GoalReports = list[_GoalReport]
"""Reports of one goal, by precedence of the feed."""


def merge_goals(lists: Sequence[FeedGoals], minutes: int = SAME_GOAL_MINUTES) -> tuple[LiveGoal, ...]:
    """Return the goals in order of play, each with its feeds. `lists` is in order of precedence."""
    if not lists:
        return ()
    first, *others = lists
    merged = [[_GoalReport(first, goal)] for goal in _goals(first)]
    for listed in others:
        _merge_list(merged, listed, minutes)
    return tuple(_merged_goal(reports) for reports in merged)


def _goals(listed: FeedGoals) -> list[LiveGoal]:
    return order_goals(listed.goals, listed.score)[:MAX_GOALS]


def _merge_list(merged: list[_GoalReports], listed: FeedGoals, minutes: int) -> None:
    goals = _goals(listed)
    pairs = cheapest_pairs(_mismatch_costs(merged, goals, minutes))
    paired: dict[int, _GoalReports] = {g: merged[p] for g, p in pairs.items()}
    for g, reports in paired.items():
        reports.append(_GoalReport(listed, goals[g]))
    per_side = Counter(reports[0].goal.side for reports in merged)
    for g, goal in enumerate(goals):
        if g in paired or per_side[goal.side] >= _side_score(listed, goals, goal.side):
            continue
        reports = [_GoalReport(listed, goal)]
        merged.insert(_insert_position(merged, paired, g, goal), reports)
        paired[g] = reports
        per_side[goal.side] += 1


def _side_score(listed: FeedGoals, goals: Sequence[LiveGoal], side: Side) -> int:
    if listed.score is not None:
        return listed.score.of(side)
    return sum(goal.side is side for goal in goals)


def _mismatch_costs(merged: Sequence[_GoalReports], goals: Sequence[LiveGoal], minutes: int) -> Costs:
    costs: Costs = {}
    numbers = _ordinals([reports[0].goal for reports in merged])
    for g, (goal, number) in enumerate(zip(goals, _ordinals(goals), strict=True)):
        for p, reports in enumerate(merged):
            pair_costs = [
                cost
                for report in reports
                if (cost := _mismatch_cost(report.goal, goal, minutes, same_score=numbers[p] == number)) is not None
            ]
            if pair_costs:
                costs.setdefault(g, {})[p] = min(pair_costs)
    return costs


def _ordinals(goals: Sequence[LiveGoal]) -> list[int]:
    """Return the ordinal of each goal among those of its side."""
    seen: Counter[Side] = Counter()
    numbers = []
    for goal in goals:
        seen[goal.side] += 1
        numbers.append(seen[goal.side])
    return numbers


def _mismatch_cost(a: LiveGoal, b: LiveGoal, minutes: int, *, same_score: bool) -> float | None:
    if a.side is not b.side or a.type != b.type:
        return None
    drift = minutes_apart(a.minute, b.minute)
    if drift > max(minutes, OTHER_FEED_MINUTES):
        return None
    same_scorer = same_score and same_player(a.player, b.player)
    return mismatch_cost(
        drift, a.player, b.player, same_score=same_score, tolerance=OTHER_FEED_MINUTES if same_scorer else minutes
    )


def _insert_position(
    merged: Sequence[_GoalReports], paired: dict[int, _GoalReports], number: int, goal: LiveGoal
) -> int:
    """Return the index that keeps the feed's order of goals; within it, goals are sorted by minute."""
    index = {id(reports): position for position, reports in enumerate(merged)}
    positions = {g: index[id(reports)] for g, reports in paired.items()}
    position = max((at + 1 for g, at in positions.items() if g < number), default=0)
    end = min((at for g, at in positions.items() if g > number), default=len(merged))
    while position < end and merged[position][0].goal.minute.order <= goal.minute.order:
        position += 1
    return position


def _merged_goal(reports: _GoalReports) -> LiveGoal:
    first = reports[0].goal
    return LiveGoal(
        side=first.side,
        minute=first.minute,
        player=_merged_player([report.goal.player for report in reports]),
        kind=_merged_kind([report.goal.kind for report in reports]),
        assist=_merged_player([report.goal.assist for report in reports]),
        type=first.type,
        feeds=tuple(sorted(report.listed.feed for report in reports)),
        vendors=tuple(sorted({report.listed.vendor or report.listed.feed for report in reports})),
    )


def _merged_player(players: Sequence[Player]) -> Player:
    """Return the first known player, if necessary with the id that another feed has for the same name."""
    if len(players) == 1:
        return players[0]
    known = [person for person in players if person.known]
    if not known:
        return Player()
    first = known[0]
    if first.id is not None:
        return first
    return next((person for person in known if person.id is not None and same_player(first, person)), first)


def _merged_kind(kinds: Sequence[Kind]) -> Kind:
    return next((kind for kind in kinds if kind is not WicketKind.OTHER), kinds[0])


# --- Short text forms of fields, for comparing feeds.


MAX_FORMATTED_GOALS = 60
"""Maximum goals in the text; more would be an error of the feed."""


def format_league(league: League) -> str:
    return " · ".join(part for part in (league.country, league.name, league.round) if part)


def format_toss(match: FixtureIdentity) -> Callable[[Toss], str]:
    return lambda toss: f"{_team(match, toss.winner)}: {toss.decision}"


def format_innings(match: FixtureIdentity) -> Callable[[Sequence[Innings]], list[str]]:
    return lambda played: [
        f"{_team(match, each.batting)} {each.runs}/{each.wickets} ({each.overs}.{each.balls} ov)" for each in played
    ]


def format_goals(goals: Sequence[LiveGoal]) -> list[str]:
    score = Score(0, 0)
    lines = []
    for goal in goals[:MAX_FORMATTED_GOALS]:
        score = score.plus(goal.side)
        lines.append(" ".join(part for part in (str(score), str(goal.minute), goal.player.name) if part))
    return lines


def _team(match: FixtureIdentity, side: Side) -> str:
    return match.home.name if side is Side.HOME else match.away.name


# --- Reconcile the reports of several feeds field by field, with provenance.


ReadField = Callable[[LiveFixture], Any]
FormatField = Callable[[Any], Any]


def reconcile(
    match: FixtureIdentity, feed_reports: Sequence[FeedReport], since: datetime | None = None
) -> ReconciledFixture:
    """`feed_reports` holds one report per feed, and at least one. Only reports after `since` count as new.

    Older reports still contribute values, but confirm neither a goal nor its removal.
    """
    ranked = sorted(feed_reports, key=lambda each: (-each.precedence, -each.at.timestamp(), each.feed))
    reports = [AlignedReport(each.feed, each.at, align_to_fixture(match, each), each.vendor) for each in ranked]
    founder = next((each for each in ranked if each.founding), ranked[0])
    new = {each.feed for each in ranked if since is None or each.at > since}
    fields = _Fields(reports)

    status = fields.take("status", lambda live: live.status if live.status in PHASES else None)
    if status is None:
        # No feed has a known status: keep the raw one, for the error that its consumers raise.
        status = reports[0].live.status
    goals = merge_goals([FeedGoals(r.feed, r.live.goals, _score(r), r.vendor) for r in reports if r.trusts("goals")])
    fields.take("goals", lambda live: order_goals(live.goals, live.score), format_goals)
    live = replace(
        reports[0].live,
        feed=founder.feed,
        status=status,
        kickoff=fields.take("kickoff", lambda live: live.kickoff, lambda at: at.isoformat()) or reports[0].live.kickoff,
        league=_league(fields, founder),
        home=replace(match.home, short=match.home.short or fields.first(lambda live: live.home.short)),
        away=replace(match.away, short=match.away.short or fields.first(lambda live: live.away.short)),
        score=fields.take("score", lambda live: live.score, str),
        penalties=fields.take("penalties", lambda live: live.penalties, str),
        minute=fields.take("minute", _read_minute(PHASES.get(status)), str),
        goals=tuple(goal if new & set(goal.feeds) else replace(goal, confirmed=False) for goal in goals),
        innings=fields.take("innings", lambda live: live.innings or None, format_innings(match)) or (),
        toss=fields.take("toss", lambda live: live.toss, format_toss(match)),
        venue=fields.take("venue", lambda live: live.venue or None),
        last_event=fields.take("last_event", lambda live: live.last_event, lambda event: event.description),
        metadata=_metadata(fields),
        confidence={},
        evidence=PollEvidence(tuple(sorted(new)), _highest_score(reports)),
    )
    return ReconciledFixture(live, fields.provenance, find_conflicts(reports))


class _Fields:
    """Chooses the value of each field and records its provenance."""

    def __init__(self, reports: Sequence[AlignedReport]) -> None:
        self._reports = reports
        self.provenance: dict[str, FieldProvenance] = {}

    @property
    def reports(self) -> Sequence[AlignedReport]:
        return self._reports

    def take(self, name: str, read: ReadField, format_value: FormatField = lambda value: value, *others: str) -> Any:
        """Return the chosen value or None. `others` are alternative field names in the parser's confidence."""
        found: list[FieldReport] = []
        chosen = None
        for report in self._reports:
            if not report.trusts(name, *others) or (value := read(report.live)) is None:
                continue
            if not found:
                chosen = value
            found.append(FieldReport(report.feed, format_value(value), report.at, report.confidence(name, *others)))
        if found:
            self.provenance[name] = FieldProvenance(found[0], tuple(found[1:]))
        return chosen

    def first(self, read: ReadField) -> Any:
        return next((value for report in self._reports if (value := read(report.live))), None)


def _read_minute(phase: Phase | None) -> ReadField:
    """Read the minute only if it belongs to the same phase: minute 88 is not shown with `FT`."""
    return lambda live: live.minute if PHASES.get(live.status) is phase else None


def _score(report: AlignedReport) -> Score | None:
    return report.live.score if report.trusts("score") else None


def _highest_score(reports: Sequence[AlignedReport]) -> Score | None:
    scores = [score for report in reports if (score := _score(report)) is not None]
    return Score(max(s.home for s in scores), max(s.away for s in scores)) if scores else None


def _league(fields: _Fields, founder: FeedReport) -> Any:
    """The league id belongs to the feed that created the fixture, so its league is always chosen."""
    fields.take("league", lambda live: live.league, format_league)
    if "league" in fields.provenance:
        origin = fields.provenance["league"]
        chosen, *rest = sorted((origin.chosen, *origin.others), key=lambda report: report.feed != founder.feed)
        fields.provenance["league"] = FieldProvenance(chosen, tuple(rest))
    return founder.live.league


def _metadata(fields: _Fields) -> dict[str, str]:
    keys = dict.fromkeys(key for report in fields.reports for key in report.live.metadata)
    chosen = {key: fields.take(f"metadata.{key}", _read_metadata(key), str, key, "metadata") for key in keys}
    return {key: value for key, value in chosen.items() if value is not None}


def _read_metadata(key: str) -> ReadField:
    return lambda live: live.metadata.get(key) or None


# --- Fixtures with their reports.


@dataclass(frozen=True, slots=True)
class FixtureReports:
    """A fixture with the reports of all feeds that have a fresh answer; at least one."""

    match: MonitoredFixture
    reports: tuple[FeedReport, ...]

    @property
    def newest_at(self) -> datetime:
        return max(report.at for report in self.reports)

    def is_newer_than(self, since: datetime | None) -> bool:
        return since is None or self.newest_at > since

    def reconciled(self, since: datetime | None) -> ReconciledFixture:
        """Goals reported only by feeds without a new answer count as present but do not advance the debounce."""
        match = self.match
        return reconcile(FixtureIdentity(match.id, match.home, match.away), self.reports, since)

    def in_staging(self, since: datetime | None) -> ReconciledFixture:
        """Return the fixture with teams and league of its founding feed: names may change before kick-off."""
        found = self.reconciled(since)
        founder = next((report.live for report in self.reports if report.founding), None)
        if founder is None:
            return replace(found, live=replace(found.live, league=self.match.league))
        return replace(found, live=replace(found.live, home=founder.home, away=founder.away, league=founder.league))
