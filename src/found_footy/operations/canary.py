"""The daily live check of every service."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from temporalio import activity

from found_footy.config import Settings
from found_footy.feeds.registry import feeds_declared
from found_footy.operations.check_store import PostgresServiceChecks
from found_footy.operations.models import CheckResult
from found_footy.operations.service_checks import RECHECK_SECONDS, build_checker, build_probes
from found_footy.storage.postgres import Database

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CanaryInput:
    """No options: every enabled service is checked."""


@dataclass(frozen=True)
class ServicesChecked:
    checked: int = 0
    failed: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """Services that stopped working, or work again."""


class CanaryActivities:
    def __init__(self, check: Callable[[], Awaitable[Sequence[CheckResult]]], store: PostgresServiceChecks) -> None:
        self._check = check
        self._store = store

    @activity.defn
    async def check_services(self, _: CanaryInput) -> ServicesChecked:
        results = await self._check()
        changed = await self._store.save(results, complete=True)
        for result in results:
            if not result.ok:
                log.warning(
                    f"{result.name} failed: {result.answer}",
                    extra={"action": "service_check_failed", "service": result.name, "error": result.error_class},
                )
        failed = [result.name for result in results if not result.ok]
        log.info(
            f"{len(results) - len(failed)} of {len(results)} services work",
            extra={"action": "services_checked", "failed": failed, "changed": [each.name for each in changed]},
        )
        return ServicesChecked(len(results), failed, [each.name for each in changed])


def build_canary(settings: Settings, database: Database) -> CanaryActivities:
    async def check() -> Sequence[CheckResult]:
        probes = build_probes(settings, await feeds_declared(settings))
        return await build_checker(settings).run_with_recheck(probes, RECHECK_SECONDS)

    return CanaryActivities(check, PostgresServiceChecks(database))
