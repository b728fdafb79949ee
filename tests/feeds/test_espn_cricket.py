"""Cricket of ESPN: what the scoreboard tells, what the summary adds, and what happens where that fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import date
from typing import Any

import pytest

from found_footy.errors import FeedSchemaError, FeedUnavailable, UnknownStatus
from found_footy.feeds.espn import Espn, parse_scoreboard
from found_footy.feeds.espn_cricket import parse_summary
from found_footy.fixtures.models import (
    WICKET,
    Innings,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    Score,
    Side,
    Sport,
    Team,
    Toss,
    WicketKind,
)
from tests.feeds.api_answers import GONE, changed
from tests.feeds.conftest import AT_ONCE
from tests.feeds.cricket_answers import card, event, fall, fielding, game, line, scoreboard, summary
from tests.feeds.raw_server import RawServer, Reply, Request, json_reply
from tests.support.clocks import DatetimeClock

HOME_LINES = [line(1, 187, 2, 20, isCurrent=0, fow=[fall(2, 16.2, 12), fall(1, 2.4, 11)]), fielding(2)]
AWAY_LINES = [fielding(1), line(2, 95, 1, 12.3, isCurrent=1, fow=[fall(1, 1.2, 21)])]
TOLD = game(HOME_LINES, AWAY_LINES)
SUMMARY = summary(
    1,
    TOLD,
    card(11, 1, "c", "c Smith b Cummins", 9),
    card(12, 1, "run out", "run out (Smith)", 9),
    card(21, 2, "lbw", "lbw b Bumrah", 8),
    toss="India, elected to bat first",
)


def one(played: dict[str, Any], **fields: Any) -> LiveFixture:
    answer = parse_scoreboard(scoreboard(event(1, played, **fields)), cricket=True)
    (fixture,) = answer.fixtures
    return fixture


def test_a_match_has_its_innings_and_wickets_per_side() -> None:
    match = one(game())
    assert (match.sport, match.status, match.score) == (Sport.CRICKET, "LIVE", Score(home=1, away=2))
    assert match.innings == (
        Innings(1, Side.HOME, 187, 2, 20, 0, over=True),
        Innings(2, Side.AWAY, 95, 1, 12, 3, over=False),
    )
    assert match.minute == MatchMinute(12, 3, 2)
    assert (match.home, match.venue) == (Team(6, "India", "IND"), "MCG, Melbourne")
    assert match.metadata["title"] == "India vs Australia, 3rd T20I"
    assert match.metadata["match_type"] == "T20I"


def test_the_summary_has_wickets_in_order_with_batter_bowler_and_kind() -> None:
    match = parse_summary(SUMMARY, "espn", 1)
    assert match.goals == (
        LiveGoal(
            Side.AWAY, MatchMinute(2, 4, 1), Player(11, "Batter 11"), WicketKind.CAUGHT, Player(9, "Bowler 9"), WICKET
        ),
        LiveGoal(Side.AWAY, MatchMinute(16, 2, 1), Player(12, "Batter 12"), WicketKind.RUN_OUT, Player(), WICKET),
        LiveGoal(
            Side.HOME, MatchMinute(1, 2, 2), Player(21, "Batter 21"), WicketKind.LBW, Player(8, "Bowler 8"), WICKET
        ),
    )
    assert match.toss == Toss(Side.HOME, "bat")
    assert match.last_event is not None
    assert match.last_event.description == "Batter 21 lbw b Bumrah"


def test_a_wicket_without_a_score_card_has_no_kind_and_no_bowler() -> None:
    wicket = parse_summary(summary(1, TOLD), "espn", 1).goals[0]
    assert (wicket.player, wicket.kind, wicket.assist) == (Player(11, "Batter 11"), WicketKind.OTHER, Player())


def test_who_retires_hurt_is_not_out() -> None:
    body = summary(1, TOLD, card(11, 1, "retired not out", "retired hurt"))
    assert [goal.player.id for goal in parse_summary(body, "espn", 1).goals] == [12, 21]


@pytest.mark.parametrize("rosters", [None, {}, [None], [{"roster": None}], [{"roster": [{"linescores": [7]}]}], "x"])
def test_an_unreadable_scorecard_affects_only_itself(rosters: Any) -> None:
    assert len(parse_summary({**SUMMARY, "rosters": rosters}, "espn", 1).goals) == 3


def test_a_summary_of_another_match_is_refused() -> None:
    with pytest.raises(FeedSchemaError, match=r"header\.id"):
        parse_summary(SUMMARY, "espn", 2)


@pytest.mark.parametrize(
    ("description", "summary_text", "status"),
    [("Stumps", "", "STUMPS"), ("Live", "Lunch", "LUNCH"), ("Rain delay", "", "RAIN"), ("Innings break", "", "INNBRK")],
)
def test_a_break_is_not_the_end(description: str, summary_text: str, status: str) -> None:
    match = one(game(description=description, summary=summary_text))
    assert (match.status, match.innings[-1].over) == (status, False)


def test_a_match_that_has_not_started_has_no_score() -> None:
    match = one(game([], [], state="pre", description="Scheduled"))
    assert (match.status, match.score, match.minute, match.innings, match.goals) == ("NS", None, None, (), ())


def test_the_end_of_a_match_ends_its_innings() -> None:
    match = one(game(state="post", description="Result", summary="India won by 17 runs"))
    assert (match.status, [each.over for each in match.innings]) == ("RESULT", [True, True])


GAME = "competitions.0"


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("date", "soon", "date"),
        (f"{GAME}.competitors.0.homeAway", "left", "competitors.homeAway"),
        (f"{GAME}.competitors.0.team.displayName", None, "competitions.0.competitors.0.team.displayName"),
        (f"{GAME}.competitors.0.linescores", [line(1, -3, 0, 1)], "competitions.0.competitors.0.linescores.0.runs"),
        (f"{GAME}.competitors.0.linescores", [line(1, 3, 99, 1)], "competitions.0.competitors.0.linescores.0.wickets"),
        (f"{GAME}.competitors.0.linescores", [line(1, 3, 0, "x")], "competitions.0.competitors.0.linescores.0.overs"),
        (f"{GAME}.competitors.0.linescores", [line(9, 3, 0, 1)], "competitions.0.competitors.0.linescores.0.period"),
        (f"{GAME}.competitors.0.linescores", [line(2, 3, 0, 1)], "competitions.0.competitors.1.linescores.0.period"),
        (f"{GAME}.competitors.0.linescores", "none", "competitions.0.competitors.0.linescores"),
        (
            f"{GAME}.competitors.0.linescores",
            [line(1, 9, 1, 1, fow=[fall(1, 0.4, 11, wicketOver="late")])],
            "competitions.0.competitors.0.linescores.0.fow.0.wicketOver",
        ),
        (f"{GAME}.status", GONE, "competitions.0.status"),
    ],
)
def test_a_field_that_does_not_fit_is_named_and_fails_only_its_match(path: str, value: object, field: str) -> None:
    answer = parse_scoreboard(scoreboard(event(1), changed(event(2), path, value), event(3)), cricket=True)
    assert [fixture.id for fixture in answer.fixtures] == [1, 3]
    error = answer.failures[2]
    assert isinstance(error, FeedSchemaError)
    assert error.field == field


def test_an_unknown_state_has_its_own_error() -> None:
    answer = parse_scoreboard(scoreboard(event(1, game(state="sideways"))), cricket=True)
    assert type(answer.failures[1]) is UnknownStatus


@pytest.mark.parametrize(("runs", "wickets"), [("187", "2"), (187, 2)])
def test_numbers_may_be_written_as_text(runs: Any, wickets: Any) -> None:
    assert one(game([line(1, runs, wickets, "20.0")])).innings[0].runs == 187


# --- over HTTP

Open = Callable[..., Espn]


@pytest.fixture
async def espn(clock: DatetimeClock) -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:

        def open_(url: str, *leagues: str, **options: Any) -> Espn:
            feed = Espn(url, leagues or ("cricket/8048",), timeout=5, now=clock, retry=AT_ONCE, **options)
            stack.push_async_callback(feed.aclose)
            return feed

        yield open_


def pages(board: Any, detail: Any) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        found = detail if request.path.endswith("/summary") else board
        return found if isinstance(found, Reply) else json_reply(found)

    return answer


def asked(server: RawServer) -> list[str]:
    return [request.path.rsplit("/", 1)[-1] for request in server.requests]


async def test_the_summary_is_requested_once_per_wicket_count(espn: Open, clock: DatetimeClock) -> None:
    async with RawServer(pages(scoreboard(event(1)), SUMMARY)) as server:
        feed = espn(server.url)
        for _ in range(3):
            (match,) = (await feed.fixtures_by_ids([1])).fixtures
            assert len(match.goals) == 3
        assert asked(server) == ["scoreboard", "summary", "scoreboard", "scoreboard"]
        clock.advance(180)
        await feed.fixtures_by_ids([1])
    assert asked(server).count("summary") == 2
    assert server.requests[1].path == "/apis/site/v2/sports/cricket/8048/summary"
    assert server.requests[1].params == {"event": "1"}


async def test_a_complete_scoreboard_needs_no_wicket_summary(espn: Open) -> None:
    async with RawServer(pages(scoreboard(event(1, TOLD)), Reply(status=500))) as server:
        (match,) = (await espn(server.url).fixtures_by_ids([1])).fixtures
    assert (len(match.goals), asked(server)) == (3, ["scoreboard"])


@pytest.mark.parametrize("detail", [Reply(status=500), Reply(b"<html>"), summary(7, TOLD), {}, summary(1, game())])
async def test_a_match_without_readable_wickets_fails_and_drops_none(espn: Open, detail: Any) -> None:
    board = scoreboard(event(1), event(2, game([], [], state="pre")))
    async with RawServer(pages(board, detail)) as server:
        answer = await espn(server.url).fixtures_by_ids([1, 2])
    assert [fixture.id for fixture in answer.fixtures] == [2]
    assert list(answer.failures) == [1]


async def test_a_counted_but_unlisted_wicket_is_requested_again(espn: Open) -> None:
    late = summary(1, game(HOME_LINES, [line(2, 95, 1, 12.3)]))
    async with RawServer(pages(scoreboard(event(1)), late)) as server:
        feed = espn(server.url)
        for _ in range(2):
            (match,) = (await feed.fixtures_by_ids([1])).fixtures
            assert (len(match.goals), match.score) == (2, Score(home=1, away=2))
    assert asked(server) == ["scoreboard", "summary"] * 2


async def test_a_match_of_yesterday_is_found_by_its_day(espn: Open) -> None:
    def answer(request: Request) -> Reply:
        events = [event(1, TOLD)] if request.params.get("dates") == "20260821" else []
        return json_reply(scoreboard(*events))

    async with RawServer(answer) as server:
        answered = await espn(server.url).fixtures_by_ids([1, 5])
    assert ([fixture.id for fixture in answered.fixtures], answered.unknown) == ([1], (5,))
    assert server.requests[0].params == {"limit": "500"}
    assert len(server.requests) == 4


async def test_today_includes_matches_that_started_earlier(espn: Open) -> None:
    def answer(request: Request) -> Reply:
        began = {None: 20, "20260821": 21, "20260822": 22, "20260823": 23}[request.params.get("dates")]
        return json_reply(scoreboard({**event(began, TOLD), "date": f"2026-08-{began}T14:00Z"}))

    async with RawServer(answer) as server:
        feed = espn(server.url)
        today = await feed.fixtures_on(date(2026, 8, 22))
        tomorrow = await feed.fixtures_on(date(2026, 8, 23))
    assert {fixture.id for fixture in today.fixtures} == {20, 22}
    assert {fixture.id for fixture in tomorrow.fixtures} == {23}


async def test_a_failing_cricket_league_does_not_affect_soccer(espn: Open) -> None:
    def answer(request: Request) -> Reply:
        return Reply(status=500) if "cricket" in request.path else json_reply({"leagues": [], "events": []})

    async with RawServer(answer) as server:
        answered = await espn(server.url, "eng.1", "cricket/8048").fixtures_by_ids([1])
    assert {id_: type(error) for id_, error in answered.failures.items()} == {1: FeedUnavailable}
    assert [type(error) for error in answered.errors] == [FeedUnavailable]
