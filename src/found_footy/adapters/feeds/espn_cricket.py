"""A cricket match of ESPN, from the scoreboard or from the summary of the one match, which alone has the wickets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from found_footy.adapters.feeds.cricket_words import (
    MAX_RUNS,
    MOST_INNINGS,
    cricket_status,
    other,
    overs_of,
    toss_of,
    wicket_kind,
    wickets_taken,
)
from found_footy.adapters.feeds.limits import MAX_GOALS, storable
from found_footy.adapters.feeds.telling import place, told
from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.feeds.document import Reader
from found_footy.domain.fixtures.model import (
    WICKET,
    Innings,
    LastEvent,
    League,
    LiveFixture,
    LiveGoal,
    Minute,
    Person,
    Side,
    Sport,
    Team,
    WicketKind,
)
from found_footy.domain.fixtures.statuses import Phase, phase_of

Cards = Mapping[tuple[int, int], Reader]
"""(Innings, batter's id) to how the batter got out."""


def parse_event(event: Reader, league: Reader, feed: str, cards: Cards | None = None) -> LiveFixture:
    game = event["competitions"][0]
    sides = {Side(name): side for name, side in _sides(game).items()}
    teams = {side: _team(each) for side, each in sides.items()}
    status = _status(game)
    phase = phase_of(status)
    begun = phase not in (Phase.UPCOMING, Phase.POSTPONED)
    innings = _innings(sides, over=phase.is_over) if begun else ()
    wickets = _wickets(sides, cards or {}) if begun else ()
    if len(wickets) > MAX_GOALS:
        raise FeedSchemaError("linescores.fow", len(wickets), f"at most {MAX_GOALS} wickets")
    now = innings[-1] if innings else None
    part = game.said("description") or event.said("description")
    return LiveFixture(
        id=event["id"].number(),
        feed=feed,
        status=status,
        kickoff=(event.maybe("date") or game["date"]).moment(),
        league=League(league["id"].number(), league["name"].text(), season=_season(event), slug=league.said("slug")),
        home=teams[Side.HOME],
        away=teams[Side.AWAY],
        score=wickets_taken(innings) if begun else None,
        minute=Minute(now.overs, now.balls, now.number) if now else None,
        goals=tuple(goal for goal, _ in wickets),
        raw=storable({"event": _slim(event, game)}),
        sport=Sport.CRICKET,
        innings=innings,
        toss=toss_of(_note(event, game, "toss"), teams),
        venue=place(game.said("venue", "fullName"), game.said("venue", "address", "city")),
        last_event=LastEvent("wicket", wickets[-1][1]) if wickets else None,
        metadata=told(
            title=f"{teams[Side.HOME].name} vs {teams[Side.AWAY].name}, {part}" if part else None,
            series=league.said("name"),
            match_type=game.said("class", "eventType") or game.said("class", "generalClassCard"),
            situation=game.said("status", "summary"),
        ),
    )


def parse_summary(body: Any, feed: str, match_id: int) -> LiveFixture:
    """One match, whole: score, overs and wickets are of the same moment."""
    summary = Reader(body)
    header = summary["header"]
    if header["id"].number() != match_id:
        raise FeedSchemaError("header.id", header["id"].value, f"{match_id}, which was asked for")
    event = Reader({**_dict(header), "notes": summary.get("notes")}, "header")
    league = header.maybe("league") or header["leagues"][0]
    return parse_event(event, league, feed, _cards(summary))


def is_whole(match: LiveFixture) -> bool:
    """Whether each wicket that the innings count is also told."""
    return len(match.goals) >= sum(each.wickets for each in match.innings)


def _dict(reader: Reader) -> dict[str, Any]:
    if not isinstance(reader.value, dict):
        raise reader.wrong("an object")
    return reader.value


def _sides(game: Reader) -> dict[str, Reader]:
    sides = {side["homeAway"].text(): side for side in game["competitors"].items()}
    if set(sides) != {"home", "away"}:
        raise FeedSchemaError("competitors.homeAway", sorted(sides), "home and away")
    return sides


def _team(side: Reader) -> Team:
    team = side["team"]
    return Team((team.maybe("id") or side["id"]).number(), team["displayName"].text(), team.said("abbreviation"))


def _status(game: Reader) -> str:
    status = game["status"]
    type_ = status["type"]
    words = [type_.said(key) for key in ("name", "description", "detail", "shortDetail")]
    return cricket_status(
        type_["state"].text(), [*words, status.said("summary")], completed=type_.get("completed") is not False
    )


def _season(event: Reader) -> int | None:
    year = event.said("season", "year")
    return int(year) if year and year.isdecimal() and len(year) == 4 else None


def _batted(line: Reader) -> bool:
    """A side's lines mirror every innings of the match; only those count in which it batted."""
    return line.get("isBatting") is True or any(line.get(key) not in (None, 0, "0") for key in ("runs", "wickets"))


def _lines(side: Reader) -> list[Reader]:
    lines = side.maybe("linescores")
    return [line for line in lines.items(MOST_INNINGS) if _batted(line)] if lines else []


def _innings(sides: Mapping[Side, Reader], *, over: bool) -> tuple[Innings, ...]:
    found: dict[int, Innings] = {}
    for side, each in sides.items():
        for line in _lines(each):
            number = line["period"].number(MOST_INNINGS)
            if number in found:
                raise FeedSchemaError(f"{line.path}.period", number, "each innings of one side only")
            overs, balls = overs_of(line["overs"]) if line.get("overs") is not None else (0, 0)
            wickets = line["wickets"].number(20) if line.get("wickets") is not None else 0
            ended = over or wickets >= 10 or line.get("isCurrent") in (0, False)
            found[number] = Innings(number, side, line["runs"].number(MAX_RUNS), wickets, overs, balls, ended)
    return tuple(found[number] for number in sorted(found))


def _wickets(sides: Mapping[Side, Reader], cards: Cards) -> list[tuple[LiveGoal, str]]:
    """In order of play, each with its words."""
    found = []
    for side, each in sides.items():
        for line in _lines(each):
            falls = line.maybe("fow")
            number = line["period"].number(MOST_INNINGS)
            for fall in falls.items() if falls else ():
                batter = _person(fall.maybe("athlete"))
                card = cards.get((number, batter.id or 0))
                kind = wicket_kind(card.said("dismissalCard")) if card else WicketKind.OTHER
                if kind is None:
                    continue  # retired hurt is listed, too, and may come back
                over, ball = overs_of(fall["wicketOver"])
                bowler = _person(card.maybe("bowler")) if card and kind is not WicketKind.RUN_OUT else Person()
                goal = LiveGoal(other(side), Minute(over, ball, number), batter, kind, bowler, WICKET)
                words = f"{batter.name or '?'} {(card and card.said('shortText')) or kind.value.lower()}"
                found.append((fall["wicketNumber"].number(20), goal, words))
    found.sort(key=lambda each: (each[1].minute.innings, each[0]))
    return [(goal, words) for _, goal, words in found]


def _cards(summary: Reader) -> Cards:
    """From the batters' own lines of the score card; what cannot be read of them is left out, not guessed."""
    cards: dict[tuple[int, int], Reader] = {}
    for roster in _items(summary, "rosters"):
        for player in _items(roster, "roster"):
            batter = player.said("athlete", "id") or ""
            for line in _items(player, "linescores"):
                period = line.get("period")
                for part in [line, *_items(line, "linescores")]:
                    batting = _inner(part, "statistics", "batting", "outDetails")
                    if batting and type(period) is int and batter.isdecimal() and len(batter) <= 15:
                        cards[period, int(batter)] = batting
    return cards


def _items(reader: Reader, key: str) -> Sequence[Reader]:
    found = reader.get(key)
    return Reader(found, key).items() if isinstance(found, list) and len(found) <= 100 else ()


def _inner(reader: Reader, *keys: str) -> Reader | None:
    for key in keys:
        found = reader.get(key)
        if not isinstance(found, dict) or not found:
            return None
        reader = Reader(found, f"{reader.path}.{key}")
    return reader


def _person(reader: Reader | None) -> Person:
    if reader is None:
        return Person()
    inner = reader.maybe("athlete") or reader
    name = inner.said("displayName") or inner.said("fullName")
    return Person(inner["id"].number() if inner.get("id") is not None else None, name)


def _note(event: Reader, game: Reader, kind: str) -> str | None:
    notes = [*_items(event, "notes"), *_items(game, "notes")]
    return next((note.said("text") for note in notes if note.get("type") == kind), None)


def _slim(event: Reader, game: Reader) -> dict[str, Any]:
    """Rosters, odds and links are most of the document, and none of our business."""
    kept = {key: game.get(key) for key in ("status", "date", "description") if game.get(key) is not None}
    kept["competitors"] = [
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
    return {"id": event.get("id"), "date": event.get("date"), "name": event.get("name"), "competitions": [kept]}
