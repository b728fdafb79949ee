"""Which videos of a pool show the same moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from found_footy.domain.videos.keeping import Pair
from found_footy.media.fingerprint import Fingerprint, mirrored
from found_footy.media.hash_match import Library, match_many


def pairs_of(kept: Sequence[str], new: Sequence[str], fingerprints: Mapping[str, Fingerprint]) -> list[Pair]:
    """Each new one beside all kept ones and all other new ones; the kept ones are known to differ."""
    pairs: list[Pair] = []
    for place, name in enumerate(new):
        others = [*kept, *new[place + 1 :]]
        library = Library.of([fingerprints[other] for other in others])
        found: dict[int, Pair] = {}
        for turned in (True, False):  # what matches both ways is no mirror image
            one = mirrored(fingerprints[name]) if turned else fingerprints[name]
            found |= {
                other: Pair(name, others[other], hit.offset_seconds, turned) for other, hit in match_many(one, library)
            }
        pairs += found.values()
    return pairs
