"""PostgreSQL store of reviews. Each action is one transaction: lock, decide, write, publish.

Locks are always taken in this order: groups, sources by id, clips by id, action.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.errors import EditRefused, FootyError, NotFound
from found_footy.library import review
from found_footy.library.models import ClipState, LibraryClip, RemovalResult, SourceVideo, master_key
from found_footy.library.review import (
    EDITABLE,
    MAX_CLIPS_PER_ACTION,
    UNDO_WINDOW,
    ActionKind,
    ActionRecord,
    ActionSummary,
    LikelyDuplicate,
    ReviewChange,
    Reviewer,
    ReviewFields,
)
from found_footy.library.store import SQL as LIBRARY_SQL
from found_footy.library.store import clip_from_row, clip_message, source_from_row, source_message
from found_footy.notifications.outbox import append_outbox
from found_footy.storage.postgres import Connection, Database, fetch, load_queries

SQL = load_queries(__package__, "review_store")

log = logging.getLogger(__name__)


class ReviewStore:
    """Actions raise EditRefused and NotFound; all methods raise StoreUnavailable."""

    def __init__(self, database: Database, undo_window: timedelta = UNDO_WINDOW) -> None:
        self._db = database
        self._undo_window = undo_window

    # --- Claims.

    async def claim(
        self, reviewer: Reviewer, duration: timedelta, limit: int, source_id: int | None = None
    ) -> list[LibraryClip]:
        """Next clips to review, by source and frame: those this reviewer has claimed, then others up to `limit`. No
        other reviewer gets them while the claim lasts.
        """
        params = {"who": reviewer.id, "now": reviewer.now, "source": source_id}
        async with self._db.connection() as connection:
            held = await fetch(connection, SQL["held"], {**params, "limit": limit})
            ids = [row["id"] for row in held]
            busy = [row["source_id"] for row in await fetch(connection, SQL["busy_sources"], params)]
            # A neighbour of a clip claimed by another reviewer could not be merged, so other sources come first.
            for avoided in (busy, []) if busy else ([],):
                if len(ids) < limit:
                    free = {**params, "limit": limit - len(ids), "avoided": avoided, "held": ids}
                    ids += [row["id"] for row in await fetch(connection, SQL["free"], free)]
            claimed = await fetch(
                connection, SQL["claim"], {"ids": ids, "who": reviewer.id, "until": reviewer.now + duration}
            )
        return sorted((clip_from_row(row) for row in claimed), key=lambda clip: (clip.source_id, clip.first))

    async def release(self, reviewer: Reviewer) -> None:
        await self._db.fetch(SQL["release"], who=reviewer.id)

    # --- Actions.

    async def decide(self, kind: ActionKind, clip_ids: Sequence[int], reviewer: Reviewer) -> ActionRecord:
        """Approve, skip or archive clips."""
        if len(clip_ids) > MAX_CLIPS_PER_ACTION:
            raise EditRefused(f"{len(clip_ids)} clips given; the maximum is {MAX_CLIPS_PER_ACTION}")
        async with self._db.connection() as connection:
            clips = await _lock_all(connection, clip_ids)
            change = review.decide(kind, [clips[id_] for id_ in clip_ids], reviewer, self._undo_window)
            return await _write_change(connection, change, clips, reviewer)

    async def group(self, clip_id: int, with_id: int, reviewer: Reviewer) -> ActionRecord:
        def decide(clips: list[LibraryClip], members: list[LibraryClip]) -> ReviewChange:
            return review.group(clips[0], clips[1], members, reviewer, self._undo_window)

        return await self._act([clip_id, with_id], reviewer, decide)

    async def split(self, clip_id: int, at: int, reviewer: Reviewer) -> ActionRecord:
        def decide(clips: list[LibraryClip], members: list[LibraryClip]) -> ReviewChange:
            return review.split(clips[0], at, members, reviewer, self._undo_window)

        return await self._act([clip_id], reviewer, decide)

    async def merge(self, clip_id: int, with_id: int, reviewer: Reviewer) -> ActionRecord:
        def decide(clips: list[LibraryClip], members: list[LibraryClip]) -> ReviewChange:
            return review.merge(clips[0], clips[1], members, reviewer, self._undo_window)

        return await self._act([clip_id, with_id], reviewer, decide)

    async def move_cut(self, clip_id: int, with_id: int, at: int, reviewer: Reviewer) -> ActionRecord:
        """Move the cut between two adjacent clips to frame `at` of their source."""

        def decide(clips: list[LibraryClip], members: list[LibraryClip]) -> ReviewChange:
            return review.move_cut(clips[0], clips[1], at, members, reviewer, self._undo_window)

        return await self._act([clip_id, with_id], reviewer, decide)

    async def _act(
        self,
        ids: Sequence[int],
        reviewer: Reviewer,
        decide: Callable[[list[LibraryClip], list[LibraryClip]], ReviewChange],
    ) -> ActionRecord:
        """Run an action. `decide` receives the named clips and the other members of their groups."""
        async with self._db.connection() as connection:
            await fetch(connection, SQL["lock_groups"], {})
            members = [row["id"] for row in await fetch(connection, SQL["group_members"], {"ids": list(ids)})]
            clips = await _lock_all(connection, [*ids, *members])
            others = [clip for id_, clip in clips.items() if id_ not in ids]
            change = decide([clips[id_] for id_ in ids], others)
            return await _write_change(connection, change, clips, reviewer)

    async def undo(self, reviewer: Reviewer, action_id: int | None = None) -> ActionRecord:
        """Undo an action; by default this reviewer's last action that is neither undone nor settled."""
        async with self._db.connection() as connection:
            if action_id is None:
                last = await fetch(connection, SQL["last_action"], {"who": reviewer.id})
                if not last:
                    raise EditRefused("nothing to undo")
                action_id = int(last[0]["id"])
            await fetch(connection, SQL["lock_groups"], {})
            found = await _lock_action(connection, action_id)
            if found is None:
                raise NotFound(f"action {action_id} not found")
            action, clips = found
            change = review.undo(action, clips, reviewer.now)
            # Delete the new tiles first: a constraint rejects two tiles that share a frame.
            await fetch(connection, SQL["delete_clips"], {"ids": list(change.deleted)})
            await _write_fields(connection, clips, change.fields, reviewer.now)
            pending = [id_ for id_, each in change.fields.items() if each.state is ClipState.PENDING_REVIEW]
            # Claim the clips again, so that no other reviewer gets them meanwhile.
            until = reviewer.now + self._undo_window
            await fetch(connection, SQL["claim"], {"ids": pending, "who": reviewer.id, "until": until})
            undone = await fetch(connection, SQL["mark_undone"], {"id": action_id, "now": reviewer.now})
            about: dict[str, Any] = {"action": action_id, "kind": str(action.kind), "by": reviewer.name, "undone": True}
            deleted = [clips[id_] for id_ in change.deleted]
            await append_outbox(
                connection, [clip_message(clip.id, clip.source_id, clip.state, False, **about) for clip in deleted]
            )
            await _publish_clip_changes(connection, clips, change.fields, **about)
        return _action_from_row(undone[0])

    async def settle_due_edits(self, now: datetime, limit: int) -> int:
        """Settle splits and merges whose undo window has passed; return their number. A failure does not hold up the
        others.
        """
        settled = 0
        for row in await self._db.fetch(SQL["due_edits"], now=now, limit=limit):
            try:
                settled += await self.settle_edit(row["id"], now)
            except FootyError as error:
                if error.retryable:
                    raise
                log.error(str(error), extra={"action": "edit_not_settled", "edit": row["id"], "error": error.kind})
        return settled

    async def settle_edit(self, action_id: int, now: datetime) -> bool:
        """Settle one edit; return False if it is gone, undone, settled, or still within its undo window."""
        async with self._db.connection() as connection:
            found = await _lock_action(connection, action_id)
            if found is None:
                return False
            action, clips = found
            if action.undone_at or action.settled_at or now < action.settles_at:
                return False
            fields = review.settle(action, clips)
            await _write_fields(connection, clips, fields, now)
            await _copy_verdicts(connection, action, clips)
            await fetch(connection, SQL["mark_settled"], {"id": action_id, "now": now})
            await _publish_clip_changes(connection, clips, fields)
        return True

    async def remove_source(self, source_id: int, reviewer: Reviewer) -> RemovalResult:
        """Archive all clips of a source, so that the clean-up deletes their files and the master; a source without
        clips is deleted at once. Idempotent.
        """
        params = {"id": source_id}
        async with self._db.connection() as connection:
            if not await fetch(connection, LIBRARY_SQL["lock_source"], params):
                raise NotFound(f"source {source_id} not found")
            source = source_from_row((await fetch(connection, LIBRARY_SQL["source"], params))[0])
            rows = await fetch(connection, LIBRARY_SQL["lock_clips_of"], params)
            clips = {row["id"]: clip_from_row(row) for row in rows}
            change = review.archive_source(source, list(clips.values()), reviewer, self._undo_window)
            if change is not None:
                action = await _write_change(connection, change, clips, reviewer)
                return RemovalResult(source_id, False, len(change.after), action.id)
            if not clips:
                await _delete_source(connection, source, reviewer.now)
            return RemovalResult(source_id, not clips)

    # --- Verdicts on duplicates.

    async def set_verdict(self, clip_id: int, other_id: int, same: bool, reviewer: Reviewer) -> None:
        """Set whether two clips show the same moment, overriding their fingerprints."""
        if clip_id == other_id:
            raise EditRefused("a clip cannot be compared with itself")
        async with self._db.connection() as connection:
            clips = await _lock_all(connection, [clip_id, other_id])
            for clip in clips.values():
                if not clip.live:
                    raise EditRefused(f"clip {clip.id} was split or merged")
            low, high = sorted((clip_id, other_id))
            params = {"one": low, "other": high, "same": same, "by": reviewer.name, "now": reviewer.now}
            await fetch(connection, SQL["set_verdict"], params)
            await _publish_verdict(connection, clips[low], clips[high], same, reviewer)

    async def clear_verdict(self, clip_id: int, other_id: int, reviewer: Reviewer) -> None:
        """Remove a verdict, so that the fingerprints decide."""
        async with self._db.connection() as connection:
            clips = await _lock_all(connection, [clip_id, other_id])
            low, high = sorted((clip_id, other_id))
            if not await fetch(connection, SQL["clear_verdict"], {"one": low, "other": high}):
                raise EditRefused(f"clips {low} and {high} have no verdict")
            await _publish_verdict(connection, clips[low], clips[high], None, reviewer)

    # --- Reads for the review page.

    async def neighbours(self, clip_ids: Sequence[int], each_side: int) -> list[LibraryClip]:
        """Live clips around the given ones, by source and frame; also clips that were split or merged into one of them
        and can still be restored.
        """
        if not clip_ids:
            return []
        params = {"ids": list(clip_ids), "each_side": each_side, "editable": sorted(EDITABLE)}
        return [clip_from_row(row) for row in await self._db.fetch(SQL["neighbours"], **params)]

    async def sources(self, source_ids: Sequence[int]) -> list[SourceVideo]:
        if not source_ids:
            return []
        return [source_from_row(row) for row in await self._db.fetch(SQL["sources"], ids=list(source_ids))]

    async def likely_duplicates(self, clip_ids: Sequence[int]) -> Mapping[int, Sequence[LikelyDuplicate]]:
        """Likely duplicates of each clip; those without a verdict come first."""
        if not clip_ids:
            return {}
        found: dict[int, list[LikelyDuplicate]] = {}
        for row in await self._db.fetch(SQL["likely_duplicates"], ids=list(clip_ids)):
            duplicate = LikelyDuplicate(clip_from_row(row), row["same"], row["said_by"])
            found.setdefault(row["of_clip"], []).append(duplicate)
        return found

    async def action(self, action_id: int) -> ActionSummary:
        """Raises NotFound."""
        found = await self._db.fetch(SQL["action_summary"], id=action_id)
        if not found:
            raise NotFound(f"action {action_id} not found")
        return _summary_from_row(found[0])

    async def actions(self, since: int, limit: int) -> list[ActionSummary]:
        """The latest actions of all reviewers with an id above `since`, newest last."""
        found = await self._db.fetch(SQL["action_summaries"], since=since, limit=limit)
        return [_summary_from_row(row) for row in found]

    async def counts(self) -> Mapping[str, int]:
        """Number of live clips by state."""
        found = {row["state"]: row["clips"] for row in await self._db.fetch(SQL["counts"])}
        return {str(state): found.get(state, 0) for state in ClipState}


