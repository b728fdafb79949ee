"""A match as its card shows it: from what is stored to what is said, and to nothing more where the score is hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from found_footy.domain.fixtures.model import Sport
from found_footy.web.matches import cricket, time_line
from found_footy.web.matches.staleness import news_of
from found_footy.web.matches.words import Chip, Standing, chip, clock, moment_words, standing
from found_footy.web.services import WebRules

NOTES = {"Penalty": "pen.", "Own Goal": "o.g."}


@dataclass(frozen=True, slots=True)
class GoalView:
    id: str
    side: str
    path: str
    """Its id as a part of an address."""
    minute: str
    """With its sign: 67', or 12.3 ov."""
    player: str | None
    note: str | None
    """Penalty or own goal; in cricket how the player got out."""
    tally: str | None
    """Of a wicket which one of the innings it is; None for a goal, which tells the score."""
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
    """When a match that is followed was last heard of: seconds since 1970."""
    stale: str = ""
    """`stale · 75 s`; empty where its news are fresh."""
    sport: str = "football"
    clock: str | None = None
    home_goals: int | None = None
    away_goals: int | None = None
    penalties: tuple[int, int] | None = None
    goals: tuple[GoalView, ...] = ()
    progress: float | None = None
    """How far the line of the match is drawn, in percent."""
    line: str = ""
    """What its line has room for: `long` for extra time, `innings-2` or `innings-4`; empty for 90 minutes."""
    runs: tuple[tuple[str, str], tuple[str, str]] | None = None
    """In cricket, for home and away: 187/5, and (20 ov)."""
    batting: str | None = None
    last: str | None = None
    """In cricket what happened last, in the feed's words."""
    place: str | None = None
    """The ground, and the toss."""

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
    news = news_of(row, now, rules.stale_seconds)
    trouble = "trouble with the feed" if row["error_kind"] else None
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
        "polled": news.since,
        "stale": news.words,
        "sport": row["sport"],
    }
    if hidden:
        # The words of an error may hold what the feed said of the score.
        words = clock(row["status"], row["stage"], None, None) if at is Standing.UPCOMING else None
        return MatchView(**plain, note=trouble, clock=words)
    if trouble and row["error_message"]:
        trouble = f"{trouble}: {row['error_message']}"
    plain |= {"note": trouble, "clock": clock(row["status"], row["stage"], row["elapsed"], row["extra"], row["sport"])}
    if row["sport"] == Sport.CRICKET:
        return _cricket(plain, row, at, rules)
    long = time_line.needs_extra_time([goal["elapsed"] for goal in row["goals"]]) or row["status"] in ("ET", "AET")
    scored = row["home_penalties"] is not None and row["away_penalties"] is not None
    return MatchView(
        **plain,
        home_goals=None if at is Standing.UPCOMING else row["home_goals"],
        away_goals=None if at is Standing.UPCOMING else row["away_goals"],
        penalties=(row["home_penalties"], row["away_penalties"]) if scored else None,
        goals=tuple(
            _goal(goal, rules, time_line.place(goal["elapsed"], goal["extra"], long=long), NOTES.get(goal["kind"]))
            for goal in row["goals"]
        ),
        progress=_progress(row, at, long),
        line="long" if long else "",
    )


def _cricket(plain: dict[str, Any], row: dict[str, Any], at: Standing, rules: WebRules) -> MatchView:
    innings = row["innings"]
    count = 4 if len(innings) > 2 else 2
    overs = cricket.innings_overs(row["details"], innings)
    last = innings[-1] if innings else None
    toss, ground = row["toss"], row["venue"]
    winner = {"home": row["home_name"], "away": row["away_name"]}.get(toss["winner"]) if toss else None
    said = (ground, f"{winner} won the toss and chose to {toss['decision']}" if winner else None)
    progress = None
    if at is Standing.LIVE and last is not None:
        progress = cricket.place(last["number"], last["overs"], last["balls"], count=count, overs=overs)
    return MatchView(
        **plain,
        runs=(cricket.score_words(innings, "home"), cricket.score_words(innings, "away")) if innings else None,
        batting=cricket.batting(innings) if at is Standing.LIVE else None,
        last=row["last_event"]["description"] if at is Standing.LIVE and row["last_event"] else None,
        place=" · ".join(part for part in said if part) or None,
        goals=tuple(_wickets(row["goals"], rules, count, overs)),
        progress=progress,
        line=f"innings-{count}",
    )


def _wickets(wickets: list[dict[str, Any]], rules: WebRules, count: int, overs: int) -> Iterator[GoalView]:
    """Each with its number in its innings; one that was withdrawn has none."""
    fallen: Counter[int] = Counter()
    for wicket in wickets:
        innings = wicket["innings"] or 1
        withdrawn = wicket["status"] == "withdrawn"
        fallen[innings] += not withdrawn
        tally = "no wicket" if withdrawn else f"{cricket.ordinal(fallen[innings])} wicket"
        place = cricket.place(innings, wicket["elapsed"], wicket["extra"], count=count, overs=overs)
        yield _goal(wicket, rules, place, cricket.how_out(wicket["kind"], wicket["assist"]), tally)


def _progress(row: dict[str, Any], at: Standing, long: bool) -> float | None:
    if at is not Standing.LIVE or row["elapsed"] is None:
        return None
    if row["status"] == "HT":
        return time_line.half_time(long=long)
    return time_line.place(row["elapsed"], row["extra"], long=long)


def _goal(goal: dict[str, Any], rules: WebRules, place: float, note: str | None, tally: str | None = None) -> GoalView:
    best = goal["best"]
    sport = Sport.FOOTBALL if tally is None else Sport.CRICKET
    return GoalView(
        id=goal["id"],
        side=goal["side"],
        path=quote(goal["id"], safe=""),
        minute=moment_words(goal["elapsed"], goal["extra"], sport),
        player=goal["player"],
        note=note,
        tally=tally,
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
        place=place,
    )
