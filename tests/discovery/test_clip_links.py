"""The table of clip hosts: which links it knows, what it asks, and which unknown links are worth a try."""

from __future__ import annotations

import pytest

from found_footy.clips.hosts import (
    Lookup,
    clip_link,
    is_front_page,
    is_plausible_clip_link,
    is_video_link,
    mentions_removal,
    placeholder_reason,
)

SIMULATOR = "127.0.0.1:4444"
DID = "did:plc:" + "a" * 24
CID = "bafkrei" + "b" * 52


# Link forms: cygnusx-1-org/continuum (ShortClipHostUtils.kt, 9 Sep 2026), Apollo-Reborn#665.
@pytest.mark.parametrize(
    ("link", "asked"),
    [
        ("https://streama.in/NzwSmy4S1oaJDOh/watch", "https://streamain.com/embed/NzwSmy4S1oaJDOh"),
        ("https://streamain.com/en/NzwSmy4S1oaJDOh/watch", "https://streamain.com/embed/NzwSmy4S1oaJDOh"),
        ("https://streamain.com/embed/NzwSmy4S1oaJDOh", "https://streamain.com/embed/NzwSmy4S1oaJDOh"),
        ("https://streama.in/NzwSmy4S1oaJDOh", "https://streamain.com/embed/NzwSmy4S1oaJDOh"),
        ("https://streamin.link/v/d5e74811", "https://streamin.link/v/d5e74811"),
        ("https://streamff.pro/v/0c9ead67", "https://ffedge.streamff.com/share/0c9ead67"),
        ("https://www.streamff.com/c/0c9ead67/", "https://ffedge.streamff.com/share/0c9ead67"),
        ("https://dubz.link/c/29640a", "https://dubz.link/c/29640a"),
        ("https://dropr.co/v/ab12cd", "https://dropr.co/v/ab12cd"),
        ("https://streamable.com/dnd1", "https://api.streamable.com/videos/dnd1"),
        ("https://streamable.com/e/dnd1", "https://api.streamable.com/videos/dnd1"),
        ("https://v.redd.it/20tv4kea1joh1", "https://v.redd.it/20tv4kea1joh1/HLSPlaylist.m3u8"),
        ("https://v.redd.it/20tv4kea1joh1/DASH_720.mp4", "https://v.redd.it/20tv4kea1joh1/HLSPlaylist.m3u8"),
        (
            f"http://{SIMULATOR}/hosts/streamff.pro/v/0c9ead67",
            f"http://{SIMULATOR}/hosts/ffedge.streamff.com/share/0c9ead67",
        ),
        (f"http://{SIMULATOR}/hosts/dubz.link/c/29640a", f"http://{SIMULATOR}/hosts/dubz.link/c/29640a"),
    ],
)
def test_requests_for_a_clip(link: str, asked: str) -> None:
    found = clip_link(link, [SIMULATOR])
    assert found is not None
    assert found.request_url == asked


@pytest.mark.parametrize(
    "link",
    [
        "https://example.org/v/0c9ead67",
        "https://streamff.example.org/v/0c9ead67",
        "https://streamff.pro/",
        "https://user@streamff.pro/v/0c9ead67",
        "http://127.0.0.1:5555/hosts/streamff.pro/v/0c9ead67",
        f"http://{SIMULATOR}/hosts/../streamff.pro/v/0c9ead67",
        f"http://{SIMULATOR}/v/0c9ead67",
    ],
)
def test_other_links_are_not_clips(link: str) -> None:
    assert clip_link(link, [SIMULATOR]) is None


def test_a_bluesky_playlist_names_the_author_and_the_file() -> None:
    for did in (DID, DID.replace(":", "%3A")):
        found = clip_link(f"https://video.bsky.app/watch/{did}/{CID}/playlist.m3u8")
        assert found is not None
        assert (found.did, found.clip_id, found.host.lookup) == (DID, CID, Lookup.BLUESKY_BLOB)


@pytest.mark.parametrize(
    ("link", "first"),
    [
        ("https://dubz.link/c/29640a", "https://cdn.makevos.com/videos/29640a.mp4"),
        ("https://dubz.link/v/d5792a?x=/c/", "https://cdn.squeelab.com/guest/videos/d5792a.mp4"),
    ],
)
def test_dubz_has_a_cdn_for_each_form_of_link(link: str, first: str) -> None:
    found = clip_link(link)
    assert found is not None
    assert found.known_files[0] == first


