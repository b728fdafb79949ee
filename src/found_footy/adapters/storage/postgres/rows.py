"""Values to rows and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from found_footy.domain.feeds.quota import Quota
from found_footy.domain.fixtures.comparison import EventDecision, Poll
from found_footy.domain.fixtures.model import (
    KnownEvent,
    LastEvent,
    LiveFixture,
    Minute,
    Person,
    Score,
    Side,
    Team,
    kind_of,
)
from found_footy.domain.fixtures.polling import FixtureOutcome, FixtureState, News

Row = dict[str, Any]


def live_row(live: LiveFixture, stage: str) -> Row:
    return {
        "id": live.id,
        "feed": live.feed,
        "stage": stage,
        "status": live.status,
        "elapsed": live.minute.elapsed if live.minute else None,
        "extra": live.minute.extra if live.minute else None,
        "kickoff": live.kickoff.isoformat(),
        "league_id": live.league.id,
        "league_name": live.league.name,
        "country": live.league.country,
        "season": live.league.season,
        "round": live.league.round,
        "home_id": live.home.id,
        "home_name": live.home.name,
        "away_id": live.away.id,
        "away_name": live.away.name,
        "home_goals": live.score.home if live.score else None,
        "away_goals": live.score.away if live.score else None,
        "home_penalties": live.penalties.home if live.penalties else None,
        "away_penalties": live.penalties.away if live.penalties else None,
        "sport": live.sport,
        "home_short": live.home.short,
        "away_short": live.away.short,
        "venue": live.venue,
        "innings": [asdict(innings) for innings in live.innings],
        "toss": asdict(live.toss) if live.toss else None,
        "last_event": _last_event(live.last_event) if live.last_event else None,
        "details": dict(live.metadata),
    }


def _last_event(event: LastEvent) -> Row:
    return {"type": event.type, "description": event.description, "at": _iso(event.at)}


def polled_row(outcome: FixtureOutcome) -> Row:
    return live_row(outcome.live, outcome.stage) | {
        "poll_id": outcome.poll.id,
        "poll_at": outcome.poll.at.isoformat(),
        "over_since": _iso(outcome.over_since),
        "over_polls": outcome.over_polls,
    }


def snapshot_row(outcome: FixtureOutcome) -> Row:
    return {
        "id": outcome.live.id,
        "poll_id": outcome.poll.id,
        "poll_at": outcome.poll.at.isoformat(),
        "raw": outcome.live.raw,
    }


def event_row(event: KnownEvent) -> Row:
    return {
        "id": event.id,
        "fixture_id": event.fixture_id,
        "team_id": event.team.id,
        "team_name": event.team.name,
        "side": event.side,
        "player_id": event.player.id,
        "player_name": event.player.name,
        "assist_id": event.assist.id,
        "assist_name": event.assist.name,
        "type": event.type,
        "kind": event.kind,
        "elapsed": event.minute.elapsed,
        "extra": event.minute.extra,
        "innings": event.minute.innings,
        "feeds": list(event.feeds),
        "seq": event.seq,
        "home_before": event.before.home,
        "away_before": event.before.away,
        "home_after": event.after.home,
        "away_after": event.after.away,
        "first_seen": event.first_seen.isoformat(),
        "seen": event.seen,
        "missing": event.missing,
        "stable_at": _iso(event.stable_at),
        "removed_at": _iso(event.removed_at),
        "removed_reason": event.removed_reason,
    }


def attribution_row(decision: EventDecision, poll: Poll) -> Row:
    return {
        "event_id": decision.event.id,
        "poll_id": poll.id,
        "at": poll.at.isoformat(),
        "changed": {name: {"from": old, "to": new} for name, (old, new) in decision.changed.items()},
    }


def workflow_row(event_id: str, kind: str, workflow_id: str, at: datetime) -> Row:
    return {"event_id": event_id, "kind": kind, "workflow_id": workflow_id, "at": at.isoformat()}


def news_row(news: News) -> Row:
    return {
        "topic": news.topic,
        "fixture_id": news.fixture_id,
        "event_id": news.event_id,
        "payload": news.payload,
    }


def event_of(row: Mapping[str, Any]) -> KnownEvent:
    return KnownEvent(
        id=row["id"],
        fixture_id=row["fixture_id"],
        team=Team(row["team_id"], row["team_name"]),
        side=Side(row["side"]),
        player=Person(row["player_id"], row["player_name"]),
        assist=Person(row["assist_id"], row["assist_name"]),
        type=row["type"],
        kind=kind_of(row["type"], row["kind"]),
        minute=Minute(row["elapsed"], row["extra"], row["innings"]),
        seq=row["seq"],
        before=Score(row["home_before"], row["away_before"]),
        after=Score(row["home_after"], row["away_after"]),
        first_seen=row["first_seen"],
        seen=row["seen"],
        missing=row["missing"],
        stable_at=row["stable_at"],
        removed_at=row["removed_at"],
        removed_reason=row["removed_reason"],
        monitor_complete=row["monitor_complete"],
        download_complete=row["download_complete"],
        feeds=tuple(row["feeds"]),
    )


def state_of(row: Mapping[str, Any], events: tuple[KnownEvent, ...]) -> FixtureState:
    scored = row["home_goals"] is not None and row["away_goals"] is not None
    return FixtureState(
        id=row["id"],
        status=row["status"],
        score=Score(row["home_goals"], row["away_goals"]) if scored else None,
        kickoff=row["kickoff"],
        minute=Minute(row["elapsed"], row["extra"]) if row["elapsed"] is not None else None,
        last_poll=Poll(row["last_poll_id"], row["last_poll_at"]) if row["last_poll_id"] else None,
        over_since=row["over_since"],
        over_polls=row["over_polls"],
        events=events,
    )


def quota_row(quota: Quota) -> Row:
    return {
        "read_at": quota.read_at.isoformat(),
        "day_limit": quota.day_limit,
        "day_remaining": quota.day_remaining,
        "minute_limit": quota.minute_limit,
        "minute_remaining": quota.minute_remaining,
    }


def quota_of(row: Row) -> Quota:
    return Quota(**(row | {"read_at": datetime.fromisoformat(row["read_at"])}))


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
