"""PostgreSQL store of the pipeline: sources, stages, and stage results."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from fractions import Fraction
from itertools import product
from typing import Any

from psycopg import sql
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from found_footy.clips.models import WithdrawnClips
from found_footy.errors import BadRequest, EditRefused, FootyError, MediaTooLarge, NotFound
from found_footy.fixtures.models import MatchMinute, OutboxEvent, Sport
from found_footy.library.models import (
    FILES_DELETED,
    ClipState,
    LibraryClip,
    SourceKind,
    SourceState,
    SourceVideo,
    State,
    Submission,
    clip_file_key,
    keyframe_key,
    master_key,
    sprite_key,
    state_label,
)
from found_footy.library.review import tiles_between_cuts
from found_footy.library.stages import (
    CLEANUP_STATES,
    FAILED,
    FIRST_RETRY_DELAY,
    STAGES,
    ItemKind,
    Lane,
    LibraryStage,
    StageInput,
    StageItem,
    can_take,
    count_failure,
    failed_stage,
    is_outage,
    retry_delay,
)
from found_footy.library.submissions import MAX_TITLE_LENGTH
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.models import Keyframe, MasterVideo, SpriteSheet
from found_footy.notifications.outbox import append_outbox
from found_footy.storage.postgres import Connection, Database, Query, fetch, load_queries, storable
from found_footy.text import MAX_ERROR_TEXT

SQL = load_queries(__package__, "store")

MAX_FRAMES = 16_777_215
"""Maximum frames of a master: more than 70 hours at 60 frames per second. Upper bound of the overlap constraint."""
KEYS_PER_FETCH = 1000
MAX_EXPIRED = 500
"""Sources that one clean-up deletes."""
KEPT_STATES = frozenset(
    {
        ClipState.REVIEW_APPROVED,
        ClipState.KEYFRAMING,
        ClipState.KEYFRAMED,
        ClipState.KEYFRAME_FAILED,
        ClipState.EMBEDDING,
        ClipState.EMBEDDED,
        ClipState.EMBEDDING_FAILED,
    }
)
"""States of clips that an editor approved."""

_MODEL = re.compile(r"[a-z][a-z0-9_]{0,50}")


class LibraryStore:
    """All methods raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._db = database

    # --- New sources.

    async def import_published_clips(self, now: datetime, limit: int) -> int:
        """Create sources for the published clips of goals whose search has ended; return their number.

        Also updates the facts of sources whose goal was corrected or withdrawn since.
        """
        async with self._db.connection() as connection:
            # Another worker may run this concurrently: each clip becomes one source.
            imported = await _write_goals(connection, SQL["unimported_clips"], SQL["insert_goals"], now, limit)
            await _write_goals(connection, SQL["corrected_goals"], SQL["update_goals"], now, limit)
        return imported

    async def submit(self, submission: Submission, now: datetime) -> int:
        """Create a source; return its id."""
        facts = {
            storable(name): storable(value) if isinstance(value, str) else value
            for name, value in submission.facts.items()
        }
        params = {
            "kind": submission.kind,
            "title": storable(submission.title, MAX_TITLE_LENGTH),
            "facts": Jsonb(facts),
            "url": submission.url,
            "upload_key": submission.upload_key,
            "by": storable(submission.by, MAX_TITLE_LENGTH),
            "now": now,
        }
        async with self._db.connection() as connection:
            source_id: int = (await fetch(connection, SQL["submit"], params))[0]["id"]
            await append_outbox(connection, [source_message(source_id, SourceState.NEW)])
        return source_id

    # --- Stages.

    async def pending_work(self, models: Mapping[str, str], now: datetime, limit: int) -> list[StageInput]:
        """Items that a stage may take now, at most `limit` per stage and lane, the oldest first.

        `models` are the enabled embedding models with their versions.
        """
        async with self._db.connection() as connection:
            found = [
                row
                for kind in ItemKind
                for row in await fetch(
                    connection,
                    SQL[f"pending_{kind}s"],
                    {
                        "stages": Jsonb(_stage_rows(kind)),
                        "now": now,
                        "failed_before": now - FIRST_RETRY_DELAY,
                        "limit": limit,
                        "cleanup": sorted(CLEANUP_STATES),
                    },
                )
            ]
            for stage in (each for each in STAGES if each.only_outdated_embeddings):
                outdated = await _outdated_clips(connection, stage, models, now, limit)
                found += [{"stage": stage.name, **row} for row in outdated]
        work = {StageInput(row["stage"], row["id"], Lane(row["lane"]), row.get("seconds", 0.0)) for row in found}
        position = {stage.name: number for number, stage in enumerate(STAGES)}
        return sorted(work, key=lambda each: (list(Lane).index(each.lane), position[each.stage], each.item))

    async def begin(self, stage: LibraryStage, item: int, now: datetime) -> bool:
        """Move an item to the working state; return False if the stage may no longer take it."""
        async with self._db.connection() as connection:
            row = await _lock_item(connection, stage.item, item)
            if row is None or not can_take(stage, _stage_item(stage.item, row), now):
                return False
            failures = row["failures"] if row["stage"] == stage.name else 0
            is_repeated = row["state"] == stage.working
            await _move(
                connection, stage, row, stage.working, now, failures, began_at=now, failed_at=row["failed_at"],
                publish=not is_repeated,
            )  # fmt: skip
        return True

    async def finish(self, stage: LibraryStage, item: int, now: datetime) -> bool:
        """Mark an item done; return False, without a change, if it is no longer in the working state."""
        async with self._db.connection() as connection:
            row = await _lock_item(connection, stage.item, item)
            if row is None or row["state"] != stage.working or row["stage"] not in (None, stage.name):
                return False
            await _move(connection, stage, row, stage.done, now, 0, is_done=True)
            seconds = (now - (row["began_at"] or now)).total_seconds()
            await fetch(connection, SQL["stage_done"], {"stage": stage.name, "seconds": seconds, "now": now})
            if stage.done is ClipState.EMBEDDED:
                await fetch(connection, SQL["note_embedded"], {"id": item})
            if stage.done is SourceState.DOWNLOADED and row["upload_key"] is not None:
                # The master replaces the uploaded file.
                await fetch(connection, SQL["queue_deletions"], {"keys": [row["upload_key"]]})
        return True

    async def fail(self, stage: LibraryStage, item: int, error: str, kind: str, retryable: bool, now: datetime) -> None:
        async with self._db.connection() as connection:
            row = await _lock_item(connection, stage.item, item)
            # Includes an item that could not start. An item that has already failed is a repeated report.
            if row is None or row["state"] == stage.failed:
                return
            if not can_take(stage, _stage_item(stage.item, row), now):
                return
            (totals,) = await fetch(connection, SQL["stage_failed"], {"stage": stage.name})
            outage = is_outage(kind, retryable, row["failed_at"], totals["last_done_at"])
            failures = count_failure(row["failures"] if row["stage"] == stage.name else 0, outage)
            delay = retry_delay(failures, retryable, kind)
            reason: dict[str, Any] = {
                "error": storable(error, MAX_ERROR_TEXT),
                "kind": kind,
                "retry_at": delay and now + delay,
            }
            await _move(connection, stage, row, stage.failed, now, failures, failed_at=now, **reason)

    async def retry_failed(self, now: datetime, stage: str | None = None) -> int:
        """Make all failed items, or those of one stage, available again at once; return their number."""
        if stage is not None and stage not in {each.name for each in STAGES}:
            raise BadRequest(f"unknown stage {stage[:40]!r}: choose from {', '.join(each.name for each in STAGES)}")
        params = {"states": sorted(FAILED), "stage": stage, "now": now}
        async with self._db.connection() as connection:
            sources = await fetch(connection, SQL["retry_sources"], params)
            clips = await fetch(connection, SQL["retry_clips"], params)
            messages = [source_message(row["id"], row["state"]) for row in sources]
            messages += [clip_message(row["id"], row["source_id"], row["state"], row["live"]) for row in clips]
            await append_outbox(connection, messages)
        return len(messages)

    async def retry(self, source_id: int | None, clip_id: int | None, now: datetime) -> None:
        """Make a failed item available again at once. Raises NotFound, EditRefused."""
        if (source_id is None) == (clip_id is None):
            raise BadRequest("specify either a source or a clip")
        kind, id_ = (ItemKind.SOURCE, source_id) if source_id is not None else (ItemKind.CLIP, clip_id)
        assert id_ is not None
        async with self._db.connection() as connection:
            row = await _lock_item(connection, kind, id_)
            if row is None:
                raise NotFound(f"{kind} {id_} not found")
            item = _stage_item(kind, row)
            stage = failed_stage(kind, item)
            if stage is None:
                raise EditRefused(f"{kind} {id_} has not failed: it is {state_label(item.state)}")
            reason = {"error": row["error"], "kind": row["error_kind"], "retry_at": now}
            await _move(connection, stage, row, stage.failed, now, 0, failed_at=row["failed_at"], **reason)

    # --- Stage inputs and results.

    async def source(self, source_id: int) -> SourceVideo:
        """Raises NotFound."""
        found = await self._db.fetch(SQL["source"], id=source_id)
        if not found:
            raise NotFound(f"source {source_id} not found")
        return source_from_row(found[0])

    async def clip(self, clip_id: int) -> LibraryClip:
        """Raises NotFound."""
        found = await self._db.fetch(SQL["clip"], id=clip_id)
        if not found:
            raise NotFound(f"clip {clip_id} not found")
        return clip_from_row(found[0])

    async def clips_of(self, source_id: int) -> list[LibraryClip]:
        """All clips, including those that were split or merged, by first frame and id."""
        return [clip_from_row(row) for row in await self._db.fetch(SQL["clips_of"], id=source_id)]

    async def save_progress(self, source_id: int, share: float, now: datetime) -> None:
        share = min(1.0, max(0.0, share))
        async with self._db.connection() as connection:
            changed = await fetch(connection, SQL["save_progress"], {"id": source_id, "share": share, "now": now})
            await append_outbox(connection, [source_message(source_id, row["state"], share) for row in changed])

    async def save_clip_progress(self, clip_id: int, share: float, now: datetime) -> None:
        share = min(1.0, max(0.0, share))
        async with self._db.connection() as connection:
            changed = await fetch(connection, SQL["save_clip_progress"], {"id": clip_id, "share": share})
            progress = {"progress": round(share, 3)}
            messages = [
                clip_message(clip_id, row["source_id"], row["state"], row["live"], **progress) for row in changed
            ]
            await append_outbox(connection, messages)

    async def save_download(self, source_id: int, key: str, title: str | None) -> None:
        """Save the key of the downloaded file, until the master replaces it."""
        params = {"title": storable(title, MAX_TITLE_LENGTH) if title else None, "key": key}
        if not await self._db.fetch(SQL["save_download"], id=source_id, **params):
            raise NotFound(f"source {source_id} not found")

    async def save_master(self, source_id: int, master: MasterVideo, title: str | None = None) -> None:
        if master.frames > MAX_FRAMES:
            raise MediaTooLarge(f"the video has {master.frames} frames; the maximum is {MAX_FRAMES}")
        params = {
            "title": storable(title, MAX_TITLE_LENGTH) if title else None,
            "frames": master.frames,
            "rate_num": master.rate.numerator,
            "rate_den": master.rate.denominator,
            "width": master.width,
            "height": master.height,
            "audio": master.audio,
            "file_size": master.size,
            "file_md5": master.md5,
        }
        if not await self._db.fetch(SQL["save_master"], id=source_id, **params):
            raise NotFound(f"source {source_id} not found")

    async def known_scenes(self, file_md5: str, detector: str) -> list[int] | None:
        found = await self._db.fetch(SQL["known_scenes"], md5=file_md5, detector=detector)
        return list(found[0]["cuts"]) if found else None

    async def save_scenes(self, source_id: int, file_md5: str, detector: str, cuts: Sequence[int]) -> int:
        """Cache the cuts and create the clips between them unless clips exist; return their number."""
        async with self._db.connection() as connection:
            found = await fetch(connection, SQL["lock_source"], {"id": source_id})
            if not found or found[0]["frames"] is None:
                raise NotFound(f"source {source_id} has no master")
            scenes = {"md5": file_md5, "detector": detector, "cuts": list(cuts)}
            await fetch(connection, SQL["save_scenes"], scenes)
            count: int = (await fetch(connection, SQL["count_tiles"], {"id": source_id}))[0]["tiles"]
            if not count:
                tiles = tiles_between_cuts(found[0]["frames"], cuts)
                firsts, ends = ([tile[side] for tile in tiles] for side in (0, 1))
                await fetch(connection, SQL["insert_tiles"], {"id": source_id, "firsts": firsts, "ends": ends})
                count = len(tiles)
        return count

    async def save_sprite(self, clip_id: int, sprite: SpriteSheet, has_file: bool, fingerprint: Fingerprint) -> None:
        params = {
            "sprite": Jsonb(sprite_to_json(sprite)),
            "has_file": has_file,
            "fingerprint": fingerprint.to_bytes(),
        }
        if not await self._db.fetch(SQL["save_sprite"], id=clip_id, **params):
            raise NotFound(f"clip {clip_id} not found")

    async def sibling_fingerprints(self, clip_id: int) -> Mapping[int, Fingerprint]:
        """Fingerprints of the other live clips of the same goal, or of the same source."""
        found = await self._db.fetch(SQL["sibling_fingerprints"], id=clip_id)
        return {row["id"]: Fingerprint.from_bytes(row["fingerprint"]) for row in found}

    async def save_duplicates(self, clip_id: int, same_as: Sequence[int]) -> None:
        """Replace all duplicate pairs of this clip."""
        async with self._db.connection() as connection:
            await fetch(connection, SQL["lock_duplicates"], {})
            await fetch(connection, SQL["delete_duplicates"], {"id": clip_id})
            if same_as:
                await fetch(connection, SQL["insert_duplicates"], {"id": clip_id, "same": list(same_as)})

    async def keyframes(self, clip_id: int) -> list[Keyframe]:
        return [Keyframe(**row) for row in await self._db.fetch(SQL["keyframes"], id=clip_id)]

    async def save_keyframes(self, clip_id: int, keyframes: Sequence[Keyframe]) -> list[str]:
        """Replace the keyframes; return the keys of images to delete."""
        async with self._db.connection() as connection:
            found = await fetch(connection, SQL["lock_clip"], {"id": clip_id})
            if not found:
                raise NotFound(f"clip {clip_id} not found")
            source_id = found[0]["source_id"]
            before = await fetch(connection, SQL["delete_keyframes"], {"id": clip_id})
            rows = Jsonb([asdict(each) for each in keyframes])
            await fetch(connection, SQL["insert_keyframes"], {"id": clip_id, "rows": rows})
            kept = {keyframe_key(source_id, clip_id, each.number) for each in keyframes}
            unused = sorted({keyframe_key(source_id, clip_id, row["number"]) for row in before} - kept)
            await fetch(connection, SQL["queue_deletions"], {"keys": unused})
            await fetch(connection, SQL["dequeue_deletions"], {"keys": sorted(kept)})
        return unused

    # --- Deletions: rows first, so that no row refers to a deleted object.

    async def release_files(self, clip_id: int) -> list[str]:
        """Remove a clip's file, sheet, keyframes and vectors from the rows and queue the objects for deletion; with the
        last clip of a source, its master too. Returns all queued keys of the clip. Idempotent.
        """
        clip = {"id": clip_id}
        async with self._db.connection() as connection:
            found = await fetch(connection, SQL["clip"], clip)
            if not found:
                return []
            source_id = found[0]["source_id"]
            # Lock the source first, as everywhere, so that the clean-up of the last clip sees that it is the last.
            await fetch(connection, SQL["lock_source"], {"id": source_id})
            await fetch(connection, SQL["lock_clip"], clip)
            keyframes = await fetch(connection, SQL["delete_keyframes"], clip)
            await fetch(connection, SQL["delete_vectors"], clip)
            await fetch(connection, SQL["delete_duplicates"], clip)
            await fetch(connection, SQL["clear_sprite"], clip)
            # File and sheet in any case: a worker may have died after storing them and before saving the row.
            keys = [clip_file_key(source_id, clip_id), sprite_key(source_id, clip_id)]
            keys += [keyframe_key(source_id, clip_id, row["number"]) for row in keyframes]
            source = {"id": source_id, "files_deleted": sorted(FILES_DELETED)}
            if await fetch(connection, SQL["clear_master"], source):
                keys.append(master_key(source_id))
            await fetch(connection, SQL["queue_deletions"], {"keys": keys})
            stem = clip_file_key(source_id, clip_id).removesuffix("mp4")
            images = keyframe_key(source_id, clip_id, 0).removesuffix("0.jpg")
            patterns = {"patterns": [f"{stem}%", f"{images}%", master_key(source_id)]}
            return [row["key"] for row in await fetch(connection, SQL["deletions_of_clip"], patterns)]

    @staticmethod
    async def take_down(connection: Connection, params: WithdrawnClips, now: datetime) -> list[str]:
        """Delete the sources of clips that are taken down, in the caller's transaction; return the keys of their
        files, which are queued for deletion. Their links show the reason from then on.
        """
        wanted = {
            "clips": Jsonb([{"event_id": event, "md5": md5} for event, md5 in params.clips]),
            "goal": params.goal,
            "account": params.account,
            "of_source": params.source,
        }
        found = await fetch(connection, SQL["published_sources"], wanted)
        return await _delete_sources(connection, found, params.reason, now)

    async def expire(self, before: datetime | None, max_bytes: int | None, now: datetime) -> int:
        """Delete the sources older than `before`, and the oldest beyond `max_bytes`; return their number.

        A source of which a clip was approved is never deleted.
        """
        async with self._db.connection() as connection:
            limits = {"before": before, "max_bytes": max_bytes, "kept": sorted(KEPT_STATES), "limit": MAX_EXPIRED}
            found = await fetch(connection, SQL["expirable_sources"], limits)
            await _delete_sources(connection, found, "deleted by the retention of the library", now)
        return len(found)

    @staticmethod
    async def unblock_clips(connection: Connection, clips: Sequence[tuple[str, str]]) -> None:
        """Let the clips of a lifted takedown be imported again."""
        rows = Jsonb([{"event_id": event, "md5": md5} for event, md5 in clips])
        await fetch(connection, SQL["unblock_clips"], {"clips": rows})

    async def pending_deletions(self, limit: int) -> list[str]:
        """Queued keys, those with the fewest failures first."""
        return [row["key"] for row in await self._db.fetch(SQL["pending_deletions"], limit=limit)]

    async def mark_deleted(self, keys: Sequence[str]) -> None:
        if keys:
            await self._db.fetch(SQL["dequeue_deletions"], keys=list(keys))

    async def record_deletion_failure(self, keys: Sequence[str], error: FootyError) -> None:
        if keys:
            message = storable(f"{error.kind}: {error}", MAX_ERROR_TEXT)
            await self._db.fetch(SQL["record_deletion_failure"], keys=list(keys), error=message)

    async def expected_keys(self) -> AsyncGenerator[str, None]:
        """Every object that a row refers to, sorted, from one snapshot. Close the generator when stopping early: it
        holds a connection.
        """
        async with self._db.connection() as connection, connection.cursor(name="library_keys") as cursor:
            cursor.itersize = KEYS_PER_FETCH
            await cursor.execute(SQL["expected_keys"])
            async for row in cursor:
                yield row["key"]


