"""Which posts of a subreddit lead to a video, and how Reddit turns us away."""

from __future__ import annotations

from typing import Any

import pytest

from found_footy.adapters.social.reddit import title_matches
from found_footy.adapters.social.video_hosts import is_video_link
from found_footy.domain.discovery.posts import Post
from found_footy.domain.discovery.query import SearchQuery
from found_footy.domain.discovery.wickets import wicket_query
from found_footy.domain.errors import SourceChanged, SourceError, SourceLoggedOut, SourceRateLimited, SourceUnavailable

from .answers import answer, answering, entry, spoilt
from .places import NOW, QUERY, SINCE, Said, source_at
from .shared import RawServer, Reply, json_reply

GOAL = Said("Liverpool [2] - 1 Manchester City - M. Salah 67'")
POST = entry("reddit", GOAL)
BLOCKED = b"<!doctype html>\n<html><head><title>Blocked</title></head><body><h1>whoa there, pardner!</h1></body></html>"


async def found(*listed: Any, extra_hosts: tuple[str, ...] = ()) -> list[Post]:
    async with answering("reddit", answer("reddit", list(listed))) as server:
        source = source_at("reddit", server.url, extra_hosts=extra_hosts)
        posts = await source.search(QUERY, SINCE)
        await source.aclose()
    return list(posts)


async def test_the_newest_posts_of_the_subreddit_are_asked_for_by_a_program_that_says_its_name() -> None:
    async with answering("reddit", answer("reddit", [POST])) as server:
        source = source_at("reddit", server.url)
        (post,) = await source.search(QUERY, SINCE)
        assert await source.check() == "r/soccer answers"
        await source.aclose()
    asked, checked = server.requests
    assert (asked.path, asked.params) == ("/r/soccer/new.json", {"limit": "100", "raw_json": "1"})
    assert checked.params["limit"] == "1"
    assert "found-footy" in asked.headers["user-agent"]
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
    said = Said("Wicket: Virat Kohli c Head b Zampa 44 (31) | India 98/2 (11.2 ov) vs Australia")
    query = wicket_query("Virat Kohli", "Adam Zampa", ("India", "IND"), ("Australia", "AUS"))
    async with answering("reddit", answer("reddit", [POST, entry("reddit", said)])) as server:
        source = source_at("reddit", server.url)
        (post,) = await source.search(query, SINCE)
        await source.aclose()
    assert server.requests[0].path == "/r/Cricket/new.json"
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
def test_a_link_leads_to_a_video_or_is_left_out(link: str, expected: bool) -> None:
    assert is_video_link(link, {"127.0.0.1:4000"}) is expected


async def test_posts_without_a_video_are_left_out_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    page = spoilt(POST, "data", "url", to="https://www.bbc.co.uk/sport")
    text = spoilt(POST, "data", "url", to="https://www.reddit.com/r/soccer/comments/p0/")
    missing = spoilt(POST, "data", "url", without=True)
    assert await found(page, text, missing) == []
    assert not caplog.records


OWN = {"reddit_video": {"fallback_url": "https://v.redd.it/abc/CMAF_720.mp4?source=fallback", "duration": 21}}


@pytest.mark.parametrize("field", ["secure_media", "media"])
async def test_reddits_own_videos_say_how_long_they_are(field: str) -> None:
    own = spoilt(spoilt(POST, "data", field, to=OWN), "data", "url", to="https://v.redd.it/abc")
    (post,) = await found(own)
    assert (post.media_url, post.duration) == (OWN["reddit_video"]["fallback_url"], 21)


async def test_a_post_that_repeats_another_has_the_others_video() -> None:
    repeated = spoilt(POST, "data", "crosspost_parent_list", to=[{"secure_media": OWN}])
    (post,) = await found(spoilt(repeated, "data", "url", to="/r/football/comments/x/"))
    assert post.media_url == OWN["reddit_video"]["fallback_url"]


@pytest.mark.parametrize("duration", [None, "21", -1, 0, True, 1e300, [], 10**30])
async def test_a_strange_duration_is_none(duration: Any) -> None:
    own = spoilt(POST, "data", "media", to={"reddit_video": {**OWN["reddit_video"], "duration": duration}})
    (post,) = await found(own)
    assert post.duration is None


@pytest.mark.parametrize(
    "address", ["http://v.redd.it/a.mp4", "https://evil.example/a", "https://v.redd.it@evil.example/a", 5, None]
)
async def test_another_address_in_the_place_of_reddits_own_is_not_taken(address: Any) -> None:
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
    assert "1 of 2 posts cannot be read" in caplog.text


async def test_a_post_dated_ahead_is_not_younger_than_now() -> None:
    (post,) = await found(spoilt(POST, "data", "created_utc", to=NOW.timestamp() + 3600))
    assert post.posted_at == NOW


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Reply(BLOCKED, 403), SourceLoggedOut, "blocked"),
        (Reply(BLOCKED, 200), SourceLoggedOut, "blocked"),
        (Reply(BLOCKED, 429), SourceRateLimited, "429"),
        (json_reply({"message": "Too Many Requests", "error": 429}, 429), SourceRateLimited, "Too Many Requests"),
        (json_reply({"reason": "private", "message": "Forbidden", "error": 403}, 403), SourceLoggedOut, "private"),
        (json_reply({"reason": "banned", "message": "Not Found", "error": 404}, 404), SourceChanged, "banned"),
        (Reply(status=302, headers={"location": "/subreddits/search?q=socer"}), SourceChanged, "subreddit"),
        (Reply(b"<html>upstream request timeout</html>", 504), SourceUnavailable, "504"),
        (Reply(b"<html>Welcome</html>", 200), SourceChanged, "not JSON"),
    ],
)
async def test_each_way_of_being_turned_away_has_its_class(reply: Reply, kind: type[SourceError], words: str) -> None:
    async with RawServer(reply) as server:
        source = source_at("reddit", server.url)
        for call in (source.search(QUERY, SINCE), source.check()):
            with pytest.raises(SourceError, match=words) as raised:
                await call
            assert type(raised.value) is kind
        await source.aclose()
