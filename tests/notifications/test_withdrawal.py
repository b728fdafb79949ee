"""A withdrawal is sent exactly to the subscriptions that were notified of the goal."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
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
        # Tried before, and perhaps received.
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
def test_withdrawal_decision(deliveries: list[EarlierDelivery], expected: WithdrawalDecision) -> None:
    assert on_withdrawal(deliveries, AT) == expected


@dataclass
class Receiver:
    """One subscription, its messages and what its receiver got."""

    subscription: Subscription
    deliveries: list[EarlierDelivery] = field(default_factory=list)
    topics: dict[int, str] = field(default_factory=dict)
    received: list[str] = field(default_factory=list)

    def send(self, now: datetime, outcome: str) -> None:
        """Send the first message that is due, with this outcome."""
        due = [each for each in self.deliveries if each.state in (DeliveryState.PENDING, DeliveryState.SENDING)]
        if not due or due[0].due_at > now:
            return
        first = due[0]
        topic = self.topics[first.position]
        earlier = [each for each in self.deliveries if each.position < first.position]
        if topic == "goal.withdrawn" and not was_notified(earlier):
            self._replace(replace(first, state=DeliveryState.CANCELLED))
            return
        if outcome in ("delivered", "response lost"):
            self.received.append(topic)
        self._replace(
            {
                "delivered": replace(first, state=DeliveryState.DELIVERED),
                "response lost": replace(first, state=DeliveryState.SENDING, possibly_delivered=True),
                "unavailable": replace(first, state=DeliveryState.SENDING),
                "refused": replace(first, state=DeliveryState.DEAD),
            }[outcome]
        )

    def _replace(self, changed: EarlierDelivery) -> None:
        self.deliveries = [changed if each.position == changed.position else each for each in self.deliveries]


OUTCOMES = ["delivered", "response lost", "unavailable", "refused"]
STEPS = st.one_of(
    st.tuples(st.just("publish"), st.sampled_from(["goal.stable", "clip.published"])),
    st.tuples(st.just("fan out"), st.just("")),
    st.tuples(st.just("send"), st.sampled_from(OUTCOMES)),
    st.tuples(st.just("time"), st.just("")),
)


@given(st.lists(STEPS, max_size=25), st.lists(STEPS, max_size=25), st.sampled_from([0, 3, 60]))
def test_a_withdrawal_is_sent_exactly_to_subscriptions_that_were_notified(
    before: list[tuple[str, str]], after: list[tuple[str, str]], delay: int
) -> None:
    """Publishing, fan-out, sending and time in any order around a withdrawal; finally everything is sent."""
    receiver = Receiver(Subscription(1, SubscriptionFilter(delay=timedelta(seconds=delay))))
    outbox: list[OutboxMessage] = []
    fanned_out, now = 0, AT

    def fan_out_new() -> None:
        nonlocal fanned_out
        withdrawn = [item.position for item in outbox if item.topic == "goal.withdrawn"]
        context = NotificationContext(MATCH, NotificationGoal(EVENT, "Liverpool", "Salah", "23'"))
        contexts = {
            item.position: replace(context, withdrawn=bool(withdrawn) and withdrawn[0] < item.position)
            for item in outbox
        }
        batch = OutboxBatch(outbox[fanned_out:], contexts, [receiver.subscription], {(1, EVENT): receiver.deliveries})
        result = fan_out(batch)
        cancelled = {position for _, position in result.cancelled}
        receiver.deliveries = [
            replace(each, state=DeliveryState.CANCELLED) if each.position in cancelled else each
            for each in receiver.deliveries
        ]
        for new in result.new:
            receiver.deliveries.append(EarlierDelivery(new.message.position, new.state, new.due_at))
            receiver.topics[new.message.position] = new.message.topic
        fanned_out = len(outbox)

    def publish(topic: str) -> None:
        payload = {"md5": "aa", "verified": True}
        outbox.append(OutboxMessage(len(outbox) + 1, now, topic, 7001, EVENT, payload))

    for steps, ends in ((before, "goal.withdrawn"), (after, "")):
        for kind, what in steps:
            if kind == "publish":
                publish(what)
            elif kind == "fan out":
                fan_out_new()
            elif kind == "send":
                receiver.send(now, what)
            else:
                now += timedelta(seconds=2)
        if ends:
            publish(ends)
    fan_out_new()
    now += timedelta(hours=1)
    for _ in range(100):
        receiver.send(now, "delivered")

    notified = any(topic != "goal.withdrawn" for topic in receiver.received)
    # Dead if the receiver refused even the withdrawal.
    withdrawals = [each for each in receiver.deliveries if receiver.topics[each.position] == "goal.withdrawn"]
    ends = {each.state for each in withdrawals}
    assert ends <= {DeliveryState.DELIVERED, DeliveryState.DEAD, DeliveryState.CANCELLED}
    assert bool(ends & {DeliveryState.DELIVERED, DeliveryState.DEAD}) is notified
    if "goal.withdrawn" in receiver.received:
        assert set(receiver.received[receiver.received.index("goal.withdrawn") :]) == {"goal.withdrawn"}
