"""Parser of ESPN cricket matches, from the scoreboard or from a match summary. Only the summary has the wickets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from found_footy.errors import FeedSchemaError
from found_footy.feeds.cricket import (
    MAX_INNINGS,
    MAX_RUNS,
    cricket_status,
    opponent,
    parse_overs,
    parse_toss,
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
    WicketKind,
    phase_of,
)
from found_footy.json_reader import JsonReader

Cards = Mapping[tuple[int, int], JsonReader]
"""Dismissals by innings and batter id."""


def parse_event(event: JsonReader, league: JsonReader, feed: str, cards: Cards | None = None) -> LiveFixture:
    game = event["competitions"][0]
    sides = {Side(name): side for name, side in _sides(game).items()}
    teams = {side: _team(each) for side, each in sides.items()}
    status = _status(game)
    phase = phase_of(status)
    has_started = phase not in (Phase.UPCOMING, Phase.POSTPONED)
    innings = _innings(sides, match_over=phase.is_over) if has_started else ()
    wickets = _wickets(sides, cards or {}) if has_started else ()
    if len(wickets) > MAX_GOALS:
        raise FeedSchemaError("linescores.fow", len(wickets), f"at most {MAX_GOALS} wickets")
    current = innings[-1] if innings else None
    description = game.display_text("description") or event.display_text("description")
    return LiveFixture(
        id=event["id"].lenient_integer(),
        feed=feed,
        status=status,
        kickoff=(event.optional("date") or game["date"]).timestamp(),
        league=League(
            league["id"].lenient_integer(),
            league["name"].text(),
            season=_season(event),
            slug=league.display_text("slug"),
        ),
        home=teams[Side.HOME],
        away=teams[Side.AWAY],
        score=wickets_taken(innings) if has_started else None,
        minute=MatchMinute(current.overs, current.balls, current.number) if current else None,
        goals=tuple(goal for goal, _ in wickets),
        raw=require_storable({"event": _essential_fields(event, game)}),
        sport=Sport.CRICKET,
        innings=innings,
        toss=parse_toss(_note(event, game, "toss"), teams),
        venue=venue_name(game.display_text("venue", "fullName"), game.display_text("venue", "address", "city")),
        last_event=LastEvent("wicket", wickets[-1][1]) if wickets else None,
        metadata=compact(
            title=f"{teams[Side.HOME].name} vs {teams[Side.AWAY].name}, {description}" if description else None,
            series=league.display_text("name"),
            match_type=game.display_text("class", "eventType") or game.display_text("class", "generalClassCard"),
            situation=game.display_text("status", "summary"),
        ),
    )


def parse_summary(body: Any, feed: str, match_id: int) -> LiveFixture:
    """Parse a summary: score, overs and wickets are from the same moment."""
    summary = JsonReader(body)
    header = summary["header"]
    if header["id"].lenient_integer() != match_id:
        raise FeedSchemaError("header.id", header["id"].value, f"{match_id}, as requested")
    event = JsonReader({**_as_dict(header), "notes": summary.get("notes")}, "header")
    league = header.optional("league") or header["leagues"][0]
    return parse_event(event, league, feed, _cards(summary))


def has_all_wickets(match: LiveFixture) -> bool:
    """Return whether the match lists every wicket in its innings."""
    return len(match.goals) >= sum(each.wickets for each in match.innings)


def _as_dict(reader: JsonReader) -> dict[str, Any]:
    if not isinstance(reader.value, dict):
        raise reader.schema_error("an object")
    return reader.value


def _sides(game: JsonReader) -> dict[str, JsonReader]:
    sides = {side["homeAway"].text(): side for side in game["competitors"].items()}
    if set(sides) != {"home", "away"}:
        raise FeedSchemaError("competitors.homeAway", sorted(sides), "home and away")
    return sides


def _team(side: JsonReader) -> Team:
    team = side["team"]
    return Team(
        (team.optional("id") or side["id"]).lenient_integer(),
        team["displayName"].text(),
        team.display_text("abbreviation"),
    )


def _status(game: JsonReader) -> str:
    status = game["status"]
    type_ = status["type"]
    words = [type_.display_text(key) for key in ("name", "description", "detail", "shortDetail")]
    return cricket_status(
        type_["state"].text(), [*words, status.display_text("summary")], completed=type_.get("completed") is not False
    )


def _season(event: JsonReader) -> int | None:
    year = event.display_text("season", "year")
    return int(year) if year and year.isdecimal() and len(year) == 4 else None


def _has_batted(line: JsonReader) -> bool:
    """Return whether the side batted in this innings; a side's lines include every innings of the match."""
    return line.get("isBatting") is True or any(line.get(key) not in (None, 0, "0") for key in ("runs", "wickets"))


