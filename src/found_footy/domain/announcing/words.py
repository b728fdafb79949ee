"""The title and the text of a message, with the score or without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from found_footy.domain.announcing.context import Context, Match
from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.discovery.posts import clean_text

LONGEST = 60

STATUSES = {
    "1H": "Kick-off",
    "HT": "Half-time",
    "2H": "The second half has begun",
    "ET": "Extra time",
    "BT": "Break in extra time",
    "P": "Shoot-out",
    "FT": "Full time",
    "AET": "Full time after extra time",
    "PEN": "Full time after a shoot-out",
    "SUSP": "Suspended",
    "INT": "Interrupted",
    "PST": "Postponed",
    "CANC": "Cancelled",
    "ABD": "Abandoned",
    "AWD": "Decided at the table",
    "WO": "Decided at the table",
}
OVER = frozenset({"FT", "AET", "PEN", "AWD", "WO"})
"""How it came to an end tells something of the result."""


@dataclass(frozen=True, slots=True)
class Words:
    title: str
    text: str


def plain_words(news: NewsItem, context: Context) -> Words:
    match, payload = _match(context), news.payload
    sides, league = _sides(match), _short(match.league)
    who = _who(news, context)
    match news.topic:
        case "goal.seen":
            return Words(f"Goal? {_score(match, payload)}", f"{who}, not certain yet · {league}")
        case "goal.stable":
            return Words(f"Goal: {_score(match, payload)}", f"{who} · {league}")
        case "goal.changed":
            return Words(f"Corrected: {sides}", f"{who}: {_changes(payload)}")
        case "goal.withdrawn":
            reason = _short(payload.get("reason"), 120)
            return Words(f"Withdrawn: goal in {sides}", f"{who} does not count{': ' + reason if reason else ''}")
        case "goal.complete":
            return Words(f"All clips are there: {sides}", f"{who} · {league}")
        case "clip.published":
            sure = "its clock fits" if payload.get("verified") is True else "not verified"
            return Words(f"Clip: {sides}", f"{who} · {sure} · {league}")
        case "clip.replaced":
            return Words(f"A better copy: {sides}", f"{who} · {league}")
        case "clips.ranked":
            return Words(f"Clips in a new order: {sides}", f"{who} · {league}")
        case "fixture.score":
            return Words(_scored(match, payload.get("to")), league)
        case "fixture.status":
            status = str(payload.get("to"))
            return Words(f"{STATUSES.get(status, _short(status))}: {sides}", league)
    return _about_fixture(news, sides, league)


def hidden_words(news: NewsItem, context: Context) -> Words:
    match, payload = _match(context), news.payload
    sides, league = _sides(match), _short(match.league)
    match news.topic:
        case "goal.seen":
            return Words(f"Perhaps a goal in {sides}", f"Not certain yet · {league}")
        case "goal.stable":
            return Words(f"A goal in {sides}", league)
        case "goal.withdrawn":
            return Words(f"A goal in {sides} does not count", league)
        case "goal.complete":
            return Words(f"All clips of a goal in {sides} are there", league)
        case "clip.published":
            sure = "Its clock fits" if payload.get("verified") is True else "Not verified"
            return Words(f"A clip of a goal in {sides} is there", f"{sure} · {league}")
        case "clip.replaced":
            return Words(f"A better copy of a clip in {sides} is there", league)
        case "clips.ranked":
            return Words(f"The clips of a goal in {sides} have a new order", league)
        case "fixture.status":
            status = str(payload.get("to"))
            word = "Full time" if status in OVER else STATUSES.get(status, _short(status))
            return Words(f"{word}: {sides}", league)
    return _about_fixture(news, sides, league)


def _about_fixture(news: NewsItem, sides: str, league: str) -> Words:
    titles = {
        "fixture.staging": f"Waiting: {sides}",
        "fixture.active": f"Soon: {sides}",
        "fixture.completed": f"Closed: {sides}",
    }
    return Words(titles.get(news.topic, sides), league)


def _match(context: Context) -> Match:
    assert context.match is not None
    return context.match


def _sides(match: Match) -> str:
    return f"{_short(match.home)} – {_short(match.away)}"


def _score(match: Match, payload: Mapping[str, Any]) -> str:
    return _scored(match, payload.get("score"))


def _scored(match: Match, score: object) -> str:
    home, dash, away = str(score or "").partition("-")
    if not (dash and home.isdecimal() and away.isdecimal()):
        return _sides(match)
    return f"{_short(match.home)} {home[:3]}–{away[:3]} {_short(match.away)}"


def _who(news: NewsItem, context: Context) -> str:
    """`23' Mohamed Salah (Liverpool)`, as far as it is known."""
    known = context.goal
    payload = news.payload
    player = _short(payload.get("player") or (known.player if known else None)) or "unknown scorer"
    team = _short(payload.get("team") or (known.team if known else None))
    minute = _short(payload.get("minute") or (known.minute if known else None), 12)
    kind = {"Penalty": ", penalty", "Own Goal": ", own goal"}.get(str(payload.get("kind")), "")
    return f"{minute + ' ' if minute else ''}{player}{f' ({team}{kind})' if team else kind}"


def _changes(payload: Mapping[str, Any]) -> str:
    changed = payload.get("changed", {})
    parts = [
        f"{name} {_short(pair.get('from')) or 'none'} → {_short(pair.get('to')) or 'none'}"
        for name, pair in changed.items()
        if isinstance(pair, Mapping) and not name.endswith("_id")
    ]
    return ", ".join(parts[:5]) or "details"


def _short(value: object, longest: int = LONGEST) -> str:
    plain = clean_text("" if value is None else str(value), longest + 1)
    return plain if len(plain) <= longest else plain[: longest - 1].rstrip() + "…"
