"""Takedowns: an operator removes or hides a clip, a goal's clips or everything of an account.

The rows change in one transaction, so that pages, API, feeds and links agree at once; the files follow. Removed files
are also queued for deletion, so that they go even if this process dies. Hidden files are moved, so that signed URLs
issued before stop working.
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
    """The files are deleted for good."""
    HIDE = "hide"
    """The files are kept out of reach, and shown again when the takedown is lifted."""


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
    """Of an account; None for every source."""


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
    """The library's part, in the transaction of the takedown."""

    async def take_down(self, connection: Connection, given: WithdrawnClips, now: datetime) -> list[str]: ...

    async def allow_again(self, connection: Connection, clips: Sequence[tuple[str, str]]) -> None: ...


# --- Rules.


@dataclass(frozen=True, slots=True)
class CoveredVideo:
    event_id: str
    md5: str
    replaced_by: str | None = None


VideoName = tuple[str, str]
"""Event id and MD5."""


def checked_order(order: TakedownOrder) -> TakedownOrder:
    """Normalize the target: ids out of links, account names without their sign. Raises BadRequest."""
    reason = " ".join(order.reason.split())
    if not 1 <= len(reason) <= MAX_REASON_LENGTH:
        raise BadRequest(f"a takedown needs a reason of 1 to {MAX_REASON_LENGTH} characters, which links will show")
    if order.source is not None and order.scope is not TakedownScope.ACCOUNT:
        raise BadRequest("a source can only be given for an account")
    return replace(order, target=_target(order), reason=reason)


def _target(order: TakedownOrder) -> str:
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
        raise BadRequest(f"an account's name has 1 to {MAX_ACCOUNT_LENGTH} characters")
    return name


def covered(videos: Sequence[CoveredVideo], chosen: Iterable[VideoName], scope: TakedownScope) -> set[VideoName]:
    """Chosen videos with all copies of them, whose links lead there, and the same content at other goals.

    The link of a merged copy shows the better one, so that is what a takedown of the link means. An account's copy that
    was merged into a better one of somebody else does not take that one down.
    """
    known = {(each.event_id, each.md5): each for each in videos}
    found = {name for name in chosen if name in known}
    if scope is TakedownScope.CLIP:
        found = {_winner(known, name) for name in found}
    while True:
        content = {md5 for _, md5 in found}
        more = {
            name
            for name, each in known.items()
            if name not in found
            and (
                (scope is not TakedownScope.GOAL and each.md5 in content) or (name[0], each.replaced_by or "") in found
            )
        }
        if not more:
            return found
        found |= more


def _winner(known: Mapping[VideoName, CoveredVideo], name: VideoName) -> VideoName:
    seen = {name}
    while (by := known[name].replaced_by) is not None and (name[0], by) in known and (name[0], by) not in seen:
        name = (name[0], by)
        seen.add(name)
    return name


# --- Store.


