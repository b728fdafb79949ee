"""Whether the service does its work. Judged by what came of searches and by what is left behind, not by being up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from found_footy.adapters.browser.facts import BrowserFacts
from found_footy.adapters.browser.options import BrowserOptions


@dataclass(slots=True)
class Ledger:
    """What came of the searches, or of the readings of pages, so far."""

    what: str = "searches"
    asked: int = 0
    answered: int = 0
    failed: int = 0
    refused: int = 0
    """Turned away at the door, because too many waited."""
    failed_in_a_row: int = 0
    last_success: datetime | None = None
    last_error: datetime | None = None
    last_error_class: str | None = None
    waiting_since: datetime | None = None
    """When a search came first after the last success."""

    def to_json(self, running: int, waiting: int) -> dict[str, int]:
        counted = ("asked", "answered", "failed", "refused", "failed_in_a_row")
        return {**{name: getattr(self, name) for name in counted}, "running": running, "waiting": waiting}

    def note_asked(self, now: datetime) -> None:
        self.asked += 1
        if self.waiting_since is None:
            self.waiting_since = now

    def note_success(self, now: datetime) -> None:
        self.answered += 1
        self.failed_in_a_row = 0
        self.last_success = now
        self.waiting_since = None

    def note_failure(self, kind: str, now: datetime) -> None:
        self.failed += 1
        self.failed_in_a_row += 1
        self.last_error, self.last_error_class = now, kind

    def note_refusal(self) -> None:
        """A burst says nothing about X: it does not count as a failure, and not as a success."""
        self.refused += 1


def problems(ledgers: Sequence[Ledger], browser: BrowserFacts, options: BrowserOptions, now: datetime) -> list[str]:
    """Why the service is not healthy; nothing where it is."""
    found = []
    for ledger in ledgers:
        if ledger.failed_in_a_row >= options.failures:
            found.append(
                f"the last {ledger.failed_in_a_row} {ledger.what} failed, most recently with {ledger.last_error_class}"
            )
        if ledger.waiting_since is not None:
            silence = now - ledger.waiting_since
            if silence > timedelta(seconds=options.stale_seconds):
                found.append(f"none of the {ledger.what} has succeeded for {silence.total_seconds():.0f} s")
    left = browser.processes + browser.zombies
    if left > options.processes:
        found.append(f"{left} processes, {browser.zombies} of them ended; allowed are {options.processes}")
    return found
