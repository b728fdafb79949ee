"""What was found, as the search page shows it. Of a match whose score is hidden, nothing but who plays and when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from found_footy.domain.fixtures.model import WICKET, Sport
from found_footy.web.answers.rendering import minute, plural
from found_footy.web.api.search import Kind
from found_footy.web.matches.cricket import how_out, score_words
from found_footy.web.matches.words import Standing, clock, standing

Document = Mapping[str, Any]

NOTES = {"Penalty": "penalty", "Own Goal": "own goal"}
STATES = {"validating": "not certain yet", "extracting": "clips come in", "watching": "searching"}


@dataclass(frozen=True, slots=True)
class Hidden:
    is_hidden: ClassVar[bool] = True
    fixture: int
    home: str
    away: str
    league: str
    kickoff: str | None


@dataclass(frozen=True, slots=True)
class FoundGoal:
    is_hidden: ClassVar[bool] = False
    href: str
    player: str
    minute: str
    note: str
    home: str
    away: str
    score: tuple[int, int] | None
    """None for a wicket, which is told by its note."""
    side: str
    league: str
    kickoff: str
    video: str | None
    verified: bool
    state: str
    said: str
    unknown: str = "Scorer unknown"


@dataclass(frozen=True, slots=True)
class FoundMatch:
    is_hidden: ClassVar[bool] = False
    fixture: int
    day: str
    home: str
    away: str
    league: str
    kickoff: str
    clock: str | None
    score: str | None
    goals: tuple[FoundGoal, ...]


@dataclass(frozen=True, slots=True)
class FoundClip:
    is_hidden: ClassVar[bool] = False
    href: str
    goal: str
    video: str
    player: str
    minute: str
    home: str
    away: str
    seconds: int
    verified: bool
    said: str


Found = Hidden | FoundGoal | FoundMatch | FoundClip


def found(kind: Kind, items: Iterable[Document], hides: Callable[[int], bool]) -> list[Found]:
    """A hidden match stands once, however many of its goals were found."""
    shown: list[Found] = []
    veiled: set[int] = set()
    for item in items:
        head = _head(kind, item)
        if not hides(head.fixture):
            shown.append(_SHOWN[kind](item))
        elif head.fixture not in veiled:
            veiled.add(head.fixture)
            shown.append(head)
    return shown


def _head(kind: Kind, item: Document) -> Hidden:
    if kind == "fixtures":
        teams = item["teams"]
        names = (teams["home"]["name"], teams["away"]["name"], item["league"]["name"])
        return Hidden(item["_id"], *names, item["fixture"]["date"])
    if kind == "goals":
        match = item["_fixture"]
        return Hidden(match["id"], match["home"], match["away"], match["league"], match["date"])
    return Hidden(item["fixture_id"], item["home"], item["away"], "", None)


def _listed_goal(item: Document) -> FoundGoal:
    match = item["_fixture"]
    return _goal(item, match["home"], match["away"], match["league"], match["date"])


def _goal(item: Document, home: str, away: str, league: str, kickoff: str) -> FoundGoal:
    clips, is_wicket = item["_s3_videos"], item["type"] == WICKET
    best = clips[0] if clips else None
    state: str
    said: str
    if clips:
        state, said = item["status"], plural(len(clips), "clip")
    elif item["status"] == "complete":
        state, said = "none", "no clip"
    else:
        state, said = item["status"], STATES.get(str(item["status"]), "")
    return FoundGoal(
        href="/g/" + quote(item["_event_id"], safe=""),
        player=item["player"]["name"] or "",
        minute=minute(item["time"]["elapsed"], item["time"]["extra"], item["time"]["innings"]),
        note=how_out(item["detail"], item["assist"]["name"]) if is_wicket else NOTES.get(item["detail"], ""),
        home=home,
        away=away,
        score=None if is_wicket else (item["_score_after"]["home"], item["_score_after"]["away"]),
        unknown="Batter unknown" if is_wicket else "Scorer unknown",
        side=item["_scoring_team"],
        league=league,
        kickoff=kickoff,
        video=best["id"] if best else None,
        verified=bool(best and best["timestamp_verified"]),
        state=state,
        said=said,
    )


def _match(item: Document) -> FoundMatch:
    home, away = (item["teams"][side]["name"] for side in ("home", "away"))
    league, kickoff, status = item["league"]["name"], item["fixture"]["date"], item["fixture"]["status"]
    return FoundMatch(
        fixture=item["_id"],
        day=kickoff[:10],
        home=home,
        away=away,
        league=league,
        kickoff=kickoff,
        clock=clock(status["short"], item["stage"], status["elapsed"], status["extra"], item["sport"]),
        score=_score(item),
        goals=tuple(_goal(each, home, away, league, kickoff) for each in item["events"] if not each["_removed"]),
    )


def _score(item: Document) -> str | None:
    """`2–1`, or `187/5 – 95/3`; None before it begins."""
    if standing(item["fixture"]["status"]["short"], item["stage"]) is Standing.UPCOMING:
        return None
    if item["sport"] == Sport.CRICKET:
        runs = [score_words(item["innings"], side)[0] or "–" for side in ("home", "away")]
        return " – ".join(runs) if item["innings"] else None
    home, away = item["goals"]["home"], item["goals"]["away"]
    return None if home is None else f"{home or 0}–{away or 0}"


def _clip(item: Document) -> FoundClip:
    return FoundClip(
        href="/v/" + item["id"],
        goal="/g/" + quote(item["event_id"], safe=""),
        video=item["id"],
        player=item["player"] or "",
        minute=minute(item["minute"], item["extra"], item["innings"]),
        home=item["home"],
        away=item["away"],
        seconds=round(item["duration"]),
        verified=item["timestamp_verified"],
        said=f"Rank {item['rank']} · {plural(item['popularity'], 'post')}",
    )


_SHOWN: Mapping[Kind, Callable[[Document], Found]] = {"goals": _listed_goal, "fixtures": _match, "clips": _clip}
