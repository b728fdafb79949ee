"""How long to wait before a child that died is started again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Backoff:
    """Twice as long after each death, up to a ceiling; from the beginning again after a good long life."""

    first_seconds: float = 0.5
    ceiling_seconds: float = 30.0
    good_life_seconds: float = 60.0
    _next: float = 0.0

    def after(self, lived_seconds: float) -> float:
        """The pause after a life of this length."""
        if lived_seconds >= self.good_life_seconds or self._next == 0.0:
            self._next = self.first_seconds
        pause = self._next
        self._next = min(pause * 2, self.ceiling_seconds)
        return pause
