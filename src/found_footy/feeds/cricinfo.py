"""Parser of ESPNcricinfo matches: the match document, and optionally the scorecard with the wickets.

Its `objectId`s are ESPN's ids; plain `id`s are internal to the site.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from found_footy.errors import FeedSchemaError
from found_footy.feeds.cricket import (
    MAX_INNINGS,
    MAX_RUNS,
    cricket_status,
    opponent,
    parse_overs,
    wicket_kind,
    wickets_taken,
)
from found_footy.feeds.models import compact, venue_name
from found_footy.feeds.validation import MAX_GOALS, require_storable
from found_footy.fixtures.models import (
    WICKET,
    Innings,
    LastEvent,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Phase,
    Player,
    Side,
    Sport,
    Team,
    Toss,
    WicketKind,
    phase_of,
)
from found_footy.json_reader import JsonReader

FEED = "cricinfo"
STATES = {"PRE": "pre", "LIVE": "in", "POST": "post"}
TOSS_DECISIONS = {1: "bat", 2: "field"}
RAW_FIELDS = (
    "objectId",
    "slug",
    "state",
    "status",
    "statusText",
    "startTime",
    "liveInning",
    "liveOvers",
    "generatedAt",
)


def parse_match(match: Any, scorecard: Any = None, *, feed: str = FEED, home_id: int | None = None) -> LiveFixture:
    """Parse a match document. `scorecard` is its list of innings. `home_id` overrides which side is at home."""
    document = JsonReader(match, "match")
    sides = _sides(document, home_id)
    teams = {side: _team(each) for side, each in sides.items()}
    status = _status(document)
    phase = phase_of(status)
    has_started = phase not in (Phase.UPCOMING, Phase.POSTPONED)
    cards = [] if scorecard is None else JsonReader(scorecard, "scorecard").items(MAX_INNINGS)
    innings: tuple[Innings, ...] = ()
    if has_started:
        innings = (
            _innings(cards, teams, match_over=phase.is_over)
            if cards
            else _innings_from_scores(sides, match_over=phase.is_over)
        )
    wickets = _wickets(cards, teams) if has_started else []
    if len(wickets) > MAX_GOALS:
        raise FeedSchemaError("scorecard.inningWickets", len(wickets), f"at most {MAX_GOALS} wickets")
    current, title, series = innings[-1] if innings else None, document.display_text("title"), document["series"]
    year = series.display_text("year")
    return LiveFixture(
        id=document["objectId"].lenient_integer(),
        feed=feed,
        status=status,
        kickoff=(document.optional("startTime") or document["startDate"]).timestamp(),
        league=League(
            series["objectId"].lenient_integer(),
            (series.optional("longName") or series["name"]).text(),
            country=document.display_text("ground", "country", "name"),
            season=int(year) if year and year.isdecimal() and len(year) == 4 else None,
            round=title,
        ),
        home=teams[Side.HOME],
        away=teams[Side.AWAY],
        score=wickets_taken(innings) if has_started else None,
        minute=MatchMinute(current.overs, current.balls, current.number) if current else None,
        goals=tuple(goal for goal, _ in wickets),
        raw=require_storable(
            {"match": {key: document.get(key) for key in RAW_FIELDS if document.get(key) is not None}}
        ),
        sport=Sport.CRICKET,
        innings=innings,
        toss=_toss(document, sides),
        venue=venue_name(document.display_text("ground", "longName"), document.display_text("ground", "town", "name")),
        last_event=LastEvent("wicket", wickets[-1][1]) if wickets else None,
        metadata=compact(
            title=f"{teams[Side.HOME].name} vs {teams[Side.AWAY].name}, {title}" if title else None,
            series=series.display_text("seoName") or series.display_text("longName"),
            match_type=document.display_text("format"),
            situation=document.display_text("statusText"),
        ),
    )


def parse_page(body: Any, *, feed: str, match_id: int, home_id: int | None) -> LiveFixture:
    """Parse the document of a match page: the match, with its innings as content."""
    page = JsonReader(body)
    innings = page["content"]["innings"].value
    live = parse_match(page["match"].value, innings, feed=feed, home_id=home_id)
    if live.id != match_id:
        raise FeedSchemaError("match.objectId", live.id, f"{match_id}, as requested")
    return live


def _sides(document: JsonReader, home_id: int | None) -> dict[Side, JsonReader]:
    sides = document["teams"].items()
    if len(sides) != 2:
        raise FeedSchemaError("match.teams", len(sides), "two sides")
    ids = [side["team"]["objectId"].lenient_integer() for side in sides]
    if home_id is None:
        home = next((index for index, side in enumerate(sides) if side.get("isHome") is True), 0)
    elif home_id in ids:
        home = ids.index(home_id)
    else:
        raise FeedSchemaError("match.teams", ids, f"a side with the id {home_id}")
    return {Side.HOME: sides[home], Side.AWAY: sides[1 - home]}


def _team(side: JsonReader) -> Team:
    team = side["team"]
    name = (team.optional("longName") or team["name"]).text()
    return Team(team["objectId"].lenient_integer(), name, team.display_text("abbreviation"))


def _status(document: JsonReader) -> str:
    if document.get("isCancelled") is True:
        return "CANC"
    state = document["state"].text()
    texts = [document.display_text(key) for key in ("status", "statusEng", "statusText")]
    return cricket_status(STATES.get(state, state), texts, completed=document.get("stage") in (None, "FINISHED"))


def _toss(document: JsonReader, sides: Mapping[Side, JsonReader]) -> Toss | None:
    """Parse the toss, whose winner is given by the site's internal id."""
    decision = TOSS_DECISIONS.get(document.get("tossWinnerChoice") or 0)
    winner = document.get("tossWinnerTeamId")
    side = next((side for side, each in sides.items() if winner is not None and each["team"].get("id") == winner), None)
    return Toss(side, decision) if side and decision else None


