"""What the workflows that tell others of the news say to their activities. Messages are in the database; ids travel."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

from found_footy.workflows import contracts
from found_footy.workflows.contracts import Call, Done


def delivery_id(id_: int) -> str:
    return f"delivery-{id_}"


ANNOUNCE = "announce-scheduled"
"""The id of the announcer; its schedule adds the time."""


# --- from the outbox to messages that are due


@dataclass(frozen=True)
class AnnounceInput:
    rounds: int = 150
    """After which it ends, and the schedule starts the next one at once."""


@dataclass(frozen=True)
class AnnounceResult:
    rounds: int
    started: int


@dataclass(frozen=True)
class Round:
    """`claim` is the same for every try of a round, so that a try that was lost takes no message with it."""

    claim: str


@dataclass(frozen=True)
class DueMessages:
    ids: list[int] = field(default_factory=list)
    patience_seconds: float = 0.0
    """How long each is tried, by the settings of the worker that found it."""


DEAL_OUT_NEWS: Call[Round, DueMessages] = Call("deal_out_news", DueMessages, timedelta(seconds=90), 3)
"""Deals out what is new, and waits for something to send, for 20 seconds at most."""


# --- one message


@dataclass(frozen=True)
class DeliveryInput:
    delivery_id: int
    patience_seconds: float


@dataclass(frozen=True)
class DeliveryResult:
    state: str


@dataclass(frozen=True)
class MessageRef:
    delivery_id: int


@dataclass(frozen=True)
class Burial:
    delivery_id: int
    error_kind: str
    error_message: str


SEND_MESSAGE: Call[MessageRef, DeliveryResult] = Call("send_message", DeliveryResult, timedelta(seconds=120), 1)
BURY_MESSAGE: Call[Burial, Done] = Call("bury_message", Done, timedelta(seconds=30), 5)

FIRST_WAIT = timedelta(seconds=2)
LONGEST_WAIT = timedelta(minutes=10)
"""Between two tries. A receiver that is back hears of everything within this time."""


async def send_for(message: MessageRef, patience: timedelta) -> DeliveryResult:
    """Tried again with longer and longer waits, until the time is over or the receiver refuses for good."""
    sent: DeliveryResult = await workflow.execute_activity(
        SEND_MESSAGE.name,
        message,
        result_type=SEND_MESSAGE.result,
        start_to_close_timeout=SEND_MESSAGE.timeout,
        schedule_to_close_timeout=patience,
        heartbeat_timeout=contracts.HEARTBEAT,
        retry_policy=RetryPolicy(
            initial_interval=FIRST_WAIT, backoff_coefficient=2.0, maximum_interval=LONGEST_WAIT, maximum_attempts=0
        ),
    )
    return sent
