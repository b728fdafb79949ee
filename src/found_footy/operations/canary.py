"""The daily live check of every service."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from temporalio import activity

from found_footy.operations.check_ports import ServiceChecks
from found_footy.operations.service_checks import CheckResult

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CanaryInput:
    """Has no fields: every enabled service is checked."""


@dataclass(frozen=True)
class ServicesChecked:
    checked: int = 0
    failed: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """Services whose state changed: they stopped working, or work again."""


class CanaryActivities:
    def __init__(self, check: Callable[[], Awaitable[Sequence[CheckResult]]], store: ServiceChecks) -> None:
        self._check = check
        self._store = store

    @activity.defn
    async def check_services(self, _: CanaryInput) -> ServicesChecked:
        results = await self._check()
        changed = await self._store.save(results, complete=True)
        for result in results:
            if not result.ok:
                log.warning(
                    f"{result.name} does not work: {result.answer}",
                    extra={"action": "service_check_failed", "service": result.name, "error": result.error_class},
                )
        failed = [result.name for result in results if not result.ok]
        log.info(
            f"{len(results) - len(failed)} of {len(results)} services work",
            extra={"action": "services_checked", "failed": failed, "changed": [each.name for each in changed]},
        )
        return ServicesChecked(len(results), failed, [each.name for each in changed])
