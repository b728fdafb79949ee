"""However requests come, no more of them start than the limits allow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from found_footy.domain.feeds.token_bucket import admit


def starts(arrivals: list[int], interval: int, burst: int) -> list[int]:
    """When each of them starts, one after the other, each as soon as it may."""
    full_at, now, found = 0, 0, []
    for arrival in sorted(arrivals):
        now = max(now, arrival)
        while (said := admit(full_at, now, interval, burst)).wait:
            now += said.wait
        full_at = said.full_at
        found.append(now)
    return found


@given(st.lists(st.integers(0, 5_000), max_size=60), st.integers(1, 500), st.integers(1, 12))
def test_in_any_span_there_are_at_most_a_burst_and_one_for_each_interval(
    arrivals: list[int], interval: int, burst: int
) -> None:
    found = starts(arrivals, interval, burst)
    for first, begin in enumerate(found):
        for last, end in enumerate(found[first:], first):
            assert last - first + 1 <= burst + (end - begin) // interval


@given(st.lists(st.integers(0, 5_000), max_size=60), st.integers(1, 500), st.integers(1, 12))
def test_nobody_waits_without_need(arrivals: list[int], interval: int, burst: int) -> None:
    found = starts(arrivals, interval, burst)
    for number, (arrival, start) in enumerate(zip(sorted(arrivals), found, strict=True)):
        if start > arrival and number and start > found[number - 1]:
            earlier = [*found[:number], start - 1]
            assert any(
                len(earlier) - first > burst + (earlier[-1] - earlier[first]) // interval for first in range(number)
            ), "one moment earlier would have been too early"


def test_a_burst_starts_together_and_the_next_one_waits_for_one_interval() -> None:
    assert starts([0, 0, 0, 0, 0], interval=10, burst=3) == [0, 0, 0, 10, 20]


def test_without_an_interval_nobody_waits() -> None:
    assert starts([0] * 100, interval=0, burst=1) == [0] * 100


@given(st.integers(0, 10**15), st.integers(0, 10**15), st.integers(1, 10**9), st.integers(0, 100))
def test_no_state_makes_anyone_wait_for_longer_than_one_interval(
    full_at: int, now: int, interval: int, burst: int
) -> None:
    """Not even a clock that went back by a year, or a burst of none."""
    assert 0 <= admit(full_at, now, interval, burst).wait <= interval
