"""One reading for all goals and all workers, within the limits that Reddit states. Workers share one Redis.

The rule against which this is written: about one Atom request a minute for each address, `x-ratelimit-remaining: 0` and
`x-ratelimit-reset` after it [bhpark1013/claudenews#6, 2 Sep 2026].
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from footy_simulator.clip_hosts import clip_host_link
from footy_simulator.reddit import TOKEN
from found_footy.discovery.reddit import Reddit
from found_footy.discovery.reddit_clients import RedditAccess
from found_footy.errors import CacheUnavailable, SourceRateLimited, SourceUnavailable
from found_footy.runtime.engine import free_port
from found_footy.storage.limits import LocalSourceLimits, RedisSourceLimits
from found_footy.storage.redis import RedisCache
from tests.discovery.reddit_site import GOAL, KEYS, reddit_site
from tests.discovery.shared import RawServer, Reply
from tests.discovery.source_sites import NOW, QUERY, SINCE, ScriptedPost

WAYS: tuple[RedditAccess, ...] = ("oauth", "fragment", "atom")
WORKERS, SEARCHES = 4, 10


@pytest.fixture
def limits(cache: RedisCache) -> RedisSourceLimits:
    return RedisSourceLimits(cache, "reddit")


@pytest.fixture
async def reddit_at(limits: RedisSourceLimits) -> AsyncIterator[Callable[..., Reddit]]:
    made: list[Reddit] = []

    def make(url: str, **options: Any) -> Reddit:
        given = {"timeout": 5.0, "limits": limits, "now": lambda: NOW, **options}
        made.append(Reddit(url, "soccer", oauth_url=url, **given))
        return made[-1]

    yield make
    for each in made:
        await each.aclose()


@pytest.mark.parametrize("way", WAYS)
async def test_parallel_searches_of_all_workers_cost_one_request(way: RedditAccess, limits: RedisSourceLimits) -> None:
    async with reddit_site() as site:
        workers = [site.source([way], keys=KEYS, limits=limits) for _ in range(WORKERS)]
        searches = [worker.search(QUERY, SINCE) for worker in workers for _ in range(SEARCHES)]
        found = await asyncio.gather(*searches)
        assert [len(posts) for posts in found] == [1] * WORKERS * SEARCHES
        assert len([path for path in site.asked if "access_token" not in path]) == 1


async def test_a_listing_is_read_again_when_it_is_no_longer_fresh(limits: RedisSourceLimits) -> None:
    async with reddit_site() as site:
        first, second = (site.source(["fragment"], limits=limits, comment_threads=0) for _ in range(2))
        await first.search(QUERY, SINCE)
        await second.search(QUERY, SINCE)
        assert len(site.asked) == 1
        await limits.release("fresh:soccer")
        await second.search(QUERY, SINCE)
        await first.search(QUERY, SINCE)
        assert len(site.asked) == 2


LIMITS = {
    "remaining": {"x-ratelimit-remaining": "0.0", "x-ratelimit-reset": "40"},
    "retry-after": {"retry-after": "40"},
}
POST = (
    b'<shreddit-post id="t3_abc" post-title="Salah for Liverpool" content-href="https://streamin.one/v/x"'
    b' created-timestamp="2026-08-22T14:59:00.000000+0000"></shreddit-post>'
)


@pytest.mark.parametrize("limit", LIMITS)
async def test_a_limit_in_the_headers_binds_every_worker(
    limit: str, limits: RedisSourceLimits, reddit_at: Callable[..., Reddit]
) -> None:
    async with RawServer(Reply(POST, headers=LIMITS[limit])) as server:
        first = reddit_at(server.url, ways=["fragment"])
        second = reddit_at(server.url, ways=["fragment"])
        assert len(await first.search(QUERY, SINCE)) == 1
        await limits.release("fresh:soccer")
        assert len(await second.search(QUERY, SINCE)) == 1, "the last listing serves while none may be asked for"
        assert len(server.requests) == 1
        await limits.release("listing:soccer")
        with pytest.raises(SourceRateLimited, match=r"next request in (39|40) s"):
            await second.search(QUERY, SINCE)
        assert len(server.requests) == 1


async def test_a_refusal_met_by_one_worker_is_known_to_all(limits: RedisSourceLimits) -> None:
    async with reddit_site(fragment="blocked", atom="limited") as site:
        first, second = site.source(limits=limits), site.source(limits=limits)
        for source in (first, second, first):
            with pytest.raises(SourceRateLimited):
                await source.search(QUERY, SINCE)
        assert len(site.asked) == 2


async def test_waiters_share_a_failure(
    reddit_at: Callable[..., Reddit],
) -> None:
    async with RawServer(Reply(status=503)) as server:
        workers = [reddit_at(server.url) for _ in range(WORKERS)]
        searches = [worker.search(QUERY, SINCE) for worker in workers for _ in range(SEARCHES)]
        results = await asyncio.gather(*searches, return_exceptions=True)
        assert {type(result) for result in results} == {SourceUnavailable}
        assert len(server.requests) == 2, "each way once"


async def test_with_atom_alone_there_is_one_request_a_minute_and_every_search_is_answered(
    limits: RedisSourceLimits,
) -> None:
    async with reddit_site(fragment="blocked") as site:
        source = site.source(limits=limits)
        for _ in range(5):
            assert len(await source.search(QUERY, SINCE)) == 1
            await limits.release("fresh:soccer")
        assert site.listings() == ["/svc/shreddit/community-more-posts/new/", "/r/soccer/new/.rss"]
        assert 50 < await limits.hold("gate:atom", 1) <= 60


async def test_a_search_that_is_cancelled_leaves_the_way_free(
    limits: RedisSourceLimits, reddit_at: Callable[..., Reddit]
) -> None:
    async with RawServer(Reply(held=True)) as server:
        source = reddit_at(server.url, timeout=60.0)
        search = asyncio.create_task(source.search(QUERY, SINCE))
        async with asyncio.timeout(10):
            while not server.requests:
                await asyncio.sleep(0.01)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        assert await limits.hold("reading:soccer", 1) == 0


async def test_a_worker_that_was_killed_while_reading_does_not_stop_the_others(limits: RedisSourceLimits) -> None:
    async with reddit_site() as site:
        source = site.source(limits=limits, timeout=0.4, comment_threads=0)
        await limits.hold("reading:soccer", 60)
        with pytest.raises(SourceUnavailable, match="another worker"):
            await source.search(QUERY, SINCE)
        await limits.release("reading:soccer")
        await source.search(QUERY, SINCE)
        await limits.release("fresh:soccer")
        await limits.hold("reading:soccer", 60)
        assert len(await source.search(QUERY, SINCE)) == 1, "the last listing serves"
        assert len(site.asked) == 1


async def test_redis_data_of_another_version_is_fetched_again(limits: RedisSourceLimits) -> None:
    async with reddit_site() as site:
        source = site.source(limits=limits)
        for value in (b"[]", b"{", b'{"way": "atom", "label": "x", "posts": [{"other": 1}]}'):
            await limits.put("listing:soccer", value, 60)
            await limits.put("fresh:soccer", b"1", 60)
            await limits.put("comments:p0", value, 60)
            assert len(await source.search(QUERY, SINCE)) == 1
            await limits.release("gate:fragment")
        assert len(site.listings()) == 3


async def test_while_redis_is_away_each_worker_reads_for_itself_and_keeps_to_the_limits() -> None:
    away = RedisCache(f"redis://127.0.0.1:{free_port()}")
    async with reddit_site() as site:
        first, second = (site.source(limits=RedisSourceLimits(away, "reddit")) for _ in range(2))
        for source in (first, first, second, second):
            assert len(await source.search(QUERY, SINCE)) == 1
        assert len(site.listings()) == 2
    with pytest.raises(CacheUnavailable):
        await away.run("PING")
    await away.aclose()


# --- comments


@pytest.mark.parametrize("way", WAYS)
async def test_links_in_the_comments_of_a_matching_post_are_candidates(way: RedditAccess) -> None:
    cache = LocalSourceLimits()
    async with reddit_site(
        [GOAL, ScriptedPost("Everton [1] - 0 Chelsea - Ndiaye 3'", ago=20)], atom_per_window=3
    ) as site:
        mirror = site.comment_on(1)
        site.comment_on(0)
        source = site.source([way], keys=KEYS, limits=cache)
        (post,) = await source.search(QUERY, SINCE)
        assert post.id == "p1"
        for gate in ("gate", "remaining"):  # as if the next minute had come
            await cache.release(f"{gate}:{way}")
        found = await source.search(QUERY, SINCE)
        assert [each.id for each in found] == [f"p1/{mirror.id}/0", "p1"], "the mirror is newer"
        assert found[0].text == f"mirror of: {GOAL.text}"
        assert found[0].author == "mirror_bot"
        assert found[0].media_url == clip_host_link(mirror, site.url)
        assert found[0].url == f"{site.url}/r/soccer/comments/p1/comment/{mirror.id}/"
        assert found[0].posted_at == mirror.posted_at
        assert len([path for path in site.asked if "comments" in path]) == 1


async def test_a_thread_is_read_once_for_all_workers_and_again_only_after_a_while(limits: RedisSourceLimits) -> None:
    async with reddit_site() as site:
        site.comment_on(0)
        workers = [site.source(["fragment"], limits=limits) for _ in range(WORKERS)]
        await workers[0].search(QUERY, SINCE)
        await limits.release("gate:fragment")
        for _ in range(3):
            found = await asyncio.gather(*(worker.search(QUERY, SINCE) for worker in workers))
        assert {len(posts) for posts in found} == {2}
        assert len([path for path in site.asked if "comments" in path]) == 1
        assert 140 < await limits.hold("comments-read:p0", 1) <= 150


async def test_comments_leave_the_last_requests_of_a_window_to_the_listings(limits: RedisSourceLimits) -> None:
    async with reddit_site(fragment_per_window=15) as site:
        site.comment_on(0)
        source = site.source(["fragment"], limits=limits)
        for _ in range(3):
            await source.search(QUERY, SINCE)
            await limits.release("gate:fragment")
        assert not [path for path in site.asked if "comments" in path]


async def test_comments_can_be_switched_off() -> None:
    cache = LocalSourceLimits()
    async with reddit_site() as site:
        site.comment_on(0)
        source = site.source(["fragment"], limits=cache, comment_threads=0)
        for _ in range(2):
            assert len(await source.search(QUERY, SINCE)) == 1
            await cache.release("gate:fragment")
        assert not [path for path in site.asked if "comments" in path]


@pytest.mark.parametrize("status", [403, 404, 429, 500, 200])
async def test_an_unreadable_thread_does_not_affect_the_posts(
    status: int, reddit_at: Callable[..., Reddit], limits: RedisSourceLimits, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(request: Any) -> Reply:
        return Reply(b"<html></html>", status) if "comments" in request.path else Reply(POST)

    async with RawServer(answer) as server:
        source = reddit_at(server.url, ways=["fragment"])
        for _ in range(3):
            assert len(await source.search(QUERY, SINCE)) == 1
            await limits.release("gate:fragment")
        paths = [request.path for request in server.requests]
        assert len([path for path in paths if "comments" in path]) == 1
    assert "reddit_comments_failed" in {getattr(record, "action", "") for record in caplog.records}


COMMENTS = """<shreddit-comment-tree>
<shreddit-comment thingId="t1_aaa" author="AutoModerator" created="2026-08-22T14:58:00.000000+0000" depth="0">
  <div slot="comment"><p>Mirrors here. <a href="https://www.reddit.com/r/soccer/wiki">rules</a></p></div>
  <shreddit-comment thingId="t1_bbb" author="fan" created="2026-08-22T14:58:30.000000+0000" depth="1">
    <div slot="comment"><p>Alternative angle: <a href="https://newhost.example.com/v/1">here</a>
      <a href="https://streamin.one/v/x">same as the post</a> <a href="https://streamable.com/abc">and</a></p></div>
  </shreddit-comment>
  <shreddit-comment thingId="t1_ccc" author="other" created="2026-08-22T14:58:40.000000+0000" depth="1">
    <div slot="comment"><p>Interview at <a href="https://news.example.com/salah">this page</a></p></div>
  </shreddit-comment>
