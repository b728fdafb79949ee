"""Takedowns: an operator removes or hides a clip, a goal's clips or everything of an account.

The rows change in one transaction, so that pages, API, feeds and links agree at once; the files follow. Removed files
are also queued for deletion, so that they are deleted even if this process dies. Hidden files are moved, which
invalidates signed URLs issued earlier.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from psycopg.types.json import Jsonb

from found_footy.clips.models import (
    HIDDEN,
    WithdrawnClips,
    clip_key,
    clip_prefix,
    md5_of,
    staging_key,
)
from found_footy.clips.store import SQL as CLIP_SQL
from found_footy.clips.store import save_ranks
from found_footy.errors import BadRequest, NotFound, ObjectMissing, ObjectStoreError
from found_footy.fixtures.models import OutboxEvent
from found_footy.notifications.outbox import append_outbox
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.postgres import Connection, Database, fetch, load_queries

SQL = load_queries(__package__, "takedown")
MAX_LISTED = 200
MAX_REASON_LENGTH = 300
MAX_ACCOUNT_LENGTH = 100

log = logging.getLogger(__name__)


class TakedownKind(StrEnum):
    REMOVE = "remove"
    """Delete the files permanently."""
    HIDE = "hide"
    """Make the files inaccessible until the takedown is lifted."""


class TakedownScope(StrEnum):
    CLIP = "clip"
    GOAL = "goal"
    ACCOUNT = "account"


@dataclass(frozen=True, slots=True)
class TakedownOrder:
    kind: TakedownKind
    scope: TakedownScope
    target: str
    """Id or link of a clip or goal, or the name of an account."""
    reason: str
    """Reason, shown to anyone who follows a link to the clip."""
    source: str | None = None
    """Source of the account; None for every source."""


@dataclass(frozen=True, slots=True)
class Takedown:
    """An entry of the audit log of takedowns."""

    id: int
    kind: TakedownKind
    scope: TakedownScope
    target: str
    source: str | None
    reason: str
    at: datetime
    by: str
    clips: int
    """Links that are dead."""
    posts: int
    library: int
    """Sources removed from the library."""
    files_done_at: datetime | None
    """None while the object store has not deleted or moved the files."""
    lifted_at: datetime | None
    lifted_by: str | None


class LibraryTakedown(Protocol):
    """The library's part of a takedown, in the same transaction."""

    async def take_down(self, connection: Connection, withdrawn: WithdrawnClips, now: datetime) -> list[str]: ...

    async def unblock_clips(self, connection: Connection, clips: Sequence[tuple[str, str]]) -> None: ...


# --- Rules.


@dataclass(frozen=True, slots=True)
class CoveredVideo:
    event_id: str
    md5: str
    replaced_by: str | None = None


VideoId = tuple[str, str]
"""Event id and MD5."""


def normalize_order(order: TakedownOrder) -> TakedownOrder:
    """Normalize the target: a link becomes its id, an account name loses its `@` or `u/`. Raises BadRequest."""
    reason = " ".join(order.reason.split())
    if not 1 <= len(reason) <= MAX_REASON_LENGTH:
        raise BadRequest(f"a takedown needs a reason of 1 to {MAX_REASON_LENGTH} characters; links show it")
    if order.source is not None and order.scope is not TakedownScope.ACCOUNT:
        raise BadRequest("a source is only valid for an account")
    return replace(order, target=_normalize_target(order), reason=reason)


def _normalize_target(order: TakedownOrder) -> str:
    text = order.target.strip()
    match order.scope:
        case TakedownScope.CLIP:
            if (found := re.fullmatch(r"(?:.*/v/)?([0-9a-f]{16})(?:[/?#].*)?", text)) is None:
                raise BadRequest(f"{text[:60]!r} is not a clip: expected its id or link, such as /v/0123456789abcdef")
            return found[1]
        case TakedownScope.GOAL:
            if (found := re.fullmatch(r"(?:.*/g/)?([0-9A-Za-z_-]{1,150})(?:[/?#].*)?", text)) is None:
                raise BadRequest(f"{text[:60]!r} is not a goal: expected its id or link")
            return found[1]
    name = re.sub(r"^(@|/?u/)", "", text.lower()).strip()
    if not 1 <= len(name) <= MAX_ACCOUNT_LENGTH:
        raise BadRequest(f"invalid account name: expected 1 to {MAX_ACCOUNT_LENGTH} characters")
    return name


