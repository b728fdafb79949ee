"""Accuracy on the simulator's clips: is it that goal, and have we got it already

Every clip of the default matchday is rendered, looked at and hashed; the answers are held against what the simulator
knows of each. The peer is the plain rule for duplicates (three pictures in a row within 10 of 64 bits, nothing else).
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from bench.table import table
from found_footy.adapters.vision.ocr import OcrVision
from found_footy.adapters.vision.watch import watch
from found_footy.domain.errors import MediaError
from found_footy.domain.fixtures.model import Minute, Score
from found_footy.domain.videos.readings import Expectation
from found_footy.domain.videos.verification import validate_timestamp
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.hash_match import IN_A_ROW, MOST_BITS, match, match_mirrored
from found_footy.media.phash import hash_video
from found_footy.media.probe import probe
from found_footy.simulator import load_scenario, truth
from found_footy.simulator.clips.footage import goal_footage
from found_footy.simulator.clips.plan import all_clips
from found_footy.simulator.clips.rendering import render
from found_footy.simulator.clips.spec import ClipSpec
from found_footy.simulator.clips.truth import ClipTruth, seconds_in_common, truth_of
from found_footy.simulator.script import Scenario

SHORTEST, LONGEST, LEAST_ASPECT = 3.0, 60.0, 1.33
ENOUGH_SECONDS = 1.5
"""Two clips that share less of a broadcast are duplicates for nobody; those between this and nothing do not count."""
CUT_OR_TURNED = ("mirrored", "crop", "no_clock")
"""Alterations after which the picture is another one; reported apart."""
REASONS = {
    "not soccer": "not_soccer",
    "filmed screen": "filmed_screen",
    "wrong minute": "wrong_minute",
    "other teams": "other_match",
    "other score": "other_match",
}


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    truth: ClipTruth
    verdict: str
    reason: str | None
    fingerprint: Fingerprint | None


@dataclass(frozen=True, slots=True)
class Pairs:
    """Of all pairs of clips: what was found, what was missed, what was invented."""

    found: int
    missed: tuple[str, ...]
    invented: tuple[str, ...]

    @property
    def precision(self) -> float:
        return self.found / max(1, self.found + len(self.invented))

    @property
    def recall(self) -> float:
        return self.found / max(1, self.found + len(self.missed))


async def evaluate(folder: Path) -> list[Judged]:
    scenario = load_scenario("matchday").football
    specs = list(all_clips(scenario))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        paths = list(pool.map(partial(render, folder=folder), specs))
    vision = OcrVision()
    judged = [await _judge(scenario, spec, path, vision) for spec, path in zip(specs, paths, strict=True)]
    await vision.aclose()
    return judged


async def _judge(scenario: Scenario, spec: ClipSpec, path: Path, vision: OcrVision) -> Judged:
    shown = truth_of(spec)
    try:
        info = probe(path)
        if info.duration < SHORTEST:
            return Judged(shown, "rejected", "too_short", None)
        if info.duration > LONGEST:
            return Judged(shown, "rejected", "too_long", None)
        if info.aspect < LEAST_ASPECT:
            return Judged(shown, "rejected", "portrait", None)
        watched = await watch(vision, path)
        fingerprint = hash_video(path)
    except MediaError as error:
        return Judged(shown, "rejected", {"NotAVideo": "not_a_video"}.get(error.kind, "broken"), None)
    result = validate_timestamp(watched.readings, expectation_of(scenario, spec))
    return Judged(shown, str(result.status), REASONS.get(str(result.reason)), fingerprint)


def expectation_of(scenario: Scenario, spec: ClipSpec) -> Expectation:
    """What the feed says in the end of the goal that a clip was posted for."""
    script = next(each for each in scenario.matches if each.id == spec.match)
    footage = goal_footage(script, spec.goal)
    told = truth(scenario).match(spec.match).goals[spec.goal]
    return Expectation(Minute(told.elapsed, told.extra), *footage.teams, Score(*footage.before), Score(*footage.after))


def duplicates(judged: Sequence[Judged], same: Callable[[Fingerprint, Fingerprint], bool], *, altered: bool) -> Pairs:
    """`altered`: only pairs with a mirrored or cropped copy in them, or only those without."""
    found, missed, invented = 0, [], []
    for one, other in _pairs(judged):
        if altered is not any(each in clip.truth.also for clip in (one, other) for each in CUT_OR_TURNED):
            continue
        assert one.fingerprint is not None
        assert other.fingerprint is not None
        common = seconds_in_common(one.truth, other.truth)
        matched = same(one.fingerprint, other.fingerprint)
        name = f"{_name(one.truth)} ~ {_name(other.truth)} ({common:.1f} s)"
        if common >= ENOUGH_SECONDS:
            found += matched
            missed += [] if matched else [name]
        elif common == 0 and matched:
            invented.append(name)
    return Pairs(found, tuple(missed), tuple(invented))


def _pairs(judged: Sequence[Judged]) -> Iterator[tuple[Judged, Judged]]:
    hashed = [each for each in judged if each.fingerprint is not None and each.truth.reason != "filmed_screen"]
    return combinations(hashed, 2)


def _name(shown: ClipTruth) -> str:
    return f"{shown.match}/{shown.goal}/{shown.number} {shown.kind} {' '.join(shown.also)}".strip()


def ours(a: Fingerprint, b: Fingerprint) -> bool:
    return (match(a, b) or match_mirrored(a, b)) is not None


def plain(a: Fingerprint, b: Fingerprint) -> bool:
    """Three pictures in a row within ten bits, at any offset."""
    close = np.argwhere(np.bitwise_count(a.hashes[:, None] ^ b.hashes) <= MOST_BITS)
    at = {(int(a.places[i]), int(b.places[j])) for i, j in close}
    return any(all((x + n, y + n) in at for n in range(IN_A_ROW)) for x, y in at)


def false_verified(judged: Sequence[Judged]) -> list[str]:
    return [_name(each.truth) for each in judged if each.verdict == "verified" and each.truth.verdict == "rejected"]


def verified_share(judged: Sequence[Judged]) -> tuple[int, int]:
    """Of the clips that show the goal with a clear clock: verified, and all."""
    right = [each for each in judged if each.truth.verdict == "verified" and each.truth.clock == "clear"]
    return sum(each.verdict == "verified" for each in right), len(right)


async def main() -> None:
    # Kept from run to run: clips are named by their content.
    judged = await evaluate(Path(tempfile.gettempdir()) / "found-footy-clips")
    verdicts = ("verified", "unverified", "rejected")
    confusion = Counter((each.truth.verdict, each.verdict) for each in judged)
    table(
        ["is", *(f"found {verdict}" for verdict in verdicts)],
        [[truth_, *(confusion[truth_, got] for got in verdicts)] for truth_ in verdicts],
    )
    right, all_ = verified_share(judged)
    wrong = [
        f"{_name(e.truth)}: {e.verdict} {e.reason}" for e in judged if e.truth.reason and e.truth.reason != e.reason
    ]
    print(
        f"\nFalsely verified: {len(false_verified(judged))}. Verified of those with a clear clock: {right} of {all_}."
    )
    lost = [f"{_name(e.truth)}: {e.reason}" for e in judged if e.verdict == "rejected" and not e.truth.reason]
    print(f"Refused although right: {'; '.join(lost) or 'none'}.")
    print(f"Refused for the true reason: {sum(bool(e.truth.reason) for e in judged) - len(wrong)}; not: {wrong}\n")
    rows = []
    for name, same in (("ours", ours), ("the plain rule", plain)):
        for altered in (False, True):
            pairs = duplicates(judged, same, altered=altered)
            label = "mirrored and cropped copies" if altered else "all other copies"
            row = [name, label, pairs.found, len(pairs.missed), len(pairs.invented)]
            rows.append([*row, f"{pairs.precision:.3f}", f"{pairs.recall:.3f}"])
            if name == "ours":
                print(
                    "\n".join(
                        [*(f"missed {each}" for each in pairs.missed), *(f"invented {e}" for e in pairs.invented)]
                    )
                )
    table(["rule", "pairs with", "found", "missed", "invented", "precision", "recall"], rows)
