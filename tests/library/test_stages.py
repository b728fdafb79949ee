"""The table of stages: no state is left without one, and failed items are retried."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from found_footy.library.models import ClipState, SourceState, State
from found_footy.library.stages import (
    MAX_OUTAGE_FAILURES,
    MAX_STAGE_FAILURES,
    STAGES,
    TIMEOUT,
    ItemKind,
    LibraryStage,
    count_failure,
    find_stage,
    is_outage,
    retry_delay,
)

WAIT_FOR_PEOPLE = {ClipState.PENDING_REVIEW, ClipState.REVIEW_SKIPPED, ClipState.EDIT_PENDING}
ENDS = {SourceState.SPLICED, ClipState.ARCHIVED}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_stage_has_states_of_its_kind_of_item(stage: LibraryStage) -> None:
    states = SourceState if stage.item is ItemKind.SOURCE else ClipState
    assert all(isinstance(state, states) for state in (stage.takes, stage.working, stage.done, stage.failed))
    assert stage.done is not stage.working


@pytest.mark.parametrize("state", [*SourceState, *ClipState])
def test_every_state_has_a_stage_or_waits_for_a_person_or_is_final(state: State) -> None:
    taken = [
        stage
        for stage in STAGES
        if any(state is each for each in (stage.takes, stage.working, stage.failed))
    ]  # fmt: skip
    assert taken or state in WAIT_FOR_PEOPLE or any(state is end for end in ENDS)


def test_no_state_is_taken_by_two_stages() -> None:
    taken = [stage.takes for stage in STAGES]
    assert len(taken) == len({(type(state), state) for state in taken})


def test_a_stage_is_found_by_its_name() -> None:
    assert [find_stage(stage.name) for stage in STAGES] == list(STAGES)
    with pytest.raises(KeyError):
        find_stage("no such stage")


@pytest.mark.parametrize(
    ("failures", "retryable", "kind", "expected"),
    [
        (1, True, "MediaBroken", timedelta(minutes=5)),
        (2, True, "MediaBroken", timedelta(minutes=10)),
        (5, True, "MediaBroken", timedelta(minutes=80)),
        (MAX_STAGE_FAILURES, True, "MediaBroken", None),
        (1, False, "MediaBroken", None),
        (1, True, "ObjectStoreUnavailable", timedelta(seconds=30)),
        (MAX_OUTAGE_FAILURES, True, "VolumeFull", timedelta(minutes=4)),
    ],
)
def test_retries_back_off_and_end(failures: int, retryable: bool, kind: str, expected: timedelta | None) -> None:
    assert retry_delay(failures, retryable, kind) == expected


@pytest.mark.parametrize(
    ("name", "video_seconds", "expected"),
    [
        ("sprites", 0, timedelta(minutes=30)),
        ("sprites", 5400, timedelta(hours=12, minutes=30)),
        ("splice", 5400, timedelta(hours=6, minutes=30)),
        ("keyframes", 5400, timedelta(hours=6, minutes=15)),
        ("embeddings", 5400, timedelta(minutes=10)),  # of the keyframes, whatever the length
    ],
)
def test_the_timeout_of_a_stage_follows_the_length_of_the_video(
    name: str, video_seconds: float, expected: timedelta
) -> None:
    assert find_stage(name).timeout_of(video_seconds) == expected


FAILED_AT = datetime(2026, 8, 22, 15, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("kind", "retryable", "failed_at", "last_done_at", "expected"),
    [
        ("StoreUnavailable", True, None, None, True),
        ("StoreUnavailable", True, FAILED_AT, None, True),
        ("StoreUnavailable", True, FAILED_AT, FAILED_AT - MINUTE, True),
        ("StoreUnavailable", True, FAILED_AT, FAILED_AT + MINUTE, False),  # the stage works for other items
        ("MediaBroken", False, None, None, False),
        (TIMEOUT, True, FAILED_AT, None, False),
    ],
)
def test_a_failure_is_due_to_an_outage_unless_the_stage_works_for_others(
    kind: str, retryable: bool, failed_at: datetime | None, last_done_at: datetime | None, expected: bool
) -> None:
    assert is_outage(kind, retryable, failed_at, last_done_at) is expected


def test_an_outage_never_reaches_the_limit_of_failures() -> None:
    failures = 0
    for _ in range(20):
        failures = count_failure(failures, outage=True)
    assert failures == MAX_OUTAGE_FAILURES
    assert retry_delay(failures, retryable=True) == timedelta(minutes=40)
    failures = count_failure(count_failure(failures, outage=False), outage=False)
    assert retry_delay(failures, retryable=True) is None
