"""Searching the simulated X with a real Chromium."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from found_footy.browser.service import Canary
from found_footy.browser.x_search import XSearchRequest, search_url
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.x import XSource
from found_footy.runtime.browser_secret import HEADER
from found_footy.runtime.clock import utc_now
from tests.browser.simulated import NOW, QUERY, SECRET, TEXT, Searched, SimulatedX, post

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_posts_that_match_come_back_newest_first(search: Searched, x: SimulatedX) -> None:
    answer = await search()
    assert answer.status_code == 200
    first, second = answer.json()["posts"]
    wanted = x.posts[0]
    assert first == {
        "id": wanted.id,
        "url": f"{x.url}/goalsdaily/status/{wanted.id}",
        "author": "goalsdaily",
        "text": TEXT,
        "posted_at": wanted.posted_at.isoformat(),
        "duration": 34.0,
    }
    assert second["id"] == x.posts[1].id
    assert x.state.queries == [f"{QUERY} filter:videos"]


async def test_advertisements_and_quotes_of_others_videos_are_left_out(search: Searched, x: SimulatedX) -> None:
    assert x.state.noise
    found = (await search()).json()["posts"]
    assert {each["author"] for each in found} == {"goalsdaily"}
    assert len(found) == 2


async def test_pictures_are_never_fetched(search: Searched, x: SimulatedX) -> None:
    await search()
    assert x.state.assets == 0


async def test_nothing_found_is_an_empty_answer(search: Searched) -> None:
    answer = await search("Nobody")
    assert (answer.status_code, answer.json()) == (200, {"posts": []})


async def test_posts_older_than_asked_for_are_left_out(search: Searched, x: SimulatedX) -> None:
    x.posts[:] = [post(ago=10), post(ago=100)]
    found = (await search(since=(NOW - timedelta(seconds=50)).isoformat())).json()["posts"]
    assert [each["id"] for each in found] == [x.posts[0].id]


async def test_scrolling_stops_at_the_requested_number(search: Searched, x: SimulatedX) -> None:
    x.posts[:] = [post(ago=second) for second in range(1, 100)]
    found = (await search(limit="70")).json()["posts"]
    assert [each["id"] for each in found] == [each.id for each in x.posts[:70]]


async def test_scrolling_stops_at_the_requested_time(search: Searched, x: SimulatedX) -> None:
    x.posts[:] = [post(ago=second) for second in range(1, 100)]
    found = (await search(since=(NOW - timedelta(seconds=25)).isoformat(), limit="100")).json()["posts"]
    assert len(found) == 25
    assert len(x.state.queries) == 2


async def test_ten_thousand_posts_end_within_the_bounds(search: Searched, x: SimulatedX) -> None:
    x.posts[:] = [post(ago=number / 10, worker=number % 4096) for number in range(10_000)]
    found = (await search(limit="200")).json()["posts"]
    assert 0 < len(found) <= 200
    assert len(x.state.queries) <= search.service.options.scrolls + 1


HOSTILE = [
    ("<script>document.title = 'taken'</script> Wirtz LFC", "<script>document.title = 'taken'</script> Wirtz LFC"),
    ('"><img src=x onerror=alert(1)> Wirtz LFC', '"><img src=x onerror=alert(1)> Wirtz LFC'),
    ("Wirtz \u202eCFL\u202c LFC\u200b!", "Wirtz CFL LFC!"),
    ("Wirtz\nLFC\t\x07 now", "Wirtz LFC now"),
    ("Tor! ⚽🔥 Wirtz, LFC", "Tor! ⚽🔥 Wirtz, LFC"),
    ("Wirtz LFC " + "a" * 5000, "Wirtz LFC " + "a" * 490),
]


async def test_hostile_texts_come_out_as_plain_text(search: Searched, x: SimulatedX) -> None:
    x.posts[:] = [post(text, ago=number + 1) for number, (text, _) in enumerate(HOSTILE)]
    found = (await search()).json()["posts"]
    assert [each["text"] for each in found] == [shown for _, shown in HOSTILE]


async def test_posts_with_impossible_ids_or_authors_are_left_out(search: Searched, x: SimulatedX) -> None:
    bad = [
        post(id_="1" * 27, ago=2),
        post(id_="12a4", ago=3),
        post(author="a name", ago=4),
        post(author="x" * 16, ago=5),
    ]
    x.posts[:] = [post(ago=1), *bad]
    assert [each["id"] for each in (await search()).json()["posts"]] == [x.posts[0].id]


async def test_the_source_for_x_searches_through_the_browser(search: Searched, x: SimulatedX) -> None:
    source = XSource(search.service.url, x.url, headers={HEADER: SECRET}, timeout=40, now=lambda: datetime.now(UTC))
    try:
        query = SearchQuery(("Florian", "Wirtz"), ("LFC", "Liverpool FC"))
        found = await source.search(query, NOW - timedelta(minutes=5))
        assert [each.id for each in found] == [each.id for each in x.posts[:2]]
        assert await source.check()
    finally:
        await source.aclose()


async def test_the_canary_verifies_results_and_stores_the_outcome(search: Searched, x: SimulatedX) -> None:
    search.service.canary = Canary(search.service.search, search.service.options, utc_now)
    first, second = [(await search.client.get("/canary")).json() for _ in range(2)]
    assert (first["posts"], first["cached"], second["cached"]) == (1, False, True)
    assert len(x.state.queries) == 1


async def test_the_address_is_that_of_the_newest_posts_with_videos() -> None:
    order = XSearchRequest('(Müller OR "Thomas Müller") FCB')
    assert search_url("https://x.com/", order.query) == (
        "https://x.com/search?q=%28M%C3%BCller+OR+%22Thomas+M%C3%BCller%22%29+FCB+filter%3Avideos&src=typed_query&f=live"
    )
