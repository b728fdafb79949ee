"""Which of Bluesky's posts have a video, of whom and of when; made-up ones and recorded ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml

from footy_simulator.bluesky import cid_of, did_of
from found_footy.clips.hosts import clip_link
from found_footy.discovery.bluesky import parse_search_response
from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery
from found_footy.errors import SourceChanged
from tests.discovery.shared import recorded
from tests.discovery.social_answers import entry, spoilt
from tests.discovery.source_sites import NOW, QUERY, ScriptedPost

ALL = SearchQuery((), ())


def read(*views: Any, query: SearchQuery = ALL) -> list[Post]:
    return parse_search_response({"posts": list(views)}, query, NOW)


def test_a_post_leads_to_its_page_and_to_its_video() -> None:
    (post,) = read(entry("bluesky", ScriptedPost("Salah for Liverpool", ago=60)))
    did, cid = did_of("goalsdaily"), cid_of("/media/bluesky-0.mp4")
    assert post == Post(
        source="bluesky",
        id=f"{did}/p0",
        url="https://bsky.app/profile/goalsdaily.bsky.social/post/p0",
        media_url=f"http://127.0.0.1/hosts/video.bsky.app/watch/{did.replace(':', '%3A')}/{cid}/playlist.m3u8",
        posted_at=NOW - timedelta(seconds=60),
        author="goalsdaily.bsky.social",
        text="Salah for Liverpool",
    )


@pytest.mark.parametrize("playlist", ["", "javascript:alert(1)", "https://video.bsky.app/watch/x/playlist.m3u8"])
def test_a_playlist_of_another_form_is_replaced_by_the_usual_one(playlist: str) -> None:
    (post,) = read(spoilt(entry("bluesky"), "embed", "playlist", to=playlist))
    did, cid = did_of("goalsdaily"), cid_of("/media/bluesky-0.mp4")
    assert post.media_url == f"https://video.bsky.app/watch/{did}/{cid}/playlist.m3u8"


VIDEO = entry("bluesky")
EMBED = VIDEO["embed"]
PICTURES = {"$type": "app.bsky.embed.images#view", "images": []}
QUOTED = {
    "$type": "app.bsky.embed.record#viewRecord",
    "uri": VIDEO["uri"],
    "author": VIDEO["author"],
    "value": {"text": "what a goal", "createdAt": "2026-08-22T14:58:30.000Z"},
    "embeds": [EMBED],
    "indexedAt": "2026-08-22T14:58:31.000Z",
}


@pytest.mark.parametrize(
    ("embed", "found"),
    [
        pytest.param(EMBED, 1, id="a video"),
        pytest.param({"$type": "app.bsky.embed.recordWithMedia#view", "media": EMBED}, 1, id="a video with a quote"),
        pytest.param({"$type": "app.bsky.embed.record#view", "record": QUOTED}, 1, id="a quote of a video"),
        pytest.param(
            {"$type": "app.bsky.embed.recordWithMedia#view", "media": PICTURES, "record": {"record": QUOTED}},
            1,
            id="a quote of a video with pictures",
        ),
        pytest.param(PICTURES, 0, id="pictures"),
        pytest.param(None, 0, id="nothing"),
        pytest.param("video", 0, id="a text"),
        pytest.param({"$type": "app.bsky.embed.external#view"}, 0, id="a link"),
        pytest.param({"$type": "app.bsky.embed.record#view", "record": {"$type": "#viewNotFound"}}, 0, id="gone"),
        pytest.param({"$type": "app.bsky.embed.recordWithMedia#view"}, 0, id="with nothing"),
    ],
)
def test_only_posts_with_a_video_are_kept(embed: Any, found: int) -> None:
    assert len(read(spoilt(VIDEO, "embed", to=embed))) == found


def test_a_quoted_video_is_the_quoted_persons_and_as_old_as_their_post() -> None:
    quote = spoilt(VIDEO, "embed", to={"$type": "app.bsky.embed.record#view", "record": QUOTED})
    quote = spoilt(quote, "author", to={"did": did_of("somebody"), "handle": "somebody.bsky.social"})
    quote = spoilt(quote, "uri", to=f"at://{did_of('somebody')}/app.bsky.feed.post/quote")
    (post,) = read(quote, query=QUERY)
    assert post.author == "goalsdaily.bsky.social"
    assert post.id.startswith(did_of("goalsdaily"))
    assert did_of("goalsdaily")[-24:] in post.media_url
    assert post.posted_at == datetime(2026, 8, 22, 14, 58, 30, tzinfo=UTC)
    assert "what a goal" in post.text


@pytest.mark.parametrize(
    ("created", "indexed", "expected"),
    [
        ("2026-08-22T14:59:00Z", "2026-08-22T14:59:02Z", "14:59:00"),
        ("2026-08-22T14:59:05Z", "2026-08-22T14:59:02Z", "14:59:02"),
        ("2026-08-22T16:59:00+02:00", "2026-08-22T14:59:02Z", "14:59:00"),
        ("2099-01-01T00:00:00Z", "2026-08-22T14:59:02Z", "14:59:02"),
        ("2099-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "15:00:00"),
        ("0001-01-01T00:00:00+14:00", "2026-08-22T14:59:02Z", "14:59:02"),
        ("1970-01-01T00:00:00Z", "2026-08-22T14:59:02Z", "14:59:02"),
        ("2026-08-22T14:00:00", "2026-08-22T14:59:02Z", "14:59:02"),
        (1787410740, "2026-08-22T14:59:02Z", "14:59:02"),
        (None, "2026-08-22T14:59:02Z", "14:59:02"),
        ("2026-08-22T14:59:00Z", None, "14:59:00"),
        ("2015-05-05T00:00:00Z", "2026-08-22T14:59:02Z", "00:00:00"),
        ("soon", "later", None),
    ],
)
def test_of_two_dates_the_earlier_plausible_one_counts(created: Any, indexed: Any, expected: str | None) -> None:
    view = spoilt(spoilt(VIDEO, "record", "createdAt", to=created), "indexedAt", to=indexed)
    if expected is None:
        with pytest.raises(SourceChanged):
            read(view)
    else:
        (post,) = read(view)
        assert f"{post.posted_at:%H:%M:%S}" == expected


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("uri",), "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post/../../x"),
        (("uri",), "https://example.com"),
        (("uri",), "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post/of-somebody-else"),
        (("author", "did"), "did:plc:short"),
        (("author", "did"), "did:plc:AAAAAAAAAAAAAAAAAAAAAAAA&cid=x"),
        (("embed", "cid"), "bafkrei&did=x"),
        (("embed", "cid"), "../../etc/passwd"),
        (("embed", "cid"), "b" * 5000),
        (("embed", "cid"), None),
        (("record", "text"), {"text": "Salah"}),
        (("record",), None),
    ],
)
def test_url_components_are_validated(path: tuple[str, ...], value: Any) -> None:
    with pytest.raises(SourceChanged, match="none of 1 posts"):
        read(spoilt(VIDEO, *path, to=value))


@pytest.mark.parametrize("handle", ["handle.invalid", "", None, "x/../y.z", "no-dot", "a b.c", "\u202ea.b"])
def test_a_strange_handle_is_replaced_by_the_accounts_id(handle: Any) -> None:
    (post,) = read(spoilt(VIDEO, "author", "handle", to=handle))
    assert post.url == f"https://bsky.app/profile/{did_of('goalsdaily')}/post/p0"


def test_the_text_below_a_video_is_searched_too() -> None:
    view = spoilt(spoilt(VIDEO, "record", "text", to="Salah!!"), "embed", "alt", to="a goal for LFC")
    assert len(read(view, query=QUERY)) == 1


# --- recorded


def cassette(name: str) -> Any:
    (exchange,) = yaml.safe_load(recorded("social", name).read_text("utf-8"))["http_interactions"]
    return json.loads(exchange["response"]["body"]["string"])


def test_a_recorded_search_is_read_and_none_of_its_posts_has_a_video(caplog: pytest.LogCaptureFixture) -> None:
    body = cassette("bluesky-search-posts.yml")
    assert len(body["posts"]) == 25
    assert parse_search_response(body, ALL, NOW) == []
    assert not caplog.records


def test_a_recorded_feed_is_read_and_its_video_is_found_in_the_quote(caplog: pytest.LogCaptureFixture) -> None:
    views = [each["post"] for each in cassette("bluesky-author-feed-with-video.yml")["feed"]]
    (post,) = read(*views)
    assert not caplog.records
    assert post.author == "bskyr.bsky.social"
    assert post.posted_at == datetime(2024, 12, 1, 3, 53, 5, 172324, tzinfo=UTC)
    # The form of a real playlist's address: the downloader reads the author and the file from it.
    link = clip_link(post.media_url)
    assert link is not None
    assert (link.host.name, link.did) == ("bluesky", "did:plc:5c2r73erhng4bszmxlfdtscf")


def test_a_video_post_is_found_in_the_recording() -> None:
    """The quoted post as the search would list it."""
    views = [each["post"] for each in cassette("bluesky-author-feed-with-video.yml")["feed"]]
    quotes = [view["embed"]["record"] for view in views if view.get("embed", {}).get("record", {}).get("embeds")]
    own = [{**quoted, "record": quoted["value"], "embed": quoted["embeds"][0]} for quoted in quotes]
    (post,) = read(*own)
    assert post.text == "testing sending videos from R"
