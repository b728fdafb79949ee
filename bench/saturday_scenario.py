"""Scenario of a Saturday at 15:00: 200 matches, of which 40 have a goal within five minutes, each posted ten times.

Three copies of each goal are rendered: plain, with a logo, and without a scoreboard. The others are these files with a
few extra bytes, so their content hashes differ but verification and perceptual hashing cost the same.
"""

from __future__ import annotations

import os
import shutil
import struct
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from bench.played import prepare
from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import clips_for
from footy_simulator.loader import parse_scenario
from footy_simulator.scenario import Scenario

MATCHES, GOALS, COPIES = 200, 40, 10
GOAL_MINUTES = 5
KICKOFF_MINUTES = 1
"""Until kick-off: the engines start and the matches are ingested."""
KINDS = ("copy", "copy logo", "copy no_clock")
KIND_OF_COPY = (0, 1, 0, 1, 2, 0, 1, 0, 1, 2)
POSTED_AFTER = (1, 1, 1, 1, 1, 2, 2, 2, 2, 2)
"""Minutes from the goal to each post on X: each of two searches can take five, while they are younger than three."""

_STARTS = ("Ash", "Bar", "Car", "Dart", "East", "Farn", "Gos", "Hali", "Ips", "Jar", "Ken", "Lin", "Mal", "New", "Old")
_STARTS += ("Pen", "Quor", "Roch", "Stock", "Taun", "Ux", "Vent", "Wal", "Yeo")
_ENDS = ("ford", "net", "lisle", "leigh", "ham", "port", "fax", "wich", "row", "dal", "coln", "den", "rith", "dale")
_ENDS += ("ton", "bridge", "nor", "sall", "vil")
TEAMS = [start + end for start, end in product(_STARTS, _ENDS)]
_SURNAMES = [
    f"{start}{end}" for start, end in product(("Abb", "Bax", "Cal", "Dun", "Ell"), ("ott", "ter", "low", "more"))
]
_FORENAMES = ("Adam", "Boris")
PLAYERS = [f"{forename} {surname}" for forename, surname in product(_FORENAMES, _SURNAMES)]


def saturday() -> Scenario:
    league = {"id": 39, "name": "Premier League", "country": "England", "season": 2025, "round": "Regular Season - 9"}
    matches = [_match(number) for number in range(MATCHES)]
    return parse_scenario(yaml.safe_dump({"leagues": {"premier_league": league}, "matches": matches}), "saturday")


def _match(number: int) -> dict[str, Any]:
    home, away = ({"id": 1000 + place, "name": TEAMS[place]} for place in (2 * number, 2 * number + 1))
    goals = []
    if number < GOALS:
        goals = [
            {
                "minute": 1 + number * GOAL_MINUTES // GOALS,
                "side": "home",
                "player": {"id": 5000 + number, "name": PLAYERS[number]},
                "clips": [_clip(copy) for copy in range(COPIES)],
            }
        ]
    return {
        "id": 1397001 + number,
        "league": "premier_league",
        "home": home,
        "away": away,
        "broadcast": {"style": "classic"},
        "kickoff": f"+{KICKOFF_MINUTES}m",
        "goals": goals,
    }


def _clip(copy: int) -> str:
    return f"{KINDS[KIND_OF_COPY[copy]]} 360p -3s 5s {600 + 10 * copy}k +{POSTED_AFTER[copy]}m"


def prepare_saturday(scenario: Scenario, folder: Path) -> None:
    """Write all files that are missing."""
    copies = [clips_for(scenario, match.id, 0) for match in scenario.matches if match.goals]
    firsts = [KIND_OF_COPY.index(kind) for kind in range(len(KINDS))]
    prepare((clips[first] for clips in copies for first in firsts), folder)
    for clips in copies:
        for number, clip in enumerate(clips):
            if number not in firsts:
                _write_copy(folder, clips[KIND_OF_COPY.index(KIND_OF_COPY[number])], clip, number)


def _write_copy(folder: Path, source: ClipSpec, clip: ClipSpec, number: int) -> None:
    path = folder / clip.file_name
    if path.exists():
        return
    partial = path.with_suffix(".partial")
    shutil.copyfile(folder / source.file_name, partial)
    with partial.open("ab") as file:
        # An MP4 box that every reader skips.
        file.write(struct.pack(">I4sI", 12, b"free", number))
    os.replace(partial, path)
