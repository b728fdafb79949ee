"""Sources and their tiles as the pages draw them. Pure functions of their documents."""

from __future__ import annotations

from dataclasses import dataclass

from found_footy.domain.clips.states import ClipState, SourceState, words_for
from found_footy.web.library.facts import (
    Document,
    Hides,
    Trouble,
    fixture_of,
    shown_facts,
    trouble_of,
    veiled_title,
)
from found_footy.web.library.pictures import SheetPicture, picture_of
from found_footy.web.library.words import (
    CLIP_TONES,
    KIND_WORDS,
    SOURCE_TONES,
    Counted,
    counted,
    length_words,
    place_words,
    size_words,
)

AT_WORK = frozenset({SourceState.DOWNLOADING, SourceState.SPLICING})
UNDER_WAY = AT_WORK | {SourceState.NEW, SourceState.DOWNLOADED}


@dataclass(frozen=True, slots=True)
class SourceRow:
    id: int
    title: str
    kind: str
    state: str
    words: str
    tone: str
    under_way: bool
    percent: int | None
    """Of the stage that is at work."""
    at_work: bool
    about: tuple[str, ...]
    film: str | None
    film_deleted_at: str | None
    clips: list[Counted]
    picture: SheetPicture | None
    trouble: Trouble | None
    submitted_by: str
    created_at: str
    url: str | None
    event_id: str | None
    facts: tuple[tuple[str, str], ...]
    fixture: int | None
    is_hidden: bool = False


def source_row(document: Document, hides: Hides) -> SourceRow:
    state = SourceState(document["state"])
    fixture, facts, film = fixture_of(document), document["facts"], document["film"]
    hidden = fixture is not None and hides(fixture)
    share = document["progress"]
    return SourceRow(
        id=document["id"],
        title=veiled_title(facts) if hidden else document["title"] or _fallback(document),
        kind=KIND_WORDS[document["kind"]],
        state=str(state),
        words=words_for(state),
        tone=SOURCE_TONES[state],
        under_way=state in UNDER_WAY,
        percent=round(100 * share) if share is not None and state in AT_WORK else None,
        at_work=state in AT_WORK,
        about=_about(film) if film else (),
        film=None if hidden or film is None else film["url"],
        film_deleted_at=film["deleted_at"] if film else None,
        clips=counted(document["clips"]),
        picture=None if hidden else picture_of(document["sheet"]),
        trouble=trouble_of(document["error"]),
        submitted_by=document["submitted_by"],
        created_at=document["created_at"],
        url=document["url"],
        event_id=document["event_id"],
        facts=() if hidden else shown_facts(facts),
        fixture=fixture,
        is_hidden=hidden,
    )


@dataclass(frozen=True, slots=True)
class TileRow:
    id: int
    state: str
    words: str
    tone: str
    place: str
    length: str
    starts: float
    left: float
    width: float
    """Percent of the film."""
    reviewed_by: str | None
    reviewed_at: str | None
    group: int | None
    picture: SheetPicture | None


def tile_rows(document: Document) -> list[TileRow]:
    film = document["film"]
    return [_tile(each, float(film["rate"]), int(film["frames"])) for each in document["tiles"]] if film else []


def _tile(tile: Document, rate: float, frames: int) -> TileRow:
    state, first, end = ClipState(tile["state"]), int(tile["first"]), int(tile["end"])
    starts = first / rate
    return TileRow(
        id=tile["id"],
        state=str(state),
        words=words_for(state),
        tone=CLIP_TONES[state],
        place=place_words(starts),
        length=length_words((end - first) / rate),
        starts=round(starts, 3),
        left=round(100 * first / frames, 3),
        width=round(100 * (end - first) / frames, 3),
        reviewed_by=tile["reviewed_by"],
        reviewed_at=tile["reviewed_at"],
        group=tile["group"],
        picture=picture_of(tile["sheet"], first),
    )


def _fallback(document: Document) -> str:
    return document["url"] or f"Source {document['id']}"


def _about(film: Document) -> tuple[str, ...]:
    return (
        length_words(float(film["seconds"])),
        f"{film['width']} × {film['height']}",
        f"{film['rate']:g} frames a second",
        size_words(film["size"]),
        "with sound" if film["audio"] else "silent",
    )
