"""The drawing of disturbances, and what counts as a difference between two runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from found_footy.clips.activities import DownloadActivities, UploadActivities, VerificationActivities
from found_footy.discovery.activities import SearchActivities
from found_footy.feeds.activities import FeedActivities
from found_footy.fixtures.activities import MonitorActivities
from found_footy.notifications.activities import NotificationActivities
from tests.chaos.disturbances import MOMENTS, PAIRS, SEEDS_PER_ROUND, STEPS, TARGETS, Disturbance, Kind, Target, draw
from tests.chaos.killed_worker import activity_names
from tests.chaos.outcome import Outcome, differences
from tests.chaos.run import parse_seeds

IN_MAKE_TEST = range(1, 6)
FIRST_ROUND = range(1, SEEDS_PER_ROUND + 1)

NOT_IN_EVERY_MATCHDAY = {
    "reject_candidate",
    "reject_video",
    "sweep_event",
    "list_outdated_rejections",
    "reverify_rejected_clips",
    "mark_dead",
    "list_enabled",
    "poll_staging_fixtures",
    "pre_activate_upcoming_fixtures",
}


def drawn(seeds: range) -> list[Disturbance]:
    return [each for seed in seeds for each in draw(seed)]


def test_a_seed_always_draws_the_same() -> None:
    assert [str(each) for each in draw(1)[:2]] == [
        "kill worker-1, after set_monitor_complete",
        "kill worker-2, after fetch_clip",
    ]
    for seed in (1, 2, 99):
        assert draw(seed) == draw(seed)
    assert len({draw(seed) for seed in range(1, 101)}) == 100


def test_the_seeds_of_make_test_cover_every_kind_and_target() -> None:
    found = drawn(IN_MAKE_TEST)
    assert {each.kind for each in found} == set(Kind)
    assert {each.target for each in found} == set(Target)


def test_a_round_of_seeds_covers_every_pair_of_a_kind_and_a_target() -> None:
    for first in (1, 1 + SEEDS_PER_ROUND):
        pairs = {(each.kind, each.target) for each in drawn(range(first, first + SEEDS_PER_ROUND))}
        assert pairs == set(PAIRS)


def test_a_worker_is_killed_before_and_after_every_step() -> None:
    kills = {each.trigger.step for each in drawn(range(1, 17)) if each.kind is Kind.KILL and each.trigger.step}
    assert kills >= set(MOMENTS)


def test_the_steps_are_the_activities_of_a_matchday() -> None:
    owners = (SearchActivities, DownloadActivities, VerificationActivities, UploadActivities)
    names = activity_names(*owners, FeedActivities, MonitorActivities, NotificationActivities)
    assert set(names) - NOT_IN_EVERY_MATCHDAY == set(STEPS)


@pytest.mark.parametrize("seed", [1, 7, 50])
def test_disturbances_are_bounded_and_do_not_share_a_step(seed: int) -> None:
    steps = [each.trigger.step for each in draw(seed) if each.trigger.step]
    assert len(steps) == len(set(steps))
    for each in draw(seed):
        assert each.target in TARGETS[each.kind]
        assert 0 <= each.seconds <= 4
        assert abs(each.amount) <= 60
        assert (each.trigger.step is None) != (each.trigger.progress is None)


NOTHING = Outcome({}, {}, {}, {}, {}, {})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"messages": {"goal.stable a": 1}}, ["messages.goal.stable a: None in the undisturbed run, 1 here"]),
        (
            {"clips": {"g": [{"rank": 1}]}},
            ["clips.g: None in the undisturbed run, [{'rank': 1}] here"],
        ),
        (
            {"fixtures": {1: {"goals": {"home": 2}}}},
            ["fixtures.1: None in the undisturbed run, {'goals': {'home': 2}} here"],
        ),
        ({"violations": ("orphan object staging/x",)}, ["orphan object staging/x"]),
    ],
)
def test_every_difference_is_listed(change: Mapping[str, Any], expected: list[str]) -> None:
    assert differences(NOTHING, replace(NOTHING, **change)) == expected


def test_seeds_are_numbers_and_ranges() -> None:
    assert parse_seeds("7") == [7]
    assert parse_seeds("2-4") == [2, 3, 4]
