"""What an answer is, and what a status or a message means."""

from __future__ import annotations

import pytest

from found_footy.clips.download_http import Content, parse_or_reject, rejection_for_status, sniff_content
from found_footy.clips.models import RejectionReason
from found_footy.clips.ytdlp import reason_for_message, shorten_message
from found_footy.errors import CandidateRejected, DownloadUnavailable
from found_footy.runtime.http import redact_urls
from tests.clips.hostile_server import VIDEO


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
    assert sniff_content(kind, head) is content


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (404, "", RejectionReason.GONE),
        (410, "", RejectionReason.GONE),
        (401, "", RejectionReason.PRIVATE),
        (403, "Forbidden", RejectionReason.PRIVATE),
        (403, "This video is not available in your country", RejectionReason.GEO_BLOCKED),
        (403, "<h1>Geo-blocked</h1>", RejectionReason.GEO_BLOCKED),
        (451, "", RejectionReason.GEO_BLOCKED),
        (400, "", RejectionReason.UNREACHABLE),
        (204, "", RejectionReason.UNREACHABLE),
        (302, "", RejectionReason.UNREACHABLE),
    ],
)
def test_meaning_of_each_status(status: int, body: str, reason: RejectionReason) -> None:
    error = rejection_for_status(status, "host/path", body)
    assert isinstance(error, CandidateRejected)
    assert error.reason == reason


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_a_status_that_may_pass(status: int) -> None:
    assert isinstance(rejection_for_status(status, "host/path"), DownloadUnavailable)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("ERROR: [youtube] abc: Video unavailable", RejectionReason.GONE),
        ("ERROR: [youtube] abc: Video unavailable. This video is private", RejectionReason.PRIVATE),
        ("[youtube] x: Private video. Sign in if you've been granted access", RejectionReason.PRIVATE),
        (
            "ERROR: [generic] Unable to download webpage: HTTP Error 404: Not Found (caused by <HTTPError 404>)",
            RejectionReason.GONE,
        ),
        ("ERROR: [generic] Unable to download webpage: HTTP Error 403: Forbidden", RejectionReason.PRIVATE),
        ("ERROR: The uploader has not made this video available in your country", RejectionReason.GEO_BLOCKED),
        ("ERROR: This video is not available from your location due to geo restriction", RejectionReason.GEO_BLOCKED),
        ("ERROR: Unsupported URL: https://h/p?secret=1", RejectionReason.UNSUPPORTED),
        ("ERROR: [Streamable] x: Requested format is not available. Use --list-formats", RejectionReason.UNSUPPORTED),
        ("ERROR: [twitter] 1: No video could be found in this tweet", RejectionReason.NOT_A_VIDEO),
        ("[download] File is larger than max-filesize (2 bytes > 1 bytes). Aborting.", RejectionReason.TOO_LARGE),
        ("ERROR: This video is DRM protected", RejectionReason.UNSUPPORTED),
        ("ERROR: [Instagram] x: You need to log in to access this content", RejectionReason.PRIVATE),
        ("ERROR: [youtube] x: Sign in to confirm you’re not a bot", None),
        ("ERROR: Unable to download webpage: HTTP Error 503: Service Unavailable", None),
        ("ERROR: Unable to download webpage: timed out", None),
        ("ERROR: Unable to download webpage: HTTP Error 429: Too Many Requests", None),
        ("ERROR: Unsupported URL: http://127.0.0.1:42995/private/not-found", RejectionReason.UNSUPPORTED),
        ("ERROR: Unable to download webpage: [Errno 111] Connection refused", None),
        ("ERROR: something new; please report this issue on https://github.com/x/issues, deleted", None),
    ],
)
def test_classification_of_yt_dlp_errors(message: str, reason: RejectionReason | None) -> None:
    assert reason_for_message(message) == reason


def test_messages_are_short_and_without_secrets() -> None:
    text = shorten_message(
        "\x1b[0;31mERROR:\x1b[0m Unsupported URL: https://me:pw@host/p?key=secret \u202e" + "x" * 999
    )
    assert text.startswith("Unsupported URL: https://host/p x")
    assert len(text) <= 160
    assert redact_urls("http://u:p@h/p?q#f and https://h2/?t=1") == "http://h/p and https://h2/"


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("ftp://example.org/a.mp4", RejectionReason.UNSUPPORTED),
        ("file:///etc/passwd", RejectionReason.UNSUPPORTED),
        ("data:video/mp4;base64,AAAA", RejectionReason.UNSUPPORTED),
        ("javascript:alert(1)", RejectionReason.UNSUPPORTED),
        ("//example.org/a.mp4", RejectionReason.UNSUPPORTED),
        ("http://", RejectionReason.UNSUPPORTED),
        ("http:///a.mp4", RejectionReason.UNSUPPORTED),
        ("http://[::1", RejectionReason.UNSUPPORTED),
        ("http://0177.0.0.1/", RejectionReason.UNSUPPORTED),
        ("http://[bad/", RejectionReason.UNSUPPORTED),
        ("http://exam\nple.org/", RejectionReason.UNSUPPORTED),
        ("http://example.org/" + "a" * 5000, RejectionReason.UNSUPPORTED),
        ("", RejectionReason.UNSUPPORTED),
        ("http://user:pw@example.org/", RejectionReason.FORBIDDEN_ADDRESS),
        ("http://1.1.1.1@127.0.0.1/", RejectionReason.FORBIDDEN_ADDRESS),
    ],
)
def test_links_that_are_not_followed(link: str, reason: RejectionReason) -> None:
    with pytest.raises(CandidateRejected) as raised:
        parse_or_reject(link)
    assert raised.value.reason == reason
    assert "pw" not in str(raised.value)
    assert len(str(raised.value)) < 250
