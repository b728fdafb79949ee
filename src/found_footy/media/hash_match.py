"""Whether two clips show the same moment, and how far apart they start.

The base is three pictures in a row, at one offset, that differ in at most 10 of 64 bits. That alone is also true of
still, dark and repetitive clips, so the pictures must add up to a proof:

* Each *different* picture that both clips show at the offset gives up to 11 points, one less for each bit that it is
  off. A picture that hardly differs, in either clip, from one that gave points before gives none of its own.
* 14 points are needed, thus at least two different pictures; and up to half as much again where the same two clips
  agree at another offset almost as well, because then what they show is ordinary.

Pictures that say nothing are no part of a fingerprint (see `phash`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from found_footy.media.fingerprint import Fingerprint, Hashes, Places, mirrored

MOST_BITS = 10
"""Of 64, by which two pictures may differ and still be the same."""
IN_A_ROW = 3
NEW_PICTURE_BITS = 8
"""Of 64, by which a picture must differ from those that counted before, in both clips."""
POINTS_NEEDED = 14.0
ORDINARY = 0.5
"""How much more is needed, as a share, where another offset fits just as well."""
NEARBY = 6
"""Steps around an offset that say the same as it does: pictures change slowly."""
TRIED = 4
"""Offsets that are looked at closely, the best first."""
_CHUNK = 4096
"""Hashes of a library that are compared at a time; 32 kB stay in the processor's first cache."""


@dataclass(frozen=True, slots=True)
class Match:
    offset_seconds: float
    """Where the first clip's start lies in the second one."""
    matched_frames: int
    mirrored: bool = False

    def turned(self) -> Match:
        """The same match with the clips named in the other order."""
        return replace(self, offset_seconds=-self.offset_seconds or 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """Many fingerprints, laid out to be searched at once."""

    fingerprints: tuple[Fingerprint, ...]
    hashes: Hashes
    starts: Places
    """Where each fingerprint begins in `hashes`, those without a hash left out."""
    owners: Places

    @classmethod
    def of(cls, fingerprints: Sequence[Fingerprint]) -> Library:
        lengths = np.array([len(each) for each in fingerprints], dtype=np.int64)
        owners = np.flatnonzero(lengths)
        hashes = [each.hashes for each in fingerprints if len(each)]
        starts = np.cumsum(lengths) - lengths
        joined = np.concatenate(hashes) if hashes else np.empty(0, dtype=np.uint64)
        return cls(tuple(fingerprints), joined, starts[owners], owners)


def match(a: Fingerprint, b: Fingerprint) -> Match | None:
    if a.step != b.step:
        raise ValueError(f"hashes at steps of {a.step} and {b.step} s cannot be compared")
    # Every run of three has a picture at each place that three divides: mostly this ends it.
    anchors = a.hashes[a.places % IN_A_ROW == 0]
    if not (np.bitwise_count(anchors[:, None] ^ b.hashes) <= MOST_BITS).any():
        return None
    # In a fixed order, so that ties are broken alike whichever clip is named first.
    if _order(a) > _order(b):
        found = _best(b, a)
        return found.turned() if found else None
    return _best(a, b)


def match_mirrored(a: Fingerprint, b: Fingerprint) -> Match | None:
    """Whether the second clip is a mirrored copy of the first."""
    found = match(a, mirrored(b))
    return replace(found, mirrored=True) if found else None


def match_many(one: Fingerprint, library: Library) -> list[tuple[int, Match]]:
    """(place in the library, match) for all that match; the same answers as `match` one by one."""
    found = ((int(place), match(one, library.fingerprints[place])) for place in _possible(one, library))
    return [(place, hit) for place, hit in found if hit is not None]


def _possible(one: Fingerprint, library: Library) -> Places:
    """The clips that have any picture like one of every third of this clip's."""
    anchors = one.hashes[one.places % IN_A_ROW == 0]
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
    return library.owners[np.minimum.reduceat(nearest, library.starts) <= MOST_BITS]


def _order(fingerprint: Fingerprint) -> tuple[int, bytes, bytes]:
    return len(fingerprint), fingerprint.hashes.tobytes(), fingerprint.places.tobytes()


def _best(a: Fingerprint, b: Fingerprint) -> Match | None:
    bits = np.bitwise_count(a.hashes[:, None] ^ b.hashes).ravel()
    alike = np.flatnonzero(bits <= MOST_BITS)  # seven times as fast as asking in two dimensions
    in_a, in_b = np.divmod(alike, len(b))
    closeness = MOST_BITS + 1 - bits[alike].astype(np.int64)
    offsets = b.places[in_b] - a.places[in_a]
    least = int(offsets.min())
    total = np.bincount(offsets - least, weights=closeness).astype(np.float64)
    for index in _promising(total, least):
        here = offsets == index + least
        rows, columns = in_a[here], in_b[here]
        if not _has_run(a.places[rows]):
            continue
        apart = np.abs(np.arange(total.size) - index) > NEARBY
        elsewhere = float(total[apart].max(initial=0.0) / total[index])
        needed = POINTS_NEEDED * (1 + ORDINARY * min(1.0, elsewhere))
        if _proves(a.hashes[rows], b.hashes[columns], closeness[here], needed):
            return Match(float((index + least) * a.step), int(rows.size))
    return None


def _promising(total: NDArray[np.float64], least: int) -> Iterator[int]:
    """The offsets with the closest pictures, the best first; of equal ones the smallest."""
    distance = np.abs(np.arange(total.size) + least)
    for index in np.lexsort((distance, -total))[:TRIED]:
        if total[index] >= POINTS_NEEDED:
            yield int(index)


def _has_run(places: Places) -> bool:
    """Whether so many places, which rise, stand in a row anywhere."""
    apart = IN_A_ROW - 1
    return bool((places[apart:] - places[:-apart] == apart).any())


def _proves(a: Hashes, b: Hashes, closeness: NDArray[np.int64], needed: float) -> bool:
    """Whether the different pictures, each once and at its closest, add up to the points needed."""
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
