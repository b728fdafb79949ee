"""Exactly those who were told of a goal hear that it was withdrawn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from found_footy.domain.announcing.context import Context, Goal, Match
from found_footy.domain.announcing.dealing import Page, deal
from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.announcing.subscription import Filters, Subscription
from found_footy.domain.announcing.withdrawal import Consequence, Delivery, State, on_withdrawal, was_told

AT = datetime(2026, 8, 22, 14, 0, tzinfo=UTC)
EVENT = "7001_40_306_Goal_1"
MATCH = Match(7001, AT, 39, "Premier League", "England", 40, "Liverpool", 50, "Manchester City")


def delivery(state: State, due: int = -10, maybe_told: bool = False, position: int = 1) -> Delivery:
    """Due so many seconds after the withdrawal."""
    return Delivery(position, state, AT + timedelta(seconds=due), maybe_told)


@pytest.mark.parametrize(
    ("deliveries", "expected"),
    [
        ([], Consequence(tell=False)),
        ([delivery(State.DELIVERED)], Consequence(tell=True)),
        ([delivery(State.SENDING)], Consequence(tell=True)),
        ([delivery(State.SENDING, maybe_told=True)], Consequence(tell=True)),
        # Held back by a delay: never sent, and nothing to take back.
        ([delivery(State.PENDING, due=10)], Consequence(tell=False, cancel=(1,))),
        # Due, and not sent yet because something was away: it goes its way, and the withdrawal after it.
        ([delivery(State.PENDING, due=-10)], Consequence(tell=True)),
        ([delivery(State.PENDING, due=0)], Consequence(tell=True)),
        # Tried before, and perhaps heard.
        ([delivery(State.PENDING, due=10, maybe_told=True)], Consequence(tell=True)),
        ([delivery(State.DEAD)], Consequence(tell=False)),
        ([delivery(State.DEAD, maybe_told=True)], Consequence(tell=True)),
        ([delivery(State.CANCELLED)], Consequence(tell=False)),
        # Told of the goal, not yet of its clip.
        (
            [delivery(State.DELIVERED), delivery(State.PENDING, due=10, position=2)],
            Consequence(tell=True, cancel=(2,)),
        ),
        ([delivery(State.DEAD), delivery(State.PENDING, due=10, position=2)], Consequence(tell=False, cancel=(2,))),
    ],
)
def test_what_a_withdrawal_means_for_one_subscription(deliveries: list[Delivery], expected: Consequence) -> None:
    assert on_withdrawal(deliveries, AT) == expected


@dataclass
class Receiver:
    """One subscription, its messages and what it has really heard."""

    subscription: Subscription
    standing: list[Delivery] = field(default_factory=list)
    topics: dict[int, str] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)

    def send(self, now: datetime, fate: str) -> None:
        """The first message that may go goes, and meets its fate."""
        due = [each for each in self.standing if each.state in (State.PENDING, State.SENDING)]
        if not due or due[0].due_at > now:
            return
        first = due[0]
        topic = self.topics[first.position]
        earlier = [each for each in self.standing if each.position < first.position]
        if topic == "goal.withdrawn" and not was_told(earlier):
            self._becomes(replace(first, state=State.CANCELLED))
            return
        if fate in ("taken", "lost answer"):
            self.heard.append(topic)
        self._becomes(
            {
                "taken": replace(first, state=State.DELIVERED),
                "lost answer": replace(first, state=State.SENDING, maybe_told=True),
                "away": replace(first, state=State.SENDING),
                "refused": replace(first, state=State.DEAD),
            }[fate]
        )

    def _becomes(self, changed: Delivery) -> None:
        self.standing = [changed if each.position == changed.position else each for each in self.standing]


FATES = ["taken", "lost answer", "away", "refused"]
STEPS = st.one_of(
    st.tuples(st.just("news"), st.sampled_from(["goal.stable", "clip.published"])),
    st.tuples(st.just("deal"), st.just("")),
    st.tuples(st.just("send"), st.sampled_from(FATES)),
    st.tuples(st.just("time"), st.just("")),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, max_size=25), st.lists(STEPS, max_size=25), st.sampled_from([0, 3, 60]))
def test_whatever_happens_in_whichever_order(
    before: list[tuple[str, str]], after: list[tuple[str, str]], delay: int
) -> None:
    """News, dealing, sending and time in any order around a withdrawal; in the end everything is sent."""
    receiver = Receiver(Subscription(1, Filters(delay=timedelta(seconds=delay))))
    outbox: list[NewsItem] = []
    dealt, now = 0, AT

    def deal_out() -> None:
        nonlocal dealt
        withdrawn = [item.position for item in outbox if item.topic == "goal.withdrawn"]
        context = Context(MATCH, Goal(EVENT, "Liverpool", "Salah", "23'"))
        contexts = {
            item.position: replace(context, withdrawn=bool(withdrawn) and withdrawn[0] < item.position)
            for item in outbox
        }
        page = Page(outbox[dealt:], contexts, [receiver.subscription], {(1, EVENT): receiver.standing})
        result = deal(page)
        gone = {position for _, position in result.cancelled}
        receiver.standing = [
            replace(each, state=State.CANCELLED) if each.position in gone else each for each in receiver.standing
        ]
        for new in result.new:
            receiver.standing.append(Delivery(new.news.position, new.state, new.due_at))
            receiver.topics[new.news.position] = new.news.topic
        dealt = len(outbox)

    def say(topic: str) -> None:
        payload = {"md5": "aa", "verified": True}
        outbox.append(NewsItem(len(outbox) + 1, now, topic, 7001, EVENT, payload))

    for steps, ends in ((before, "goal.withdrawn"), (after, "")):
        for kind, what in steps:
            if kind == "news":
                say(what)
            elif kind == "deal":
                deal_out()
            elif kind == "send":
                receiver.send(now, what)
            else:
                now += timedelta(seconds=2)
        if ends:
            say(ends)
    deal_out()
    now += timedelta(hours=1)
    for _ in range(100):
        receiver.send(now, "taken")

    told = any(topic != "goal.withdrawn" for topic in receiver.heard)
    # Somebody who refuses even this has it among the dead letters.
    announced = [each for each in receiver.standing if receiver.topics[each.position] == "goal.withdrawn"]
    ends = {each.state for each in announced}
    assert ends <= {State.DELIVERED, State.DEAD, State.CANCELLED}
    assert bool(ends & {State.DELIVERED, State.DEAD}) is told
    if "goal.withdrawn" in receiver.heard:
        assert set(receiver.heard[receiver.heard.index("goal.withdrawn") :]) == {"goal.withdrawn"}
