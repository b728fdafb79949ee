"""What the feeds of one match do not agree on, and should: how it stands, and whether it is over."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from found_footy.domain.feeds.reconciled import REJECTED_BELOW, Contradiction
from found_footy.domain.fixtures.model import Innings, LiveFixture
from found_footy.domain.fixtures.statuses import PHASES

RUNS_APART = 0.05
"""Of the larger number; runs come every minute, and no two feeds count them in the same second."""


@dataclass(frozen=True, slots=True)
class Voice:
    """One feed's word in our terms."""

    feed: str
    at: datetime
    live: LiveFixture
    origin: str = ""

    def confidence(self, *names: str) -> float:
        """Of a field, under the most particular of its names that the reader was asked about."""
        return next((self.live.confidence[name] for name in names if name in self.live.confidence), 1.0)

    def trusts(self, *names: str) -> bool:
        return self.confidence(*names) >= REJECTED_BELOW


def contradictions(voices: Sequence[Voice]) -> tuple[Contradiction, ...]:
    """`voices` come in the order in which they are believed."""
    found = [
        _differing("status", voices, lambda live: live.status, _over),
        _differing("score", voices, lambda live: None if live.score is None else str(live.score), str),
        *_innings(voices),
    ]
    return tuple(each for each in found if each is not None)


def _over(status: str) -> bool | None:
    phase = PHASES.get(status)
    return None if phase is None else phase.is_over


def _differing(
    field: str, voices: Sequence[Voice], value: Callable[[LiveFixture], Any], key: Callable[[Any], Hashable]
) -> Contradiction | None:
    said = {voice.feed: value(voice.live) for voice in voices if voice.trusts(field)}
    said = {feed: each for feed, each in said.items() if each is not None and key(each) is not None}
    if len({key(each) for each in said.values()}) < 2:
        return None
    return Contradiction(field, said, next(iter(said)))


def _innings(voices: Sequence[Voice]) -> list[Contradiction]:
    trusted = [voice for voice in voices if voice.trusts("innings")]
    numbers = sorted({innings.number for voice in trusted for innings in voice.live.innings})
    found: list[Contradiction] = []
    for number in numbers:
        said = {voice.feed: innings for voice in trusted if (innings := _nth(voice.live, number)) is not None}
        runs = {feed: innings.runs for feed, innings in said.items()}
        wickets = {feed: innings.wickets for feed, innings in said.items()}
        if runs_differ(list(runs.values())):
            found.append(Contradiction(f"innings.{number}.runs", runs, next(iter(runs))))
        if len(set(wickets.values())) > 1:
            found.append(Contradiction(f"innings.{number}.wickets", wickets, next(iter(wickets))))
    return found


def _nth(live: LiveFixture, number: int) -> Innings | None:
    return next((innings for innings in live.innings if innings.number == number), None)


def runs_differ(runs: Sequence[int]) -> bool:
    return bool(runs) and max(runs) - min(runs) > RUNS_APART * max(runs)
