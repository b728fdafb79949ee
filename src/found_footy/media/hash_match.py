"""Compares fingerprints: whether two clips show the same moment, and the offset between them.

Two clips match at an offset if

1. three frames, a quarter of a second apart, differ in at most 10 of 64 bits;
2. their *motion* agrees: between frames a moment apart, the same bits of the hash change in both clips. The bits that
   change in both are compared with the number expected by chance. A ground looks the same in every goal of a match, and
   a tripod shows the same picture in every kick; what moves differs;
3. most of the moving part of the overlap agrees, and it is at least a third of the shorter clip's moving part. Title
   cards, idents and replay wipes that unrelated clips share are less than that.

Fingerprints omit frames without contrast (see `fingerprint.py`) and may omit frames known from many unrelated clips
(see `clips/common_frames.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from found_footy.media.fingerprint import Fingerprint, Hashes, Places, mirror

MAX_HAMMING_DISTANCE = 10
"""Maximum number of differing bits, of 64, between two equal frames."""
MIN_CONSECUTIVE_FRAMES = 3
FRAME_DISTANCE = 2
"""Steps between consecutive frames of that rule: a quarter of a second."""
LAGS = (2, 4, 8)
"""Steps between the frames whose hashes are compared for motion: 0.25, 0.5 and 1 s."""
STEP_LAG = 4
"""The lag by which a clip's moving part is measured."""
MOVING_BITS = 3
"""Minimum number of changed bits of a moving step, in either clip."""
MIN_MOVING_STEPS = 8
"""Minimum moving part of the overlap: a second."""
SHORT_AGREEMENT = 0.56
"""Minimum agreement of motion (0 by chance, 1 if equal) over up to `SHORT_STEPS` moving steps."""
SHORT_STEPS = 24
LONG_AGREEMENT = 0.2
"""Over more steps, less agreement is needed, down to this: similar play agrees only briefly."""
STEP_AGREEMENT = 0.3
"""Minimum agreement of one step."""
MIN_COVERAGE = 0.5
"""Minimum share of the overlap's moving steps that agree or show equal frames."""
MIN_SHARE = 1 / 3
"""Minimum size of these steps relative to the moving part of the clip with the smaller one."""
MAX_VERIFIED_OFFSETS = 6
"""Number of offsets to verify, best first."""
_CHUNK = 4096
"""Hashes compared at a time; 32 kB fit into the L1 cache."""


