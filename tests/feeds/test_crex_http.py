"""CREX without a browser: its pages carry their data as JSON.

Sources: `crex.com/cricket-live-score/<text>-<CODE>` answers plain HTTP, bare codes get 403, and the script
`app-root-state` holds Angular's TransferState with `api.goscorer.com/api/v3/getSV3` and others as keys, as
public clients of 2026 read it (`getHomeMapData…`: f_key, n, sn; `getSC4`: c, d, b, p; `getWD`; `getFixture`: mf,
b, c, d, ti). The escapes are those of @angular/platform-browser 13 (`escapeHtml`). That a scorecard page embeds getSC4
and getWD, and that partnerships are in the order of play, is inferred.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.applications import Starlette

from footy_simulator.crex import CrexMode, CrexSiteState, crex_routes, embedded_match
from footy_simulator.cricket import CricketInnings, CricketPlayer, CricketSide, CricketState, CricketWicket
from found_footy.errors import FeedBlocked, FeedError, FeedRateLimited, FeedUnavailable, PageDataUnknown
from found_footy.feeds.crex import Crex
from found_footy.feeds.crex_page import parse_match_code, short_match_path
from found_footy.feeds.crex_state import match_document, read_state
from found_footy.fixtures.models import Innings, MatchMinute, Score, Side, Toss, WicketKind
from found_footy.runtime.http import USER_AGENT
from found_footy.runtime.http_server import HttpServer
from tests.feeds.conftest import AT_ONCE
from tests.feeds.crex_answers import list_answer, match_answer
from tests.feeds.raw_server import RawServer, Reply, Request, json_reply

START = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
LIONS, KITES = CricketSide("1F", "Harbour Lions", "HBL"), CricketSide("2G", "Valley Kites", "VKT")
PATEL, RAO, HALE, ORR = (
    CricketPlayer(key, name)
    for key, name in (("6BS", "Arun Patel"), ("6BT", "Dev Rao"), ("7C", "Tom Hale"), ("7D", "Max Orr"))
)
CAUGHT = CricketWicket(1, 2, 3, 14, PATEL, HALE, WicketKind.CAUGHT, ORR, 9, 11)
RUN_OUT = CricketWicket(2, 5, 6, 40, RAO, None, WicketKind.RUN_OUT, ORR, 20, 18)
LBW = CricketWicket(1, 0, 4, 2, ORR, PATEL, WicketKind.LBW)
UPCOMING = CricketState("sim1", LIONS, KITES, START, "Coast Cup 2026", "T20", "Harbour Oval", "NS")
TOSSED = replace(UPCOMING, toss_winner=Side.AWAY, toss_decision="field")
FIRST = CricketInnings(1, Side.HOME, 160, 20, 0, (CAUGHT, RUN_OUT), True)
SECOND = CricketInnings(2, Side.AWAY, 33, 4, 2, (LBW,))
MATCH_ID = parse_match_code("SIM1")


@dataclass
class CrexHttpSetup:
    matches: list[CricketState] = field(default_factory=lambda: [UPCOMING])
    state: CrexSiteState = field(default_factory=CrexSiteState)
    url: str = ""


@pytest.fixture
async def world() -> AsyncIterator[CrexHttpSetup]:
    world = CrexHttpSetup()
    routes = crex_routes(lambda: world.matches, world.state)
    async with HttpServer(Starlette(routes=routes), name="the simulated CREX") as server:
        world.url = server.url
        yield world


Open = Callable[..., Crex]


@pytest.fixture
async def crex() -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:

        def open_(url: str, browser_url: str | None = None, **options: Any) -> Crex:
            given = {"timeout": 5, "retry": AT_ONCE, "now": lambda: datetime.now(UTC), **options}
            feed = Crex(url, browser_url, **given)
            stack.push_async_callback(feed.aclose)
            return feed

        yield open_


async def test_a_match_is_followed_from_the_list_to_its_result_without_a_browser(
    world: CrexHttpSetup, crex: Open
) -> None:
    feed = crex(world.url)
    assert await feed.check() == f"1 matches on the list of {world.url}"
    (listed,) = (await feed.fixtures_on(START.date())).fixtures
    assert (listed.id, listed.status, listed.home.name, listed.kickoff) == (MATCH_ID, "NS", "Harbour Lions", START)

    async def now() -> Any:
        answer = await feed.fixtures_by_ids([MATCH_ID])
        assert not answer.failures
        return answer.fixtures[0]

    before = await now()
    assert (before.status, before.score, before.league, before.home) == ("NS", None, listed.league, listed.home)

    world.matches[0] = replace(TOSSED, status="LIVE", innings=(FIRST, SECOND), last_ball="4")
    live = await now()
    assert (live.status, live.score, live.toss) == ("LIVE", Score(1, 2), Toss(Side.AWAY, "field"))
    assert live.innings == (Innings(1, Side.HOME, 160, 2, 20, 0, True), Innings(2, Side.AWAY, 33, 1, 4, 2, False))
    assert [(w.minute, w.kind, w.player.name, w.player.id, w.assist.name) for w in live.goals] == [
        (MatchMinute(2, 3, 1), WicketKind.CAUGHT, "Arun Patel", parse_match_code("6BS"), "Tom Hale"),
        (MatchMinute(5, 6, 1), WicketKind.RUN_OUT, "Dev Rao", parse_match_code("6BT"), None),
        (MatchMinute(0, 4, 2), WicketKind.LBW, "Max Orr", parse_match_code("7D"), "Arun Patel"),
    ]
    assert (live.venue, live.metadata["match_type"]) == ("Harbour Oval", "T20")

    over = replace(TOSSED, status="RESULT", innings=(FIRST, replace(SECOND, over=True)))
    world.matches[0] = replace(over, result="Harbour Lions won by 12 runs")
    assert (await now()).status == "RESULT"


async def test_a_match_without_a_known_url_is_requested_by_its_code(crex: Open) -> None:
    page = embedded_match(replace(TOSSED, status="LIVE", innings=(FIRST,)))

    def answer(request: Request) -> Reply:
        assert request.headers["user-agent"] == USER_AGENT.lower()
        return Reply(status=503) if "fixtures" in request.path else Reply(page.encode())

    async with RawServer(answer) as server:
        (match,) = (await crex(server.url).fixtures_by_ids([MATCH_ID])).fixtures
    assert match.score == Score(0, 2)
    assert server.requests[-1].path == f"{short_match_path(MATCH_ID)}/match-scorecard"


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        (CrexMode.CAPTCHA, FeedBlocked),
        (CrexMode.CONSENT, FeedBlocked),
        (CrexMode.BLANK, PageDataUnknown),
        (CrexMode.CHANGED, PageDataUnknown),
        (CrexMode.TRUNCATED, PageDataUnknown),
        (CrexMode.DOWN, FeedUnavailable),
        (CrexMode.BROKEN, FeedUnavailable),
        (CrexMode.RATE_LIMITED, FeedRateLimited),
        (CrexMode.REDIRECT_LOOP, FeedUnavailable),
        (CrexMode.ELSEWHERE, FeedBlocked),
    ],
)
async def test_without_a_browser_each_failure_has_its_class(
    world: CrexHttpSetup, crex: Open, mode: CrexMode, kind: type[FeedError]
) -> None:
    world.state.mode = mode
    answer = await crex(world.url).fixtures_by_ids([MATCH_ID])
    assert type(answer.failures[MATCH_ID]) is kind
    assert (answer.fixtures, answer.unknown) == ((), ())


async def test_a_match_that_the_site_does_not_have_is_unknown(world: CrexHttpSetup, crex: Open) -> None:
    assert (await crex(world.url).fixtures_by_ids([parse_match_code("ZZZ")])).unknown == (parse_match_code("ZZZ"),)


def browser(answer: Any = None) -> RawServer:
    """The browser service, which reads every page."""

    def read(request: Request) -> Reply:
        data = list_answer() if request.params["reader"] == "crex_list" else answer
        return json_reply({"data": data})

    return RawServer(read)


@pytest.mark.parametrize("mode", [CrexMode.NORMAL, CrexMode.BLANK, CrexMode.CAPTCHA, CrexMode.CHANGED])
async def test_where_the_json_is_missing_the_browser_reads_the_page_and_the_next_ones(
    world: CrexHttpSetup, crex: Open, mode: CrexMode
) -> None:
    world.state.embedded, world.state.mode = False, mode
    shown = {**match_answer(), "path": f"{short_match_path(MATCH_ID)}/match-scorecard"}
    async with browser(shown) as service:
        feed = crex(world.url, service.url)
        for _ in range(3):
            (match,) = (await feed.fixtures_by_ids([MATCH_ID])).fixtures
            assert match.id == MATCH_ID
    asked = world.state.lists + len(world.state.matches)
    assert asked == 1, "after the first page that HTTP could not read, the browser reads them"


async def test_an_unreachable_site_is_not_retried_through_the_browser(world: CrexHttpSetup, crex: Open) -> None:
    world.state.mode = CrexMode.DOWN
    async with browser() as service:
        answer = await crex(world.url, service.url).fixtures_by_ids([MATCH_ID])
        assert service.requests == []
    assert type(answer.failures[MATCH_ID]) is FeedUnavailable


# --- the form of the embedded JSON

STATE = {"https://api.goscorer.com/api/v3/getSV3?matchId=1": {"team1_f_n": 'Mum\'s <XI> & "Co"'}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(STATE),
        json.dumps(STATE).replace("<", "\\u003c"),  # Angular 16 and later
        json.dumps(STATE).replace("&", "&a;").replace('"', "&q;").replace("'", "&s;").replace("<", "&l;"),
        json.dumps(STATE).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;"),
    ],
)
@pytest.mark.parametrize(
    "tag", ['<script id="app-root-state" type="application/json">', "<SCRIPT id='app-root-state'>"]
)
def test_the_state_is_read_in_each_of_its_escapes(tag: str, text: str) -> None:
    assert read_state(f"<html><body>{tag}{text}</script><p></p></body></html>") == STATE


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<html></html>",
        '<script id="app-root-state">{&q;x&q;</script>',
        '<script id="app-root-state">[1]</script>',
        '<script id="ng-state">{}</script>',
    ],
)
def test_a_page_without_a_state_raises_an_error(page: str) -> None:
    with pytest.raises(PageDataUnknown):
        read_state(page)


def changed_state(**changes: Any) -> str:
    """The page of a match under way, with entries of its state changed or, by None, left out."""
    page = embedded_match(replace(TOSSED, status="LIVE", innings=(FIRST, SECOND)))
    state = read_state(page)
    for endpoint, value in changes.items():
        for key in [key for key in state if endpoint in key]:
            state.pop(key)
            if value is not None:
                state[key] = value
    event = page[: page.index('<script id="app-root-state"')]
    return f'{event}<script id="app-root-state">{json.dumps(state)}</script>'


@pytest.mark.parametrize(
    "changes",
    [
        {"getSV3": None},
        {"getSV3": []},
        {"getSC4": None},
        {"getSC4": {"innings": []}},
        {"getSC4": [7]},
        {"getSC4": [{"c": "1F", "d": "69/1(48", "b": "6BS.1.2", "p": []}]},
        {"getSC4": [{"c": "1F", "d": "69/1(48", "b": [], "p": []}]},
        {"getSC4": [{"c": "1F", "d": "69/1(48", "b": [], "p": ["6BS.9.1"]}]},
        {"getSC4": [{"c": "??", "d": "69/0(48", "b": [], "p": []}]},
        {"getHomeMapData": None},
    ],
)
def test_an_unexpected_state_raises_an_error_and_is_not_guessed(changes: dict[str, Any]) -> None:
    with pytest.raises(PageDataUnknown):
        match_document(changed_state(**changes), "/cricket-live-score/x-SIM1")


def test_a_wicket_without_its_kind_is_still_a_wicket() -> None:
    document = match_document(changed_state(getWD=None), "/cricket-live-score/x-SIM1")
    assert [len(innings["falls"]) for innings in document["innings"]] == [2, 1]
    assert [innings["batting"] for innings in document["innings"]] == [[], []]
