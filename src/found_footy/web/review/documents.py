"""Clips and actions as the page and programs see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from found_footy.domain.clips.review import Reviewer
from found_footy.domain.clips.reviewed import LikelyCopy, Told
from found_footy.domain.clips.states import EDITABLE, ClipState, words_for
from found_footy.domain.clips.values import Clip, Source
from found_footy.web.answers.rendering import text
from found_footy.web.review.facts import facts_of
from found_footy.web.review.models import (
    ReviewAction,
    ReviewClip,
    ReviewCopy,
    ReviewFilm,
    ReviewSheet,
    ReviewSource,
)

WITHOUT_FILE = frozenset({ClipState.CLEANING, ClipState.ARCHIVED, ClipState.CLEANING_FAILED})
LONGEST_ERROR = 300


def clip_document(clip: Clip, others: Sequence[Clip], who: Reviewer) -> ReviewClip:
    """`others` are the clips around it, also those that it was made of."""
    return ReviewClip(
        id=clip.id,
        source=clip.source_id,
        first=clip.first,
        end=clip.end,
        state=clip.state,
        words=words_for(clip.state),
        film=film_of(clip),
        sheets=sheets_of(clip, others),
        claimed=claimed(clip, who),
        grouped_with=clip.grouped_with,
        settles_at=clip.settles_at if clip.settles_at is not None and clip.settles_at > who.now else None,
        reviewed_by=clip.reviewed_by,
        reviewed_at=clip.reviewed_at,
        error=text(clip.error, LONGEST_ERROR) if clip.error else None,
    )


def film_of(clip: Clip) -> ReviewFilm | None:
    """A clip that has no file of its own yet is played out of its source."""
    if clip.state in WITHOUT_FILE:
        return None
    if clip.sprite is not None:
        return ReviewFilm(url=f"/c/{clip.id}.mp4", first=0)
    return ReviewFilm(url=f"/s/{clip.source_id}.mp4", first=clip.first)


def sheets_of(clip: Clip, others: Sequence[Clip]) -> list[ReviewSheet]:
    """Its own; of a clip that was just made, those of what it was made of."""
    if clip.sprite is not None and clip.state not in WITHOUT_FILE:
        return _sheet(clip)
    if clip.state is not ClipState.EDIT_PENDING:
        return []
    # What was retired keeps its state until the time for undo is over: older generations are archived by now.
    before = [
        each
        for each in others
        if not each.live and each.source_id == clip.source_id and each.state in EDITABLE
        and each.first < clip.end and clip.first < each.end
    ]  # fmt: skip
    return [sheet for each in sorted(before, key=lambda each: each.first) for sheet in _sheet(each)]


def _sheet(clip: Clip) -> list[ReviewSheet]:
    if (sprite := clip.sprite) is None:
        return []
    return [
        ReviewSheet(
            url=f"/c/{clip.id}.webp",
            first=clip.first,
            frames=sprite.frames,
            every=sprite.every,
            count=sprite.count,
            columns=sprite.columns,
            rows=sprite.rows,
            width=sprite.width,
            height=sprite.height,
        )
    ]


def claimed(clip: Clip, who: Reviewer) -> Literal["me", "other"] | None:
    if clip.claimed_by is None or clip.claimed_until is None or clip.claimed_until <= who.now:
        return None
    return "me" if clip.claimed_by == who.id else "other"


def copy_document(copy: LikelyCopy, who: Reviewer) -> ReviewCopy:
    return ReviewCopy(clip=clip_document(copy.clip, (), who), same=copy.same, said_by=copy.said_by)


def source_document(source: Source) -> ReviewSource | None:
    """None where it has no film yet, and so no clips either."""
    if (master := source.master) is None:
        return None
    return ReviewSource(
        id=source.id,
        title=text(source.title) or f"Source {source.id}",
        rate=float(master.rate),
        frames=master.frames,
        width=master.width,
        height=master.height,
        facts=facts_of(source),
        event_id=source.event_id,
    )


def told_document(told: Told, who: Reviewer) -> ReviewAction:
    return ReviewAction(
        id=told.id,
        kind=told.kind,
        by=told.name,
        mine=told.reviewer == who.id,
        at=told.at,
        settles_at=told.settles_at,
        clips=list(told.clips),
        made=list(told.made),
        title=text(told.title),
        undone_at=told.undone_at,
        settled_at=told.settled_at,
    )
