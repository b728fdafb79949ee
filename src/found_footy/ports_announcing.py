"""What announcing needs of the outside world: a memory of who is told what, and ways to tell them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from found_footy.domain.announcing.dealing import Decide
from found_footy.domain.announcing.outcomes import Outcome
from found_footy.domain.announcing.subscription import Filters


@dataclass(frozen=True, slots=True)
class Parcel:
    """A message that is about to be sent, and all that is needed for it."""

    delivery_id: int
    subscription_id: int
    key: str
    topic: str
    body: str
    """JSON, the same letter by letter on every try."""
    kind: str
    target: str
    secret: str | None
    maybe_told: bool
    """Whether an earlier try may have reached the receiver."""


Wait = Callable[[float], Awaitable[None]]
"""Until there may be something new, for so many seconds at most."""


class DeliveryStore(Protocol):
    """Messages on their way. Every change is safe to repeat."""

    async def deal(self, decide: Decide, limit: int) -> int:
        """Deals out the next news, at most so many, in one transaction. Returns how many there were."""

    async def claim_due(self, claim: str, limit: int) -> Sequence[int]:
        """Messages that can be sent now. The same claim gets the same ones again."""

    async def next_due(self) -> float | None:
        """Seconds until a message that waits for its time is due."""

    def listening(self) -> AbstractAsyncContextManager[Wait]:
        """News that come after this was entered end a wait."""

    async def begin(self, delivery_id: int) -> Parcel | None:
        """None where there is nothing to send: it was sent, taken back, or its subscription is paused or gone."""

    async def finish(self, delivery_id: int) -> None: ...

    async def fail(self, delivery_id: int, kind: str, message: str, *, maybe_told: bool) -> None: ...

    async def bury(self, delivery_id: int, kind: str, message: str) -> None:
        """To the dead letters. The class and the words of the last try stay where there are any."""

    async def pause(self, subscription_id: int, reason: str) -> None: ...


class Messenger(Protocol):
    """A way to tell somebody. A failure is an outcome, not an error."""

    async def send(self, parcel: Parcel) -> Outcome: ...

    async def check(self, target: str) -> None:
        """Whether anything could be sent there at all, without doing it. Raises BadRequest."""

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SubscriptionRecord:
    """A subscription as an operator sees it. The target is what may be shown of it."""

    id: int
    name: str
    kind: str
    target: str
    filters: Filters
    created_at: datetime
    paused_at: datetime | None
    paused_reason: str | None
    waiting: int
    dead: int
    delivered_at: datetime | None
    failure: str | None
    """Of the latest message that failed and has not been delivered since."""


@dataclass(frozen=True, slots=True)
class DeliveryRecord:
    id: int
    position: int | None
    topic: str
    fixture_id: int | None
    event_id: str | None
    title: str
    state: str
    due_at: datetime
    attempts: int
    error_kind: str | None
    error_message: str | None
    created_at: datetime
    delivered_at: datetime | None


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be otherwise; None leaves it as it is."""

    name: str | None = None
    target: str | None = None
    filters: Filters | None = None
    paused: bool | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """Of the teams and competitions whose matches are known, by their ids."""

    teams: Mapping[int, str]
    leagues: Mapping[int, str]


class SubscriptionBook(Protocol):
    """Who is subscribed to what. Methods with an id raise NotFound."""

    async def list(self) -> Sequence[SubscriptionRecord]: ...

    async def names(self) -> Names: ...

    async def get(self, subscription_id: int) -> SubscriptionRecord: ...

    async def add(self, name: str, kind: str, target: str, secret: str | None, filters: Filters) -> int:
        """Raises BadRequest where there are too many."""

    async def change(self, subscription_id: int, change: Change) -> None: ...

    async def delete(self, subscription_id: int) -> None: ...

    async def test(self, subscription_id: int, message: Callable[[str], dict[str, Any]]) -> int:
        """Makes a test message, given its key; returns its id. Raises TooManyRequests while one is on its way."""

    async def deliveries(
        self, subscription_id: int, *, state: str | None, before: int | None, limit: int
    ) -> Sequence[DeliveryRecord]:
        """The latest first."""

    async def retry(self, delivery_id: int) -> None:
        """A dead letter is due again. Raises NotFound; BadRequest where it is not dead, or its goal was withdrawn."""
