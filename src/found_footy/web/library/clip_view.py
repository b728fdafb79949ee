"""A clip as its page draws it. Pure functions of its document."""

from __future__ import annotations

from dataclasses import dataclass

from found_footy.domain.clips.removing import FORGOTTEN
from found_footy.domain.clips.states import ClipState, words_for
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
from found_footy.web.library.words import CLIP_TONES, length_words, place_words

UNDER_WAY = frozenset(state for state, tone in CLIP_TONES.items() if tone == "work")


@dataclass(frozen=True, slots=True)
class CopyRow:
    id: int
    title: str
    words: str
    picture: SheetPicture | None
    said: str
    same: bool | None


@dataclass(frozen=True, slots=True)
class ClipRow:
    id: int
    source: int
    title: str
    words: str
    state: str
    tone: str
    under_way: bool
    live: bool
    film: str | None
    """What plays: its own file, or its stretch of the source; nothing where that is deleted."""
    has_file: bool
    is_gone: bool
    film_is_gone: bool
    """That of its source."""
    place: str
    length: str
    first: int
    last: int
    reviewed_by: str | None
    reviewed_at: str | None
    settles_at: str | None
    event_id: str | None
    trouble: Trouble | None
    picture: SheetPicture | None
    facts: tuple[tuple[str, str], ...]
    keyframes: list[Document]
    models: list[str]
    grouped: list[int]
    before: int | None
    after: int | None
    parts: list[int]
    copies: list[CopyRow]
    fixture: int | None
    is_hidden: bool = False
    can: frozenset[str] = frozenset()


def clip_row(document: Document, hides: Hides, can: frozenset[str] = frozenset()) -> ClipRow:
    """`can` is what may be done with it now."""
    state, fixture = ClipState(document["state"]), fixture_of(document)
    hidden = fixture is not None and hides(fixture)
    starts, ends = document["starts"], round(document["starts"] + document["seconds"], 3)
    return ClipRow(
        id=document["id"],
        source=document["source"],
        title=veiled_title(document["facts"]) if hidden else document["title"] or f"Clip {document['id']}",
        words=words_for(state),
        state=str(state),
        tone=CLIP_TONES[state],
        under_way=state in UNDER_WAY,
        live=document["live"],
        film=document["file"] or (document["film"] and f"{document['film']}#t={starts},{ends}"),
        has_file=document["file"] is not None,
        is_gone=state in FORGOTTEN,
        film_is_gone=document["film"] is None,
        place=place_words(starts),
        length=length_words(document["seconds"]),
        first=document["first"],
        last=document["end"] - 1,
        reviewed_by=document["reviewed_by"],
        reviewed_at=document["reviewed_at"],
        settles_at=document["settles_at"],
        event_id=document["event_id"],
        trouble=trouble_of(document["error"]),
        picture=None if hidden else picture_of(document["sheet"], document["first"]),
        facts=() if hidden else shown_facts(document["facts"]),
        keyframes=[] if hidden else document["keyframes"],
        models=document["models"],
        grouped=document["grouped"],
        before=document["neighbours"]["before"],
        after=document["neighbours"]["after"],
        parts=document["parts"],
        copies=[] if hidden else [_copy(each) for each in document["copies"]],
        fixture=fixture,
        is_hidden=hidden,
        can=can,
    )


def _copy(document: Document) -> CopyRow:
    same, by = document["same"], document["said_by"]
    if same is None:
        said = "their pictures say so"
    else:
        said = f"{by or 'somebody'} says that it {'is the same' if same else 'is another moment'}"
    title, words = document["title"] or f"Clip {document['id']}", words_for(ClipState(document["state"]))
    return CopyRow(document["id"], title, words, picture_of(document["sheet"]), said, same)