def covered_videos(videos: Sequence[CoveredVideo], chosen: Iterable[VideoId], scope: TakedownScope) -> set[VideoId]:
    """Return the chosen videos, all copies merged into them, and the same content at other goals.

    The link of a merged copy shows the better copy, so a takedown of that link covers the better copy. An account's
    copy that was merged into someone else's better copy does not take that one down.
    """
    by_id = {(video.event_id, video.md5): video for video in videos}
    found = {video_id for video_id in chosen if video_id in by_id}
    if scope is TakedownScope.CLIP:
        found = {_published_copy(by_id, video_id) for video_id in found}
    while True:
        hashes = {md5 for _, md5 in found} if scope is not TakedownScope.GOAL else set()
        added = {
            video_id
            for video_id, video in by_id.items()
            if video_id not in found and (video.md5 in hashes or (video.event_id, video.replaced_by or "") in found)
        }
        if not added:
            return found
        found |= added


def _published_copy(by_id: Mapping[VideoId, CoveredVideo], video_id: VideoId) -> VideoId:
    event_id = video_id[0]
    seen = {video_id}
    while (replaced_by := by_id[video_id].replaced_by) is not None:
        target = (event_id, replaced_by)
        if target not in by_id or target in seen:
            break
        video_id = target
        seen.add(video_id)
    return video_id


# --- Store.


