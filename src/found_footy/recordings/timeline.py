"""Replay timeline: when each recorded poll is played, and what the feeds return at that time."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Protocol

from found_footy.fixtures.models import LiveFixture, Phase, phase_of
from found_footy.recordings.models import RecordedError, RecordedSnapshot, Recording


class ReplayClock(Protocol):
    def position(self) -> datetime:
        """Current position in the recording."""

    def replay_time(self, moment: datetime) -> datetime:
        """Return the replay time of a recorded time."""


class SteadyClock:
    """Runs at a constant speed: `speed` recorded seconds per second since the start."""

    def __init__(self, first: datetime, start: datetime, speed: float, now: Callable[[], datetime]) -> None:
        self._first = first
        self._start = start
        self._speed = speed
        self._now = now

    def position(self) -> datetime:
        return self._first + (self._now() - self._start) * self._speed

    def replay_time(self, moment: datetime) -> datetime:
        return self._start + (moment - self._first) / self._speed


class FeedPlayback:
    """The recorded responses of one feed, by time."""

    def __init__(self, feed: str, answers: Iterable[RecordedSnapshot]) -> None:
        by_id: dict[int, list[RecordedSnapshot]] = defaultdict(list)
        for answer in answers:
            if answer.feed == feed:
                by_id[answer.feed_id].append(answer)
        self._by_id = {id_: sorted(each, key=lambda answer: answer.at[0]) for id_, each in by_id.items()}

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(self._by_id)

    def answer_at(self, feed_id: int, moment: datetime) -> RecordedSnapshot | None:
        """Return the last response for a match at that time."""
        answers = self._by_id.get(feed_id, [])
        position = bisect_right(answers, moment, key=lambda answer: answer.at[0])
        return answers[position - 1] if position else None


MIN_EVENT_AGE = timedelta(seconds=1)


def to_replay_time(live: LiveFixture, feed: str, clock: ReplayClock, now: datetime) -> LiveFixture:
    """Convert a match for the replay: shift its times and set the feed that plays it."""
    last = live.last_event
    if last is not None and last.at is not None:
        # Events must not be in the future.
        last = replace(last, at=min(clock.replay_time(last.at), now - MIN_EVENT_AGE))
    return replace(live, feed=feed, kickoff=clock.replay_time(live.kickoff).replace(microsecond=0), last_event=last)


# --- Timeline: which polls are played, in what order, and when.


MatchKey = tuple[str, int]
"""A feed and its id of a match."""

MAX_GAP_POLLS = 2
"""Maximum gap between two polls in the replay, in poll intervals."""
DEFAULT_FEED_WAIT = timedelta(seconds=8)
"""Time that a poll waits for its feeds, if the recording does not state it."""


@dataclass(frozen=True, slots=True)
class ReplayPoll:
    """One poll of all feeds."""

    at: datetime
    """Recorded time of the last feed's response."""
    offset: timedelta
    """Planned time since the start of the replay."""
    listed: frozenset[MatchKey]
    """Matches listed by then."""
    expired: frozenset[MatchKey] = frozenset()
    """Matches whose last successful response had expired by then."""


@dataclass(frozen=True, slots=True)
class ReplayTimeline:
    polls: tuple[ReplayPoll, ...]
    skipped: int = 0
    """Polls left out because they repeat the ones before."""

    def replay_time(self, moment: datetime, start: datetime) -> datetime:
        """Return the replay time of a recorded time, for a replay that started at `start`.

        Times between two polls are interpolated; before the first and after the last poll, time runs at normal speed.
        """
        first, last = self.polls[0], self.polls[-1]
        if moment <= first.at:
            return start + first.offset - (first.at - moment)
        if moment >= last.at:
            return start + last.offset + (moment - last.at)
        after = bisect_right(self.polls, moment, key=lambda poll: poll.at)
        earlier, later = self.polls[after - 1], self.polls[after]
        share = (moment - earlier.at) / (later.at - earlier.at)
        return start + earlier.offset + share * (later.offset - earlier.offset)


def build_timeline(recording: Recording, *, max_repeats: int, speed: float) -> ReplayTimeline:
    """Build the timeline with at most `max_repeats` consecutive equal polls, because further ones cannot change a
    decision.
    """
    interval = timedelta(seconds=recording.poll_seconds)
    changes = _ReplayState(recording.answers, snapshot_lifetime(recording))
    polls: list[ReplayPoll] = []
    state: tuple[Mapping[MatchKey, Any], frozenset[MatchKey]] = ({}, frozenset())
    repeats = skipped = 0
    offset = timedelta()
    for at in poll_times(recording):
        before, state = state, changes.advance_to(at)
        repeats = repeats + 1 if state == before and polls else 1
        if repeats > max_repeats:
            skipped += 1
            continue
        if polls:
            offset += min(at - polls[-1].at, MAX_GAP_POLLS * interval) / speed
        polls.append(ReplayPoll(at, offset, frozenset(state[0]), state[1]))
    return ReplayTimeline(tuple(polls), skipped)


