"""What somebody looks for in the library, and the order of what was found."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction

import pytest

from found_footy.domain.clips.searching import (
    GONE,
    PLACES,
    Asked,
    FoundClip,
    Hit,
    Wanted,
    as_moments,
    asked,
    in_order,
    wanted_of,
    worth,
)
from found_footy.domain.clips.states import ClipState


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", Asked()),
        ("  Salah ", Asked("Salah")),
        ("salah 90+3", Asked("salah", ("90+3",))),
        ("90+3' salah", Asked("salah", ("90+3",))),
        ("67’", Asked("", ("67",))),
        ("007", Asked("", ("7",))),
        ("12.3 root", Asked("root", ("12.3",))),
        ("1860 münchen", Asked("1860 münchen")),
        ("hannover 96", Asked("hannover", ("96",))),
        ("90+ +3 4-2", Asked("90+ +3 4-2")),
        ("a b c d e f g h i", Asked("a b c d e f g h")),
    ],
)
def test_minutes_are_told_from_words(line: str, expected: Asked) -> None:
    assert asked(line) == expected


def test_every_state_is_found_somewhere_or_gone() -> None:
    placed = [state for states in PLACES.values() for state in states]
    assert sorted([*placed, *GONE]) == sorted(ClipState)


def test_without_a_place_everything_is_wanted_that_is_not_gone() -> None:
    assert set(Wanted().states) == {str(state) for state in ClipState} - {str(state) for state in GONE}
    assert Wanted(place="skipped").states == ["review_skipped"]
    assert Wanted().is_open
    assert not Wanted(asked("salah")).is_open


def test_a_form_is_read_with_both_of_its_days_and_empty_fields_do_not_filter() -> None:
    wish = wanted_of("salah 90+3", first=date(2026, 8, 22), last=date(2026, 8, 22), team=" ", kind="penalty")
    assert (wish.since, wish.until) == (datetime(2026, 8, 22, tzinfo=UTC), datetime(2026, 8, 23, tzinfo=UTC))
    assert (wish.asked, wish.team, wish.kind) == (Asked("salah", ("90+3",)), None, "penalty")
    assert wanted_of(None, team="", competition=None).is_open


def test_words_come_before_pictures_and_each_clip_once() -> None:
    assert in_order([Hit(1), Hit(2)], [Hit(2, 0.9), Hit(3, 0.8)]) == [Hit(1), Hit(2), Hit(3, 0.8)]


PLAIN = FoundClip(1, 1, 0, 100, Fraction(25), ClipState.EMBEDDED, "a goal", 1280, 720)


def clips(*found: FoundClip) -> dict[int, FoundClip]:
    return {each.id: each for each in found}


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (replace(PLAIN, id=9, facts={"verified": True}), replace(PLAIN, width=1920, height=1080)),
        (PLAIN, replace(PLAIN, id=9, state=ClipState.PENDING_REVIEW, width=1920, height=1080)),
        (replace(PLAIN, id=9, width=1920, height=1080), replace(PLAIN, end=200)),
        (replace(PLAIN, id=9, end=200), PLAIN),
        (PLAIN, replace(PLAIN, id=9)),
    ],
    ids=["proven before large", "approved before large", "large before long", "long", "the older one"],
)
def test_the_best_copy_comes_first(better: FoundClip, worse: FoundClip) -> None:
    assert worth(better) < worth(worse)


def test_a_moment_is_shown_once_with_its_copies() -> None:
    known = clips(*(replace(PLAIN, id=number, height=100 * number) for number in (1, 2, 3)))
    (first, second) = as_moments([Hit(1), Hit(2), Hit(3)], [frozenset({1, 3}), frozenset({2})], known)
    assert (first.clip.id, [copy.id for copy in first.copies], first.likeness) == (3, [1], None)
    assert (second.clip.id, second.copies) == (2, ())


def test_what_looks_most_alike_stands_for_its_moment() -> None:
    known = clips(*(replace(PLAIN, id=number, height=100 * number) for number in (1, 2, 3)))
    (found,) = as_moments([Hit(1, 0.9), Hit(3, 0.5)], [frozenset({1, 2, 3})], known)
    assert (found.clip.id, [copy.id for copy in found.copies], found.likeness) == (1, [3, 2], 0.9)


def test_the_clip_that_one_looks_from_is_not_found_itself() -> None:
    known = clips(*(replace(PLAIN, id=number) for number in (1, 2, 3)))
    groups = [frozenset({1, 2}), frozenset({3})]
    found = as_moments([Hit(1, 1.0), Hit(2, 0.9), Hit(3, 0.4)], groups, known, without=1)
    assert [(each.clip.id, each.copies) for each in found] == [(2, ()), (3, ())]


def test_clips_that_went_away_meanwhile_are_left_out() -> None:
    known = clips(replace(PLAIN, id=2))
    (found,) = as_moments([Hit(1, 0.9), Hit(2, 0.8)], [frozenset({1, 2})], known)
    assert (found.clip.id, found.copies) == (2, ())


def test_seconds_are_counted_from_frames() -> None:
    clip = replace(PLAIN, first=30, end=90, rate=Fraction(30000, 1001))
    assert (round(clip.seconds, 3), round(clip.starts_at, 3)) == (2.002, 1.001)
