"""Rendering the simulator's clips: CPU seconds per second of clip

A master is rendered once per goal; each copy is made from it. One process, one core; below 1 is faster than real time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from bench.table import table
from footy_simulator.clips.encode import master_of, render
from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import all_clips, clips_for
from footy_simulator.loader import load_scenario, parse_scenario

COPIES = (
    "copy",
    "copy logo",
    "copy letterbox 30fps",
    "copy crop",
    "copy grey",
    "copy mirrored",
    "filmed",
    "portrait",
)
OTHERS = ("studio", "basketball", "landscape", "too_short", "too_long", "truncated")
HEIGHTS = (360, 720)


async def main() -> None:
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent)
        table(["clip", "height", "CPU s / s of clip", "with its share of the master"], _kinds(folder))
        began = time.process_time()
        specs = list(all_clips(load_scenario("matchday")))
        for spec in specs:
            render(spec, folder)
        spent = time.process_time() - began
    seconds = sum(spec.length for spec in specs)
    print(f"\nAll {len(specs)} clips of the default matchday ({seconds:.0f} s of video): {spent:.0f} s of CPU.")


def _kinds(folder: Path) -> list[list[object]]:
    rows: list[list[object]] = []
    for height in HEIGHTS:
        lines = [f"{line} {height}p -5s 10s" for line in COPIES]
        specs = _specs(lines)
        master = _spent(master_of, specs[0], folder)
        whole = specs[0].master
        rows.append(["(master)", height, f"{master / (whole.end - whole.start):.2f}", ""])
        for line, spec in zip(COPIES, specs, strict=True):
            rows.append([line, height, *_figures(spec, folder, master / len(specs))])
    for line in OTHERS:
        spec = _specs([line])[0]
        rows.append([line, spec.height, *_figures(spec, folder, _spent(master_of, spec, folder))])
    return rows


def _figures(spec: ClipSpec, folder: Path, share: float) -> tuple[str, str]:
    spent = _spent(render, spec, folder)
    return f"{spent / spec.length:.2f}", f"{(spent + share) / spec.length:.2f}"


def _spent(work: Callable[[ClipSpec, Path], object], spec: ClipSpec, folder: Path) -> float:
    began = time.process_time()
    work(spec, folder)
    return time.process_time() - began


def _specs(lines: list[str]) -> list[ClipSpec]:
    league = {"id": 1, "name": "L", "country": "C", "season": 2025, "round": "R"}
    goal = {"minute": 52, "side": "home", "clips": lines}
    teams = {"home": {"id": 1, "name": "Town"}, "away": {"id": 2, "name": "Rovers"}}
    match = {"id": 1, "league": "l", **teams, "kickoff": "+0m", "goals": [goal]}
    scenario = parse_scenario(yaml.safe_dump({"leagues": {"l": league}, "matches": [match]}), "bench")
    return clips_for(scenario, 1, 0)
