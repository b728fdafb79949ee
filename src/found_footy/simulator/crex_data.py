"""What the simulated CREX says of its matches: the texts that its pages show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from found_footy.domain.fixtures.model import Side, WicketKind
from found_footy.domain.fixtures.statuses import Phase, phase_of
from found_footy.simulator.cricket import CricketInnings, CricketNow, CricketPlayer, CricketSide, CricketWicket

DESCRIBED = 20
SHORT_WORDS = {
    "INNBRK": "Innings Break",
    "DRINKS": "Drinks",
    "LUNCH": "Lunch",
    "TEA": "Tea",
    "DINNER": "Dinner",
    "RAIN": "Rain Stopped",
    "STUMPS": "Stumps",
    "NR": "No Result",
    "ABD": "Abandoned",
    "DRAW": "Match Drawn",
    "TIE": "Match Tied",
    "CANC": "Cancelled",
}


def path_of(match: CricketNow) -> str:
    words = f"{match.home.short} vs {match.away.short} {_number(match)} {match.series}"
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return f"/cricket-live-score/{slug}-match-updates-{match.code.upper()}"


def list_data(matches: Sequence[CricketNow]) -> dict[str, Any]:
    ordered = sorted(matches, key=lambda match: match.start)
    return {
        "names": {key: name for match in ordered for key, name in _team_names(match).items()},
        # As for search engines: what comes first.
        "events": [_event(match) for match in ordered[:DESCRIBED]],
        "days": [
            {"date": f"{day:%a, %d %b %Y}", "matches": [_card(match) for match in group]}
            for day, group in groupby(ordered, key=lambda match: match.start.date())
        ],
    }


def match_data(match: CricketNow) -> dict[str, Any]:
    now = match.innings[-1] if match.innings else None
    batting = now.batting if now is not None else _bats_first(match)
    fielding = Side.AWAY if batting is Side.HOME else Side.HOME
    return {
        "names": {**_team_names(match), **_player_names(match)},
        "event": {"@type": "SportsEvent", **_event(match)},
        "title": f"{match.home.short} vs {match.away.short}, {_number(match)}, {match.series}",
        "series": match.series,
        "series_path": f"/series/{re.sub(r'[^a-z0-9]+', '-', match.series.lower())}-{_series_key(match)}",
        "venue": match.venue,
        "date": f"{match.start:%d %b, %I:%M %p}",
        "toss": _toss(match),
        "box": _box(match),
        "comment": _comment(match),
        "batting": _head(match, batting),
        "bowling": _head(match, fielding),
        "innings": [_innings(match, each) for each in match.innings],
    }


def _side(match: CricketNow, side: Side) -> CricketSide:
    return match.home if side is Side.HOME else match.away


def _number(match: CricketNow) -> str:
    return f"{match.match_number} {match.match_type}"


def _series_key(match: CricketNow) -> str:
    """A few letters that stay the same for the same series."""
    return f"{sum(ord(letter) * place for place, letter in enumerate(match.series, 1)) % 46655 + 1:X}"


def _iso(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _event(match: CricketNow) -> dict[str, Any]:
    return {
        "name": f"{match.home.name} vs {match.away.name}, {_number(match)}, {match.series}",
        "startDate": _iso(match.start),
        "url": path_of(match),
        "location": {"@type": "Place", "name": match.venue},
        "competitor": [{"@type": "SportsTeam", "name": side.name} for side in (match.home, match.away)],
    }


def _team_names(match: CricketNow) -> dict[str, str]:
    sides = (match.home, match.away)
    return {f"t_{each.key}_name": each.name for each in sides} | {f"t_{each.key}_short": each.short for each in sides}


def _players(wickets: Iterable[CricketWicket]) -> Iterable[CricketPlayer]:
    for wicket in wickets:
        yield from (each for each in (wicket.batter, wicket.bowler, wicket.fielder) if each is not None)


def _player_names(match: CricketNow) -> dict[str, str]:
    wickets = [wicket for innings in match.innings for wicket in innings.wickets]
    return {f"p_{player.key}_name": player.name for player in _players(wickets)}


def _score(innings: CricketInnings) -> str:
    return f"{innings.runs}-{len(innings.wickets)}"


def _overs(innings: CricketInnings) -> str:
    return f"({innings.overs}.{innings.balls})" if innings.balls else f"({innings.overs}.0)"


def _head(match: CricketNow, side: Side) -> dict[str, str]:
    played = [innings for innings in match.innings if innings.batting is side]
    return {
        "short": _side(match, side).short,
        "score": " & ".join(_score(each) for each in played) or "Yet to bat",
        "overs": _overs(played[-1]) if played else "",
    }


def _card(match: CricketNow) -> dict[str, Any]:
    phase = phase_of(match.status)
    shown = {side: _head(match, side) for side in Side}
    return {
        "path": path_of(match),
        "home": {
            **shown[Side.HOME],
            "name": match.home.short,
            "score": shown[Side.HOME]["score"] if match.innings else "",
        },
        "away": {
            **shown[Side.AWAY],
            "name": match.away.short,
            "score": shown[Side.AWAY]["score"] if match.innings else "",
        },
        "live": phase in (Phase.IN_PLAY, Phase.INTERRUPTED),
        "result": _comment(match) if phase.is_over else "",
        "time": f"{match.start:%I:%M %p}".lstrip("0"),
        "what": f"{_number(match)}, {match.series}",
    }


def _bats_first(match: CricketNow) -> Side:
    if match.toss_winner is None:
        return Side.HOME
    other = Side.AWAY if match.toss_winner is Side.HOME else Side.HOME
    return match.toss_winner if match.toss_decision == "bat" else other


def _toss(match: CricketNow) -> str:
    if match.toss_winner is None:
        return ""
    chose = "bat" if match.toss_decision == "bat" else "bowl"
    return f"{_side(match, match.toss_winner).name} won the toss and chose to {chose}"


def _box(match: CricketNow) -> str:
    """The middle of the head: the last ball, or why there is none."""
    if match.status in SHORT_WORDS:
        return SHORT_WORDS[match.status]
    if match.status == "RESULT":
        return "Match Ended"
    return {"W": "Wicket", "wd": "Wide", "nb": "No Ball"}.get(match.last_ball, match.last_ball)


def _comment(match: CricketNow) -> str:
    if match.result:
        return match.result
    if match.status == "STUMPS":
        return f"Day {match.day}: Stumps"
    if match.status in SHORT_WORDS:
        return SHORT_WORDS[match.status]
    if match.toss_winner is not None and len(match.innings) < 2:
        chose = "bat" if match.toss_decision == "bat" else "bowl"
        return f"{_side(match, match.toss_winner).short} opt to {chose}"
    return ""


def _innings(match: CricketNow, innings: CricketInnings) -> dict[str, Any]:
    bowlers = list(dict.fromkeys(wicket.bowler.name for wicket in innings.wickets if wicket.bowler is not None))
    return {
        "short": _side(match, innings.batting).short,
        "score": _score(innings),
        "overs": _overs(innings),
        "batting": [
            {
                "name": wicket.batter.name,
                "decision": decision_of(wicket),
                "runs": str(wicket.batter_runs),
                "balls": str(wicket.batter_balls),
            }
            for wicket in innings.wickets
        ],
        "bowling": [
            {"name": name, "wickets": str(sum(w.bowler is not None and w.bowler.name == name for w in innings.wickets))}
            for name in bowlers
        ],
        "falls": [
            {
                "name": wicket.batter.name,
                "score": f"{wicket.runs}-{wicket.number}",
                "over": f"{wicket.over}.{wicket.ball}",
            }
            for wicket in innings.wickets
        ],
    }


def decision_of(wicket: CricketWicket) -> str:
    """As scorecards write it."""
    bowler = wicket.bowler.name if wicket.bowler is not None else ""
    fielder = wicket.fielder.name if wicket.fielder is not None else ""
    match wicket.kind:
        case WicketKind.BOWLED:
            return f"b {bowler}"
        case WicketKind.CAUGHT:
            return f"c & b {bowler}" if fielder in ("", bowler) else f"c {fielder} b {bowler}"
        case WicketKind.LBW:
            return f"lbw b {bowler}"
        case WicketKind.STUMPED:
            return f"st {fielder} b {bowler}"
        case WicketKind.HIT_WICKET:
            return f"hit wicket b {bowler}"
        case WicketKind.RUN_OUT:
            return f"run out ({fielder})" if fielder else "run out"
        case WicketKind.OTHER:
            return "retired out"
