"""Runs live checks side by side: what each service was asked, and what came back.

A check is an adapter's own `check()`, which sends the requests that production sends. A slow service never holds up
the others, and a fault of ours in one check is that check's result.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from found_footy.domain.errors import FootyError
from found_footy.domain.operations.service_checks import CheckKind, CheckResult
from found_footy.http_exchanges import Exchange, decisive, record_exchanges
from found_footy.redaction import Redactor

log = logging.getLogger(__name__)

CHECK_SECONDS = 60.0
CLOSE_SECONDS = 5.0
"""For an adapter that does not close its connections at once after it was cancelled."""
MAX_REQUESTS_SHOWN = 4
TIMEOUT_HINT = "The service is very slow, or a firewall drops the packets. Try `footy doctor --live` again in a minute."
FAULT_HINT = "This is a bug in found-footy. Run `footy doctor --report` and attach the file to an issue."


@dataclass(frozen=True, slots=True)
class Probe:
    name: str
    kind: CheckKind
    check: Callable[[], Awaitable[str]]
    """Opens what it needs and closes it; returns a summary for people. Raises FootyError."""


@dataclass(frozen=True, slots=True)
class ServiceChecker:
    now: Callable[[], datetime]
    redactor: Redactor
    seconds: float = CHECK_SECONDS

    async def run(
        self, probes: Sequence[Probe], on_result: Callable[[CheckResult], None] = lambda result: None
    ) -> list[CheckResult]:
        """In the order of the probes, within `seconds`; `on_result` is called as each one ends."""
        results: dict[str, CheckResult] = {}

        async def one(probe: Probe) -> None:
            results[probe.name] = result = await self._result(probe)
            on_result(result)

        tasks = [asyncio.create_task(one(probe), name=f"check {probe.name}") for probe in probes]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=self.seconds + CLOSE_SECONDS)
            for task in late:
                task.cancel()
        for probe in probes:
            if probe.name not in results:
                results[probe.name] = result = self._timed_out(probe, deque())
                on_result(result)
        return [results[probe.name] for probe in probes]

    async def run_patiently(self, probes: Sequence[Probe], pause_seconds: float) -> list[CheckResult]:
        """Checks again, once, what failed for a reason that may pass: one lost packet is not an outage."""
        results = await self.run(probes)
        doubtful = {result.name for result in results if not result.ok and result.retryable}
        if not doubtful:
            return results
        await asyncio.sleep(pause_seconds)
        again = {result.name: result for result in await self.run([each for each in probes if each.name in doubtful])}
        return [again.get(result.name, result) for result in results]

    async def _result(self, probe: Probe) -> CheckResult:
        began = time.monotonic()
        with record_exchanges() as exchanges:
            try:
                async with asyncio.timeout(self.seconds):
                    said = await probe.check()
            except FootyError as error:
                failed = self._made(probe, exchanges, f"{error.kind}: {error}")
                result = replace(failed, error_class=error.kind, hint=error.hint, retryable=error.retryable)
            except TimeoutError:
                result = self._timed_out(probe, exchanges)
            except Exception as error:
                log.exception("fault in a live check", extra={"action": "program_fault", "service": probe.name})
                failed = self._made(probe, exchanges, f"{type(error).__name__}: {error}")
                result = replace(failed, error_class="ProgramFault", hint=FAULT_HINT)
            else:
                result = replace(self._made(probe, exchanges, said), ok=True)
        return replace(result, seconds=round(time.monotonic() - began, 3))

    def _timed_out(self, probe: Probe, exchanges: deque[Exchange]) -> CheckResult:
        made = self._made(probe, exchanges, f"no result within {self.seconds:g} s")
        return replace(made, error_class="TimeoutError", hint=TIMEOUT_HINT, seconds=self.seconds, retryable=True)

    def _made(self, probe: Probe, exchanges: deque[Exchange], said: str) -> CheckResult:
        clean = self.redactor.text
        sent = Counter(exchange.asked for exchange in exchanges)
        shown = [f"{asked} ({times} times)" if times > 1 else asked for asked, times in sent.items()]
        if len(shown) > MAX_REQUESTS_SHOWN:
            shown[MAX_REQUESTS_SHOWN:] = [f"… and {len(shown) - MAX_REQUESTS_SHOWN} more"]
        last = decisive(exchanges)
        return CheckResult(
            name=probe.name,
            kind=probe.kind,
            ok=False,
            checked_at=self.now(),
            asked=clean("\n".join(shown)),
            response=clean(last.answered) if last else "",
            said=clean(said),
        )