def _lines(side: JsonReader) -> list[JsonReader]:
    lines = side.optional("linescores")
    return [line for line in lines.items(MAX_INNINGS) if _has_batted(line)] if lines else []


def _innings(sides: Mapping[Side, JsonReader], *, match_over: bool) -> tuple[Innings, ...]:
    found: dict[int, Innings] = {}
    for side, each in sides.items():
        for line in _lines(each):
            number = line["period"].lenient_integer(MAX_INNINGS)
            if number in found:
                raise FeedSchemaError(f"{line.path}.period", number, "each innings of one side only")
            overs, balls = parse_overs(line["overs"]) if line.get("overs") is not None else (0, 0)
            wickets = line["wickets"].lenient_integer(20) if line.get("wickets") is not None else 0
            is_over = match_over or wickets >= 10 or line.get("isCurrent") in (0, False)
            found[number] = Innings(
                number, side, line["runs"].lenient_integer(MAX_RUNS), wickets, overs, balls, is_over
            )
    return tuple(found[number] for number in sorted(found))


def _wickets(sides: Mapping[Side, JsonReader], cards: Cards) -> list[tuple[LiveGoal, str]]:
    """Return the wickets in order of play, each with its description."""
    found = []
    for side, each in sides.items():
        for line in _lines(each):
            fallen = line.optional("fow")
            number = line["period"].lenient_integer(MAX_INNINGS)
            for fall in fallen.items() if fallen else ():
                batter = _person(fall.optional("athlete"))
                card = cards.get((number, batter.id or 0))
                kind = wicket_kind(card.display_text("dismissalCard")) if card else WicketKind.OTHER
                if kind is None:
                    continue  # retired hurt is also listed, and may return
                over, ball = parse_overs(fall["wicketOver"])
                bowler = _person(card.optional("bowler")) if card and kind is not WicketKind.RUN_OUT else Player()
                goal = LiveGoal(opponent(side), MatchMinute(over, ball, number), batter, kind, bowler, WICKET)
                description = f"{batter.name or '?'} {(card and card.display_text('shortText')) or kind.value.lower()}"
                found.append((fall["wicketNumber"].lenient_integer(20), goal, description))
    found.sort(key=lambda each: (each[1].minute.innings, each[0]))
    return [(goal, description) for _, goal, description in found]


def _cards(summary: JsonReader) -> Cards:
    """Return the dismissals from the batters' lines of the scorecard; unreadable ones are omitted."""
    cards: dict[tuple[int, int], JsonReader] = {}
    for roster in _items(summary, "rosters"):
        for player in _items(roster, "roster"):
            batter = player.display_text("athlete", "id") or ""
            for line in _items(player, "linescores"):
                period = line.get("period")
                for part in [line, *_items(line, "linescores")]:
                    batting = _nested(part, "statistics", "batting", "outDetails")
                    if batting and type(period) is int and batter.isdecimal() and len(batter) <= 15:
                        cards[period, int(batter)] = batting
    return cards


def _items(reader: JsonReader, key: str) -> Sequence[JsonReader]:
    found = reader.get(key)
    return JsonReader(found, key).items() if isinstance(found, list) and len(found) <= 100 else ()


def _nested(reader: JsonReader, *keys: str) -> JsonReader | None:
    for key in keys:
        found = reader.get(key)
        if not isinstance(found, dict) or not found:
            return None
        reader = JsonReader(found, f"{reader.path}.{key}")
    return reader


def _person(reader: JsonReader | None) -> Player:
    if reader is None:
        return Player()
    inner = reader.optional("athlete") or reader
    name = inner.display_text("displayName") or inner.display_text("fullName")
    return Player(inner["id"].lenient_integer() if inner.get("id") is not None else None, name)


def _note(event: JsonReader, game: JsonReader, kind: str) -> str | None:
    notes = [*_items(event, "notes"), *_items(game, "notes")]
    return next((note.display_text("text") for note in notes if note.get("type") == kind), None)


def _essential_fields(event: JsonReader, game: JsonReader) -> dict[str, Any]:
    """Drop rosters, odds and links, which make up most of the document."""
    essential = {key: game.get(key) for key in ("status", "date", "description") if game.get(key) is not None}
    essential["competitors"] = [
        {key: side.get(key) for key in ("id", "homeAway", "score") if side.get(key) is not None}
        | {
            "linescores": [
                {
                    key: line.get(key)
                    for key in ("period", "runs", "wickets", "overs", "fow")
                    if line.get(key) is not None
                }
                for line in _lines(side)
            ]
        }
        for side in game["competitors"].items()
    ]
    return {"id": event.get("id"), "date": event.get("date"), "name": event.get("name"), "competitions": [essential]}
