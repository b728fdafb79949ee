"""A match of CREX, from what its page shows."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Any

from found_footy.adapters.feeds.crex_links import base_of
from found_footy.adapters.feeds.crex_names import Names, without_names
from found_footy.adapters.feeds.crex_scorecard import Played, Teams, played_innings, shown_innings, with_ends
from found_footy.adapters.feeds.crex_words import (
    is_ball,
    is_wicket,
    match_type_of,
    parts_of,
    status_of,
    tells_toss,
)
from found_footy.adapters.feeds.cricket_words import toss_of, wickets_taken
from found_footy.adapters.feeds.limits import MAX_GOALS, storable
from found_footy.adapters.feeds.telling import told
from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.feeds.document import Reader
from found_footy.domain.fixtures.model import (
    LastEvent,
    League,
    LiveFixture,
    Minute,
    Side,
    Sport,
    Toss,
)
from found_footy.domain.fixtures.statuses import phase_of


def parse_match(raw: Any, match_id: int, feed: str, known_toss: Toss | None = None) -> LiveFixture:
    """Raises FeedSchemaError. `known_toss` is what another page of the match has told before."""
    data = Reader(raw)
    if base_of(data["path"].text())[1] != match_id:
        raise FeedSchemaError("path", data["path"].value, "the page of the match that was asked for")
    event, names = data["event"], Names(data.get("names"))
    sides, what, series = parts_of(event["name"].text())
    teams = _teams(event, sides, names)
    match_type = match_type_of(what, series)
    box, comment = data.said("box") or "", data.said("comment") or ""
    toss = toss_on(raw, teams) or known_toss
    shown = shown_innings(data, teams, toss)
    status, sure = status_of(
        without_names(box, teams.values()), without_names(comment, teams.values()), begun=bool(shown)
    )
    phase = phase_of(status)
    played = with_ends(
        [
            played_innings(each, number, side, names, over=phase.is_over, match_type=match_type)
            for number, (each, side) in enumerate(shown, 1)
        ]
    )
    innings = tuple(each.innings for each in played)
    wickets = tuple(wicket for each in played for wicket in each.wickets)
    if len(wickets) > MAX_GOALS:
        raise FeedSchemaError("innings", len(wickets), f"at most {MAX_GOALS} wickets")
    now = innings[-1] if innings else None
    return LiveFixture(
        id=match_id,
        feed=feed,
        status=status,
        kickoff=event["start"].moment(),
        league=_league(data, series, what),
        home=teams[Side.HOME],
        away=teams[Side.AWAY],
        score=wickets_taken(innings) if innings else None,
        minute=Minute(now.overs, now.balls, now.number) if now else None,
        goals=wickets,
        raw=storable({"page": {key: value for key, value in raw.items() if key != "names"}}),
        sport=Sport.CRICKET,
        innings=innings,
        toss=toss,
        venue=event.said("venue") or data.said("venue"),
        last_event=_last_event(played, box, teams),
        metadata=told(
            title=event["name"].text(),
            series=series or data.said("series", "name"),
            match_type=match_type,
            situation=comment,
        ),
        confidence=_confidence(sure, played, toss),
    )


def toss_on(raw: Any, teams: Teams) -> Toss | None:
    """Of whichever page tells it."""
    data = Reader(raw)
    texts = [text for key in ("toss", "comment") if (text := data.said(key)) and tells_toss(text)]
    return next((toss for text in texts if (toss := toss_of(text, teams))), None)


def _teams(event: Reader, sides: Sequence[str], names: Names) -> Teams:
    """In the order of the match's title, which is the same on all pages."""
    competitors = event.maybe("competitors")
    shown = [each.text() for each in competitors.items(2)] if competitors else []
    shown = shown if len(shown) == 2 else list(sides)
    if len(shown) != 2:
        raise FeedSchemaError("event.name", event["name"].value, "two sides")
    home, away = (names.team(name, "event.competitors") for name in shown)
    if home.id == away.id:
        raise FeedSchemaError("event.competitors", shown, "two sides")
    return {Side.HOME: home, Side.AWAY: away}


def _league(data: Reader, series: str, what: str) -> League:
    name = series or data.said("series", "name") or "Cricket"
    year = re.search(r"\b(20\d\d)\b", name)
    # The list does not link to the series: so its name has to do, on both pages.
    return League(zlib.crc32(name.encode()), name, season=int(year[1]) if year else None, round=what or None)


def _last_event(played: Sequence[Played], box: str, teams: Teams) -> LastEvent | None:
    if not played:
        return None
    now = played[-1]
    if is_wicket(box) and now.described:
        return LastEvent("wicket", now.described[-1])
    innings = now.innings
    batting = teams[innings.batting]
    words = f"{batting.short or batting.name} {innings.runs}-{innings.wickets} ({innings.overs}.{innings.balls})"
    return LastEvent("runs" if is_ball(box) or not box else "break", f"{words}: {box}" if box else words)


def _confidence(sure: float, played: Sequence[Played], toss: Toss | None) -> dict[str, float]:
    doubts = {"status": sure}
    if not all(each.whole for each in played):
        doubts["goals"] = 0.7
        doubts["score"] = 0.7
    if len(played) == 2 and toss is None:
        # Whose innings was the first is told by the order of the tabs alone.
        doubts["innings"] = 0.7
    return {field: share for field, share in doubts.items() if share < 1}
