"""Messages: what they say, what they never say, and how long they may be."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from found_footy.notifications.messages import MAX_TITLE_LENGTH, build_message, build_test_message, goal_key
from found_footy.notifications.models import (
    SUBSCRIBABLE_TOPICS,
    NotificationContext,
    NotificationFixture,
    NotificationGoal,
    OutboxMessage,
    SubscriptionFilter,
    validate_filter,
    video_id,
)

AT = datetime(2026, 8, 22, 14, 24, 3, 120_000, tzinfo=UTC)
MATCH = NotificationFixture(
    7001, AT - timedelta(minutes=24), 39, "Premier League", "England", 40, "Liverpool", 50, "Manchester City"
)
EVENT = "7001_40_306_Goal_1"
GOAL = NotificationGoal(EVENT, "Liverpool", "Mohamed Salah", "23'")
SCORED = {"team": "Liverpool", "player": "Mohamed Salah", "minute": "23'", "kind": "Normal Goal", "score": "2-1"}
PAYLOADS: dict[str, dict[str, Any]] = {
    "goal.seen": SCORED,
    "goal.stable": SCORED,
    "goal.withdrawn": {**SCORED, "reason": "the feed no longer lists it (VAR)"},
    "goal.changed": {"changed": {"player": {"from": "Núñez", "to": "Salah"}, "score": {"from": "1-1", "to": "2-1"}}},
    "goal.complete": {},
    "clip.published": {"md5": "aa", "rank": 1, "verified": True, "player": "Mohamed Salah", "team": "Liverpool"},
    "clip.replaced": {"md5": "aa", "by": "bb"},
    "clip.taken_down": {"md5": "aa", "reason": "copyright claim"},
    "clips.ranked": {"clips": [{"md5": "aa", "rank": 1}, {"md5": "bb", "rank": 2}]},
    "fixture.score": {"from": "1-1", "to": "2-1"},
    "fixture.status": {"from": "2H", "to": "PEN"},
    "fixture.completed": {"status": "PEN"},
}


def outbox_message(topic: str, payload: dict[str, Any] | None = None) -> OutboxMessage:
    event = None if topic.startswith("fixture.") else EVENT
    return OutboxMessage(17, AT, topic, 7001, event, PAYLOADS.get(topic, {}) if payload is None else payload)


def body(topic: str, payload: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    context = NotificationContext(given.pop("match", MATCH), given.pop("goal", GOAL), {"aa": True, "bb": False})
    url = given.pop("public_url", "https://footy.example/")
    return build_message(outbox_message(topic, payload), context, SubscriptionFilter(**given), "3-17", url)


@pytest.mark.parametrize(
    ("topic", "title", "text"),
    [
        ("goal.seen", "Goal? Liverpool 2–1 Manchester City",
         "23' Mohamed Salah (Liverpool), not confirmed yet · Premier League"),
        ("goal.stable", "Goal: Liverpool 2–1 Manchester City", "23' Mohamed Salah (Liverpool) · Premier League"),
        ("goal.withdrawn", "Withdrawn: goal in Liverpool – Manchester City",
         "23' Mohamed Salah (Liverpool) was withdrawn: the feed no longer lists it (VAR)"),
        ("goal.changed", "Corrected: Liverpool – Manchester City",
         "23' Mohamed Salah (Liverpool): player Núñez → Salah, score 1-1 → 2-1"),
        ("goal.complete", "Search finished: Liverpool – Manchester City",
         "23' Mohamed Salah (Liverpool) · Premier League"),
        ("clip.published", "Clip: Liverpool – Manchester City",
         "23' Mohamed Salah (Liverpool) · clock verified · Premier League"),
        ("fixture.score", "Liverpool 2–1 Manchester City", "Premier League"),
        ("fixture.status", "Full time after a shoot-out: Liverpool – Manchester City", "Premier League"),
        ("fixture.completed", "Closed: Liverpool – Manchester City", "Premier League"),
    ],
)  # fmt: skip
def test_full_texts(topic: str, title: str, text: str) -> None:
    made = body(topic, public_url=None)
    assert (made["title"], made["text"]) == (title, text)


@pytest.mark.parametrize(
    ("topic", "title"),
    [
        ("goal.seen", "Possible goal in Liverpool – Manchester City"),
        ("goal.stable", "A goal in Liverpool – Manchester City"),
        ("goal.withdrawn", "A goal in Liverpool – Manchester City was withdrawn"),
        ("clip.published", "A clip of a goal in Liverpool – Manchester City"),
        ("fixture.status", "Full time: Liverpool – Manchester City"),
    ],
)
def test_spoiler_free_titles(topic: str, title: str) -> None:
    assert body(topic, no_score=True)["title"] == title


@pytest.mark.parametrize("topic", SUBSCRIBABLE_TOPICS)
def test_spoiler_free_bodies_reveal_nothing(topic: str) -> None:
    """Neither the score nor who scored, nor a goal's own id, which holds the team's and the player's."""
    said = json.dumps(body(topic, no_score=True), ensure_ascii=False)
    for telling in (
        "2-1",
        "2–1",
        "Salah",
        "Núñez",
        "23'",
        EVENT,
        "_40_",
        "306",
        "/g/",
        "PEN",
        "shoot-out",
        "VAR",
        "side",
    ):
        assert telling not in said, telling


