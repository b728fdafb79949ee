"""Scenario of a Saturday's busiest minute: 20 matches with two goals each within 60 seconds, 10 copies per goal.

Two copies of each goal are rendered. The others are these files with a few extra bytes, so their content hashes differ
but verification and perceptual hashing cost the same.
"""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import Any

import yaml

from bench.played import prepare
from footy_simulator.clips.plan import clips_for
from footy_simulator.loader import parse_scenario
from footy_simulator.scenario import Scenario

MATCHES, COPIES = 20, 10
GOALS = 2 * MATCHES
SPEED = 10.0
"""Ten minutes of play, containing all goals, take one minute of real time."""
KICKOFF_MINUTES = 4
"""Minutes of play until kick-off: the engines take some seconds to start."""

_TEAM_NAMES = (
    "Ashford Barnet Carlisle Dartford Eastleigh Farnham Gosport Halifax Ipswich Jarrow Kendal Lincoln Malden "
    "Newport Oldham Penrith Quorn Rochdale Stockport Taunton Uxbridge Ventnor Walsall Yeovil Andover Bromley "
    "Chester Dorking Epsom Frome Grimsby Hereford Ilkeston Kettering Leigh Morpeth Northwich Ossett Poole Redditch "
)
_PLAYER_NAMES = (
    "Abbott Baxter Calloway Dunmore Ellison Farrow Gallagher Hargrave Irving Jessop Kirkland Lomax Merrick Naylor "
    "Orchard Pemberton Quigley Rowntree Sandford Thackeray Underhill Vickers Whitlock Yardley Ackroyd Bickerstaff "
    "Crowther Davenport Entwistle Fairclough Greenhalgh Hollis Inchbald Jellicoe Kershaw Langley Maddox Nettleton "
    "Oakeshott Prendergast "
)
_TEAMS, _PLAYERS = _TEAM_NAMES.split(), _PLAYER_NAMES.split()


def burst() -> Scenario:
    league = {"id": 39, "name": "Premier League", "country": "England", "season": 2025, "round": "Regular Season - 9"}
    matches = [_match(number) for number in range(MATCHES)]
    return parse_scenario(yaml.safe_dump({"leagues": {"premier_league": league}, "matches": matches}), "burst")


def _match(number: int) -> dict[str, Any]:
    home, away = ({"id": 1000 + place, "name": _TEAMS[place]} for place in (2 * number, 2 * number + 1))
    return {
        "id": 1397001 + number,
        "league": "premier_league",
        "home": home,
        "away": away,
        "broadcast": {"style": "classic"},
        "kickoff": f"+{KICKOFF_MINUTES}m",
        # Four goals in each of ten minutes.
        "goals": [
            _goal(2 * number, 1 + number // 4, "home"),
            _goal(2 * number + 1, 6 + number // 4, "away"),
        ],
    }


def _goal(player: int, minute: int, side: str) -> dict[str, Any]:
    clips = [f"copy {'logo ' if number % 2 else ''}360p -3s 5s {600 + 10 * number}k" for number in range(COPIES)]
    return {
        "minute": minute,
        "side": side,
        "player": {"id": 5000 + player, "name": _PLAYERS[player]},
        "clips": clips,
    }


def prepare_burst(scenario: Scenario, folder: Path) -> None:
    copies = [clips_for(scenario, match.id, goal) for match in scenario.matches for goal in range(len(match.goals))]
    prepare((clip for clips in copies for clip in clips[:2]), folder)
    for clips in copies:
        for number, clip in enumerate(clips[2:]):
            path = folder / clip.file_name
            shutil.copyfile(folder / clips[number % 2].file_name, path)
            with path.open("ab") as file:
                # An MP4 box that every reader skips.
                file.write(struct.pack(">I4sI", 12, b"free", number))