# --- Locks.


async def _lock_clips(connection: Connection, ids: Iterable[int]) -> dict[int, LibraryClip]:
    """Lock the clips that exist. Their sources are locked first, against concurrent edits."""
    params = {"ids": sorted(set(ids))}
    await fetch(connection, SQL["lock_sources"], params)
    return {row["id"]: clip_from_row(row) for row in await fetch(connection, SQL["lock_clips"], params)}


async def _lock_all(connection: Connection, ids: Sequence[int]) -> dict[int, LibraryClip]:
    clips = await _lock_clips(connection, ids)
    missing = sorted(set(ids) - clips.keys())
    if missing:
        raise NotFound(f"clip {', '.join(map(str, missing))} not found")
    return clips


async def _lock_action(connection: Connection, action_id: int) -> tuple[ActionRecord, dict[int, LibraryClip]] | None:
    """Lock an action with all clips that it changed or created."""
    found = await fetch(connection, SQL["action"], {"id": action_id})
    if not found:
        return None
    # The clips of an action never change, so they can be locked first, in the common order.
    seen = _action_from_row(found[0])
    clips = await _lock_clips(connection, (*seen.after, *seen.made))
    locked = await fetch(connection, SQL["lock_action"], {"id": action_id})
    return _action_from_row(locked[0]), clips


