"""Read models of the library: one shape from the database to the API, the pages and the commands.

Field names are those of the REST API; `class` is a keyword, so that field is called `kind` here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from fractions import Fraction
from typing import Any, Literal

from pydantic import TypeAdapter

from found_footy.errors import NotFound
from found_footy.library.models import ARCHIVED, FILES_DELETED, ClipState, Facts, SourceState
from found_footy.storage.postgres import load_queries
from found_footy.storage.read_pool import ReadPool

SQL = load_queries(__package__, "views")

MAX_TILES = 2000
"""Maximum tiles of one source in a response: about as many scenes as a film of four hours has. `tile_count` has the
total.
"""

SourceKindName = Literal["goal", "url", "file"]


def _doc(text: str, **more: str) -> dict[str, str]:
    """Field metadata: its description in the OpenAPI document."""
    return {"description": text, **more}


@dataclass(frozen=True, slots=True)
class Sheet:
    """Thumbnails, row by row; thumbnail n shows the source's frame `first + n * every`."""

    clip: int = field(
        metadata=_doc("Clip that the sheet was made for; a clip that was just edited shows its parent's sheet.")
    )
    url: str
    first: int
    columns: int
    rows: int
    width: int = field(metadata=_doc("Of one thumbnail."))
    height: int
    count: int
    every: int


@dataclass(frozen=True, slots=True)
class Film:
    url: str | None = field(metadata=_doc("Null once all clips were archived and the file was deleted."))
    deleted_at: datetime | None
    frames: int
    rate: float = field(metadata=_doc("Frames per second."))
    seconds: float
    width: int
    height: int
    audio: bool
    size: int = field(metadata=_doc("Bytes."))


@dataclass(frozen=True, slots=True)
class StageError:
    kind: str = field(metadata=_doc("Error class.", alias="class"))
    message: str | None
    failures: int = field(metadata=_doc("Consecutive failures."))
    retry_at: datetime | None = field(metadata=_doc("Next automatic retry; null if only a manual retry helps."))


@dataclass(frozen=True, slots=True)
class SourceSummary:
    id: int
    kind: SourceKindName
    state: SourceState
    title: str
    facts: Facts = field(metadata=_doc("Known facts; for a goal its player, team, minute and so on."))
    event_id: str | None
    url: str | None = field(metadata=_doc("URL that it was downloaded from, without the query string."))
    progress: float | None = field(metadata=_doc("Of the running stage, 0 to 1."))
    error: StageError | None
    submitted_by: str
    created_at: datetime
    changed_at: datetime
    film: Film | None
    clips: Mapping[str, int] = field(metadata=_doc("Number of clips by state."))
    sheet: Sheet | None


@dataclass(frozen=True, slots=True)
class Tile:
    id: int
    first: int = field(metadata=_doc("First frame."))
    end: int = field(metadata=_doc("Frame after the last one."))
    state: ClipState
    group: int | None
    reviewed_by: str | None
    reviewed_at: datetime | None
    settles_at: datetime | None
    progress: float | None = field(metadata=_doc("Of the running stage, 0 to 1."))
    error: str | None
    sheet: Sheet | None


@dataclass(frozen=True, slots=True)
class SourceDetail(SourceSummary):
    tile_count: int = field(metadata=_doc("Number of all tiles; `/api/v1/clips` lists those that are not in `tiles`."))
    tiles: Sequence[Tile] = field(
        metadata=_doc(f"The first {MAX_TILES}. They cover the source without gap or overlap.")
    )


@dataclass(frozen=True, slots=True)
class ClipSummary:
    id: int
    source: int
    title: str
    facts: Facts
    event_id: str | None
    first: int = field(metadata=_doc("First frame, counted in the source."))
    end: int = field(metadata=_doc("Frame after the last one."))
    frames: int
    rate: float
    starts: float = field(metadata=_doc("Seconds from the start of the source."))
    seconds: float
    state: ClipState
    live: bool = field(metadata=_doc("Whether it is a tile of its source; false once it was split or merged."))
    group: int | None
    settles_at: datetime | None = field(metadata=_doc("Until then, the last action can be undone."))
    reviewed_by: str | None
    reviewed_at: datetime | None
    created_at: datetime
    changed_at: datetime
    progress: float | None = field(metadata=_doc("Of the running stage, 0 to 1."))
    error: StageError | None
    file: str | None = field(metadata=_doc("Its own video file; null while only `film` exists."))
    film: str | None = field(metadata=_doc("The whole source; null once its file is deleted."))
    sheet: Sheet | None


@dataclass(frozen=True, slots=True)
class KeyframeImage:
    number: int
    frame: int = field(metadata=_doc("Counted in the source."))
    chosen_by: str
    width: int
    height: int
    url: str


