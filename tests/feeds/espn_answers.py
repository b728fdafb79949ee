"""ESPN's scoreboard, as short as it can be, and a recording of it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

HOME, AWAY = "40", "50"


def play(team: str, clock: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": {"text": "Goal"},
        "team": {"id": team},
        "clock": {"displayValue": clock},
        "scoringPlay": True,
        "shootout": False,
        "ownGoal": False,
        "penaltyKick": False,
        "athletesInvolved": [{"id": "306", "displayName": "Mohamed Salah"}],
        **fields,
    }


def kick(team: str, *, scored: bool) -> dict[str, Any]:
    return play(team, "120'", scoringPlay=scored, shootout=True, penaltyKick=True)


def side(name: str, team: str, score: int, shootout: int | None = None) -> dict[str, Any]:
    told = {} if shootout is None else {"shootoutScore": shootout}
    names = {HOME: "Liverpool", AWAY: "Manchester City"}
    return {
        "id": team,
        "homeAway": name,
        "score": str(score),
        "team": {"id": team, "displayName": names[team]},
        **told,
    }


def event(
    event_id: int,
    status: str = "STATUS_FIRST_HALF",
    *,
    score: tuple[int, int] = (1, 0),
    shootout: tuple[int, int] | None = None,
    clock: str = "30'",
    state: str = "in",
    details: list[dict[str, Any]] | None = None,
    date: str = "2025-11-22T11:40Z",
) -> dict[str, Any]:
    told = {"displayClock": clock, "type": {"name": status, "state": state}}
    kicks = shootout or (None, None)
    return {
        "id": str(event_id),
        "date": date,
        "shortName": "MCI @ LIV",
        "season": {"year": 2025},
        "status": told,
        "competitions": [
            {
                "status": told,
                "competitors": [side("home", HOME, score[0], kicks[0]), side("away", AWAY, score[1], kicks[1])],
                "details": [play(HOME, "12'")] if details is None else details,
            }
        ],
    }


def scoreboard(*events: Any, league: str = "eng.1") -> dict[str, Any]:
    return {"leagues": [{"id": "700", "name": "Premier League", "slug": league}], "events": list(events)}


def record(folder: Path, *answers: dict[str, Any]) -> Path:
    folder.mkdir()
    for number, answer in enumerate(answers, start=1782800660):
        (folder / f"{number}.json.gz").write_bytes(gzip.compress(json.dumps(answer).encode()))
    return folder
