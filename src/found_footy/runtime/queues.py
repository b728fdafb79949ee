"""Kinds of work, each with a Temporal task queue of its own, so that heavy work never delays a poll (ADR 35)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class WorkKind(StrEnum):
    ORCHESTRATION = "orchestration"
    """Workflows, and activities that only read and write the database."""
    NETWORK = "network"
    """Feeds, searches, downloads, the object store and notifications."""
    MEDIA = "media"
    """Verification by vision, hashes, comparison of clips."""
    LIBRARY = "library"
    """Stages of the library. Goals and films have a queue each."""
    BROWSER = "browser"
    """Polls of browser-based feeds."""


ALL_KINDS: tuple[WorkKind, ...] = tuple(WorkKind)
LIVE_KINDS: tuple[WorkKind, ...] = tuple(kind for kind in WorkKind if kind is not WorkKind.LIBRARY)
"""The kinds that live matches need. By default, no process serves both these and the library."""


def queue_name(base: str, kind: WorkKind) -> str:
    """Return the activity queue of a kind. `base` is the queue of the workflows (FOOTY_TASK_QUEUE)."""
    return base if kind is WorkKind.ORCHESTRATION else f"{base}-{kind}"


def parse_kinds(text: str) -> tuple[WorkKind, ...]:
    """Parse comma-separated kinds. Raises ValueError, which names the unknown one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in set(WorkKind)]
    if unknown or not names:
        raise ValueError(f"invalid value {(unknown or [text])[0]!r}: expected one or more of {join_kinds(ALL_KINDS)}")
    return tuple(kind for kind in WorkKind if kind in names)


def join_kinds(kinds: Iterable[WorkKind]) -> str:
    return ",".join(kinds)
