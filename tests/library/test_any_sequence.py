"""Whatever reviewers do, in whatever order: the clips tile their source, and undo is the inverse of the action."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from found_footy.errors import EditRefused
from found_footy.library.models import ClipState
from found_footy.library.review import ActionKind, ActionRecord, Reviewer
from found_footy.storage.postgres import Database
from tests.support.library_rows import NOW, UNDO_FOR, LibraryStores

FRAMES = 60
JUDGEMENTS = (ActionKind.APPROVE, ActionKind.SKIP, ActionKind.ARCHIVE)
Rows = dict[int, dict[str, Any]]
PASSING = ("claimed_by", "claimed_until", "changed_at")
"""Columns that say who looks, not what is."""

chosen = st.integers(0, 99)
people = st.sampled_from(["window-1", "window-2"])


OPEN_EDITS = "kind in ('merge', 'split', 'move_cut') and undone_at is null and settled_at is null"


class ReviewMachine(RuleBasedStateMachine):
    """One source in a real database. Time hardly passes unless a rule says so."""

    def __init__(self, runner: asyncio.Runner, stores: LibraryStores) -> None:
        super().__init__()
        self._runner, self.stores = runner, stores
        self.now = NOW
        self.taken: list[tuple[ActionRecord, Rows]] = []
        """Actions that nobody has undone, the last one last, with the rows of their clips before them."""
        self.source = self._run(stores.ready(FRAMES, (20, 35, 50)))[0].source_id

    @rule(who=people, kind=st.sampled_from(JUDGEMENTS), picks=st.lists(chosen, min_size=1, max_size=3, unique=True))
    def judge(self, who: str, kind: ActionKind, picks: list[int]) -> None:
        ids = list(dict.fromkeys(self._pick(pick) for pick in picks))
        self._act(self.stores.review.decide(kind, ids, self._who(who)))

    @rule(who=people, pick=chosen, other=chosen)
    def group(self, who: str, pick: int, other: int) -> None:
        self._act(self.stores.review.group(self._pick(pick), self._pick(other), self._who(who)))

    @rule(who=people, pick=chosen, at=st.integers(-1, FRAMES + 1))
    def split_somewhere(self, who: str, pick: int, at: int) -> None:
        self._act(self.stores.review.split(self._pick(pick), at, self._who(who)))

    @rule(who=people, at=st.integers(0, FRAMES))
    def split_the_clip_at(self, who: str, at: int) -> None:
        clip = next((row for row in self.tiles if row["first_frame"] < at < row["end_frame"]), None)
        if clip is not None:
            self._act(self.stores.review.split(clip["id"], at, self._who(who)))

    @rule(who=people, pick=chosen)
    def merge_with_the_next(self, who: str, pick: int) -> None:
        number = pick % len(self.tiles)
        pair = self.tiles[number]["id"], self.tiles[(number + 1) % len(self.tiles)]["id"]
        self._act(self.stores.review.merge(*pair, self._who(who)))

    @rule(who=people, pick=chosen, at=st.integers(1, FRAMES - 1))
    def move_the_cut_to_the_next(self, who: str, pick: int, at: int) -> None:
        number = pick % len(self.tiles)
        pair = self.tiles[number]["id"], self.tiles[(number + 1) % len(self.tiles)]["id"]
        self._act(self.stores.review.move_cut(*pair, at, self._who(who)))

    @precondition(lambda self: self.taken)
    @rule(who=people)
    def undo_the_last_of_all(self, who: str) -> None:
        in_time = self.now < self.taken[-1][0].settles_at
        assert self._undo(who, -1) is in_time, "the last action can be undone while there is time"

    @precondition(lambda self: self.taken)
    @rule(who=people, pick=chosen)
    def undo_any(self, who: str, pick: int) -> None:
        """Also one that others were built upon, which then is refused."""
        self._undo(who, pick % len(self.taken))

    @rule(seconds=st.sampled_from([1, 20, 61]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def edits_settle(self) -> None:
        due = self._run(self.stores.rows("library_actions", where=OPEN_EDITS))
        settled = self._run(self.stores.review.settle_due_edits(self.now, 99))
        assert settled == sum(row["settles_at"] <= self.now for row in due)

    @rule()
    def sheets_are_made(self) -> None:
        """Clips that were made by an edit come back to review."""
        for clip in self._run(self.stores.library.clips_of(self.source)):
            if clip.live and clip.state is ClipState.SPLICED and (clip.settles_at or self.now) <= self.now:
                self._run(self.stores.prepare(clip, self.now))

    @rule()
    def the_library_takes_what_is_approved(self) -> None:
        stages = {ClipState.REVIEW_APPROVED: "keyframes", ClipState.KEYFRAMED: "embeddings"}
        for clip in self._run(self.stores.library.clips_of(self.source)):
            if clip.live and clip.state in stages and (clip.settles_at or self.now) <= self.now:
                self._run(self.stores.run(stages[clip.state], clip.id, self.now))

    @invariant()
    def the_clips_tile_the_source(self) -> None:
        self._run(self.stores.tiles(self.source))

    @invariant()
    def whoever_is_in_a_group_points_at_its_root(self) -> None:
        rows = self.rows()
        for row in rows.values():
            if row["live"] and row["grouped_with"] is not None:
                assert row["grouped_with"] != row["id"]
                assert rows[row["grouped_with"]]["grouped_with"] is None

    @property
    def tiles(self) -> list[dict[str, Any]]:
        return sorted((row for row in self.rows().values() if row["live"]), key=lambda row: row["first_frame"])

    def rows(self) -> Rows:
        of_it = f"source_id = {self.source}"
        found = self._run(self.stores.rows("library_clips", without=PASSING, where=of_it))
        return {row["id"]: row for row in found}

    def _pick(self, number: int) -> int:
        """Any clip, also one that is no tile any more."""
        ids = list(self.rows())
        return ids[number % len(ids)]

    def _who(self, window: str) -> Reviewer:
        return Reviewer(window, window, self.now)

    def _act(self, action: Awaitable[ActionRecord]) -> None:
        before = self.rows()
        done = self._tried(action, before)
        self.now += timedelta(microseconds=1)  # a clip's last action is known by its time
        if done is not None:
            self.taken.append((done, {id_: before[id_] for id_ in done.before}))

    def _undo(self, who: str, number: int) -> bool:
        done, before = self.taken[number]
        if self._tried(self.stores.review.undo(self._who(who), done.id), self.rows()) is None:
            return False
        del self.taken[number]
        self._run(self.stores.review.release(self._who(who)))  # whoever undoes is shown the clips again, and goes away
        now = self.rows()
        assert {id_: now[id_] for id_ in before} == before
        assert not set(done.made) & now.keys()
        return True

    def _tried(self, action: Awaitable[ActionRecord], before: Rows) -> ActionRecord | None:
        """None where it was refused: then nothing has changed."""
        try:
            done: ActionRecord = self._run(action)
        except EditRefused:
            assert self.rows() == before
            return None
        return done

    def _run(self, doing: Awaitable[Any]) -> Any:
        async def awaited() -> Any:
            return await doing

        return self._runner.run(awaited())


def test_any_sequence_of_actions_keeps_the_tiling_and_undo_is_the_inverse(database_url: str) -> None:
    assert timedelta(seconds=61) > UNDO_FOR
    with asyncio.Runner() as runner:
        database = Database(database_url)
        runner.run(database.open())
        try:
            run_state_machine_as_test(
                lambda: ReviewMachine(runner, LibraryStores(database)),  # type: ignore[arg-type]
                settings=settings(
                    max_examples=12,
                    stateful_step_count=20,
                    deadline=None,
                    database=None,
                    # A sequence that fails is shown as it is: to look for a shorter one takes many minutes.
                    phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            runner.run(database.close())
