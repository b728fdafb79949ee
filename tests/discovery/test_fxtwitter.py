"""X through FxEmbed: its forms, its canary, and limits that all workers share.

Forms: FxEmbed's published schemas (`APISearchResults`, `APITwitterStatus`, `APIVideo` in FxEmbed/FxEmbed,
packages/atmosphere/src/types/api-schemas.ts), its search handler (providers/twitter/search.ts: code 404 with an empty
list where X gives no timeline, code 500 where X fails), the cap on queries (FxEmbed#2387) and the empty 404
(FxEmbed#2303). docs.fxembed.com/api/introduction documents 1,000 requests a minute and address.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any, Literal

import pytest
from starlette.requests import Request as WebRequest
from starlette.responses import JSONResponse
from starlette.routing import Route

from footy_simulator.fxtwitter import fxtwitter_routes
from footy_simulator.posts import PostTimeline
from footy_simulator.scenario import FxTwitterService
from found_footy.discovery.fxtwitter import CANARY_WORD, FxTwitter, cooldown_length
from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery
from found_footy.errors import SourceChanged, SourceRateLimited, SourceUnavailable
from found_footy.storage.limits import LocalSourceLimits, RateLimit, RedisSourceLimits, SourceLimits
from found_footy.storage.redis import RedisCache
from tests.discovery.serving import serving
from tests.discovery.shared import RawServer, Reply, Request, json_reply
from tests.discovery.social_answers import SALAH, answer, answering, entry, spoilt
from tests.discovery.source_sites import NO_MATCHES, NOW, QUERY, SINCE, ScriptedPost, posted, snowflake

POST = entry("fxtwitter")
EMPTY = {"code": 404, "results": [], "cursor": {"top": None, "bottom": None}}
NO_RESULTS = json_reply(EMPTY, 404)
"""As FxEmbed#2303 quotes it."""


def a_source(url: str, limits: SourceLimits | None = None) -> FxTwitter:
    return FxTwitter(url, "https://x.com", timeout=5, limits=limits, now=lambda: NOW)


async def found(*listed: Any) -> list[Post]:
    async with answering("fxtwitter", answer("fxtwitter", list(listed))) as server:
        source = a_source(server.url)
        try:
            return list(await source.search(QUERY, SINCE))
        finally:
            await source.aclose()


def queries(server: RawServer) -> list[str]:
    return [request.params["q"] for request in server.requests]


# --- what is asked, and what a post becomes


async def test_the_query_requests_the_newest_posts_with_video() -> None:
    async with answering("fxtwitter", answer("fxtwitter", [POST])) as server:
        source = a_source(server.url)
        (post,) = await source.search(QUERY, SINCE)
        await source.aclose()
    (asked,) = server.requests
    assert asked.path == "/2/search"
    assert asked.params == {
        "q": '(Salah OR "Mohamed Salah") (Liverpool OR LFC) filter:videos',
        "feed": "latest",
        "count": "50",
    }
    assert asked.headers["user-agent"].startswith("found-footy/")
    address = f"https://x.com/goalsdaily/status/{snowflake(SALAH.at, 0)}"
    # The id, source and addresses of the post as source `x` gives them: found by both, it is one candidate.
    assert post == Post(
        source="x",
        id=snowflake(SALAH.at, 0),
        url=address,
        media_url=address,
        posted_at=SALAH.at,
        author="goalsdaily",
        text=SALAH.text,
        duration=12.5,
    )


async def test_a_long_query_is_asked_in_parts_of_at_most_512_characters() -> None:
    teams = tuple(f"Association Football Club {number:02}" for number in range(30))
    async with answering("fxtwitter", answer("fxtwitter", [POST])) as server:
        source = a_source(server.url)
        assert len(await source.search(SearchQuery(("Salah",), teams), SINCE)) == 1
        await source.aclose()
    first, second = queries(server)
    assert all(len(each) <= 512 and each.startswith("Salah (") for each in (first, second))
    assert '"Association Football Club 00"' in first
    assert set(first.split('"')) & set(second.split('"')) == {"Salah (", " OR ", ") filter:videos"}


