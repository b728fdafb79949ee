"""One watchdog process: judges until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime

from found_footy.bootstrap_health import health_rules, open_health, saving_lag
from found_footy.config import Settings
from found_footy.ops.browser_recycles import BrowserRecycles
from found_footy.ops.health_measuring import Measuring
from found_footy.ops.watchdog import Watchdog

log = logging.getLogger(__name__)


async def watch(settings: Settings, stop: asyncio.Event) -> None:
    async with open_health(settings) as health:
        recycles = BrowserRecycles(health.browser, health.store, health.recovering) if health.browser else None
        watchdog = Watchdog(
            health.store,
            health.cache,
            Measuring(health.store, health.freshness, health.records, health.counters, saving_lag(settings)).measured,
            health.recovering,
            health.leading,
            health_rules(settings),
            interval=settings.health_seconds,
            now=lambda: datetime.now(UTC),
            recycles=recycles,
        )
        log.info(f"judging the feeds every {settings.health_seconds:g} s", extra={"action": "watchdog_ready"})
        await watchdog.run(stop)
    log.info("the watchdog has stopped", extra={"action": "watchdog_stopped"})
