"""What an answer is, and what a status or a message means."""

from __future__ import annotations

import pytest

from found_footy.adapters.download.contents import Content, content_of
from found_footy.adapters.download.statuses import trouble
from found_footy.adapters.download.urls import checked_url, shown_text
from found_footy.adapters.download.ytdlp_words import loss_of, short_text
from found_footy.domain.errors import ClipLost, DownloadUnavailable
from found_footy.domain.videos.losses import Loss

from .hostile_server import VIDEO


@pytest.mark.parametrize(
    ("kind", "head", "content"),
    [
        ("video/mp4", VIDEO, Content.VIDEO),
        ("text/plain", VIDEO, Content.VIDEO),
        ("text/html", VIDEO, Content.VIDEO),
        ("application/octet-stream", b"whatever", Content.VIDEO),
        ("", b"\x1aE\xdf\xa3", Content.VIDEO),
        ("image/jpeg", b"\xff\xd8\xff", Content.OTHER),
        ("application/json", b"{}", Content.OTHER),
        ("audio/mpeg", b"ID3", Content.OTHER),
        ("video/mp4", b"<!DOCTYPE html><html>", Content.PAGE),
        ("", b"\xef\xbb\xbf \n<HTML>", Content.PAGE),
        ("text/html; charset=utf-8", b"hello", Content.PAGE),
        ("application/vnd.apple.mpegurl", b"#EXTM3U", Content.PLAYLIST),
        ("video/mp4", b"#EXTM3U\n", Content.PLAYLIST),
        ("application/dash+xml; x=y", b"<?xml", Content.PLAYLIST),
        ("video/mp4", b"", Content.OTHER),
    ],
)
def test_the_first_bytes_count_more_than_the_type(kind: str, head: bytes, content: Content) -> None:
    assert content_of(kind, head) is content


@pytest.mark.parametrize(
    ("status", "body", "loss"),
    [
        (404, "", Loss.GONE),
        (410, "", Loss.GONE),
        (401, "", Loss.PRIVATE),
        (403, "Forbidden", Loss.PRIVATE),
        (403, "This video is not available in your country", Loss.GEO_BLOCKED),
        (403, "<h1>Geo-blocked</h1>", Loss.GEO_BLOCKED),
        (451, "", Loss.GEO_BLOCKED),
        (400, "", Loss.UNREACHABLE),
        (204, "", Loss.UNREACHABLE),
        (302, "", Loss.UNREACHABLE),
    ],
)
def test_what_a_status_means(status: int, body: str, loss: Loss) -> None:
    error = trouble(status, "host/path", body)
    assert isinstance(error, ClipLost)
    assert error.loss == loss


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_a_status_that_may_pass(status: int) -> None:
    assert isinstance(trouble(status, "host/path"), DownloadUnavailable)


@pytest.mark.parametrize(
    ("message", "loss"),
    [
        ("ERROR: [youtube] abc: Video unavailable", Loss.GONE),
        ("ERROR: [youtube] abc: Video unavailable. This video is private", Loss.PRIVATE),
        ("[youtube] x: Private video. Sign in if you've been granted access", Loss.PRIVATE),
        (
            "ERROR: [generic] Unable to download webpage: HTTP Error 404: Not Found (caused by <HTTPError 404>)",
            Loss.GONE,
        ),
        ("ERROR: [generic] Unable to download webpage: HTTP Error 403: Forbidden", Loss.PRIVATE),
        ("ERROR: The uploader has not made this video available in your country", Loss.GEO_BLOCKED),
        ("ERROR: This video is not available from your location due to geo restriction", Loss.GEO_BLOCKED),
        ("ERROR: Unsupported URL: https://h/p?secret=1", Loss.UNSUPPORTED),
        ("ERROR: [Streamable] x: Requested format is not available. Use --list-formats", Loss.UNSUPPORTED),
        ("ERROR: [twitter] 1: No video could be found in this tweet", Loss.NOT_A_VIDEO),
        ("[download] File is larger than max-filesize (2 bytes > 1 bytes). Aborting.", Loss.TOO_LARGE),
        ("ERROR: This video is DRM protected", Loss.UNSUPPORTED),
        ("ERROR: [Instagram] x: You need to log in to access this content", Loss.PRIVATE),
        ("ERROR: [youtube] x: Sign in to confirm you’re not a bot", None),
        ("ERROR: Unable to download webpage: HTTP Error 503: Service Unavailable", None),
        ("ERROR: Unable to download webpage: timed out", None),
        ("ERROR: Unable to download webpage: HTTP Error 429: Too Many Requests", None),
        ("ERROR: Unsupported URL: http://127.0.0.1:42995/private/not-found", Loss.UNSUPPORTED),
        ("ERROR: Unable to download webpage: [Errno 111] Connection refused", None),
        ("ERROR: something new; please report this issue on https://github.com/x/issues, deleted", None),
    ],
)
def test_what_yt_dlp_means(message: str, loss: Loss | None) -> None:
    assert loss_of(message) == loss


def test_messages_are_short_and_without_secrets() -> None:
    text = short_text("\x1b[0;31mERROR:\x1b[0m Unsupported URL: https://me:pw@host/p?key=secret \u202e" + "x" * 999)
    assert text.startswith("Unsupported URL: https://host/p x")
    assert len(text) <= 160
    assert shown_text("http://u:p@h/p?q#f and https://h2/?t=1") == "http://h/p and https://h2/"


@pytest.mark.parametrize(
    ("link", "loss"),
    [
        ("ftp://example.org/a.mp4", Loss.UNSUPPORTED),
        ("file:///etc/passwd", Loss.UNSUPPORTED),
        ("data:video/mp4;base64,AAAA", Loss.UNSUPPORTED),
        ("javascript:alert(1)", Loss.UNSUPPORTED),
        ("//example.org/a.mp4", Loss.UNSUPPORTED),
        ("http://", Loss.UNSUPPORTED),
        ("http:///a.mp4", Loss.UNSUPPORTED),
        ("http://[::1", Loss.UNSUPPORTED),
        ("http://0177.0.0.1/", Loss.UNSUPPORTED),
        ("http://[bad/", Loss.UNSUPPORTED),
        ("http://exam\nple.org/", Loss.UNSUPPORTED),
        ("http://example.org/" + "a" * 5000, Loss.UNSUPPORTED),
        ("", Loss.UNSUPPORTED),
        ("http://user:pw@example.org/", Loss.FORBIDDEN_ADDRESS),
        ("http://1.1.1.1@127.0.0.1/", Loss.FORBIDDEN_ADDRESS),
    ],
)
def test_links_that_are_not_followed(link: str, loss: Loss) -> None:
    with pytest.raises(ClipLost) as lost:
        checked_url(link)
    assert lost.value.loss == loss
    assert "pw" not in str(lost.value)
    assert len(str(lost.value)) < 250
