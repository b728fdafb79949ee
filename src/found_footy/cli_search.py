"""`footy search`: clips of the library by words, like a clip, or like a picture or a film on this machine."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from found_footy.command import AsJson, located, run
from found_footy.console import out, print_json
from found_footy.domain.errors import EngineError, NotAVideo, NotFound

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from found_footy.config import Settings
    from found_footy.domain.clips.searching import Found, FoundMoment, Wanted
    from found_footy.web.search.finding import SearchServices

MOST_PICTURE_BYTES = 32 * 1024 * 1024
"""What is larger is taken for a film."""
PLACES = ("library", "review", "skipped")


def search(
    words: Annotated[list[str] | None, typer.Argument(help="Player, team, competition, minute, kind, title.")] = None,
    like: Annotated[str | None, typer.Option(help="A clip's number, or a picture or film on this machine.")] = None,
    competition: Annotated[str | None, typer.Option(help="Only of this competition.")] = None,
    team: Annotated[str | None, typer.Option(help="Only with this team.")] = None,
    player: Annotated[str | None, typer.Option(help="Only of this scorer.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only of this kind: penalty, own goal, normal.")] = None,
    verified: Annotated[bool | None, typer.Option("--verified/--unverified", help="Whether a clock proves it.")] = None,
    since: Annotated[str | None, typer.Option("--from", help="The first day (UTC), as YYYY-MM-DD.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="The last day (UTC), as YYYY-MM-DD.")] = None,
    place: Annotated[str | None, typer.Option(help="Only library (approved), review or skipped.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="At most so many moments.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Find clips of the library; copies of one moment are one result."""
    from found_footy.domain.clips.searching import wanted_of

    if place is not None and place not in PLACES:
        raise typer.BadParameter(f"{place!r} is none of {', '.join(PLACES)}", param_hint="--place")
    wish = wanted_of(
        " ".join(words or ())[:200],
        first=_day(since, "--from"), last=_day(until, "--to"), competition=competition, team=team, player=player,
        kind=kind, verified=verified, place=place,
    )  # fmt: skip
    found = _found(wish, like)
    if as_json:
        from found_footy.web.search.documents import found_document

        print_json(found_document(found, 0, limit))
        return
    _show(found, limit)


def _found(wish: Wanted, like: str | None) -> Found:
    from found_footy.adapters.storage.postgres.database import Database
    from found_footy.bootstrap_embeddings import open_search

    settings = located("database_url")
    if settings.database_url is None:
        raise EngineError("no database is known; start `footy up`, or set DATABASE_URL")
    database = Database(settings.database_url.get_secret_value())
    model = _likened(like)

    async def body() -> Found:
        await database.open()
        try:
            async with open_search(settings, database) as services:
                if model is None:
                    return await services.clips.by_words(wish)
                if isinstance(model, int):
                    return await services.clips.like_clip(model, wish)
                return await services.clips.like_picture(await _picture(model, services, settings), wish)
        finally:
            await database.close()

    return run(body)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    content: bytes | None
    """None where it is too large for a picture."""


def _likened(like: str | None) -> int | _File | None:
    """A file of that name, or else the number of a clip."""
    if like is None:
        return None
    path = Path(like)
    if path.is_file():
        small = path.stat().st_size <= MOST_PICTURE_BYTES
        return _File(path, path.read_bytes() if small else None)
    if like.isascii() and like.isdecimal() and len(like) <= 18:
        return int(like)
    raise NotFound(f"{like[:200]} is neither the number of a clip nor a file")


async def _picture(file: _File, services: SearchServices, settings: Settings) -> NDArray[np.uint8]:
    """A picture as it is; of a film, the one in its middle."""
    from found_footy.adapters.media.limited import LimitedMedia

    if file.content is not None:
        with suppress(NotAVideo):
            return await services.pictures.picture(file.content)
    media = LimitedMedia(settings.media_memory_mb, settings.media_seconds)
    try:
        return (await media.pictures(file.path, [0.5]))[0].bgr
    finally:
        await media.aclose()


def _show(found: Found, limit: int) -> None:
    from found_footy.ops.terminal import printable

    if found.lacking:
        out.print(printable(f"not asked: {found.lacking}"), style="yellow", markup=False, soft_wrap=True)
    for moment in found.moments[:limit]:
        out.print(printable(line(moment)), markup=False, soft_wrap=True)
        if moment.copies:
            copies = ", ".join(str(copy.id) for copy in moment.copies[:10])
            out.print(f"    copies: {copies}", style="dim", markup=False, soft_wrap=True)
    left = len(found.moments) - limit
    if not found.moments:
        out.print("nothing found")
    elif left > 0 or found.more:
        out.print("there are more; --limit shows them", style="dim")


def line(moment: FoundMoment) -> str:
    """`12  90+3' Mohamed Salah · Liverpool 2–1 Manchester City · 4.0 s · in the library · 93% alike`"""
    from found_footy.domain.clips.states import words_for

    clip, facts = moment.clip, moment.clip.facts
    player, minute = _text(facts, "player"), _text(facts, "minute")
    home, away, score = _text(facts, "home"), _text(facts, "away"), _text(facts, "score")
    parts = [
        f"{minute} {player}".strip() if player else clip.title,
        f"{home} {score or 'v'} {away}" if player and home and away else "",
        "withdrawn" if player and facts.get("withdrawn") else "",
        f"{clip.seconds:.1f} s",
        words_for(clip.state),
        "" if moment.likeness is None else f"{max(0.0, moment.likeness):.0%} alike",
    ]
    return f"{clip.id:>6}  " + " · ".join(part for part in parts if part)


def _text(facts: Any, name: str) -> str:
    value = facts.get(name)
    return value if isinstance(value, str) else ""


def _day(text: str | None, option: str) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date; write it as YYYY-MM-DD", param_hint=option) from None
