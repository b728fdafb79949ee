"""`footy library` and `footy submit`: sources and clips of the clip library."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from uuid import uuid4

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from found_footy.cli.common import (
    EXIT_NOT_AS_EXPECTED,
    AsJson,
    check_choice,
    err,
    located_settings,
    out,
    print_json,
    run,
)
from found_footy.cli.match_view import printable
from found_footy.config import Settings
from found_footy.errors import BadRequest, FootyError, NotFound, ObjectStoreError
from found_footy.library.models import ClipState, SourceState, progress_label, state_label
from found_footy.runtime.clock import utc_now

if TYPE_CHECKING:
    from rich.progress import Progress

    from found_footy.library.models import RemovalResult
    from found_footy.library.review_store import ReviewStore
    from found_footy.library.scrub import ScrubReport
    from found_footy.library.store import LibraryStore
    from found_footy.library.views import LibraryViews, PendingDeletion, SourceDetail, SourceSummary, StageError
    from found_footy.storage.objects.store import ThreadedObjectStore


T = TypeVar("T")

LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class OpenedLibrary:
    settings: Settings
    store: LibraryStore
    review: ReviewStore
    views: LibraryViews


def with_library(use: Callable[[OpenedLibrary], Coroutine[Any, Any, T]]) -> T:
    settings = located_settings("database_url")

    async def body() -> T:
        async with _open_library(settings) as opened:
            return await use(opened)

    return run(body)


@asynccontextmanager
async def open_objects(settings: Settings) -> AsyncIterator[ThreadedObjectStore]:
    """Open the object store, which most commands do not need."""
    from found_footy.storage.stores import build_objects

    objects = build_objects(settings)
    try:
        yield objects
    finally:
        await objects.aclose()


@asynccontextmanager
async def _open_library(settings: Settings) -> AsyncIterator[OpenedLibrary]:
    """Open only the store: the composition root would load models and media, too."""
    from found_footy.library.review_store import ReviewStore
    from found_footy.library.store import LibraryStore
    from found_footy.library.views import LibraryViews
    from found_footy.storage.postgres import open_database
    from found_footy.storage.read_pool import ReadPool

    async with open_database(settings) as database:
        assert settings.database_url is not None
        readers = ReadPool(settings.database_url.get_secret_value())
        await readers.open()
        try:
            review = ReviewStore(database, timedelta(seconds=settings.undo_seconds))
            yield OpenedLibrary(settings, LibraryStore(database), review, LibraryViews(readers))
        finally:
            await readers.close()


library = typer.Typer(
    name="library",
    help="Manage the clip library. Default command: list.",
    invoke_without_command=True,
)

BY = "footy library"
SourceId = Annotated[int, typer.Argument(min=1, max=LARGEST_ID, help="Source id, from `footy library list`.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows.")]


@library.callback()
def default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_sources()


@library.command(name="list")
def list_sources(
    state: Annotated[
        str | None, typer.Option(help="Only sources in this state, such as spliced or download_failed.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Only sources of this kind: goal, url or file.")] = None,
    words: Annotated[str | None, typer.Option(help="Only sources that contain words with these prefixes.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List sources and their progress, newest first."""
    from found_footy.library.models import SourceKind, SourceState

    for value, allowed, option in ((state, SourceState, "--state"), (kind, SourceKind, "--kind")):
        check_choice(value, allowed, option)
    from found_footy.library.views import SourceFilter, view_document

    async def body(opened: OpenedLibrary) -> list[SourceSummary]:
        source_filter = SourceFilter([SourceState(state)] if state else None, kind, q=words)
        return await opened.views.sources(source_filter, limit=limit)

    sources = with_library(body)
    if as_json:
        print_json([view_document(each) for each in sources])
    elif sources:
        out.print(sources_view(sources), soft_wrap=True)
    else:
        out.print("no sources; add one with `footy submit FILE`. Published clips of goals are added automatically.")


