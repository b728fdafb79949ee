"""A soccer match of ESPN: an entry of the scoreboard, and the goals of its summary where the scoreboard lags behind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from found_footy.adapters.feeds.limits import MAX_GOALS, storable
from found_footy.adapters.feeds.telling import place, told
from found_footy.domain.errors import FeedSchemaError, UnknownStatus
from found_footy.domain.feeds.document import Reader
from found_footy.domain.fixtures.model import (
    GoalKind,
    LastEvent,
    League,
    LiveFixture,
    LiveGoal,
    Minute,
    Person,
    Score,
    Side,
    Team,
)
from found_footy.domain.fixtures.statuses import Phase, phase_of

MAX_COUNT = 200
"""Goals of one side, or kicks in a shoot-out."""

STATUSES = {
    "STATUS_SCHEDULED": "NS",
    "STATUS_FIRST_HALF": "1H",
    "STATUS_HALFTIME": "HT",
    "STATUS_SECOND_HALF": "2H",
    "STATUS_IN_PROGRESS": "LIVE",
    "STATUS_END_OF_REGULATION": "BT",
    "STATUS_OVERTIME": "ET",
    "STATUS_EXTRA_TIME": "ET",
    "STATUS_HALFTIME_ET": "BT",
    "STATUS_END_OF_EXTRATIME": "BT",
    "STATUS_SHOOTOUT": "P",
    "STATUS_FULL_TIME": "FT",
    "STATUS_FINAL": "FT",
    "STATUS_FINAL_AET": "AET",
    "STATUS_FINAL_PEN": "PEN",
    "STATUS_POSTPONED": "PST",
    "STATUS_DELAYED": "INT",
    "STATUS_RAIN_DELAY": "INT",
    "STATUS_SUSPENDED": "SUSP",
    "STATUS_ABANDONED": "ABD",
    "STATUS_CANCELED": "CANC",
    "STATUS_FORFEIT": "WO",
}


def parse_event(event: Reader, league: Reader, feed: str) -> LiveFixture:
    game = event["competitions"][0]
    sides = {side["homeAway"].text(): side for side in game["competitors"].items()}
    if set(sides) != {"home", "away"}:
        raise FeedSchemaError("competitors.homeAway", sorted(sides), "home and away")
    teams = {Side(name): _team(side) for name, side in sides.items()}
    vendor_status = game["status"]["type"]["name"].text()
    if vendor_status not in STATUSES:
        raise UnknownStatus(f"status {vendor_status!r} of ESPN is not known")
    status = STATUSES[vendor_status]
    waits = phase_of(status) in (Phase.UPCOMING, Phase.POSTPONED)
    begun = not waits and game["status"]["type"].get("state") != "pre"
    details = game["details"].items() if game.get("details") else []
    shootout = all(side.get("shootoutScore") is not None for side in sides.values())
    return LiveFixture(
        id=event["id"].number(),
        feed=feed,
        status=status,
        kickoff=event["date"].moment(),
        league=League(league["id"].number(), league["name"].text(), season=_season(event), slug=league.said("slug")),
        home=teams[Side.HOME],
        away=teams[Side.AWAY],
        score=_score(sides, "score") if begun else None,
        penalties=_score(sides, "shootoutScore") if shootout else None,
        minute=_minute(game["status"]["displayClock"]) if begun else None,
        goals=_goals(details, teams, "competitions.0.details"),
        raw=storable({"event": _slim(event.value)}),
        venue=place(
            game.said("venue", "fullName") or event.said("venue", "displayName"), game.said("venue", "address", "city")
        ),
        last_event=_last_event(details, teams),
        metadata=told(
            note=game.said("altGameNote"),
            stage=event.said("season", "slug"),
            phase=game.said("status", "type", "description"),
            attendance=game.said("attendance"),
        ),
    )


def is_whole(match: LiveFixture) -> bool:
    """Whether each goal that the score counts is also told."""
    return match.score is None or len(match.goals) >= match.score.home + match.score.away


def with_summary(match: LiveFixture, body: Any) -> LiveFixture:
    """The match with the goals of its summary, where those tell more."""
    summary = Reader(body)
    if summary["header"]["id"].number() != match.id:
        raise FeedSchemaError("header.id", summary["header"]["id"].value, f"{match.id}, which was asked for")
    teams = {Side.HOME: match.home, Side.AWAY: match.away}
    entries = summary["keyEvents"].items() if summary.get("keyEvents") else []
    goals = _goals(entries, teams, "keyEvents")
    return replace(match, goals=goals) if len(goals) > len(match.goals) else match


def _team(side: Reader) -> Team:
    return Team(side["id"].number(), side["team"]["displayName"].text(), side["team"].said("abbreviation"))


def _score(sides: Mapping[str, Reader], field: str) -> Score:
    return Score(sides["home"][field].number(MAX_COUNT), sides["away"][field].number(MAX_COUNT))


def _season(event: Reader) -> int | None:
    told_ = isinstance(season := event.get("season"), dict) and season.get("year") is not None
    return event["season"]["year"].number(9999) if told_ else None


def _goals(entries: list[Reader], teams: Mapping[Side, Team], field: str) -> tuple[LiveGoal, ...]:
    goals = tuple(_goal(entry, teams) for entry in entries if _counts(entry))
    if len(goals) > MAX_GOALS:
        raise FeedSchemaError(field, len(goals), f"at most {MAX_GOALS} goals")
    return goals


def _counts(entry: Reader) -> bool:
    return entry.get("scoringPlay") is True and entry.get("shootout") is not True


def _goal(entry: Reader, teams: Mapping[Side, Team]) -> LiveGoal:
    team = entry["team"]["id"].number()
    side = next((side for side, each in teams.items() if each.id == team), None)
    if side is None:
        raise FeedSchemaError(f"{entry.path}.team.id", team, "one of the two sides")
    people = _people(entry)
    return LiveGoal(
        side=side,
        minute=_minute(entry["clock"]["displayValue"]),
        player=_person(people[0]) if people else Person(),
        kind=_kind(entry),
    )


def _kind(entry: Reader) -> GoalKind:
    """The scoreboard says it with flags, the summary with words."""
    words = (entry.said("type", "text") or "").casefold()
    if entry.get("ownGoal") is True or "own goal" in words:
        return GoalKind.OWN_GOAL
    return GoalKind.PENALTY if entry.get("penaltyKick") is True or "penalty" in words else GoalKind.NORMAL


def _people(entry: Reader) -> list[Reader]:
    if entry.get("athletesInvolved"):
        return entry["athletesInvolved"].items()
    if entry.get("participants"):
        return [each["athlete"] for each in entry["participants"].items() if each.get("athlete")]
    return []


def _person(athlete: Reader) -> Person:
    """Either may be missing: the other still tells who it is."""
    return Person(
        athlete["id"].number() if athlete.get("id") is not None else None,
        athlete["displayName"].text() if athlete.get("displayName") is not None else None,
    )


def _minute(clock: Reader) -> Minute:
    """67', or 90'+5'."""
    match = re.fullmatch(r"(\d{1,3})'?(?:\+(\d{1,2})'?)?", clock.text(), re.ASCII)
    if match is None:
        raise FeedSchemaError(clock.path, clock.value, "a minute such as 67' or 90'+5'")
    return Minute(int(match[1]), int(match[2]) if match[2] else None)


def _last_event(details: list[Reader], teams: Mapping[Side, Team]) -> LastEvent | None:
    words = details[-1].said("type", "text") if details else None
    if words is None:
        return None
    last = details[-1]
    team = next((each.name for each in teams.values() if str(each.id) == last.said("team", "id")), None)
    parts = (last.said("clock", "displayValue"), words, last.said("athletesInvolved", 0, "displayName"))
    type_ = "goal" if _counts(last) else words.lower()
    return LastEvent(type_, " ".join(part for part in (*parts, team and f"({team})") if part))


def _slim(raw: Any) -> dict[str, Any]:
    """Tickets, odds and links are most of the document, and none of our business."""
    game = raw["competitions"][0]
    kept = {key: game[key] for key in ("status", "details") if key in game}
    kept["competitors"] = [
        {key: side[key] for key in ("id", "homeAway", "score", "shootoutScore") if key in side}
        for side in game["competitors"]
    ]
    return {"id": raw["id"], "date": raw["date"], "shortName": raw.get("shortName"), "competitions": [kept]}