class TakedownStore:
    def __init__(self, database: Database, library: LibraryTakedown) -> None:
        self._db = database
        self._library = library

    async def take_down(self, order: TakedownOrder, by: str, now: datetime) -> tuple[int, list[str]]:
        """Withdraw everything of the order; return the takedown and the keys of the files. Raises NotFound."""
        async with self._db.connection() as connection:
            chosen, events = await self._choose(connection, order)
            locked = {row["id"]: row for row in await fetch(connection, SQL["lock_goals"], {"ids": sorted(events)})}
            rows = await fetch(connection, SQL["videos_of"], {"ids": sorted(locked)})
            if order.scope is TakedownScope.GOAL:
                chosen = {(row["event_id"], row["md5"]) for row in rows if row["event_id"] == order.target}
            videos = [CoveredVideo(row["event_id"], row["md5"], row["replaced_by"]) for row in rows]
            names = covered(videos, chosen, order.scope)
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
            keys = [key for row in withdrawn for key in _keys_of(row, locked[row["event_id"]]["fixture_id"])]
            given = _for_library(order, chosen, withdrawn)
            library = await self._library.take_down(connection, given, now)
            if order.kind is TakedownKind.REMOVE:
                await fetch(connection, SQL["queue_deletions"], {"keys": [*keys, *(HIDDEN + key for key in keys)]})
            by_event = _by_event(withdrawn)
            for event_id, gone in by_event.items():
                await _rank_others(
                    connection, event_id, [row for row in rows if row["event_id"] == event_id], gone, now
                )
                await append_outbox(connection, _messages(locked[event_id]["fixture_id"], event_id, gone, order))
            md5s = [row["md5"] for row in withdrawn]
            await fetch(connection, SQL["cancel_deliveries"], {"ids": sorted(by_event), "md5s": md5s})
            links = sum(row["state"] in ("kept", "replaced") for row in withdrawn)
            sources = sum(key.endswith("/master.mp4") for key in library)
            counts = {"id": takedown, "clips": links, "posts": posts, "library": sources}
            await fetch(connection, SQL["count"], counts)
        return takedown, library

    async def _choose(self, connection: Connection, order: TakedownOrder) -> tuple[set[VideoName], set[str]]:
        """Videos that the order names, and the goals that may have copies of them."""
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
        """A video that is already taken down keeps what the first takedown saved of it."""
        events = sorted({row["event_id"] for row in rows})
        found = await fetch(connection, SQL["saved_before"], {"ids": events})
        before = {(row["event_id"], row["md5"]): row["saved"] for row in found}
        saved = []
        for row in rows:
            name = row["event_id"], row["md5"]
            state = before[name] if row["rejection_reason"] == "taken down" and name in before else _saved(row)
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
                raise BadRequest(f"takedown {takedown} was lifted before")
            videos = await fetch(connection, SQL["videos_of_takedown"], {"id": takedown})
            events = sorted({row["event_id"] for row in videos})
            locked = {row["id"]: row for row in await fetch(connection, SQL["lock_goals"], {"ids": events})}
            await fetch(connection, SQL["set_lifted"], {"id": takedown, "now": now, "by": by})
            await fetch(connection, SQL["restore_posts"], {"id": takedown})
            await fetch(connection, SQL["drop_saved_posts"], {"id": takedown})
            if found[0]["kind"] != TakedownKind.HIDE:
                return
            restorable = await fetch(connection, SQL["restorable"], {"id": takedown})
            shown: list[VideoName] = []
            for event_id, rows in _by_event(restorable).items():
                shown += await _restore(connection, event_id, rows, locked[event_id]["fixture_id"], now)
            await self._library.allow_again(connection, shown)

    async def all(self) -> list[Takedown]:
        """The newest first."""
        return [_takedown(row) for row in await self._db.fetch(SQL["list"], id=None, limit=MAX_LISTED)]

    async def one(self, takedown: int) -> Takedown:
        found = await self._db.fetch(SQL["list"], id=takedown, limit=1)
        if not found:
            raise NotFound(f"takedown {takedown} not found")
        return _takedown(found[0])

    async def videos(self, takedown: int) -> list[VideoName]:
        found = await self._db.fetch(SQL["videos_of_takedown"], id=takedown)
        return [(row["event_id"], row["md5"]) for row in found]

    async def still_withdrawn(self, takedown: int) -> list[VideoName]:
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


def _saved(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("state", "replaced_by", "offset_seconds", "mirrored")}


def _keys_of(row: Mapping[str, Any], fixture_id: int) -> list[str]:
    """Keys of the video itself; pictures made of it are found by listing."""
    return [clip_key(fixture_id, row["event_id"], row["md5"]), staging_key(row["event_id"], row["md5"])]