# --- Writes.


async def _write_change(
    connection: Connection, change: ReviewChange, clips: Mapping[int, LibraryClip], reviewer: Reviewer
) -> ActionRecord:
    """Write clips, journal and outbox."""
    params = {
        "kind": change.kind,
        "reviewer": reviewer.id,
        "name": reviewer.name,
        "at": reviewer.now,
        "settles_at": change.settles_at,
        "before": Jsonb({str(id_): _fields_to_json(fields) for id_, fields in change.before.items()}),
        "after": Jsonb({str(id_): _fields_to_json(fields) for id_, fields in change.after.items()}),
    }
    action = _action_from_row((await fetch(connection, SQL["insert_action"], params))[0])
    await _write_fields(connection, clips, change.after, reviewer.now)
    made: list[int] = []
    for each in change.made:
        clip: dict[str, Any] = {"source_id": each.source_id, "first": each.first, "end": each.end}
        clip |= {"group": each.grouped_with, "settles_at": change.settles_at, "by": action.id, "now": reviewer.now}
        made.append((await fetch(connection, SQL["insert_clip"], clip))[0]["id"])
    if made:
        rows = await fetch(connection, SQL["save_created_clips"], {"id": action.id, "made": made})
        action = _action_from_row(rows[0])
    about: dict[str, Any] = {"action": action.id, "kind": str(change.kind), "by": reviewer.name}
    await _publish_clip_changes(connection, clips, change.after, **about)
    created = [
        clip_message(id_, each.source_id, ClipState.EDIT_PENDING, **about)
        for id_, each in zip(made, change.made, strict=True)
    ]
    await append_outbox(connection, created)
    return action


