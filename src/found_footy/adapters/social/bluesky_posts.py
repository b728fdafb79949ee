"""Which of Bluesky's posts have a video, whose it is, and when it was posted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from found_footy.adapters.social.reading import BadPost, field, moment, optional_text, read_all, text
from found_footy.domain.discovery.atproto import is_did
from found_footy.domain.discovery.posts import Post, clean_text
from found_footy.domain.discovery.query import SearchQuery

SOURCE = "bluesky"
PAGES = "https://bsky.app"
VIDEOS = "https://video.bsky.app"
FIRST_PLAUSIBLE = datetime(2005, 1, 1, tzinfo=UTC)
"""An earlier date is that of a broken clock; imports of old posts bear their true dates."""

_VIDEO = "app.bsky.embed.video#view"
_WITH_MEDIA = "app.bsky.embed.recordWithMedia#view"
_QUOTE = "app.bsky.embed.record#view"
_QUOTED = "app.bsky.embed.record#viewRecord"
_URI = re.compile(r"at://([^/]+)/app\.bsky\.feed\.post/([A-Za-z0-9._:-]{1,64})", re.ASCII)
_CID = re.compile(r"b[a-z2-7]{40,110}", re.ASCII)
_HANDLE = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Video:
    """A video and the post that it belongs to, which is the quoted one in a quotation."""

    view: Any
    record: Any
    embed: Any


def read_answer(body: Any, query: SearchQuery, now: datetime) -> list[Post]:
    """The posts of an answer to searchPosts that have a video and name what the query asks for."""
    return read_all(SOURCE, field(body, "posts"), lambda view: _post(view, query, now))


def _post(view: Any, query: SearchQuery, now: datetime) -> Post | None:
    said = text(view, "record", "text")
    video = _video_of(view)
    if video is None:
        return None
    # Whoever quotes says what it is, or the quoted one does.
    quoted = "" if video.view is view else optional_text(video.record, "text")
    words = clean_text(f"{said} {quoted} {optional_text(video.embed, 'alt')}", 2000)
    if not query.matches(words):
        return None
    uri = _URI.fullmatch(text(video.view, "uri"))
    did, cid = text(video.view, "author", "did"), text(video.embed, "cid")
    if uri is None or uri[1] != did or not is_did(did) or not _CID.fullmatch(cid):
        raise BadPost("uri, author.did or cid of the video have no form that we know")
    handle = optional_text(video.view, "author", "handle")
    shown = handle if len(handle) <= 253 and _HANDLE.fullmatch(handle) and handle != "handle.invalid" else did
    return Post(
        source=SOURCE,
        id=f"{did}/{uri[2]}",
        url=f"{PAGES}/profile/{shown}/post/{uri[2]}",
        media_url=_media_url(video.embed, did, cid),
        posted_at=_posted_at(video, now),
        author=shown,
        text=clean_text(f"{said} {quoted}"),
    )


def _media_url(embed: Any, did: str, cid: str) -> str:
    """The CDN's playlist, which names the author and the file: the downloader takes the original from the author's
    server where it can, and the playlist otherwise. So one URL carries both ways, and stays valid without us."""
    playlist = optional_text(embed, "playlist")
    if playlist.startswith(("https://", "http://")) and cid in playlist and len(playlist) <= 1000:
        return playlist
    return f"{VIDEOS}/watch/{did}/{cid}/playlist.m3u8"


def _video_of(view: Any) -> _Video | None:
    embed = field(view, "embed")
    kind = field(embed, "$type")
    if kind == _VIDEO:
        return _Video(view, field(view, "record"), embed)
    if kind == _WITH_MEDIA:
        if field(embed, "media", "$type") == _VIDEO:
            return _Video(view, field(view, "record"), field(embed, "media"))
        return _quoted(field(embed, "record", "record"))
    return _quoted(field(embed, "record")) if kind == _QUOTE else None


def _quoted(view: Any) -> _Video | None:
    embeds = field(view, "embeds")
    if field(view, "$type") != _QUOTED or not isinstance(embeds, list):
        return None
    for embed in embeds[:4]:
        for each in (embed, field(embed, "media")):
            if field(each, "$type") == _VIDEO:
                return _Video(view, field(view, "value"), each)
    return None


def _posted_at(video: _Video, now: datetime) -> datetime:
    """What the author's device says, or when Bluesky saw it, whichever is earlier; a date ahead makes none younger."""
    created, indexed = moment(field(video.record, "createdAt")), moment(field(video.view, "indexedAt"))
    plausible = [each for each in (created, indexed) if each is not None and each >= FIRST_PLAUSIBLE]
    if not plausible:
        raise BadPost("createdAt and indexedAt are no times")
    return min(*plausible, now)
