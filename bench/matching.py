"""Matching hashes: two clips of 60 s, and one against 10,000, compared with plain Python

The clips consist of hashes that change from frame to frame as much as those of real broadcasts (about 10 of 64 bits).
Most pairs of clips are unrelated, so those are measured first, and copies separately.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np

from bench.table import table
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.hash_match import (
    AMBIGUITY_PENALTY,
    MAX_HAMMING_DISTANCE,
    MIN_CONSECUTIVE_FRAMES,
    NEW_PICTURE_BITS,
    OFFSET_NEIGHBOURHOOD,
    POINTS_NEEDED,
    TRIED,
    FingerprintIndex,
    match,
    match_many,
)

PICTURES = 240
CLIPS = 10_000
COPIES = 20
PLAIN_CLIPS = 20
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
    plain_apart, plain_same = _median(lambda: _plain(one, unrelated), 3), _median(lambda: _plain(one, copy), 3)
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
    totals = Counter({offset: sum(found.values()) for offset, found in alike.items()})
    for offset, total in totals.most_common(TRIED):
        found = alike[offset]
        if not any(all(place + n in found for n in range(MIN_CONSECUTIVE_FRAMES)) for place in found):
            continue
        best: dict[int, int] = {}
        for place, close in sorted(found.items()):
            for seen in best:
                in_first = (first[seen] ^ first[place]).bit_count()
                in_second = (second[seen + offset] ^ second[place + offset]).bit_count()
                if min(in_first, in_second) < NEW_PICTURE_BITS:
                    best[seen] = max(best[seen], close)
                    break
            else:
                best[place] = close
        elsewhere = (
            max((sum_ for other, sum_ in totals.items() if abs(other - offset) > OFFSET_NEIGHBOURHOOD), default=0)
            / total
        )
        if sum(best.values()) >= POINTS_NEEDED * (1 + AMBIGUITY_PENALTY * min(1.0, elsewhere)):
            return True
    return False
