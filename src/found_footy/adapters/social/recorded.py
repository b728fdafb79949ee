"""A source of a recording: what each search found then, the same search finds again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from found_footy.domain.discovery.posts import Post
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.recordings.failures import source_error
from found_footy.domain.recordings.outcome import plain_id
from found_footy.domain.recordings.recording import RecordedSearch

PLATFORMS = {"fxtwitter": "x"}
"""Sources whose posts bear the name of another one."""


@dataclass(frozen=True, slots=True)
class UnderWay:
    """Which search is asking: a source is told the words alone, and two goals of one player have the same."""

    event_id: str
    again: bool = False
    """Whether it has asked the same before, and was not heard."""


class RecordedSource:
    """Posts are as old as they were then when they are found, in the replay's own seconds."""

    def __init__(
        self,
        source: str,
        searches: Iterable[RecordedSearch],
        under_way: Callable[[], UnderWay],
        *,
        speed: float,
        oldest: timedelta,
    ) -> None:
        """`oldest` is how far back the replay's searches look."""
        self._source = source
        self._under_way = under_way
        self._speed = speed
        self._oldest = oldest
        self._by_event: dict[str, list[RecordedSearch]] = defaultdict(list)
        for search in sorted(searches, key=lambda search: search.attempt):
            if any(each.source == source for each in search.sources):
                self._by_event[plain_id(search.event_id)].append(search)
        self._asked: Counter[str] = Counter()

    @property
    def name(self) -> str:
        return self._source

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        recorded = self._next(query)
        if recorded is None:
            return ()
        answer = next(each for each in recorded.sources if each.source == self._source)
        if answer.error is not None:
            raise source_error(answer.error)
        now = since + self._oldest
        return [
            replace(post, posted_at=now - (recorded.at - post.posted_at) / self._speed)
            for post in recorded.posts
            if post.source == PLATFORMS.get(self._source, self._source)
        ]

    async def check(self) -> str:
        return f"{sum(map(len, self._by_event.values()))} searches of {self._source} were recorded"

    async def aclose(self) -> None:
        pass

    def _next(self, query: SearchQuery) -> RecordedSearch | None:
        """The same goal's search of the same number; for a goal that was not known then, one with the same words."""
        asking = self._under_way()
        goal = plain_id(asking.event_id)
        if not asking.again:
            self._asked[goal] += 1
        number = self._asked[goal]
        recorded = self._by_event.get(goal) or self._with_words(query)
        return recorded[number - 1] if 0 < number <= len(recorded) else None

    def _with_words(self, query: SearchQuery) -> list[RecordedSearch]:
        words = (query.players, query.teams)
        alike = (each for each in self._by_event.values() if (each[0].players, each[0].teams) == words)
        return next(alike, [])