async def _delete_sources(
    connection: Connection, found: Sequence[Mapping[str, Any]], reason: str, now: datetime
) -> list[str]:
    """Delete sources with everything made of them; return the keys of their files, which are queued for deletion."""
    if not found:
        return []
    ids = {"ids": [row["id"] for row in found]}
    keys = [row["key"] for row in await fetch(connection, SQL["keys_of_sources"], ids)]
    for row in found:
        keys += [master_key(row["id"]), *([row["upload_key"]] if row["upload_key"] else [])]
        if row["event_id"] is not None:
            blocked = {"event": row["event_id"], "md5": row["video_md5"], "now": now}
            await fetch(connection, SQL["block_clip"], blocked)
    await fetch(connection, SQL["queue_deletions"], {"keys": keys})
    await fetch(connection, SQL["end_links_of_sources"], ids | {"reason": reason, "now": now})
    await fetch(connection, SQL["delete_sources"], ids)
    await append_outbox(connection, [source_message(id_, "deleted") for id_ in ids["ids"]])
    return keys


# --- Outbox.


def source_message(source_id: int, state: str, progress: float | None = None) -> OutboxEvent:
    payload: dict[str, Any] = {"source": source_id, "state": str(state)}
    if progress is not None:
        payload["progress"] = round(progress, 3)
    return OutboxEvent("library.source", None, payload=payload)


