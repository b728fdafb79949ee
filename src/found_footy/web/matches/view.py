"""A match as its card shows it: from what is stored to what is said, and to nothing more where the score is hidden."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from found_footy.web.matches import time_line
from found_footy.web.matches.words import Chip, Standing, chip, clock, silence, standing
from found_footy.web.services import WebRules

NOTES = {"Penalty": "pen.", "Own Goal": "o.g."}


@dataclass(frozen=True, slots=True)
class GoalView:
    id: str
    side: str
    path: str
    """Its id as a part of an address."""
    minute: str
    player: str | None
    note: str | None
    """Penalty or own goal."""
    home: int
    away: int
    chip: Chip
    video: str | None
    """The public name of its best clip."""
    length: str
    verified: bool
    place: float
    """On the time line, in percent."""


@dataclass(frozen=True, slots=True)
class MatchView:
    id: int
    day: str
    home: str
    away: str
    kickoff: datetime
    league_id: int
    league: str
    country: str | None
    round: str | None
    standing: Standing
    hidden: bool
    """Of a match whose score is hidden nothing below is filled but the note, and the clock before it begins."""
    note: str | None = None
    polled: int | None = None
    """When the feed last said something of a match that is followed: seconds since 1970."""
    clock: str | None = None
    home_goals: int | None = None
    away_goals: int | None = None
    penalties: tuple[int, int] | None = None
    goals: tuple[GoalView, ...] = ()
    progress: float | None = None
    """How far the line of the match is drawn, in percent."""
    long: bool = False
    """Its line has room for extra time."""

    @property
    def live(self) -> bool:
        return self.standing is Standing.LIVE

    @property
    def has_clips(self) -> bool:
        return any(goal.video for goal in self.goals)

    @property
    def has_line(self) -> bool:
        """While it goes on also without goals: so that the first one moves less."""
        return not self.hidden and (self.live or bool(self.goals))


def match_view(row: dict[str, Any], *, hidden: bool, now: datetime, rules: WebRules) -> MatchView:
    at = standing(row["status"], row["stage"])
    quiet = silence(row["stage"], at, row["kickoff"], row["last_poll_at"], now, rules.poll_seconds)
    trouble = "trouble with the feed" if row["error_kind"] else None
    followed = row["stage"] == "active" and at is not Standing.OVER and row["last_poll_at"]
    plain: dict[str, Any] = {
        "id": row["id"],
        "day": row["kickoff"].astimezone(now.tzinfo).date().isoformat(),
        "home": row["home_name"],
        "away": row["away_name"],
        "kickoff": row["kickoff"],
        "league_id": row["league_id"],
        "league": row["league_name"],
        "country": row["country"],
        "round": row["round"],
        "standing": at,
        "hidden": hidden and at is not Standing.UPCOMING,
        "polled": int(row["last_poll_at"].timestamp()) if followed else None,
    }
    if hidden:
        # The words of an error may hold what the feed said of the score.
        words = clock(row["status"], row["stage"], None, None) if at is Standing.UPCOMING else None
        return MatchView(**plain, note=quiet or trouble, clock=words)
    if trouble and row["error_message"]:
        trouble = f"{trouble}: {row['error_message']}"
    long = time_line.needs_extra_time([goal["elapsed"] for goal in row["goals"]]) or row["status"] in ("ET", "AET")
    scored = row["home_penalties"] is not None and row["away_penalties"] is not None
    return MatchView(
        **plain,
        note="; ".join(part for part in (quiet, trouble) if part) or None,
        clock=clock(row["status"], row["stage"], row["elapsed"], row["extra"]),
        home_goals=None if at is Standing.UPCOMING else row["home_goals"],
        away_goals=None if at is Standing.UPCOMING else row["away_goals"],
        penalties=(row["home_penalties"], row["away_penalties"]) if scored else None,
        goals=tuple(_goal(goal, rules, long) for goal in row["goals"]),
        progress=_progress(row, at, long),
        long=long,
    )


def _progress(row: dict[str, Any], at: Standing, long: bool) -> float | None:
    if at is not Standing.LIVE or row["elapsed"] is None:
        return None
    if row["status"] == "HT":
        return time_line.half_time(long=long)
    return time_line.place(row["elapsed"], row["extra"], long=long)


def _goal(goal: dict[str, Any], rules: WebRules, long: bool) -> GoalView:
    best = goal["best"]
    return GoalView(
        id=goal["id"],
        side=goal["side"],
        path=quote(goal["id"], safe=""),
        minute=f"{goal['elapsed']}+{goal['extra']}" if goal["extra"] else str(goal["elapsed"]),
        player=goal["player"],
        note=NOTES.get(goal["kind"]),
        home=goal["home"],
        away=goal["away"],
        chip=chip(
            goal["status"],
            seen=goal["seen"],
            debounce=rules.debounce_polls,
            searches=goal["searches"],
            attempts=rules.search_attempts,
            clips=goal["clips"],
        ),
        video=best["id"] if best else None,
        length=f"{int(best['duration']) // 60}:{int(best['duration']) % 60:02}" if best else "",
        verified=bool(best and best["verified"]),
        place=time_line.place(goal["elapsed"], goal["extra"], long=long),
    )
