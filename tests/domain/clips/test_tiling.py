"""Whatever is split, merged and undone, the clips of a source tile it, and undo is the inverse."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from found_footy.domain.clips.review import ActionKind, Outcome, Reviewer, Standing, judge, merge, split
from found_footy.domain.clips.states import ClipState
from found_footy.domain.clips.tiling import fault_in, tiles_of
from found_footy.domain.clips.undo import Done, settle, undo
from found_footy.domain.clips.values import Clip
from found_footy.domain.errors import EditRefused

NOW = datetime(2026, 11, 16, 20, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("frames", "cuts", "expected"),
    [
        (10, [], [(0, 10)]),
        (10, [4], [(0, 4), (4, 10)]),
        (10, [7, 4, 4], [(0, 4), (4, 7), (7, 10)]),
        (10, [0, 10, -3, 12], [(0, 10)]),
        (1, [1], [(0, 1)]),
    ],
)
def test_cuts_make_tiles(frames: int, cuts: list[int], expected: list[tuple[int, int]]) -> None:
    assert tiles_of(frames, cuts) == expected


def tile(id_: int, first: int, end: int, live: bool = True) -> Clip:
    return Clip(id_, 1, first, end, ClipState.PENDING_REVIEW, live)


@pytest.mark.parametrize(
    ("clips", "fault"),
    [
        ([], None),
        ([tile(1, 0, 10)], None),
        ([tile(2, 4, 10), tile(1, 0, 4)], None),
        ([tile(1, 0, 10, live=False), tile(2, 0, 4), tile(3, 4, 10)], None),
        ([tile(1, 0, 4), tile(2, 5, 10)], "frames are missing before frame 5"),
        ([tile(1, 0, 5), tile(2, 4, 10)], "clips overlap before frame 4"),
        ([tile(1, 0, 9)], "the last clip ends with frame 8 of 10"),
        ([tile(1, 1, 10)], "frames are missing before frame 1"),
        ([tile(1, 0, 10, live=False)], "no clip is a tile of it"),
    ],
)
def test_a_fault_in_a_tiling_is_named(clips: list[Clip], fault: str | None) -> None:
    assert fault_in(10, clips) == fault


class Cutting(RuleBasedStateMachine):
    """The rows of one source, changed as a store changes them."""

    actions = Bundle("actions")

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.clips: dict[int, Clip] = {}
        self.frames = 0
        self.journal: dict[int, tuple[Done, dict[int, Clip]]] = {}
        """With the rows from before."""

    @initialize(frames=st.integers(1, 60), cuts=st.lists(st.integers(-2, 62), max_size=5))
    def lay(self, frames: int, cuts: list[int]) -> None:
        self.frames = frames
        for number, (first, end) in enumerate(tiles_of(frames, cuts), start=1):
            self.clips[number] = Clip(number, 1, first, end, ClipState.PENDING_REVIEW)

    @property
    def who(self) -> Reviewer:
        return Reviewer("window", "Ann", self.now)

    def chosen(self, place: int) -> Clip:
        live = sorted((clip for clip in self.clips.values() if clip.live), key=lambda clip: clip.first)
        return live[place % len(live)]

    def write(self, standings: dict[int, Standing]) -> None:
        for id_, each in standings.items():
            self.clips[id_] = replace(
                self.clips[id_],
                state=each.state, live=each.live, grouped_with=each.grouped_with, settles_at=each.settles_at,
                reviewed_by=each.reviewed_by, reviewed_at=each.reviewed_at,
            )  # fmt: skip

    def act(self, outcome: Outcome) -> None:
        before = dict(self.clips)
        number = max(self.clips) + 1
        self.write(dict(outcome.after))
        for place, stretch in enumerate(outcome.made):
            self.clips[number + place] = Clip(
                number + place, 1, stretch.first, stretch.end, ClipState.EDIT_PENDING
            )  # fmt: skip
        made = tuple(range(number, number + len(outcome.made)))
        id_ = len(self.journal) + 1
        action = Done(id_, outcome.kind, "window", self.now, outcome.settles_at, outcome.before, outcome.after, made)
        self.journal[id_] = (action, before)

    @rule(place=st.integers(0, 20), share=st.floats(0, 1))
    def split(self, place: int, share: float) -> None:
        clip = self.chosen(place)
        try:
            self.act(split(clip, clip.first + round(share * clip.frames), self.who))
        except EditRefused:
            return

    @rule(place=st.integers(0, 20), other=st.integers(0, 20))
    def merge(self, place: int, other: int) -> None:
        try:
            self.act(merge(self.chosen(place), self.chosen(other), self.who))
        except EditRefused:
            return

    @rule(place=st.integers(0, 20), kind=st.sampled_from([ActionKind.APPROVE, ActionKind.SKIP, ActionKind.ARCHIVE]))
    def judge(self, place: int, kind: ActionKind) -> None:
        try:
            self.act(judge(kind, [self.chosen(place)], self.who))
        except EditRefused:
            return

    @rule(seconds=st.integers(0, 40))
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def undo_the_last(self) -> None:
        for id_ in sorted(self.journal, reverse=True):
            action, before = self.journal[id_]
            if action.undone_at is None:
                break
        else:
            return
        try:
            restored = undo(action, self.clips, self.now)
        except EditRefused:
            assert self.now >= action.settles_at or action.settled_at, "the last one can be undone in its time"
            return
        self.write(dict(restored.standings))
        for unmade in restored.unmade:
            del self.clips[unmade]
        self.journal[id_] = (replace(action, undone_at=self.now), before)
        touched = {*action.before, *action.made}
        assert {k: v for k, v in self.clips.items() if k in touched} == {
            k: v for k, v in before.items() if k in touched
        }  # fmt: skip

    @rule()
    def settle_what_is_due(self) -> None:
        for id_, (action, before) in self.journal.items():
            if action.undone_at is None and action.settled_at is None and self.now >= action.settles_at:
                self.write(dict(settle(action, self.clips)))
                self.journal[id_] = (replace(action, settled_at=self.now), before)

    @invariant()
    def the_clips_tile_the_source(self) -> None:
        if self.frames:
            assert fault_in(self.frames, list(self.clips.values())) is None


TestCutting = Cutting.TestCase
TestCutting.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
