"""What reviewers are shown beside a clip: others that seem to be copies of it, and what everybody did. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from found_footy.domain.clips.review import ActionKind
from found_footy.domain.clips.values import Clip


@dataclass(frozen=True, slots=True)
class LikelyCopy:
    """Another live clip that shows the same, or of which somebody said whether it does."""

    clip: Clip
    same: bool | None
    """What people say; None where only the fingerprints say it."""
    said_by: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """An action as everybody sees it."""

    id: int
    kind: ActionKind
    reviewer: str
    name: str
    at: datetime
    settles_at: datetime
    clips: tuple[int, ...]
    """Those that it changed."""
    made: tuple[int, ...]
    source_id: int | None
    title: str
    """Of their source; nothing where it is gone."""
    undone_at: datetime | None = None
    settled_at: datetime | None = None
