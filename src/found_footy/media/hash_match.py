"""Compares fingerprints: whether two clips show the same moment, and the offset between them.

A match needs three consecutive frames at one offset that differ in at most 10 of 64 bits. Still, dark and repetitive
clips meet that condition too, so the frames must also score enough points:

* Each *distinct* frame that both clips show at the offset scores up to 11 points, one less per differing bit. A frame
  that hardly differs, in either clip, from one already counted scores nothing.
* A match needs 14 points, thus at least two distinct frames; and up to half as many more if the clips agree at another
  offset almost as well, because then their content is not distinctive.

Fingerprints omit frames without contrast (see `fingerprint.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from found_footy.media.fingerprint import Fingerprint, Hashes, Places, mirrored

MAX_HAMMING_DISTANCE = 10
"""Maximum number of differing bits, of 64, between two equal frames."""
MIN_CONSECUTIVE_FRAMES = 3
NEW_PICTURE_BITS = 8
"""Minimum number of bits, of 64, by which a frame must differ from those already counted, in both clips."""
POINTS_NEEDED = 14.0
AMBIGUITY_PENALTY = 0.5
"""Additional share of points needed if another offset fits equally well."""
OFFSET_NEIGHBOURHOOD = 6
"""Steps around an offset that are not independent of it, because frames change slowly."""
TRIED = 4
"""Number of offsets to verify, best first."""
_CHUNK = 4096
"""Hashes compared at a time; 32 kB fit into the L1 cache."""


@dataclass(frozen=True, slots=True)
class HashMatch:
    offset_seconds: float
    """Start of the first clip relative to that of the second."""
    matched_frames: int
    mirrored: bool = False

    def turned(self) -> HashMatch:
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
        raise ValueError(f"hashes at steps of {a.step} and {b.step} s cannot be compared")
    # Every run of three has a frame at a place divisible by three; most comparisons end here.
    anchors = a.hashes[a.places % MIN_CONSECUTIVE_FRAMES == 0]
    if not (np.bitwise_count(anchors[:, None] ^ b.hashes) <= MAX_HAMMING_DISTANCE).any():
        return None
    # In a fixed order, so that ties are broken alike for (a, b) and (b, a).
    if _order(a) > _order(b):
        found = _best(b, a)
        return found.turned() if found else None
    return _best(a, b)


def match_mirrored(a: Fingerprint, b: Fingerprint) -> HashMatch | None:
    """Match the first clip with the mirrored second clip."""
    found = match(a, mirrored(b))
    return replace(found, mirrored=True) if found else None


def match_many(one: Fingerprint, library: FingerprintIndex) -> list[tuple[int, HashMatch]]:
    """Return (index in the library, match) for all matches; same results as `match` one by one."""
    found = ((int(place), match(one, library.fingerprints[place])) for place in _possible(one, library))
    return [(place, hit) for place, hit in found if hit is not None]


def _possible(one: Fingerprint, library: FingerprintIndex) -> Places:
    """Return the clips that have a frame similar to one of every third frame of this clip."""
    anchors = one.hashes[one.places % MIN_CONSECUTIVE_FRAMES == 0]
    if not (anchors.size and library.hashes.size):
        return np.empty(0, dtype=np.int64)
    nearest = np.full(library.hashes.size, 64, dtype=np.uint8)
    differing = np.empty(_CHUNK, dtype=np.uint64)
    bits = np.empty(_CHUNK, dtype=np.uint8)
    for begin in range(0, library.hashes.size, _CHUNK):
        chunk = library.hashes[begin : begin + _CHUNK]
        least = nearest[begin : begin + _CHUNK]
        some, few = differing[: chunk.size], bits[: chunk.size]
        for anchor in anchors:
            np.bitwise_xor(chunk, anchor, out=some)
            np.bitwise_count(some, out=few)
            np.minimum(least, few, out=least)
    return library.owners[np.minimum.reduceat(nearest, library.starts) <= MAX_HAMMING_DISTANCE]


def _order(fingerprint: Fingerprint) -> tuple[int, bytes, bytes]:
    return len(fingerprint), fingerprint.hashes.tobytes(), fingerprint.places.tobytes()


def _best(a: Fingerprint, b: Fingerprint) -> HashMatch | None:
    bits = np.bitwise_count(a.hashes[:, None] ^ b.hashes).ravel()
    alike = np.flatnonzero(bits <= MAX_HAMMING_DISTANCE)  # seven times as fast as in two dimensions
    in_a, in_b = np.divmod(alike, len(b))
    closeness = MAX_HAMMING_DISTANCE + 1 - bits[alike].astype(np.int64)
    offsets = b.places[in_b] - a.places[in_a]
    least = int(offsets.min())
    total = np.bincount(offsets - least, weights=closeness).astype(np.float64)
    for index in _promising(total, least):
        here = offsets == index + least
        rows, columns = in_a[here], in_b[here]
        if not _has_run(a.places[rows]):
            continue
        apart = np.abs(np.arange(total.size) - index) > OFFSET_NEIGHBOURHOOD
        elsewhere = float(total[apart].max(initial=0.0) / total[index])
        needed = POINTS_NEEDED * (1 + AMBIGUITY_PENALTY * min(1.0, elsewhere))
        if _proves(a.hashes[rows], b.hashes[columns], closeness[here], needed):
            return HashMatch(float((index + least) * a.step), int(rows.size))
    return None


def _promising(total: NDArray[np.float64], least: int) -> Iterator[int]:
    """Yield the offsets with the most similar frames, best first; of equal ones the smallest."""
    distance = np.abs(np.arange(total.size) + least)
    for index in np.lexsort((distance, -total))[:TRIED]:
        if total[index] >= POINTS_NEEDED:
            yield int(index)


def _has_run(places: Places) -> bool:
    """Whether MIN_CONSECUTIVE_FRAMES ascending places are consecutive anywhere."""
    apart = MIN_CONSECUTIVE_FRAMES - 1
    return bool((places[apart:] - places[:-apart] == apart).any())


def _proves(a: Hashes, b: Hashes, closeness: NDArray[np.int64], needed: float) -> bool:
    """Whether the distinct frames, each counted once at its closest, reach the needed points."""
    counted: list[tuple[int, int, int]] = []
    points = 0
    for one, other, close in zip(a.tolist(), b.tolist(), closeness.tolist(), strict=True):
        for place, (seen, seen_other, best) in enumerate(counted):
            if min((one ^ seen).bit_count(), (other ^ seen_other).bit_count()) < NEW_PICTURE_BITS:
                if close > best:
                    counted[place] = (seen, seen_other, close)
                    points += close - best
                break
        else:
            counted.append((one, other, close))
            points += close
        if points >= needed:
            return True
    return False
