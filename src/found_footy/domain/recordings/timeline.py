"""When a recording is played: which of its polls, in what order, and when each of its moments comes.

A feed says the same until it says something else, so of many polls in a row that say the same only the first few are
played. They decide everything: what becomes of a goal is settled by the polls right after something has changed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from found_footy.domain.fixtures.statuses import Phase, phase_of
from found_footy.domain.recordings.recording import RecordedAnswer, RecordedError, Recording

Heard = tuple[str, int]
"""A feed, and its id of a match."""

LONGEST_GAP_POLLS = 2
"""A gap between two polls is played as no longer than so many poll intervals."""
PATIENCE = timedelta(seconds=8)
"""How long a poll waits for its feeds, where the recording does not tell."""


@dataclass(frozen=True, slots=True)
class PlayedPoll:
    """One poll of everything, as it was then and as it is played."""

    at: datetime
    """When the last of its feeds answered, then."""
    offset: timedelta
    """From the beginning of the replay, if nothing takes longer than it should."""
    lists: frozenset[Heard]
    """The matches that were known to be listed then."""
    silent: frozenset[Heard] = frozenset()
    """Those whose last good word was so old then that it did not count any more."""


@dataclass(frozen=True, slots=True)
class Timeline:
    polls: tuple[PlayedPoll, ...]
    skipped: int = 0
    """Polls that said what the ones before them had said."""

    def shown(self, moment: datetime, start: datetime) -> datetime:
        """When a moment of then comes in a replay that began at `start`.

        Between two polls it moves with them; before the first and after the last one time runs as it always does.
        """
        first, last = self.polls[0], self.polls[-1]
        if moment <= first.at:
            return start + first.offset - (first.at - moment)
        if moment >= last.at:
            return start + last.offset + (moment - last.at)
        after = bisect_right(self.polls, moment, key=lambda poll: poll.at)
        one, other = self.polls[after - 1], self.polls[after]
        share = (moment - one.at) / (other.at - one.at)
        return start + one.offset + share * (other.offset - one.offset)


def timeline_of(recording: Recording, *, in_a_row: int, speed: float) -> Timeline:
    """`in_a_row` polls that say the same are played at most; then there is nothing left that they could decide."""
    interval = timedelta(seconds=recording.poll_seconds)
    changes = _Changes(recording.answers, word_counts(recording))
    polls: list[PlayedPoll] = []
    state: tuple[Mapping[Heard, Any], frozenset[Heard]] = ({}, frozenset())
    alike = skipped = 0
    offset = timedelta()
    for at in poll_times(recording):
        before, state = state, changes.until(at)
        alike = alike + 1 if state == before and polls else 1
        if alike > in_a_row:
            skipped += 1
            continue
        if polls:
            offset += min(at - polls[-1].at, LONGEST_GAP_POLLS * interval) / speed
        polls.append(PlayedPoll(at, offset, frozenset(state[0]), state[1]))
    return Timeline(tuple(polls), skipped)


def word_counts(recording: Recording) -> timedelta:
    """How long what a feed had said of a match counted then, where it did not say it again."""
    return 1.5 * timedelta(seconds=recording.poll_seconds) + _patience(recording)


def with_silences(recording: Recording) -> Recording:
    """A feed that was not asked, while others were, said nothing: in a replay, which asks it, it must fail.

    Only of matches under way: for the others a word stands until the next one, and nobody asks often.
    """
    interval = timedelta(seconds=recording.poll_seconds)
    polls = poll_times(recording)
    told: dict[Heard, list[RecordedAnswer]] = {}
    for answer in recording.answers:
        told.setdefault((answer.feed, answer.feed_id), []).append(answer)
    added = [silence for answers in told.values() for silence in _silences(answers, polls, interval)]
    in_order = sorted([*recording.answers, *added], key=lambda answer: (answer.at[0], answer.feed, answer.feed_id))
    return replace(recording, answers=tuple(in_order))


def _silences(
    answers: Sequence[RecordedAnswer], polls: Sequence[datetime], interval: timedelta
) -> Iterator[RecordedAnswer]:
    heard = sorted(((moment, answer) for answer in answers for moment in answer.at), key=lambda pair: pair[0])
    for (last, answer), (following, _) in pairwise(heard):
        live = answer.live
        if live is not None and phase_of(live.status) is Phase.IN_PLAY:
            missed = [poll for poll in polls if last + 1.5 * interval < poll < following - interval / 2]
            if missed:
                yield RecordedAnswer(answer.feed, answer.feed_id, tuple(missed), error=NOT_HEARD)


NOT_HEARD = RecordedError("FeedUnavailable", "it was not heard then")


def poll_times(recording: Recording) -> list[datetime]:
    """The feeds of one poll are heard one after the other; their answers count together, as of the last of them.

    Who answered when the poll did not wait any longer was heard by the next one.
    """
    interval = timedelta(seconds=recording.poll_seconds)
    window = _patience(recording)
    heard: dict[datetime, set[str]] = {}
    for answer in recording.answers:
        for moment in answer.at:
            heard.setdefault(moment, set()).add(answer.feed)
    polls: list[datetime] = []
    began: datetime | None = None
    feeds: set[str] = set()
    late: datetime | None = None
    for moment, spoke in sorted(heard.items()):
        # A feed that is heard again is heard in another poll.
        if began is None or feeds & spoke or moment - began > max(window, NEXT_POLL * interval):
            began, feeds, late = moment, set(), None
            polls.append(moment)
        elif moment - began > window:
            late = moment
            continue
        feeds |= spoke
        polls[-1] = moment
    return polls if late is None else [*polls, late]


NEXT_POLL = 0.9
"""After so much of an interval the next poll has begun."""


def _patience(recording: Recording) -> timedelta:
    told = recording.rules.get("feed_patience_seconds")
    usual = min(PATIENCE, NEXT_POLL * timedelta(seconds=recording.poll_seconds))
    return usual if told is None else timedelta(seconds=told)


@dataclass(slots=True)
class _Changes:
    """What the feeds have said up to a moment, as far as it decides anything."""

    answers: Sequence[RecordedAnswer]
    counts: timedelta
    _next: int = 0
    _said: dict[Heard, RecordedAnswer] = field(default_factory=dict)
    _good: dict[Heard, RecordedAnswer] = field(default_factory=dict)

    def until(self, at: datetime) -> tuple[Mapping[Heard, Any], frozenset[Heard]]:
        while self._next < len(self.answers) and self.answers[self._next].at[0] <= at:
            answer = self.answers[self._next]
            match = answer.feed, answer.feed_id
            self._said[match] = answer
            if answer.live is not None:
                self._good[match] = answer
            self._next += 1
        silent = frozenset(
            match for match, answer in self._said.items() if answer.live is None and self._old(match, at)
        )
        return {match: decisive(answer) for match, answer in self._said.items()}, silent

    def _old(self, match: Heard, at: datetime) -> bool:
        good = self._good.get(match)
        return good is not None and at - max(moment for moment in good.at if moment <= at) > self.counts


def decisive(answer: RecordedAnswer) -> Any:
    """What of an answer can change what becomes of a match: not its clock, nor its runs."""
    live = answer.live
    if live is None:
        return answer.error.kind if answer.error else None
    return (live.status, live.score, live.penalties, live.goals, live.kickoff)
