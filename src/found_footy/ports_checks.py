"""Where results of live checks and answers of an unexpected form are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from found_footy.domain.errors import FootyError
from found_footy.domain.operations.service_checks import CheckResult, ServiceCheck
from found_footy.http_exchanges import Exchange


@dataclass(frozen=True, slots=True)
class UnexpectedAnswer:
    """An answer that an adapter could not use, redacted, for a bug report."""

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
        """Keeps the newest few per name; False if the same error was kept minutes ago. Raises StoreUnavailable."""

    async def kept(self) -> Sequence[UnexpectedAnswer]:
        """The newest first."""


class ServiceChecks(Protocol):
    async def save(self, results: Sequence[CheckResult], *, complete: bool = False) -> Sequence[ServiceCheck]:
        """Returns the checks whose state changed, each of which is also written to the outbox.

        `complete`: the results cover every enabled service, so the rows of all others are deleted.
        """

    async def checks(self) -> Sequence[ServiceCheck]:
        """Failing ones first, then by name."""
