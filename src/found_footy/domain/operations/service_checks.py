"""Live checks of the services that we depend on: one result, and what the history of results says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from found_footy.domain.operations.findings import spoken

MAX_ASKED = 1000
MAX_ANSWER = 1000


class CheckKind(StrEnum):
    FEED = "feed"
    SOURCE = "source"
    HOST = "host"
    """A host of clips."""
    SERVICE = "service"
    """Anything else: team names, vision server, object store, browser."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check."""

    name: str
    """Stable: `feed espn`, `source reddit`, `team names`."""
    kind: CheckKind
    ok: bool
    checked_at: datetime
    asked: str
    """The requests that were sent, one per line: method, host, path, query. Empty if the check needs no HTTP."""
    response: str
    """Status, size and seconds of the request that decided the result; empty without HTTP."""
    said: str
    """The adapter's own summary, or its error."""
    error_class: str = ""
    hint: str = ""
    seconds: float = 0.0
    retryable: bool = False

    @property
    def answer(self) -> str:
        return "; ".join(filter(None, (self.response, self.said)))


@dataclass(frozen=True, slots=True)
class ServiceCheck:
    """The last result of a service, and since when it has been like that."""

    name: str
    kind: CheckKind
    ok: bool
    since: datetime
    """First check of the present state."""
    last_ok_at: datetime | None
    checked_at: datetime
    asked: str
    answer: str
    error_class: str = ""
    hint: str = ""

    def history(self, now: datetime) -> str:
        """`working for 3 d`, or `failing for 2 h, worked 2 h 5 min ago`."""
        lasted = spoken(now - self.since)
        if self.ok:
            return f"working for {lasted}"
        if self.last_ok_at is None:
            return f"failing for {lasted}, never worked"
        return f"failing for {lasted}, last worked {spoken(now - self.last_ok_at)} ago"


def after_check(before: ServiceCheck | None, result: CheckResult) -> ServiceCheck:
    """The history with one more result. A result older than the last one changes nothing."""
    if before is not None and result.checked_at < before.checked_at:
        return before
    lasts = before is not None and before.ok == result.ok
    return ServiceCheck(
        name=result.name,
        kind=result.kind,
        ok=result.ok,
        since=before.since if before is not None and lasts else result.checked_at,
        last_ok_at=result.checked_at if result.ok else before.last_ok_at if before else None,
        checked_at=result.checked_at,
        asked=result.asked[:MAX_ASKED],
        answer=result.answer[:MAX_ANSWER],
        error_class=result.error_class,
        hint=result.hint,
    )


def is_transition(before: ServiceCheck | None, after: ServiceCheck) -> bool:
    """Whether somebody should be notified. A service that works at its first check is not news; one that fails is."""
    return not after.ok if before is None else before.ok != after.ok
