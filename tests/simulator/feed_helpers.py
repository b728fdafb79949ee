"""Scenarios with several feeds, and the real adapters that read them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml
from sim_helpers import LEAGUE
from tests.support.clocks import SecondsClock

from footy_simulator.loader import parse_scenario
from footy_simulator.scenario import Scenario
from footy_simulator.server import Simulator
from found_footy.feeds.api_football import ApiFootball
from found_footy.feeds.espn import Espn
from found_footy.feeds.models import FeedAnswer, ScoreFeed
from found_footy.fixtures.models import LiveFixture
from found_footy.runtime.retry import RetryRules

ONCE = RetryRules(attempts=1)
SLUGS = ("eng.1",)


def scenario(*matches: dict[str, Any], **fields: Any) -> Scenario:
    leagues = {"pl": LEAGUE.model_dump()}
    return parse_scenario(yaml.safe_dump({"leagues": leagues, "matches": list(matches), **fields}), "day.yaml")


@dataclass
class Feeds:
    simulator: Simulator
    wall: SecondsClock
    api_football: ApiFootball
    espn: Espn

    async def poll(self, feed: ScoreFeed, *ids: int, minutes: float = 1) -> FeedAnswer:
        """So many minutes of matchday time after the poll before."""
        self.wall.now += minutes
        return await feed.fixtures_by_ids(ids)

    async def one(self, feed: ScoreFeed, match_id: int, minutes: float = 1) -> LiveFixture:
        (fixture,) = (await self.poll(feed, match_id, minutes=minutes)).fixtures
        return fixture


@asynccontextmanager
async def feeds_of(
    played: Scenario, leagues: Sequence[str] = SLUGS, *, max_step: float = 10**6, patience: float = 60
) -> AsyncIterator[Feeds]:
    wall = SecondsClock()
    # Yesterday's noon: never near midnight, and within the days for which ESPN is asked.
    start = (datetime.now(UTC) - timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    async with Simulator(played, start=start, time_source=wall, max_step=max_step) as simulator:
        ours = ApiFootball(simulator.url, simulator.key, timeout=patience, now=lambda: datetime.now(UTC), retry=ONCE)
        espn = Espn(simulator.url, leagues, timeout=patience, retry=ONCE)
        try:
            yield Feeds(simulator, wall, ours, espn)
        finally:
            await ours.aclose()
            await espn.aclose()
