"""Notation shared by cricket feeds: overs, breaks, match ends, dismissals and the toss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from found_footy.errors import UnknownStatus
from found_footy.fixtures.models import Innings, Score, Side, Team, Toss, WicketKind
from found_footy.json_reader import JsonReader

MAX_RUNS = 2000
MAX_OVERS = 1000
MAX_INNINGS = 8
"""Four innings and a few super overs."""

BREAKS: Sequence[tuple[str, str]] = (
    (r"stumps|close of play|end of day", "STUMPS"),
    (r"innings? break|between innings|change of innings", "INNBRK"),
    (r"lunch", "LUNCH"),
    (r"dinner|supper", "DINNER"),
    (r"tea", "TEA"),
    (r"drinks?", "DRINKS"),
    (r"rain|bad light|wet (?:outfield|ground|pitch)|weather|play (?:held up|suspended|delayed)|delay(?:ed)?", "RAIN"),
)
ENDS: Sequence[tuple[str, str]] = (
    (r"no result", "NR"),
    (r"abandoned", "ABD"),
    (r"cancell?ed|called off", "CANC"),
    (r"won(?! (?:the )?toss)|beat|victory|conceded|awarded|walkover", "RESULT"),
    (r"drawn|draw", "DRAW"),
    (r"tied|tie", "TIE"),
)

DISMISSAL_KINDS: Mapping[str, WicketKind] = {
    "c": WicketKind.CAUGHT,
    "caught": WicketKind.CAUGHT,
    "caught and bowled": WicketKind.CAUGHT,
    "b": WicketKind.BOWLED,
    "bowled": WicketKind.BOWLED,
    "lbw": WicketKind.LBW,
    "leg before wicket": WicketKind.LBW,
    "run out": WicketKind.RUN_OUT,
    "st": WicketKind.STUMPED,
    "stumped": WicketKind.STUMPED,
    "hit wicket": WicketKind.HIT_WICKET,
    "hit wkt": WicketKind.HIT_WICKET,
}
NOT_OUT = frozenset({"not out", "retired not out", "retired hurt", "retired ill", "batting", "absent", "absent hurt"})


def cricket_status(state: str, status_texts: Iterable[str | None], *, completed: bool = True) -> str:
    """Return the status for a feed's `pre`, `in` or `post` and its status texts.

    A break never ends a match, even if the feed reports `post`: that requires the text of a result, or `completed`.
    """
    texts = [word.casefold().replace("_", " ") for word in status_texts if word]
    if state == "in":
        return _first_match(BREAKS, texts) or "LIVE"
    if any("postponed" in word for word in texts):
        return "PST"
    if state == "pre":
        return _first_match(ENDS[:3], texts) or "NS"
    if state == "post":
        return _first_match(ENDS, texts) or _first_match(BREAKS[:-1], texts) or ("RESULT" if completed else "LIVE")
    raise UnknownStatus(f"unknown state {state[:40]!r} of a cricket match: expected pre, in or post")


def _first_match(table: Sequence[tuple[str, str]], texts: Sequence[str]) -> str | None:
    return next(
        (code for pattern, code in table if any(re.search(rf"\b(?:{pattern})\b", text) for text in texts)), None
    )


def parse_overs(reader: JsonReader) -> tuple[int, int]:
    """Parse overs given as number or text: 12.3 is twelve overs and three balls."""
    value = reader.value
    text = str(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    found = re.fullmatch(r"(\d{1,4})(?:\.(\d))?", text, re.ASCII)
    if found is None or int(found[1]) > MAX_OVERS:
        raise reader.schema_error("overs such as 12.3")
    return int(found[1]), int(found[2] or 0)


def wicket_kind(text: str | None) -> WicketKind | None:
    """Return the kind of dismissal, or None if the batter is not out."""
    normalized = re.sub(r"\s+", " ", (text or "").strip().casefold())
    return None if normalized in NOT_OUT else DISMISSAL_KINDS.get(normalized, WicketKind.OTHER)


def parse_toss(text: str | None, teams: Mapping[Side, Team]) -> Toss | None:
    """Parse `India, elected to field first`; None if the toss or its winner is unclear."""
    normalized = (text or "").casefold()
    decision = re.search(r"\b(bat|field|bowl)", normalized)
    names = [(name, side) for side, team in teams.items() for name in (team.name, team.short) if name]
    # Prefer the longest name: India A is not India.
    matching = sorted(
        ((len(name), side) for name, side in names if normalized.startswith(name.casefold())), reverse=True
    )
    if decision is None or not matching:
        return None
    return Toss(matching[0][1], "bat" if decision[1] == "bat" else "field")


def wickets_taken(innings: Iterable[Innings]) -> Score:
    """Return the wickets taken by each side, which are those lost by the other."""
    lost = {Side.HOME: 0, Side.AWAY: 0}
    for each in innings:
        lost[each.batting] += each.wickets
    return Score(home=lost[Side.AWAY], away=lost[Side.HOME])


def opponent(side: Side) -> Side:
    return Side.AWAY if side is Side.HOME else Side.HOME