@dataclass(frozen=True, slots=True)
class HashMatch:
    offset_seconds: float
    """Start of the first clip relative to that of the second."""
    matched_frames: int
    mirrored: bool = False

    def swapped(self) -> HashMatch:
        """Return the same match with the clips swapped."""
        return replace(self, offset_seconds=-self.offset_seconds or 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class FingerprintIndex:
    """Many fingerprints in one array for fast search."""

    fingerprints: tuple[Fingerprint, ...]
    hashes: Hashes
    starts: Places
    """Start of each fingerprint in `hashes`, without empty ones."""
    owners: Places

    @classmethod
    def of(cls, fingerprints: Sequence[Fingerprint]) -> FingerprintIndex:
        lengths = np.array([len(each) for each in fingerprints], dtype=np.int64)
        owners = np.flatnonzero(lengths)
        hashes = [each.hashes for each in fingerprints if len(each)]
        starts = np.cumsum(lengths) - lengths
        joined = np.concatenate(hashes) if hashes else np.empty(0, dtype=np.uint64)
        return cls(tuple(fingerprints), joined, starts[owners], owners)


def match(a: Fingerprint, b: Fingerprint) -> HashMatch | None:
    if a.step != b.step:
        raise ValueError(f"cannot compare hashes with steps of {a.step} and {b.step} s")
    anchors = _anchors(a)
    if not (np.bitwise_count(anchors[:, None] ^ b.hashes) <= MAX_HAMMING_DISTANCE).any():
        return None
    # In a fixed order, so that ties are broken alike for (a, b) and (b, a).
    if _sort_key(a) > _sort_key(b):
        found = _best_match(b, a)
        return found.swapped() if found else None
    return _best_match(a, b)


def match_mirrored(a: Fingerprint, b: Fingerprint) -> HashMatch | None:
    """Match the first clip with the mirrored second clip."""
    found = match(a, mirror(b))
    return replace(found, mirrored=True) if found else None


def match_many(clip: Fingerprint, library: FingerprintIndex) -> list[tuple[int, HashMatch]]:
    """Return (index in the library, match) for all matches; same results as `match` one by one."""
    found = ((int(place), match(clip, library.fingerprints[place])) for place in _candidates(clip, library))
    return [(place, hit) for place, hit in found if hit is not None]


def _anchors(fingerprint: Fingerprint) -> Hashes:
    """Return frames of which every run of three contains one; most comparisons end with them."""
    return fingerprint.hashes[fingerprint.places % (MIN_CONSECUTIVE_FRAMES * FRAME_DISTANCE) < FRAME_DISTANCE]


def _candidates(clip: Fingerprint, library: FingerprintIndex) -> Places:
    """Return the clips that have a frame similar to an anchor of this clip."""
    anchors = _anchors(clip)
    if not (anchors.size and library.hashes.size):
        return np.empty(0, dtype=np.int64)
    nearest = np.full(library.hashes.size, 64, dtype=np.uint8)
    differing = np.empty(_CHUNK, dtype=np.uint64)
    bits = np.empty(_CHUNK, dtype=np.uint8)
    for begin in range(0, library.hashes.size, _CHUNK):
        chunk = library.hashes[begin : begin + _CHUNK]
        nearest_part = nearest[begin : begin + _CHUNK]
        differing_part, bits_part = differing[: chunk.size], bits[: chunk.size]
        for anchor in anchors:
            np.bitwise_xor(chunk, anchor, out=differing_part)
            np.bitwise_count(differing_part, out=bits_part)
            np.minimum(nearest_part, bits_part, out=nearest_part)
    return library.owners[np.minimum.reduceat(nearest, library.starts) <= MAX_HAMMING_DISTANCE]


def _sort_key(fingerprint: Fingerprint) -> tuple[int, bytes, bytes]:
    return len(fingerprint), fingerprint.hashes.tobytes(), fingerprint.places.tobytes()


def _best_match(a: Fingerprint, b: Fingerprint) -> HashMatch | None:
    bits = np.bitwise_count(a.hashes[:, None] ^ b.hashes).ravel()
    similar = np.flatnonzero(bits <= MAX_HAMMING_DISTANCE)  # seven times as fast as in two dimensions
    in_a, in_b = np.divmod(similar, len(b))
    closeness = MAX_HAMMING_DISTANCE + 1 - bits[similar].astype(np.int64)
    offsets = b.places[in_b] - a.places[in_a]
    lowest = int(offsets.min())
    total = np.bincount(offsets - lowest, weights=closeness)
    distance = np.abs(np.arange(total.size) + lowest)
    motions = _Motion(a), _Motion(b)
    best: tuple[float, HashMatch] | None = None
    for index in np.lexsort((distance, -total))[:MAX_VERIFIED_OFFSETS].tolist():
        places = a.places[in_a[offsets == index + lowest]]
        if not _has_run(places):
            continue
        agreement = _agreement(*motions, index + lowest)
        if agreement is not None and (best is None or agreement > best[0]):
            best = agreement, HashMatch(float((index + lowest) * a.step), int(places.size))
    return best[1] if best else None


def _has_run(places: Places) -> bool:
    """Whether some ascending places contain a run of equal frames."""
    present = np.zeros(int(places.max(initial=0)) + 1, dtype=np.bool_)
    present[places] = True
    reach = present.size - (MIN_CONSECUTIVE_FRAMES - 1) * FRAME_DISTANCE
    if reach <= 0:
        return False
    starts = [present[FRAME_DISTANCE * n : FRAME_DISTANCE * n + reach] for n in range(MIN_CONSECUTIVE_FRAMES)]
    return bool(np.logical_and.reduce(starts).any())


class _Motion:
    """A clip's hashes by place, and the bits that change over each lag."""

    def __init__(self, clip: Fingerprint) -> None:
        size = int(clip.places[-1]) + 1
        self.hashes = np.zeros(size, dtype=np.uint64)
        self.hashes[clip.places] = clip.hashes
        self.present = np.zeros(size, dtype=np.bool_)
        self.present[clip.places] = True
        self.changes: dict[int, Hashes] = {}
        for lag in LAGS:
            both = self.present[lag:] & self.present[:-lag]
            self.changes[lag] = np.where(both, self.hashes[lag:] ^ self.hashes[:-lag], np.uint64(0))
        self.moving_steps = int((np.bitwise_count(self.changes[STEP_LAG]) >= MOVING_BITS).sum())


def _agreement(a: _Motion, b: _Motion, offset: int) -> float | None:
    """Return how far the motion agrees at an offset, or None if the clips do not match there."""
    present = np.logical_and(*_overlap(a.present, b.present, offset))
    equal = present & (np.bitwise_count(np.bitwise_xor(*_overlap(a.hashes, b.hashes, offset))) <= MAX_HAMMING_DISTANCE)
    excess, possible = 0.0, 0.0
    for lag in LAGS:
        both = present[lag:] & present[:-lag]
        in_a, in_b = (changes[both] for changes in _overlap(a.changes[lag], b.changes[lag], offset))
        step_excess, step_possible = _compare_steps(in_a, in_b)
        excess, possible = excess + float(step_excess.sum()), possible + float(step_possible.sum())
        if lag == STEP_LAG:
            moving = np.maximum(np.bitwise_count(in_a), np.bitwise_count(in_b)) >= MOVING_BITS
            still_equal = (equal[lag:] & equal[:-lag])[both]
            agreeing = moving & ((step_excess >= STEP_AGREEMENT * step_possible) | still_equal)
    steps = int(moving.sum())
    if steps < MIN_MOVING_STEPS:
        return None
    agreement = excess / possible
    is_match = (
        agreement >= max(LONG_AGREEMENT, SHORT_AGREEMENT * min(1.0, SHORT_STEPS / steps) ** 2)
        and agreeing.sum() >= MIN_COVERAGE * steps
        and agreeing.sum() >= MIN_SHARE * min(a.moving_steps, b.moving_steps)
    )
    return agreement if is_match else None


def _overlap(a: NDArray[Any], b: NDArray[Any], offset: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the parts of two arrays by place that overlap if `offset` is added to places of the first."""
    begin, end = max(0, -offset), max(0, -offset, min(a.size, b.size - offset))
    return a[begin:end], b[begin + offset : end + offset]


def _compare_steps(a: Hashes, b: Hashes) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each step, return how many more bits change in both clips than by chance, and how many more could."""
    in_a, in_b = np.bitwise_count(a).astype(np.float64), np.bitwise_count(b).astype(np.float64)
    by_chance = in_a * in_b / 64
    return np.bitwise_count(a & b) - by_chance, (in_a + in_b) / 2 - by_chance
