"""Moments of the library as documents of the API."""

from __future__ import annotations

from typing import Any

from found_footy.domain.clips.searching import Found, FoundClip, FoundMoment
from found_footy.domain.clips.states import words_for

FACTS = (
    "sport", "competition", "home", "away", "team", "player", "assist", "minute", "kind", "score", "kickoff",
    "verified", "withdrawn",
)  # fmt: skip


def found_document(found: Found, offset: int, limit: int) -> dict[str, Any]:
    shown = found.moments[offset : offset + limit]
    later = offset + limit
    return {
        "items": [moment_document(each) for each in shown],
        "total": len(found.moments),
        "next": later if later < len(found.moments) else None,
        "more": found.more,
        "model": found.model,
        "lacking": found.lacking,
    }


def moment_document(moment: FoundMoment) -> dict[str, Any]:
    return {
        "clip": clip_document(moment.clip),
        "likeness": None if moment.likeness is None else round(moment.likeness, 4),
        "copies": [clip_document(each) for each in moment.copies],
    }


def clip_document(clip: FoundClip) -> dict[str, Any]:
    return {
        "id": clip.id,
        "source": clip.source_id,
        "event": clip.event_id,
        "title": clip.title,
        "state": str(clip.state),
        "state_words": words_for(clip.state),
        "first": clip.first,
        "end": clip.end,
        "seconds": round(clip.seconds, 3),
        "starts_at": round(clip.starts_at, 3),
        "width": clip.width,
        "height": clip.height,
        "facts": {name: clip.facts[name] for name in FACTS if name in clip.facts},
        "page": f"/library/clips/{clip.id}",
        "picture": picture_of(clip),
    }


def picture_of(clip: FoundClip) -> str | None:
    """Its first keyframe, or the sheet while there is none."""
    if clip.keyframe is not None:
        return f"/c/{clip.id}-{clip.keyframe}.jpg"
    return f"/c/{clip.id}.webp" if clip.has_sheet else None
