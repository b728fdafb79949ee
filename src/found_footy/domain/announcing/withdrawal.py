"""A goal is withdrawn: who has to hear of it?

Exactly those who were told of the goal, or may have been. What decides is when a message was due, not how far its
delivery has come: a message that was due before the withdrawal goes its way, however late, and the withdrawal after
it; one that was still held back by a delay is never sent. So the same news lead to the same messages whatever was
away in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class State(StrEnum):
    PENDING = "pending"
    """Nobody has tried to send it yet."""
    SENDING = "sending"
    """Being sent, or tried again."""
    DELIVERED = "delivered"
    DEAD = "dead"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message about the goal to one subscription."""

    position: int
    state: State
    due_at: datetime
    maybe_told: bool = False
    """A try of it ended so that nobody knows whether it arrived."""


@dataclass(frozen=True, slots=True)
class Consequence:
    tell: bool
    """Whether a message of the withdrawal is made; it is sent when all earlier ones have ended."""
    cancel: tuple[int, ...] = ()
    """Positions of messages that are not sent any more."""


def on_withdrawal(deliveries: Sequence[Delivery], at: datetime) -> Consequence:
    """`deliveries` are the earlier ones about the goal, of one subscription."""
    held_back = [
        each for each in deliveries if each.state is State.PENDING and not each.maybe_told and each.due_at > at
    ]
    others = [each for each in deliveries if each not in held_back]
    return Consequence(
        tell=any(was_told([each]) or each.state in (State.PENDING, State.SENDING) for each in others),
        cancel=tuple(each.position for each in held_back),
    )


def was_told(deliveries: Sequence[Delivery]) -> bool:
    """Asked once more before the withdrawal is sent: a message that was under way may have been refused since."""
    return any(each.state is State.DELIVERED or each.maybe_told for each in deliveries)
