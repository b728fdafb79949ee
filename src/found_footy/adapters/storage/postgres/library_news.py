"""What is told of sources and clips, in the transaction that changed them. It is about no match, which may be gone."""

from __future__ import annotations

from typing import Any

from found_footy.domain.fixtures.polling import News


def source_news(source_id: int, state: str, progress: float | None = None) -> News:
    told: dict[str, Any] = {"source": source_id, "state": str(state)}
    if progress is not None:
        told["progress"] = round(progress, 3)
    return News("library.source", None, payload=told)


def clip_news(clip_id: int, source_id: int, state: str, live: bool = True, **more: Any) -> News:
    """`more` says who did what to it, where a person did."""
    told = {"clip": clip_id, "source": source_id, "state": str(state), "live": live, **more}
    return News("library.clip", None, payload=told)
