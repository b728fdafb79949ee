"""Goals that ESPN's scoreboard counts and does not tell yet, and what else it tells of a soccer match."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from found_footy.errors import SettingsError
from found_footy.feeds.espn import MAX_DETAIL_REQUESTS, Espn, parse_scoreboard
from found_footy.fixtures.models import GoalKind, LastEvent, LiveGoal, MatchMinute, Player, Score, Side
from tests.feeds.api_answers import changed
from tests.feeds.conftest import AT_ONCE
from tests.feeds.espn_answers import AWAY, HOME, event, play, scoreboard
from tests.feeds.raw_server import RawServer, Reply, Request, json_reply
from tests.support.clocks import DatetimeClock

Open = Callable[..., Espn]
AT = {1: "soccer/eng.1 20251122"}
"""The locator of the match: with it, a poll is one request."""


@pytest.fixture
async def espn(clock: DatetimeClock) -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:

        def open_(url: str, **options: Any) -> Espn:
            feed = Espn(url, ["eng.1"], timeout=5, now=clock, retry=AT_ONCE, **options)
            stack.push_async_callback(feed.aclose)
            return feed

        yield open_


def key_event(team: str, clock: str, *athletes: int, text: str = "Goal", **fields: Any) -> dict[str, Any]:
    people = [{"athlete": {"id": str(each), "displayName": f"Player {each}"}} for each in athletes]
    return {
        "type": {"text": text},
        "clock": {"displayValue": clock},
        "scoringPlay": True,
        "team": {"id": team},
        "participants": people,
        **fields,
    }


def summary(event_id: int, *events: dict[str, Any]) -> dict[str, Any]:
    return {"header": {"id": str(event_id)}, "keyEvents": list(events)}


def pages(board: Any, detail: Any) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        found = detail if request.path.endswith("/summary") else board
        return found if isinstance(found, Reply) else json_reply(found)

    return answer


BEHIND = scoreboard(event(1, score=(2, 0)))
"""Two goals, and the scorer of one."""
WHOLE = summary(
    1,
    key_event(HOME, "12'", 306),
    key_event(AWAY, "20'", scoringPlay=False, text="Yellow Card"),
    key_event(HOME, "29'", 7, 8, text="Penalty - Scored"),
    key_event(AWAY, "120'", 9, shootout=True),
)


async def test_the_summary_has_the_goal_missing_from_the_scoreboard(espn: Open) -> None:
    async with RawServer(pages(BEHIND, WHOLE)) as server:
        feed = espn(server.url)
        for _ in range(2):
            (match,) = (await feed.fixtures_by_ids([1], AT)).fixtures
            assert match.goals == (
                LiveGoal(Side.HOME, MatchMinute(12), Player(306, "Player 306")),
                LiveGoal(Side.HOME, MatchMinute(29), Player(7, "Player 7"), GoalKind.PENALTY),
            )
    assert [request.path.rsplit("/", 1)[-1] for request in server.requests] == ["scoreboard", "summary", "scoreboard"]


@pytest.mark.parametrize(
    "detail",
    [
        Reply(status=500),
        Reply(b"<html>"),
        summary(2, key_event(HOME, "12'", 306), key_event(HOME, "29'", 7)),
        summary(1),
        {"header": {"id": "1"}},
        summary(1, key_event("77", "12'", 306), key_event(HOME, "29'", 7)),
        {},
    ],
)
async def test_where_the_summary_does_not_help_the_word_of_the_scoreboard_stands(espn: Open, detail: Any) -> None:
    async with RawServer(pages(BEHIND, detail)) as server:
        answer = await espn(server.url).fixtures_by_ids([1], AT)
    (match,) = answer.fixtures
    assert (match.score, len(match.goals), answer.failures) == (Score(2, 0), 1, {})


async def test_a_failed_summary_is_requested_again(espn: Open) -> None:
    replies = [json_reply(BEHIND), Reply(status=500), Reply(b"<html>"), json_reply(WHOLE)]
    async with RawServer.in_turn(replies) as server:
        (match,) = (await espn(server.url).fixtures_by_ids([1], AT)).fixtures
    assert len(match.goals) == 2
    assert len(server.requests) == 4


async def test_a_complete_scoreboard_is_enough(espn: Open) -> None:
    async with RawServer(pages(scoreboard(event(1)), Reply(status=500))) as server:
        await espn(server.url).fixtures_by_ids([1], AT)
    assert len(server.requests) == 1


async def test_a_summary_without_new_goals_is_requested_again_only_after_the_next_goal(
    espn: Open, clock: DatetimeClock
) -> None:
    async with RawServer(pages(BEHIND, summary(1))) as server:
        feed = espn(server.url)
        await feed.fixtures_by_ids([1], AT)
        await feed.fixtures_by_ids([1], AT)
        assert len(server.requests) == 3
        server.answer = pages(scoreboard(event(1, score=(3, 0))), summary(1))
        await feed.fixtures_by_ids([1], AT)
        assert len(server.requests) == 5
        clock.advance(180)
        await feed.fixtures_by_ids([1], AT)
    assert len(server.requests) == 7


async def test_summaries_per_poll_are_bounded(espn: Open) -> None:
    board = scoreboard(*(event(number, score=(2, 0)) for number in range(1, 41)))
    async with RawServer(pages(board, Reply(status=500))) as server:
        answer = await espn(server.url).fixtures_by_ids(range(1, 41))
    assert len(answer.fixtures) == 40
    asked = Counter(request.params["event"] for request in server.requests if "event" in request.params)
    assert len(asked) == MAX_DETAIL_REQUESTS
    assert set(asked.values()) == {AT_ONCE.attempts}
    assert server.most_at_once <= 4


@pytest.mark.parametrize("league", ["", "../eng.1", "tennis/atp", "soccer/", "soccer/eng.1/x", "a b", "eng.1?x=1"])
def test_a_league_that_is_none_is_refused_at_the_start(league: str) -> None:
    with pytest.raises(SettingsError, match="soccer/eng"):
        Espn("http://127.0.0.1:9", [league], timeout=1)


# --- what people like to read

DETAILED = event(1, details=[play(HOME, "12'"), play(AWAY, "60'", scoringPlay=False, type={"text": "Yellow Card"})])
GAME = "competitions.0"


def test_venue_short_names_last_event_and_metadata_are_read() -> None:
    entry = changed(DETAILED, f"{GAME}.venue", {"fullName": "Anfield", "address": {"city": "Liverpool"}})
    entry = changed(entry, f"{GAME}.competitors.0.team.abbreviation", "LIV")
    entry = changed(entry, f"{GAME}.attendance", 53_000)
    (match,) = parse_scoreboard(scoreboard(entry)).fixtures
    assert (match.venue, match.home.short, match.away.short) == ("Anfield, Liverpool", "LIV", None)
    assert match.last_event == LastEvent("yellow card", "60' Yellow Card Mohamed Salah (Manchester City)")
    assert match.metadata == {"attendance": "53000"}


@pytest.mark.parametrize("nonsense", [7, None, [], {}, "", "x" * 301, "a\ud800b", -1, True, {"fullName": ["Anfield"]}])
@pytest.mark.parametrize("path", [f"{GAME}.venue", f"{GAME}.altGameNote", f"{GAME}.competitors.0.team.abbreviation"])
def test_invalid_details_never_reject_the_match(path: str, nonsense: Any) -> None:
    (match,) = parse_scoreboard(scoreboard(changed(DETAILED, path, nonsense))).fixtures
    assert (match.id, match.score) == (1, Score(1, 0))
