"""Rows of subscriptions and deliveries as the domain knows them, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from found_footy.domain.announcing.context import Context, Goal, Match
from found_footy.domain.announcing.dealing import NewDelivery
from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.announcing.subscription import Filters, Subscription, masked
from found_footy.domain.announcing.withdrawal import Delivery, State
from found_footy.domain.fixtures.model import Minute
from found_footy.ports_announcing import DeliveryRecord, SubscriptionRecord

Row = Mapping[str, Any]


def filters_of(row: Row) -> Filters:
    return Filters(
        topics=frozenset(row["topics"]),
        teams=frozenset(row["teams"]),
        leagues=frozenset(row["leagues"]),
        verified_only=row["verified_only"],
        delay=timedelta(seconds=row["delay_seconds"]),
        no_score=row["no_score"],
    )


def filters_row(filters: Filters) -> dict[str, Any]:
    return {
        "topics": sorted(filters.topics),
        "teams": sorted(filters.teams),
        "leagues": sorted(filters.leagues),
        "verified_only": filters.verified_only,
        "delay_seconds": filters.delay.total_seconds(),
        "no_score": filters.no_score,
    }


def subscription_of(row: Row) -> Subscription:
    return Subscription(row["id"], filters_of(row), row["from_position"], row["paused"])


def record_of(row: Row) -> SubscriptionRecord:
    return SubscriptionRecord(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        target=masked(row["kind"], row["target"]),
        filters=filters_of(row),
        created_at=row["created_at"],
        paused_at=row["paused_at"],
        paused_reason=row["paused_reason"],
        waiting=row["waiting"],
        dead=row["dead"],
        delivered_at=row["delivered_at"],
        failure=row["failure"],
    )


def delivery_of(row: Row) -> DeliveryRecord:
    return DeliveryRecord(**row)


def delivery_row(new: NewDelivery) -> dict[str, Any]:
    return {
        "subscription_id": new.subscription_id,
        "position": new.news.position,
        "topic": new.news.topic,
        "fixture_id": new.news.fixture_id,
        "event_id": new.news.event_id,
        "body": json_of(new.body),
        "due_at": new.due_at.isoformat(),
        "state": new.state,
    }


def json_of(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def standing_of(found: Sequence[Row]) -> dict[tuple[int, str], list[Delivery]]:
    standing: dict[tuple[int, str], list[Delivery]] = {}
    for row in found:
        delivery = Delivery(row["position"], State(row["state"]), row["due_at"], row["maybe_told"])
        standing.setdefault((row["subscription_id"], row["event_id"]), []).append(delivery)
    return standing


def contexts_of(
    news: Sequence[NewsItem],
    matches: Sequence[Row],
    goals: Sequence[Row],
    clips: Sequence[Row],
    withdrawn: Sequence[Row],
) -> dict[int, Context]:
    match_by_id = {row["id"]: Match(**row) for row in matches}
    goal_by_id = {row["id"]: _goal(row) for row in goals}
    verified: dict[str, dict[str, bool]] = {}
    for row in clips:
        verified.setdefault(row["event_id"], {})[row["md5"]] = row["verified"]
    gone = {row["event_id"]: row["position"] for row in withdrawn}
    return {
        item.position: Context(
            match=match_by_id.get(item.fixture_id or 0),
            goal=goal_by_id.get(item.event_id or ""),
            verified=verified.get(item.event_id or "", {}),
            withdrawn=gone.get(item.event_id, item.position) < item.position,
        )
        for item in news
    }


def _goal(row: Row) -> Goal:
    return Goal(row["id"], row["team"], row["player"], str(Minute(row["elapsed"], row["extra"])))
