"""Whatever is split, merged and undone, the clips of a source tile it, and undo is the inverse."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from found_footy.errors import EditRefused
from found_footy.library.models import ClipState, LibraryClip
from found_footy.library.review import (
    ActionKind,
    ActionRecord,
    ReviewChange,
    Reviewer,
    ReviewFields,
    decide,
    group,
    group_id,
    merge,
    settle,
    split,
    tiles_between_cuts,
    undo,
)
from tests.support.library_rows import tiling_error

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
    assert tiles_between_cuts(frames, cuts) == expected


def tile(id_: int, first: int, end: int, live: bool = True) -> LibraryClip:
    return LibraryClip(id_, 1, first, end, ClipState.PENDING_REVIEW, live)


@pytest.mark.parametrize(
    ("clips", "fault"),
    [
        ([], None),
        ([tile(1, 0, 10)], None),
        ([tile(2, 4, 10), tile(1, 0, 4)], None),
        ([tile(1, 0, 10, live=False), tile(2, 0, 4), tile(3, 4, 10)], None),
        ([tile(1, 0, 4), tile(2, 5, 10)], "gap before frame 5"),
        ([tile(1, 0, 5), tile(2, 4, 10)], "overlap before frame 4"),
        ([tile(1, 0, 9)], "the last clip ends with frame 8 of 10"),
        ([tile(1, 1, 10)], "gap before frame 1"),
        ([tile(1, 0, 10, live=False)], "no live clips"),
    ],
)
def test_tiling_errors_are_located(clips: list[LibraryClip], fault: str | None) -> None:
    assert tiling_error(10, clips) == fault


class TilingMachine(RuleBasedStateMachine):
    """The rows of one source, changed as a store changes them."""

    actions = Bundle("actions")

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.clips: dict[int, LibraryClip] = {}
        self.frames = 0
        self.journal: dict[int, tuple[ActionRecord, dict[int, LibraryClip]]] = {}
        """With the rows from before."""

    @initialize(frames=st.integers(1, 60), cuts=st.lists(st.integers(-2, 62), max_size=5))
    def lay(self, frames: int, cuts: list[int]) -> None:
        self.frames = frames
        for number, (first, end) in enumerate(tiles_between_cuts(frames, cuts), start=1):
            self.clips[number] = LibraryClip(number, 1, first, end, ClipState.PENDING_REVIEW)

    @property
    def who(self) -> Reviewer:
        return Reviewer("window", "Ann", self.now)

    def chosen(self, place: int) -> LibraryClip:
        live = sorted((clip for clip in self.clips.values() if clip.live), key=lambda clip: clip.first)
        return live[place % len(live)]

    def kin(self, *named: LibraryClip) -> list[LibraryClip]:
        """The others of their groups, as a store finds them."""
        roots, ids = {group_id(clip) for clip in named}, {clip.id for clip in named}
        return [clip for clip in self.clips.values() if clip.live and group_id(clip) in roots and clip.id not in ids]

    def write(self, standings: dict[int, ReviewFields]) -> None:
        for id_, each in standings.items():
            self.clips[id_] = replace(
                self.clips[id_],
                state=each.state, live=each.live, grouped_with=each.grouped_with, settles_at=each.settles_at,
                reviewed_by=each.reviewed_by, reviewed_at=each.reviewed_at,
            )  # fmt: skip

    def act(self, outcome: ReviewChange, kin: list[LibraryClip]) -> None:
        before = dict(self.clips)
        number = max(self.clips) + 1
        self.write(dict(outcome.after))
        for place, stretch in enumerate(outcome.made):
            self.clips[number + place] = LibraryClip(
                number + place, 1, stretch.first, stretch.end, ClipState.EDIT_PENDING, True, stretch.grouped_with
            )
        made = tuple(range(number, number + len(outcome.made)))
        id_ = len(self.journal) + 1
        action = ActionRecord(
            id_, outcome.kind, "window", self.now, outcome.settles_at, outcome.before, outcome.after, made
        )
        self.journal[id_] = (action, before)
        if kin and outcome.made:
            together = {group_id(self.clips[id_]) for id_ in (*made, *(clip.id for clip in kin))}
            assert len(together) == 1, "what was made is in the groups of what it was made of"

    @rule(place=st.integers(0, 20), share=st.floats(0, 1))
    def split(self, place: int, share: float) -> None:
        clip = self.chosen(place)
        try:
            kin = self.kin(clip)
            self.act(split(clip, clip.first + round(share * clip.frames), kin, self.who), kin)
        except EditRefused:
            return

    @rule(place=st.integers(0, 20), other=st.integers(0, 20))
    def merge(self, place: int, other: int) -> None:
        one, two = self.chosen(place), self.chosen(other)
        try:
            self.act(merge(one, two, self.kin(one, two), self.who), self.kin(one, two))
        except EditRefused:
            return

    @rule(place=st.integers(0, 20), other=st.integers(0, 20))
    def group(self, place: int, other: int) -> None:
        one, two = self.chosen(place), self.chosen(other)
        try:
            kin = self.kin(one, two)
            self.act(group(one, two, kin, self.who), kin)
        except EditRefused:
            return
        assert len({group_id(self.clips[clip.id]) for clip in (one, two, *kin)}) == 1

    @rule(place=st.integers(0, 20), kind=st.sampled_from([ActionKind.APPROVE, ActionKind.SKIP, ActionKind.ARCHIVE]))
    def decide(self, place: int, kind: ActionKind) -> None:
        try:
            self.act(decide(kind, [self.chosen(place)], self.who), [])
        except EditRefused:
            return

    @rule(seconds=st.integers(0, 40))
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(back=st.integers(0, 5))
    def undo(self, back: int) -> None:
        """The last one, or one that others may be built upon, which then is refused."""
        open_ = [id_ for id_, (action, _) in self.journal.items() if action.undone_at is None]
        if back >= len(open_):
            return
        id_ = open_[-1 - back]
        action, before = self.journal[id_]
        try:
            restored = undo(action, self.clips, self.now)
        except EditRefused:
            in_time = self.now < action.settles_at and action.settled_at is None
            assert back or not in_time, "the last one can be undone in its time"
            return
        self.write(dict(restored.fields))
        for unmade in restored.deleted:
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

    @rule()
    def sheets_are_made(self) -> None:
        for id_, clip in self.clips.items():
            if clip.live and clip.state is ClipState.SPLICED and (clip.settles_at or self.now) <= self.now:
                self.clips[id_] = replace(clip, state=ClipState.PENDING_REVIEW)

    @invariant()
    def whoever_is_in_a_group_points_at_its_root(self) -> None:
        for clip in self.clips.values():
            if clip.live and clip.grouped_with is not None:
                assert clip.grouped_with != clip.id
                assert self.clips[clip.grouped_with].grouped_with is None

    @invariant()
    def the_clips_tile_the_source(self) -> None:
        if self.frames:
            assert tiling_error(self.frames, list(self.clips.values())) is None


TestCutting = TilingMachine.TestCase
TestCutting.settings = settings(stateful_step_count=30)
