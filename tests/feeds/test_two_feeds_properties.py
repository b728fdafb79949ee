"""Two feeds with different delays, one of which dies and lies: no goal is lost, doubled or invented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from found_footy.fixtures.identity import order_goals
from found_footy.fixtures.models import KnownEvent, LiveFixture, Side
from found_footy.text import word_set
from tests.fixtures.test_comparison_properties import answers
from tests.support.football import RULES
from tests.support.two_feeds import ReconcilingMonitor, feed_answer

FAMILIES = sorted(
    word_set(
        "Adams Baker Clark Davies Evans Foster Graham Harris Irving Jones Keller Lewis Morgan Norton Oliver Parker "
        "Quinn Roberts Stewart Turner Underwood Vaughan Walker Xavier Young Zimmer Anders Borg Carlsen Dahl Eriksen"
    )
)
POLLS_A_MINUTE = 2
LATEST = 8
"""Polls that a feed may be behind."""
HONEST = 5
"""Polls between two lies; who lies all the time is believed."""


@dataclass(frozen=True)
class Truth:
    minute: int
    goals: tuple[str, ...]
    """`12 home Adams`."""


class TwoFeeds(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.both, self.first_alone = ReconcilingMonitor(), ReconcilingMonitor()
        self.goals: list[str] = []
        self.cancelled: set[str] = set()
        self.renamed: set[str] = set()
        """Moments of goals that a feed once gave to another player."""
        self.scored = 0
        self.past: list[Truth] = []
        self.behind = {"a": 0, "b": 0}
        self.alive = {"a": True, "b": True}
        self.since_lie = HONEST

    @initialize(a=st.integers(0, LATEST), b=st.integers(0, LATEST))
    def each_has_its_delay(self, a: int, b: int) -> None:
        self.behind = {"a": a, "b": b}

    @property
    def minute(self) -> int:
        # A goal that follows a cancelled one of the same score within two minutes is that goal, by the rules.
        return 1 + len(self.past) // POLLS_A_MINUTE + 3 * len(self.cancelled)

    def answer(self, feed: str) -> LiveFixture:
        at = max(0, len(self.past) - 1 - self.behind[feed])
        return self.told(feed, self.past[at])

    def told(self, feed: str, truth: Truth) -> LiveFixture:
        full = "John" if feed == "a" else "J."
        goals = [" ".join([*goal.split()[:2], full, goal.split()[2]]) for goal in truth.goals]
        return feed_answer(feed, *goals, minute=truth.minute, status="2H")

    def poll(self, **lies: LiveFixture) -> None:
        self.past.append(Truth(self.minute, tuple(self.goals)))
        self.since_lie += 1
        answers = {feed: lies.get(feed) or self.answer(feed) for feed, alive in self.alive.items() if alive}
        self.both.poll(*answers.values())
        if "a" in answers:
            self.first_alone.poll(answers["a"])

    @rule(times=st.integers(1, 6))
    def polls(self, times: int) -> None:
        for _ in range(times):
            self.poll()

    @precondition(lambda self: self.scored < len(FAMILIES))
    @rule(side=st.sampled_from(Side))
    def a_goal(self, side: Side) -> None:
        self.goals.append(f"{self.minute} {side} {FAMILIES[self.scored]}")
        self.scored += 1
        self.poll()

    @precondition(lambda self: self.goals)
    @rule()
    def the_last_goal_is_cancelled(self) -> None:
        self.cancelled.add(self.goals.pop())
        self.poll()

    @rule(feed=st.sampled_from(["a", "b"]))
    def a_feed_dies_or_comes_back(self, feed: str) -> None:
        self.alive[feed] = not self.alive[feed]
        self.poll()

    @precondition(lambda self: self.past and self.since_lie >= HONEST)
    @rule(feed=st.sampled_from(["a", "b"]), kind=st.sampled_from(["forgets", "invents", "renames"]))
    def a_feed_lies_once(self, feed: str, kind: str) -> None:
        truth = self.past[max(0, len(self.past) - 1 - self.behind[feed])]
        goals = truth.goals
        if kind == "forgets":
            goals = goals[:-1]
        elif kind == "invents":
            goals = (*goals, f"{truth.minute} home Nobody")
        elif goals:
            minute, side, _ = goals[-1].split()
            goals = (*goals[:-1], f"{minute} {side} Nobody")
            self.renamed.add(f"{minute} {side}")
        lie = self.told(feed, Truth(truth.minute, goals))
        self.poll(**{feed: lie})
        self.since_lie = 0

    @staticmethod
    def moments(events: Iterable[KnownEvent]) -> set[str]:
        return {f"{event.minute.elapsed} {event.side}" for event in events if event.stable}

    @invariant()
    def certain_at_the_latest_as_with_the_first_feed_alone(self) -> None:
        cancelled = {goal.rpartition(" ")[0] for goal in self.cancelled}
        # Another player after another score is another goal, until the feed corrects itself.
        doubtful = self.renamed if cancelled else set()
        assert self.moments(self.first_alone.not_removed) - self.moments(self.both.not_removed) <= cancelled | doubtful

    @invariant()
    def scores_are_steps(self) -> None:
        for event in self.both.events.values():
            assert event.after == event.before.plus(event.side)

    def teardown(self) -> None:
        self.alive = {"a": True, "b": True}
        for _ in range(LATEST + 2 * RULES.drop + HONEST):
            self.poll()
        left = Counter(
            f"{e.minute.elapsed} {e.side} {(e.player.name or '?').split()[-1]}" for e in self.both.not_removed
        )
        assert left == Counter(self.goals)
        assert all(event.stable for event in self.both.not_removed)
        # What was certain and went was a goal, and was cancelled.
        assert sum(event.removed for event in self.both.ever_stable) <= len(self.cancelled)


TestTwoFeeds = TwoFeeds.TestCase
TestTwoFeeds.settings = settings(stateful_step_count=20)


@given(polls=st.lists(st.tuples(answers(), answers()), min_size=1, max_size=5), other=st.sampled_from(["b", "c"]))
def test_any_two_feeds_yield_consistent_events(polls: list[tuple[LiveFixture, LiveFixture]], other: str) -> None:
    monitor = ReconcilingMonitor()
    for first, second in polls:
        monitor.poll(replace(first, feed="a"), replace(second, feed=other))
        assert monitor.reconciled is not None
        assert len(monitor.reconciled.live.goals) >= len(order_goals(first.goals, first.score))
        for event in monitor.events.values():
            assert event.after == event.before.plus(event.side)
    assert len(monitor.events) == len({event.id for event in monitor.events.values()})