</shreddit-comment>
<shreddit-comment thingId="t1_../x" created="2026-08-22T14:58:40.000000+0000"><a href="https://dubz.co/v/1">x</a>
</shreddit-comment>
</shreddit-comment-tree>"""


async def test_only_comment_links_to_clips_are_used(
    reddit_at: Callable[..., Reddit], limits: RedisSourceLimits
) -> None:
    def answer(request: Any) -> Reply:
        return Reply(COMMENTS.encode()) if "comments" in request.path else Reply(POST)

    async with RawServer(answer) as server:
        source = reddit_at(server.url, ways=["fragment"])
        await source.search(QUERY, SINCE)
        await limits.release("gate:fragment")
        found = {post.id: post.media_url for post in await source.search(QUERY, SINCE)}
    assert found == {
        "abc": "https://streamin.one/v/x",
        "abc/bbb/0": "https://newhost.example.com/v/1",
        "abc/bbb/2": "https://streamable.com/abc",
    }


async def test_a_thread_gives_a_bounded_number_of_links(
    reddit_at: Callable[..., Reddit], limits: RedisSourceLimits
) -> None:
    one = (
        '<shreddit-comment thingId="t1_c{0}" created="2026-08-22T14:58:40.000000+0000">'
        '<a href="https://streamin.one/v/{0}">mirror</a></shreddit-comment>'
    )
    page = "".join(one.format(number) for number in range(200))

    def answer(request: Any) -> Reply:
        return Reply(page.encode()) if "comments" in request.path else Reply(POST)

    async with RawServer(answer) as server:
        source = reddit_at(server.url, ways=["fragment"])
        await source.search(QUERY, SINCE)
        await limits.release("gate:fragment")
        assert len(await source.search(QUERY, SINCE)) == 11


async def test_no_token_reaches_redis(cache: RedisCache, limits: RedisSourceLimits) -> None:
    async with reddit_site() as site:
        source = site.source(["oauth"], keys=KEYS, limits=limits)
        await source.search(QUERY, SINCE)
        keys = await cache.run("KEYS", cache.key("*"))
        values = [await cache.run("GET", key) for key in keys]
    assert values
    assert not any(TOKEN.encode() in value for value in values)