class TakedownStore:
    def __init__(self, database: Database, library: LibraryTakedown) -> None:
        self._db = database
        self._library = library

    async def take_down(self, order: TakedownOrder, by: str, now: datetime) -> tuple[int, list[str]]:
        """Withdraw all that the order covers; return its id and the library's file keys. Raises NotFound."""
        async with self._db.connection() as connection:
            chosen, events = await self._choose(connection, order)
            locked = {row["id"]: row for row in await fetch(connection, SQL["lock_goals"], {"ids": sorted(events)})}
            rows = await fetch(connection, SQL["videos_of"], {"ids": sorted(locked)})
            if order.scope is TakedownScope.GOAL:
                chosen = {(row["event_id"], row["md5"]) for row in rows if row["event_id"] == order.target}
            videos = [CoveredVideo(row["event_id"], row["md5"], row["replaced_by"]) for row in rows]
            names = covered_videos(videos, chosen, order.scope)
            withdrawn = [
                row
                for row in rows
                if (row["event_id"], row["md5"]) in names
                and (row["state"] != "refused" or row["rejection_reason"] == "taken down")
            ]
            values = {"kind": order.kind, "scope": order.scope, "target": order.target, "source": order.source}
            added = await fetch(connection, SQL["add"], {**values, "reason": order.reason, "now": now, "by": by})
            takedown: int = added[0]["id"]
            await self._withdraw(connection, takedown, order, withdrawn)
            posts = await self._close_posts(connection, takedown, order)
            keys = [key for row in withdrawn for key in _file_keys(row, locked[row["event_id"]]["fixture_id"])]
            withdrawn_clips = _withdrawn_clips(order, chosen, withdrawn)
            library = await self._library.take_down(connection, withdrawn_clips, now)
            if order.kind is TakedownKind.REMOVE:
                await fetch(connection, SQL["queue_deletions"], {"keys": [*keys, *(HIDDEN + key for key in keys)]})
            by_event = _by_event(withdrawn)
            for event_id, withdrawn_rows in by_event.items():
                await _rank_remaining(
                    connection, event_id, [row for row in rows if row["event_id"] == event_id], withdrawn_rows, now
                )
                await append_outbox(
                    connection, _outbox_events(locked[event_id]["fixture_id"], event_id, withdrawn_rows, order)
                )
            md5s = [row["md5"] for row in withdrawn]
            await fetch(connection, SQL["cancel_deliveries"], {"ids": sorted(by_event), "md5s": md5s})
            links = sum(row["state"] in ("kept", "replaced") for row in withdrawn)
            sources = sum(key.endswith("/master.mp4") for key in library)
            counts = {"id": takedown, "clips": links, "posts": posts, "library": sources}
            await fetch(connection, SQL["count"], counts)
        return takedown, library

    async def _choose(self, connection: Connection, order: TakedownOrder) -> tuple[set[VideoId], set[str]]:
        """Return the videos that the order names, and the goals that may have copies of them."""
        match order.scope:
            case TakedownScope.CLIP:
                found = await fetch(connection, SQL["video_by_id"], {"id": order.target})
                found = found or await fetch(connection, SQL["source_by_id"], {"id": order.target})
                if not found:
                    raise NotFound(f"clip {order.target} not found")
            case TakedownScope.GOAL:
                if not await fetch(connection, SQL["event_exists"], {"id": order.target}):
                    raise NotFound(f"goal {order.target} not found")
                return set(), {order.target}
            case _:
                account = {"account": order.target, "source": order.source}
                found = await fetch(connection, SQL["posted_by"], account)
        events = {row["event_id"] for row in found}
        for event_id in sorted(events):
            events |= {row["id"] for row in await fetch(connection, SQL["events_with"], {"id": event_id})}
        return {(row["event_id"], row["md5"]) for row in found if row["md5"]}, events

    async def _withdraw(
        self, connection: Connection, takedown: int, order: TakedownOrder, rows: Sequence[Mapping[str, Any]]
    ) -> None:
        """Withdraw the videos. A video that is already taken down keeps the state that the first takedown saved."""
        events = sorted({row["event_id"] for row in rows})
        found = await fetch(connection, SQL["saved_before"], {"ids": events})
        before = {(row["event_id"], row["md5"]): row["saved"] for row in found}
        saved = []
        for row in rows:
            name = row["event_id"], row["md5"]
            state = before[name] if row["rejection_reason"] == "taken down" and name in before else _state_to_save(row)
            saved.append({"event_id": name[0], "md5": name[1], "saved": state})
        await fetch(connection, SQL["add_videos"], {"id": takedown, "rows": Jsonb(saved)})
        await fetch(connection, SQL["withdraw_videos"], {"id": takedown, "reason": order.reason})

    async def _close_posts(self, connection: Connection, takedown: int, order: TakedownOrder) -> int:
        if order.scope is TakedownScope.GOAL:
            return len(await fetch(connection, SQL["close_posts"], {"event": order.target, "reason": order.reason}))
        if order.scope is TakedownScope.CLIP:
            return 0
        account = {"account": order.target, "source": order.source}
        keep = order.kind is TakedownKind.HIDE
        posts = await fetch(connection, SQL["add_posts"], account | {"id": takedown, "keep": keep})
        await fetch(connection, SQL["blank_posts"], {"id": takedown, "reason": order.reason})
        if not keep:
            await fetch(connection, SQL["forget_saved_posts"], {"account": order.target})
        return len(posts)

    async def lift(self, takedown: int, by: str, now: datetime) -> None:
        """Show hidden clips again. Raises NotFound, BadRequest."""
        async with self._db.connection() as connection:
            found = await fetch(connection, SQL["lock"], {"id": takedown})
            if not found:
                raise NotFound(f"takedown {takedown} not found")
            if found[0]["lifted_at"] is not None:
                raise BadRequest(f"takedown {takedown} is already lifted")
            videos = await fetch(connection, SQL["videos_of_takedown"], {"id": takedown})
            events = sorted({row["event_id"] for row in videos})
            locked = {row["id"]: row for row in await fetch(connection, SQL["lock_goals"], {"ids": events})}
            await fetch(connection, SQL["set_lifted"], {"id": takedown, "now": now, "by": by})
            await fetch(connection, SQL["restore_posts"], {"id": takedown})
            await fetch(connection, SQL["drop_saved_posts"], {"id": takedown})
            if found[0]["kind"] != TakedownKind.HIDE:
                return
            restorable = await fetch(connection, SQL["restorable"], {"id": takedown})
            shown: list[VideoId] = []
            for event_id, rows in _by_event(restorable).items():
                shown += await _restore(connection, event_id, rows, locked[event_id]["fixture_id"], now)
            await self._library.unblock_clips(connection, shown)

    async def all(self) -> list[Takedown]:
        """Return the latest takedowns, newest first."""
        return [_takedown(row) for row in await self._db.fetch(SQL["list"], id=None, limit=MAX_LISTED)]

    async def one(self, takedown: int) -> Takedown:
        found = await self._db.fetch(SQL["list"], id=takedown, limit=1)
        if not found:
            raise NotFound(f"takedown {takedown} not found")
        return _takedown(found[0])

    async def videos(self, takedown: int) -> list[VideoId]:
        found = await self._db.fetch(SQL["videos_of_takedown"], id=takedown)
        return [(row["event_id"], row["md5"]) for row in found]

    async def still_withdrawn(self, takedown: int) -> list[VideoId]:
        found = await self._db.fetch(SQL["still_withdrawn"], id=takedown)
        return [(row["event_id"], row["md5"]) for row in found]

    async def with_pending_files(self) -> list[int]:
        return [row["id"] for row in await self._db.fetch(SQL["with_pending_files"])]

    async def set_files_done(self, takedown: int, now: datetime) -> None:
        await self._db.fetch(SQL["set_files_done"], id=takedown, now=now)