def clip_message(clip_id: int, source_id: int, state: str, live: bool = True, **more: Any) -> OutboxEvent:
    """Outbox event of a clip. `more` adds the reviewer and the action."""
    payload = {"clip": clip_id, "source": source_id, "state": str(state), "live": live, **more}
    return OutboxEvent("library.clip", None, payload=payload)


# --- Rows.


def source_from_row(row: Mapping[str, Any]) -> SourceVideo:
    return SourceVideo(
        id=row["id"],
        kind=SourceKind(row["kind"]),
        state=SourceState(row["state"]),
        title=row["title"],
        facts=row["facts"],
        event_id=row["event_id"],
        video_md5=row["video_md5"],
        url=row["url"],
        upload_key=row["upload_key"],
        master=_master_from_row(row),
        progress=row["progress"],
        error=row["error"],
        error_kind=row["error_kind"],
        failures=row["failures"],
        retry_at=row["retry_at"],
        submitted_by=row["submitted_by"],
        created_at=row["created_at"],
        film_deleted_at=row["film_deleted_at"],
    )


def _master_from_row(row: Mapping[str, Any]) -> MasterVideo | None:
    if row["frames"] is None:
        return None
    return MasterVideo(
        frames=row["frames"],
        rate=Fraction(row["rate_num"], row["rate_den"]),
        width=row["width"],
        height=row["height"],
        audio=row["audio"],
        size=row["file_size"],
        md5=row["file_md5"],
    )