@pytest.mark.parametrize(
    ("query", "longest", "expected"),
    [
        (SearchQuery(("A",), ("B", "C")), 100, ["A (B OR C)"]),
        (SearchQuery(("A",), ("Bbbb", "Cccc")), 10, ["A Bbbb", "A Cccc"]),
        (SearchQuery(("A",), ("Bbbb", "Cccc", "Dddd")), 10, ["A Bbbb", "A Cccc"]),
        (SearchQuery(("A", "Zzzzzzzzz"), ("Bbbb",)), 10, ["A Bbbb"]),
        (SearchQuery(("Z" * 20,), ("Bbbb",)), 10, ["Bbbb"]),
        (SearchQuery(("A", "Zzzzzzzzz"), ()), 10, ["A"]),
        (SearchQuery((), ("B" * 20, "Cccc")), 10, ["Cccc"]),
        (SearchQuery(("A",), ("⚽" * 4, "😀" * 4)), 10, ['A "⚽⚽⚽⚽"']),
        (SearchQuery(("Z" * 20,), ("B" * 20,)), 10, []),
    ],
)
def test_names_that_do_not_fit_are_dropped_from_the_end(query: SearchQuery, longest: int, expected: list[str]) -> None:
    assert query.texts(longest) == expected


async def test_posts_without_a_video_are_left_out() -> None:
    photo = spoilt(POST, "media", to={"photos": [{"type": "photo", "url": "https://pbs.twimg.com/a.jpg"}]})
    gif = spoilt(POST, "media", "videos", to=[{"type": "gif", "url": "https://video.twimg.com/a.mp4"}])
    quoting = {**spoilt(POST, "media", to={}), "quote": POST}
    assert await found(photo, gif, quoting) == []
    assert len(await found(photo, POST)) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (("id",), POST["id"][:-2]),
        (("id",), int(POST["id"])),
        (("author", "screen_name"), "../../evil"),
        (("author",), None),
        (("created_timestamp",), POST["created_timestamp"] - 900),
    ],
)
async def test_an_impossible_post_is_skipped(
    field: tuple[str, ...], value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(await found(spoilt(POST, *field, to=value), POST)) == 1
    assert "1 of 2 posts cannot be parsed" in caplog.text
    with pytest.raises(SourceChanged, match="none of 1 posts"):
        await found(spoilt(POST, *field, to=value))


async def test_the_written_date_serves_where_the_timestamp_is_missing() -> None:
    (post,) = await found(spoilt(POST, "created_timestamp", without=True))
    assert post.posted_at == SALAH.at
    with pytest.raises(SourceChanged):
        await found(spoilt(spoilt(POST, "created_timestamp", without=True), "created_at", to="yesterday"))


async def test_urls_are_built_locally_and_not_taken_from_the_response() -> None:
    (post,) = await found(spoilt(POST, "url", to="http://169.254.169.254/"))
    assert post.media_url == f"https://x.com/goalsdaily/status/{POST['id']}"


# --- an empty 404 means "no results" or "down"


def empty_unless_canary(canary: Reply) -> Callable[[Request], Reply]:
    return lambda request: canary if request.params["q"].startswith(CANARY_WORD) else NO_RESULTS


GOOD = json_reply(answer("fxtwitter", [POST]))


async def test_an_empty_404_means_no_results_if_a_common_word_is_found() -> None:
    async with RawServer(empty_unless_canary(GOOD)) as server:
        source = a_source(server.url)
        for _ in range(3):
            assert list(await source.search(QUERY, SINCE)) == []
        await source.aclose()
    assert [query.startswith(CANARY_WORD) for query in queries(server)] == [False, True, False, False]


@pytest.mark.parametrize(
    "status",
    [pytest.param(404, id="HTTP 404"), pytest.param(200, id="HTTP 200 with the code in the body")],
)
async def test_an_empty_404_is_unavailable_while_a_common_word_is_not_found(status: int) -> None:
    async with RawServer(json_reply(EMPTY, status)) as server:
        source = a_source(server.url)
        for _ in range(2):
            with pytest.raises(SourceUnavailable, match="search is down"):
                await source.search(QUERY, SINCE)
        with pytest.raises(SourceUnavailable, match="search is down"):
            await source.check()
        await source.aclose()
    assert [query.startswith(CANARY_WORD) for query in queries(server)] == [False, True, False, True]


async def test_a_search_with_results_is_a_canary_too() -> None:
    async with RawServer.in_turn([GOOD, NO_RESULTS]) as server:
        source = a_source(server.url)
        assert len(await source.search(QUERY, SINCE)) == 1
        assert list(await source.search(QUERY, SINCE)) == []
        await source.aclose()
    assert len(server.requests) == 2


async def test_an_empty_200_means_no_results() -> None:
    async with RawServer(json_reply(answer("fxtwitter", []))) as server:
        source = a_source(server.url)
        assert list(await source.search(QUERY, SINCE)) == []
        await source.aclose()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (json_reply({"code": 500, "results": [], "cursor": {}}, 500), SourceUnavailable),
        (json_reply({"code": 500, "results": [], "cursor": {}}), SourceUnavailable),
        (json_reply({"code": 400, "message": "Search query is blocked by X content controls"}, 400), SourceChanged),
        (json_reply({"code": 404, "message": "Not Found"}, 404), SourceChanged),
        (Reply(b"<html>Attention Required!</html>", 403), SourceUnavailable),
        (Reply(b"<html>404</html>", 404), SourceChanged),
    ],
)
async def test_other_refusals_are_never_no_results(reply: Reply, kind: type[Exception]) -> None:
    async with RawServer(reply) as server:
        source = a_source(server.url)
        with pytest.raises(kind):
            await source.search(QUERY, SINCE)
        await source.aclose()
    assert len(server.requests) == 1