def _for_library(
    order: TakedownOrder, chosen: Iterable[VideoName], rows: Sequence[Mapping[str, Any]]
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


def _messages(
    fixture_id: int, event_id: str, rows: Sequence[Mapping[str, Any]], order: TakedownOrder
) -> list[OutboxEvent]:
    return [
        OutboxEvent("clip.taken_down", fixture_id, event_id, {"md5": row["md5"], "reason": order.reason})
        for row in rows
        if row["state"] in ("kept", "replaced")
    ]


async def _rank_others(
    connection: Connection,
    event_id: str,
    rows: Sequence[Mapping[str, Any]],
    gone: Sequence[Mapping[str, Any]],
    now: datetime,
) -> None:
    withdrawn = {row["md5"] for row in gone}
    before = {row["md5"]: row for row in rows}
    stays = [md5 for md5, row in before.items() if row["state"] == "kept" and md5 not in withdrawn]
    await save_ranks(connection, event_id, before, stays, now, always=True)


async def _restore(
    connection: Connection, event_id: str, rows: Sequence[Mapping[str, Any]], fixture_id: int, now: datetime
) -> list[VideoName]:
    """Show clips again that were published; whatever was in work when they were hidden stays rejected."""
    again = [row["md5"] for row in rows if row["saved"]["state"] == "kept"]
    await fetch(connection, SQL["restore_hashed"], {"event": event_id, "md5s": again})
    found = await fetch(connection, CLIP_SQL["videos_to_settle"], {"id": event_id})
    before = {row["md5"]: row for row in found}
    kept = [md5 for md5, row in before.items() if row["state"] == "kept"] + again
    copies = [
        {"md5": row["md5"], "of": row["saved"]["replaced_by"], **row["saved"]}
        for row in rows
        if row["saved"]["state"] == "replaced" and row["saved"]["replaced_by"] in kept
    ]
    await fetch(connection, SQL["restore_replaced"], {"event": event_id, "rows": Jsonb(copies)})
    ranks, _ = await save_ranks(connection, event_id, before, kept, now, always=True)
    await append_outbox(connection, [OutboxEvent("clips.ranked", fixture_id, event_id, {"clips": ranks})])
    return [(event_id, md5) for md5 in again]


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
        """Withdraw everything of the order at once. If the object store is unavailable, its files follow later.

        Raises BadRequest, NotFound, StoreUnavailable.
        """
        takedown, library = await self._store.take_down(checked_order(order), by, self._now())
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
        """Show hidden clips again, in their old place; what was removed stays removed. Raises NotFound, BadRequest,
        ObjectStoreError.
        """
        given = await self._store.one(takedown)
        if given.kind is TakedownKind.HIDE and given.lifted_at is None:
            # The files first, so that no clip is shown before its file is there.
            for event_id, md5 in await self._store.videos(takedown):
                key = clip_key(int(event_id.partition("_")[0]), event_id, md5)
                await self._copy(HIDDEN + key, key)
        await self._store.lift(takedown, by, self._now())
        if given.kind is TakedownKind.HIDE:
            still = await self._store.still_withdrawn(takedown)
            for event_id, md5 in still:  # covered by another takedown
                await self._withdraw_files(TakedownKind.HIDE, event_id, md5)
            shown = set(await self._store.videos(takedown)) - set(still)
            keys = [clip_key(int(event_id.partition("_")[0]), event_id, md5) for event_id, md5 in shown]
            await self._objects.delete([HIDDEN + key for key in keys])
        extra = {"action": "takedown_lifted", "takedown": takedown, "by": by}
        log.warning(f"{by} lifted takedown {takedown}", extra=extra)
        return await self._store.one(takedown)

    async def all(self) -> list[Takedown]:
        """The newest first."""
        return await self._store.all()

    async def one(self, takedown: int) -> Takedown:
        """Raises NotFound."""
        return await self._store.one(takedown)

    async def finish(self) -> int:
        """Delete or move the files of takedowns for which that failed; return their number."""
        pending = await self._store.with_pending_files()
        for takedown in pending:
            await self._finish(takedown)
        return len(pending)

    async def _finish(self, takedown: int) -> None:
        given = await self._store.one(takedown)
        for event_id, md5 in await self._store.videos(takedown) if given.lifted_at is None else ():
            await self._withdraw_files(given.kind, event_id, md5)
        await self._store.set_files_done(takedown, self._now())

    async def _withdraw_files(self, kind: TakedownKind, event_id: str, md5: str) -> None:
        """Delete a video with its pictures; a hidden video is moved, and its pictures are made again on demand."""
        fixture_id = int(event_id.partition("_")[0])
        key = clip_key(fixture_id, event_id, md5)
        gone = [staging_key(event_id, md5), key]
        if kind is TakedownKind.HIDE:
            await self._copy(key, HIDDEN + key)
        else:
            gone.append(HIDDEN + key)
        prefix = clip_prefix(fixture_id, event_id)
        gone += [each.key async for each in self._objects.list(prefix) if md5_of(each.key) == md5]
        await self._objects.delete(gone)

    async def _copy(self, key: str, to: str) -> None:
        try:
            await self._objects.copy(key, to)
        except ObjectMissing:
            log.debug("no object %s", key)
