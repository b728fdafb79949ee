"""Who hears of what: a table of cases."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from found_footy.notifications.fan_out import matches
from found_footy.notifications.models import (
    SUBSCRIBABLE_TOPICS,
    NotificationContext,
    NotificationFixture,
    OutboxMessage,
    Subscription,
    validate_filter,
)

AT = datetime(2026, 8, 22, 14, 24, tzinfo=UTC)
MATCH = NotificationFixture(7001, AT, 39, "Premier League", "England", 40, "Liverpool", 50, "Manchester City")
ALL = list(SUBSCRIBABLE_TOPICS)
GOAL = "7001_40_306_Goal_1"


def asked(topic: str, payload: dict[str, Any] | None = None, position: int = 10, **given: Any) -> bool:
    """Whether one who asked for everything, but for what is given, hears of it."""
    context = NotificationContext(
        match=given.pop("match", MATCH),
        verified={"sure": True, "plain": False},
        withdrawn=given.pop("withdrawn", False),
    )
    state = {name: given.pop(name) for name in ("paused", "from_position") if name in given}
    subscription = Subscription(1, validate_filter(**{"topics": ALL, **given}), **state)
    return matches(subscription, OutboxMessage(position, AT, topic, 7001, GOAL, payload or {}), context)


@pytest.mark.parametrize("topic", sorted(set(ALL) - {"goal.withdrawn"}))
def test_selected_topics_are_reported(topic: str) -> None:
    assert asked(topic)
    assert not asked(topic, topics=["fixture.active" if topic != "fixture.active" else "goal.seen"])


def test_a_withdrawal_is_not_selected_by_topic() -> None:
    assert not asked("goal.withdrawn")


@pytest.mark.parametrize(
    ("given", "heard"),
    [
        ({"teams": [40]}, True),
        ({"teams": [50]}, True),
        ({"teams": [41]}, False),
        ({"teams": [41, 50]}, True),
        ({"leagues": [39]}, True),
        ({"leagues": [140]}, False),
        ({"teams": [40], "leagues": [39]}, True),
        ({"teams": [40], "leagues": [140]}, False),  # both must fit
        ({"teams": [41], "leagues": [39]}, False),
        ({"paused": True}, False),
        ({"from_position": 9}, True),
        ({"from_position": 10}, False),
        ({"match": None}, False),  # past retention
        ({"withdrawn": True}, False),  # said of a goal that does not count any more
    ],
)
def test_filters(given: dict[str, Any], heard: bool) -> None:
    assert asked("goal.stable", **given) is heard


@pytest.mark.parametrize(
    ("topic", "payload", "heard"),
    [
        ("clip.published", {"md5": "sure", "verified": True}, True),
        ("clip.published", {"md5": "plain", "verified": False}, False),
        ("clip.published", {"md5": "plain", "verified": "yes"}, False),
        ("clip.replaced", {"md5": "old", "by": "sure"}, True),
        ("clip.replaced", {"md5": "sure", "by": "unknown"}, True),
        ("clip.replaced", {"md5": "old", "by": "plain"}, False),
        ("clips.ranked", {"clips": [{"md5": "plain"}, {"md5": "sure"}]}, True),
        ("clips.ranked", {"clips": [{"md5": "plain"}]}, False),
        ("goal.stable", {}, True),  # not about clips
        ("fixture.score", {}, True),
    ],
)
def test_only_verified_clips(topic: str, payload: dict[str, Any], heard: bool) -> None:
    assert asked(topic, payload, verified_only=True) is heard
    assert asked(topic, payload)


@pytest.mark.parametrize(
    ("topic", "payload", "heard"),
    [
        ("fixture.score", {"to": "1-0"}, False),
        ("goal.changed", {}, False),
        ("fixture.status", {"to": "HT"}, True),
        ("fixture.status", {"to": "FT"}, True),
        ("fixture.status", {"to": "PEN"}, True),  # told as a plain end
        ("fixture.status", {"to": "ET"}, False),
        ("fixture.status", {"to": "P"}, False),
        ("goal.stable", {}, True),
        ("clip.published", {"verified": True}, True),
    ],
)
def test_hidden_scores(topic: str, payload: dict[str, Any], heard: bool) -> None:
    assert asked(topic, payload, no_score=True) is heard


@pytest.mark.parametrize(
    "topic", ["feeds.health", "feeds.recovery", "service.changed", "finding.failed", "finding.ended"]
)
@pytest.mark.parametrize(
    ("given", "heard"),
    [
        ({}, True),
        ({"teams": [40]}, False),
        ({"leagues": [39]}, False),
        ({"paused": True}, False),
        ({"topics": ["goal.seen"]}, False),
    ],
)
def test_operator_topics_are_reported_to_unfiltered_subscriptions(
    topic: str, given: dict[str, Any], heard: bool
) -> None:
    assert asked(topic, match=None, **given) is heard
