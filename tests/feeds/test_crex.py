"""CREX through a real browser: a match from its list to its end, and each failure with its class."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from starlette.applications import Starlette

from footy_simulator.crex import CrexMode, CrexSiteState, crex_routes
from footy_simulator.cricket import CricketInnings, CricketPlayer, CricketSide, CricketState, CricketWicket
from found_footy.browser.models import BrowserOptions
from found_footy.browser.service import BrowserService
from found_footy.feeds.crex import Crex
from found_footy.feeds.crex_page import parse_match_code
from found_footy.feeds.poll_state import is_feed_failure
from found_footy.fixtures.models import LiveFixture, MatchMinute, Score, Side, Toss, WicketKind
from found_footy.runtime.browser_secret import HEADER
from found_footy.runtime.http_server import HttpServer
from found_footy.runtime.retry import RetryRules

pytestmark = pytest.mark.asyncio(loop_scope="module")

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
MATCH_ID = parse_match_code("SIM1")


def first_innings(*wickets: CricketWicket, overs: int = 6, over: bool = False) -> CricketInnings:
    return CricketInnings(1, Side.HOME, 8 * overs, overs, 0, wickets, over)


@dataclass
class CrexBrowserSetup:
    """The simulated site with its matches, and a browser service that reads it."""

    matches: list[CricketState] = field(default_factory=lambda: [UPCOMING])
    state: CrexSiteState = field(default_factory=CrexSiteState)
    modes: dict[str, CrexMode] = field(default_factory=dict)
    url: str = ""
    browser: str = ""
    turns: int = 0

    def asked(self, code: str) -> CrexMode:
        return self.modes.get(code, self.state.mode)

    @asynccontextmanager
    async def permit(self) -> AsyncIterator[None]:
        self.turns += 1
        yield

    def crex(self, **changes: object) -> Crex:
        given: dict[str, object] = {
            "timeout": 60.0,
            "retry": RetryRules(base_seconds=0),
            "permit": self.permit,
            "budget": 90,
            "now": lambda: START,  # also when midnight comes before the last test
            "http_first": False,
        }
        return Crex(self.url, self.browser, {HEADER: "secret"}, **given | changes)  # type: ignore[arg-type]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[CrexBrowserSetup]:
    world = CrexBrowserSetup()
    routes = crex_routes(lambda: world.matches, world.state, world.asked)
    async with HttpServer(Starlette(routes=routes), name="the simulated CREX") as server:
        host = urlsplit(server.url).netloc
        options = BrowserOptions(
            "http://x.example",
            tmp_path_factory.mktemp("browser") / "profile",
            secret="secret",
            port=0,
            page_hosts=(host,),
            private_hosts=(host,),
            quiet_seconds=0.5,
        )
        async with BrowserService(options) as service:
            world.url, world.browser = server.url, service.url
            yield world


@pytest.fixture
def world(site: CrexBrowserSetup) -> CrexBrowserSetup:
    site.matches[:], site.turns = [UPCOMING], 0
    site.state.mode = CrexMode.NORMAL
    site.state.embedded = False
    site.state.matches.clear()
    site.modes.clear()
    return site


@pytest_asyncio.fixture(loop_scope="module")
async def feed(world: CrexBrowserSetup) -> AsyncIterator[Crex]:
    crex = world.crex()
    yield crex
    await crex.aclose()


async def heard(feed: Crex) -> LiveFixture:
    answer = await feed.fixtures_by_ids([MATCH_ID])
    assert not answer.failures
    return answer.fixtures[0]


async def test_a_match_is_followed_from_the_list_to_its_result(world: CrexBrowserSetup, feed: Crex) -> None:
    (listed,) = (await feed.fixtures_on(START.date())).fixtures
    assert (listed.id, listed.status, listed.home.name, listed.kickoff) == (MATCH_ID, "NS", "Harbour Lions", START)

    before = await heard(feed)
    assert (before.status, before.score, before.league, before.home) == ("NS", None, listed.league, listed.home)

    toss = replace(UPCOMING, toss_winner=Side.AWAY, toss_decision="field")
    world.matches[0] = replace(toss, status="LIVE", innings=(first_innings(CAUGHT, overs=4),), last_ball="W")
    first = await heard(feed)
    assert (first.status, first.score, first.toss) == ("LIVE", Score(0, 1), Toss(Side.AWAY, "field"))
    assert [(w.minute, w.kind, w.player.name, w.assist.name) for w in first.goals] == [
        (MatchMinute(2, 3, 1), WicketKind.CAUGHT, "Arun Patel", "Tom Hale")
    ]
    assert first.last_event is not None
    assert first.last_event.type == "wicket"

    world.matches[0] = replace(world.matches[0], status="RAIN", last_ball="")
    rain = await heard(feed)
    assert (rain.status, rain.goals, rain.innings[-1].over) == ("RAIN", first.goals, False)

    whole = first_innings(CAUGHT, RUN_OUT, overs=20, over=True)
    world.matches[0] = replace(world.matches[0], status="INNBRK", innings=(whole,))
    pause = await heard(feed)
    assert (pause.status, pause.score, pause.innings[0].over) == ("INNBRK", Score(0, 2), True)

    chase = CricketInnings(2, Side.AWAY, 50, 5, 1, (LBW,))
    world.matches[0] = replace(world.matches[0], status="LIVE", innings=(whole, chase), last_ball="6")
    second = await heard(feed)
    assert (second.score, second.minute) == (Score(1, 2), MatchMinute(5, 1, 2))
    assert second.goals[:2] == pause.goals
    assert (second.goals[2].side, second.goals[2].kind) == (Side.HOME, WicketKind.LBW)

    world.matches[0] = replace(world.matches[0], status="RESULT", result="Valley Kites won by 9 wickets")
    end = await heard(feed)
    assert (end.status, end.goals, end.innings[-1].over) == ("RESULT", second.goals, True)
    anew = world.crex()
    (over,) = (await anew.fixtures_on(START.date())).fixtures
    assert over.status == "RESULT"
    await anew.aclose()


@pytest.mark.parametrize(
    ("status", "told"),
    [("STUMPS", "STUMPS"), ("LUNCH", "LUNCH"), ("TEA", "TEA"), ("DRINKS", "DRINKS"), ("DRAW", "DRAW"), ("ABD", "ABD")],
)
async def test_a_test_match_has_four_innings_and_many_breaks(
    world: CrexBrowserSetup, feed: Crex, status: str, told: str
) -> None:
    innings = tuple(
        CricketInnings(number, side, 200, 60, 0, (CAUGHT,), over=number < 4)
        for number, side in enumerate((Side.HOME, Side.AWAY, Side.HOME, Side.AWAY), 1)
    )
    world.matches[0] = replace(
        UPCOMING, match_type="Test", status=status, innings=innings, toss_winner=Side.HOME, day=4
    )
    match = await heard(feed)
    assert (match.status, len(match.innings), match.score) == (told, 4, Score(2, 2))
    assert [goal.minute.innings for goal in match.goals] == [1, 2, 3, 4]
    assert match.toss == Toss(Side.HOME, "bat")


async def test_the_toss_is_requested_once_if_the_scorecard_omits_it(world: CrexBrowserSetup, feed: Crex) -> None:
    await feed.fixtures_on(START.date())
    innings = (first_innings(CAUGHT, overs=20, over=True), CricketInnings(2, Side.AWAY, 50, 5, 1))
    world.matches[0] = replace(UPCOMING, status="LIVE", innings=innings, toss_winner=Side.HOME)
    world.turns = 0
    assert ((await heard(feed)).toss, world.turns) == (Toss(Side.HOME, "bat"), 2)
    assert ((await heard(feed)).toss, world.turns) == (Toss(Side.HOME, "bat"), 3)


async def test_a_match_in_progress_since_earlier_days_belongs_to_today(world: CrexBrowserSetup, feed: Crex) -> None:
    world.matches[:] = [
        replace(UPCOMING, status="STUMPS", start=START - timedelta(days=2), innings=(first_innings(),)),
        replace(UPCOMING, code="SIM2", start=START - timedelta(days=2), status="RESULT", result="Harbour Lions won"),
        replace(UPCOMING, code="SIM3", start=START + timedelta(days=1)),
    ]
    today, tomorrow = [await feed.fixtures_on(START.date() + timedelta(days=days)) for days in (0, 1)]
    assert [match.id for match in today.fixtures] == [MATCH_ID]
    assert [match.id for match in tomorrow.fixtures] == [parse_match_code("SIM3")]
    assert world.turns == 1


async def test_a_day_that_is_on_a_later_page_of_the_list_is_found(world: CrexBrowserSetup, feed: Crex) -> None:
    world.matches[:] = [
        replace(UPCOMING, code=f"SIM{day}{number}", start=START + timedelta(days=day, hours=number))
        for day in range(9)
        for number in range(4)
    ]
    answer = await feed.fixtures_on(START.date() + timedelta(days=7))
    assert [match.id for match in answer.fixtures] == [parse_match_code(f"SIM7{number}") for number in range(4)]
    assert [match.kickoff for match in answer.fixtures] == [START + timedelta(days=7, hours=hour) for hour in range(4)]
    assert (len((await feed.fixtures_on(START.date())).fixtures), world.turns) == (4, 1)


async def test_a_day_without_matches_is_not_a_failure(world: CrexBrowserSetup, feed: Crex) -> None:
    world.matches.clear()
    answer = await feed.fixtures_on(START.date())
    assert (answer.fixtures, answer.failures, answer.errors) == ((), {}, ())


async def test_a_blocked_match_does_not_affect_the_others(world: CrexBrowserSetup, feed: Crex) -> None:
    world.matches[:] = [replace(UPCOMING, code=code) for code in ("sim1", "sim2", "sim3")]
    world.modes |= {"SIM2": CrexMode.CAPTCHA, "SIM3": CrexMode.MISSING}
    answer = await feed.fixtures_by_ids(
        [MATCH_ID, parse_match_code("SIM2"), parse_match_code("SIM3"), parse_match_code("ZZZ")]
    )
    assert [match.id for match in answer.fixtures] == [MATCH_ID]
    assert {id_: error.kind for id_, error in answer.failures.items()} == {parse_match_code("SIM2"): "FeedBlocked"}
    assert answer.unknown == (parse_match_code("SIM3"), parse_match_code("ZZZ"))


async def test_an_unlisted_match_is_found_by_its_code(world: CrexBrowserSetup, feed: Crex) -> None:
    world.matches[0] = replace(UPCOMING, code="sim2")
    await feed.check()
    world.matches.append(UPCOMING)
    assert (await heard(feed)).id == MATCH_ID
    assert world.turns == 2


@pytest.mark.parametrize(
    ("mode", "kind", "attempts"),
    [
        (CrexMode.DOWN, "FeedUnavailable", 3),
        (CrexMode.REDIRECT_LOOP, "PageLoadFailed", 3),
        (CrexMode.BLANK, "FeedMalformed", 3),
        (CrexMode.RATE_LIMITED, "FeedRateLimited", 1),
        (CrexMode.CAPTCHA, "FeedBlocked", 1),
    ],
)
async def test_retryable_errors_are_tried_three_times(
    world: CrexBrowserSetup, feed: Crex, mode: CrexMode, kind: str, attempts: int
) -> None:
    await feed.fixtures_on(START.date())
    world.state.mode = mode
    answer = await feed.fixtures_by_ids([MATCH_ID])
    assert [error.kind for error in answer.failures.values()] == [kind]
    assert len(world.state.matches) == attempts


async def test_a_missing_browser_service_is_reported(world: CrexBrowserSetup) -> None:
    other = Crex(world.url, "http://127.0.0.1:1", timeout=5, retry=RetryRules(attempts=1))
    answer = await other.fixtures_by_ids([MATCH_ID])
    assert [error.kind for error in answer.failures.values()] == ["BrowserUnavailable"]
    assert not is_feed_failure(answer.failures[MATCH_ID])
    assert "footy browser" in str(answer.failures[MATCH_ID])
    elsewhere = Crex(
        "https://elsewhere.example",
        world.browser,
        {HEADER: "secret"},
        timeout=5,
        retry=RetryRules(attempts=1),
        http_first=False,
    )
    answer = await elsewhere.fixtures_by_ids([MATCH_ID])
    assert [error.kind for error in answer.failures.values()] == ["FeedRejected"]
    for each in (other, elsewhere):
        await each.aclose()


async def test_a_wrong_secret_is_not_a_feed_error(world: CrexBrowserSetup) -> None:
    stranger = Crex(
        world.url, world.browser, {HEADER: "another"}, timeout=5, retry=RetryRules(attempts=1), http_first=False
    )
    answer = await stranger.fixtures_by_ids([MATCH_ID])
    await stranger.aclose()
    assert [error.kind for error in answer.failures.values()] == ["BrowserUnavailable"]
    assert "FOOTY_BROWSER_SECRET" in str(answer.failures[MATCH_ID])


async def test_check_summarizes_the_listed_matches(world: CrexBrowserSetup, feed: Crex) -> None:
    assert await feed.check() == f"1 matches on the list of {world.url}"
    assert (feed.name, feed.quota, feed.ids_per_request, feed.requests_for(7)) == ("crex", None, 1, 7)
