"""Daily housekeeping: deletes old rows and library sources, and measures the stores."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg.types.json import Jsonb

from found_footy.clips.models import HIDDEN, STAGING
from found_footy.library.models import PREFIX as LIBRARY
from found_footy.recordings.models import RECORDINGS
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.postgres import Database, load_queries
from found_footy.storage.volumes import remove_abandoned_folders

SQL = load_queries(__package__, "housekeeping")
AREAS = {STAGING: "staging", HIDDEN: "hidden", LIBRARY: "library", RECORDINGS: "recordings"}
"""By prefix; all other objects are clips."""
OTHERS = "clips"
DATABASE = "database"

UNUSED_SCENES_AGE = timedelta(days=1)
"""How long scene cuts wait for another source with the same content."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HousekeepingRules:
    audit_age: timedelta
    link_age: timedelta
    library_age: timedelta | None = None
    """None keeps all sources."""
    library_bytes: int | None = None


class Housekeeper:
    """`expire_library` deletes sources without approved clips that are too old, or the oldest beyond a total size."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        rules: HousekeepingRules,
        expire_library: Callable[[datetime | None, int | None, datetime], Awaitable[int]],
        now: Callable[[], datetime],
    ) -> None:
        self._db, self._objects, self._rules = database, objects, rules
        self._expire_library = expire_library
        self._now = now

    async def run(self) -> None:
        now, rules = self._now(), self._rules
        audit, links = now - rules.audit_age, now - rules.link_age
        deleted = {
            "recoveries": len(await self._db.fetch(SQL["expire_audit"], before=audit)),
            "actions": len(await self._db.fetch(SQL["expire_actions"], before=audit)),
            "links": len(await self._db.fetch(SQL["expire_links"], before=links)),
            "sessions": len(await self._db.fetch(SQL["expire_sessions"], now=now)),
        }
        if rules.library_age is not None or rules.library_bytes is not None:
            before = now - rules.library_age if rules.library_age is not None else None
            deleted["sources"] = await self._expire_library(before, rules.library_bytes, now)
        deleted["blocked_clips"] = len(await self._db.fetch(SQL["expire_blocked_clips"]))
        deleted["scenes"] = len(await self._db.fetch(SQL["forget_unused_scenes"], before=now - UNUSED_SCENES_AGE))
        deleted["folders"] = await asyncio.to_thread(remove_abandoned_folders)
        log.info(f"housekeeping deleted {deleted}", extra={"action": "housekeeping", **deleted})
        await self.measure()

    async def measure(self) -> None:
        """Count the objects by area once a day, because listing a bucket takes too long for a gauge."""
        objects: Counter[str] = Counter(dict.fromkeys((*AREAS.values(), OTHERS), 0))
        sizes: Counter[str] = Counter(objects)
        async for stored in self._objects.list():
            area = next((area for prefix, area in AREAS.items() if stored.key.startswith(prefix)), OTHERS)
            objects[area] += 1
            sizes[area] += stored.size
        (database,) = await self._db.fetch(SQL["database_size"])
        rows = [{"area": area, "objects": objects[area], "bytes": sizes[area]} for area in objects]
        rows.append({"area": DATABASE, "objects": 0, "bytes": database["bytes"]})
        await self._db.fetch(SQL["save_usage"], rows=Jsonb(rows), now=self._now())