def clip_from_row(row: Mapping[str, Any]) -> LibraryClip:
    return LibraryClip(
        id=row["id"],
        source_id=row["source_id"],
        first=row["first_frame"],
        end=row["end_frame"],
        state=ClipState(row["state"]),
        live=row["live"],
        grouped_with=row["grouped_with"],
        settles_at=row["settles_at"],
        made_by=row["made_by"],
        reviewed_by=row["reviewed_by"],
        reviewed_at=row["reviewed_at"],
        claimed_by=row["claimed_by"],
        claimed_until=row["claimed_until"],
        has_file=row["has_file"],
        sprite=_sprite_from_json(row["sprite"]),
        error=row["error"],
        error_kind=row["error_kind"],
        failures=row["failures"],
        retry_at=row["retry_at"],
    )


def sprite_to_json(sprite: SpriteSheet) -> dict[str, int]:
    values = asdict(sprite)
    rate: Fraction = values.pop("rate")
    return {**values, "rate_num": rate.numerator, "rate_den": rate.denominator}


def _sprite_from_json(document: Mapping[str, int] | None) -> SpriteSheet | None:
    if document is None:
        return None
    values = dict(document)
    return SpriteSheet(rate=Fraction(values.pop("rate_num"), values.pop("rate_den")), **values)


