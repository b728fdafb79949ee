"""What an answer holds, by its first bytes before its own word: servers call everything `octet-stream`."""

from __future__ import annotations

from enum import StrEnum

HEAD_BYTES = 512

_BOXES = frozenset({b"ftyp", b"moov", b"mdat", b"wide", b"skip", b"free", b"styp"})
_BEGINNINGS = (b"\x1aE\xdf\xa3", b"OggS", b"0&\xb2u", b"\x00\x00\x01\xba", b"FLV")
_HTML = (b"<!doctype", b"<html", b"<head", b"<body", b"<script", b"<!--", b"<meta", b"<?xml", b"<title", b"<div")
_UNTOLD = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/mp4", "application/x-mp4"})
_PLAYLISTS = frozenset(
    {"application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl", "video/mpegurl"}
    | {"application/dash+xml"}
)


class Content(StrEnum):
    VIDEO = "video"
    PAGE = "page"
    PLAYLIST = "playlist"
    OTHER = "other"


def content_of(content_type: str, head: bytes) -> Content:
    kind = content_type.partition(";")[0].strip().lower()
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:16].lower()
    if not head:
        return Content.OTHER
    if _is_video(head):
        return Content.VIDEO
    if kind in _PLAYLISTS or text.startswith((b"#extm3u", b"<mpd")):
        return Content.PLAYLIST
    if kind in ("text/html", "application/xhtml+xml") or text.startswith(_HTML):
        return Content.PAGE
    # Whether it really is one is for the decoder to say.
    return Content.VIDEO if kind.startswith("video/") or kind in _UNTOLD else Content.OTHER


def _is_video(head: bytes) -> bool:
    return (
        head[4:8] in _BOXES
        or head.startswith(_BEGINNINGS)
        or (head[:4] == b"RIFF" and head[8:12] == b"AVI ")
        or (head[:1] == b"G" and head[188:189] == b"G")
    )