def snapshot_lifetime(recording: Recording) -> timedelta:
    """How long a feed's response remained valid without a new one in the recording."""
    return 1.5 * timedelta(seconds=recording.poll_seconds) + _feed_wait(recording)


def add_missing_polls(recording: Recording) -> Recording:
    """Add failures for polls in which a feed was not requested while others were, because the replay requests it.

    Applies to matches in play only: for others a response remains valid until the next one, and polls are rare.
    """
    interval = timedelta(seconds=recording.poll_seconds)
    polls = poll_times(recording)
    by_match: dict[MatchKey, list[RecordedSnapshot]] = {}
    for answer in recording.answers:
        by_match.setdefault((answer.feed, answer.feed_id), []).append(answer)
    added = [missing for answers in by_match.values() for missing in _missing_polls(answers, polls, interval)]
    in_order = sorted([*recording.answers, *added], key=lambda answer: (answer.at[0], answer.feed, answer.feed_id))
    return replace(recording, answers=tuple(in_order))


def _missing_polls(
    answers: Sequence[RecordedSnapshot], polls: Sequence[datetime], interval: timedelta
) -> Iterator[RecordedSnapshot]:
    responses = sorted(((moment, answer) for answer in answers for moment in answer.at), key=lambda pair: pair[0])
    for (last, answer), (following, _) in pairwise(responses):
        live = answer.live
        if live is not None and phase_of(live.status) is Phase.IN_PLAY:
            missed = [poll for poll in polls if last + 1.5 * interval < poll < following - interval / 2]
            if missed:
                yield RecordedSnapshot(answer.feed, answer.feed_id, tuple(missed), error=MISSING_POLL)


MISSING_POLL = RecordedError("FeedUnavailable", "the feed was not polled")


def poll_times(recording: Recording) -> list[datetime]:
    """Group the responses into polls, each at the time of its last feed's response.

    A feed that responds after the poll stopped waiting counts for the next poll.
    """
    interval = timedelta(seconds=recording.poll_seconds)
    window = _feed_wait(recording)
    responding: dict[datetime, set[str]] = {}
    for answer in recording.answers:
        for moment in answer.at:
            responding.setdefault(moment, set()).add(answer.feed)
    polls: list[datetime] = []
    began: datetime | None = None
    feeds: set[str] = set()
    late: datetime | None = None
    for moment, responding_feeds in sorted(responding.items()):
        # A repeated feed starts another poll.
        if began is None or feeds & responding_feeds or moment - began > max(window, NEXT_POLL * interval):
            began, feeds, late = moment, set(), None
            polls.append(moment)
        elif moment - began > window:
            late = moment
            continue
        feeds |= responding_feeds
        polls[-1] = moment
    return polls if late is None else [*polls, late]


NEXT_POLL = 0.9
"""Share of the interval after which the next poll has started."""


def _feed_wait(recording: Recording) -> timedelta:
    recorded = recording.rules.get("feed_patience_seconds")
    default = min(DEFAULT_FEED_WAIT, NEXT_POLL * timedelta(seconds=recording.poll_seconds))
    return default if recorded is None else timedelta(seconds=recorded)


@dataclass(slots=True)
class _ReplayState:
    """Decision-relevant responses up to a time."""

    answers: Sequence[RecordedSnapshot]
    lifetime: timedelta
    _next: int = 0
    _latest: dict[MatchKey, RecordedSnapshot] = field(default_factory=dict)
    _valid: dict[MatchKey, RecordedSnapshot] = field(default_factory=dict)

    def advance_to(self, at: datetime) -> tuple[Mapping[MatchKey, Any], frozenset[MatchKey]]:
        while self._next < len(self.answers) and self.answers[self._next].at[0] <= at:
            answer = self.answers[self._next]
            match = answer.feed, answer.feed_id
            self._latest[match] = answer
            if answer.live is not None:
                self._valid[match] = answer
            self._next += 1
        expired = frozenset(
            match for match, answer in self._latest.items() if answer.live is None and self._is_expired(match, at)
        )
        return {match: deciding_fields(answer) for match, answer in self._latest.items()}, expired

    def _is_expired(self, match: MatchKey, at: datetime) -> bool:
        valid = self._valid.get(match)
        return valid is not None and at - max(moment for moment in valid.at if moment <= at) > self.lifetime


def deciding_fields(answer: RecordedSnapshot) -> Any:
    """Return the parts of a response that can affect a decision; clock times and runs cannot."""
    live = answer.live
    if live is None:
        return answer.error.kind if answer.error else None
    return (live.status, live.score, live.penalties, live.goals, live.kickoff)