def _takedown(row: Mapping[str, Any]) -> Takedown:
    return Takedown(**{**row, "kind": TakedownKind(row["kind"]), "scope": TakedownScope(row["scope"])})


def _by_event(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["event_id"], []).append(row)
    return found


def _state_to_save(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("state", "replaced_by", "offset_seconds", "mirrored")}


def _file_keys(row: Mapping[str, Any], fixture_id: int) -> list[str]:
    """Return the keys of the video itself; its images are found by listing."""
    return [clip_key(fixture_id, row["event_id"], row["md5"]), staging_key(row["event_id"], row["md5"])]


def _withdrawn_clips(
    order: TakedownOrder, chosen: Iterable[VideoId], rows: Sequence[Mapping[str, Any]]
) -> WithdrawnClips:
    clips = {(row["event_id"], row["md5"]) for row in rows}
    if order.scope is not TakedownScope.ACCOUNT:
        clips |= set(chosen)  # the match may be past retention
    is_account = order.scope is TakedownScope.ACCOUNT
    return WithdrawnClips(
        tuple(sorted(clips)),
        f"taken down: {order.reason}",
        goal=order.target if order.scope is TakedownScope.GOAL else None,
        account=order.target if is_account else None,
        source=order.source if is_account else None,
    )


def _outbox_events(
    fixture_id: int, event_id: str, rows: Sequence[Mapping[str, Any]], order: TakedownOrder
) -> list[OutboxEvent]:
    return [
        OutboxEvent("clip.taken_down", fixture_id, event_id, {"md5": row["md5"], "reason": order.reason})
        for row in rows
        if row["state"] in ("kept", "replaced")
    ]


async def _rank_remaining(
    connection: Connection,
    event_id: str,
    rows: Sequence[Mapping[str, Any]],
    withdrawn_rows: Sequence[Mapping[str, Any]],
    now: datetime,
) -> None:
    withdrawn = {row["md5"] for row in withdrawn_rows}
    before = {row["md5"]: row for row in rows}
    stays = [md5 for md5, row in before.items() if row["state"] == "kept" and md5 not in withdrawn]
    await save_ranks(connection, event_id, before, stays, now, always=True)


async def _restore(
    connection: Connection, event_id: str, rows: Sequence[Mapping[str, Any]], fixture_id: int, now: datetime
) -> list[VideoId]:
    """Publish hidden clips again; videos that were still being processed when they were hidden stay rejected."""
    shown = [row["md5"] for row in rows if row["saved"]["state"] == "kept"]
    await fetch(connection, SQL["restore_hashed"], {"event": event_id, "md5s": shown})
    found = await fetch(connection, CLIP_SQL["videos_to_settle"], {"id": event_id})
    before = {row["md5"]: row for row in found}
    kept = [md5 for md5, row in before.items() if row["state"] == "kept"] + shown
    copies = [
        {"md5": row["md5"], "of": row["saved"]["replaced_by"], **row["saved"]}
        for row in rows
        if row["saved"]["state"] == "replaced" and row["saved"]["replaced_by"] in kept
    ]
    await fetch(connection, SQL["restore_replaced"], {"event": event_id, "rows": Jsonb(copies)})
    ranks, _ = await save_ranks(connection, event_id, before, kept, now, always=True)
    await append_outbox(connection, [OutboxEvent("clips.ranked", fixture_id, event_id, {"clips": ranks})])
    return [(event_id, md5) for md5 in shown]


