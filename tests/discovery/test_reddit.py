"""Which posts of a subreddit are candidates. `test_reddit_clients.py` has the forms in which they come."""

from __future__ import annotations

from typing import Any

import pytest

from found_footy.clips.hosts import is_video_link
from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery, wicket_query
from found_footy.discovery.reddit import downloadable_url, title_matches
from tests.discovery.social_answers import answer, answering, entry, spoilt
from tests.discovery.source_sites import NOW, QUERY, SINCE, ScriptedPost, source_at

GOAL = ScriptedPost("Liverpool [2] - 1 Manchester City - M. Salah 67'")
POST = entry("reddit", GOAL)


async def found(*listed: Any, extra_hosts: tuple[str, ...] = ()) -> list[Post]:
    async with answering("reddit", answer("reddit", list(listed))) as server:
        source = source_at("reddit", server.url, extra_hosts=extra_hosts)
        posts = await source.search(QUERY, SINCE)
        await source.aclose()
    return list(posts)


async def test_the_newest_posts_are_requested_with_an_identifying_user_agent() -> None:
    async with answering("reddit", answer("reddit", [POST])) as server:
        source = source_at("reddit", server.url)
        (post,) = await source.search(QUERY, SINCE)
        assert await source.check() == "r/soccer through the API: 1 posts"
        await source.aclose()
    token, asked, checked = server.requests
    assert token.path == "/api/v1/access_token"
    assert (asked.path, asked.params) == ("/r/soccer/new", {"limit": "100", "raw_json": "1"})
    assert (checked.path, checked.params) == (asked.path, asked.params), "a check sends what a search sends"
    assert asked.headers["user-agent"].startswith("found-footy/")
    assert post == Post(
        source="reddit",
        id="p0",
        url=f"{server.url}/r/soccer/comments/p0/",
        media_url="https://streamin.one/v/p0",
        posted_at=GOAL.at,
        author="goalsdaily",
        text=GOAL.text,
    )


async def test_wickets_are_looked_for_in_the_subreddit_of_cricket() -> None:
    said = ScriptedPost("Wicket: Virat Kohli c Head b Zampa 44 (31) | India 98/2 (11.2 ov) vs Australia")
    query = wicket_query("Virat Kohli", "Adam Zampa", ("India", "IND"), ("Australia", "AUS"))
    async with answering("reddit", answer("reddit", [POST, entry("reddit", said)])) as server:
        source = source_at("reddit", server.url)
        (post,) = await source.search(query, SINCE)
        await source.aclose()
    assert server.requests[1].path == "/r/Cricket/new"
    assert post.url.startswith(f"{server.url}/r/Cricket/comments/")
    assert post.text == said.text


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Liverpool [2] - 1 Manchester City - M. Salah 67'", True),
        ("Liverpool [2] - 1 Manchester City - M. Salah 67' (assist Wirtz)", True),
        ("Liverpool [2] - 1 Manchester City - F. Wirtz 67' (assist M. Salah)", False),
        ("Liverpool [2] - 1 Manchester City - F. Wirtz 67' after a pass of Salah", False),
        ("Liverpool 2 - [1] Manchester City - E. Haaland 67'", False),
        ("Everton 0 - [1] LFC - Mohamed Salah (pen) 90+4'", True),
        ("Salah's incredible solo goal for Liverpool", True),
        ("Everton [1] - 0 Chelsea - M. Salah 3'", False),
        ("Match Thread: Liverpool vs Manchester City", False),
    ],
)
def test_a_title_must_name_the_scorer_as_the_scorer(title: str, expected: bool) -> None:
    assert title_matches(title, QUERY) is expected


