"""The clip library as reviewers change it. Each action is one transaction: locked, decided, written, told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from found_footy.adapters.storage.postgres import library_rows as rows
from found_footy.adapters.storage.postgres.database import Connection, Database, fetch
from found_footy.adapters.storage.postgres.library_news import clip_news
from found_footy.adapters.storage.postgres.news import announce
from found_footy.adapters.storage.postgres.review_writing import (
    lock_action,
    lock_clips,
    tell_of_clips,
    write_outcome,
    write_standings,
)
from found_footy.domain.clips import review
from found_footy.domain.clips.review import MOST_AT_ONCE, UNDO_FOR, ActionKind, Outcome, Reviewer
from found_footy.domain.clips.states import ClipState
from found_footy.domain.clips.undo import Done, undo
from found_footy.domain.clips.values import Clip
from found_footy.domain.errors import EditRefused, NotFound


class PostgresReview:
    """Fills `ReviewStore`."""

    def __init__(self, database: Database, undo_for: timedelta = UNDO_FOR) -> None:
        self._db = database
        self._undo_for = undo_for

    # --- who looks at what

    async def claim(self, who: Reviewer, lasts: timedelta, most: int, source_id: int | None = None) -> list[Clip]:
        wanted = {"who": who.id, "now": who.now, "source": source_id}
        async with self._db.connection() as connection:
            mine = await fetch(connection, "review.held", {**wanted, "most": most})
            ids = [row["id"] for row in mine]
            busy = [row["source_id"] for row in await fetch(connection, "review.busy_sources", wanted)]
            # Neighbours of a clip that lies before somebody else could not be merged: other sources come first.
            for avoided in (busy, []) if busy else ([],):
                free = {**wanted, "most": most - len(ids), "avoided": avoided, "held": ids}
                ids += [row["id"] for row in await fetch(connection, "review.free", free)] if len(ids) < most else []
            claimed = await fetch(connection, "review.claim", {"ids": ids, "who": who.id, "until": who.now + lasts})
        return sorted((rows.clip_of(row) for row in claimed), key=lambda clip: (clip.source_id, clip.first))

    async def release(self, who: Reviewer) -> None:
        await self._db.fetch("review.release", who=who.id)

    # --- actions

    async def judge(self, kind: ActionKind, clip_ids: Sequence[int], who: Reviewer) -> Done:
        if len(clip_ids) > MOST_AT_ONCE:
            raise EditRefused(f"{len(clip_ids)} clips at once; at most {MOST_AT_ONCE}")
        async with self._db.connection() as connection:
            clips = await _all_locked(connection, clip_ids)
            outcome = review.judge(kind, [clips[id_] for id_ in clip_ids], who, self._undo_for)
            return await write_outcome(connection, outcome, clips, who)

    async def group(self, clip_id: int, with_id: int, who: Reviewer) -> Done:
        def decide(clips: list[Clip], kin: list[Clip]) -> Outcome:
            return review.group(clips[0], clips[1], kin, who, self._undo_for)

        return await self._act([clip_id, with_id], who, decide)

    async def split(self, clip_id: int, at: int, who: Reviewer) -> Done:
        def decide(clips: list[Clip], kin: list[Clip]) -> Outcome:
            return review.split(clips[0], at, kin, who, self._undo_for)

        return await self._act([clip_id], who, decide)

    async def merge(self, clip_id: int, with_id: int, who: Reviewer) -> Done:
        def decide(clips: list[Clip], kin: list[Clip]) -> Outcome:
            return review.merge(clips[0], clips[1], kin, who, self._undo_for)

        return await self._act([clip_id, with_id], who, decide)

    async def _act(
        self, ids: Sequence[int], who: Reviewer, decide: Callable[[list[Clip], list[Clip]], Outcome]
    ) -> Done:  # fmt: skip
        """What concerns groups: decided on the clips that are named, and on the others of their groups."""
        async with self._db.connection() as connection:
            await fetch(connection, "review.lock_groups", {})
            kin = [row["id"] for row in await fetch(connection, "review.kin", {"ids": list(ids)})]
            clips = await _all_locked(connection, [*ids, *kin])
            others = [clip for id_, clip in clips.items() if id_ not in ids]
            return await write_outcome(connection, decide([clips[id_] for id_ in ids], others), clips, who)

    async def undo(self, who: Reviewer, action_id: int | None = None) -> Done:
        async with self._db.connection() as connection:
            if action_id is None:
                last = await fetch(connection, "review.last_action", {"who": who.id})
                if not last:
                    raise EditRefused("there is nothing to undo")
                action_id = int(last[0]["id"])
            await fetch(connection, "review.lock_groups", {})
            found = await lock_action(connection, action_id)
            if found is None:
                raise NotFound(f"there is no action {action_id}")
            action, clips = found
            restored = undo(action, clips, who.now)
            # First the new tiles go: two that share a frame are refused at once.
            await fetch(connection, "review.unmake", {"ids": list(restored.unmade)})
            await write_standings(connection, clips, restored.standings, who.now)
            back = [id_ for id_, standing in restored.standings.items() if standing.state is ClipState.PENDING_REVIEW]
            # Whoever takes an action back wants to take another one, before somebody else is shown the clip.
            until = who.now + self._undo_for
            await fetch(connection, "review.claim", {"ids": back, "who": who.id, "until": until})
            undone = await fetch(connection, "review.note_undone", {"id": action_id, "now": who.now})
            by: dict[str, Any] = {"action": action_id, "kind": str(action.kind), "by": who.name, "undone": True}
            gone = [clips[id_] for id_ in restored.unmade]
            await announce(connection, [clip_news(clip.id, clip.source_id, clip.state, False, **by) for clip in gone])
            await tell_of_clips(connection, clips, restored.standings, **by)
        return rows.done_of(undone[0])

    # --- what happened, and what is left

    async def actions(self, since: int, most: int) -> list[Done]:
        found = await self._db.fetch("review.actions", since=since, most=most)
        return [rows.done_of(row) for row in reversed(found)]

    async def counts(self) -> Mapping[str, int]:
        found = {row["state"]: row["clips"] for row in await self._db.fetch("review.counts")}
        return {str(state): found.get(state, 0) for state in ClipState}

    async def say(self, one: int, other: int, same: bool, who: Reviewer) -> None:
        if one == other:
            raise EditRefused("a clip is always the same as itself")
        async with self._db.connection() as connection:
            clips = await _all_locked(connection, [one, other])
            for clip in clips.values():
                if not clip.live:
                    raise EditRefused(f"clip {clip.id} was split or merged")
            low, high = sorted((one, other))
            verdict = {"one": low, "other": high, "same": same, "by": who.name, "now": who.now}
            await fetch(connection, "review.say", verdict)
            news = [
                clip_news(clip.id, clip.source_id, clip.state, other=beside, same=same, by=who.name)
                for clip, beside in ((clips[low], high), (clips[high], low))
            ]
            await announce(connection, news)

    async def unsay(self, one: int, other: int, who: Reviewer) -> None:
        async with self._db.connection() as connection:
            clips = await _all_locked(connection, [one, other])
            low, high = sorted((one, other))
            if not await fetch(connection, "review.unsay", {"one": low, "other": high}):
                raise EditRefused(f"nobody has said anything of the clips {low} and {high}")
            news = [
                clip_news(clip.id, clip.source_id, clip.state, clip.live, other=beside, same=None, by=who.name)
                for clip, beside in ((clips[low], high), (clips[high], low))
            ]
            await announce(connection, news)


async def _all_locked(connection: Connection, ids: Sequence[int]) -> dict[int, Clip]:
    clips = await lock_clips(connection, ids)
    missing = sorted(set(ids) - clips.keys())
    if missing:
        raise NotFound(f"there is no clip {', '.join(map(str, missing))}")
    return clips
