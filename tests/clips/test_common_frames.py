"""Frames that clips of several fixtures share prove nothing."""

from __future__ import annotations

import numpy as np
import pytest

from found_footy.clips.common_frames import distinct_hashes, without_common_frames
from found_footy.clips.dedup import find_duplicates
from found_footy.media.fingerprint import Fingerprint, Hashes
from tests.support.clips import fingerprint

CARD, A, B, C = 0xFF00FF00FF00FF00, 0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x00000000FFFFFFFF


def of(*hashes: int) -> Fingerprint:
    return Fingerprint(np.arange(len(hashes)), np.array(hashes, dtype=np.uint64))


def known(*hashes: int) -> Hashes:
    return np.array(hashes, dtype=np.uint64)


@pytest.mark.parametrize(
    ("hashes", "recorded"),
    [
        ((), []),
        ((A, A, A), [A]),
        ((A, B, A), [A, B]),
        ((CARD ^ 1, CARD, CARD, CARD ^ 3), [CARD]),  # the value that repeats is encoded alike elsewhere
        ((A, A ^ 0b1, A ^ 0b111, B), [A, B]),
    ],
)
def test_one_hash_of_each_picture_is_recorded(hashes: tuple[int, ...], recorded: list[int]) -> None:
    assert distinct_hashes(of(*hashes)) == recorded


@pytest.mark.parametrize(
    ("common", "left"),
    [
        (known(), [0, 1, 2, 3]),
        (known(CARD), [2, 3]),
        (known(CARD ^ 0b1111), [2, 3]),
        (known(CARD ^ 0b11111), [0, 1, 2, 3]),
        (known(CARD, B), [2]),
    ],
)
def test_common_frames_are_ignored_up_to_four_bits(common: Hashes, left: list[int]) -> None:
    assert without_common_frames(of(CARD, CARD, A, B), common).places.tolist() == left


def after_ident(clip: Fingerprint, ident: Fingerprint) -> Fingerprint:
    hashes = np.concatenate([ident.hashes, clip.hashes])
    return Fingerprint(np.arange(hashes.size), hashes)


def test_a_long_ident_merges_two_clips_until_it_is_known() -> None:
    ident = fingerprint("ident", 0, 5)
    clips = {name: after_ident(fingerprint(name, 0, 4), ident) for name in ("one", "other")}
    assert len(find_duplicates([], list(clips), clips)) == 1
    assert find_duplicates([], list(clips), {n: without_common_frames(c, ident.hashes) for n, c in clips.items()}) == []
