"""Accuracy of verification and deduplication on scripted and recorded clips

Every clip of the default matchday is rendered, verified and hashed; the results are compared with the simulator's
ground truth. The same matchday with other match numbers has other grounds, plays and cuts: no threshold was chosen on
it. The baseline for duplicates is the seeds' rule (three frames at distances of 0.25 s within 10 of 64 bits).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from tests.support.scenarios import rendered_clips

from bench import recorded_copies
from bench.table import share, table
from footy_simulator.clips.encode import render
from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import all_clips, goal_footage, hard_clips
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
from found_footy.media.hash_match import (
    FRAME_DISTANCE,
    MAX_HAMMING_DISTANCE,
    MIN_CONSECUTIVE_FRAMES,
    match,
    match_mirrored,
)
from found_footy.media.probe import probe

MIN_SECONDS, MAX_SECONDS, MIN_ASPECT = 3.0, 60.0, 1.33
DUPLICATE_SECONDS = 1.5
"""Shared broadcast time from which two clips count as duplicates. Pairs that share less, but some, are ignored."""
GEOMETRY_CHANGED = ("mirrored", "crop", "no_clock")
"""Alterations that change the whole picture; reported separately."""
HELD_OUT = 1000
"""Added to the match numbers of the held-out matchday."""
REASONS = {
    "not soccer": "not_soccer",
    "filmed screen": "filmed_screen",
    "wrong minute": "wrong_minute",
    "other teams": "other_match",
    "other score": "other_match",
}


@dataclass(frozen=True, slots=True, eq=False)
class ClipResult:
    truth: ClipTruth
    verdict: str
    reason: str | None
    fingerprint: Fingerprint | None


@dataclass(frozen=True, slots=True)
class PairCounts:
    """True positives, false negatives, false positives and true negatives over all pairs of clips."""

    found: int
    missed: tuple[str, ...]
    invented: tuple[str, ...]
    apart: int

    @property
    def recall(self) -> float:
        return self.found / max(1, self.found + len(self.missed))


def matchday(*, held_out: bool = False) -> Scenario:
    scenario = load_scenario("matchday").football
    if not held_out:
        return scenario
    matches = tuple(match.model_copy(update={"id": match.id + HELD_OUT}) for match in scenario.matches)
    return scenario.model_copy(update={"matches": matches})


async def evaluate(scenario: Scenario, specs: Sequence[ClipSpec], folder: Path) -> list[ClipResult]:
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        paths = list(pool.map(partial(render, folder=folder), specs))
    vision = OcrVision()
    results = [await _result(scenario, spec, path, vision) for spec, path in zip(specs, paths, strict=True)]
    await vision.aclose()
    return results


async def _result(scenario: Scenario, spec: ClipSpec, path: Path, vision: OcrVision) -> ClipResult:
    shown = clip_truth(spec)
    try:
        info = probe(path)
        if info.duration < MIN_SECONDS:
            return ClipResult(shown, "rejected", "too_short", None)
        if info.duration > MAX_SECONDS:
            return ClipResult(shown, "rejected", "too_long", None)
        if info.aspect < MIN_ASPECT:
            return ClipResult(shown, "rejected", "portrait", None)
        clip = await read_clip(vision, path)
        fingerprint = hash_video(path)
    except MediaError as error:
        return ClipResult(shown, "rejected", {"NotAVideo": "not_a_video"}.get(error.kind, "broken"), None)
    result = validate_timestamp(clip.readings, expectation_of(scenario, spec))
    return ClipResult(shown, str(result.status), REASONS.get(str(result.reason)), fingerprint)


def expectation_of(scenario: Scenario, spec: ClipSpec) -> Expectation:
    """Return the feed's final data for the goal that a clip was posted for."""
    script = next(each for each in scenario.matches if each.id == spec.match)
    footage = goal_footage(script, spec.goal)
    goal = expected_outcome(scenario).match(spec.match).goals[spec.goal]
    return Expectation(
        MatchMinute(goal.elapsed, goal.extra), *footage.teams, Score(*footage.before), Score(*footage.after)
    )


def false_verified(results: Iterable[ClipResult]) -> list[str]:
    return [_name(each.truth) for each in results if each.verdict == "verified" and each.truth.verdict == "rejected"]


def verified_share(results: Iterable[ClipResult]) -> tuple[int, int]:
    """Return verified clips and all clips, of those that show the goal with a clear clock."""
    right = [each for each in results if each.truth.verdict == "verified" and each.truth.clock == "clear"]
    return sum(each.verdict == "verified" for each in right), len(right)


# --- Pairs.


SameClip = Callable[[Fingerprint, Fingerprint], bool]


def is_duplicate(a: Fingerprint, b: Fingerprint) -> bool:
    return (match(a, b) or match_mirrored(a, b)) is not None


