"""Short ways to write matches and goals in tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from found_footy.fixtures.comparison import compare
from found_footy.fixtures.models import (
    DebounceRules,
    EventDecision,
    GoalKind,
    KnownEvent,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    Poll,
    Score,
    Side,
    Team,
)

START = datetime(2026, 8, 22, 14, 0, tzinfo=UTC)
RULES = DebounceRules()
HOME, AWAY = Team(40, "Liverpool"), Team(50, "Manchester City")


def poll(number: int) -> Poll:
    return Poll(f"monitor-{number}", START + timedelta(seconds=30 * number))


def goal(text: str, kind: GoalKind = GoalKind.NORMAL) -> LiveGoal:
    """`23 home 7` is a goal of the home side by player 7 in minute 23; `90+3 away ?` has no scorer yet."""
    minute, side, player = text.split()
    elapsed, _, extra = minute.partition("+")
    person = Player() if player == "?" else Player(int(player), f"Player {player}")
    return LiveGoal(Side(side), MatchMinute(int(elapsed), int(extra) if extra else None), person, kind)


def match(*goals: LiveGoal | str, score: str | None = "", status: str = "1H", fixture_id: int = 5000) -> LiveFixture:
    """An answer of the feed; its score is that of its goals unless another one is given."""
    listed = tuple(goal(each) if isinstance(each, str) else each for each in goals)
    if score == "":
        total: Score | None = Score(0, 0)
        for each in listed:
            assert total is not None
            total = total.plus(each.side)
    else:
        total = None if score is None else Score(*(int(part) for part in score.split("-")))
    return LiveFixture(
        id=fixture_id,
        feed="test",
        status=status,
        kickoff=START,
        league=League(39, "Premier League"),
        home=HOME,
        away=AWAY,
        score=total,
        minute=MatchMinute(45),
        goals=listed,
    )


class MatchMonitor:
    """Polls a match and remembers, as the store does."""

    def __init__(self, rules: DebounceRules = RULES) -> None:
        self.rules = rules
        self.events: dict[str, KnownEvent] = {}
        self.last: Poll | None = None
        self.polls = 0

    def poll(self, *goals: LiveGoal | str, score: str | None = "", times: int = 1) -> list[EventDecision]:
        """The decisions of the last of so many polls with this answer."""
        decisions: list[EventDecision] = []
        for _ in range(times):
            self.polls += 1
            decisions = self.apply(match(*goals, score=score), poll(self.polls))
        return decisions

    def apply(self, answer: LiveFixture, at: Poll) -> list[EventDecision]:
        decisions = compare(answer, list(self.events.values()), at, self.rules, self.last)
        for decision in decisions:
            self.events[decision.event.id] = decision.event
        if self.last is None or at.at > self.last.at:
            self.last = at
        return decisions

    @property
    def stable(self) -> list[KnownEvent]:
        return [event for event in self.events.values() if event.stable and not event.removed]

    @property
    def removed(self) -> list[KnownEvent]:
        return [event for event in self.events.values() if event.removed]

    def ids(self, events: Sequence[KnownEvent] | None = None) -> list[str]:
        chosen = list(self.events.values()) if events is None else events
        return [event.id for event in chosen]


def complete(event: KnownEvent) -> KnownEvent:
    return replace(event, monitor_complete=True, download_complete=True)
