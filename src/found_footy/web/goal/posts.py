"""A post as a page shows it: a stranger's words, and a link only where it is one to the web."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

MOST_POSTS = 50
"""Of each kind on one page."""

SOURCES = {
    "fxtwitter": "X through FxEmbed",
    "bluesky": "Bluesky",
    "x": "X",
    "reddit": "Reddit",
    "folder": "a folder",
}
STATES = {"downloading": "being fetched", "checking": "being checked", "waiting": "waiting"}


@dataclass(frozen=True, slots=True)
class PostView:
    source: str
    author: str
    text: str
    posted_at: str
    url: str | None
    rank: int | None
    """Of the clip that it became."""
    state: str
    """What is being done with it; empty once that is over."""
    duplicate: bool
    loss: str | None
    detail: str | None


def post_view(candidate: Mapping[str, Any], ranks: Mapping[str, int]) -> PostView:
    """`candidate` is as it stands in an event's document; `ranks` are those of the clips by their MD5."""
    lost = candidate["state"] == "lost"
    return PostView(
        source=source_words(candidate["source"]),
        author=candidate["author"],
        text=candidate["text"],
        posted_at=candidate["posted_at"],
        url=web_address(candidate["url"]),
        rank=ranks.get(candidate["clip"] or ""),
        state=STATES.get(candidate["state"], ""),
        duplicate=candidate["state"] == "duplicate",
        loss=candidate["loss"] if lost else None,
        detail=candidate["loss_detail"] if lost else None,
    )


def source_words(source: str) -> str:
    return SOURCES.get(source, source)


def web_address(url: str) -> str | None:
    """None for `javascript:`, `data:` and whatever else does not lead to a web site."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname and len(url) <= 2000 else None