def has_equal_frames(a: Fingerprint, b: Fingerprint) -> bool:
    """The seeds' rule, at any offset."""
    close = np.argwhere(np.bitwise_count(a.hashes[:, None] ^ b.hashes) <= MAX_HAMMING_DISTANCE)
    at = {(int(a.places[i]), int(b.places[j])) for i, j in close}
    steps = range(0, MIN_CONSECUTIVE_FRAMES * FRAME_DISTANCE, FRAME_DISTANCE)
    return any(all((x + n, y + n) in at for n in steps) for x, y in at)


def duplicates(results: Sequence[ClipResult], same: SameClip, *, altered: bool, same_match: bool = False) -> PairCounts:
    """`altered` selects pairs with a mirrored or cropped copy, or those without; `same_match` those of one match."""
    found, apart, missed, invented = 0, 0, [], []
    for one, other in _pairs(results):
        if altered is not any(each in clip.truth.also for clip in (one, other) for each in GEOMETRY_CHANGED):
            continue
        if same_match and one.truth.match != other.truth.match:
            continue
        assert one.fingerprint is not None
        assert other.fingerprint is not None
        common = seconds_in_common(one.truth, other.truth)
        matched = same(one.fingerprint, other.fingerprint)
        name = f"{_name(one.truth)} ~ {_name(other.truth)} ({common:.1f} s)"
        if common >= DUPLICATE_SECONDS:
            found += matched
            missed += [] if matched else [name]
        elif common == 0:
            apart += not matched
            invented += [name] if matched else []
    return PairCounts(found, tuple(missed), tuple(invented), apart)


def _pairs(results: Sequence[ClipResult]) -> Iterator[tuple[ClipResult, ClipResult]]:
    hashed = [each for each in results if each.fingerprint is not None and each.truth.reason != "filmed_screen"]
    return combinations(hashed, 2)


def _name(shown: ClipTruth) -> str:
    return f"{shown.match}/{shown.goal}/{shown.number} {shown.kind} {' '.join(shown.also)}".strip()


# --- Figures.


async def main() -> None:
    for held_out in (False, True):
        scenario = matchday(held_out=held_out)
        results = await evaluate(scenario, list(all_clips(scenario)), rendered_clips())
        print(f"\n### {'Held out: other' if held_out else 'Tuned: the default matchday,'} grounds and plays\n")
        _print_verification(results)
        _print_duplicates(results)
    await _print_hard_cases(matchday(held_out=True))
    print("\n### Recorded clips\n")
    recorded_copies.main()


def _print_verification(results: Sequence[ClipResult]) -> None:
    verdicts = ("verified", "unverified", "rejected")
    confusion = Counter((each.truth.verdict, each.verdict) for each in results)
    rows = [[truth, *(confusion[truth, got] for got in verdicts)] for truth in verdicts]
    table(["truth", *(f"found {verdict}" for verdict in verdicts)], rows)
    rejected = [each for each in results if each.truth.reason]
    wrong = [
        f"{_name(each.truth)}: {each.verdict} {each.reason}" for each in rejected if each.truth.reason != each.reason
    ]
    lost = [
        f"{_name(each.truth)}: {each.reason}"
        for each in results
        if each.verdict == "rejected" and not each.truth.reason
    ]
    print(f"\nFalsely verified: {share(len(false_verified(results)), len(rejected))}.")
    print(f"Verified, of those with a clear clock: {share(*verified_share(results))}.")
    print(f"Rejected for the true reason: {share(len(rejected) - len(wrong), len(rejected))}. {'; '.join(wrong)}")
    print(f"Wrongly rejected: {share(len(lost), len(results) - len(rejected))}. {'; '.join(lost)}\n")


def _print_duplicates(results: Sequence[ClipResult]) -> None:
    rows, details = [], []
    for name, same in (("motion", is_duplicate), ("seeds' rule", has_equal_frames)):
        for altered, same_match in ((False, True), (False, False), (True, False)):
            pairs = duplicates(results, same, altered=altered, same_match=same_match)
            label = "mirrored and cropped copies" if altered else "one match" if same_match else "all"
            called = pairs.found + len(pairs.invented)
            recall = share(pairs.found, pairs.found + len(pairs.missed))
            false = share(len(pairs.invented), pairs.apart + len(pairs.invented))
            rows.append([name, label, recall, false, share(pairs.found, called)])
            if same is is_duplicate and not same_match:
                details += [*(f"missed {each}" for each in pairs.missed), *(f"invented {e}" for e in pairs.invented)]
    table(["rule", "pairs", "copies found", "others merged", "precision"], rows)
    print("\n".join(["", *details]))


async def _print_hard_cases(scenario: Scenario) -> None:
    print("\n### Hard cases, held out\n")
    cases = list(hard_clips(scenario))
    results = await evaluate(scenario, [spec for _, spec in cases], rendered_clips())
    counts = Counter((case, each.verdict) for (case, _), each in zip(cases, results, strict=True))
    rows = []
    for case in dict.fromkeys(case for case, _ in cases):
        total = sum(number for (name, _), number in counts.items() if name == case)
        rows.append(
            [case, share(counts[case, "verified"], total), counts[case, "unverified"], counts[case, "rejected"]]
        )
    table(["case", "verified", "unverified", "rejected"], rows)
