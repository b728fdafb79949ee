"""When two clips are the same, by their hashes alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from found_footy.media.fingerprint import Fingerprint, mirror
from found_footy.media.hash_match import FingerprintIndex, HashMatch, match, match_many, match_mirrored


def moving(seed: int, count: int, change: int = 10) -> list[int]:
    """Hashes of a clip in which about `change` bits flip from one picture to the next."""
    chance = np.random.default_rng(seed)
    hashes = [int(chance.integers(0, 2**64, dtype=np.uint64))]
    for _ in range(count - 1):
        hashes.append(hashes[-1] ^ flips(chance, change))
    return hashes


def flips(chance: np.random.Generator, bits: int) -> int:
    return sum(1 << int(place) for place in chance.choice(64, bits, replace=False))


def noisy(hashes: list[int], bits: int, seed: int = 99) -> list[int]:
    chance = np.random.default_rng(seed)
    return [each ^ flips(chance, bits) for each in hashes]


def clip(hashes: list[int], places: list[int] | None = None) -> Fingerprint:
    where = range(len(hashes)) if places is None else places
    return Fingerprint(np.array(where, dtype=np.int64), np.array(hashes, dtype=np.uint64))


STEP = 0.125


def test_the_same_clip_matches_itself_at_no_offset() -> None:
    a = clip(moving(1, 40))
    found = match(a, a)
    assert found is not None
    assert (found.offset_seconds, found.matched_frames, found.mirrored) == (0.0, 40, False)


@pytest.mark.parametrize("start", [0, 1, 7, 20, 76])
@pytest.mark.parametrize("length", [16, 24, 40])
def test_a_part_is_found_where_it_lies(start: int, length: int) -> None:
    whole = moving(1, 120)
    found = match(clip(noisy(whole[start : start + length], 4)), clip(whole))
    assert found is not None
    assert found.offset_seconds == start * STEP


@pytest.mark.parametrize(("overlap", "same"), [(12, False), (24, False), (40, True), (70, True)])
def test_an_overlap_counts_from_a_third_of_the_shorter_clip(overlap: int, same: bool) -> None:
    whole = moving(2, 260)
    found = match(clip(whole[:100]), clip(whole[100 - overlap :]))
    assert (found is not None) is same
    if found is not None:
        assert found.offset_seconds == -(100 - overlap) * STEP


@pytest.mark.parametrize(("bits", "same"), [(0, True), (4, True), (8, True), (13, False), (25, False)])
def test_pictures_may_differ_by_some_bits(bits: int, same: bool) -> None:
    whole = moving(3, 120, change=6)
    assert (match(clip(noisy(whole, bits)), clip(whole)) is not None) is same


def test_unrelated_clips_do_not_match() -> None:
    assert match(clip(moving(4, 200)), clip(moving(5, 200))) is None


def test_a_still_frame_is_no_evidence_of_a_match() -> None:
    still = moving(6, 1) * 200
    assert match(clip(still), clip(still)) is None
    assert match(clip(noisy(still, 2, 1)), clip(noisy(still, 2, 2))) is None


def test_a_still_stretch_within_moving_clips_is_no_evidence_of_a_match() -> None:
    still = moving(6, 1) * 40
    assert match(clip(moving(7, 60) + still), clip(still + moving(8, 60))) is None


def before_one_background(play: int, count: int) -> list[int]:
    """A camera on a tripod: the picture never changes by more than four bits, and these are the players."""
    chance = np.random.default_rng(play)
    return [moving(9, 1)[0] ^ flips(chance, 4) for _ in range(count)]


def test_a_shared_background_alone_is_not_a_match() -> None:
    one, other = before_one_background(1, 80), before_one_background(2, 80)
    assert match(clip(one), clip(other)) is None
    assert match(clip(one), clip(one[20:])) is not None


@pytest.mark.parametrize("card", [8, 24, 30])
@pytest.mark.parametrize("place", ["both begin with it", "both end with it", "one ends and one begins with it"])
def test_shared_overlays_are_no_evidence_of_a_match(place: str, card: int) -> None:
    """A title card, ident or wipe moves as much as the rest, and is found at one offset."""
    common, a, b = moving(10, card), moving(11, 100), moving(12, 100)
    first, second = {
        "both begin with it": (common + a, common + b),
        "both end with it": (a + common, b + common),
        "one ends and one begins with it": (a + common, common + b),
    }[place]
    assert match(clip(first), clip(second)) is None


def test_similar_play_over_a_short_time_must_agree_more() -> None:
    """Half of the bits that change are shared: enough over ten seconds, not over two."""
    chance = np.random.default_rng(13)
    one, other = [moving(14, 1)[0]], [moving(14, 1)[0]]
    for _ in range(99):
        shared = flips(chance, 5) if len(one) % 4 == 0 else 0
        one.append(one[-1] ^ shared)
        other.append(other[-1] ^ shared)
    noisy_one, noisy_other = noisy(one, 2, 1), noisy(other, 2, 2)
    assert match(clip(noisy_one), clip(noisy_other)) is not None
    assert match(clip(noisy_one[:16]), clip(noisy_other[:16])) is None


def test_three_frames_in_a_row_must_be_equal() -> None:
    whole = moving(15, 80, change=6)
    scattered = [
        each if place % 6 < 2 else each ^ flips(np.random.default_rng(place), 14) for place, each in enumerate(whole)
    ]
    assert match(clip(scattered), clip(whole)) is None


def test_gaps_keep_their_place() -> None:
    whole = moving(20, 60)
    places = [n for n in range(60) if n not in (5, 6, 30)]
    found = match(clip([whole[n] for n in places if n >= 8], [n - 8 for n in places if n >= 8]), clip(whole))
    assert found is not None
    assert (found.offset_seconds, found.matched_frames) == (8 * STEP, 51)


def test_nothing_matches_an_empty_hash() -> None:
    empty = clip([])
    assert match(empty, empty) is None
    assert match(empty, clip(moving(1, 9))) is None
    assert match_many(empty, FingerprintIndex.of([empty, clip(moving(1, 9))])) == []
    assert match_many(clip(moving(1, 9)), FingerprintIndex.of([])) == []


def test_hashes_at_other_steps_are_not_compared() -> None:
    a = clip(moving(1, 9))
    with pytest.raises(ValueError, match="cannot compare hashes"):
        match(a, Fingerprint(a.places, a.hashes, 0.25))


def test_a_mirrored_copy_is_distinguished() -> None:
    a = clip(moving(21, 40))
    b = mirror(clip(noisy(moving(21, 40), 3)))
    assert match(a, b) is None
    found = match_mirrored(a, b)
    assert found is not None
    assert found.mirrored
    assert found.offset_seconds == 0.0


def test_one_to_many_equals_pairwise_comparison() -> None:
    one = clip(moving(30, 80))
    library = [clip(moving(seed, 50)) for seed in range(200, 260)]
    library[7] = clip(noisy(moving(30, 80)[30:60], 5))
    library[40] = clip([])
    library[59] = clip(moving(99, 10) + moving(30, 80)[:30])
    expected = [(place, found) for place, each in enumerate(library) if (found := match(one, each)) is not None]
    assert [place for place, _ in expected] == [7, 59]
    assert match_many(one, FingerprintIndex.of(library)) == expected


# Few different hashes, so that repeats, ties and partial matches come up all the time.
palette = [*moving(40, 6, change=12), *noisy(moving(40, 3, change=12), 5)]
clips = st.lists(st.tuples(st.integers(1, 3), st.sampled_from(palette)), max_size=30).map(
    lambda pairs: clip([h for _, h in pairs], [int(n) for n in np.cumsum([gap for gap, _ in pairs]) - 1])
)


@given(clips, clips)
def test_match_is_symmetric_and_its_offset_antisymmetric(a: Fingerprint, b: Fingerprint) -> None:
    there, back = match(a, b), match(b, a)
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert there.offset_seconds == -back.offset_seconds
        assert there == HashMatch(-back.offset_seconds, back.matched_frames)


@given(clips, st.lists(clips, max_size=6))
def test_one_against_many_agrees_with_one_by_one(one: Fingerprint, library: list[Fingerprint]) -> None:
    expected = [(place, found) for place, each in enumerate(library) if (found := match(one, each)) is not None]
    assert match_many(one, FingerprintIndex.of(library)) == expected


@settings(deadline=None)
@given(clips)
def test_a_clip_that_matches_itself_does_so_at_no_offset(a: Fingerprint) -> None:
    found = match(a, a)
    assert found is None or found.offset_seconds == 0.0