def test_a_webhook_body_has_all_fields() -> None:
    assert body("goal.stable") == {
        "id": "3-17",
        "position": 17,
        "topic": "goal.stable",
        "at": "2026-08-22T14:24:03.120Z",
        "title": "Goal: Liverpool 2–1 Manchester City",
        "text": f"23' Mohamed Salah (Liverpool) · Premier League\nhttps://footy.example/g/{EVENT}",
        "fixture": {
            "id": 7001,
            "kickoff": "2026-08-22T14:00:03.120Z",
            "competition": {"id": 39, "name": "Premier League", "country": "England"},
            "home": {"id": 40, "name": "Liverpool"},
            "away": {"id": 50, "name": "Manchester City"},
        },
        "goal": {"id": EVENT, "key": goal_key(EVENT), "path": f"/g/{EVENT}", **SCORED},
        "path": f"/g/{EVENT}",
        "link": f"https://footy.example/g/{EVENT}",
    }


def test_messages_link_the_clip_or_its_replacement() -> None:
    clip = video_id(EVENT, "aa")
    assert clip == hashlib.md5(f"{EVENT}/aa".encode(), usedforsecurity=False).hexdigest()[:16]
    assert body("clip.published")["clip"] == {"id": clip, "path": f"/v/{clip}", "verified": True}
    assert body("clip.published", no_score=True)["link"] == f"https://footy.example/v/{clip}"
    assert body("clip.replaced")["clip"]["id"] == video_id(EVENT, "bb")
    assert body("clip.replaced")["replaced"] == clip


def test_rankings_contain_only_verified_clips_if_selected() -> None:
    assert len(body("clips.ranked")["clips"]) == 2
    assert body("clips.ranked", verified_only=True)["clips"] == [{"id": video_id(EVENT, "aa"), "rank": 1}]


def test_spoiler_free_messages_of_a_goal_share_a_key() -> None:
    told, taken_back = body("goal.stable", no_score=True), body("goal.withdrawn", no_score=True)
    assert told["goal"] == taken_back["goal"] == {"key": goal_key(EVENT)}


def test_names_do_not_trigger_mentions() -> None:
    loud = body("goal.stable", {**SCORED, "player": "@everyone"}, match=replace(MATCH, home="@here"))
    assert "@" not in loud["title"] + loud["text"].partition("\n")[0]


@settings(deadline=None)
@given(st.text(max_size=2000), st.sampled_from(sorted(PAYLOADS)), st.booleans())
def test_any_name_keeps_a_message_short_and_plain(name: str, topic: str, hidden: bool) -> None:
    payload = {key: name if key in ("player", "team", "reason") else value for key, value in PAYLOADS[topic].items()}
    made = body(topic, payload, match=replace(MATCH, home=name, league=name), goal=None, no_score=hidden)
    assert len(made["title"]) <= MAX_TITLE_LENGTH
    assert len(made["text"]) <= 900
    said = made["title"] + made["text"].replace("\n", "")
    assert not any(ord(letter) < 32 or letter in "\u202e\u2066\u200f\u061c" for letter in said)
    assert len(json.dumps(made)) < 8000


def test_a_test_message_is_labelled() -> None:
    made = build_test_message("3-test-1", "my phone", AT)
    assert (made["topic"], made["id"]) == ("test", "3-test-1")
    assert "my phone" in made["text"]


def test_feed_health_message() -> None:
    told = {"from": "degraded", "to": "failing", "reasons": ["nothing has come for 95 s", "espn fails"]}
    body = build_message(
        OutboxMessage(9, AT, "feeds.health", None, None, told), NotificationContext(), validate_filter(), "key"
    )
    assert (body["title"], body["text"]) == ("Feeds are failing", "nothing has come for 95 s; espn fails")
    assert body["feeds"] == told
    assert "fixture" not in body


@pytest.mark.parametrize(
    ("payload", "title", "text"),
    [
        ({"state": "begun", "trigger": "stalled"}, "Feed recovery started", "stalled."),
        (
            {"state": "ended", "trigger": "stalled", "outcome": "failed"},
            "Feed recovery finished",
            "stalled. Outcome: failed.",
        ),
        (
            {"state": "healthy", "trigger": "stalled", "outcome": "success"},
            "Feeds are healthy again",
            "stalled. Outcome: success.",
        ),
    ],
)
def test_recovery_messages(payload: dict[str, str], title: str, text: str) -> None:
    body = build_message(
        OutboxMessage(9, AT, "feeds.recovery", None, None, payload), NotificationContext(), validate_filter(), "key"
    )
    assert (body["title"], body["text"]) == (title, text)


@pytest.mark.parametrize(
    ("topic", "title", "text"),
    [
        ("finding.failed", "Failed: The disk is nearly full", "Make room."),
        ("finding.degraded", "Degraded: The disk is nearly full", "Make room."),
        ("finding.ended", "Over: The disk is nearly full", "Grade: failed"),
    ],
)
def test_finding_messages(topic: str, title: str, text: str) -> None:
    payload = {"key": "disk", "grade": "failed", "what": "The disk is nearly full", "advice": "Make room."}
    body = build_message(
        OutboxMessage(9, AT, topic, None, None, payload), NotificationContext(), validate_filter(), "key"
    )
    assert (body["title"], body["text"], body["finding"]) == (title, text, payload)


@pytest.mark.parametrize(
    ("payload", "title", "text"),
    [
        (
            {"name": "source reddit", "ok": False, "answer": "HTTP 403, 9 bytes, 0.2 s", "hint": "Switch it off."},
            "source reddit is failing",
            "HTTP 403, 9 bytes, 0.2 s Switch it off.",
        ),
        ({"name": "feed espn", "ok": True, "answer": "12 matches", "hint": ""}, "feed espn works again", "12 matches"),
    ],
)
def test_service_messages_contain_the_hint(payload: dict[str, Any], title: str, text: str) -> None:
    body = build_message(
        OutboxMessage(9, AT, "service.changed", None, None, payload), NotificationContext(), validate_filter(), "key"
    )
    assert (body["title"], " ".join(body["text"].split())) == (title, text)
    assert body["service"] == payload
