"""What several feeds leave behind in the small world: a second sport, words, a contradiction, a doubt, a recovery."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from psycopg.types.json import Jsonb

from found_footy.feeds.models import FieldProvenance, FieldReport, MatchListing, Pairing, PairingVerdict
from found_footy.feeds.store import ListingStore
from found_footy.fixtures.models import (
    WICKET,
    Innings,
    LastEvent,
    League,
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
from found_footy.fixtures.store import FixtureStore, provenance_row
from found_footy.operations.models import (
    FreshnessStats,
    HealthGrade,
    HealthState,
    HealthSummary,
    Recovery,
    RecoveryAction,
    RecoveryOutcome,
)
from found_footy.operations.store import OperationsStore

if TYPE_CHECKING:
    from tests.support.web_world import SampleData

INDIA, AUSTRALIA = Team(8001, "India", "IND"), Team(8002, "Australia", "AUS")
SERIES = League(800, "India tour of Australia", "Australia", 2026, "3rd T20I")
CRICKET = 7007
WICKET_OF_HEAD = "7007_8001_9101_Wicket_1"


def wicket(over: int, ball: int, player: int, name: str, kind: WicketKind, bowler: str, innings: int = 2) -> LiveGoal:
    side = Side.HOME if innings % 2 == 0 else Side.AWAY
    minute = MatchMinute(over, ball, innings)
    return LiveGoal(side, minute, Player(player, name), kind, Player(9200, bowler), WICKET, ("crex", "espn"))


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
        minute=MatchMinute(12, 3, 2),
        goals=wickets,
        sport=Sport.CRICKET,
        innings=(Innings(1, Side.HOME, 187, 5, 20, 0, True), Innings(2, Side.AWAY, 95, score.home, 12, 3)),
        toss=Toss(Side.HOME, "bat"),
        venue="MCG, Melbourne",
        last_event=LastEvent("wicket", "Maxwell run out (Kohli) 12 (9)", kickoff + timedelta(minutes=110)),
        metadata={"match_type": "T20I", "series": "India tour of Australia 2026"},
    )


async def populate_feeds(world: SampleData, kickoff: datetime, now: datetime) -> None:
    cricket = t20(kickoff)
    await world.add(cricket)
    await world.poll(t20(kickoff, *WICKETS), times=3)
    await world.search(WICKET_OF_HEAD, 1)
    listings = ListingStore(world.store.database)
    async with listings.registration() as registering:
        joined = MatchListing(
            "espn", 401_7001, Sport.FOOTBALL, ("Liverpool",), ("Man City",), kickoff, "Premier League"
        )
        same = Pairing(PairingVerdict.SAME, 7001, confidence=0.97, reasons=("both names are known", "same kick-off"))
        await registering.join([(joined, same, False)], now)
        doubted = replace(joined, feed_id=401_7002, home=("FC Barcelona B",), away=("Sevilla FC",))
        reasons = ("the away side is the same", "FC Barcelona B is not quite Barcelona")
        await registering.doubt(
            [(doubted, Pairing(PairingVerdict.DOUBTFUL, 7002, confidence=0.62, reasons=reasons))], now
        )
    async with world.store.database.connection() as connection:
        provenance = {"score": _score(now), "venue": FieldProvenance(FieldReport("espn", "Anfield", now, 0.9))}
        row = Jsonb(provenance_row(provenance))
        await connection.execute("update fixtures set origins = %s where id = 7001", [row])
        said = Jsonb({"api_football": [2, 1], "espn": [1, 1]})
        await connection.execute(
            "insert into contradictions (fixture_id, field, reported, chosen, first_at, last_at)"
            " values (7001, 'score', %s, 'api_football', %s, %s)",
            [said, now, now],
        )
    await world.store.save_feed_state("api_football", None, now - timedelta(seconds=12), None)
    await populate_health(world.store, now)


def _score(now: datetime) -> FieldProvenance:
    chosen = FieldReport("api_football", {"home": 2, "away": 1}, now - timedelta(seconds=12))
    return FieldProvenance(chosen, (FieldReport("espn", {"home": 1, "away": 1}, now - timedelta(seconds=40)),))


async def populate_health(store: FixtureStore, now: datetime) -> None:
    """Two hours of judgements with an outage in the middle, and what was done about it."""
    kept = OperationsStore(store.database)
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
    for revision, minutes in enumerate(range(120, -1, -4), start=1):
        grade = HealthGrade.FAILING if 60 < minutes < 68 else HealthGrade.HEALTHY
        age = 140.0 if grade is HealthGrade.FAILING else 10.0 + minutes % 9
        at = now - timedelta(minutes=minutes)
        summary = HealthSummary(
            grade, now - timedelta(minutes=60), FreshnessStats(age / 2, age, age, 4), at, last_success=at
        )
        assert await kept.save(HealthState(grade, at, revision=revision), summary)
