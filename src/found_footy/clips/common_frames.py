"""Frames that unrelated clips share: title cards, idents, sponsor bumpers. Matching ignores them.

The pictures of every clip are recorded by fixture. A picture in clips of several fixtures belongs to a channel or a
template. Recorded hashes are compared exactly, which a table can index; a still card is encoded alike often enough.
"""

from __future__ import annotations

import numpy as np

from found_footy.media.fingerprint import Fingerprint, Hashes

COMMON_FIXTURES = 3
"""Number of fixtures from which a picture is common."""
MAX_SIGHTINGS = 100_000
"""Recorded (picture, fixture) pairs; the oldest give way. About 2,000 clips."""
SAME_PICTURE_BITS = 4
"""Maximum number of differing bits, of 64, between a frame and a common picture."""


def pictures(fingerprint: Fingerprint) -> list[int]:
    """Return the hashes to record: one for each stretch without much change, the first that repeats in it."""
    found: list[int] = []
    anchor, repeated = None, False
    for before, each in zip([None, *fingerprint.hashes.tolist()], fingerprint.hashes.tolist(), strict=False):
        if anchor is None or (anchor ^ each).bit_count() > SAME_PICTURE_BITS:
            anchor, repeated = each, False
            found.append(each)
        elif each == before and not repeated:
            found[-1], repeated = each, True
    return list(dict.fromkeys(found))


def without_common(fingerprint: Fingerprint, common: Hashes) -> Fingerprint:
    """Return the fingerprint without its common frames, as if these were flat."""
    if not (common.size and len(fingerprint)):
        return fingerprint
    nearest = np.bitwise_count(fingerprint.hashes[:, None] ^ common).min(axis=1)
    rare = nearest > SAME_PICTURE_BITS
    return Fingerprint(fingerprint.places[rare], fingerprint.hashes[rare], fingerprint.step)
