"""`footy search`: search the clip library by text, or by similarity to a clip, image or video."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from found_footy.cli.common import AsJson, check_choice, located_settings, out, parse_date, print_json, with_database
from found_footy.errors import NotAVideo, NotFound

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from found_footy.config import Settings
    from found_footy.library.moments import MomentResult, SearchFilter, SearchResults
    from found_footy.library.search import LibrarySearchServices, SimilarityOrder
    from found_footy.storage.postgres import Database

MAX_IMAGE_BYTES = 32 * 1024 * 1024
"""Larger files are treated as videos."""
PLACES = ("library", "review", "skipped")


def search(
    words: Annotated[
        list[str] | None, typer.Argument(help="Words to find: player, team, competition, minute, kind, title.")
    ] = None,
    like: Annotated[
        str | None, typer.Option(help="Find clips similar to this clip id, image file or video file.")
    ] = None,
    competition: Annotated[str | None, typer.Option(help="Only this competition.")] = None,
    team: Annotated[str | None, typer.Option(help="Only matches of this team.")] = None,
    player: Annotated[str | None, typer.Option(help="Only goals of this player.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind of goal: penalty, own goal, normal.")] = None,
    verified: Annotated[
        bool | None,
        typer.Option(
            "--verified/--unverified", help="Only clips verified by their match clock, or only unverified ones."
        ),
    ] = None,
    since: Annotated[str | None, typer.Option("--from", help="First day (UTC), YYYY-MM-DD.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Last day (UTC), YYYY-MM-DD.")] = None,
    place: Annotated[str | None, typer.Option(help="Only clips in library (approved), review or skipped.")] = None,
    source: Annotated[int | None, typer.Option(min=1, help="Only clips of this source.")] = None,
    model: Annotated[str | None, typer.Option(help="Embedding model for --like (default: first enabled).")] = None,
    least: Annotated[bool, typer.Option("--least", help="With --like: least similar clips first.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Maximum number of moments.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Search the clip library. Copies of one moment are grouped into one result."""
    from found_footy.library.moments import parse_filter
    from found_footy.library.search import SimilarityOrder

    if like is None and (model is not None or least):
        raise typer.BadParameter("needs --like", param_hint="--model" if model is not None else "--least")
    check_choice(place, PLACES, "--place")
    search_filter = parse_filter(
        " ".join(words or ())[:200],
        first=parse_date(since, "--from"), last=parse_date(until, "--to"),
        competition=competition, team=team, player=player, kind=kind, verified=verified, place=place, source=source,
    )  # fmt: skip
    found = _run_search(search_filter, like, SimilarityOrder(model, least))
    if as_json:
        from found_footy.web.api.library import found_moments

        print_json(found_moments(found, 0, limit).model_dump(mode="json"))
        return
    _show(found, limit)


def _run_search(search_filter: SearchFilter, like: str | None, order: SimilarityOrder) -> SearchResults:
    from found_footy.library.search import open_search

    settings = located_settings("database_url")
    example = _parse_like(like)

    async def body(database: Database) -> SearchResults:
        async with open_search(settings, database) as services:
            if example is None:
                return await services.clips.by_text(search_filter)
            if isinstance(example, int):
                return await services.clips.similar_to_clip(example, search_filter, order)
            image = await _load_image(example, services, settings)
            return await services.clips.similar_to_image(image, search_filter, order)

    return with_database(body, settings)


@dataclass(frozen=True, slots=True)
class _QueryFile:
    path: Path
    content: bytes | None
    """None if the file is too large for an image."""


def _parse_like(like: str | None) -> int | _QueryFile | None:
    """Return the file with this name, else parse a clip id."""
    if like is None:
        return None
    path = Path(like)
    if path.is_file():
        small = path.stat().st_size <= MAX_IMAGE_BYTES
        return _QueryFile(path, path.read_bytes() if small else None)
    if like.isascii() and like.isdecimal() and len(like) <= 18:
        return int(like)
    raise NotFound(f"{like[:200]} is neither a clip id nor a file")


async def _load_image(file: _QueryFile, services: LibrarySearchServices, settings: Settings) -> NDArray[np.uint8]:
    """Return the image, or the middle frame of a video."""
    from found_footy.media.processor import MediaProcessor

    if file.content is not None:
        with suppress(NotAVideo):
            return await services.pictures.decode_image(file.content)
    media = MediaProcessor(settings.media_memory_mb, settings.media_seconds)
    try:
        return (await media.frames_at(file.path, [0.5]))[0].pixels
    finally:
        await media.aclose()


def _show(found: SearchResults, limit: int) -> None:
    from found_footy.cli.match_view import printable

    if found.incomplete_reason:
        out.print(printable(f"not searched: {found.incomplete_reason}"), style="yellow", markup=False, soft_wrap=True)
    for moment in found.moments[:limit]:
        out.print(printable(result_line(moment)), markup=False, soft_wrap=True)
        if moment.copies:
            copies = ", ".join(str(copy.id) for copy in moment.copies[:10])
            out.print(f"    copies: {copies}", style="dim", markup=False, soft_wrap=True)
    left = len(found.moments) - limit
    if not found.moments:
        out.print("nothing found")
    elif left > 0 or found.has_more:
        out.print("more results: raise --limit", style="dim")


def result_line(moment: MomentResult) -> str:
    """Return `12  90+3' Mohamed Salah · Liverpool 2–1 Manchester City · 4.0 s · in the library · 93% alike`."""
    from found_footy.library.models import state_label

    clip, facts = moment.clip, moment.clip.facts
    player, minute = _text(facts, "player"), _text(facts, "minute")
    home, away, score = _text(facts, "home"), _text(facts, "away"), _text(facts, "score")
    parts = [
        f"{minute} {player}".strip() if player else clip.title,
        f"{home} {score or 'v'} {away}" if player and home and away else "",
        "withdrawn" if player and facts.get("withdrawn") else "",
        f"{clip.seconds:.1f} s",
        state_label(clip.state),
        "" if moment.similarity is None else f"{max(0.0, moment.similarity):.0%} alike",
    ]
    return f"{clip.id:>6}  " + " · ".join(part for part in parts if part)


def _text(facts: Any, name: str) -> str:
    value = facts.get(name)
    return value if isinstance(value, str) else ""
