"""Views of sources, clips and thumbnails for the library pages. Pure functions of the library's documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from found_footy import errors
from found_footy.errors import FootyError
from found_footy.library.models import (
    ARCHIVED,
    FILES_DELETED,
    ClipState,
    Facts,
    SourceState,
    progress_label,
    state_label,
)
from found_footy.library.views import (
    ClipDetail,
    ClipSummary,
    DuplicateClip,
    Film,
    KeyframeImage,
    Sheet,
    SourceDetail,
    SourceSummary,
    StageError,
    Tile,
)


@dataclass(frozen=True, slots=True)
class Thumbnail:
    url: str
    width: int
    height: int
    """Height of the thumbnail."""
    left: int
    top: int
    sheet_width: int
    sheet_height: int


def thumbnail(sheet: Sheet | None, frame: int | None = None) -> Thumbnail | None:
    """Thumbnail of this source frame, or of the last one before it. Without a frame, one from the first third, since
    videos often begin in black. None without a sheet. Drawn as SVG, which needs no inline style.
    """
    if sheet is None:
        return None
    count, columns, rows = (max(1, each) for each in (sheet.count, sheet.columns, sheet.rows))
    number = count // 3 if frame is None else (frame - sheet.first) // max(1, sheet.every)
    position = min(max(0, number), count - 1, columns * rows - 1)
    return Thumbnail(
        sheet.url, sheet.width, sheet.height, position % columns * sheet.width, position // columns * sheet.height,
        columns * sheet.width, rows * sheet.height,
    )  # fmt: skip


# --- Library texts: states, durations, and advice for failures. Pure functions.


_S, _C = SourceState, ClipState

SOURCE_TONES: Mapping[SourceState, str] = {
    _S.NEW: "wait",
    _S.DOWNLOADING: "work",
    _S.DOWNLOADED: "wait",
    _S.SPLICING: "work",
    _S.SPLICED: "ok",
    _S.DOWNLOAD_FAILED: "failed",
    _S.SPLICING_FAILED: "failed",
}

SOURCE_GROUPS: Mapping[str, tuple[SourceState, ...]] = {
    "working": (_S.NEW, _S.DOWNLOADING, _S.DOWNLOADED, _S.SPLICING),
    "ready": (_S.SPLICED,),
    "failed": (_S.DOWNLOAD_FAILED, _S.SPLICING_FAILED),
}
"""Filter groups."""
KIND_NAMES = {"goal": "Goal", "url": "URL", "file": "File"}


@dataclass(frozen=True, slots=True)
class ClipGroup:
    name: str
    label: str
    tone: str
    states: tuple[ClipState, ...]


CLIP_GROUPS: tuple[ClipGroup, ...] = (
    ClipGroup("prepared", "being prepared", "work", (_C.EDIT_PENDING, _C.SPLICED, _C.GENERATING_SPRITE)),
    ClipGroup("review", "to review", "wait", (_C.PENDING_REVIEW,)),
    ClipGroup(
        "filed", "approved, being filed", "work", (_C.REVIEW_APPROVED, _C.KEYFRAMING, _C.KEYFRAMED, _C.EMBEDDING)
    ),
    ClipGroup("library", "in the library", "ok", (_C.EMBEDDED,)),
    ClipGroup("skipped", "skipped", "quiet", (_C.REVIEW_SKIPPED,)),
    ClipGroup("failed", "failed", "failed", (_C.SPRITE_FAILED, _C.KEYFRAME_FAILED, _C.EMBEDDING_FAILED)),
    ClipGroup("archived", "archived", "quiet", tuple(sorted(ARCHIVED))),
)
"""Each clip state is in exactly one of them."""

CLIP_TONES: Mapping[ClipState, str] = {state: group.tone for group in CLIP_GROUPS for state in group.states}


@dataclass(frozen=True, slots=True)
class StateCount:
    name: str
    label: str
    tone: str
    number: int


def state_counts(by_state: Mapping[str, int]) -> list[StateCount]:
    """Counts of clips by group, without empty groups."""
    counts = [(group, sum(by_state.get(state, 0) for state in group.states)) for group in CLIP_GROUPS]
    return [StateCount(group.name, group.label, group.tone, number) for group, number in counts if number]


_ADVICE: Mapping[str, str] = {
    "NotAVideo": "It contains no video. Submit another file or URL.",
    "MediaBroken": "The file is damaged or truncated. Submit a complete copy.",
    "MediaTooLarge": "Submit a shorter or smaller video, or raise FOOTY_SOURCE_HOURS, FOOTY_SOURCE_MB "
    "or FOOTY_SOURCE_MEDIA_SECONDS.",
    "CandidateRejected": "Open the URL in a browser: it may be deleted, private or geo-blocked. "
    "Submit another URL or the file itself.",
    "BadRequest": "This URL must not be fetched from here. Submit the file itself.",
    "DownloadUnavailable": "The host did not respond properly. Retry later.",
    "ObjectMissing": "Its file is missing in the object store. Submit it again.",
    "ObjectStoreUnavailable": "The object store is unavailable; run `footy doctor`.",
    "StoreUnavailable": "The database is unavailable; run `footy doctor`.",
    "DecoderUnavailable": "The worker cannot start its decoder process; see its log.",
    "EmbeddingUnavailable": "The embedding server is unavailable; check FOOTY_EMBEDDING_URL.",
}


def advice_for(kind: str) -> str:
    """Advice for a failure of this class."""
    if kind in _ADVICE:
        return _ADVICE[kind]
    error_class = getattr(errors, kind, None)
    hint = error_class.hint if isinstance(error_class, type) and issubclass(error_class, FootyError) else ""
    return hint or "See the worker's log, then retry."


def format_length(seconds: float) -> str:
    """Duration as `0:07`, `12:30` or `2:03:04`; with tenths below one minute."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    total = round(seconds)
    hours, minutes = divmod(total // 60, 60)
    return f"{hours}:{minutes:02}:{total % 60:02}" if hours else f"{minutes}:{total % 60:02}"


def format_timecode(seconds: float) -> str:
    """Position in a video: `0:07.2`."""
    tenths = int(seconds * 10)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    short = f"{minutes}:{rest // 10:02}.{rest % 10}"
    return f"{hours}:{minutes:02}:{rest // 10:02}.{rest % 10}" if hours else short


def format_size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


# --- Shared by the pages of sources and clips: facts, failures, and hidden results.


Hides = Callable[[int], bool]
"""Whether the result of a match is hidden from this reader."""

FACT_NAMES = {
    "player": "Player", "assist": "Assist", "team": "Team", "kind": "Kind", "minute": "Minute", "score": "Score",
    "competition": "Competition",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class StageErrorView:
    kind: str
    message: str
    advice: str
    failures: int
    retry_at: datetime | None


def fixture_of(item: SourceSummary | ClipSummary) -> int | None:
    """Match whose result the item reveals."""
    value = item.facts.get("fixture_id")
    return int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()) else None


def facts_view(facts: Facts) -> tuple[tuple[str, str], ...]:
    rows = [(label, str(facts[name])) for name, label in FACT_NAMES.items() if facts.get(name)]
    if facts.get("home") and facts.get("away"):
        rows.insert(0, ("Match", f"{facts['home']} v {facts['away']}"))
    if facts.get("withdrawn"):
        rows.append(("Goal", "withdrawn"))
    if facts.get("verified") is not None:
        rows.append(("Clock", "verified" if facts["verified"] else "not verified"))
    return tuple(rows)


def spoiler_free_title(facts: Facts) -> str:
    return f"{facts.get('home') or 'A match'} v {facts.get('away') or 'another team'}"


def stage_error_view(error: StageError | None) -> StageErrorView | None:
    if error is None:
        return None
    return StageErrorView(error.kind, error.message or "", advice_for(error.kind), error.failures, error.retry_at)


# --- Clip view. Pure functions of the clip's document.


PROCESSING_STATES = frozenset(state for state, tone in CLIP_TONES.items() if tone == "work")


@dataclass(frozen=True, slots=True)
class DuplicateView:
    id: int
    title: str
    label: str
    picture: Thumbnail | None
    verdict: str
    same: bool | None


@dataclass(frozen=True, slots=True)
class LibraryClipView:
    id: int
    source: int
    title: str
    label: str
    state: str
    tone: str
    is_processing: bool
    live: bool
    film: str | None
    """URL to play: the clip's file, or its range of the source; None if deleted."""
    has_file: bool
    is_gone: bool
    film_is_gone: bool
    """Whether the source's video is deleted."""
    position: str
    length: str
    first: int
    last: int
    reviewed_by: str | None
    reviewed_at: datetime | None
    settles_at: datetime | None
    event_id: str | None
    error: StageErrorView | None
    picture: Thumbnail | None
    facts: tuple[tuple[str, str], ...]
    keyframes: Sequence[KeyframeImage]
    models: Sequence[str]
    grouped: Sequence[int]
    before: int | None
    after: int | None
    parts: Sequence[int]
    copies: list[DuplicateView]
    fixture: int | None
    is_hidden: bool = False
    actions: frozenset[str] = frozenset()


def library_clip_view(clip: ClipDetail, hides: Hides, actions: frozenset[str] = frozenset()) -> LibraryClipView:
    """View of a clip. `actions` are those available now."""
    state, fixture = clip.state, fixture_of(clip)
    hidden = fixture is not None and hides(fixture)
    starts, ends = clip.starts, round(clip.starts + clip.seconds, 3)
    return LibraryClipView(
        id=clip.id,
        source=clip.source,
        title=spoiler_free_title(clip.facts) if hidden else clip.title or f"Clip {clip.id}",
        label=progress_label(state, clip.progress),
        state=str(state),
        tone=CLIP_TONES[state],
        is_processing=state in PROCESSING_STATES,
        live=clip.live,
        film=clip.file or (clip.film and f"{clip.film}#t={starts},{ends}"),
        has_file=clip.file is not None,
        is_gone=state in FILES_DELETED,
        film_is_gone=clip.film is None,
        position=format_timecode(starts),
        length=format_length(clip.seconds),
        first=clip.first,
        last=clip.end - 1,
        reviewed_by=clip.reviewed_by,
        reviewed_at=clip.reviewed_at,
        settles_at=clip.settles_at,
        event_id=clip.event_id,
        error=stage_error_view(clip.error),
        picture=None if hidden else thumbnail(clip.sheet, clip.first),
        facts=() if hidden else facts_view(clip.facts),
        keyframes=[] if hidden else clip.keyframes,
        models=clip.models,
        grouped=clip.grouped,
        before=clip.neighbours.before,
        after=clip.neighbours.after,
        parts=clip.parts,
        copies=[] if hidden else [_copy(each) for each in clip.copies],
        fixture=fixture,
        is_hidden=hidden,
        actions=actions,
    )


def _copy(duplicate: DuplicateClip) -> DuplicateView:
    same, by = duplicate.same, duplicate.said_by
    if same is None:
        verdict = "by fingerprint"
    else:
        verdict = f"{by or 'a reviewer'} marked it as {'a duplicate' if same else 'different'}"
    title, label = duplicate.title or f"Clip {duplicate.id}", state_label(duplicate.state)
    return DuplicateView(duplicate.id, title, label, thumbnail(duplicate.sheet), verdict, same)


# --- Views of sources and tiles. Pure functions of their documents.


RUNNING_STATES = frozenset({SourceState.DOWNLOADING, SourceState.SPLICING})
PROCESSING_SOURCE_STATES = RUNNING_STATES | {SourceState.NEW, SourceState.DOWNLOADED}


@dataclass(frozen=True, slots=True)
class SourceView:
    id: int
    title: str
    kind: str
    state: str
    label: str
    tone: str
    is_processing: bool
    percent: int | None
    """Progress of the running stage."""
    is_running: bool
    properties: tuple[str, ...]
    film: str | None
    film_deleted_at: datetime | None
    clips: list[StateCount]
    picture: Thumbnail | None
    error: StageErrorView | None
    submitted_by: str
    created_at: datetime
    url: str | None
    event_id: str | None
    facts: tuple[tuple[str, str], ...]
    fixture: int | None
    is_hidden: bool = False


def source_view(source: SourceSummary, hides: Hides) -> SourceView:
    state = source.state
    fixture, facts, film = fixture_of(source), source.facts, source.film
    hidden = fixture is not None and hides(fixture)
    progress = source.progress
    return SourceView(
        id=source.id,
        title=spoiler_free_title(facts) if hidden else source.title or _fallback(source),
        kind=KIND_NAMES[source.kind],
        state=str(state),
        label=state_label(state),
        tone=SOURCE_TONES[state],
        is_processing=state in PROCESSING_SOURCE_STATES,
        percent=round(100 * progress) if progress is not None and state in RUNNING_STATES else None,
        is_running=state in RUNNING_STATES,
        properties=_properties(film) if film else (),
        film=None if hidden or film is None else film.url,
        film_deleted_at=film.deleted_at if film else None,
        clips=state_counts(source.clips),
        picture=None if hidden else thumbnail(source.sheet),
        error=stage_error_view(source.error),
        submitted_by=source.submitted_by,
        created_at=source.created_at,
        url=source.url,
        event_id=source.event_id,
        facts=() if hidden else facts_view(facts),
        fixture=fixture,
        is_hidden=hidden,
    )


@dataclass(frozen=True, slots=True)
class TileView:
    id: int
    state: str
    label: str
    tone: str
    position: str
    length: str
    starts: float
    left: float
    width: float
    """Percentage of the video."""
    reviewed_by: str | None
    reviewed_at: datetime | None
    group: int | None
    picture: Thumbnail | None


def tile_views(source: SourceDetail) -> list[TileView]:
    film = source.film
    return [_tile(each, film.rate, film.frames) for each in source.tiles] if film else []


def _tile(tile: Tile, rate: float, frames: int) -> TileView:
    state, first, end = tile.state, tile.first, tile.end
    starts = first / rate
    return TileView(
        id=tile.id,
        state=str(state),
        label=progress_label(state, tile.progress),
        tone=CLIP_TONES[state],
        position=format_timecode(starts),
        length=format_length((end - first) / rate),
        starts=round(starts, 3),
        left=round(100 * first / frames, 3),
        width=round(100 * (end - first) / frames, 3),
        reviewed_by=tile.reviewed_by,
        reviewed_at=tile.reviewed_at,
        group=tile.group,
        picture=thumbnail(tile.sheet, first),
    )


def _fallback(source: SourceSummary) -> str:
    return source.url or f"Source {source.id}"


def _properties(film: Film) -> tuple[str, ...]:
    return (
        format_length(film.seconds),
        f"{film.width} × {film.height}",
        f"{film.rate:g} fps",
        format_size(film.size),
        "with sound" if film.audio else "silent",
    )
