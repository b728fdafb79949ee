"""How CREX writes things down: scores, dismissals, what happens now, kinds of matches. Pure tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from found_footy.adapters.feeds.cricket_words import MAX_RUNS, cricket_status, wicket_kind
from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.fixtures.model import WicketKind
from found_footy.domain.fixtures.statuses import phase_of

OVERS_OF = {"T10": 10, "T20": 20, "T20I": 20, "ODI": 50, "ODM": 50, "TEST": 0}

_SCORE = re.compile(r"(\d{1,4})(?:\s*[-/]\s*(\d{1,2}))?(\s*(?:d|dec|decl)\.?)?", re.ASCII | re.IGNORECASE)
_MATCH_TYPE = re.compile(r"\b(T10|T20I|T20|ODI|ODM|Test)s?\b", re.IGNORECASE)
_BALL = re.compile(
    r"\d{1,2}|w|wkt|wicket|wide|wd\d?|no ball|nb\d?|\d?lb|\d?b|(?:leg )?byes?|dot|four|six|ball|over|ball start"
    r"|player entering|drs|review|free hit",
    re.IGNORECASE | re.ASCII,
)
_TOSS = re.compile(r"won the toss|\b(?:opt|elect|choose|chose|decide)s?(?:ed|d)?\b", re.IGNORECASE)
_BOWLED_BY = re.compile(r"(?P<how>.*?)\s*\bb\s+(?P<bowler>[^()]+?)\s*", re.IGNORECASE)
_SURE, _LIKELY, _GUESSED = 1.0, 0.8, 0.6


@dataclass(frozen=True, slots=True)
class Total:
    runs: int
    wickets: int | None
    """None where only runs are shown."""
    declared: bool = False


def total_of(text: str, field: str) -> Total | None:
    """`187-5`, `187/5`, `320-8 d`; None where nothing was scored yet, because nobody has batted."""
    shown = text.strip()
    if shown.casefold() in ("", "-", "yet to bat"):
        return None
    found = _SCORE.fullmatch(shown)
    if found is None or int(found[1]) > MAX_RUNS or int(found[2] or 0) > 10:
        raise FeedSchemaError(field, text, "a score such as 187-5")
    return Total(int(found[1]), int(found[2]) if found[2] else None, found[3] is not None)


@dataclass(frozen=True, slots=True)
class Dismissal:
    kind: WicketKind | None
    """None where the batter is not out."""
    bowler: str | None = None


def dismissal_of(text: str) -> Dismissal:
    """`c Pant b Bumrah`, `c & b Starc`, `lbw b Zampa`, `run out (Jadeja)`, `b Rabada`, `not out`."""
    said = " ".join(text.split())
    if (plain := wicket_kind(re.sub(r"\s*\(.*\)$", "", said))) is None:
        return Dismissal(None)
    found = _BOWLED_BY.fullmatch(said)
    if found is None:
        return Dismissal(plain)
    how = found["how"].casefold().strip()
    # "c & b Starc": the bowler has caught it himself.
    first = re.split(r"[\s&]", how, maxsplit=1)[0] if not how.startswith("hit") else "hit wicket"
    kind = wicket_kind(first) if how else WicketKind.BOWLED
    return Dismissal(kind or WicketKind.OTHER, found["bowler"])


def status_of(box: str, comment: str, *, begun: bool) -> tuple[str, float]:
    """Our status, and how sure that is, from the two texts of a page's head, without the teams' names in them."""
    words = [box, comment]
    if not begun:
        return cricket_status("pre", words), _SURE
    ended = cricket_status("post", words, completed=False)
    if phase_of(ended).is_over:
        # The last ball of a match may stay for a moment; and so may a comment, from the innings before.
        return ended, _LIKELY if is_ball(box) else _SURE
    status = cricket_status("in", words)
    known = status != "LIVE" or is_ball(box) or not box
    return status, _SURE if known else _GUESSED


def is_ball(text: str) -> bool:
    return _BALL.fullmatch(text.strip()) is not None


def is_wicket(text: str) -> bool:
    return text.strip().casefold() in ("w", "wkt", "wicket")


def tells_toss(text: str) -> bool:
    return _TOSS.search(text) is not None


def match_type_of(*texts: str) -> str | None:
    """T20, ODI, Test, …: as the first of the texts has it that has it."""
    found = next((found for text in texts if (found := _MATCH_TYPE.search(text))), None)
    if found is None:
        return None
    return "Test" if found[1].casefold() == "test" else found[1].upper()


def parts_of(name: str) -> tuple[Sequence[str], str, str]:
    """`India vs Australia, 3rd T20I, Tour of Australia, 2026`: the two sides, which match it is, and the series."""
    first, *rest = [part.strip() for part in name.split(",")]
    sides = re.split(r"\s+vs\.?\s+", first, maxsplit=1, flags=re.IGNORECASE)
    return sides, rest[0] if rest else "", ", ".join(rest[1:])
