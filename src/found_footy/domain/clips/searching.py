"""What somebody looks for in the clip library, and how what was found is put in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

from found_footy.domain.clips.moments import Moment
from found_footy.domain.clips.states import ClipState

MOST_WORDS = 8
MOST_FOUND = 500
"""Clips that a search looks at, however many there are: of these, moments are made."""

_C = ClipState
GONE = frozenset({_C.REVIEW_ARCHIVED, _C.CLEANING, _C.CLEANING_FAILED, _C.ARCHIVED})
"""What somebody has thrown away is not found."""
PLACES: Mapping[str, frozenset[ClipState]] = {
    "library": frozenset(
        {_C.REVIEW_APPROVED, _C.KEYFRAMING, _C.KEYFRAMED, _C.EMBEDDING, _C.EMBEDDED, _C.KEYFRAME_FAILED,
         _C.EMBEDDING_FAILED}
    ),
    "review": frozenset({_C.EDIT_PENDING, _C.SPLICED, _C.GENERATING_SPRITE, _C.PENDING_REVIEW, _C.SPRITE_FAILED}),
    "skipped": frozenset({_C.REVIEW_SKIPPED}),
}  # fmt: skip
"""Where a clip stands, in one word: approved, on its way to a reviewer, or skipped."""

_NUMBER = re.compile(r"([0-9]{1,3})(?:([+.])([0-9]{1,2}))?['’′]?")


@dataclass(frozen=True, slots=True)
class Asked:
    """A line of words, taken apart: minutes are exact, words may be beginnings."""

    words: str = ""
    minutes: tuple[str, ...] = ()


def asked(line: str) -> Asked:
    """`salah 90+3` looks for the word and for the minute; so does `90+3'`."""
    words, minutes = [], []
    for word in line.split()[:MOST_WORDS]:
        if (number := _NUMBER.fullmatch(word)) is None:
            words.append(word)
        else:
            minute, sign, rest = number.groups()
            minutes.append(f"{int(minute)}{sign}{int(rest)}" if sign else str(int(minute)))
    return Asked(" ".join(words), tuple(minutes))


@dataclass(frozen=True, slots=True)
class Wanted:
    """The words and the filters. Nothing is empty by accident: None does not filter."""

    asked: Asked = field(default_factory=Asked)
    competition: str | None = None
    team: str | None = None
    player: str | None = None
    kind: str | None = None
    verified: bool | None = None
    sport: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    place: str | None = None
    """One of `PLACES`."""

    @property
    def states(self) -> list[str]:
        chosen = PLACES[self.place] if self.place else set(ClipState) - GONE
        return sorted(str(state) for state in chosen)

    @property
    def is_open(self) -> bool:
        """Whether any clip will do."""
        return self == Wanted()


def wanted_of(line: str | None, *, first: date | None = None, last: date | None = None, **more: Any) -> Wanted:
    """As somebody fills in a form: days in UTC, both of them included; an empty field does not filter."""
    filters: dict[str, Any] = {
        name: value.strip() or None if isinstance(value, str) else value for name, value in more.items()
    }
    since = datetime.combine(first, time(), UTC) if first else None
    until = datetime.combine(last, time(), UTC) + timedelta(days=1) if last else None
    return Wanted(asked(line or ""), since=since, until=until, **filters)


@dataclass(frozen=True, slots=True)
class Hit:
    clip_id: int
    likeness: float | None = None
    """1 is the same picture, 0 one that has nothing to do with it; None where words have found it."""


@dataclass(frozen=True, slots=True)
class FoundClip:
    """A clip as results show it."""

    id: int
    source_id: int
    first: int
    end: int
    rate: Fraction
    state: ClipState
    title: str
    width: int = 0
    height: int = 0
    event_id: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    keyframe: int | None = None
    """The number of its first keyframe."""
    has_sheet: bool = False

    @property
    def seconds(self) -> float:
        return float((self.end - self.first) / self.rate)

    @property
    def starts_at(self) -> float:
        """Seconds from the beginning of its source."""
        return float(self.first / self.rate)


@dataclass(frozen=True, slots=True)
class FoundMoment:
    """One moment: the clip that stands for it, and the other copies, the best first."""

    clip: FoundClip
    copies: tuple[FoundClip, ...]
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    moments: tuple[FoundMoment, ...]
    model: str | None = None
    """The one that likeness was judged by; None where words alone were asked."""
    more: bool = False
    """Whether there are clips beyond those that were looked at."""
    lacking: str | None = None
    """What could not be asked, and why. The rest was."""


def in_order(words: Sequence[Hit], likeness: Sequence[Hit]) -> list[Hit]:
    """What words have found comes first: it is certain. What pictures add follows, each clip once."""
    named = {hit.clip_id for hit in words}
    return [*words, *(hit for hit in likeness if hit.clip_id not in named)]


def as_moments(
    hits: Sequence[Hit], groups: Iterable[Moment], clips: Mapping[int, FoundClip], without: int | None = None
) -> list[FoundMoment]:
    """One result for each moment that was found, in the order of its first hit.

    It is shown by the clip that is most like what was asked for; where words have found it, by its best copy.
    `without` is the clip that one looks for others of. Clips that are not known any more are left out.
    """
    group_of = {clip: group for group in groups for clip in group}
    shown: list[FoundMoment] = []
    done: set[Moment] = set()
    for hit in hits:
        group = group_of.get(hit.clip_id, frozenset({hit.clip_id}))
        if group in done or hit.clip_id == without or hit.clip_id not in clips:
            continue
        done.add(group)
        members = sorted((clips[each] for each in group if each in clips and each != without), key=worth)
        lead = clips[hit.clip_id] if hit.likeness is not None else members[0]
        shown.append(FoundMoment(lead, tuple(each for each in members if each.id != lead.id), hit.likeness))
    return shown


def worth(clip: FoundClip) -> tuple[bool, bool, int, float, int]:
    """The best sorts first: proven, approved, large, long."""
    proven = clip.facts.get("verified") is True
    return not proven, clip.state not in PLACES["library"], -clip.width * clip.height, -clip.seconds, clip.id
