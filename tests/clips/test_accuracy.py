"""What the product can be trusted for, on every clip of the default matchday."""

from __future__ import annotations

import asyncio

import pytest
from bench.accuracy import Judged, duplicates, evaluate, false_verified, ours, verified_share

from tests.support.clip_cache import rendered_clips

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    return asyncio.run(evaluate(rendered_clips()))


def test_no_clip_is_verified_that_does_not_show_the_goal(judged: list[Judged]) -> None:
    assert false_verified(judged) == []


def test_nearly_every_clip_with_a_clear_clock_is_verified(judged: list[Judged]) -> None:
    right, all_ = verified_share(judged)
    assert all_ >= 40
    assert right >= 0.95 * all_


def test_every_refused_clip_is_refused_for_its_true_reason(judged: list[Judged]) -> None:
    refused = [each for each in judged if each.truth.reason]
    assert {each.truth.reason for each in refused} >= {"wrong_minute", "other_match", "not_soccer", "filmed_screen"}
    assert [(each.truth.kind, each.reason) for each in refused if each.reason != each.truth.reason] == []


def test_duplicates_are_found_and_none_is_invented(judged: list[Judged]) -> None:
    pairs = duplicates(judged, ours, altered=False)
    assert pairs.invented == ()
    assert pairs.recall >= 0.95, pairs.missed
    assert duplicates(judged, ours, altered=True).invented == ()
