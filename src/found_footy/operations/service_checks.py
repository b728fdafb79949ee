"""Live checks of external services: results, their history, and the runner."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

from found_footy.config import Settings
from found_footy.errors import FootyError
from found_footy.operations.models import CheckKind, CheckResult, ServiceCheck
from found_footy.runtime.browser_secret import browser_headers
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http_exchanges import Exchange, decisive_exchange, record_exchanges
from found_footy.runtime.redaction import Redactor
from found_footy.secrets import build_redactor

MAX_ASKED = 1000
MAX_ANSWER = 1000


def after_check(before: ServiceCheck | None, result: CheckResult) -> ServiceCheck:
    """Return the history after one more result. A result older than the last one is ignored."""
    if before is not None and result.checked_at < before.checked_at:
        return before
    is_unchanged = before is not None and before.ok == result.ok
    return ServiceCheck(
        name=result.name,
        kind=result.kind,
        ok=result.ok,
        since=before.since if before is not None and is_unchanged else result.checked_at,
        last_ok_at=result.checked_at if result.ok else before.last_ok_at if before else None,
        checked_at=result.checked_at,
        asked=result.asked[:MAX_ASKED],
        answer=result.answer[:MAX_ANSWER],
        error_class=result.error_class,
        hint=result.hint,
    )


def is_transition(before: ServiceCheck | None, after: ServiceCheck) -> bool:
    """Whether to notify subscribers: on a change of state, and for a service that fails its first check."""
    return not after.ok if before is None else before.ok != after.ok


# --- Runner of concurrent live checks.


if TYPE_CHECKING:
    from found_footy.feeds.registry import DeclaredFeed

log = logging.getLogger(__name__)

CHECK_SECONDS = 60.0
CLOSE_SECONDS = 5.0
"""Extra time for adapters to close their connections after cancellation."""
MAX_REQUESTS_SHOWN = 4
TIMEOUT_HINT = "The service is very slow, or a firewall drops packets. Try `footy doctor --live` again in a minute."
FAULT_HINT = "This is a bug in found-footy. Run `footy doctor --report` and attach the file to an issue."


@dataclass(frozen=True, slots=True)
class Probe:
    name: str
    kind: CheckKind
    check: Callable[[], Awaitable[str]]
    """Opens and closes its own resources; returns a human-readable summary. Raises FootyError."""


@dataclass(frozen=True, slots=True)
class ServiceChecker:
    now: Callable[[], datetime]
    redactor: Redactor
    seconds: float = CHECK_SECONDS

    async def run(
        self, probes: Sequence[Probe], on_result: Callable[[CheckResult], None] = lambda result: None
    ) -> list[CheckResult]:
        """Run all probes within `seconds` and return results in their order; `on_result` is called as each ends."""
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

    async def run_with_recheck(self, probes: Sequence[Probe], pause_seconds: float) -> list[CheckResult]:
        """Repeat retryable failures once, to ignore brief network errors."""
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
                    summary = await probe.check()
            except FootyError as error:
                failed = self._build_result(probe, exchanges, f"{error.kind}: {error}")
                result = replace(failed, error_class=error.kind, hint=error.hint, retryable=error.retryable)
            except TimeoutError:
                result = self._timed_out(probe, exchanges)
            except Exception as error:
                log.exception(
                    "internal error in a live check", extra={"action": "program_fault", "service": probe.name}
                )
                failed = self._build_result(probe, exchanges, f"{type(error).__name__}: {error}")
                result = replace(failed, error_class="InternalFault", hint=FAULT_HINT)
            else:
                result = replace(self._build_result(probe, exchanges, summary), ok=True)
        return replace(result, seconds=round(time.monotonic() - began, 3))

    def _timed_out(self, probe: Probe, exchanges: deque[Exchange]) -> CheckResult:
        result = self._build_result(probe, exchanges, f"no result within {self.seconds:g} s")
        return replace(result, error_class="TimeoutError", hint=TIMEOUT_HINT, seconds=self.seconds, retryable=True)

    def _build_result(self, probe: Probe, exchanges: deque[Exchange], summary: str) -> CheckResult:
        clean = self.redactor.text
        sent = Counter(exchange.request_line for exchange in exchanges)
        shown = [f"{asked} ({times} times)" if times > 1 else asked for asked, times in sent.items()]
        if len(shown) > MAX_REQUESTS_SHOWN:
            shown[MAX_REQUESTS_SHOWN:] = [f"… and {len(shown) - MAX_REQUESTS_SHOWN} more"]
        last = decisive_exchange(exchanges)
        return CheckResult(
            name=probe.name,
            kind=probe.kind,
            ok=False,
            checked_at=self.now(),
            asked=clean("\n".join(shown)),
            response=clean(last.response_line) if last else "",
            summary=clean(summary),
        )


RECHECK_SECONDS = 30.0


class Checkable(Protocol):
    async def check(self) -> str: ...

    async def aclose(self) -> None: ...


def build_checker(settings: Settings) -> ServiceChecker:
    return ServiceChecker(utc_now, build_redactor(settings))


def build_probes(settings: Settings, feeds: Sequence[DeclaredFeed]) -> list[Probe]:
    """Build a probe for everything that is enabled and configured. Connections open only when a probe runs."""
    from found_footy.browser.client import BrowserClient
    from found_footy.clips.llama_vision import LlamaVision
    from found_footy.discovery.registry import build_wikidata, missing_settings
    from found_footy.feeds.registry import build_feed
    from found_footy.storage.stores import build_objects

    probes = [
        _probe(f"feed {each.source.id}", CheckKind.FEED, partial(build_feed, settings, each.source, None))
        for each in feeds
        if each.is_on and not each.missing
    ]
    off = missing_settings(settings)
    for name in settings.sources:
        if name not in off:
            probes.append(_probe(f"source {name}", CheckKind.SOURCE, partial(_source, settings, name)))
    probes.append(_probe("team names", CheckKind.SERVICE, partial(build_wikidata, settings)))
    probes.append(_probe("object store", CheckKind.SERVICE, partial(build_objects, settings)))
    if settings.llama_url is not None:
        probes.append(
            _probe(
                "vision server", CheckKind.SERVICE, partial(LlamaVision, settings.llama_url, model=settings.llama_model)
            )
        )
    if settings.browser_url is not None:
        probes.append(
            Probe("browser", CheckKind.SERVICE, BrowserClient(settings.browser_url, browser_headers(settings)).check)
        )
    return probes


def _probe(name: str, kind: CheckKind, build: Callable[[], Checkable]) -> Probe:
    """Return a probe that builds the adapter for each run, because a run closes it."""

    async def check() -> str:
        opened = build()
        try:
            return await opened.check()
        finally:
            await opened.aclose()

    return Probe(name, kind, check)


def _source(settings: Settings, name: str) -> Checkable:
    from found_footy.discovery.registry import build_sources

    (source,) = build_sources(settings.model_copy(update={"sources": (name,)}))
    return source
