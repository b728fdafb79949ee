"""What the demo's library holds in the end: the scenes of all kept clips, ready for review."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from found_footy.adapters.storage.postgres.access import PostgresAccess
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.library_reading import PostgresLibraryReading
from found_footy.adapters.storage.postgres.readers import Readers
from found_footy.config import Settings
from found_footy.domain.access import ID_LENGTH, SECRET_BYTES, Role, new_token
from found_footy.domain.clips.states import ClipState, SourceState
from found_footy.domain.errors import EngineError
from found_footy.simulator.verdict import Mismatch


@dataclass(frozen=True, slots=True)
class DemoLibrary:
    """How far the library has come with the clips that were kept."""

    kept: int
    """Clips of goals whose search has ended: so many sources there should be."""
    sources: Mapping[str, int] = field(default_factory=dict)
    """By state, of goals that stand. One that was withdrawn after its search had ended is there, too, and says so."""
    clips: Mapping[str, int] = field(default_factory=dict)
    """By state."""

    @property
    def scenes(self) -> int:
        return sum(self.clips.values())

    @property
    def ready(self) -> int:
        return self.clips.get(ClipState.PENDING_REVIEW, 0)

    @property
    def cut(self) -> int:
        return self.sources.get(SourceState.SPLICED, 0)

    @property
    def settled(self) -> bool:
        return self.cut == self.kept and self.ready == self.scenes

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        found = []
        if dict(self.sources) != ({SourceState.SPLICED.value: self.kept} if self.kept else {}):
            found.append(Mismatch(0, "library", f"{self.kept} clips cut into scenes", _said(self.sources)))
        if self.ready != self.scenes:
            found.append(Mismatch(0, "library", f"{self.scenes} scenes ready for review", _said(self.clips)))
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        return {"kept": self.kept, "sources": dict(self.sources), "clips": dict(self.clips)}


def _said(states: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "nothing"


def kept_in(documents: Sequence[Mapping[str, Any]]) -> int:
    """Clips that belong into the library: those of goals that stand, whose search has ended."""
    events = (event for document in documents for event in document["events"])
    return sum(len(event["_s3_videos"]) for event in events if event["_download_complete"] and not event["_removed"])


async def look_at_library(settings: Settings, documents: Sequence[Mapping[str, Any]]) -> DemoLibrary:
    """Raises StoreUnavailable."""
    if settings.database_url is None:
        raise EngineError("no database is known")
    readers = Readers(settings.database_url.get_secret_value(), size=1)
    await readers.open()
    try:
        totals = json.loads(await PostgresLibraryReading(readers).totals())
    finally:
        await readers.close()
    standing = Counter(totals["sources"]) - Counter(totals["withdrawn"])
    return DemoLibrary(kept_in(documents), standing, totals["clips"])


async def editor_token(database: Database) -> str:
    """To review with. The database of the demo, and the token with it, is gone when the demo ends."""
    random, secret = secrets.token_bytes(ID_LENGTH), secrets.token_bytes(SECRET_BYTES)
    token, text = new_token("demo", Role.EDITOR, datetime.now(UTC), random, secret)
    await PostgresAccess(database).add_token(token)
    return text