def test_without_a_scorer_the_team_is_enough() -> None:
    assert title_matches("Liverpool 2 - [1] Manchester City - E. Haaland 67'", SearchQuery((), ("Liverpool",)))


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("https://streamin.one/v/abc123", True),
        ("https://streamin.me/v/abc123", True),
        ("https://streamin.link/v/abc123", True),
        ("https://dubz.link/c/3ea24e", True),
        ("https://dubz.live/v/3ea24e", True),
        ("https://streamff.com/v/abc", True),
        ("https://streamff.live/v/abc", True),
        ("https://up.streamgg.com/v/abc", True),
        ("https://streamable.com/abc", True),
        ("https://www.streamable.com/abc", True),
        ("https://imgur.com/abc", True),
        ("https://i.imgur.com/abc.mp4", True),
        ("https://v.redd.it/abc", True),
        ("https://STREAMIN.ONE/v/abc", True),
        ("https://cdn.example.com/goals/salah.mp4", True),
        ("https://cdn.example.com/goals/salah.MP4?token=1", True),
        ("http://127.0.0.1:4000/v/abc", True),
        ("http://127.0.0.1:4001/v/abc", False),
        ("http://streamin.one/v/abc", False),
        ("https://streamin.one/", False),
        ("https://streamin.one", False),
        ("https://streamin.example.com/v/abc", False),
        ("https://streamable.com.example.com/abc", False),
        ("https://notstreamable.com/abc", False),
        ("https://streamin/v/abc", False),
        ("https://user:password@streamin.one/v/abc", False),
        ("https://streamin.one@example.com/x.mp4", False),
        ("https://127.0.0.1:4000@example.com/v/abc", False),
        ("https://www.bbc.co.uk/sport/football", False),
        ("https://www.reddit.com/r/soccer/comments/abc/", False),
        ("https://twitter.com/a/status/1", False),
        ("file:///etc/passwd.mp4", False),
        ("javascript:alert(1)//.mp4", False),
        ("ftp://example.com/x.mp4", False),
        ("//streamin.one/v/abc", False),
        ("https://[::1/x.mp4", False),
        ("https://example.com:99999/x.mp4", False),
        ("https://example.com/a b.mp4", False),
        ("https://example.com\\@evil.com/x.mp4", False),
        ("https://exa\u202emple.com/x.mp4", False),
        ("https://example.com/\r\nHost: x/.mp4", False),
        ("https://example.com/" + "x" * 3000 + ".mp4", False),
        ("", False),
    ],
)
def test_links_without_a_video_are_skipped(link: str, expected: bool) -> None:
    assert is_video_link(link, {"127.0.0.1:4000"}) is expected


@pytest.mark.parametrize(
    ("link", "known", "any_host"),
    [
        ("https://streamin.one/v/abc", True, True),
        ("https://cdn.example.com/goals/salah.mp4", True, True),
        ("https://newhost.example.com/v/abc", False, True),
        ("https://x.com/goals/status/1234567890", False, True),
        ("https://twitter.com/i/status/1234567890", False, True),
        ("https://www.youtube.com/watch?v=abc", False, True),
        ("https://youtu.be/abcdefghijk", False, True),
        ("https://x.com/goals", False, False),
        ("https://x.com.example.com/", False, False),
        ("https://www.youtube.com/@goals", False, False),
        ("https://www.youtube.com/channel/UC123", False, False),
        ("https://www.reddit.com/r/soccer/comments/abc/", False, False),
        ("https://i.redd.it/abc.jpeg", False, False),
        ("https://preview.redd.it/abc", False, False),
        ("https://en.wikipedia.org/wiki/Salah", False, False),
        ("https://example.com/lineup.png", False, False),
        ("https://example.com/", False, False),
        ("http://newhost.example.com/v/abc", False, False),
        ("https://10.0.0.1/v/abc", False, False),
        ("https://[::1]/v/abc", False, False),
        ("https://printer.local/v/abc", False, False),
        ("https://intranet/v/abc", False, False),
        ("https://user:password@newhost.example.com/v/abc", False, False),
        ("javascript:alert(1)", False, False),
        ("", False, False),
    ],
)
def test_an_unknown_host_is_tried_if_the_title_matches_the_goal(link: str, known: bool, any_host: bool) -> None:
    # Clip hosts rotate within weeks [cygnusx-1-org/continuum, Sep 2026; Apollo-Reborn#929, #944].
    assert downloadable_url(link, (), any_host=False) == (link if known else None)
    assert downloadable_url(link, (), any_host=True) == (link if any_host else None)


