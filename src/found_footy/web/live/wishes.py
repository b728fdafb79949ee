"""What one listener wants to hear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from found_footy.domain.announcing.topics import TOPICS, expanded
from found_footy.web.live.messages import Message


@dataclass(frozen=True, slots=True)
class Wishes:
    """Of each kind one must fit; None is all."""

    fixtures: frozenset[int] | None = None
    events: frozenset[str] | None = None
    topics: frozenset[str] | None = None

    def include(self, message: Message) -> bool:
        return (
            (self.topics is None or message.topic in self.topics)
            and (self.fixtures is None or message.fixture_id in self.fixtures)
            and (self.events is None or message.event_id in self.events)
        )

    def include_any(self, messages: Sequence[Message]) -> bool:
        return self is EVERYTHING or any(self.include(message) for message in messages)

    @property
    def names(self) -> list[str]:
        return [topic for topic in TOPICS if self.topics is None or topic in self.topics]


EVERYTHING = Wishes()


def wishes(fixtures: Sequence[int], events: Sequence[str], topics: Sequence[str]) -> Wishes:
    """Raises BadRequest for a topic that there is not."""
    if not (fixtures or events or topics):
        return EVERYTHING
    return Wishes(frozenset(fixtures) or None, frozenset(events) or None, expanded(topics) or None)
