"""The ground truth that an answer of ESPN's scoreboard tells. Pure."""

from __future__ import annotations

import re
from typing import Any

from found_footy.simulator.ground_truth import GroundTruth, Pair, TrueGoal, TrueMatch, count, stage_of
from found_footy.simulator.script import SideName

STATUSES = {
    "STATUS_SCHEDULED": "NS",
    "STATUS_FIRST_HALF": "1H",
    "STATUS_HALFTIME": "HT",
    "STATUS_SECOND_HALF": "2H",
    "STATUS_IN_PROGRESS": "LIVE",
    "STATUS_OVERTIME": "ET",
    "STATUS_SHOOTOUT": "P",
    "STATUS_FULL_TIME": "FT",
    "STATUS_FINAL_AET": "AET",
    "STATUS_FINAL_PEN": "PEN",
    "STATUS_POSTPONED": "PST",
    "STATUS_DELAYED": "INT",
    "STATUS_SUSPENDED": "SUSP",
    "STATUS_CANCELED": "CANC",
    "STATUS_ABANDONED": "ABD",
    "STATUS_FORFEIT": "WO",
}
_CLOCK = re.compile(r"(\d+)'(?:\+(\d+)')?")


def truth_of(scoreboard: dict[str, Any]) -> GroundTruth:
    """Raises KeyError or ValueError where the answer has not ESPN's shape."""
    return GroundTruth(tuple(_match(event) for event in scoreboard["events"]))


def minute_of(display: str) -> tuple[int, int | None]:
    """ESPN writes 67' and 90'+5'."""
    found = _CLOCK.fullmatch(display)
    if found is None:
        raise ValueError(f"{display!r} is not a minute as ESPN writes it")
    return int(found[1]), int(found[2]) if found[2] else None


def _match(event: dict[str, Any]) -> TrueMatch:
    competition = event["competitions"][0]
    status = STATUSES[event["status"]["type"]["name"]]
    sides = {competitor["homeAway"]: competitor for competitor in competition["competitors"]}
    home, away = sides["home"], sides["away"]
    goals = _goals(competition["details"], str(home["team"]["id"]))
    shootout = "shootoutScore" in home and "shootoutScore" in away
    return TrueMatch(
        id=int(event["id"]),
        home=home["team"]["displayName"],
        away=away["team"]["displayName"],
        status=status,
        stage=stage_of(status),
        score=None if status in ("NS", "PST") else (int(home["score"]), int(away["score"])),
        penalties=(int(home["shootoutScore"]), int(away["shootoutScore"])) if shootout else None,
        goals=goals,
    )


def _goals(details: list[dict[str, Any]], home_id: str) -> tuple[TrueGoal, ...]:
    running: Pair = (0, 0)
    goals = []
    for play in details:
        if not play["scoringPlay"] or play["shootout"]:
            continue
        # `team` is the side that benefits, also for an own goal.
        side: SideName = "home" if str(play["team"]["id"]) == home_id else "away"
        running = count(running, side)
        elapsed, extra = minute_of(play["clock"]["displayValue"])
        athletes = play.get("athletesInvolved") or [{}]
        player, kind = athletes[0].get("displayName"), _kind(play)
        goals.append(TrueGoal(side, player, kind, elapsed, extra, "stable", running))
    return tuple(goals)


def _kind(play: dict[str, Any]) -> str:
    if play["ownGoal"]:
        return "Own Goal"
    return "Penalty" if play["penaltyKick"] else "Normal Goal"