# --- Sources from goals.


async def _write_goals(connection: Connection, select: Query, write: Query, now: datetime, limit: int) -> int:
    found = await fetch(connection, select, {"limit": limit})
    if not found:
        return 0
    rows = [
        {
            "event_id": row["event_id"],
            "video_md5": row["md5"],
            "title": goal_title(row),
            "facts": goal_facts(row),
            "goal_snapshot": row["goal_snapshot"],
            "accounts": row.get("accounts", []),
        }
        for row in found
    ]
    written = await fetch(connection, write, {"rows": Jsonb(rows), "now": now})
    await append_outbox(connection, [source_message(row["id"], row["state"]) for row in written])
    return len(written)


def goal_facts(row: Mapping[str, Any]) -> dict[str, Any]:
    facts = {
        "event_id": row["event_id"],
        "fixture_id": row["fixture_id"],
        "sport": row["sport"],
        "competition": row["league_name"],
        "home": row["home_name"],
        "away": row["away_name"],
        "team": row["team_name"],
        "player": row["player_name"],
        "assist": row["assist_name"],
        "minute": _minute(row),
        "kind": row["kind"],
        "score": _score(row),
        "kickoff": row["kickoff"].isoformat(),
        "verified": row["verified"],
    }
    return {**facts, "withdrawn": True} if row["withdrawn"] else facts