@pytest.mark.parametrize(
    ("link", "known"),
    [
        ("https://streama.in/NzwSmy4S1oaJDOh/watch", True),
        ("https://streamin.anything/v/1", True),
        ("https://up.streamin.one/v/1", True),
        ("https://clips.twitch.tv/Abc", True),
        ("https://i.imgur.com/abc.mp4", True),
        ("https://v.redd.it/20tv4kea1joh1", True),
        ("https://example.org/goal.MP4", True),
        ("https://bangr.im/v/abc123", False),
        ("http://streamin.me/v/1", False),
        ("https://streamin.me/", False),
        ("https://example.org/v/1", False),
        (f"http://{SIMULATOR}/v/1", True),
        (f"http://{SIMULATOR}/hosts/streamff.pro/v/0c9ead67", True),
        (f"http://{SIMULATOR}/hosts/bangr.im/v/0c9ead67", False),
        (f"http://{SIMULATOR}/", False),
    ],
)
def test_links_of_known_hosts(link: str, known: bool) -> None:
    assert is_video_link(link, [SIMULATOR]) is known


@pytest.mark.parametrize(
    ("link", "worth_a_try"),
    [
        ("https://newcliphost.xyz/v/abc123", True),
        ("https://streamin.me/v/1", True),
        ("https://www.youtube.com/watch?v=abcdefghijk", True),
        ("https://youtu.be/abcdefghijk", True),
        ("https://x.com/goals/status/1846987139428634858", True),
        ("https://www.instagram.com/reel/Cabc_123/", True),
        ("https://www.tiktok.com/@goals/video/7300000000000000000", True),
        ("https://example.org/goal.webm", True),
        ("http://newcliphost.xyz/v/abc123", False),
        ("https://newcliphost.xyz/", False),
        ("https://newcliphost.xyz:8443/v/abc123", False),
        ("https://www.reddit.com/r/soccer/comments/1abc/goal/", False),
        ("https://i.redd.it/abc.jpg", False),
        ("https://preview.redd.it/abc", False),
        ("https://x.com/goals", False),
        ("https://www.youtube.com/@goals", False),
        ("https://www.instagram.com/goals/", False),
        ("https://en.wikipedia.org/wiki/Goal", False),
        ("https://example.org/table.png", False),
        ("https://example.org/report.pdf", False),
        ("https://www.bbc.co.uk/sport/football/1", False),
        ("https://192.0.2.7/v/abc", False),
        ("https://localhost/v/abc", False),
        ("https://printer.local/v/abc", False),
        ("https://bangr.im/v/abc123", False),
        ("not a link", False),
    ],
)
def test_unknown_hosts_are_worth_a_try_unless_they_hold_no_clips(link: str, worth_a_try: bool) -> None:
    assert is_plausible_clip_link(link) is worth_a_try


@pytest.mark.parametrize(
    ("url", "placeholder"),
    [
        ("https://www.cloudflare-terms-of-service-abuse.com/stream.mp4", True),
        (f"http://{SIMULATOR}/hosts/cloudflare-terms-of-service-abuse.com/stream.mp4", True),
        ("https://cdn.example.org/removed.mp4", True),
        ("https://cdn.example.org/video-unavailable.mp4", True),
        ("https://cdn.example.org/goal-removed-by-var.mp4", False),
        ("https://cdn.example.org/abuse/clip.mp4", False),
    ],
)
def test_placeholders_are_known_by_their_address(url: str, placeholder: bool) -> None:
    assert (placeholder_reason(url, [SIMULATOR]) is not None) is placeholder


@pytest.mark.parametrize(
    ("asked", "answered", "front"),
    [
        ("https://h.example/v/1", "https://h.example/", True),
        ("https://h.example/v/1", "https://www.h.example", True),
        ("https://h.example/v/1", "https://h.example/v/1", False),
        ("https://h.example/v/1", "https://h.example/?v=1", False),
        ("https://h.example/", "https://h.example/", False),
        (f"http://{SIMULATOR}/hosts/h.example/v/1", f"http://{SIMULATOR}/hosts/h.example/", True),
    ],
)
def test_a_redirect_to_the_front_page(asked: str, answered: str, front: bool) -> None:
    assert is_front_page(asked, answered, [SIMULATOR]) is front


@pytest.mark.parametrize(
    ("text", "removed"),
    [
        ("This video has been removed by its owner.", True),
        ("Video unavailable", True),
        ("404: the clip you are looking for was not found", True),
        ("Blocked for a terms of service violation", True),
        ("Salah scores for Liverpool. Terms of service. Privacy.", False),
        ("Upload a video", False),
    ],
)
def test_pages_that_report_a_deleted_video(text: str, removed: bool) -> None:
    assert mentions_removal(text) is removed
