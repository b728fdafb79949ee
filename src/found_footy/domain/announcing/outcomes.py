"""What came of one try to deliver a message."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    TAKEN = "taken"
    LATER = "later"
    """It may be taken at another time."""
    REFUSED = "refused"
    """It will never be taken."""
    GONE = "gone"
    """The same, and whatever else goes there will not be either."""


@dataclass(frozen=True, slots=True)
class Outcome:
    result: Result
    said: str = ""
    """Why, in words that hold no secret."""
    maybe_told: bool = False
    """Whether the receiver may have it although the try failed."""
    retry_after: float | None = None
    """Seconds that the receiver asked for."""


LATER = frozenset({408, 425, 429})


def outcome_of(status: int, said: str = "", retry_after: float | None = None) -> Outcome:
    """By a receiver's HTTP status."""
    words = f"HTTP {status}{': ' + said if said else ''}"
    if 200 <= status < 300:
        return Outcome(Result.TAKEN)
    if status in LATER:
        return Outcome(Result.LATER, words, retry_after=retry_after)
    if status >= 500:
        # It failed at its side, and nobody knows after which step.
        return Outcome(Result.LATER, words, maybe_told=True, retry_after=retry_after)
    if status == 410:
        return Outcome(Result.GONE, words)
    if 300 <= status < 400:
        return Outcome(Result.REFUSED, f"HTTP {status}: redirects are not followed; give the address that it leads to")
    return Outcome(Result.REFUSED, words)