@dataclass(frozen=True, slots=True)
class DuplicateClip:
    id: int
    source: int
    title: str
    state: ClipState
    facts: Facts
    looks_alike: bool = field(metadata=_doc("Whether the fingerprints match."))
    same: bool | None = field(metadata=_doc("An editor's verdict, which overrides the fingerprints."))
    said_by: str | None
    said_at: datetime | None
    sheet: Sheet | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class ClipDetail(ClipSummary):
    keyframes: Sequence[KeyframeImage]
    models: Sequence[str] = field(metadata=_doc("Embedding models with a vector of this clip."))
    grouped: Sequence[int]
    neighbours: Neighbours
    parts: Sequence[int] = field(metadata=_doc("Clips that replaced it, once it was split or merged."))
    copies: Sequence[DuplicateClip]


@dataclass(frozen=True, slots=True)
class LibraryTotals:
    """Counts by state."""

    sources: Mapping[str, int]
    withdrawn: Mapping[str, int]
    """Sources whose goal was withdrawn."""
    clips: Mapping[str, int]
    """Live clips."""


@dataclass(frozen=True, slots=True)
class PendingDeletion:
    """An object that no row refers to and that could not be deleted yet."""

    key: str
    asked_at: datetime
    tries: int
    error: str | None


@dataclass(frozen=True, slots=True)
class SourceFilter:
    states: Sequence[SourceState] | None = None
    kind: str | None = None
    event: str | None = None
    q: str | None = None


@dataclass(frozen=True, slots=True)
class ClipFilter:
    states: Sequence[ClipState] | None = None
    source: int | None = None
    event: str | None = None
    q: str | None = None


def view_json(view: object) -> bytes:
    """Serialize a read model as JSON with the field names of the REST API."""
    return _adapter(type(view)).dump_json(view, by_alias=True)


def view_document(view: object) -> Any:
    """Same as `view_json`, as values that `json` can serialize."""
    return _adapter(type(view)).dump_python(view, mode="json", by_alias=True)


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def _adapter(view: type) -> TypeAdapter[Any]:
    """Cached, because building an adapter takes milliseconds."""
    if view not in _ADAPTERS:
        _ADAPTERS[view] = TypeAdapter(view)
    return _ADAPTERS[view]


class LibraryViews:
    """All methods raise StoreUnavailable."""

    def __init__(self, readers: ReadPool) -> None:
        self._db = readers

    async def sources(
        self, search_filter: SourceFilter, *, before: int | None = None, limit: int
    ) -> list[SourceSummary]:
        """Newest first; with `before`, those with a lower id."""
        return [SourceSummary(**_source_fields(row)) for row in await self._sources(search_filter, None, before, limit)]

    async def source(self, source_id: int) -> SourceDetail:
        """Raises NotFound."""
        found = await self._sources(SourceFilter(), source_id, None, 1)
        if not found:
            raise NotFound(f"source {source_id} not found")
        tiles = await self._db.fetch(SQL["tiles"], {"source": source_id, "limit": MAX_TILES})
        count = (await self._db.fetch(SQL["count_tiles"], {"source": source_id}))[0]["number"]
        return SourceDetail(**_source_fields(found[0]), tile_count=count, tiles=[_tile(row) for row in tiles])

    async def clips(self, search_filter: ClipFilter, *, before: int | None = None, limit: int) -> list[ClipSummary]:
        """Live clips, newest first; with `before`, those with a lower id."""
        return [ClipSummary(**_clip_fields(row)) for row in await self._clips(search_filter, None, before, limit)]

    async def clip(self, clip_id: int) -> ClipDetail:
        """Also a clip that was split or merged. Raises NotFound."""
        found = await self._clips(ClipFilter(), clip_id, None, 1)
        params = {"id": clip_id, "archived": sorted(ARCHIVED)}
        related = await self._db.fetch(SQL["related"], params) if found else []
        if not related:
            raise NotFound(f"clip {clip_id} not found")
        row, more = found[0], related[0]
        duplicates = await self._db.fetch(SQL["duplicates"], {"id": clip_id})
        return ClipDetail(
            **_clip_fields(row),
            keyframes=[
                KeyframeImage(**each, url=f"/c/{clip_id}-{each['number']}.jpg?v={row['file_md5'][:8]}-{each['frame']}")
                for each in more["keyframes"]
            ],
            models=more["models"],
            grouped=more["grouped"],
            neighbours=Neighbours(more["before"], more["after"]),
            parts=more["parts"],
            copies=[_duplicate(each) for each in duplicates],
        )

    async def totals(self) -> LibraryTotals:
        return LibraryTotals(**(await self._db.fetch(SQL["totals"]))[0])

    async def pending_deletions(self, limit: int) -> list[PendingDeletion]:
        """Longest waiting first."""
        found = await self._db.fetch(SQL["pending_deletions"], {"limit": limit})
        return [PendingDeletion(**row) for row in found]

    async def _sources(
        self, search_filter: SourceFilter, only: int | None, before: int | None, limit: int
    ) -> list[dict[str, Any]]:
        params = {**_params(search_filter), "only": only, "before": before, "limit": limit}
        return await self._db.fetch(SQL["sources"], params, prepare=False)

    async def _clips(
        self, search_filter: ClipFilter, only: int | None, before: int | None, limit: int
    ) -> list[dict[str, Any]]:
        params = {**_params(search_filter), "only": only, "before": before, "limit": limit}
        return await self._db.fetch(SQL["clips"], params, prepare=False)