# --- Files.


class TakedownService:
    def __init__(
        self,
        store: TakedownStore,
        objects: ObjectStore,
        now: Callable[[], datetime],
        library_done: Callable[[Sequence[str]], Awaitable[None]],
    ) -> None:
        self._store = store
        self._objects = objects
        self._now = now
        self._library_done = library_done

    async def take_down(self, order: TakedownOrder, by: str) -> Takedown:
        """Withdraw all that the order covers. If the object store is unavailable, the files follow later.

        Raises BadRequest, NotFound, StoreUnavailable.
        """
        takedown, library = await self._store.take_down(normalize_order(order), by, self._now())
        try:
            await self._finish(takedown)
            await self._objects.delete(library)
            await self._library_done(library)
        except ObjectStoreError as error:
            log.error(str(error), extra={"action": "takedown_files_pending", "takedown": takedown, "error": error.kind})
        done = await self._store.one(takedown)
        extra = {"action": "taken_down", "takedown": done.id, "kind": done.kind, "scope": done.scope, "by": by}
        log.warning(f"{by} took down {done.scope} {done.target}: {done.reason}", extra=extra)
        return done

    async def lift(self, takedown: int, by: str) -> Takedown:
        """Publish hidden clips again; removed clips stay removed. Raises NotFound, BadRequest, ObjectStoreError."""
        current = await self._store.one(takedown)
        if current.kind is TakedownKind.HIDE and current.lifted_at is None:
            # Restore the files first, so that every visible clip has its file.
            for event_id, md5 in await self._store.videos(takedown):
                key = clip_key(int(event_id.partition("_")[0]), event_id, md5)
                await self._copy(HIDDEN + key, key)
        await self._store.lift(takedown, by, self._now())
        if current.kind is TakedownKind.HIDE:
            still_withdrawn = await self._store.still_withdrawn(takedown)
            for event_id, md5 in still_withdrawn:  # covered by another takedown
                await self._withdraw_files(TakedownKind.HIDE, event_id, md5)
            shown = set(await self._store.videos(takedown)) - set(still_withdrawn)
            keys = [clip_key(int(event_id.partition("_")[0]), event_id, md5) for event_id, md5 in shown]
            await self._objects.delete([HIDDEN + key for key in keys])
        extra = {"action": "takedown_lifted", "takedown": takedown, "by": by}
        log.warning(f"{by} lifted takedown {takedown}", extra=extra)
        return await self._store.one(takedown)

    async def all(self) -> list[Takedown]:
        """Return the latest takedowns, newest first."""
        return await self._store.all()

    async def one(self, takedown: int) -> Takedown:
        """Raises NotFound."""
        return await self._store.one(takedown)

    async def finish(self) -> int:
        """Retry the file operations of takedowns where they failed; return the number of takedowns."""
        pending = await self._store.with_pending_files()
        for takedown in pending:
            await self._finish(takedown)
        return len(pending)

    async def _finish(self, takedown: int) -> None:
        current = await self._store.one(takedown)
        for event_id, md5 in await self._store.videos(takedown) if current.lifted_at is None else ():
            await self._withdraw_files(current.kind, event_id, md5)
        await self._store.set_files_done(takedown, self._now())

    async def _withdraw_files(self, kind: TakedownKind, event_id: str, md5: str) -> None:
        """Delete or move a video and delete its images, which are recreated on demand."""
        fixture_id = int(event_id.partition("_")[0])
        key = clip_key(fixture_id, event_id, md5)
        keys = [staging_key(event_id, md5), key]
        if kind is TakedownKind.HIDE:
            await self._copy(key, HIDDEN + key)
        else:
            keys.append(HIDDEN + key)
        prefix = clip_prefix(fixture_id, event_id)
        keys += [each.key async for each in self._objects.list(prefix) if md5_of(each.key) == md5]
        await self._objects.delete(keys)

    async def _copy(self, key: str, to: str) -> None:
        try:
            await self._objects.copy(key, to)
        except ObjectMissing:
            log.debug("no object %s", key)
