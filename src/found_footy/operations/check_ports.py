"""Stores of live check results and unexpected responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from found_footy.errors import FootyError
from found_footy.operations.service_checks import CheckResult, ServiceCheck
from found_footy.runtime.http_exchanges import Exchange


@dataclass(frozen=True, slots=True)
class UnexpectedAnswer:
    """A response that an adapter could not use, redacted, for a bug report."""

    name: str
    at: datetime
    error_class: str
    message: str
    request: str
    status: int | None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


class UnexpectedAnswers(Protocol):
    async def save(self, name: str, error: FootyError, exchange: Exchange) -> bool:
        """Keep the newest few per name; return False if the same error was kept recently. Raises StoreUnavailable."""

    async def kept(self) -> Sequence[UnexpectedAnswer]:
        """Return the kept responses, newest first."""


class ServiceChecks(Protocol):
    async def save(self, results: Sequence[CheckResult], *, complete: bool = False) -> Sequence[ServiceCheck]:
        """Save the results and return the checks whose state changed, which are also written to the outbox.

        `complete`: the results cover every enabled service, so the rows of all others are deleted.
        """

    async def checks(self) -> Sequence[ServiceCheck]:
        """Return the checks, failing ones first, then by name."""
