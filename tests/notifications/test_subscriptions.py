"""What a subscription may ask for, and what is shown of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from found_footy.errors import BadRequest
from found_footy.notifications.models import (
    SendResult,
    SubscriptionFilter,
    mask_target,
    outcome_of_status,
    validate_filter,
    validate_name,
    validate_target,
)
from found_footy.notifications.webhook import new_secret, sign


def test_default_topics() -> None:
    assert validate_filter() == SubscriptionFilter(
        topics=frozenset({"goal.stable", "goal.withdrawn", "clip.published"})
    )


def test_wildcards_exclude_stream_only_topics() -> None:
    topics = validate_filter(topics=["goal.*"]).topics
    assert topics == {"goal.seen", "goal.stable", "goal.changed", "goal.withdrawn", "goal.complete"}


@pytest.mark.parametrize(
    "given",
    [
        {"topics": []},
        {"topics": ["goal.progress"]},
        {"topics": ["goal"]},
        {"topics": ["*"]},
        {"teams": range(1, 102)},
        {"teams": [0]},
        {"leagues": [-1]},
        {"leagues": [2**63]},
        {"delay_seconds": -1},
        {"delay_seconds": 6 * 3600 + 1},
        {"delay_seconds": float("nan")},
    ],
)
def test_bounds(given: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        validate_filter(**given)


def test_the_maximum_delay_is_accepted() -> None:
    assert validate_filter(delay_seconds=6 * 3600).delay == timedelta(hours=6)


@pytest.mark.parametrize("name", ["", "  ", "\u202e", "\x00", "x" * 101])
def test_a_name_must_not_be_empty(name: str) -> None:
    with pytest.raises(BadRequest):
        validate_name(name)


def test_a_name_is_cleaned() -> None:
    assert validate_name(" my \u202ephone\n") == "my phone"


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("webhook", "ftp://hooks.example/"),
        ("webhook", "https://user:word@hooks.example/"),
        ("webhook", "https://"),
        ("webhook", "javascript:alert(1)"),
        ("webhook", "https://hooks.example/" + "x" * 2048),
        ("webhook", "https://hooks.example/a b"),
        ("webhook", "https://hooks.example/\n"),
        ("webhook", "https://hooks.example/ü"),
        ("notify", "ntfy"),
        ("notify", "://x"),
        ("notify", ""),
        ("carrier pigeon", "https://hooks.example/"),
    ],
)
def test_malformed_targets_are_rejected(kind: str, target: str) -> None:
    with pytest.raises(BadRequest):
        validate_target(kind, target)


@pytest.mark.parametrize(
    ("kind", "target", "shown"),
    [
        ("webhook", "https://hooks.example/in?key=secret", "https://hooks.example/…"),
        ("webhook", "http://127.0.0.1:8080/secret", "http://127.0.0.1/…"),
        ("notify", "https://discord.com/api/webhooks/1/secret", "https://discord.com/…"),
        ("notify", "ntfy://user:secret@host/topic", "ntfy://…"),
        ("notify", "tgram://secret/123", "tgram://…"),
    ],
)
def test_masked_targets(kind: str, target: str, shown: str) -> None:
    assert mask_target(kind, target) == shown


def test_a_signature_depends_on_key_time_and_body() -> None:
    signed = sign("secret", 1_787_000_000, b"{}")
    assert signed.startswith("t=1787000000,v1=")
    others = [sign("other", 1_787_000_000, b"{}"), sign("secret", 1_787_000_001, b"{}")]
    assert len({signed, *others, sign("secret", 1_787_000_000, b"{ }")}) == 4
    assert len(new_secret()) > 40


@pytest.mark.parametrize(
    ("status", "result"),
    [
        (201, SendResult.DELIVERED),
        (302, SendResult.REFUSED),
        (418, SendResult.REFUSED),
        (410, SendResult.ENDPOINT_GONE),
        (599, SendResult.RETRY),
    ],
)
def test_outcome_of_http_status(status: int, result: SendResult) -> None:
    assert outcome_of_status(status).result is result
