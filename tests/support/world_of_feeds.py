"""What several feeds leave behind in the small world: a second sport, words, a contradiction, a doubt, a recovery."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from found_footy.adapters.storage.postgres.health import PostgresHealth
from found_footy.adapters.storage.postgres.listings import PostgresListings
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.domain.feeds.health_values import (
    FreshnessStats,
    HealthGrade,
    HealthState,
    HealthSummary,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
)
from found_footy.domain.feeds.listing import Listing, Pairing, Sameness
from found_footy.domain.feeds.reconciled import Contradiction, FieldOrigin, Said
from found_footy.domain.fixtures.model import (
    WICKET,
    Innings,
    LastEvent,
    League,
    LiveFixture,
    LiveGoal,
    Minute,
    Person,
    Score,
    Side,
    Sport,
    Team,
    Toss,
    WicketKind,
)

if TYPE_CHECKING:
    from tests.support.web_world import World

INDIA, AUSTRALIA = Team(8001, "India", "IND"), Team(8002, "Australia", "AUS")
SERIES = League(800, "India tour of Australia", "Australia", 2026, "3rd T20I")
CRICKET = 7007
WICKET_OF_HEAD = "7007_8001_9101_Wicket_1"


def wicket(over: int, ball: int, player: int, name: str, kind: WicketKind, bowler: str, innings: int = 2) -> LiveGoal:
    side = Side.HOME if innings % 2 == 0 else Side.AWAY
    minute = Minute(over, ball, innings)
    return LiveGoal(side, minute, Person(player, name), kind, Person(9200, bowler), WICKET, ("crex", "espn"))


WICKETS = (
    wicket(18, 2, 9001, "Virat Kohli", WicketKind.CAUGHT, "Pat Cummins", innings=1),
    wicket(2, 4, 9101, "Travis Head", WicketKind.BOWLED, "Jasprit Bumrah"),
    wicket(7, 1, 9102, "Glenn Maxwell", WicketKind.RUN_OUT, "Jasprit Bumrah"),
)


def t20(kickoff: datetime, *wickets: LiveGoal) -> LiveFixture:
    """India have batted; Australia are at it."""
    score = Score(0, 0)
    for each in wickets:
        score = score.plus(each.side)
    return LiveFixture(
        id=CRICKET,
        feed="crex",
        status="LIVE",
        kickoff=kickoff,
        league=SERIES,
        home=INDIA,
        away=AUSTRALIA,
        score=score,
        minute=Minute(12, 3, 2),
        goals=wickets,
        sport=Sport.CRICKET,
        innings=(Innings(1, Side.HOME, 187, 5, 20, 0, True), Innings(2, Side.AWAY, 95, score.home, 12, 3)),
        toss=Toss(Side.HOME, "bat"),
        venue="MCG, Melbourne",
        last_event=LastEvent("wicket", "Maxwell run out (Kohli) 12 (9)", kickoff + timedelta(minutes=110)),
        metadata={"match_type": "T20I", "series": "India tour of Australia 2026"},
    )


async def populate_feeds(world: World, kickoff: datetime, now: datetime) -> None:
    cricket = t20(kickoff)
    await world.add(cricket)
    await world.poll(t20(kickoff, *WICKETS), times=3)
    await world.search(WICKET_OF_HEAD, 1)
    listings = PostgresListings(world.store.database)
    async with listings.registering() as registering:
        joined = Listing("espn", 401_7001, Sport.FOOTBALL, ("Liverpool",), ("Man City",), kickoff, "Premier League")
        same = Pairing(Sameness.SAME, 7001, confidence=0.97, reasons=("both names are known", "same kick-off"))
        await registering.join([(joined, same, False)], now)
        doubted = replace(joined, feed_id=401_7002, home=("FC Barcelona B",), away=("Sevilla FC",))
        reasons = ("the away side is the same", "FC Barcelona B is not quite Barcelona")
        await registering.doubt([(doubted, Pairing(Sameness.DOUBTFUL, 7002, confidence=0.62, reasons=reasons))], now)
    await listings.save_origins(
        {7001: {"score": _score(now), "venue": FieldOrigin(Said("espn", "Anfield", now, 0.9))}},
        {7001: [Contradiction("score", {"api_football": [2, 1], "espn": [1, 1]}, "api_football")]},
        now,
    )
    await world.store.save_feed_state("api_football", None, now - timedelta(seconds=12), None)
    await populate_health(world.store, now)


def _score(now: datetime) -> FieldOrigin:
    chosen = Said("api_football", {"home": 2, "away": 1}, now - timedelta(seconds=12))
    return FieldOrigin(chosen, (Said("espn", {"home": 1, "away": 1}, now - timedelta(seconds=40)),))


async def populate_health(store: PostgresStore, now: datetime) -> None:
    """Two hours of judgements with an outage in the middle, and what was done about it."""
    kept = PostgresHealth(store.database)
    entry = Recovery(
        "outage-1",
        now - timedelta(minutes=61),
        RecoveryAction.SOFT_RESTART,
        "no answer of any feed for 95 s",
        before={"grade": "failing", "freshness": {"median": 96.0, "p95": 131.0, "maximum": 131.0, "count": 4}},
        after={"grade": "healthy", "freshness": {"median": 4.0, "p95": 8.0, "maximum": 8.0, "count": 4}},
        outcome=RecoveryOutcome.SUCCESS,
        seconds=4.2,
        healthy_at=now - timedelta(minutes=60),
    )
    await kept.add_recovery(entry)
    for turn, minutes in enumerate(range(120, -1, -4), start=1):
        grade = HealthGrade.FAILING if 60 < minutes < 68 else HealthGrade.HEALTHY
        age = 140.0 if grade is HealthGrade.FAILING else 10.0 + minutes % 9
        at = now - timedelta(minutes=minutes)
        summary = HealthSummary(
            grade, now - timedelta(minutes=60), FreshnessStats(age / 2, age, age, 4), at, last_success=at
        )
        assert await kept.save(HealthState(grade, at, turn=turn), summary)
