"""Unified match schema, its canonical JSON, and the differences between two snapshots."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from found_footy.errors import FeedSchemaError
from found_footy.feeds.models import RECONCILED, CachedSnapshot, EncodedSnapshot, feed_match_id
from found_footy.fixtures.models import (
    PHASES,
    WICKET,
    GoalKind,
    Innings,
    Kind,
    LastEvent,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Phase,
    Player,
    Score,
    Side,
    Sport,
    Team,
    Toss,
    WicketKind,
    phase_of,
)
from found_footy.json_reader import JsonReader


def canonical_json(payload: Mapping[str, Any]) -> str:
    """Return canonical JSON: sorted keys, and ASCII because names may contain lone surrogates.

    Raises ValueError for values that JSON cannot represent.
    """
    return json.dumps(payload, sort_keys=True, allow_nan=False, separators=(",", ":"))


def encode(live: LiveFixture) -> EncodedSnapshot:
    """Encode a match. Raises FeedSchemaError for numbers that JSON cannot represent."""
    try:
        return encode_payload(to_payload(live))
    except (ValueError, RecursionError) as error:
        raise FeedSchemaError("raw", type(error).__name__, "values that JSON can hold") from error


def encode_payload(payload: Mapping[str, Any]) -> EncodedSnapshot:
    text = canonical_json(payload).encode()
    return EncodedSnapshot(text, hashlib.sha256(text).hexdigest())


def checksum(payload: Mapping[str, Any]) -> str:
    return encode_payload(payload).checksum


def snapshot_delta(previous: CachedSnapshot | None, current: CachedSnapshot) -> dict[str, Any]:
    """Return new and changed fields; a removed field is None.

    `_sequence_delta` above 1 indicates missed snapshots.
    """
    if previous is None:
        return {**current.payload, "_diff_type": "initial"}
    old, new = previous.payload, current.payload
    changed = {key: new.get(key) for key in (*new, *old) if key not in old or new.get(key) != old[key]}
    return {**changed, "_diff_type": "update", "_sequence_delta": current.sequence - previous.sequence}


# --- Unified JSON schema for matches of any feed and sport, as cached and displayed.


SIDES = {Side.HOME: "team_a", Side.AWAY: "team_b"}
SIDE_BY_NAME = {name: side for side, name in SIDES.items()}

STATUS_BY_PHASE = {
    Phase.UPCOMING: "upcoming",
    Phase.POSTPONED: "upcoming",
    Phase.IN_PLAY: "live",
    Phase.INTERRUPTED: "live",
    Phase.FINISHED: "completed",
    Phase.CALLED_OFF: "abandoned",
}
GOAL_KINDS: Mapping[str, Kind] = {kind.value: kind for kind in GoalKind}
WICKET_KINDS: Mapping[str, Kind] = {kind.value: kind for kind in WicketKind}
MAX_TEXT_LENGTH = 2000
MAX_EVENTS = 200


def to_payload(live: LiveFixture) -> dict[str, Any]:
    score_field = "wickets_taken" if live.sport is Sport.CRICKET else "goals"
    return {
        "match_id": str(live.id) if live.feed == RECONCILED else feed_match_id(live.feed, live.id),
        "domain_id": live.feed,
        "id": live.id,
        "sport": live.sport.value,
        "title": title_of(live),
        "status": STATUS_BY_PHASE[phase_of(live.status)],
        "status_code": live.status,
        "start_time": _format_time(live.kickoff),
        "league": {
            "id": live.league.id,
            "name": live.league.name,
            "country": live.league.country,
            "season": live.league.season,
            "round": live.league.round,
        },
        "teams": {name: _team(live.team(side)) for side, name in SIDES.items()},
        "score": {
            name: {**({} if live.score is None else {score_field: live.score.of(side)}), **_batting_score(live, side)}
            for side, name in SIDES.items()
        },
        "penalties": None
        if live.penalties is None
        else {name: live.penalties.of(side) for side, name in SIDES.items()},
        "clock": None if live.minute is None else _minute(live.minute),
        "current_innings": live.innings[-1].number if live.innings else None,
        "innings": [
            {
                "number": each.number,
                "batting": SIDES[each.batting],
                "runs": each.runs,
                "wickets": each.wickets,
                "overs": each.overs,
                "balls": each.balls,
                "over": each.over,
            }
            for each in live.innings
        ],
        "toss": None if live.toss is None else {"winner": SIDES[live.toss.winner], "decision": live.toss.decision},
        "venue": live.venue,
        "last_event": None
        if live.last_event is None
        else {
            "type": live.last_event.type,
            "description": live.last_event.description,
            "timestamp": None if live.last_event.at is None else _format_time(live.last_event.at),
        },
        "events": [
            {
                "type": goal.type,
                "kind": goal.kind.value,
                "side": SIDES[goal.side],
                "minute": _minute(goal.minute),
                "player": {"id": goal.player.id, "name": goal.player.name},
                "assist": {"id": goal.assist.id, "name": goal.assist.name},
                "feeds": list(goal.feeds),
            }
            for goal in live.goals
        ],
        "metadata": dict(live.metadata),
        "confidence": dict(live.confidence),
        "raw": live.raw,
    }


def decode(payload: Mapping[str, Any]) -> LiveFixture:
    """Decode a match. Raises FeedSchemaError with the invalid field; unknown fields are ignored."""
    match = JsonReader(payload if isinstance(payload, dict) else dict(payload))
    league, teams = match["league"], match["teams"]
    sport = Sport(_one_of(match["sport"], [each.value for each in Sport]))
    return LiveFixture(
        id=match["id"].integer(),
        feed=match["domain_id"].text(),
        status=_one_of(match["status_code"], PHASES),
        kickoff=match["start_time"].timestamp(),
        league=League(
            id=league["id"].integer(),
            name=league["name"].text(),
            country=_optional_text(league, "country"),
            season=None if league.get("season") is None else league["season"].integer(9999),
            round=_optional_text(league, "round"),
        ),
        home=_read_team(teams["team_a"]),
        away=_read_team(teams["team_b"]),
        score=_read_score(match["score"], "wickets_taken" if sport is Sport.CRICKET else "goals"),
        penalties=None if match.get("penalties") is None else _read_penalties(match["penalties"]),
        minute=None if match.get("clock") is None else _read_minute(match["clock"]),
        goals=tuple(_read_event(each) for each in match["events"].items(MAX_EVENTS)),
        raw={} if match.get("raw") is None else _as_object(match["raw"]),
        sport=sport,
        innings=tuple(_read_innings(each) for each in match["innings"].items(20)),
        toss=None if match.get("toss") is None else _read_toss(match["toss"]),
        venue=_optional_text(match, "venue"),
        last_event=None if match.get("last_event") is None else _read_last(match["last_event"]),
        metadata={key: each.text(MAX_TEXT_LENGTH) for key, each in match["metadata"].fields().items()},
        confidence={key: each.fraction() for key, each in match["confidence"].fields().items()},
    )


def title_of(live: LiveFixture) -> str:
    return live.metadata.get("title") or f"{live.home.name} vs {live.away.name}"


def overs_text(innings: Innings) -> str:
    """Format overs: 12.3 is twelve overs and three balls, not a fraction."""
    return f"{innings.overs}.{innings.balls}"


def _team(team: Team) -> dict[str, Any]:
    return {"id": team.id, "name": team.name, "short_name": team.short}


def _batting_score(live: LiveFixture, side: Side) -> dict[str, Any]:
    """Return the side's last innings as shown on a scoreboard."""
    innings = [each for each in live.innings if each.batting is side]
    if not innings:
        return {}
    return {"runs": innings[-1].runs, "wickets": innings[-1].wickets, "overs": float(overs_text(innings[-1]))}


