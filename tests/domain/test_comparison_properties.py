"""Whatever a feed does, the rules hold: lost, repeated, reordered and flickering answers."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule

from found_footy.domain.fixtures.comparison import Poll, Verdict, compare
from found_footy.domain.fixtures.model import GoalKind, KnownEvent, LiveFixture, LiveGoal, Minute, Person, Score, Side
from tests.support.football import RULES, match, poll

people = st.one_of(st.just(Person()), st.integers(1, 4).map(lambda n: Person(n, f"Player {n}")))
minutes = st.builds(Minute, st.integers(1, 95), st.one_of(st.none(), st.integers(1, 8)))
goals = st.builds(LiveGoal, st.sampled_from(Side), minutes, people, st.sampled_from(GoalKind))
scores = st.one_of(st.none(), st.builds(Score, st.integers(0, 5), st.integers(0, 5)))


@st.composite
def answers(draw: st.DrawFn) -> LiveFixture:
    """Anything that a feed might say, with a score that fits its goals more often than not."""
    listed = draw(st.lists(goals, max_size=6))
    if draw(st.booleans()):
        return match(*listed)
    score = draw(scores)
    return match(*listed, score=None if score is None else str(score))


class AnyFeed(RuleBasedStateMachine):
    """Polls in any order, with anything in them, against what the rules allow."""

    polls = Bundle("polls")

    def __init__(self) -> None:
        super().__init__()
        self.events: dict[str, KnownEvent] = {}
        self.last: Poll | None = None
        self.number = 0
        self.sightings: dict[str, list[str]] = {}
        self.absences: dict[str, list[str]] = {}

    def apply(self, answer: LiveFixture, at: Poll) -> None:
        before = dict(self.events)
        decisions = compare(answer, list(self.events.values()), at, RULES, self.last)
        assert len({decision.event.id for decision in decisions}) == len(decisions)
        counted = self.last is None or at.at > self.last.at
        assert counted or not decisions  # old and repeated polls count for nothing
        for decision in decisions:
            self._check(decision.event, decision.verdict, before.get(decision.event.id), at)
            self.events[decision.event.id] = decision.event
        if counted:
            self.last = at

    def _check(self, event: KnownEvent, verdict: Verdict, before: KnownEvent | None, at: Poll) -> None:
        if before is None:
            assert verdict is Verdict.NEW
            self.sightings[event.id] = [at.id]
            return
        assert not before.removed  # what is withdrawn stays withdrawn
        assert (event.side, event.team, event.type, event.seq) == (before.side, before.team, before.type, before.seq)
        assert event.first_seen == before.first_seen
        assert before.stable_at is None or event.stable_at == before.stable_at
        if verdict in (Verdict.MISSING, Verdict.WITHDRAWN):
            self.absences.setdefault(event.id, []).append(at.id)
            if not event.stable:
                self.sightings[event.id] = []
        else:
            self.absences[event.id] = []
            if not before.stable:
                self.sightings[event.id].append(at.id)
        if verdict is Verdict.STABLE:
            assert len(set(self.sightings[event.id])) >= RULES.debounce
        if verdict is Verdict.WITHDRAWN:
            assert len(set(self.absences[event.id])) >= RULES.drop

    @rule(target=polls, answer=answers())
    def a_poll(self, answer: LiveFixture) -> tuple[LiveFixture, Poll]:
        self.number += 1
        at = poll(self.number)
        self.apply(answer, at)
        return answer, at

    @rule(earlier=polls)
    def a_poll_is_retried_or_arrives_late(self, earlier: tuple[LiveFixture, Poll]) -> None:
        before = dict(self.events)
        self.apply(*earlier)
        assert self.events == before

    @rule(earlier=polls)
    def an_old_answer_comes_again_from_a_cache(self, earlier: tuple[LiveFixture, Poll]) -> None:
        self.number += 1
        self.apply(earlier[0], poll(self.number))

    @rule()
    def a_poll_is_lost(self) -> None:
        self.number += 1

    @precondition(lambda self: self.last is not None)
    @rule(answer=answers())
    def an_older_poll_overtakes_nothing(self, answer: LiveFixture) -> None:
        before = dict(self.events)
        assert self.last is not None
        self.apply(answer, Poll("late", self.last.at))
        assert self.events == before

    @invariant()
    def no_event_is_both_certain_and_unseen(self) -> None:
        for event in self.events.values():
            assert event.removed == (event.removed_reason is not None)
            if event.stable and not event.removed:
                assert event.missing < RULES.drop


TestAnyFeed = AnyFeed.TestCase
TestAnyFeed.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)


@given(noise=st.lists(answers(), max_size=8), truth=st.lists(goals, max_size=6, unique=True))
@settings(max_examples=300, deadline=None)
def test_once_the_feed_tells_the_truth_we_know_it(noise: list[LiveFixture], truth: list[LiveGoal]) -> None:
    """After any nonsense, three true polls in a row leave exactly the true goals."""
    events: dict[str, KnownEvent] = {}
    last: Poll | None = None
    for number, answer in enumerate([*noise, *[match(*truth)] * max(RULES.debounce, RULES.drop)]):
        at = poll(number)
        for decision in compare(answer, list(events.values()), at, RULES, last):
            events[decision.event.id] = decision.event
        last = at
    left = [event for event in events.values() if not event.removed]
    assert all(event.stable and event.missing == 0 for event in left)
    assert Counter((e.side, e.minute, e.kind) for e in left) == Counter((g.side, g.minute, g.kind) for g in truth)
    known = Counter((e.side, e.player) for e in left if e.player.known)
    assert not Counter((g.side, g.player) for g in truth if g.player.known) - known
    finals = sorted(e.after.home + e.after.away for e in left)
    assert finals == list(range(1, len(truth) + 1))


@given(answer=answers(), times=st.integers(1, 6))
def test_a_poll_applied_many_times_is_applied_once(answer: LiveFixture, times: int) -> None:
    once = compare(answer, [], poll(1), RULES)
    events = {decision.event.id: decision.event for decision in once}
    for _ in range(times):
        assert compare(answer, list(events.values()), poll(1), RULES, poll(1)) == []
