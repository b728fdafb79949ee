"""What the script reads off a page, with recorded and made-up DOM, and how its values are checked."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any

import pytest

from found_footy.browser.page_reader import MAX_SAVED_BYTES, write_page
from found_footy.browser.x_search import (
    READ_PAGE,
    FoundPost,
    Traffic,
    XPage,
    XSearchOutcome,
    check_videos,
    classify_page,
    is_complete,
    parse_duration,
    parse_x_page,
    parse_x_post,
    select_newest,
)
from found_footy.errors import SourceChanged
from tests.browser.simulated import Searched
from tests.support.recorded import recorded

AT = datetime(2026, 8, 22, 14, 0, tzinfo=UTC)
RAW: dict[str, Any] = {
    "link": "/goalsdaily/status/1981398750557065646",
    "handle": "@goalsdaily",
    "at": "2026-08-22T14:00:00.000Z",
    "text": "Goal",
    "video": True,
    "duration": "0:34",
}
POST = FoundPost("1981398750557065646", "goalsdaily", "Goal", AT, 34.0)


async def read(search: Searched, html: str) -> XPage:
    async with search.browser.page() as page:
        await page.set_content(html)
        return parse_x_page(await page.evaluate(READ_PAGE, 100))


@pytest.mark.asyncio(loop_scope="package")
@pytest.mark.parametrize(
    ("file", "id_", "author", "start", "at"),
    [
        ("x-tweet-sample.html", "1981398750557065646", "TestUser123", "Democrat", "2025-10-23T16:34:09+00:00"),
        ("x-tweet-quote.html", "1983130065320780162", "TestQuoter", "This is a quote", "2025-10-28T11:13:47+00:00"),
    ],
)
async def test_recorded_posts_are_read(search: Searched, file: str, id_: str, author: str, start: str, at: str) -> None:
    reading = await read(search, recorded("social", file).read_text("utf-8"))
    (found,) = reading.posts
    assert (found.id, found.author, found.posted_at.isoformat()) == (id_, author, at)
    assert found.text.startswith(start)
    assert not found.video
    assert reading.unreadable == 0


def article(inner: str) -> str:
    head = (
        '<div data-testid="User-Name"><a href="/scout"><span>Scout</span></a><span>@scout</span>'
        '<a href="/scout/status/77"><time datetime="2026-08-22T14:00:00.000Z">1m</time></a></div>'
    )
    return f'<article data-testid="tweet">{head}{inner}</article>'


VIDEO = '<div data-testid="videoPlayer"><div data-testid="videoComponent"></div><span>1:02</span></div>'
QUOTE = (
    '<div role="link" tabindex="0"><div data-testid="User-Name"><span>@other</span>'
    '<div><time datetime="2020-01-01T00:00:00.000Z">2020</time></div></div>'
    f'<div data-testid="tweetText">old</div><a href="/other/status/5/video/1">v</a>{VIDEO}</div>'
)
TEXT = '<div data-testid="tweetText"><span>Tor </span><img alt="⚽"><br><span>Ad</span></div>'
TRACKED = FoundPost("77", "scout", "", AT, 62.0)


@pytest.mark.asyncio(loop_scope="package")
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (article(TEXT + VIDEO), [FoundPost("77", "scout", "Tor ⚽ Ad", AT, 62.0)]),
        (article(TEXT + VIDEO + QUOTE), [FoundPost("77", "scout", "Tor ⚽ Ad", AT, 62.0)]),
        (article(TEXT + QUOTE), [FoundPost("77", "scout", "Tor ⚽ Ad", AT, None, video=False)]),
        (article('<div data-testid="previewInterstitial"></div>'), [FoundPost("77", "scout", "", AT)]),
        (article("<span>Ad</span>" + VIDEO), []),
        (f'<div data-testid="placementTracking">{article(VIDEO)}</div>', []),
        (article(f'<div data-testid="placementTracking">{VIDEO}</div>'), [TRACKED]),
        (article(VIDEO).replace("/scout/", "/i/").replace("<span>Scout<", "<span>@realmadrid<"), [TRACKED]),
        (article(VIDEO).replace('href="/scout/status/77"', 'href="https://[/status/77"'), []),
        ("<article data-testid='tweet'></article>", []),
        ("<p>nothing</p>", []),
    ],
    ids=[
        "own",
        "own and quoted",
        "quoted only",
        "preview",
        "ad",
        "promoted",
        "tracked player",
        "nameless link",
        "no link",
        "bare",
        "none",
    ],
)
async def test_a_post_is_read_as_its_own(search: Searched, html: str, expected: list[FoundPost]) -> None:
    assert list((await read(search, html)).posts) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, POST),
        ({"link": "/goalsdaily/status/1981398750557065646/video/1"}, POST),
        ({"link": "/i/status/1981398750557065646"}, POST),
        ({"link": "/i/status/1981398750557065646", "handle": None}, None),
        ({"link": "/goalsdaily/status/" + "1" * 21}, None),
        ({"link": "/goalsdaily/status/12x"}, None),
        ({"link": "/goalsdaily/status/١٢٣"}, None),
        ({"link": "/" + "a" * 16 + "/status/1"}, None),
        ({"link": "/a-b/status/1"}, None),
        ({"link": None}, None),
        ({"link": ["/goalsdaily/status/1"]}, None),
        ({"at": None}, None),
        ({"at": "2026-08-22T14:00:00"}, None),
        ({"at": "soon"}, None),
        ({"at": "0001-01-01T00:00:00+14:00"}, None),
    ],
)
def test_a_post_with_values_that_do_not_fit_is_unreadable(changes: dict[str, Any], expected: FoundPost | None) -> None:
    assert parse_x_post({**RAW, **changes}) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("0:34", 34),
        ("12:05", 725),
        ("1:02:03", 3723),
        ("34", None),
        ("0:3", None),
        ("", None),
        (None, None),
        (34, None),
    ],
)
def test_a_duration_is_read_off_its_label(label: object, expected: float | None) -> None:
    assert parse_duration(label) == expected


@pytest.mark.parametrize("raw", [None, [], "text", {}, {"posts": None}, {"posts": {}}])
def test_a_page_that_does_not_let_itself_be_read_has_changed(raw: object) -> None:
    with pytest.raises(SourceChanged):
        parse_x_page(raw)


@pytest.mark.parametrize("junk", [None, 1, "post", [], {}, {"link": {}, "at": []}])
def test_invalid_posts_are_counted_and_skipped(junk: object) -> None:
    reading = parse_x_page({"posts": [RAW, junk], "path": "/search"})
    assert (reading.posts, reading.unreadable) == ((POST,), 1)


EMPTY = XPage("/search", empty=True)


@pytest.mark.parametrize(
    ("page", "traffic", "sign"),
    [
        (XPage("/search"), Traffic(), XSearchOutcome.NONE),
        (XPage("/search", posts=(POST,)), Traffic(), XSearchOutcome.POSTS),
        # A refusal while scrolling does not undo what was found.
        (XPage("/search", posts=(POST,)), Traffic(status=429), XSearchOutcome.POSTS),
        # They may be under way yet.
        (XPage("/search", unreadable=2), Traffic(), XSearchOutcome.NONE),
        (EMPTY, Traffic(status=200), XSearchOutcome.EMPTY),
        (EMPTY, Traffic(), XSearchOutcome.EMPTY),
        # An answer that X refused to give is never "nothing found".
        (EMPTY, Traffic(status=429), XSearchOutcome.RATE_LIMITED),
        (EMPTY, Traffic(status=503), XSearchOutcome.FAILED),
        (EMPTY, Traffic(status=404), XSearchOutcome.REFUSED),
        (EMPTY, Traffic(status=401), XSearchOutcome.LOGGED_OUT),
        (XPage("/search", retry=True), Traffic(status=200), XSearchOutcome.RATE_LIMITED),
        (XPage("/search", retry=True), Traffic(status=500), XSearchOutcome.FAILED),
        (XPage("/i/jf/onboarding/web"), Traffic(), XSearchOutcome.LOGGED_OUT),
        (XPage("/i/flow/login"), Traffic(), XSearchOutcome.LOGGED_OUT),
        (XPage("/login"), Traffic(), XSearchOutcome.LOGGED_OUT),
        (XPage("/account/access"), Traffic(), XSearchOutcome.LOGGED_OUT),
        (XPage("/search", login=True), Traffic(), XSearchOutcome.LOGGED_OUT),
        (XPage("/search", login=True, account=True, empty=True), Traffic(), XSearchOutcome.EMPTY),
    ],
)
def test_a_page_has_one_state(page: XPage, traffic: Traffic, sign: XSearchOutcome) -> None:
    assert classify_page(page, traffic) is sign


def some(count: int, *, video: bool) -> tuple[FoundPost, ...]:
    return tuple(FoundPost(str(number), "a", "", AT, video=video) for number in range(count))


@pytest.mark.parametrize(
    ("posts", "changed"),
    [
        ((), False),
        (some(4, video=False), False),
        (some(5, video=False), True),
        ((*some(5, video=False), POST), False),
    ],
)
def test_posts_without_any_sign_of_a_video_mean_that_x_has_changed(posts: tuple[FoundPost, ...], changed: bool) -> None:
    with pytest.raises(SourceChanged) if changed else nullcontext():
        check_videos({post.id: post for post in posts})


@pytest.mark.parametrize(
    ("found", "since", "expected"),
    [(50, None, True), (49, None, False), (1, AT, False), (1, AT.replace(minute=1), True)],
)
def test_scrolling_ends_when_it_can_add_nothing(found: int, since: datetime | None, expected: bool) -> None:
    assert is_complete(XPage("/search", posts=(POST,)), found, 50, since) is expected


def test_the_newest_posts_with_a_video_are_returned() -> None:
    posts = [FoundPost(str(n), "a", "", AT.replace(minute=n), video=n != 2) for n in range(5)]
    chosen = select_newest({post.id: post for post in posts}, 2, AT.replace(minute=1))
    assert [post.id for post in chosen] == ["4", "3"]


def test_kept_pages_are_the_newest_five_and_bounded(tmp_path: Any) -> None:
    for minute in range(8):
        write_page("ä" * MAX_SAVED_BYTES, tmp_path, AT.replace(minute=minute))
    kept = sorted(tmp_path.iterdir())
    assert [path.name[11:13] for path in kept] == ["03", "04", "05", "06", "07"]
    assert all(path.stat().st_size == MAX_SAVED_BYTES for path in kept)