@library.command()
def show(source_id: SourceId, as_json: AsJson = False) -> None:
    """Show a source and its clips."""

    from found_footy.library.views import view_document

    async def body(opened: OpenedLibrary) -> SourceDetail:
        return await opened.views.source(source_id)

    source = with_library(body)
    if as_json:
        print_json(view_document(source))
    else:
        out.print(source_view(source), soft_wrap=True)


@library.command()
def retry(
    source_id: Annotated[int | None, typer.Argument(min=1, max=LARGEST_ID, help="Source whose stage failed.")] = None,
    clip: Annotated[
        int | None, typer.Option(min=1, max=LARGEST_ID, help="Clip whose stage failed, instead of a source.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All failed sources and clips.")] = False,
    stage: Annotated[str | None, typer.Option(help="With --all: only failures of this stage, such as sprites.")] = None,
    as_json: AsJson = False,
) -> None:
    """Retry the failed stage of a source or a clip, or all failed stages."""
    if [source_id is not None, clip is not None, all_].count(True) != 1:
        raise typer.BadParameter("specify exactly one of a source, a clip and --all", param_hint="--all")
    if stage is not None and not all_:
        raise typer.BadParameter("needs --all", param_hint="--stage")
    if all_:
        _retry_failed(stage, as_json)
        return

    async def body(opened: OpenedLibrary) -> None:
        await opened.store.retry(source_id, clip, utc_now())

    with_library(body)
    if as_json:
        print_json({"source": source_id, "clip": clip, "asked": True})
    else:
        out.print(f"{'clip' if clip else 'source'} {clip or source_id} will be retried")


def _retry_failed(stage: str | None, as_json: bool) -> None:
    async def body(opened: OpenedLibrary) -> int:
        return await opened.store.retry_failed(utc_now(), stage)

    retried = with_library(body)
    if as_json:
        print_json({"retried": retried})
    else:
        out.print(f"{retried} failed sources and clips will be retried")