async def _write_fields(
    connection: Connection, clips: Mapping[int, LibraryClip], fields: Mapping[int, ReviewFields], now: datetime
) -> None:
    """Update clips. `clips` are the previous versions. Also ends the claim, since its reviewer has acted."""
    if not fields:
        return
    rows = [{"id": id_, **_fields_to_json(each)} for id_, each in fields.items()]
    await fetch(connection, SQL["write_fields"], {"rows": Jsonb(rows), "now": now})
    for live in (False, True):
        ids = [id_ for id_, new in fields.items() if new.live is live and clips[id_].live is not live]
        if ids:  # every write of `live` checks the tiling of the source
            await fetch(connection, SQL["set_live"], {"ids": ids, "live": live})


async def _delete_source(connection: Connection, source: SourceVideo, now: datetime) -> None:
    # Includes a master that a worker stored before it died without saving the row.
    keys = [master_key(source.id), *([source.upload_key] if source.upload_key else [])]
    await fetch(connection, LIBRARY_SQL["queue_deletions"], {"keys": keys})
    if source.event_id is not None:
        ignored = {"event": source.event_id, "md5": source.video_md5, "now": now}
        await fetch(connection, LIBRARY_SQL["block_clip"], ignored)
    await fetch(connection, LIBRARY_SQL["delete_source"], {"id": source.id})
    await append_outbox(connection, [source_message(source.id, "deleted")])


