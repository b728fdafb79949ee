"""Tokens, roles, and whom failures are counted for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from found_footy.access.models import (
    Role,
    Token,
    client_key,
    csrf_token,
    hash_secret,
    new_token,
    parse_token,
    retry_after_seconds,
    token_id,
    token_text,
    verify_secret,
)

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
SECRET = bytes(range(32))
TEXT = f"footy_abcd1234_{SECRET.hex()}"


def a_token(**more: object) -> Token:
    return Token("abcd1234", "desk", Role.EDITOR, hash_secret(SECRET), NOW, **more)  # type: ignore[arg-type]


def test_roles_include_lower_ones() -> None:
    assert Role.READER < Role.EDITOR < Role.OPERATOR
    assert [str(role) for role in Role] == ["reader", "editor", "operator"]
    assert all(Role.named(str(role)) is role for role in Role)


def test_a_token_survives_formatting() -> None:
    assert token_text("abcd1234", SECRET) == TEXT
    assert parse_token(TEXT) == ("abcd1234", SECRET)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "footy",
        "footy__",
        TEXT[:-1],
        TEXT + "0",
        TEXT.upper(),
        f" {TEXT}",
        f"{TEXT}\n",
        TEXT.replace("abcd1234", "abcd123"),
        TEXT.replace("abcd1234", "abcd-234"),
        TEXT.replace("0", "\u0660"),  # a digit, but none of ours
        "footy_abcd1234_" + "\x00" * 64,
        "x" * 100_000,
    ],
)
def test_malformed_tokens_are_rejected(text: str) -> None:
    assert parse_token(text) is None


@pytest.mark.parametrize("random", [bytes(8), bytes([255] * 8), bytes(range(30, 60))])
def test_token_ids_match_the_token_format(random: bytes) -> None:
    assert parse_token(token_text(token_id(random), SECRET)) == (token_id(random), SECRET)


@pytest.mark.parametrize(("lasts", "ends"), [(None, None), (timedelta(days=2), NOW + timedelta(days=2))])
def test_a_stored_token_does_not_contain_its_secret(lasts: timedelta | None, ends: datetime | None) -> None:
    token, text = new_token("news desk", Role.EDITOR, NOW, bytes(8), SECRET, lasts)
    assert parse_token(text) == (token.id, SECRET)
    assert verify_secret(token, SECRET)
    assert (token.name, token.role, token.created_at, token.expires_at) == ("news desk", Role.EDITOR, NOW, ends)
    assert SECRET.hex() not in repr(token)


def test_secrets_are_verified() -> None:
    assert verify_secret(a_token(), SECRET)
    assert not verify_secret(a_token(), SECRET[::-1])


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, None),
        ({"expires_at": NOW + timedelta(seconds=1)}, None),
        ({"expires_at": NOW}, "expired"),
        ({"revoked_at": NOW - timedelta(days=1)}, "revoked"),
        ({"expires_at": NOW, "revoked_at": NOW}, "revoked"),
    ],
)
def test_ended_tokens(more: dict[str, datetime], expected: str | None) -> None:
    assert a_token(**more).end_reason(NOW) == expected


@pytest.mark.parametrize(
    ("last", "due"),
    [(None, True), (NOW - timedelta(seconds=59), False), (NOW - timedelta(seconds=60), True)],
)
def test_token_use_is_recorded_once_a_minute(last: datetime | None, due: bool) -> None:
    assert a_token(last_used_at=last).is_due_for_touch(NOW) is due


def test_csrf_tokens_differ_by_session_and_do_not_reveal_it() -> None:
    assert csrf_token(SECRET) != csrf_token(SECRET[::-1])
    assert csrf_token(SECRET) not in (SECRET.hex(), hash_secret(SECRET).hex())


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1", "2001:db8::/64"),  # the same network, so the same client
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        (None, "unknown"),
        ("", "unknown"),
        ("<script>", "unknown"),
    ],
)
def test_rate_limit_keys(address: str | None, client: str) -> None:
    assert client_key(address) == client


@pytest.mark.parametrize(("passed", "expected"), [(0, 900), (60, 840), (900, 1), (5000, 1)])
def test_retry_after_the_oldest_failure(passed: int, expected: int) -> None:
    assert retry_after_seconds(NOW - timedelta(seconds=passed), NOW) == expected
