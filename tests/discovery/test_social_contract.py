"""What the port `SocialSource` promises, over every place that there is."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from found_footy.discovery.query import SearchQuery
from found_footy.errors import SourceChanged, SourceError, SourceLoggedOut, SourceRateLimited, SourceUnavailable
from found_footy.runtime.engine import free_port
from tests.discovery.shared import Reply, json_reply
from tests.discovery.social_answers import answer, answering, entries, entry
from tests.discovery.source_sites import NOW, OVER_HTTP, PLACES, PLATFORMS, QUERY, SINCE, ScriptedPost, place, source_at

GOAL = "Liverpool [2] - 1 Manchester City - M. Salah 67'"
SAID = [
    ScriptedPost(GOAL, ago=100),
    ScriptedPost("Mohamed Salah scores for LFC!!", ago=20),
    ScriptedPost("salah and LIVERPOOL again", ago=60),
    ScriptedPost("Salah without the other word", ago=30),
    ScriptedPost("Liverpool without the other word", ago=30),
    ScriptedPost("Haaland for Manchester City", ago=30),
]


@pytest.mark.parametrize("name", PLACES)
async def test_the_posts_that_match_are_found_newest_first(name: str, tmp_path: Path) -> None:
    async with place(name, tmp_path, SAID) as source:
        found = await source.search(QUERY, SINCE)
        assert source.name == name
    assert [(NOW - post.posted_at).total_seconds() for post in found] == [20, 60, 100]
    for post in found:
        assert post.source == PLATFORMS.get(name, name)
        assert post.key == f"{post.source}:{post.id}"
        assert re.fullmatch(r"[A-Za-z0-9._:/-]+", post.id)
        assert "salah" in post.text.lower()
        assert post.posted_at.tzinfo is not None
        assert re.match(r"https?://\S+$|folder:\S+$", post.media_url)
    assert len({post.id for post in found}) == 3


@pytest.mark.parametrize("name", PLACES)
async def test_a_post_has_the_same_id_in_every_search(name: str, tmp_path: Path) -> None:
    async with place(name, tmp_path, SAID) as source:
        first, second = await source.search(QUERY, SINCE), await source.search(QUERY, SINCE)
    assert list(first) == list(second)


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize(
    ("ago", "found"), [(0.0, 0), (1.5, 1), (179.0, 1), (181.0, 0), (86_400.0, 0)], ids=lambda value: str(value)
)
async def test_posts_older_than_asked_for_are_left_out(name: str, tmp_path: Path, ago: float, found: int) -> None:
    async with place(name, tmp_path, [ScriptedPost(GOAL, ago)]) as source:
        # Only a file can be so new that it may not be complete.
        expected = 1 if ago == 0 and name != "folder" else found
        assert len(await source.search(QUERY, SINCE)) == expected


@pytest.mark.parametrize("name", PLACES)
async def test_without_a_known_scorer_the_team_is_enough(name: str, tmp_path: Path) -> None:
    async with place(name, tmp_path, SAID) as source:
        assert len(await source.search(SearchQuery((), ("Liverpool", "LFC")), SINCE)) == 4


@pytest.mark.parametrize("name", PLACES)
async def test_texts_are_cleaned(name: str, tmp_path: Path) -> None:
    text = "\u202eSalah\u2067 <b>Liverpool<script>alert(1)<script>\x07\x1b[31m\n" + "long " * 20
    async with place(name, tmp_path, [ScriptedPost(text)]) as source:
        (post,) = await source.search(QUERY, SINCE)
    assert "Salah <b>Liverpool<script>alert(1)<script> [31m long long" in post.text
    assert post.text.isprintable()


@pytest.mark.parametrize("name", PLACES)
async def test_no_posts_are_not_a_failure(name: str, tmp_path: Path) -> None:
    async with place(name, tmp_path, []) as source:
        assert list(await source.search(QUERY, SINCE)) == []


@pytest.mark.parametrize("name", PLACES)
async def test_a_successful_check_has_a_summary(name: str, tmp_path: Path) -> None:
    async with place(name, tmp_path, SAID) as source:
        assert await source.check()


@pytest.mark.parametrize("name", PLACES)
async def test_a_place_that_is_not_there_is_unavailable(name: str, tmp_path: Path) -> None:
    where = str(tmp_path / "missing") if name == "folder" else f"http://127.0.0.1:{free_port()}"
    source = source_at(name, where)
    for call in (source.search(QUERY, SINCE), source.check()):
        with pytest.raises(SourceUnavailable):
            await call
    await source.aclose()


EMPTY = Reply(b"")
BROKEN = Reply(b'{"posts": [')
PAGE = Reply(b"<!doctype html><html><title>Sorry</title></html>")


@pytest.mark.parametrize("name", OVER_HTTP)
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(None, None, id="nothing found"),
        pytest.param(Reply(status=401), SourceLoggedOut, id="401"),
        pytest.param(Reply(status=403), SourceLoggedOut, id="403"),
        pytest.param(Reply(status=429), SourceRateLimited, id="429"),
        pytest.param(Reply(status=500), SourceUnavailable, id="500"),
        pytest.param(Reply(status=503), SourceUnavailable, id="503"),
        pytest.param(Reply(status=400), SourceChanged, id="400"),
        pytest.param(Reply(status=404), SourceChanged, id="404"),
        pytest.param(Reply(status=302, headers={"location": "http://169.254.169.254/"}), SourceChanged, id="302"),
        pytest.param(EMPTY, SourceChanged, id="no body"),
        pytest.param(BROKEN, SourceChanged, id="half of the JSON"),
        pytest.param(PAGE, SourceChanged, id="a page for people"),
        pytest.param(json_reply({}), SourceChanged, id="no list"),
        pytest.param(json_reply([]), SourceChanged, id="another list"),
        pytest.param(json_reply(None), SourceChanged, id="null"),
        pytest.param(json_reply({"posts": {}, "data": {"children": {}}}), SourceChanged, id="no list but an object"),
        pytest.param(
            json_reply({"code": 200, "results": [7], "posts": [7], "data": {"children": [7]}}),
            SourceChanged,
            id="numbers for posts",
        ),
    ],
)
async def test_no_results_and_failures_are_distinguished(
    name: str, reply: Reply | None, expected: type[SourceError] | None
) -> None:
    async with answering(name, reply or json_reply(answer(name, []))) as server:
        source = source_at(name, server.url)
        if expected is None:
            assert list(await source.search(QUERY, SINCE)) == []
        else:
            with pytest.raises(SourceError) as raised:
                await source.search(QUERY, SINCE)
            # There is no login at FxEmbed: a refusal is one of our address.
            refused = SourceUnavailable if name == "fxtwitter" and expected is SourceLoggedOut else expected
            assert type(raised.value) is refused
            assert "127.0.0.1" in str(raised.value) or name in str(raised.value)
        await source.aclose()


@pytest.mark.parametrize("name", OVER_HTTP)
@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(None, id="null"),
        pytest.param(7, id="a number"),
        pytest.param([], id="a list"),
        pytest.param({}, id="nothing in it"),
        pytest.param("Salah Liverpool", id="a text"),
        pytest.param({"data": {"id": 5, "title": ["x"]}, "id": {}, "record": []}, id="wrong types"),
    ],
)
async def test_one_bad_post_does_not_cost_the_others(name: str, bad: object, caplog: pytest.LogCaptureFixture) -> None:
    listed = [bad, entry(name), bad]
    async with answering(name, answer(name, listed)) as server:
        source = source_at(name, server.url)
        assert len(await source.search(QUERY, SINCE)) == 1
        await source.aclose()
    assert "2 of 3 posts cannot be parsed" in caplog.text


@pytest.mark.parametrize("name", OVER_HTTP)
async def test_only_the_first_of_ten_thousand_posts_are_parsed(name: str, caplog: pytest.LogCaptureFixture) -> None:
    listed = entries(name, [ScriptedPost(f"Salah Liverpool {number}", ago=number / 100) for number in range(10_000)])
    async with answering(name, answer(name, listed)) as server:
        source = source_at(name, server.url, timeout=60)
        found = await source.search(SearchQuery(("Salah",), ("Liverpool",)), SINCE)
        await source.aclose()
    assert len(found) == 300
    assert found[0].posted_at == NOW
    # FxEmbed gives whole seconds.
    assert timedelta() <= NOW - timedelta(seconds=2.99) - found[-1].posted_at < timedelta(seconds=1)
    assert "only 1000 of 10000 posts are parsed" in caplog.text


@pytest.mark.parametrize("name", OVER_HTTP)
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(b"{", drips=True), id="drips"),
        pytest.param(Reply(held=True), id="never answers"),
        pytest.param(Reply(b'{"posts": []', missing=1000), id="breaks off"),
        pytest.param(Reply(b"no gzip", headers={"content-encoding": "gzip"}), id="not compressed as it says"),
    ],
)
async def test_a_missing_response_raises_unavailable_within_the_time_limit(name: str, reply: Reply) -> None:
    async with answering(name, reply) as server:
        source = source_at(name, server.url, timeout=0.3)
        with pytest.raises(SourceUnavailable):
            await source.search(QUERY, SINCE)
        await source.aclose()


@pytest.mark.parametrize("name", OVER_HTTP)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[" * 100_000, id="too deep"),
        pytest.param(b'{"posts": ' + b"9" * 5000 + b"}", id="a number of 5000 digits"),
        pytest.param(b"\xff\xfe\x00", id="no UTF-8"),
        pytest.param(b" " * (33 * 1024 * 1024), id="too large"),
    ],
)
async def test_an_unparsable_response_raises_source_changed(name: str, body: bytes) -> None:
    async with answering(name, Reply(body)) as server:
        source = source_at(name, server.url, timeout=60)
        with pytest.raises(SourceChanged):
            await source.search(QUERY, SINCE)
        await source.aclose()
