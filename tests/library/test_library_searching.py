"""What somebody looks for in the library, and the order of what was found."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction

import pytest

from found_footy.library.models import ARCHIVED, ClipState
from found_footy.library.moments import (
    SECTIONS,
    ClipResult,
    ScoredClip,
    SearchFilter,
    SearchText,
    group_by_moment,
    parse_filter,
    parse_query,
    quality_key,
    text_matches_first,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", SearchText()),
        ("  Salah ", SearchText("Salah")),
        ("salah 90+3", SearchText("salah", ("90+3",))),
        ("90+3' salah", SearchText("salah", ("90+3",))),
        ("67’", SearchText("", ("67",))),
        ("007", SearchText("", ("7",))),
        ("12.3 root", SearchText("root", ("12.3",))),
        ("1860 münchen", SearchText("1860 münchen")),
        ("hannover 96", SearchText("hannover", ("96",))),
        ("90+ +3 4-2", SearchText("90+ +3 4-2")),
        ("a b c d e f g h i", SearchText("a b c d e f g h")),
    ],
)
def test_minutes_are_parsed_from_words(line: str, expected: SearchText) -> None:
    assert parse_query(line) == expected


def test_every_state_is_in_a_section_or_archived() -> None:
    placed = [state for states in SECTIONS.values() for state in states]
    assert sorted([*placed, *ARCHIVED]) == sorted(ClipState)


def test_without_a_section_all_but_archived_clips_match() -> None:
    assert set(SearchFilter().states) == {str(state) for state in ClipState} - {str(state) for state in ARCHIVED}
    assert SearchFilter(place="skipped").states == ["review_skipped"]
    assert SearchFilter().is_empty
    assert not SearchFilter(parse_query("salah")).is_empty


def test_dates_are_inclusive_and_empty_fields_do_not_filter() -> None:
    wish = parse_filter("salah 90+3", first=date(2026, 8, 22), last=date(2026, 8, 22), team=" ", kind="penalty")
    assert (wish.since, wish.until) == (datetime(2026, 8, 22, tzinfo=UTC), datetime(2026, 8, 23, tzinfo=UTC))
    assert (wish.text, wish.team, wish.kind) == (SearchText("salah", ("90+3",)), None, "penalty")
    assert parse_filter(None, team="", competition=None).is_empty


def test_text_matches_come_first_and_clips_once() -> None:
    assert text_matches_first([ScoredClip(1), ScoredClip(2)], [ScoredClip(2, 0.9), ScoredClip(3, 0.8)]) == [
        ScoredClip(1),
        ScoredClip(2),
        ScoredClip(3, 0.8),
    ]


PLAIN = ClipResult(1, 1, 0, 100, Fraction(25), ClipState.EMBEDDED, "a goal", 1280, 720)


def clips(*found: ClipResult) -> dict[int, ClipResult]:
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
def test_the_best_copy_comes_first(better: ClipResult, worse: ClipResult) -> None:
    assert quality_key(better) < quality_key(worse)


def test_a_moment_is_shown_once_with_its_copies() -> None:
    known = clips(*(replace(PLAIN, id=number, height=100 * number) for number in (1, 2, 3)))
    (first, second) = group_by_moment(
        [ScoredClip(1), ScoredClip(2), ScoredClip(3)], [frozenset({1, 3}), frozenset({2})], known
    )
    assert (first.clip.id, [copy.id for copy in first.copies], first.similarity) == (3, [1], None)
    assert (second.clip.id, second.copies) == (2, ())


def test_the_most_similar_clip_represents_its_moment() -> None:
    known = clips(*(replace(PLAIN, id=number, height=100 * number) for number in (1, 2, 3)))
    (found,) = group_by_moment([ScoredClip(1, 0.9), ScoredClip(3, 0.5)], [frozenset({1, 2, 3})], known)
    assert (found.clip.id, [copy.id for copy in found.copies], found.similarity) == (1, [3, 2], 0.9)


def test_the_query_clip_is_not_a_result() -> None:
    known = clips(*(replace(PLAIN, id=number) for number in (1, 2, 3)))
    groups = [frozenset({1, 2}), frozenset({3})]
    found = group_by_moment([ScoredClip(1, 1.0), ScoredClip(2, 0.9), ScoredClip(3, 0.4)], groups, known, without=1)
    assert [(each.clip.id, each.copies) for each in found] == [(2, ()), (3, ())]


def test_deleted_clips_are_left_out() -> None:
    known = clips(replace(PLAIN, id=2))
    (found,) = group_by_moment([ScoredClip(1, 0.9), ScoredClip(2, 0.8)], [frozenset({1, 2})], known)
    assert (found.clip.id, found.copies) == (2, ())


def test_seconds_are_counted_from_frames() -> None:
    clip = replace(PLAIN, first=30, end=90, rate=Fraction(30000, 1001))
    assert (round(clip.seconds, 3), round(clip.starts_at, 3)) == (2.002, 1.001)