def _batting(card: JsonReader, teams: Mapping[Side, Team]) -> Side:
    team = card["team"]["objectId"].lenient_integer()
    side = next((side for side, each in teams.items() if each.id == team), None)
    if side is None:
        raise FeedSchemaError(f"{card.path}.team.objectId", team, "one of the two sides")
    return side


def _innings(cards: list[JsonReader], teams: Mapping[Side, Team], *, match_over: bool) -> tuple[Innings, ...]:
    found: dict[int, Innings] = {}
    for card in cards:
        if card.get("isBatted") is False or card.get("runs") is None:
            continue
        number, side = card["inningNumber"].lenient_integer(MAX_INNINGS), _batting(card, teams)
        if number in found:
            raise FeedSchemaError(f"{card.path}.inningNumber", number, "each innings once")
        overs, balls = parse_overs(card["overs"]) if card.get("overs") is not None else (0, 0)
        wickets = card["wickets"].lenient_integer(20)
        is_over = match_over or wickets >= 10 or card.get("isCurrent") is False
        found[number] = Innings(number, side, card["runs"].lenient_integer(MAX_RUNS), wickets, overs, balls, is_over)
    return tuple(found[number] for number in sorted(found))


def _innings_from_scores(sides: Mapping[Side, JsonReader], *, match_over: bool) -> tuple[Innings, ...]:
    """Parse `250 & 159/9` with `20 ov, T:177`: the overs are those of the side's last innings."""
    found: dict[int, Innings] = {}
    for side, each in sides.items():
        scores = (each.display_text("score") or "").split("&")
        numbers = each["inningNumbers"].items(MAX_INNINGS) if each.get("inningNumbers") else []
        overs_text = re.search(r"(\d{1,3}(?:\.\d)?)(?:/\d+(?:\.\d)?)? ov", each.display_text("scoreInfo") or "")
        for index, (score, number) in enumerate(zip(scores, numbers, strict=False)):
            part = re.fullmatch(r"\s*(\d{1,4})(?:/(\d{1,2}))?(d?)\s*", score, re.ASCII)
            if part is None:
                raise FeedSchemaError(f"{each.path}.score", score, "a score such as 159/9")
            last = index == len(numbers) - 1
            overs = parse_overs(JsonReader(overs_text[1])) if last and overs_text else (0, 0)
            wickets = int(part[2]) if part[2] else 10
            key = number.lenient_integer(MAX_INNINGS)
            is_over = match_over or wickets >= 10 or bool(part[3]) or each.get("isLive") is False
            found[key] = Innings(key, side, int(part[1]), wickets, *overs, is_over)
    return tuple(found[number] for number in sorted(found))


def _wickets(cards: list[JsonReader], teams: Mapping[Side, Team]) -> list[tuple[LiveGoal, str]]:
    """Return the wickets in order of play, each with its description."""
    found = []
    for card in cards:
        wickets_reader = card.optional("inningWickets")
        for wicket in wickets_reader.items(20) if wickets_reader else ():
            kind = wicket_kind(wicket.display_text("dismissalText", "short"))
            if kind is None or wicket.get("isOut") is False:
                continue
            number = card["inningNumber"].lenient_integer(MAX_INNINGS)
            over, ball = parse_overs(wicket["fowOvers"])
            bowler = None if kind is WicketKind.RUN_OUT else wicket.optional("dismissalBowler")
            goal = LiveGoal(
                side=opponent(_batting(card, teams)),
                minute=MatchMinute(over, ball, number),
                player=_person(wicket["player"]),
                kind=kind,
                assist=_person(bowler) if bowler else Player(),
                type=WICKET,
            )
            description = (
                wicket.display_text("dismissalText", "commentary") or f"{goal.player.name or '?'} {kind.value.lower()}"
            )
            found.append((wicket["fowWicketNum"].lenient_integer(20), goal, description))
    found.sort(key=lambda each: (each[1].minute.innings, each[0]))
    return [(goal, description) for _, goal, description in found]


def _person(player: JsonReader) -> Player:
    return Player(player["objectId"].lenient_integer(), player.display_text("longName") or player.display_text("name"))
