"""Which polls of a recording are played, when each of its moments comes, and what its feeds say then."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.errors import FeedBlocked, FeedError, FeedRejected, FeedUnavailable, SourceLoggedOut, SourceUnavailable
from found_footy.fixtures.models import LastEvent, MatchMinute
from found_footy.recordings.models import RecordedError, Recording
from found_footy.recordings.playback import feed_error, source_error
from found_footy.recordings.timeline import (
    FeedPlayback,
    SteadyClock,
    add_missing_polls,
    build_timeline,
    poll_times,
    to_replay_time,
)
from tests.support.football import START, match
from tests.support.recordings import POLL, at, recording, response

QUIET = match()
GOAL = match("23 home 7")
LATER = replace(GOAL, minute=MatchMinute(46))
OVER = match("23 home 7", status="FT")


def played(given_: Recording, in_a_row: int = 4, speed: float = 60) -> list[float]:
    """The polls that are played, by their number then."""
    return [(poll.at - START) / POLL for poll in build_timeline(given_, max_repeats=in_a_row, speed=speed).polls]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([response(QUIET, [0])], [0]),
        ([response(QUIET, range(10))], [0, 1, 2, 3]),  # then nothing is left to decide
        ([response(QUIET, range(10)), response(GOAL, [10])], [0, 1, 2, 3, 10]),
        (
            [response(QUIET, [0]), response(GOAL, [1]), response(QUIET, [2, 3])],
            [0, 1, 2, 3],
        ),  # a goal for one poll stays that
        ([response(GOAL, range(6)), response(LATER, range(6, 12))], [0, 1, 2, 3]),  # a clock that moves decides nothing
        ([response(GOAL, range(6)), response(OVER, range(6, 12))], [0, 1, 2, 3, 6, 7, 8, 9]),
        ([response(QUIET, range(6)), response(FeedUnavailable("no"), [6, 7])], [0, 1, 2, 3, 6, 7]),
        # two feeds of one poll are heard one after the other
        ([response(QUIET, [0, 1]), response(QUIET, [0.1, 1.1], feed="crex")], [0.1, 1.1]),
        # a feed that is heard again is heard in another poll, however soon
        ([response(QUIET, [0, 0.2]), response(QUIET, [0.1], feed="crex")], [0.1, 0.2]),
        # a response after the wait belongs to the next poll
        ([response(QUIET, [0, 1, 2]), response(QUIET, [0.5], feed="crex")], [0, 1, 2]),
        ([response(QUIET, [0, 1]), response(QUIET, [1.5], feed="crex")], [0, 1, 1.5]),  # or to a later one
        ([response(QUIET, [0, 2]), response(QUIET, [1, 3], feed="crex")], [0, 1, 2, 3]),  # alternating
        # a feed that was not polled delays nothing
        ([response(QUIET, [0, 1, 2]), response(QUIET, [1.1], feed="crex")], [0, 1.1, 2]),
        # nor does another match of the same feed
        ([response(QUIET, range(8)), response(GOAL, range(4, 8), feed_id=6000)], [0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_polls_that_can_affect_a_decision_are_played(answers: list[Any], expected: list[float]) -> None:
    assert played(recording(*answers)) == expected


def silent(*answers: Any) -> dict[float, set[str]]:
    """The feeds whose last good word does not count any more, by poll."""
    polls = build_timeline(add_missing_polls(recording(*answers)), max_repeats=4, speed=60).polls
    return {(poll.at - START) / POLL: {feed for feed, _ in poll.expired} for poll in polls if poll.expired}


NO = FeedUnavailable("no answer")


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([response(QUIET, range(5))], {}),
        ([response(QUIET, [0, 1]), response(NO, [2])], {}),  # a response is valid for 53 s
        ([response(QUIET, [0, 1]), response(NO, [2, 3, 4])], {3: {"espn"}, 4: {"espn"}}),
        ([response(NO, [0, 1, 2])], {}),  # it had no response yet
        ([response(QUIET, [0, 1]), response(NO, [2, 3]), response(QUIET, [4])], {3: {"espn"}}),
        # a feed that was not polled while others were
        ([response(QUIET, range(6), feed="crex"), response(QUIET, [0, 5])], {2: {"espn"}, 3: {"espn"}, 4: {"espn"}}),
        # before and after play, polls are rare
        ([response(OVER, range(6), feed="crex"), response(OVER, [0, 5])], {}),
    ],
)
def test_a_response_expires_after_its_lifetime(answers: list[Any], expected: dict[float, set[str]]) -> None:
    assert silent(*answers) == expected


def test_missing_responses_are_played_until_they_cannot_affect_a_decision() -> None:
    answers = [response(QUIET, range(12), feed="crex"), response(QUIET, [0, 1]), response(NO, range(2, 12))]
    assert played(recording(*answers)) == [0, 1, 2, 3, 4, 5, 6]


def test_skipped_polls_are_counted() -> None:
    assert build_timeline(recording(response(QUIET, range(10))), max_repeats=4, speed=60).skipped == 6


def test_each_poll_includes_the_matches_listed_by_then() -> None:
    given_ = recording(response(QUIET, [0, 1]), response(QUIET, [1], feed_id=6000))
    polls = build_timeline(given_, max_repeats=4, speed=60).polls
    assert [poll.listed for poll in polls] == [{("espn", 5000)}, {("espn", 5000), ("espn", 6000)}]


def test_gaps_are_limited_to_two_polls_and_scaled_by_speed() -> None:
    given_ = recording(response(QUIET, [0, 1, 2]), response(GOAL, [500]))
    offsets = [poll.offset.total_seconds() for poll in build_timeline(given_, max_repeats=4, speed=60).polls]
    assert offsets == [0, 0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (at(0), 0.0),
        (at(0.5), 0.25),
        (at(2), 1.0),
        (at(251), 1.5),  # half-way between two polls that hours lie between
        (at(500), 2.0),
        (at(-120), -3600.0),  # before and after, time runs as it always does
        (at(502), 62.0),
    ],
)
def test_recorded_times_map_to_replay_times(moment: datetime, expected: float) -> None:
    timeline = build_timeline(recording(response(QUIET, [0, 1, 2]), response(GOAL, [500])), max_repeats=4, speed=60)
    start = datetime.fromisoformat("2030-01-01T00:00:00+00:00")
    assert (timeline.replay_time(moment, start) - start).total_seconds() == pytest.approx(expected)


@given(st.lists(st.floats(0, 5000), min_size=1, max_size=30), st.floats(-100, 6000), st.floats(-100, 6000))
def test_replay_times_keep_their_order(polls: list[float], one: float, other: float) -> None:
    answers = [response(match(score=f"{number}-0"), [poll]) for number, poll in enumerate(sorted(polls))]
    timeline = build_timeline(recording(*answers), max_repeats=4, speed=60)
    early, late = sorted([at(one), at(other)])
    assert timeline.replay_time(early, START) <= timeline.replay_time(late, START)


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.floats(0, 50)), min_size=1, max_size=40),
)
def test_every_response_belongs_to_one_poll(heard: list[tuple[str, float]]) -> None:
    answers = [response(QUIET, [poll], feed=feed) for feed, poll in heard]
    polls = poll_times(recording(*answers))
    assert polls == sorted(set(polls))
    heard_in = [next(poll for poll in polls if poll >= answer.at[0]) for answer in answers]
    # No feed is heard twice in one poll with two different words.
    for poll in polls:
        for feed in "abc":
            words = {a.at[0] for a, at_ in zip(answers, heard_in, strict=True) if at_ == poll and a.feed == feed}
            assert len(words) <= 1 or min(words) < poll - timedelta(seconds=8)


PLAYBACK = FeedPlayback(
    "espn", [response(QUIET, [1, 2]), response(GOAL, [3]), response(QUIET, [0], feed="crex", feed_id=9)]
)


@pytest.mark.parametrize(
    ("poll", "expected"), [(0, None), (1, QUIET), (2.5, QUIET), (3, GOAL), (99, GOAL)]
)  # the last word stands
def test_a_response_is_repeated_until_the_next_one(poll: float, expected: object) -> None:
    found = PLAYBACK.answer_at(5000, at(poll))
    assert (found and found.live) == expected


def test_a_feed_plays_only_its_own_matches() -> None:
    assert PLAYBACK.ids == {5000}
    assert PLAYBACK.answer_at(9, at(5)) is None
    assert PLAYBACK.answer_at(5000, at(0)) is None


def test_the_steady_clock_keeps_its_speed() -> None:
    now = START + timedelta(days=100, seconds=10)
    time = SteadyClock(START, START + timedelta(days=100), 60, lambda: now)
    assert time.position() == START + timedelta(minutes=10)
    assert time.replay_time(START + timedelta(minutes=10)) == now


def test_times_of_a_match_are_shifted() -> None:
    now = START + timedelta(days=100)
    time = SteadyClock(START, now, 60, lambda: now)
    live = replace(GOAL, last_event=LastEvent("goal", "he scores", START + timedelta(minutes=5)))
    shown = to_replay_time(live, "espn", time, now)
    assert shown.kickoff == now
    assert shown.feed == "espn"
    assert shown.last_event is not None
    assert shown.last_event.at is not None
    assert shown.last_event.at < now  # nothing has happened that is still to come
    assert shown.goals == live.goals


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("FeedUnavailable", FeedUnavailable),
        ("FeedBlocked", FeedBlocked),
        ("FeedSchemaError", FeedRejected),  # it is more than its message
        ("SettingsError", FeedRejected),
        ("Path", FeedRejected),
        ("__class__", FeedRejected),
    ],
)
def test_recorded_feed_errors_are_rebuilt(kind: str, expected: type[FeedError]) -> None:
    error = feed_error(RecordedError(kind, "said so"))
    assert type(error) is expected
    assert "said so" in str(error)


@pytest.mark.parametrize(("kind", "expected"), [("SourceLoggedOut", SourceLoggedOut), ("x", SourceUnavailable)])
def test_recorded_source_errors_are_rebuilt(kind: str, expected: type[Exception]) -> None:
    assert type(source_error(RecordedError(kind, "said so"))) is expected
