"""A feed that says what the test wants, in place of the internet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from found_footy.errors import FeedError
from found_footy.feeds.models import FeedAnswer, Quota
from found_footy.fixtures.models import LiveFixture


class ScriptedFeed:
    def __init__(self, *fixtures: LiveFixture) -> None:
        self.fixtures = {fixture.id: fixture for fixture in fixtures}
        self.days: dict[date, list[LiveFixture]] = {}
        self.failures: dict[int, FeedError] = {}
        self.down: FeedError | None = None
        self.errors: tuple[FeedError, ...] = ()
        self.requests: list[list[int]] = []
        self.quota: Quota | None = None
        self.locators: dict[int, str] = {}
        """Those of the last request."""

    @property
    def name(self) -> str:
        return "test"

    @property
    def ids_per_request(self) -> int | None:
        return None

    def requests_for(self, fixtures: int, locators: Iterable[str] = ()) -> int:
        return 1

    def serve(self, *fixtures: LiveFixture) -> None:
        self.fixtures |= {fixture.id: fixture for fixture in fixtures}

    async def fixtures_on(self, day: date) -> FeedAnswer:
        if self.down:
            raise self.down
        return FeedAnswer(tuple(self.days.get(day, ())), self.failures, errors=self.errors)

    async def fixtures_by_ids(self, ids: Sequence[int], locators: Mapping[int, str] | None = None) -> FeedAnswer:
        self.requests.append(list(ids))
        self.locators = dict(locators or {})
        if self.down:
            raise self.down
        return FeedAnswer(
            fixtures=tuple(self.fixtures[id_] for id_ in ids if id_ in self.fixtures and id_ not in self.failures),
            failures={id_: error for id_, error in self.failures.items() if id_ in ids},
            unknown=tuple(id_ for id_ in ids if id_ not in self.fixtures and id_ not in self.failures),
        )

    async def check(self) -> str:
        return "scripted"

    async def aclose(self) -> None:
        pass