def _minute(minute: MatchMinute) -> dict[str, Any]:
    return {"elapsed": minute.elapsed, "extra": minute.extra, "innings": minute.innings, "text": str(minute)}


def _format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _optional_text(reader: JsonReader, key: str) -> str | None:
    found = reader.optional(key)
    return None if found is None else found.text(MAX_TEXT_LENGTH)


def _as_object(reader: JsonReader) -> dict[str, Any]:
    if not isinstance(reader.value, dict):
        raise reader.schema_error("an object")
    return reader.value


def _one_of(reader: JsonReader, allowed: Mapping[str, Any] | list[str]) -> str:
    text = reader.text()
    if text not in allowed:
        raise reader.schema_error(f"one of {' '.join(allowed)}")
    return text


def _read_side(reader: JsonReader) -> Side:
    return SIDE_BY_NAME[_one_of(reader, SIDE_BY_NAME)]


def _read_team(reader: JsonReader) -> Team:
    return Team(reader["id"].integer(), reader["name"].text(), _optional_text(reader, "short_name"))


def _read_score(reader: JsonReader, score_field: str) -> Score | None:
    home, away = reader["team_a"], reader["team_b"]
    if home.get(score_field) is None and away.get(score_field) is None:
        return None
    return Score(home[score_field].integer(1000), away[score_field].integer(1000))


def _read_penalties(reader: JsonReader) -> Score:
    return Score(reader["team_a"].integer(1000), reader["team_b"].integer(1000))


def _read_minute(reader: JsonReader) -> MatchMinute:
    extra, innings = reader.optional("extra"), reader.optional("innings")
    return MatchMinute(
        reader["elapsed"].integer(1000),
        None if extra is None else extra.integer(1000),
        None if innings is None else innings.integer(20),
    )


def _read_person(reader: JsonReader) -> Player:
    number = reader.optional("id")
    return Player(None if number is None else number.integer(), _optional_text(reader, "name"))


def _read_event(reader: JsonReader) -> LiveGoal:
    type_ = reader["type"].text()
    kinds = WICKET_KINDS if type_ == WICKET else GOAL_KINDS
    return LiveGoal(
        side=_read_side(reader["side"]),
        minute=_read_minute(reader["minute"]),
        player=_read_person(reader["player"]),
        kind=kinds[_one_of(reader["kind"], kinds)],
        assist=_read_person(reader["assist"]),
        type=type_,
        feeds=tuple(feed.text() for feed in reader["feeds"].items(20)),
    )


def _read_innings(reader: JsonReader) -> Innings:
    return Innings(
        number=reader["number"].integer(20),
        batting=_read_side(reader["batting"]),
        runs=reader["runs"].integer(5000),
        wickets=reader["wickets"].integer(1000),
        overs=reader["overs"].integer(1000),
        balls=reader["balls"].integer(100),
        over=reader["over"].boolean(),
    )


def _read_toss(reader: JsonReader) -> Toss:
    return Toss(_read_side(reader["winner"]), _one_of(reader["decision"], ["bat", "field"]))


def _read_last(reader: JsonReader) -> LastEvent:
    at = reader.optional("timestamp")
    return LastEvent(
        reader["type"].text(), reader["description"].text(MAX_TEXT_LENGTH), None if at is None else at.timestamp()
    )