@library.command()
def remove(
    source_id: SourceId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove a source: its clips are archived; a source without clips is deleted."""
    from found_footy.library.review import Reviewer

    if not yes:
        typer.confirm(f"Remove source {source_id} with all its clips?", abort=True, err=True)

    async def body(opened: OpenedLibrary) -> RemovalResult:
        reviewer = Reviewer(BY, BY, utc_now())
        return await opened.review.remove_source(source_id, reviewer)

    removed = with_library(body)
    if as_json:
        action, clips = removed.action_id, removed.clips
        print_json({"source": source_id, "deleted": removed.deleted, "clips": clips, "action": action})
    elif removed.deleted:
        out.print(f"source {source_id} removed")
    elif removed.clips:
        out.print(f"{removed.clips} clips of source {source_id} archived; their files and the video are deleted later")
    else:
        out.print(f"all clips of source {source_id} are already archived")


@library.command()
def leftovers(limit: Limit = 200, as_json: AsJson = False) -> None:
    """List stored objects that are due for deletion."""

    async def body(opened: OpenedLibrary) -> list[PendingDeletion]:
        return await opened.views.pending_deletions(limit)

    rows = with_library(body)
    if as_json:
        print_json([asdict(row) for row in rows])
    elif rows:
        out.print(leftovers_view(rows), soft_wrap=True)
    else:
        out.print("nothing to delete")


@library.command()
def scrub(
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete old objects that no database row refers to.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the library with the object store: report missing and unreferenced objects."""
    from found_footy.library.scrub import scrub as compare

    async def body(opened: OpenedLibrary) -> ScrubReport:
        async with open_objects(opened.settings) as objects:
            return await compare(opened.store, objects, utc_now(), delete=delete)

    with err.status("comparing …"):
        report = with_library(body)
    if as_json:
        print_json(asdict(report))
    else:
        _print_report(report)
    if not report.is_clean:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def _print_report(report: ScrubReport) -> None:
    out.print(f"{report.rows} objects referenced, {report.objects} stored")
    for number, problem, keys in (
        (report.missing, "referenced but missing", report.missing_keys),
        (report.unknown, "stored but not referenced", report.unknown_keys),
    ):
        if number:
            out.print(f"[red]{number}[/] {problem}:")
        for key in keys:
            out.print(f"    {printable(key)}", markup=False, soft_wrap=True)
    if report.to_delete:
        out.print(f"{report.to_delete} waiting to be deleted; list them with `footy library leftovers`")
    if report.deleted:
        out.print(f"{report.deleted} deleted")


# --- `footy submit`


BY_SUBMIT = "footy submit"
Facts = dict[str, str | None]


def submit(
    what: Annotated[str, typer.Argument(help="URL (http:// or https://) or file.")],
    title: Annotated[str | None, typer.Option(help="Title; default: the video's own title.")] = None,
    player: Annotated[str | None, typer.Option(help="Player in the video.")] = None,
    team: Annotated[str | None, typer.Option(help="Team in the video.")] = None,
    competition: Annotated[str | None, typer.Option(help="Competition.")] = None,
    minute: Annotated[str | None, typer.Option(help="Match minute.")] = None,
    as_json: AsJson = False,
) -> None:
    """Add a video file or URL to the library. It is cut into scenes, which then await review."""
    facts = {"player": player, "team": team, "competition": competition, "minute": minute}
    submit_source = _submit_url if "://" in what else _submit_file

    from found_footy.library.views import view_document

    async def body(opened: OpenedLibrary) -> SourceDetail:
        return await opened.views.source(await submit_source(opened, what, title, facts))

    source = with_library(body)
    if as_json:
        print_json(view_document(source))
        return
    out.print(f"source {source.id}: {printable(source.title)}", markup=False, soft_wrap=True)
    out.print(f"`footy library show {source.id}` shows its progress", style="dim", markup=False)


async def _submit_url(opened: OpenedLibrary, url: str, title: str | None, facts: Facts) -> int:
    from found_footy.library.models import SourceKind, Submission
    from found_footy.library.submissions import validate_facts, validate_title, validate_url
    from found_footy.runtime.addresses import AddressPolicy

    address = validate_url(url, AddressPolicy(opened.settings.private_hosts).check)
    valid_title = validate_title(title, address.title)
    what = Submission(SourceKind.URL, valid_title, validate_facts(facts), url=address.url, by=BY_SUBMIT)
    return await opened.store.submit(what, utc_now())


async def _submit_file(opened: OpenedLibrary, name: str, title: str | None, facts: Facts) -> int:
    from found_footy.library.models import SourceKind, Submission, upload_key
    from found_footy.library.submissions import title_from_filename, validate_facts, validate_title

    path = Path(name)
    size = size_of(path, opened.settings.source_mb * 1_000_000)
    key, valid_facts = upload_key(uuid4().hex), validate_facts(facts)
    valid_title = validate_title(title, title_from_filename(path.name) or "Untitled")
    what = Submission(SourceKind.FILE, valid_title, valid_facts, upload_key=key, by=BY_SUBMIT)
    async with open_objects(opened.settings) as objects:
        with _progress_bar(f"storing {size / 1e6:.1f} MB"):
            await objects.put(key, path, content_type="application/octet-stream")
        try:
            return await opened.store.submit(what, utc_now())
        except FootyError:
            with suppress(ObjectStoreError):  # `footy library scrub` also finds it
                await objects.delete([key])
            raise


def size_of(path: Path, limit: int) -> int:
    """Return the size. Raises NotFound, or BadRequest if the file cannot be a video within the limit."""
    try:
        if not path.exists():
            raise NotFound(f"file {path} not found; a URL starts with http:// or https://")
        if not path.is_file():
            raise BadRequest(f"{path} is not a file")
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        raise BadRequest(f"cannot read {str(path)[:100]!r}: {error}") from None
    if size == 0:
        raise BadRequest(f"{path} is empty")
    if size > limit:
        raise BadRequest(f"{path} has {size / 1e6:.0f} MB; FOOTY_SOURCE_MB allows {limit // 1_000_000}")
    return size


def _progress_bar(text: str) -> Progress:
    """Return an indeterminate progress bar: the object store reports no progress."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    bar.add_task(text, total=None)
    return bar


# --- Terminal views


STYLES = {
    SourceState.SPLICED: "green",
    SourceState.DOWNLOAD_FAILED: "red",
    SourceState.SPLICING_FAILED: "red",
    ClipState.EMBEDDED: "green",
    ClipState.SPRITE_FAILED: "red",
    ClipState.KEYFRAME_FAILED: "red",
    ClipState.EMBEDDING_FAILED: "red",
    ClipState.CLEANING_FAILED: "red",
    ClipState.PENDING_REVIEW: "yellow",
}


def sources_view(sources: Sequence[SourceSummary]) -> RenderableType:
    """Show one line per source, followed by its clips and its error."""
    return Group(*(line for source in sources for line in _source_lines(source)))


def source_view(source: SourceDetail) -> RenderableType:
    lines: list[RenderableType] = _source_lines(source)
    details = [f"{source.kind}, since {_time(source.created_at)}"]
    if source.submitted_by:
        details.append(f"submitted by {printable(source.submitted_by)}")
    if source.url:
        details.append(printable(source.url))
    lines.append(Text(f"       {' · '.join(details)}", "dim"))
    facts = [f"{name}: {printable(str(value))}" for name, value in source.facts.items() if value not in (None, "")]
    if facts:
        lines.append(Text(f"       {', '.join(facts)}", "dim"))
    rate = source.film.rate if source.film else 1.0
    for tile in source.tiles:
        line = Text(f"{tile.id:>8} frames {tile.first}–{tile.end - 1}  ")
        line.append(f"{tile.first / rate:.1f}–{tile.end / rate:.1f} s  ", "dim")
        line.append(progress_label(tile.state, tile.progress), STYLES.get(tile.state, ""))
        if tile.reviewed_by and tile.reviewed_at:
            line.append(f"  {printable(tile.reviewed_by)}, {_time(tile.reviewed_at)}", "dim")
        if tile.error:
            line.append(f"  {printable(tile.error)}", "red")
        lines.append(line)
    if source.tile_count > len(source.tiles):
        lines.append(Text(f"       {len(source.tiles)} of {source.tile_count} clips shown", "yellow"))
    return Group(*lines)


def leftovers_view(rows: Sequence[PendingDeletion]) -> RenderableType:
    lines = []
    for row in rows:
        line = Text(f"{printable(row.key)}  ")
        line.append(f"since {_time(row.asked_at)}, {row.tries} attempts", "dim")
        if row.error:
            line.append(f"  {printable(row.error)}", "red")
        lines.append(line)
    return Group(*lines)


def _source_lines(source: SourceSummary) -> list[RenderableType]:
    head = Text(f"{source.id:>6} ", "dim")
    head.append(printable(source.title or source.url or "untitled"), "not dim bold")
    head.append(f"  {state_label(source.state)}", f"not dim {STYLES.get(source.state, 'cyan')}")
    if source.progress is not None:
        head.append(f", {source.progress:.0%}", "not dim cyan")
    if film := source.film:
        head.append(f"  {film.seconds:.1f} s, {film.width}×{film.height}", "dim")
    lines: list[RenderableType] = [head]
    if source.clips:
        counts = [f"{number} {state_label(ClipState(name))}" for name, number in sorted(source.clips.items())]
        lines.append(Text(f"       {', '.join(counts)}"))
    if source.error:
        lines.append(_error_line(source.error))
    return lines


def _error_line(error: StageError) -> Text:
    line = Text(f"       {error.kind}: {printable(error.message or '')}", "red")
    retry = f"next retry {_time(error.retry_at)}" if error.retry_at else "no automatic retry"
    line.append(f" ({error.failures} failures; {retry})", "dim")
    return line


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}"
