"""What the product can be trusted for, on every kind of clip. `make bench ARGS=accuracy` judges the whole matchday."""

from __future__ import annotations

import asyncio

import pytest
from bench.accuracy import (
    ClipResult,
    duplicates,
    evaluate,
    false_verified,
    has_equal_frames,
    is_duplicate,
    matchday,
    verified_share,
)
from bench.table import share

from footy_simulator.clips.plan import all_clips
from tests.support.scenarios import rendered_clips

pytestmark = pytest.mark.timeout(900)


MATCH = 1380101
OTHER_KINDS = {"studio", "too_long", "truncated", "html", "basketball", "zip", "landscape"}
"""Kinds of clips that only other matches have."""


@pytest.fixture(scope="module")
def results() -> list[ClipResult]:
    clips = [clip for clip in all_clips(matchday()) if clip.match == MATCH or clip.kind in OTHER_KINDS]
    return asyncio.run(evaluate(matchday(), clips, rendered_clips()))


def test_no_clip_is_verified_that_does_not_show_the_goal(results: list[ClipResult]) -> None:
    assert false_verified(results) == []


def test_nearly_every_clip_with_a_clear_clock_is_verified(results: list[ClipResult]) -> None:
    right, all_ = verified_share(results)
    assert all_ >= 12
    assert right >= 0.95 * all_


def test_every_rejected_clip_is_rejected_for_its_true_reason(results: list[ClipResult]) -> None:
    rejected = [each for each in results if each.truth.reason]
    assert {each.truth.reason for each in rejected} >= {"wrong_minute", "other_match", "not_soccer", "filmed_screen"}
    wrong = [each for each in rejected if (each.verdict, each.reason) != ("rejected", each.truth.reason)]
    assert [(each.truth.kind, each.verdict, each.reason) for each in wrong] == []


def test_copies_are_merged_and_goals_of_one_ground_are_not(results: list[ClipResult]) -> None:
    pairs = duplicates(results, is_duplicate, altered=False)
    assert pairs.invented == ()
    assert pairs.recall >= 0.95, pairs.missed
    assert duplicates(results, is_duplicate, altered=True).invented == ()
    assert duplicates(results, has_equal_frames, altered=False, same_match=True).invented, "frames alone would merge"


@pytest.mark.parametrize(
    ("count", "of", "text"),
    [
        (0, 0, "0 of 0"),
        (0, 9, "0 of 9 (0.0 to 29.9 %)"),
        (9, 9, "9 of 9 (70.1 to 100.0 %)"),
        (50, 100, "50 of 100 (40.4 to 59.6 %)"),
    ],
)
def test_a_share_has_its_interval(count: int, of: int, text: str) -> None:
    assert share(count, of) == text
