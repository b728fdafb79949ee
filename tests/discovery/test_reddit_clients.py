"""The three ways to read Reddit: the form of each, and how each is refused.

Sources of the forms, all of 2026:
- page fragments: `/svc/shreddit/community-more-posts/new/?name=` with `<shreddit-post post-title= content-href=
  created-timestamp=…>`, Accept and Accept-Language required, and `/svc/shreddit/comments/r/{sub}/t3_{id}` with
  `<shreddit-comment thingId= created=…>` [0znio/ozgent, 26 Sep]; 403 in datacentres [mvanhorn/last30days-skill#960];
  a new session may get a page that wants JavaScript, with status 200 and no posts [RedditOfficialSource of an Unreddit
  fork, 31 Aug].
- Atom: `/r/{sub}/new/.rss`, `/comments/{id}/.rss`, entries `t3_…` and `t1_…`, the target as `[link]`
  [jacobhl3ca/nospoilerscores, Sep]; about one request a minute, `x-ratelimit-remaining: 0` after one and a reset of
  about 30 s [bhpark1013/claudenews#6, 2 Sep; TauricResearch/TradingAgents#1132, 11 Jul].
- API: application-only `client_credentials`, 100 requests a minute [TauricResearch/TradingAgents#1132].
- `*.json` without a login 403, old.reddit.com redirects to a login [glanceapp/glance#1016, D4Vinci/Scrapling#402].
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from footy_simulator.reddit import BLOCKED, CHALLENGE, CLIENT_SECRET, TOKEN
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.reddit import Reddit
from found_footy.discovery.reddit_clients import RedditAccess, RedditKeys
from found_footy.errors import (
    SourceBlocked,
    SourceChanged,
    SourceError,
    SourceLoggedOut,
    SourceRateLimited,
    SourceUnavailable,
)
from found_footy.fixtures.models import Sport
from found_footy.runtime.http_exchanges import record_exchanges
from found_footy.storage.limits import LocalSourceLimits
from tests.discovery.reddit_site import GOAL, KEYS, reddit_site
from tests.discovery.shared import RawServer, Reply, json_reply
from tests.discovery.source_sites import NOW, QUERY, SINCE, ScriptedPost


@pytest.fixture
async def reddit_at() -> AsyncIterator[Callable[..., Reddit]]:
    """Makes sources for an address, and closes them."""
    made: list[Reddit] = []

    def make(url: str, **options: Any) -> Reddit:
        made.append(Reddit(url, "soccer", oauth_url=url, now=lambda: NOW, **options))
        return made[-1]

    yield make
    for each in made:
        await each.aclose()


WAYS: tuple[RedditAccess, ...] = ("oauth", "fragment", "atom")
LABELS = {"oauth": "API", "fragment": "page fragment", "atom": "Atom feed"}
OTHERS = ScriptedPost("Everton [1] - 0 Chelsea - Ndiaye 3'", ago=20)


@pytest.mark.parametrize("way", WAYS)
async def test_each_client_returns_the_same_post(way: RedditAccess) -> None:
    title = 'Liverpool [2] - 1 Manchester City - M. Salah 67\' "great goal" <b> & more > ü'
    async with reddit_site([ScriptedPost(title), OTHERS]) as site:
        source = site.source([way], keys=KEYS)
        (post,) = await source.search(QUERY, SINCE)
    assert (post.source, post.id, post.author, post.duration) == ("reddit", "p1", "goalsdaily", None)
    assert post.text == title
    assert post.posted_at == GOAL.at
    assert post.media_url.startswith(f"{site.url}/hosts/")
    assert post.url == f"{site.url}/r/soccer/comments/p1/"


@pytest.mark.parametrize("way", WAYS)
async def test_a_check_sends_the_same_request_as_a_search(way: RedditAccess) -> None:
    async with reddit_site(atom_per_window=5) as site:
        first, second = site.source([way], keys=KEYS), site.source([way], keys=KEYS)
        await first.search(QUERY, SINCE)
        searched, site.asked = site.asked, []
        assert await second.check() == f"r/soccer through the {LABELS[way]}: 4 posts"
        assert site.asked == searched


@pytest.mark.parametrize("way", WAYS)
async def test_a_subreddit_without_a_matching_post_is_not_a_failure(way: RedditAccess) -> None:
    async with reddit_site([OTHERS]) as site:
        source = site.source([way], keys=KEYS)
        assert list(await source.search(QUERY, SINCE)) == []


async def test_the_api_is_preferred_with_keys_and_fragments_without() -> None:
    async with reddit_site() as site:
        with_keys, without = site.source(keys=KEYS), site.source()
        assert "API" in await with_keys.check()
        assert "page fragment" in await without.check()


@pytest.mark.parametrize(
    ("service", "label"),
    [
        ({"oauth": "blocked"}, "page fragment"),
        ({"oauth": "limited"}, "page fragment"),
        ({"oauth": "blocked", "fragment": "blocked"}, "Atom feed"),
        ({"oauth": "blocked", "fragment": "challenge"}, "Atom feed"),
        ({"oauth": "blocked", "fragment": "limited"}, "Atom feed"),
        ({"oauth": "blocked", "fragment": "changed"}, "Atom feed"),
    ],
)
async def test_a_blocked_client_is_skipped_for_a_while(service: dict[str, Any], label: str) -> None:
    async with reddit_site(atom_per_window=5, **service) as site:
        source = site.source(keys=KEYS, fresh_seconds=0.001)
        assert label in await source.check()
        site.asked.clear()
        assert len(await source.search(QUERY, SINCE)) == 1
        refused = {"API": "access_token", "page fragment": "shreddit", "Atom feed": ".rss"}
        del refused[label]
        assert not [path for path in site.asked if any(part in path for part in refused.values())]


@pytest.mark.parametrize(
    ("service", "kind", "words"),
    [
        ({"fragment": "blocked", "atom": "blocked"}, SourceBlocked, "without a login"),
        ({"fragment": "challenge", "atom": "blocked"}, SourceBlocked, "challenges"),
        ({"fragment": "blocked", "atom": "limited"}, SourceRateLimited, r"next (request|attempt) in \d\d s"),
        ({"fragment": "limited", "atom": "blocked"}, SourceRateLimited, r"next (request|attempt) in \d\d s"),
        ({"fragment": "changed", "atom": "blocked"}, SourceChanged, "without posts"),
        ({"fragment": "blocked", "atom": "changed"}, SourceChanged, "instead of a feed"),
    ],
)
async def test_if_all_clients_are_blocked_the_error_lists_each_response(
    service: dict[str, Any], kind: type[SourceError], words: str
) -> None:
    async with reddit_site(**service) as site:
        source = site.source()
        for _ in range(2):
            for call in (source.search(QUERY, SINCE), source.check()):
                with pytest.raises(
                    SourceError, match=words.replace("next request", "next (request|attempt)")
                ) as raised:
                    await call
                assert type(raised.value) is kind
                assert "/svc/shreddit" in str(raised.value)
                assert "/r/soccer/new/.rss" in str(raised.value)
        assert len(site.asked) == 2, "each way was asked once, and then left alone"


def test_a_blocked_address_has_a_hint() -> None:
    assert "FOOTY_REDDIT_CLIENT_ID" in SourceBlocked.hint
    assert "FOOTY_SOURCES" in SourceBlocked.hint
    assert issubclass(SourceBlocked, SourceLoggedOut)


async def test_wrong_keys_are_distinguished_from_a_blocked_address() -> None:
    async with reddit_site() as site:
        source = site.source(["oauth"], keys=RedditKeys("wrong", "keys"))
        with pytest.raises(SourceLoggedOut, match="FOOTY_REDDIT_CLIENT_ID") as raised:
            await source.check()
        assert type(raised.value) is SourceLoggedOut


async def test_a_token_is_used_again_and_replaced_when_it_is_refused(reddit_at: Callable[..., Reddit]) -> None:
    tokens = iter(["first", "second"])

    def answer(request: Any) -> Reply:
        if request.path.endswith("access_token"):
            return json_reply({"access_token": next(tokens), "expires_in": 86400})
        if request.headers["authorization"] == "bearer first" and len(server.requests) > 3:
            return json_reply({"message": "Unauthorized", "error": 401}, 401)
        return json_reply({"kind": "Listing", "data": {"children": []}})

    async with RawServer(answer) as server:
        source = reddit_at(server.url, timeout=5, ways=["oauth"], keys=KEYS)
        for _ in range(3):
            await source.check()
    paths = [request.path.rpartition("/")[2] for request in server.requests]
    assert paths == ["access_token", "new", "new", "new", "access_token", "new"]


async def test_neither_keys_nor_tokens_are_recorded() -> None:
    async with reddit_site() as site:
        source = site.source(["oauth"], keys=KEYS)
        with record_exchanges() as exchanges:
            await source.check()
    assert [each.status for each in exchanges] == [200, 200]
    assert TOKEN not in repr(exchanges)
    assert CLIENT_SECRET not in repr(exchanges)


@pytest.mark.parametrize("way", ["fragment", "atom"])
@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Reply(BLOCKED.encode(), 403), SourceBlocked, "without a login"),
        (Reply(BLOCKED.encode(), 200), SourceBlocked, "blocks or challenges"),
        (Reply(CHALLENGE.encode(), 200), SourceBlocked, "blocks or challenges"),
        (Reply(status=302, headers={"location": "https://old.reddit.com/login/?reason=lor2"}), SourceBlocked, "login"),
        (Reply(status=302, headers={"location": "/subreddits/search?q=socer"}), SourceChanged, "subreddit exist"),
        (Reply(status=404), SourceChanged, "404"),
        (Reply(BLOCKED.encode(), 429), SourceRateLimited, "in 60 s"),
        (Reply(status=429, headers={"retry-after": "17"}), SourceRateLimited, "in 17 s"),
        (Reply(status=429, headers={"x-ratelimit-reset": "42"}), SourceRateLimited, "in 42 s"),
        (Reply(status=429, headers={"retry-after": "Sat, 22 Aug 2026 15:00:30 GMT"}), SourceRateLimited, "in 30 s"),
        (Reply(status=429, headers={"retry-after": "999999999"}), SourceRateLimited, "in 60 s"),
        (Reply(status=429, headers={"retry-after": "9999999"}), SourceRateLimited, "in 3600 s"),
        (Reply(status=503), SourceUnavailable, "503"),
        (Reply(b""), SourceChanged, "starting ''"),
        (Reply(b"<html>Welcome</html>"), SourceChanged, "html"),
        (Reply(b'{"kind": "Listing", "data": {"children": []}}'), SourceChanged, "Listing"),
        (Reply(b"\xff\xfe\x00"), SourceChanged, "127.0.0.1"),
        (Reply(b" " * (5 * 1024 * 1024)), SourceChanged, "larger than"),
        (Reply(b'<?xml version="1.0" encoding="nothing"?><feed/>'), SourceChanged, "127.0.0.1"),
    ],
)
async def test_an_answer_that_is_not_a_listing_never_reads_as_no_posts(
    reddit_at: Callable[..., Reddit], way: RedditAccess, reply: Reply, kind: type[SourceError], words: str
) -> None:
    async with RawServer(reply) as server:
        source = reddit_at(server.url, timeout=5, ways=[way])
        with pytest.raises(SourceError, match=words) as raised:
            await source.search(QUERY, SINCE)
        assert type(raised.value) is kind


POST = (
    '<shreddit-post id="t3_abc" post-title="Salah for Liverpool" content-href="https://streamin.one/v/x"'
    ' created-timestamp="2026-08-22T14:59:00.000000+0000" permalink="/r/soccer/comments/abc/x/">'
)
FEED = '<feed xmlns="http://www.w3.org/2005/Atom">'


@pytest.mark.parametrize(
    ("way", "body"),
    [
        ("fragment", POST),
        ("fragment", POST + "</shreddit-post>" + POST),
        ("fragment", POST + "</shreddit-post>" + POST[:40]),
        ("atom", FEED + "<entry><id>t3_abc</id>"),
        ("atom", FEED),
    ],
)
async def test_a_page_that_is_cut_off_is_not_half_a_listing(
    reddit_at: Callable[..., Reddit], way: RedditAccess, body: str
) -> None:
    async with RawServer(Reply(body.encode())) as server:
        source = reddit_at(server.url, timeout=5, ways=[way])
        with pytest.raises(SourceChanged):
            await source.search(QUERY, SINCE)


async def test_xml_entities_are_rejected(reddit_at: Callable[..., Reddit]) -> None:
    bomb = b'<?xml version="1.0"?><!DOCTYPE feed [<!ENTITY a "aaaaaaaaaa">]><feed>&a;</feed>'
    async with RawServer(Reply(bomb)) as server:
        source = reddit_at(server.url, timeout=5, ways=["atom"])
        with pytest.raises(SourceChanged):
            await source.search(QUERY, SINCE)


@pytest.mark.parametrize(
    "bad", ['id="t3_../x"', 'id="t5_abc"', 'created-timestamp="yesterday"', 'post-title=""', 'created-timestamp=""']
)
async def test_a_post_of_the_fragment_with_a_wrong_field_does_not_cost_the_others(
    reddit_at: Callable[..., Reddit], bad: str, caplog: pytest.LogCaptureFixture
) -> None:
    name, _, value = bad.partition("=")
    wrong = re.sub(rf'{name}="[^"]*"', f"{name}={value}", POST)
    page = f"{wrong}</shreddit-post>{POST}</shreddit-post>"
    async with RawServer(Reply(page.encode())) as server:
        source = reddit_at(server.url, timeout=5, ways=["fragment"])
        (post,) = await source.search(QUERY, SINCE)
    assert post.id == "abc"
    assert "1 of 2 posts cannot be parsed" in caplog.text


async def test_both_sports_share_one_atom_request() -> None:
    # `r/a+b` combines subreddits [jacobhl3ca/nospoilerscores].
    cricket = SearchQuery(("Kohli",), ("India",), sport=Sport.CRICKET)
    limits = LocalSourceLimits()
    async with reddit_site([GOAL, ScriptedPost("India: Kohli b Zampa", ago=10)], atom_per_window=2) as site:
        source = site.source(["atom"], limits=limits)
        assert len(await source.search(QUERY, SINCE)) == 1
        with pytest.raises(SourceRateLimited, match=r"next request in \d\d s"):
            # Nobody had asked for cricket a moment ago, and the next request is a minute away.
            await source.search(cricket, SINCE)
        await limits.release("gate:atom")
        assert len(await source.search(cricket, SINCE)) == 1
        assert len(await source.search(QUERY, SINCE)) == 1
        assert site.asked == ["/r/soccer/new/.rss", "/r/Cricket+soccer/new/.rss"]


async def test_a_way_that_hangs_leaves_time_for_the_next(reddit_at: Callable[..., Reddit]) -> None:
    def answer(request: Any) -> Reply:
        if "shreddit" in request.path:
            return Reply(held=True)
        entry = "<id>t3_abc</id><title>Salah Liverpool</title><published>2026-08-22T14:59:00+00:00</published>"
        return Reply(f"{FEED}<entry>{entry}</entry></feed>".encode())

    async with RawServer(answer) as server:
        source = reddit_at(server.url, timeout=0.8, ways=["fragment", "atom"])
        assert await source.check() == "r/soccer through the Atom feed: 1 posts"


async def test_json_without_a_login_is_refused_as_in_life() -> None:
    async with reddit_site() as site, httpx.AsyncClient(base_url=site.url) as client:
        for path in ("/r/soccer/new.json", "/comments/p0.json"):
            assert (await client.get(path)).status_code == 403
