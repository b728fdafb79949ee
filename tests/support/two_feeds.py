"""Short ways to write what two feeds say of one match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from found_footy.feeds.models import FeedReport, FixtureIdentity, ReconciledFixture
from found_footy.feeds.reconcile import FeedGoals, merge_goals, reconcile
from found_footy.fixtures.comparison import compare
from found_footy.fixtures.models import (
    DebounceRules,
    EventDecision,
    KnownEvent,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    Poll,
    Side,
    Team,
)
from tests.support.football import AWAY, HOME, RULES, START, match, poll

OURS = FixtureIdentity(5000, HOME, AWAY)
PRECEDENCE = {"a": 90, "b": 50, "c": 20}


def named(text: str) -> LiveGoal:
    """`23 home Mohamed Salah`, `90+3 away ?`."""
    minute, side, name = text.split(maxsplit=2)
    elapsed, _, extra = minute.partition("+")
    person = Player() if name == "?" else Player(None, name)
    return LiveGoal(Side(side), MatchMinute(int(elapsed), int(extra) if extra else None), person)


def goal_list(feed: str, *goals: str, score: str | None = "") -> FeedGoals:
    live = match(*map(named, goals), score=score)
    return FeedGoals(feed, live.goals, live.score)


def goal_lines(goals: Sequence[LiveGoal]) -> list[str]:
    """`23 home Salah a b` for a goal that both feeds list."""
    return [f"{_minute(g.minute)} {g.side} {g.player.name or '?'} {' '.join(g.feeds)}" for g in goals]


def merge(*lists: FeedGoals) -> list[str]:
    return goal_lines(merge_goals(lists))


def _minute(minute: MatchMinute) -> str:
    return f"{minute.elapsed}+{minute.extra}" if minute.extra else str(minute.elapsed)


def feed_report(
    feed: str, live: LiveFixture, at: datetime = START, *, founding: bool | None = None, swapped: bool = False
) -> FeedReport:
    return FeedReport(
        feed, PRECEDENCE[feed], live, at, swapped=swapped, founding=feed == "a" if founding is None else founding
    )


def feed_answer(feed: str, *goals: str, score: str | None = "", status: str = "1H", minute: int = 45) -> LiveFixture:
    """An answer in the feed's own ids."""
    live = match(*map(named, goals), score=score, status=status, fixture_id=900)
    other = 0 if feed == "a" else 7000
    return replace(
        live,
        feed=feed,
        minute=MatchMinute(minute),
        home=Team(HOME.id + other, HOME.name),
        away=Team(AWAY.id + other, AWAY.name),
    )


class ReconcilingMonitor:
    """Hears one or more feeds at each poll, and remembers as the store does."""

    def __init__(self, rules: DebounceRules = RULES, vendors: Mapping[str, str] | None = None) -> None:
        self.rules = rules
        self.vendors = vendors or {}
        self.events: dict[str, KnownEvent] = {}
        self.last: Poll | None = None
        self.polls = 0
        self.decisions: list[EventDecision] = []
        self.reconciled: ReconciledFixture | None = None

    def poll(self, *answers: LiveFixture, times: int = 1) -> list[EventDecision]:
        for _ in range(times):
            self.polls += 1
            at = poll(self.polls)
            if not answers:
                return []
            words = [feed_report(answer.feed, answer, at.at) for answer in answers]
            words = [replace(word, vendor=self.vendors.get(word.feed, "")) for word in words]
            self.reconciled = reconcile(OURS, words)
            self.decisions = compare(self.reconciled.live, list(self.events.values()), at, self.rules, self.last)
            self.events |= {decision.event.id: decision.event for decision in self.decisions}
            self.last = at
        return self.decisions

    @property
    def not_removed(self) -> list[KnownEvent]:
        return [event for event in self.events.values() if not event.removed]

    @property
    def stable(self) -> list[str]:
        """What stands as certain, in words."""
        return [f"{event.minute.total} {event.side} {event.player.name}" for event in self.not_removed if event.stable]

    @property
    def ever_stable(self) -> list[KnownEvent]:
        return [event for event in self.events.values() if event.stable]


LATER = timedelta(seconds=30)
