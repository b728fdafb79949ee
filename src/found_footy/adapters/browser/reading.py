"""From what the script saw on a page to posts and signs. Pure: strangers' values come in, checked ones go out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib.resources import files
from typing import Any

from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import SourceChanged

MOST_ARTICLES = 500
READ_PAGE = files("found_footy.adapters.browser").joinpath("read_page.js").read_text("utf-8")
"""One JavaScript function; it takes how many posts to read at most."""

_STATUS = re.compile(r"/([A-Za-z0-9_]{1,15})/status/([0-9]{1,20})(?:/.*)?")
_HANDLE = re.compile(r"@([A-Za-z0-9_]{1,15})")
_DURATION = re.compile(r"(?:([0-9]{1,2}):)?([0-9]{1,2}):([0-9]{2})")
_LOGIN_PATHS = ("/i/jf/onboarding", "/i/flow/login", "/i/flow/signup", "/login", "/logout", "/account/access")
"""X redirects logged-out visitors to /i/jf/onboarding/web since the summer of 2026; the older ones lead there."""
LEAST_FOR_VIDEOS = 5
"""X was asked for posts with videos: among so many, one at least must show a sign of a video."""


@dataclass(frozen=True, slots=True)
class FoundPost:
    id: str
    author: str
    text: str
    posted_at: datetime
    duration: float | None = None
    video: bool = True

    def to_json(self, x_url: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "url": f"{x_url.rstrip('/')}/{self.author}/status/{self.id}",
            "author": self.author,
            "text": self.text,
            "posted_at": self.posted_at.isoformat(),
            "duration": self.duration,
        }


@dataclass(frozen=True, slots=True)
class PageReading:
    path: str
    posts: tuple[FoundPost, ...] = ()
    """Readable ones, in the page's order, with and without a video; those that somebody paid for are left out."""
    unreadable: int = 0
    loaded: bool = True
    empty: bool = False
    login: bool = False
    account: bool = False
    retry: bool = False


@dataclass(slots=True)
class Traffic:
    """What the page's own requests for posts came to."""

    pending: int = 0
    status: int | None = None
    """Of the last answer."""
    reset: datetime | None = None
    """When X's rate limit ends, by the header of the last answer."""
    scripts_failed: int = 0


class Sign(StrEnum):
    POSTS = "posts"
    EMPTY = "empty"
    LOGGED_OUT = "logged out"
    RATE_LIMITED = "rate limited"
    FAILED = "failed"
    REFUSED = "refused"
    """By X's page itself, for a reason that we do not know: its requests are others than they were."""
    NONE = "none"


def sign_of(page: PageReading, traffic: Traffic) -> Sign:
    """What a page says. An answer that X refused to give is never taken for "nothing found"."""
    if page.path.startswith(_LOGIN_PATHS):
        return Sign.LOGGED_OUT
    if page.posts:
        return Sign.POSTS
    if page.login and not page.account:
        return Sign.LOGGED_OUT
    match traffic.status:
        case 429:
            return Sign.RATE_LIMITED
        case 401 | 403:
            return Sign.LOGGED_OUT
        case int(status) if status >= 500:
            return Sign.FAILED
        case int(status) if status >= 400:
            return Sign.REFUSED
    if page.retry:
        return Sign.RATE_LIMITED
    return Sign.EMPTY if page.empty else Sign.NONE


def check_videos(posts: Mapping[str, FoundPost]) -> None:
    """Raises SourceChanged where posts with videos were asked for, and came, and no video is recognised."""
    if len(posts) >= LEAST_FOR_VIDEOS and not any(post.video for post in posts.values()):
        raise SourceChanged(f"X was asked for posts with videos, and none of {len(posts)} shows one")


def enough(page: PageReading, found: int, limit: int, since: datetime | None) -> bool:
    """Whether scrolling on can add nothing that is wanted: X lists the newest first."""
    if found >= limit or not page.posts:
        return True
    return since is not None and page.posts[-1].posted_at < since


def wanted(posts: Mapping[str, FoundPost], limit: int, since: datetime | None) -> list[FoundPost]:
    kept = [post for post in posts.values() if post.video and (since is None or post.posted_at >= since)]
    return sorted(kept, key=lambda post: (post.posted_at, int(post.id)), reverse=True)[:limit]


def page_reading(raw: object) -> PageReading:
    if not isinstance(raw, dict) or not isinstance(raw.get("posts"), list):
        raise SourceChanged("the page did not let itself be read")
    shown = [post for post in raw["posts"][:MOST_ARTICLES] if not (isinstance(post, dict) and post.get("promoted"))]
    posts = [found_post(post) for post in shown]
    return PageReading(
        path=str(raw.get("path", "")),
        posts=tuple(post for post in posts if post is not None),
        unreadable=sum(post is None for post in posts),
        **{name: raw.get(name) is True for name in ("loaded", "empty", "login", "account", "retry")},
    )


def found_post(raw: object) -> FoundPost | None:
    """None where id, author or time are missing or not what they should be."""
    if not isinstance(raw, dict):
        return None
    link = _STATUS.fullmatch(_text(raw.get("link")))
    posted_at = moment(raw.get("at"))
    if link is None or posted_at is None:
        return None
    author, post_id = link.groups()
    if author == "i":
        # X's links that name nobody; the post's head does.
        handle = _HANDLE.fullmatch(_text(raw.get("handle")))
        if handle is None:
            return None
        author = handle[1]
    return FoundPost(
        id=post_id,
        author=author,
        text=clean_text(_text(raw.get("text"))),
        posted_at=posted_at,
        duration=seconds(raw.get("duration")),
        video=raw.get("video") is True,
    )


def moment(value: object) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(_text(value))
        return parsed.astimezone(UTC) if parsed.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def seconds(label: object) -> float | None:
    """`0:34` and `1:02:03`, as shown on a video."""
    shown = _DURATION.fullmatch(_text(label))
    if shown is None:
        return None
    hours, minutes, rest = (int(part or 0) for part in shown.groups())
    return float(hours * 3600 + minutes * 60 + rest)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
