"""`footy submit`: a film, or the address of one, for the clip library."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from found_footy.cli_library_store import Opened, opened_objects, with_library
from found_footy.command import AsJson
from found_footy.console import err, out, print_json
from found_footy.domain.errors import BadRequest, FootyError, NotFound, ObjectStoreError

if TYPE_CHECKING:
    from rich.progress import Progress

BY = "footy submit"
Facts = dict[str, str | None]


def submit(
    what: Annotated[str, typer.Argument(help="An address that begins with http:// or https://, or a file.")],
    title: Annotated[str | None, typer.Option(help="What it is called; its own title if not given.")] = None,
    player: Annotated[str | None, typer.Option(help="Who is seen, so that it is found again.")] = None,
    team: Annotated[str | None, typer.Option(help="The team that is seen.")] = None,
    competition: Annotated[str | None, typer.Option(help="The competition that it is of.")] = None,
    minute: Annotated[str | None, typer.Option(help="The minute of the match.")] = None,
    as_json: AsJson = False,
) -> None:
    """Hand in a film, or the address of one: it is cut into scenes, which then wait for review."""
    facts = {"player": player, "team": team, "competition": competition, "minute": minute}
    hand_in = _submit_url if "://" in what else _submit_file

    async def body(opened: Opened) -> dict[str, Any]:
        made = await hand_in(opened, what, title, facts)
        found: dict[str, Any] = json.loads(await opened.reading.source(made))
        return found

    document = with_library(body)
    if as_json:
        print_json(document)
        return
    from found_footy.ops.terminal import printable

    out.print(f"source {document['id']}: {printable(document['title'])}", markup=False, soft_wrap=True)
    out.print(f"`footy library show {document['id']}` tells how far it is", style="dim", markup=False)


async def _submit_url(opened: Opened, url: str, title: str | None, facts: Facts) -> int:
    from found_footy.adapters.guarded.addresses import AddressRule
    from found_footy.domain.clips.submitting import checked_facts, checked_title, checked_url
    from found_footy.domain.clips.values import SourceKind
    from found_footy.ports_library import Submission

    address = checked_url(url, AddressRule(opened.settings.private_hosts).refusal)
    called = checked_title(title, address.name)
    what = Submission(SourceKind.URL, called, checked_facts(facts), url=address.url, by=BY)
    return await opened.store.submit(what, datetime.now(UTC))


async def _submit_file(opened: Opened, name: str, title: str | None, facts: Facts) -> int:
    from found_footy.domain.clips.keys import upload_key
    from found_footy.domain.clips.submitting import checked_facts, checked_title, title_of_file
    from found_footy.domain.clips.values import SourceKind
    from found_footy.ports_library import Submission

    path = Path(name)
    size = size_of(path, opened.settings.source_mb * 1_000_000)
    key, told = upload_key(uuid4().hex), checked_facts(facts)
    called = checked_title(title, title_of_file(path.name) or "A film without a name")
    what = Submission(SourceKind.FILE, called, told, upload_key=key, by=BY)
    async with opened_objects(opened.settings) as objects:
        with _bar(f"storing {size / 1e6:.1f} MB"):
            await objects.put(key, path, content_type="application/octet-stream")
        try:
            return await opened.store.submit(what, datetime.now(UTC))
        except FootyError:
            with suppress(ObjectStoreError):  # the scrubber finds it, too
                await objects.delete([key])
            raise


def size_of(path: Path, most: int) -> int:
    """Raises NotFound, and BadRequest for what is no film that could be taken."""
    try:
        if not path.exists():
            raise NotFound(f"there is no file {path}; an address begins with http:// or https://")
        if not path.is_file():
            raise BadRequest(f"{path} is no file")
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        raise BadRequest(f"{str(path)[:100]!r} cannot be looked at: {error}") from None
    if size == 0:
        raise BadRequest(f"{path} is empty")
    if size > most:
        raise BadRequest(f"{path} has {size / 1e6:.0f} MB, and FOOTY_SOURCE_MB allows {most // 1_000_000}")
    return size


def _bar(words: str) -> Progress:
    """The store takes a file as a whole, and says nothing until it has it."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    bar.add_task(words, total=None)
    return bar