# --- limits over all workers


@pytest.mark.parametrize(("wait", "expected"), [(30, 30), (0, 1), (999_999, 900), (None, 60)])
def test_retry_after_is_honoured_within_bounds(wait: float | None, expected: float) -> None:
    given = None if wait is None else timedelta(seconds=wait)
    assert cooldown_length(given) == timedelta(seconds=expected)


@asynccontextmanager
async def two_workers(cache: RedisCache, url: str, concurrent: int = 4) -> AsyncIterator[list[FxTwitter]]:
    """Two sources as two workers have them: they share nothing but Redis."""
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(2):
            limits = RedisSourceLimits(
                cache, "fxtwitter", concurrent=concurrent, rate=RateLimit(0.001, 10), wait_seconds=5
            )
            made.append(FxTwitter(url, "https://x.com", timeout=10, limits=limits))
            stack.push_async_callback(made[-1].aclose)
        yield made


async def test_a_429_stops_all_workers_until_retry_after(cache: RedisCache) -> None:
    refusal = Reply(b"error code: 1015", 429, {"retry-after": "120"})
    async with RawServer(refusal) as server, two_workers(cache, server.url) as (one, other):
        with pytest.raises(SourceRateLimited, match="429"):
            await one.search(QUERY, SINCE)
        with pytest.raises(SourceRateLimited, match="no request before"):
            await other.search(QUERY, SINCE)
    assert len(server.requests) == 1


async def test_the_canary_is_shared_by_all_workers(cache: RedisCache) -> None:
    async with RawServer(empty_unless_canary(GOOD)) as server, two_workers(cache, server.url) as sources:
        for source in sources:
            assert list(await source.search(QUERY, SINCE)) == []
    assert sum(query.startswith(CANARY_WORD) for query in queries(server)) == 1


async def test_no_more_than_so_many_requests_run_at_once_over_all_workers(cache: RedisCache) -> None:
    most = running = 0

    async def search(_: WebRequest) -> Any:
        nonlocal most, running
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return JSONResponse(answer("fxtwitter", []))

    async with serving(lambda _: [Route("/2/search", search)]) as url, two_workers(cache, url, concurrent=2) as sources:
        await asyncio.gather(*(source.search(QUERY, SINCE) for source in sources for _ in range(10)))
    assert most == 2


async def test_limits_hold_within_one_process_while_redis_is_away() -> None:
    away = RedisCache("redis://127.0.0.1:1", connect_seconds=0.2)
    limits = RedisSourceLimits(away, "fxtwitter", wait_seconds=1, fallback=LocalSourceLimits())
    async with RawServer(Reply(status=429)) as server:
        source = FxTwitter(server.url, "https://x.com", timeout=10, limits=limits)
        for _ in range(2):
            with pytest.raises(SourceRateLimited):
                await source.search(QUERY, SINCE)
        await source.aclose()
    await away.aclose()
    assert len(server.requests) == 1


# --- the simulator's switches


@asynccontextmanager
async def simulated(state: Literal["ok", "down", "empty"], said: Sequence[ScriptedPost]) -> AsyncIterator[FxTwitter]:
    def routes(url: str) -> list[Route]:
        feed = PostTimeline(NO_MATCHES, lambda: None)
        service = FxTwitterService(state=state)
        return fxtwitter_routes(lambda platform: posted(platform, said), feed, lambda: url, service, lambda: NOW)

    async with serving(routes) as url:
        source = a_source(url)
        yield source
        await source.aclose()


async def test_the_simulator_finds_its_posts_and_no_others() -> None:
    async with simulated("ok", [SALAH]) as source:
        assert len(await source.search(QUERY, SINCE)) == 1
        assert list(await source.search(SearchQuery(("Haaland",), ("City",)), SINCE)) == []
        assert "2 posts with a video" in await source.check()


@pytest.mark.parametrize("state", ["down", "empty"])
async def test_the_simulator_out_of_order_is_unavailable(state: Literal["down", "empty"]) -> None:
    async with simulated(state, [SALAH]) as source:
        for call in (source.search(QUERY, SINCE), source.check()):
            with pytest.raises(SourceUnavailable):
                await call
