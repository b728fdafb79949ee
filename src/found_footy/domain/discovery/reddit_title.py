"""Reads the titles under which r/soccer posts goals: `Liverpool [2] - 1 Manchester City - M. Salah 67'`.

The number in square brackets is the side that has just scored. People write these titles by hand, so that dashes,
quotes and notes differ; what is certain is only the score in the middle.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.fixtures.model import GoalKind, Minute, Score, Side

LONGEST_TITLE = 300
LAST_MINUTE = 130

_DASH = "[-\u2010-\u2015\u2212:]"
_QUOTE = "['\u2018\u2019\u02bc\u2032\u00b4`]"
_GOALS = r"\[\s?\d{1,2}\s?\]|\d{1,2}"

_SCORE = re.compile(rf"(?<!\S)({_GOALS})\s?{_DASH}\s?({_GOALS})(?![^\s(])")
_PAIR = rf"\[?(\d{{1,2}})\]?\s?{_DASH}\s?\[?(\d{{1,2}})\]?"
_AGGREGATE = re.compile(
    rf"[(\[]\s?(?:{_PAIR},?\s(?:on\s)?agg(?:regate)?\.?|agg(?:regate)?[.:]{{0,2}}\s?{_PAIR})\s?[)\]]", re.IGNORECASE
)
_BARE_PAIR = re.compile(rf"\(\s?{_PAIR}\s?\)")
_TAG = re.compile(r"^\[[^\]\d]{1,40}\]\s?")
_SEPARATOR = re.compile(rf"\s(?:{_DASH}|\|)\s|:\s")
_MINUTE = re.compile(
    rf"(?<![\d.])(?:(\d{{1,3}}){_QUOTE}?\s?\+\s?(\d{{1,2}})(?!\d)(?:{_QUOTE}|\s?min\b\.?)?"
    rf"|(\d{{1,3}})\s?(?:{_QUOTE}|min\b\.?))",
    re.IGNORECASE,
)
_LAST_NUMBER = re.compile(r"(?<=\s)(\d{1,3})$")
_NOTE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_OWN_GOAL = re.compile(r"\(\s?o\.?\s?g\.?\s?\)|\bOG\b|\bo\.g\.|\bown[ -]goal\b", re.IGNORECASE)
_PENALTY = re.compile(r"\(\s?p\.?\s?\)|\bpen\b\.?|\bpenalty(?:[ -]kick)?\b|\bpk\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GoalTitle:
    home: str
    away: str
    score: Score
    """After the goal."""
    side: Side | None
    """Who scored; nothing where no number, or both, stand in brackets."""
    scorer: str | None
    minute: Minute | None
    kind: GoalKind = GoalKind.NORMAL
    aggregate: Score | None = None

    @property
    def named(self) -> str:
        """The teams and the scorer, without whoever else the title mentions."""
        return " ".join(part for part in (self.home, self.away, self.scorer) if part)


def parse_title(text: str) -> GoalTitle | None:
    """Nothing where the title is not that of a goal: no score, or neither brackets nor a minute."""
    title, aggregate = _take_aggregate(_TAG.sub("", clean_text(text, LONGEST_TITLE)))
    found = _score_in(title)
    if found is None:
        return None
    home, rest = title[: found.start()].strip(" -:|"), title[found.end() :]
    away, detail = _split(rest)
    if aggregate is None and (pair := _BARE_PAIR.search(away)):
        aggregate = _score(pair[1], pair[2])
        away = away[: pair.start()] + away[pair.end() :]
    minute, before, after = _take_minute(detail or "")
    if detail is None:
        # Nobody can tell where the team ends and the scorer begins.
        minute, away, _ = _take_minute(away)
    away, side = _tidy(away), _side(found[1], found[2])
    if not home or not away or (side is None and minute is None):
        return None
    return GoalTitle(
        home=home,
        away=away,
        score=_score(found[1].strip("[] "), found[2].strip("[] ")),
        side=side,
        scorer=_tidy(before) or _tidy(after) or None,
        minute=minute,
        kind=_kind(rest),
        aggregate=aggregate,
    )


def _score_in(title: str) -> re.Match[str] | None:
    """The one with brackets, where there is one: `Schalke 04 - 1860` is no score."""
    found = list(_SCORE.finditer(title))
    return next((each for each in found if "[" in each[0]), found[0] if found else None)


def _score(home: str, away: str) -> Score:
    return Score(int(home), int(away))


def _side(home: str, away: str) -> Side | None:
    marked = [side for side, goals in ((Side.HOME, home), (Side.AWAY, away)) if goals.startswith("[")]
    return marked[0] if len(marked) == 1 else None


def _take_aggregate(title: str) -> tuple[str, Score | None]:
    found = _AGGREGATE.search(title)
    if found is None:
        return title, None
    home, away = (goals for goals in found.groups() if goals is not None)
    return " ".join((title[: found.start()] + " " + title[found.end() :]).split()), _score(home, away)


def _split(rest: str) -> tuple[str, str | None]:
    """The away side, and what is told about the goal."""
    found = _SEPARATOR.search(rest)
    return (rest, None) if found is None else (rest[: found.start()], rest[found.end() :])


def _take_minute(detail: str) -> tuple[Minute | None, str, str]:
    """The minute, and what stands before and after it."""
    for found in reversed(list(_MINUTE.finditer(detail))):
        elapsed = int(found[1] or found[3])
        if 1 <= elapsed <= LAST_MINUTE:
            return Minute(elapsed, int(found[2] or 0) or None), detail[: found.start()], detail[found.end() :]
    plain = _NOTE.sub(" ", detail).rstrip()
    if (bare := _LAST_NUMBER.search(plain)) and 1 <= int(bare[1]) <= LAST_MINUTE:
        return Minute(int(bare[1])), plain[: bare.start()], ""
    return None, detail, ""


def _kind(text: str) -> GoalKind:
    if _OWN_GOAL.search(text):
        return GoalKind.OWN_GOAL
    return GoalKind.PENALTY if _PENALTY.search(text) else GoalKind.NORMAL


def _tidy(text: str) -> str:
    for unwanted in (_OWN_GOAL, _PENALTY, _NOTE):
        text = unwanted.sub(" ", text)
    return " ".join(text.split()).strip(" ,;:|-\u2013\u2014&(")
