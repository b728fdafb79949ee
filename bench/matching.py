"""Matching hashes: two clips of 60 s, and one against 10,000, compared with plain Python

The clips consist of hashes that change from frame to frame as much as those of real broadcasts (about 10 of 64 bits).
Most pairs of clips are unrelated, so those are measured first, and copies separately.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from bench.table import table
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.hash_match import (
    FRAME_DISTANCE,
    LAGS,
    LONG_AGREEMENT,
    MAX_HAMMING_DISTANCE,
    MAX_VERIFIED_OFFSETS,
    MIN_CONSECUTIVE_FRAMES,
    MIN_COVERAGE,
    MIN_MOVING_STEPS,
    MIN_SHARE,
    MOVING_BITS,
    SHORT_AGREEMENT,
    SHORT_STEPS,
    STEP_AGREEMENT,
    STEP_LAG,
    FingerprintIndex,
    match,
    match_many,
)

PICTURES = 480
CLIPS = 10_000
COPIES = 20
PLAIN_CLIPS = 8
"""Clips on which the plain version is timed; the time is extrapolated."""


async def main() -> None:
    chance = np.random.default_rng(7)
    one = _clip(chance)
    others = [_clip(chance) for _ in range(CLIPS)]
    for place in chance.choice(CLIPS, COPIES, replace=False):
        others[place] = _copy(one, chance)
    unrelated = _clip(chance)
    copy = _copy(one, chance)

    apart, same = _median(lambda: match(one, unrelated), 200), _median(lambda: match(one, copy), 50)
    plain_apart, plain_same = _median(lambda: _plain(one, unrelated), 1), _median(lambda: _plain(one, copy), 1)
    library = FingerprintIndex.of(others)
    many = _median(lambda: match_many(one, library), 3)
    found = match_many(one, library)
    plain_many = sum(_median(lambda each=each: _plain(one, each), 1) for each in others[:PLAIN_CLIPS])  # type: ignore[misc]
    agree = all((match(one, each) is not None) == _plain(one, each) for each in others[:PLAIN_CLIPS])
    table(
        ["what", "goal", "here", "plain Python", "ratio"],
        [
            ["two clips, unrelated", "0.1 ms", f"{apart * 1e3:.3f} ms", *_beside(plain_apart, apart)],
            ["two clips, one a copy", "0.1 ms", f"{same * 1e3:.3f} ms", *_beside(plain_same, same)],
            [f"one against {CLIPS:,}", "0.5 s", f"{many:.2f} s", *_beside(plain_many * CLIPS / PLAIN_CLIPS, many)],
        ],
    )
    print(f"\n{len(found)} of {COPIES} copies found among {CLIPS:,}; both versions agree: {agree}.")


def _beside(plain: float, here: float) -> tuple[str, str]:
    return (f"{plain:.1f} s" if plain >= 1 else f"{plain * 1e3:.1f} ms"), f"{plain / here:,.0f}"


def _median(run: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        run()
        taken.append(time.perf_counter() - began)
    return float(np.median(taken))


def _clip(chance: np.random.Generator) -> Fingerprint:
    changes = _flips(chance, PICTURES, 10)
    changes[0] = chance.integers(0, 2**64, dtype=np.uint64)
    return Fingerprint(np.arange(PICTURES), np.bitwise_xor.accumulate(changes))


def _copy(clip: Fingerprint, chance: np.random.Generator) -> Fingerprint:
    """Return a copy that starts up to 30 s later, with 3 different bits in every frame."""
    part = clip.hashes[chance.integers(0, PICTURES // 2) :]
    return Fingerprint(np.arange(part.size), part ^ _flips(chance, part.size, 3))


def _flips(chance: np.random.Generator, count: int, bits: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    places = chance.permuted(np.tile(np.arange(64, dtype=np.uint64), (count, 1)), axis=1)[:, :bits]
    return np.bitwise_or.reduce(np.uint64(1) << places, axis=1)


def _plain(a: Fingerprint, b: Fingerprint) -> bool:
    """Straightforward implementation of the `hash_match` rule."""
    first = dict(zip(a.places.tolist(), a.hashes.tolist(), strict=True))
    second = dict(zip(b.places.tolist(), b.hashes.tolist(), strict=True))
    alike: dict[int, dict[int, int]] = defaultdict(dict)
    for place, one in first.items():
        for other_place, other in second.items():
            bits = (one ^ other).bit_count()
            if bits <= MAX_HAMMING_DISTANCE:
                alike[other_place - place][place] = MAX_HAMMING_DISTANCE + 1 - bits
    ranked = sorted(alike, key=lambda offset: (-sum(alike[offset].values()), abs(offset)))
    run = range(0, MIN_CONSECUTIVE_FRAMES * FRAME_DISTANCE, FRAME_DISTANCE)
    return any(
        any(all(place + n in alike[offset] for n in run) for place in alike[offset])
        and _motion_agrees(first, second, offset, alike[offset])
        for offset in ranked[:MAX_VERIFIED_OFFSETS]
    )


def _motion_agrees(first: dict[int, int], second: dict[int, int], offset: int, equal: dict[int, int]) -> bool:
    excess = possible = 0.0
    moving = agreeing = 0
    for lag in LAGS:
        for place in first:
            ends = (place - lag, place)
            if not all(end in first and end + offset in second for end in ends):
                continue
            changed, also = first[place] ^ first[place - lag], second[place + offset] ^ second[place + offset - lag]
            chance = changed.bit_count() * also.bit_count() / 64
            gain = (changed & also).bit_count() - chance
            limit = (changed.bit_count() + also.bit_count()) / 2 - chance
            excess, possible = excess + gain, possible + limit
            if lag == STEP_LAG and max(changed.bit_count(), also.bit_count()) >= MOVING_BITS:
                moving += 1
                agreeing += gain >= STEP_AGREEMENT * limit or all(end in equal for end in ends)
    if moving < MIN_MOVING_STEPS:
        return False
    needed = max(LONG_AGREEMENT, SHORT_AGREEMENT * min(1.0, SHORT_STEPS / moving) ** 2)
    smaller = min(_moving_steps(first), _moving_steps(second))
    return excess / possible >= needed and agreeing >= max(MIN_COVERAGE * moving, MIN_SHARE * smaller)


def _moving_steps(clip: dict[int, int]) -> int:
    steps = (clip[place] ^ clip[place - STEP_LAG] for place in clip if place - STEP_LAG in clip)
    return sum(step.bit_count() >= MOVING_BITS for step in steps)