async def _copy_verdicts(connection: Connection, action: ActionRecord, clips: Mapping[int, LibraryClip]) -> None:
    """Created clips inherit the verdicts of the clips that they replace."""
    replaced = sorted((id_ for id_ in action.after if not clips[id_].live), key=lambda id_: clips[id_].first)
    if action.kind is ActionKind.MOVE_CUT:
        for created, predecessor in zip(action.made, replaced, strict=True):
            params = {"made": [created], "replaced": [predecessor], "is_whole": True}
            await fetch(connection, SQL["copy_verdicts"], params)
        return
    params = {"made": list(action.made), "replaced": replaced, "is_whole": action.kind is ActionKind.MERGE}
    await fetch(connection, SQL["copy_verdicts"], params)


async def _publish_clip_changes(
    connection: Connection, clips: Mapping[int, LibraryClip], fields: Mapping[int, ReviewFields], **more: Any
) -> None:
    messages = [clip_message(id_, clips[id_].source_id, each.state, each.live, **more) for id_, each in fields.items()]
    await append_outbox(connection, messages)


async def _publish_verdict(
    connection: Connection, low: LibraryClip, high: LibraryClip, same: bool | None, reviewer: Reviewer
) -> None:
    messages = [
        clip_message(clip.id, clip.source_id, clip.state, clip.live, other=other.id, same=same, by=reviewer.name)
        for clip, other in ((low, high), (high, low))
    ]
    await append_outbox(connection, messages)


# --- Rows.


def _fields_to_json(fields: ReviewFields) -> dict[str, Any]:
    return {
        "state": fields.state,
        "live": fields.live,
        "grouped_with": fields.grouped_with,
        "settles_at": fields.settles_at and fields.settles_at.isoformat(),
        "reviewed_by": fields.reviewed_by,
        "reviewed_at": fields.reviewed_at and fields.reviewed_at.isoformat(),
    }


def _fields_from_json(document: Mapping[str, Any]) -> ReviewFields:
    return ReviewFields(
        state=ClipState(document["state"]),
        live=document["live"],
        grouped_with=document["grouped_with"],
        settles_at=_time(document["settles_at"]),
        reviewed_by=document["reviewed_by"],
        reviewed_at=_time(document["reviewed_at"]),
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _action_from_row(row: Mapping[str, Any]) -> ActionRecord:
    return ActionRecord(
        id=row["id"],
        kind=ActionKind(row["kind"]),
        reviewer=row["reviewer"],
        name=row["name"],
        at=row["at"],
        settles_at=row["settles_at"],
        before={int(id_): _fields_from_json(each) for id_, each in row["before"].items()},
        after={int(id_): _fields_from_json(each) for id_, each in row["after"].items()},
        made=tuple(row["made"]),
        undone_at=row["undone_at"],
        settled_at=row["settled_at"],
    )


def _summary_from_row(row: Mapping[str, Any]) -> ActionSummary:
    return ActionSummary(
        id=row["id"],
        kind=ActionKind(row["kind"]),
        reviewer=row["reviewer"],
        name=row["name"],
        at=row["at"],
        settles_at=row["settles_at"],
        clips=tuple(sorted(int(id_) for id_ in row["after"])),
        made=tuple(row["made"]),
        source_id=row["source_id"],
        title=row["title"],
        undone_at=row["undone_at"],
        settled_at=row["settled_at"],
    )
