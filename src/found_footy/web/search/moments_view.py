"""Moments of the library, as the search page shows them. Of a match whose score is hidden, who plays and when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import quote

from found_footy.domain.clips.searching import FoundClip, FoundMoment
from found_footy.domain.clips.states import words_for
from found_footy.web.search.documents import picture_of
from found_footy.web.search.view import NOTES, Hidden

MOST_COPIES = 20
"""That are listed; their number is told in full."""


@dataclass(frozen=True, slots=True)
class Copy:
    href: str
    said: str


@dataclass(frozen=True, slots=True)
class ShownMoment:
    is_hidden: ClassVar[bool] = False
    clip: int
    href: str
    like: str
    picture: str | None
    sheet: bool
    """Whether the picture is a whole sheet, of which only the first corner is to be shown."""
    heading: str
    minute: str
    note: str
    match: str
    league: str
    kickoff: str | None
    goal: str | None
    seconds: int
    verified: bool
    state: str
    said: str
    alike: str
    copies: tuple[Copy, ...]
    more_copies: int


def shown_moments(moments: Iterable[FoundMoment], hides: Callable[[int], bool]) -> list[Hidden | ShownMoment]:
    """A hidden match stands once, however many of its moments were found."""
    shown: list[Hidden | ShownMoment] = []
    veiled: set[int] = set()
    for moment in moments:
        fixture = moment.clip.facts.get("fixture_id")
        if not isinstance(fixture, int) or not hides(fixture):
            shown.append(_shown(moment))
        elif fixture not in veiled:
            veiled.add(fixture)
            shown.append(_veiled(fixture, moment.clip.facts))
    return shown


def _veiled(fixture: int, facts: Mapping[str, Any]) -> Hidden:
    home, away, league = (_text(facts, name) for name in ("home", "away", "competition"))
    return Hidden(fixture, home, away, league, _kickoff(facts))


def _shown(moment: FoundMoment) -> ShownMoment:
    clip, facts = moment.clip, moment.clip.facts
    home, away, score = (_text(facts, name) for name in ("home", "away", "score"))
    player = _text(facts, "player")
    return ShownMoment(
        clip=clip.id,
        href=f"/library/clips/{clip.id}",
        like=f"/search?like={clip.id}",
        picture=picture_of(clip),
        sheet=clip.keyframe is None,
        heading=player or clip.title,
        minute=_text(facts, "minute") if player else "",
        note="withdrawn" if facts.get("withdrawn") else NOTES.get(_text(facts, "kind"), ""),
        match=" ".join(part for part in (home, score or "v", away) if part) if home and away else "",
        league=_text(facts, "competition"),
        kickoff=_kickoff(facts),
        goal=f"/g/{quote(clip.event_id, safe='')}" if clip.event_id else None,
        seconds=max(1, round(clip.seconds)),
        verified=facts.get("verified") is True,
        state=str(clip.state),
        said=words_for(clip.state),
        alike="" if moment.likeness is None else f"{max(0.0, moment.likeness):.0%} alike",
        copies=tuple(_copy(each) for each in moment.copies[:MOST_COPIES]),
        more_copies=max(0, len(moment.copies) - MOST_COPIES),
    )


def _copy(clip: FoundClip) -> Copy:
    size = f", {clip.height}p" if clip.height else ""
    return Copy(f"/library/clips/{clip.id}", f"Clip {clip.id}: {clip.seconds:.1f} s{size}, {words_for(clip.state)}")


def _text(facts: Mapping[str, Any], name: str) -> str:
    value = facts.get(name)
    return value if isinstance(value, str) else ""


def _kickoff(facts: Mapping[str, Any]) -> str | None:
    """Only where it can be shown as a time."""
    try:
        datetime.fromisoformat(_text(facts, "kickoff"))
    except ValueError:
        return None
    return _text(facts, "kickoff")
