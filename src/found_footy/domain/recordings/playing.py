"""What the feeds of a recording say at a moment of its replay."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from found_footy.domain.fixtures.model import LiveFixture
from found_footy.domain.recordings.recording import RecordedAnswer


class PlayedTime(Protocol):
    def position(self) -> datetime:
        """The moment of the recording that is played now."""

    def shown(self, moment: datetime) -> datetime:
        """When a moment of the recording comes in the replay."""


class SteadyTime:
    """The recording runs by itself: so many of its seconds in each second since it was begun."""

    def __init__(self, first: datetime, start: datetime, speed: float, now: Callable[[], datetime]) -> None:
        self._first = first
        self._start = start
        self._speed = speed
        self._now = now

    def position(self) -> datetime:
        return self._first + (self._now() - self._start) * self._speed

    def shown(self, moment: datetime) -> datetime:
        return self._start + (moment - self._first) / self._speed


class SaidByFeed:
    """All that one feed has said of its matches, to be asked for a moment."""

    def __init__(self, feed: str, answers: Iterable[RecordedAnswer]) -> None:
        told: dict[int, list[RecordedAnswer]] = defaultdict(list)
        for answer in answers:
            if answer.feed == feed:
                told[answer.feed_id].append(answer)
        self._told = {id_: sorted(each, key=lambda answer: answer.at[0]) for id_, each in told.items()}

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(self._told)

    def at(self, moment: datetime) -> dict[int, RecordedAnswer]:
        """The last word on each match until then; nothing of those that it had not listed yet."""
        return {id_: found for id_ in self._told if (found := self.of(id_, moment)) is not None}

    def of(self, feed_id: int, moment: datetime) -> RecordedAnswer | None:
        told = self._told.get(feed_id, [])
        position = bisect_right(told, moment, key=lambda answer: answer.at[0])
        return told[position - 1] if position else None


LATEST_EVENT = timedelta(seconds=1)


def as_shown(live: LiveFixture, feed: str, time: PlayedTime, now: datetime) -> LiveFixture:
    """The match as the replay must see it: its times are those of the replay, its feed is the one that plays it."""
    last = live.last_event
    if last is not None and last.at is not None:
        # Nothing may have happened later than now.
        last = replace(last, at=min(time.shown(last.at), now - LATEST_EVENT))
    return replace(live, feed=feed, kickoff=time.shown(live.kickoff).replace(microsecond=0), last_event=last)
