"""Exactly those who were told of a goal hear that it was withdrawn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from found_footy.notifications.fan_out import (
    DeliveryState,
    EarlierDelivery,
    OutboxBatch,
    WithdrawalDecision,
    fan_out,
    on_withdrawal,
    was_notified,
)
from found_footy.notifications.models import (
    NotificationContext,
    NotificationFixture,
    NotificationGoal,
    OutboxMessage,
    Subscription,
    SubscriptionFilter,
)

AT = datetime(2026, 8, 22, 14, 0, tzinfo=UTC)
EVENT = "7001_40_306_Goal_1"
MATCH = NotificationFixture(7001, AT, 39, "Premier League", "England", 40, "Liverpool", 50, "Manchester City")


def delivery(
    state: DeliveryState, due: int = -10, possibly_delivered: bool = False, position: int = 1
) -> EarlierDelivery:
    """Due so many seconds after the withdrawal."""
    return EarlierDelivery(position, state, AT + timedelta(seconds=due), possibly_delivered)


@pytest.mark.parametrize(
    ("deliveries", "expected"),
    [
        ([], WithdrawalDecision(notify=False)),
        ([delivery(DeliveryState.DELIVERED)], WithdrawalDecision(notify=True)),
        ([delivery(DeliveryState.SENDING)], WithdrawalDecision(notify=True)),
        ([delivery(DeliveryState.SENDING, possibly_delivered=True)], WithdrawalDecision(notify=True)),
        # Held back by a delay: never sent, and nothing to take back.
        ([delivery(DeliveryState.PENDING, due=10)], WithdrawalDecision(notify=False, cancel=(1,))),
        # Due, and not sent yet because something was away: it goes its way, and the withdrawal after it.
        ([delivery(DeliveryState.PENDING, due=-10)], WithdrawalDecision(notify=True)),
        ([delivery(DeliveryState.PENDING, due=0)], WithdrawalDecision(notify=True)),
        # Tried before, and perhaps heard.
        ([delivery(DeliveryState.PENDING, due=10, possibly_delivered=True)], WithdrawalDecision(notify=True)),
        ([delivery(DeliveryState.DEAD)], WithdrawalDecision(notify=False)),
        ([delivery(DeliveryState.DEAD, possibly_delivered=True)], WithdrawalDecision(notify=True)),
        ([delivery(DeliveryState.CANCELLED)], WithdrawalDecision(notify=False)),
        # Told of the goal, not yet of its clip.
        (
            [delivery(DeliveryState.DELIVERED), delivery(DeliveryState.PENDING, due=10, position=2)],
            WithdrawalDecision(notify=True, cancel=(2,)),
        ),
        (
            [delivery(DeliveryState.DEAD), delivery(DeliveryState.PENDING, due=10, position=2)],
            WithdrawalDecision(notify=False, cancel=(2,)),
        ),
    ],
)
def test_what_a_withdrawal_means_for_one_subscription(
    deliveries: list[EarlierDelivery], expected: WithdrawalDecision
) -> None:
    assert on_withdrawal(deliveries, AT) == expected


@dataclass
class Receiver:
    """One subscription, its messages and what it has really heard."""

    subscription: Subscription
    standing: list[EarlierDelivery] = field(default_factory=list)
    topics: dict[int, str] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)

    def send(self, now: datetime, fate: str) -> None:
        """The first message that may go goes, and meets its fate."""
        due = [each for each in self.standing if each.state in (DeliveryState.PENDING, DeliveryState.SENDING)]
        if not due or due[0].due_at > now:
            return
        first = due[0]
        topic = self.topics[first.position]
        earlier = [each for each in self.standing if each.position < first.position]
        if topic == "goal.withdrawn" and not was_notified(earlier):
            self._becomes(replace(first, state=DeliveryState.CANCELLED))
            return
        if fate in ("taken", "lost answer"):
            self.heard.append(topic)
        self._becomes(
            {
                "taken": replace(first, state=DeliveryState.DELIVERED),
                "lost answer": replace(first, state=DeliveryState.SENDING, possibly_delivered=True),
                "away": replace(first, state=DeliveryState.SENDING),
                "refused": replace(first, state=DeliveryState.DEAD),
            }[fate]
        )

    def _becomes(self, changed: EarlierDelivery) -> None:
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
    receiver = Receiver(Subscription(1, SubscriptionFilter(delay=timedelta(seconds=delay))))
    outbox: list[OutboxMessage] = []
    dealt, now = 0, AT

    def deal_out() -> None:
        nonlocal dealt
        withdrawn = [item.position for item in outbox if item.topic == "goal.withdrawn"]
        context = NotificationContext(MATCH, NotificationGoal(EVENT, "Liverpool", "Salah", "23'"))
        contexts = {
            item.position: replace(context, withdrawn=bool(withdrawn) and withdrawn[0] < item.position)
            for item in outbox
        }
        page = OutboxBatch(outbox[dealt:], contexts, [receiver.subscription], {(1, EVENT): receiver.standing})
        result = fan_out(page)
        gone = {position for _, position in result.cancelled}
        receiver.standing = [
            replace(each, state=DeliveryState.CANCELLED) if each.position in gone else each
            for each in receiver.standing
        ]
        for new in result.new:
            receiver.standing.append(EarlierDelivery(new.news.position, new.state, new.due_at))
            receiver.topics[new.news.position] = new.news.topic
        dealt = len(outbox)

    def say(topic: str) -> None:
        payload = {"md5": "aa", "verified": True}
        outbox.append(OutboxMessage(len(outbox) + 1, now, topic, 7001, EVENT, payload))

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
    assert ends <= {DeliveryState.DELIVERED, DeliveryState.DEAD, DeliveryState.CANCELLED}
    assert bool(ends & {DeliveryState.DELIVERED, DeliveryState.DEAD}) is told
    if "goal.withdrawn" in receiver.heard:
        assert set(receiver.heard[receiver.heard.index("goal.withdrawn") :]) == {"goal.withdrawn"}
