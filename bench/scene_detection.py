"""Scene detection: accuracy on known cuts and cost, compared with PySceneDetect and plain decoding

A hard cut counts as found within one frame of its position; a fade, dissolve or wipe within three. The peers are
PySceneDetect's detectors with default settings, if the package `scenedetect` is installed. Times are CPU seconds of all
threads per minute of video, the best of three alternating rounds; "decode" is PyAV decoding every frame and discarding
it.
"""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import av

from bench.hashing import SECONDS, SIZES
from bench.hashing import _write as write_moving_scene
from bench.scene_films import Cut, Film, mixed, recorded, simulated
from bench.table import table
from found_footy.media.scenes import find_cuts

EXACT, SLOW = 1, 3
"""Tolerance in frames for a hard cut, and for the middle of a gradual one."""
ROUNDS = 3
PEERS = ("ContentDetector", "AdaptiveDetector")

Finder = Callable[[Path], Sequence[int]]
Counted = tuple[int, int, int]
"""True positives, false positives, false negatives."""


async def main() -> None:
    finders: dict[str, Finder] = {"this": lambda path: find_cuts(path).cuts}
    if importlib.util.find_spec("scenedetect") is None:
        print("The package scenedetect is not installed: no peers.\n")
    else:
        finders |= {name: _peer(name) for name in PEERS}
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent)
        simulator = simulated(folder)
        _accuracy([*recorded(), *simulator, *mixed(folder, simulator)], finders)
        print()
        _speed(folder, finders)


def _accuracy(films: Sequence[Film], finders: dict[str, Finder]) -> None:
    counted = {film.path: {name: _held(find(film.path), film.cuts) for name, find in finders.items()} for film in films}
    groups = list(dict.fromkeys(film.group for film in films))
    rows: list[list[object]] = []
    for group in groups:
        members = [film for film in films if film.group == group]
        if group.startswith("recorded"):
            rows += [[film.path.name, len(film.cuts), *map(_short, counted[film.path].values())] for film in members]
        sums = [_sum([counted[film.path][name] for film in members]) for name in finders]
        rows.append([f"**{group}**", sum(len(film.cuts) for film in members), *map(_long, sums)])
    sums = [_sum([counted[film.path][name] for film in films]) for name in finders]
    rows.append(["**all**", sum(len(film.cuts) for film in films), *map(_long, sums)])
    table(["film", "cuts", *finders], rows)


def _speed(folder: Path, finders: dict[str, Finder]) -> None:
    rows = []
    for name, (width, height) in SIZES.items():
        path = folder / f"{name}.mp4"
        write_moving_scene(path, width, height)
        ways: list[Callable[[Path], object]] = [_decode, *finders.values()]
        rounds = [[_spent(way, path) for way in ways] for _ in range(ROUNDS)]
        decode, *rest = (min(each[place] for each in rounds) * 60 / SECONDS for place in range(len(ways)))
        rows.append([name, f"{decode:.2f} s", *(f"{spent:.2f} s ({spent / decode:.2f})" for spent in rest)])
    table(["video", "decode", *(f"{name} (times the decode)" for name in finders)], rows)


def _peer(name: str) -> Finder:
    peer: Any = importlib.import_module("scenedetect")

    def find(path: Path) -> Sequence[int]:
        manager = peer.SceneManager()
        manager.add_detector(getattr(peer, name)())
        manager.detect_scenes(peer.open_video(str(path)))
        return [first.frame_num for first, _ in manager.get_scene_list()[1:]]

    return find


def _held(found: Sequence[int], cuts: Sequence[Cut]) -> Counted:
    """Match each detected cut to the nearest known one within tolerance, one to one."""
    left = list(cuts)
    hits = 0
    for frame in found:
        near = [cut for cut in left if abs(cut.frame - frame) <= (SLOW if cut.slow else EXACT)]
        if near:
            left.remove(min(near, key=lambda cut: abs(cut.frame - frame)))
            hits += 1
    return hits, len(found) - hits, len(left)


def _sum(counts: Sequence[Counted]) -> Counted:
    hits, wrong, missed = (sum(column) for column in zip(*counts, strict=True))
    return hits, wrong, missed


def _short(counted: Counted) -> str:
    return f"{counted[0]} found, {counted[1]} wrong"


def _long(counted: Counted) -> str:
    hits, wrong, missed = counted
    if not hits:
        return f"F1 0.00 ({wrong} wrong)"
    precision, recall = hits / (hits + wrong), hits / (hits + missed)
    return f"F1 {2 * precision * recall / (precision + recall):.2f} (P {precision:.2f}, R {recall:.2f})"


def _spent(way: Callable[[Path], object], path: Path) -> float:
    began = time.process_time()
    way(path)
    return time.process_time() - began


def _decode(path: Path) -> None:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for _ in container.decode(stream):
            pass
