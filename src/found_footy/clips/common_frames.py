"""Frames that unrelated clips share: title cards, idents, sponsor bumpers. Matching ignores them.

The pictures of every clip are recorded by fixture. A picture in clips of several fixtures belongs to a channel or a
template. Recorded hashes are compared exactly, which a table can index; a still card is encoded alike often enough.
"""

from __future__ import annotations

import numpy as np

from found_footy.media.fingerprint import Fingerprint, Hashes

COMMON_FIXTURES = 3
"""A picture that occurs in this many fixtures is common."""
MAX_SIGHTINGS = 100_000
"""Maximum number of recorded (picture, fixture) pairs, about 2,000 clips. The oldest are deleted first."""
SAME_PICTURE_BITS = 4
"""Maximum number of differing bits, of 64, between a frame and a common picture."""


def distinct_hashes(fingerprint: Fingerprint) -> list[int]:
    """Return one hash for each run of similar frames: the first that repeats within the run, else the first."""
    distinct: list[int] = []
    anchor, previous, repeated = None, None, False
    for current in fingerprint.hashes.tolist():
        if anchor is None or (anchor ^ current).bit_count() > SAME_PICTURE_BITS:
            anchor, repeated = current, False
            distinct.append(current)
        elif current == previous and not repeated:
            distinct[-1], repeated = current, True
        previous = current
    return list(dict.fromkeys(distinct))


def without_common_frames(fingerprint: Fingerprint, common: Hashes) -> Fingerprint:
    """Return the fingerprint without its common frames, as if they were blank."""
    if not (common.size and len(fingerprint)):
        return fingerprint
    nearest = np.bitwise_count(fingerprint.hashes[:, None] ^ common).min(axis=1)
    rare = nearest > SAME_PICTURE_BITS
    return Fingerprint(fingerprint.places[rare], fingerprint.hashes[rare], fingerprint.step)
