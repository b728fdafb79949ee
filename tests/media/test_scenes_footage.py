"""Cuts in what others filmed, and in what the simulator renders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from footy_simulator.clips.broadcast import broadcast_timeline
from footy_simulator.clips.encode import render, write_master
from footy_simulator.clips.models import ClipSpec, MasterSpec
from footy_simulator.clips.plan import clips_for
from footy_simulator.clips.truth import cuts_of, cuts_of_master
from footy_simulator.loader import load_scenario
from found_footy.media.scenes import find_cuts
from tests.support.recorded import recorded

SEEN: list[tuple[str, tuple[tuple[int, int], ...]]] = [
    ("scenes/counter.mp4", ((10, 0), (20, 0))),
    ("scenes/fades.mp4", ((84, 3), (167, 3))),
    ("scenes/testvideo.mp4", ((30, 1), (180, 1), (394, 3), (543, 3))),
    ("near-duplicates/doorknob-hd-no-bar.mp4", ()),
]
"""Frames as they were looked at, with the tolerance: a hard cut, or a fade or dissolve."""


@pytest.mark.parametrize(("name", "cuts"), SEEN, ids=[name for name, _ in SEEN])
def test_recorded_films_are_cut_where_one_sees_it(name: str, cuts: tuple[tuple[int, int], ...]) -> None:
    found = find_cuts(recorded("video", *name.split("/"))).cuts
    assert len(found) == len(cuts), found
    for place, (cut, tolerance) in zip(found, cuts, strict=True):
        assert abs(place - cut) <= tolerance, found


@pytest.fixture(scope="module")
def spec() -> ClipSpec:
    scenario = load_scenario("matchday")
    return clips_for(scenario, scenario.matches[0].id, 0)[0]


def test_the_simulators_cut_and_wipe_are_found(tmp_path: Path, spec: ClipSpec) -> None:
    shots = broadcast_timeline(spec.footage).shots
    # From the last second of the first shot, over the second, into the first replay.
    master = MasterSpec(spec.footage, 180, 25, float(int(shots[1].start) - 1), float(int(shots[2].start) + 2))
    write_master(master, tmp_path / "master.mp4")
    hard, wiped = cuts_of_master(master)
    assert (hard.wiped, wiped.wiped) == (False, True)
    found = find_cuts(tmp_path / "master.mp4").cuts
    assert found[0] == hard.frame
    assert abs(found[1] - wiped.frame) <= 3
    assert len(found) == 2


@pytest.mark.parametrize("fps", [25, 30])
def test_a_copy_cuts_where_its_master_does(tmp_path: Path, spec: ClipSpec, fps: int) -> None:
    cut = broadcast_timeline(spec.footage).shots[1].start
    master = MasterSpec(spec.footage, 180, 25, float(int(cut) - 1), float(int(cut) + 2))
    copy = replace(spec, master=master, start=master.start + 0.3, length=2.5, height=180, fps=fps, kbit=400)
    (truth,) = cuts_of(copy)
    assert find_cuts(render(copy, tmp_path)).cuts == (truth.frame,)


def test_other_footage_has_no_cuts(spec: ClipSpec) -> None:
    assert cuts_of_master(replace(spec.master, footage=replace(spec.footage, scene="studio"))) == ()