def goal_title(row: Mapping[str, Any]) -> str:
    """`Mohamed Salah 12' · Liverpool 1–0 Manchester City`."""
    scorer = row["player_name"] or row["team_name"]
    title = f"{scorer} {_minute(row)} · {row['home_name']} {_score(row) or '–'} {row['away_name']}"
    return (f"Withdrawn: {title}" if row["withdrawn"] else title)[:MAX_TITLE_LENGTH]


def _minute(row: Mapping[str, Any]) -> str:
    return str(MatchMinute(row["elapsed"], row["extra"], row["innings"]))


def _score(row: Mapping[str, Any]) -> str | None:
    """None for cricket, whose events count wickets."""
    return f"{row['home_after']}–{row['away_after']}" if row["sport"] == Sport.FOOTBALL else None


# --- Items of stages.


def _stage_rows(kind: ItemKind) -> list[dict[str, Any]]:
    """Rows of `STAGES` for SQL, one per lane. Without `takes`, only items that the stage has begun."""
    return [
        {
            "stage": stage.name,
            "lane": lane,
            "of_goals": lane is Lane.GOALS,
            "takes": None if stage.only_outdated_embeddings else stage.takes,
            "working": stage.working,
            "failed": stage.failed,
        }
        for stage, lane in product(STAGES, Lane)
        if stage.item is kind
    ]


