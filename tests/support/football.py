"""Compact notation for matches, goals and polls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from found_footy.feeds.match_pairing import to_listing
from found_footy.feeds.models import Pairing, PairingVerdict
from found_footy.feeds.store import ListingStore
from found_footy.fixtures.comparison import compare
from found_footy.fixtures.models import (
    DebounceRules,
    EventDecision,
    GoalKind,
    KnownEvent,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    Poll,
    Score,
    Side,
    Team,
)
from found_footy.fixtures.store import FixtureStore

START = datetime(2026, 8, 22, 14, 0, tzinfo=UTC)
RULES = DebounceRules()
HOME, AWAY = Team(40, "Liverpool"), Team(50, "Manchester City")


def poll(number: int) -> Poll:
    return Poll(f"monitor-{number}", START + timedelta(seconds=30 * number))


def goal(text: str, kind: GoalKind = GoalKind.NORMAL) -> LiveGoal:
    """`23 home 7` is a goal of the home side by player 7 in minute 23; `90+3 away ?` has no scorer yet."""
    minute, side, player = text.split()
    elapsed, _, extra = minute.partition("+")
    person = Player() if player == "?" else Player(int(player), f"Player {player}")
    return LiveGoal(Side(side), MatchMinute(int(elapsed), int(extra) if extra else None), person, kind)


def match(*goals: LiveGoal | str, score: str | None = "", status: str = "1H", fixture_id: int = 5000) -> LiveFixture:
    """A feed's answer. The score follows from the goals unless given; `None` leaves it out."""
    listed = tuple(goal(each) if isinstance(each, str) else each for each in goals)
    if score == "":
        total: Score | None = Score(0, 0)
        for each in listed:
            assert total is not None
            total = total.plus(each.side)
    else:
        total = None if score is None else Score(*(int(part) for part in score.split("-")))
    return LiveFixture(
        id=fixture_id,
        feed="test",
        status=status,
        kickoff=START,
        league=League(39, "Premier League"),
        home=HOME,
        away=AWAY,
        score=total,
        minute=MatchMinute(45),
        goals=listed,
    )


class MatchMonitor:
    """Compares each poll with the events of the polls before, without a database."""

    def __init__(self, rules: DebounceRules = RULES) -> None:
        self.rules = rules
        self.events: dict[str, KnownEvent] = {}
        self.last: Poll | None = None
        self.polls = 0

    def poll(self, *goals: LiveGoal | str, score: str | None = "", times: int = 1) -> list[EventDecision]:
        """Poll `times` times with the same answer and return the decisions of the last poll."""
        decisions: list[EventDecision] = []
        for _ in range(times):
            self.polls += 1
            decisions = self.apply(match(*goals, score=score), poll(self.polls))
        return decisions

    def apply(self, answer: LiveFixture, at: Poll) -> list[EventDecision]:
        decisions = compare(answer, list(self.events.values()), at, self.rules, self.last)
        for decision in decisions:
            self.events[decision.event.id] = decision.event
        if self.last is None or at.at > self.last.at:
            self.last = at
        return decisions

    @property
    def stable(self) -> list[KnownEvent]:
        return [event for event in self.events.values() if event.stable and not event.removed]

    @property
    def removed(self) -> list[KnownEvent]:
        return [event for event in self.events.values() if event.removed]

    def ids(self, events: Sequence[KnownEvent] | None = None) -> list[str]:
        chosen = list(self.events.values()) if events is None else events
        return [event.id for event in chosen]


def complete(event: KnownEvent) -> KnownEvent:
    return replace(event, monitor_complete=True, download_complete=True)


async def follow_matches(
    store: FixtureStore, fixtures: Sequence[tuple[LiveFixture, str]], now: datetime
) -> Mapping[str, int]:
    """Store fixtures in the given stages, as an ingest does. Returns the number of new ones by stage."""
    async with ListingStore(store.database).registration() as registration:
        added = await store.add(registration.connection, fixtures, now)
        same = [
            (to_listing(live.feed, live), Pairing(PairingVerdict.SAME, live.id, confidence=1.0), True)
            for live, _ in fixtures
        ]
        await registration.join(same, now)
    return Counter(str(each.stage) for each in added if each.is_new)


async def delete_expired(store: FixtureStore, before: datetime) -> int:
    """Delete the rows of fixtures past retention; return their number."""
    return await store.delete_expired(await store.expired(before, 0, 1000), before)
