"""The daily live check of every service."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from found_footy.activities.boundary import implements
from found_footy.domain.operations.service_checks import CheckResult
from found_footy.ports_checks import ServiceChecks
from found_footy.workflows.canary import CHECK_SERVICES, CanaryInput, ServicesChecked

log = logging.getLogger(__name__)


class CanaryActivities:
    def __init__(self, check: Callable[[], Awaitable[Sequence[CheckResult]]], store: ServiceChecks) -> None:
        self._check = check
        self._store = store

    @implements(CHECK_SERVICES)
    async def check_services(self, order: CanaryInput) -> ServicesChecked:
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
