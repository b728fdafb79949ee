"""`footy library`: looking after the clip library."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from found_footy.cli_library_store import LARGEST_ID, Opened, opened_objects, with_library
from found_footy.command import EXIT_NOT_AS_EXPECTED, AsJson
from found_footy.console import err, out, print_json

if TYPE_CHECKING:
    from found_footy.ops.library_scrub import ScrubReport
    from found_footy.ports_library import Removed

library = typer.Typer(
    name="library",
    help="Look after the clip library: without a command, list the sources.",
    invoke_without_command=True,
)

BY = "footy library"
SourceId = Annotated[int, typer.Argument(min=1, max=LARGEST_ID, help="As `footy library list` shows it.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")]


@library.callback()
def default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_sources()


@library.command(name="list")
def list_sources(
    state: Annotated[str | None, typer.Option(help="Only in this state, such as spliced or download_failed.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only goal, url or file.")] = None,
    words: Annotated[str | None, typer.Option(help="Only with these beginnings of words.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List the sources, the newest first, with how far each is."""
    from found_footy.domain.clips.states import SourceState
    from found_footy.domain.clips.values import SourceKind
    from found_footy.ops.library_view import sources_list

    for given, known, option in ((state, SourceState, "--state"), (kind, SourceKind, "--kind")):
        if given is not None and given not in list(known):
            raise typer.BadParameter(f"{given!r} is none of {', '.join(known)}", param_hint=option)
    wanted = {"states": [state] if state else None, "kind": kind, "q": words}

    async def body(opened: Opened) -> list[dict[str, Any]]:
        return [json.loads(text) for _, text in await opened.reading.page("sources", wanted, None, limit)]

    documents = with_library(body)
    if as_json:
        print_json(documents)
    elif documents:
        out.print(sources_list(documents), soft_wrap=True)
    else:
        out.print("no sources; `footy submit FILE` hands one in, and goals bring their clips by themselves")


@library.command()
def show(source_id: SourceId, as_json: AsJson = False) -> None:
    """Show one source with the clips that it is cut into."""
    from found_footy.ops.library_view import source_page

    async def body(opened: Opened) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(await opened.reading.source(source_id))
        return found

    document = with_library(body)
    if as_json:
        print_json(document)
    else:
        out.print(source_page(document), soft_wrap=True)


@library.command()
def retry(
    source_id: Annotated[
        int | None, typer.Argument(min=1, max=LARGEST_ID, help="The source whose stage has failed.")
    ] = None,
    clip: Annotated[
        int | None, typer.Option(min=1, max=LARGEST_ID, help="A clip whose stage has failed, instead.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try again what has failed, with the library's next look for work."""
    if (source_id is None) == (clip is None):
        raise typer.BadParameter("give either a source or a clip", param_hint="--clip")

    async def body(opened: Opened) -> None:
        await opened.store.retry(source_id, clip, datetime.now(UTC))

    with_library(body)
    if as_json:
        print_json({"source": source_id, "clip": clip, "asked": True})
    else:
        out.print(f"{'clip' if clip else 'source'} {clip or source_id} is tried again")


@library.command()
def remove(
    source_id: SourceId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take a source out of the library: its clips are archived, and one without clips goes at once."""
    from found_footy.domain.clips.review import Reviewer

    if not yes:
        typer.confirm(f"Remove source {source_id} with all its clips?", abort=True, err=True)

    async def body(opened: Opened) -> Removed:
        who = Reviewer(BY, BY, datetime.now(UTC))
        return await opened.store.remove(source_id, who, timedelta(seconds=opened.settings.undo_seconds))

    removed = with_library(body)
    if as_json:
        action, clips = removed.action_id, removed.clips
        print_json({"source": source_id, "deleted": removed.deleted, "clips": clips, "action": action})
    elif removed.deleted:
        out.print(f"source {source_id} is removed")
    elif removed.clips:
        out.print(f"{removed.clips} clips of source {source_id} are archived; their files and the film go after them")
    else:
        out.print(f"all clips of source {source_id} were archived already")


@library.command()
def leftovers(limit: Limit = 200, as_json: AsJson = False) -> None:
    """List the objects that no row names any more and that are still to be deleted."""
    from found_footy.ops.library_view import leftovers_list

    async def body(opened: Opened) -> list[dict[str, Any]]:
        return list(await opened.reading.leftovers(limit))

    rows = with_library(body)
    if as_json:
        print_json(rows)
    elif rows:
        out.print(leftovers_list(rows), soft_wrap=True)
    else:
        out.print("nothing is left to delete")


@library.command()
def scrub(
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete objects that nobody knows and that are old.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the library's rows with the object store, both ways, and report what does not fit."""
    from found_footy.ops.library_scrub import scrub as compare

    async def body(opened: Opened) -> ScrubReport:
        async with opened_objects(opened.settings) as objects:
            return await compare(opened.store, objects, datetime.now(UTC), delete=delete)

    with err.status("comparing …"):
        report = with_library(body)
    if as_json:
        print_json(asdict(report))
    else:
        _tell(report)
    if not report.is_clean:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def _tell(report: ScrubReport) -> None:
    from found_footy.ops.terminal import printable

    out.print(f"{report.rows} objects are named by rows, {report.objects} are stored")
    for number, said, keys in (
        (report.missing, "named by a row, and not there", report.missing_keys),
        (report.unknown, "there, and named by no row", report.unknown_keys),
    ):
        if number:
            out.print(f"[red]{number}[/] {said}:")
        for key in keys:
            out.print(f"    {printable(key)}", markup=False, soft_wrap=True)
    if report.to_delete:
        out.print(f"{report.to_delete} wait to be deleted; `footy library leftovers` lists them")
    if report.deleted:
        out.print(f"{report.deleted} deleted")
