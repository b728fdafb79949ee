"""Links to posts on X, the token, and the endpoint's answers."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from found_footy.clips.models import RejectionReason
from found_footy.clips.video_links import (
    base36,
    best_x_video,
    fxtwitter_video,
    merge_failures,
    syndication_token,
    x_post_id,
)
from found_footy.errors import CandidateRejected, DownloadUnavailable
from tests.support.recorded import recorded

ID = "1846987139428634858"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.5, "0.i"),
        (35.99999999999999, "z.zzzzzzzzz"),
        (0.1, "0.3lllllllllm"),
        (1 / 3, "0.c"),
        (1e-7, "0.000061oezo085tl"),
        (123456.789, "2n9c.sejl0v4"),
        (2.0**53, "2gosa7pa2gw"),
        (3.141592653589793, "3.53i5ab8p5f"),
        (0.9999999999999999, "0.zzzzzzzzzza"),
        (1295.9999999999998, "zz.zzzzzzzzd"),
        (5e-10, "0.00000136jz7x5sep"),
        (4711.0001, "3mv.004nym8f"),
    ],
)
def test_a_number_is_written_as_javascript_writes_it(value: float, text: str) -> None:
    assert base36(value) == text


@pytest.mark.parametrize(
    ("post", "expected"),
    [
        ("20", "6dq1a2xwd93"),
        ("999999999999999", "353i5ab8p54"),
        ("9007199254740993", "saoujnx4as"),
        ("1000000000000000000", "2f9lc2ug9mm"),
        ("1234567890123456789", "2zqic77uqyk"),
        ("1518718371928371200", "3oj71nxabl"),
        ("1671508600538161153", "41v7632hztx"),
        ("1846987139428634858", "4h6hbo73epi"),
        ("1999999999999999999", "4uj6o5owj98"),
    ],
)
def test_the_token_of_a_post(post: str, expected: str) -> None:
    assert syndication_token(post) == expected


@pytest.mark.parametrize(
    ("link", "found"),
    [
        (f"https://x.com/someone/status/{ID}", True),
        (f"https://twitter.com/someone/status/{ID}?s=20&t=abc", True),
        (f"https://www.x.com/someone/status/{ID}/video/1", True),
        (f"https://mobile.twitter.com/i/status/{ID}", True),
        (f"https://x.com/i/web/status/{ID}", True),
        (f"http://127.0.0.1:8123/x/someone/status/{ID}", True),
        (f"http://127.0.0.1:8124/x/someone/status/{ID}", False),
        (f"https://x.com:8443/someone/status/{ID}", False),
        (f"https://x.com.evil.example/someone/status/{ID}", False),
        ("https://x.com/someone", False),
        ("https://x.com/someone/status/12", False),
        ("https://x.com/someone/status/123456789012345678901", False),
        ("https://x.com/someone/status/12345abc", False),
    ],
)
def test_which_links_are_posts(link: str, found: bool) -> None:
    assert x_post_id(httpx.URL(link), httpx.URL("http://127.0.0.1:8123/x")) == (ID if found else None)


def media(*variants: tuple[str, int | None, str]) -> dict[str, Any]:
    told = [{"content_type": kind, "bitrate": rate, "url": url} for kind, rate, url in variants]
    return {"mediaDetails": [{"type": "video", "video_info": {"variants": told}}]}


def test_the_mp4_with_the_highest_bitrate_is_used() -> None:
    answer = media(
        ("application/x-mpegURL", None, "https://v/list.m3u8"),
        ("video/mp4", 256_000, "https://v/small.mp4"),
        ("video/mp4", 2_176_000, "https://v/large.mp4"),
        ("video/mp4", 832_000, "https://v/middle.mp4"),
    )
    assert best_x_video({"__typename": "Tweet", **answer}, ID) == "https://v/large.mp4"


def test_files_beyond_1080p_are_left_alone_where_there_are_smaller_ones() -> None:
    # X writes the size into the address: …/vid/avc1/1280x720/….mp4
    uhd, portrait, hd = ("https://v/vid/avc1/" + size + "/a.mp4" for size in ("3840x2160", "1080x1920", "1280x720"))
    sizes = [("video/mp4", 25_000_000, uhd), ("video/mp4", 9_000_000, portrait), ("video/mp4", 2_000_000, hd)]
    assert best_x_video(media(*sizes), ID) == portrait
    assert best_x_video(media(sizes[0]), ID) == uhd


def test_a_quoted_video_counts_only_where_the_post_has_none() -> None:
    own, quoted = media(("video/mp4", 1, "https://v/own.mp4")), media(("video/mp4", 9, "https://v/quoted.mp4"))
    assert best_x_video({**own, "quoted_tweet": quoted}, ID) == "https://v/own.mp4"
    assert best_x_video({"text": "look", "quoted_tweet": quoted}, ID) == "https://v/quoted.mp4"


def tombstone(text: Any) -> dict[str, Any]:
    return {"__typename": "TweetTombstone", "tombstone": {"text": text}}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({}, RejectionReason.GONE),
        (tombstone({"text": "This Post was deleted by the Post author. Learn more"}), RejectionReason.GONE),
        (tombstone({"text": "This Post is from a suspended account."}), RejectionReason.GONE),
        (tombstone({"text": "This Post is from an account that no longer exists."}), RejectionReason.GONE),
        (
            tombstone({"text": "You’re unable to view this Post because this account owner limits who can view"}),
            RejectionReason.PRIVATE,
        ),
        (tombstone({"text": "Age-restricted adult content. Please log in."}), RejectionReason.PRIVATE),
        (
            tombstone({"text": "This Post has been withheld in Germany in response to a legal demand"}),
            RejectionReason.GEO_BLOCKED,
        ),
        (tombstone(None), RejectionReason.GONE),
        (tombstone([1]), RejectionReason.GONE),
        ({"__typename": "TweetTombstone"}, RejectionReason.GONE),
        ({"text": "no video"}, RejectionReason.NOT_A_VIDEO),
        ({"mediaDetails": [{"type": "photo"}]}, RejectionReason.NOT_A_VIDEO),
        (media(("application/x-mpegURL", None, "https://v/list.m3u8")), RejectionReason.NOT_A_VIDEO),
        ({"mediaDetails": {"video_info": 1}, "quoted_tweet": [2]}, RejectionReason.NOT_A_VIDEO),
        ({"mediaDetails": [None, 1, {"video_info": {"variants": [None, {"url": 7}]}}]}, RejectionReason.NOT_A_VIDEO),
    ],
)
def test_a_post_without_a_video_has_a_reason(answer: Any, reason: RejectionReason) -> None:
    with pytest.raises(CandidateRejected) as raised:
        best_x_video(answer, ID)
    assert raised.value.reason == reason


@pytest.mark.parametrize("answer", [None, [], "text", 7])
def test_an_answer_of_another_shape_may_be_better_later(answer: Any) -> None:
    with pytest.raises(DownloadUnavailable):
        best_x_video(answer, ID)


# --- FxEmbed's `/2/status/<id>`: `APITwitterStatus` and `APIStatusTombstone` in FxEmbed/FxEmbed,
# packages/atmosphere/src/types/api-schemas.ts; codes in providers/twitter/conversation.ts


def status(*formats: dict[str, Any], **more: Any) -> dict[str, Any]:
    video = {"type": "video", "url": "https://v/chosen.mp4", "duration": 12.5, "formats": list(formats)}
    return {"code": 200, "status": {"type": "status", "id": ID, "media": {"videos": [video]}, **more}}


def form(container: str, bitrate: int | None = None, **more: Any) -> dict[str, Any]:
    rate = {} if bitrate is None else {"bitrate": bitrate}
    return {"container": container, "url": f"https://v/{container}-{bitrate}.{container}", **rate, **more}


@pytest.mark.parametrize(
    ("formats", "expected"),
    [
        ([form("m3u8"), form("mp4", 256_000), form("mp4", 2_176_000), form("mp4", 832_000)], "mp4-2176000.mp4"),
        ([form("mp4", 832_000), form("mp4", 9_000_000, codec="hevc")], "mp4-832000.mp4"),
        (
            [form("mp4", 9_000_000, height=2160, width=3840), form("mp4", 5_000_000, height=1080, width=1920)],
            "mp4-5000000.mp4",
        ),
        ([form("m3u8")], "m3u8-None.m3u8"),
        ([form("m3u8"), form("mp4")], "mp4-None.mp4"),
        ([], "chosen.mp4"),
        ([{"url": 7}, None], "chosen.mp4"),
    ],
)
def test_the_best_mp4_of_fxembed_is_preferred_to_a_playlist(formats: Any, expected: str) -> None:
    assert fxtwitter_video(status(*formats), ID) == f"https://v/{expected}"


def test_a_video_quoted_at_fxembed_counts_where_the_post_has_none() -> None:
    answer = {"code": 200, "status": {"media": {}, "quote": status(form("mp4", 1))["status"]}}
    assert fxtwitter_video(answer, ID) == "https://v/mp4-1.mp4"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"code": 404, "status": None, "author": None}, RejectionReason.GONE),
        ({"code": 404, "status": {"type": "tombstone", "reason": "deleted", "message": "…"}}, RejectionReason.GONE),
        ({"code": 404, "status": {"type": "tombstone", "reason": "suspended"}}, RejectionReason.GONE),
        ({"code": 404, "status": {"type": "tombstone", "reason": "private"}}, RejectionReason.PRIVATE),
        ({"code": 401, "status": None}, RejectionReason.PRIVATE),
        ({"code": 200, "status": {"text": "only words", "media": {}}}, RejectionReason.NOT_A_VIDEO),
        ({"code": 200, "status": {"media": {"photos": [{"type": "photo"}]}}}, RejectionReason.NOT_A_VIDEO),
    ],
)
def test_fxembed_responses_for_unavailable_posts(answer: Any, reason: RejectionReason) -> None:
    with pytest.raises(CandidateRejected) as raised:
        fxtwitter_video(answer, ID)
    assert raised.value.reason == reason


@pytest.mark.parametrize("answer", [None, [], {}, {"code": 500, "message": "…"}, {"code": 200, "status": None}])
def test_an_unknown_answer_of_fxembed_may_be_better_later(answer: Any) -> None:
    with pytest.raises(DownloadUnavailable):
        fxtwitter_video(answer, ID)


DOWN = DownloadUnavailable("down")


@pytest.mark.parametrize(
    ("syndication", "fxembed", "expected"),
    [
        (DOWN, DOWN, None),
        (RejectionReason.GONE, RejectionReason.GONE, RejectionReason.GONE),
        # Posts that are seconds old, or an outage that looks like "not found" (FxEmbed#1385).
        (RejectionReason.GONE, DOWN, None),
        (DOWN, RejectionReason.GONE, None),
        (RejectionReason.NOT_A_VIDEO, DOWN, None),
        (RejectionReason.GONE, RejectionReason.PRIVATE, RejectionReason.PRIVATE),
        (RejectionReason.GONE, RejectionReason.NOT_A_VIDEO, RejectionReason.NOT_A_VIDEO),
        (RejectionReason.NOT_A_VIDEO, RejectionReason.GONE, RejectionReason.NOT_A_VIDEO),
        (RejectionReason.PRIVATE, DOWN, RejectionReason.PRIVATE),
        (RejectionReason.GEO_BLOCKED, DOWN, RejectionReason.GEO_BLOCKED),
    ],
)
def test_classification_of_two_failures(syndication: Any, fxembed: Any, expected: RejectionReason | None) -> None:
    first, second = (each if each is DOWN else CandidateRejected(each, "said") for each in (syndication, fxembed))
    error = merge_failures(first, second)
    assert (error.reason if isinstance(error, CandidateRejected) else None) == expected
    assert isinstance(error, CandidateRejected | DownloadUnavailable)


def test_the_media_of_a_recorded_post_are_understood() -> None:
    text = recorded("social", "x-tweet-with-video.json").read_text(encoding="utf-8")
    found = next(_media_in(json.loads(text)))
    rates = {each["url"]: each.get("bitrate", 0) for each in found[0]["video_info"]["variants"]}
    assert best_x_video({"mediaDetails": found}, ID) == max(rates, key=lambda url: rates[url])


def _media_in(value: Any) -> Any:
    """The first list of media with a video, wherever it is."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "media" and isinstance(inner, list) and "video_info" in inner[0]:
                yield inner
            yield from _media_in(inner)
    if isinstance(value, list):
        for inner in value:
            yield from _media_in(inner)