async def _outdated_clips(
    connection: Connection, stage: LibraryStage, models: Mapping[str, str], now: datetime, limit: int
) -> list[DictRow]:
    """Clips in the state that the stage takes, without a vector of one of these models in this version."""
    if not models:
        return []
    columns = {row["name"] for row in await fetch(connection, SQL["vector_columns"], {})}
    conditions: list[sql.Composable] = []
    for model in sorted(models):
        if not _MODEL.fullmatch(model):
            raise BadRequest(f"invalid model name {model[:60]!r}")
        if f"{model}_version" not in columns:
            conditions.append(sql.SQL("true"))  # no worker has created its column yet
            continue
        version, column = sql.Placeholder(f"version_of_{model}"), sql.Identifier(f"{model}_version")
        # Written so that an index on the versions is sufficient.
        conditions.append(sql.SQL("e.{0} is null or e.{0} < {1} or e.{0} > {1}").format(column, version))
    statement = sql.SQL(SQL["outdated_clips"].decode()).format(is_outdated=sql.SQL(" or ").join(conditions))
    lanes = Jsonb([{"lane": lane, "of_goals": lane is Lane.GOALS} for lane in Lane])
    versions = {f"version_of_{model}": version for model, version in models.items()}
    params = {"lanes": lanes, "takes": stage.takes, "now": now, "limit": limit, **versions}
    return await (await connection.execute(statement, params)).fetchall()


async def _lock_item(connection: Connection, kind: ItemKind, id_: int) -> DictRow | None:
    found = await fetch(connection, SQL[f"lock_{kind}_item"], {"id": id_})
    return found[0] if found else None


def _stage_item(kind: ItemKind, row: Mapping[str, Any]) -> StageItem:
    state: State = SourceState(row["state"]) if kind is ItemKind.SOURCE else ClipState(row["state"])
    return StageItem(state, row["stage"], row["settles_at"], row["live"])


async def _move(
    connection: Connection,
    stage: LibraryStage,
    row: Mapping[str, Any],
    state: State,
    now: datetime,
    failures: int,
    *,
    is_done: bool = False,
    publish: bool = True,
    error: str | None = None,
    kind: str | None = None,
    retry_at: datetime | None = None,
    began_at: datetime | None = None,
    failed_at: datetime | None = None,
) -> None:
    params = {
        "id": row["id"],
        "state": str(state),
        "stage": None if is_done else stage.name,
        "failures": failures,
        "error": error,
        "kind": kind,
        "retry_at": retry_at,
        "began_at": began_at,
        "failed_at": failed_at,
        "now": now,
    }
    await fetch(connection, SQL[f"move_{stage.item}"], params)
    if publish and stage.item is ItemKind.SOURCE:
        await append_outbox(connection, [source_message(row["id"], state)])
    elif publish:
        await append_outbox(connection, [clip_message(row["id"], row["source_id"], state, row["live"])])
