"""Accuracy of verification and deduplication on the simulator's clips

Every clip of the default matchday is rendered, verified and hashed; the results are compared with the simulator's
ground truth. The baseline is the plain rule for duplicates (three consecutive frames within 10 of 64 bits).
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
from footy_simulator.clips.encode import render
from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import all_clips, goal_footage
from footy_simulator.clips.truth import ClipTruth, clip_truth, seconds_in_common
from footy_simulator.loader import load_scenario
from footy_simulator.scenario import Scenario
from footy_simulator.truth import expected_outcome
from found_footy.clips.frame_selection import read_clip
from found_footy.clips.models import Expectation
from found_footy.clips.ocr_vision import OcrVision
from found_footy.clips.verification import validate_timestamp
from found_footy.errors import MediaError
from found_footy.fixtures.models import MatchMinute, Score
from found_footy.media.fingerprint import Fingerprint, hash_video
from found_footy.media.hash_match import MAX_HAMMING_DISTANCE, MIN_CONSECUTIVE_FRAMES, match, match_mirrored
from found_footy.media.probe import probe

SHORTEST, LONGEST, LEAST_ASPECT = 3.0, 60.0, 1.33
ENOUGH_SECONDS = 1.5
"""Shared broadcast time from which two clips count as duplicates. Pairs that share less, but some, are ignored."""
CUT_OR_TURNED = ("mirrored", "crop", "no_clock")
"""Alterations that change the whole picture; reported separately."""
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
    """True positives, false negatives and false positives over all pairs of clips."""

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
    shown = clip_truth(spec)
    try:
        info = probe(path)
        if info.duration < SHORTEST:
            return Judged(shown, "rejected", "too_short", None)
        if info.duration > LONGEST:
            return Judged(shown, "rejected", "too_long", None)
        if info.aspect < LEAST_ASPECT:
            return Judged(shown, "rejected", "portrait", None)
        clip = await read_clip(vision, path)
        fingerprint = hash_video(path)
    except MediaError as error:
        return Judged(shown, "rejected", {"NotAVideo": "not_a_video"}.get(error.kind, "broken"), None)
    result = validate_timestamp(clip.readings, expectation_of(scenario, spec))
    return Judged(shown, str(result.status), REASONS.get(str(result.reason)), fingerprint)


def expectation_of(scenario: Scenario, spec: ClipSpec) -> Expectation:
    """Return the feed's final data for the goal that a clip was posted for."""
    script = next(each for each in scenario.matches if each.id == spec.match)
    footage = goal_footage(script, spec.goal)
    told = expected_outcome(scenario).match(spec.match).goals[spec.goal]
    return Expectation(
        MatchMinute(told.elapsed, told.extra), *footage.teams, Score(*footage.before), Score(*footage.after)
    )


def duplicates(judged: Sequence[Judged], same: Callable[[Fingerprint, Fingerprint], bool], *, altered: bool) -> Pairs:
    """`altered` selects pairs that include a mirrored or cropped copy, or only pairs without one."""
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
    """Match three consecutive frames within ten bits, at any offset."""
    close = np.argwhere(np.bitwise_count(a.hashes[:, None] ^ b.hashes) <= MAX_HAMMING_DISTANCE)
    at = {(int(a.places[i]), int(b.places[j])) for i, j in close}
    return any(all((x + n, y + n) in at for n in range(MIN_CONSECUTIVE_FRAMES)) for x, y in at)


def false_verified(judged: Sequence[Judged]) -> list[str]:
    return [_name(each.truth) for each in judged if each.verdict == "verified" and each.truth.verdict == "rejected"]


def verified_share(judged: Sequence[Judged]) -> tuple[int, int]:
    """Return verified clips and all clips, of those that show the goal with a clear clock."""
    right = [each for each in judged if each.truth.verdict == "verified" and each.truth.clock == "clear"]
    return sum(each.verdict == "verified" for each in right), len(right)


async def main() -> None:
    # Reused between runs: clips are named by content.
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
