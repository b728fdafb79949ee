"""One thing that is wrong with a scenario file."""

from __future__ import annotations

from dataclasses import dataclass

_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    given: object
    allowed: str

    def __str__(self) -> str:
        given = "nothing" if self.given is None else repr(self.given)
        if len(given) > _LONGEST:
            given = given[: _LONGEST - 3] + "..."
        return f"{self.path}: got {given}; allowed: {self.allowed}"