@pytest.mark.parametrize(
    ("title", "tried"), [(GOAL.text, True), ("Salah on his future at Liverpool: 'I want to stay'", False)]
)
async def test_only_the_title_of_a_goal_makes_an_unknown_host_a_candidate(title: str, tried: bool) -> None:
    post = spoilt(POST, "data", "url", to="https://newhost.example.com/v/abc")
    assert len(await found(spoilt(post, "data", "title", to=title))) == tried


async def test_posts_without_a_video_are_skipped_silently(caplog: pytest.LogCaptureFixture) -> None:
    picture = spoilt(POST, "data", "url", to="https://i.redd.it/abc.jpeg")
    text = spoilt(POST, "data", "url", to="https://www.reddit.com/r/soccer/comments/p0/")
    missing = spoilt(POST, "data", "url", without=True)
    assert await found(picture, text, missing) == []
    assert not caplog.records


OWN = {"reddit_video": {"fallback_url": "https://v.redd.it/abc/CMAF_720.mp4?source=fallback", "duration": 21}}
# The CDN is open, and its files of one quality have no sound [jacobhl3ca/nospoilerscores, Sep 2026].
PLAYLIST = "https://v.redd.it/abc/HLSPlaylist.m3u8"


@pytest.mark.parametrize("field", ["secure_media", "media"])
async def test_reddit_videos_have_their_playlist_and_duration(field: str) -> None:
    own = spoilt(spoilt(POST, "data", field, to=OWN), "data", "url", to="https://v.redd.it/abc")
    (post,) = await found(own)
    assert (post.media_url, post.duration) == (PLAYLIST, 21)


async def test_a_link_to_reddits_own_video_is_its_playlist() -> None:
    (post,) = await found(spoilt(POST, "data", "url", to="https://v.redd.it/abc"))
    assert (post.media_url, post.duration) == (PLAYLIST, None)


async def test_a_post_that_repeats_another_has_the_others_video() -> None:
    repeated = spoilt(POST, "data", "crosspost_parent_list", to=[{"secure_media": OWN}])
    (post,) = await found(spoilt(repeated, "data", "url", to="/r/football/comments/x/"))
    assert post.media_url == PLAYLIST


@pytest.mark.parametrize("duration", [None, "21", -1, 0, True, 1e300, [], 10**30])
async def test_a_strange_duration_is_none(duration: Any) -> None:
    own = spoilt(POST, "data", "media", to={"reddit_video": {**OWN["reddit_video"], "duration": duration}})
    (post,) = await found(own)
    assert post.duration is None


@pytest.mark.parametrize(
    "address", ["http://v.redd.it/a.mp4", "https://evil.example/a", "https://v.redd.it@evil.example/a", 5, None]
)
async def test_a_foreign_url_in_a_reddit_field_is_rejected(address: Any) -> None:
    own = spoilt(POST, "data", "media", to={"reddit_video": {"fallback_url": address}})
    (post,) = await found(own)
    assert post.media_url == "https://streamin.one/v/p0"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "../x"),
        ("id", "ABC"),
        ("id", "a" * 50),
        ("id", 5),
        ("title", None),
        ("title", 5),
        ("created_utc", "yesterday"),
        ("created_utc", None),
        ("created_utc", True),
        ("created_utc", 1e20),
        ("created_utc", -5),
        ("created_utc", float("nan")),
    ],
)
async def test_a_post_with_a_wrong_field_does_not_cost_the_others(
    field: str, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    (post,) = await found(spoilt(POST, "data", field, to=value), POST)
    assert post.id == "p0"
    assert "1 of 2 posts cannot be parsed" in caplog.text


async def test_a_post_dated_ahead_is_not_younger_than_now() -> None:
    (post,) = await found(spoilt(POST, "data", "created_utc", to=NOW.timestamp() + 3600))
    assert post.posted_at == NOW
