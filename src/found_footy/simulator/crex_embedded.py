"""The JSON that the simulated CREX puts into its pages, as Angular's TransferState does.

Keys are the addresses that the server asked; the text is escaped as Angular up to version 15 does it (`&q;`, …). Keys
and fields as public clients of 2026 read them: getSV3, getSC4, getWD, getHomeMapData…, getPostMatchDataV2, getFixture.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from found_footy.domain.fixtures.model import Side
from found_footy.domain.fixtures.statuses import Phase, phase_of
from found_footy.simulator.crex_data import SHORT_WORDS, decision_of, match_data
from found_footy.simulator.cricket import CricketInnings, CricketNow, CricketPlayer

_API, _STATS = "https://api.goscorer.com/api/v3", "https://stats.crickapi.com"
_NAMES = "https://oc.crickapi.com/mapping/getHomeMapData"
_STAYS = CricketPlayer("ZZ9", "Not Out")
"""The batter at the other end, of whom the script says nothing."""


def embedded_match(match: CricketNow) -> str:
    data = match_data(match)
    players = {player.key: player for innings in match.innings for player in _players(innings)}
    state = {
        f"{_API}/getSV3": _score(match, data),
        f"{_API}/getSC4": [_card(match, innings) for innings in match.innings],
        f"{_STATS}/live/getWD": [_out(innings) for innings in match.innings],
        f"{_NAMES}scorecard": {**_teams([match]), "p": [{"f_key": p.key, "n": p.name} for p in players.values()]},
    }
    if phase_of(match.status).is_over or match.toss_winner is not None:
        state[f"{_STATS}/i/live/getPostMatchDataV2"] = _post(match)
    event = f'<script type="application/ld+json">{json.dumps(data["event"]).replace("<", "")}</script>'
    return event + _script(state)


def embedded_list(matches: Sequence[CricketNow]) -> str:
    fixtures = [
        {
            "mf": match.code.upper(),
            "b": match.home.key,
            "c": match.away.key,
            "ti": int(match.start.timestamp() * 1000),
            "d": 1 if phase_of(match.status) in (Phase.IN_PLAY, Phase.INTERRUPTED) else 0,
            "res": match.result or (SHORT_WORDS.get(match.status, "") if phase_of(match.status).is_over else ""),
            "mn": f"{match.match_number} {match.match_type}",
            "q": f"^{_series_key(match)}",
            "v": match.venue,
        }
        for match in sorted(matches, key=lambda match: match.start)
    ]
    return _script({f"{_STATS}/fixture/getFixture": fixtures, f"{_NAMES}datewise": _teams(matches)})


def _script(state: dict[str, Any]) -> str:
    text = json.dumps(state, ensure_ascii=False)
    for plain, escaped in (("&", "&a;"), ('"', "&q;"), ("'", "&s;"), ("<", "&l;"), (">", "&g;")):
        text = text.replace(plain, escaped)
    return f'<script id="app-root-state" type="application/json">{text}</script>'


def _series_key(match: CricketNow) -> str:
    return f"{sum(ord(letter) * place for place, letter in enumerate(match.series, 1)) % 46655 + 1:X}"


def _teams(matches: Sequence[CricketNow]) -> dict[str, Any]:
    sides = {side.key: side for match in matches for side in (match.home, match.away)}
    serieses = {_series_key(match): match.series for match in matches}
    return {
        "t": [{"f_key": side.key, "n": side.name, "sn": side.short} for side in sides.values()],
        "s": [{"f_key": key, "n": name} for key, name in serieses.items()],
    }


def _score(match: CricketNow, data: dict[str, Any]) -> dict[str, Any]:
    """The side that bats is the first."""
    batting = match.innings[-1].batting if match.innings else Side.HOME
    first, second = (match.home, match.away) if batting is Side.HOME else (match.away, match.home)
    ball = data["box"] if match.status == "LIVE" else ""
    return {
        "team1": first.short,
        "team1_f_n": first.name,
        "team2": second.short,
        "team2_f_n": second.name,
        "score1": data["batting"]["score"],
        "over1": data["batting"]["overs"].strip("()"),
        "score2": data["bowling"]["score"],
        "over2": data["bowling"]["overs"].strip("()"),
        "comment1": data["comment"],
        "lastovers": [{"over": "Over 1", "overinfo": [ball]}] if ball else [],
    }


def _players(innings: CricketInnings) -> list[CricketPlayer]:
    fallen = [(each.batter, each.bowler, each.fielder) for each in innings.wickets]
    return [_STAYS, *(player for players in fallen for player in players if player is not None)]


def _card(match: CricketNow, innings: CricketInnings) -> dict[str, Any]:
    side = match.home if innings.batting is Side.HOME else match.away
    balls = innings.overs * 6 + innings.balls
    partnerships, runs, faced = [], 0, 0
    for wicket in innings.wickets:
        at = wicket.over * 6 + wicket.ball
        partnerships.append(_pair(wicket.batter, wicket.runs - runs, at - faced))
        runs, faced = wicket.runs, at
    if len(innings.wickets) < 10:
        partnerships.append(_pair(CricketPlayer("ZZ8", "New Batter"), innings.runs - runs, max(0, balls - faced)))
    return {
        "c": side.key,
        "d": f"{innings.runs}/{len(innings.wickets)}({balls}",
        "b": [
            *(f"{each.batter.key}.{each.batter_runs}.{each.batter_balls}.0.0/1" for each in innings.wickets),
            f"{_STAYS.key}.0.0.0.0",
        ],
        "p": partnerships,
    }


def _pair(batter: CricketPlayer, runs: int, balls: int) -> str:
    return f"{batter.key}.{runs}.{balls}.{_STAYS.key}.0.0.{runs}.{balls}"


def _out(innings: CricketInnings) -> dict[str, str]:
    return {wicket.batter.key: decision_of(wicket) for wicket in innings.wickets}


def _post(match: CricketNow) -> dict[str, Any]:
    over = phase_of(match.status).is_over
    words = match.result or SHORT_WORDS.get(match.status, "")
    side = {Side.HOME: match.home, Side.AWAY: match.away, None: None}[match.toss_winner]
    toss = {"toss_team": side.key, "chose_to": 1 if match.toss_decision == "bat" else 2} if side else {}
    return {"r": words if over else "", **toss}