def _params(search_filter: SourceFilter | ClipFilter) -> dict[str, Any]:
    params = {each.name: getattr(search_filter, each.name) for each in fields(search_filter)}
    return params | {"states": [str(state) for state in search_filter.states] if search_filter.states else None}


def _source_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "kind": row["kind"],
        "state": SourceState(row["state"]),
        "title": row["title"],
        "facts": row["facts"],
        "event_id": row["event_id"],
        "url": row["url"],
        "progress": row["progress"],
        "error": _error(row),
        "submitted_by": row["submitted_by"],
        "created_at": row["created_at"],
        "changed_at": row["changed_at"],
        "film": _film(row),
        "clips": row["clips"],
        "sheet": _sheet(row),
    }


def _film(row: Mapping[str, Any]) -> Film | None:
    if row["frames"] is None:
        return None
    rate = Fraction(row["rate_num"], row["rate_den"])
    return Film(
        url=_film_url(row["id"], row),
        deleted_at=row["film_deleted_at"],
        frames=row["frames"],
        rate=_rounded(rate),
        seconds=_rounded(row["frames"] / rate),
        width=row["width"],
        height=row["height"],
        audio=row["audio"],
        size=row["file_size"],
    )


def _tile(row: Mapping[str, Any]) -> Tile:
    return Tile(
        id=row["id"],
        first=row["first_frame"],
        end=row["end_frame"],
        state=ClipState(row["state"]),
        group=row["grouped_with"],
        reviewed_by=row["reviewed_by"],
        reviewed_at=row["reviewed_at"],
        settles_at=row["settles_at"],
        progress=row["progress"],
        error=row["error_kind"],
        sheet=_sheet(row),
    )


def _clip_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    state, first, end = ClipState(row["state"]), row["first_frame"], row["end_frame"]
    rate = Fraction(row["rate_num"], row["rate_den"])
    has_file = row["has_file"] or (first == 0 and end == row["frames"])
    file = f"/c/{row['id']}.mp4?v={row['file_md5'][:8]}-{first}-{end}"
    return {
        "id": row["id"],
        "source": row["source_id"],
        "title": row["title"],
        "facts": row["facts"],
        "event_id": row["event_id"],
        "first": first,
        "end": end,
        "frames": end - first,
        "rate": _rounded(rate),
        "starts": _rounded(first / rate),
        "seconds": _rounded((end - first) / rate),
        "state": state,
        "live": row["live"],
        "group": row["grouped_with"],
        "settles_at": row["settles_at"],
        "reviewed_by": row["reviewed_by"],
        "reviewed_at": row["reviewed_at"],
        "created_at": row["created_at"],
        "changed_at": row["changed_at"],
        "progress": row["progress"],
        "error": _error(row),
        "file": file if has_file and state not in FILES_DELETED else None,
        "film": _film_url(row["source_id"], row),
        "sheet": _sheet(row),
    }


def _duplicate(row: Mapping[str, Any]) -> DuplicateClip:
    return DuplicateClip(
        id=row["id"],
        source=row["source_id"],
        title=row["title"],
        state=ClipState(row["state"]),
        facts=row["facts"],
        looks_alike=row["looks_alike"],
        same=row["same"],
        said_by=row["said_by"],
        said_at=row["said_at"],
        sheet=_sheet(row),
    )


def _error(row: Mapping[str, Any]) -> StageError | None:
    if row["error_kind"] is None:
        return None
    return StageError(row["error_kind"], row["error"], row["failures"], row["retry_at"])


def _sheet(row: Mapping[str, Any]) -> Sheet | None:
    """Sheet from the columns `sheet_*`: the clip's own, or that of the clip it was made from."""
    sprite = row["sheet_sprite"]
    if sprite is None:
        return None
    clip, first, end = row["sheet_clip"], row["sheet_first"], row["sheet_end"]
    return Sheet(
        clip=clip,
        url=f"/c/{clip}.webp?v={row['file_md5'][:8]}-{first}-{end}",
        first=first,
        **{name: sprite[name] for name in ("columns", "rows", "width", "height", "count", "every")},
    )


def _film_url(source_id: int, row: Mapping[str, Any]) -> str | None:
    return None if row["film_deleted_at"] else f"/s/{source_id}.mp4?v={row['file_md5'][:8]}"


def _rounded(value: Fraction) -> float:
    return float(round(value, 3))
