"""Which keys are taken, and what is said about the others."""

from __future__ import annotations

import pytest

from found_footy.errors import ObjectStoreError
from found_footy.storage.objects.keys import KEY_BYTES, NAME_BYTES, check_key, check_prefix, is_key


@pytest.mark.parametrize(
    "key",
    [
        "a",
        "1380101/1380101_40_306_Goal_1/0cc175b9c0f1b6a831c399e269772661.mp4",
        "staging/a b.mp4",
        "a..b/c.",
        "北京国安/⚽.mp4",
        "ü" * (NAME_BYTES // 2),
        "/".join(["a" * 199] * 4),
        "a#b/c#1d/#",
        "%2e%2e%2fa",
    ],
)
def test_an_ordinary_key_is_accepted_unchanged(key: str) -> None:
    assert check_key(key) == key
    assert is_key(key)


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("", "empty"),
        ("/", "empty"),
        ("/etc/passwd", "empty part"),
        ("a//b", "empty part"),
        ("a/", "empty part"),
        ("..", "starts with a dot"),
        ("../a", "starts with a dot"),
        ("a/../b", "starts with a dot"),
        ("a/./b", "starts with a dot"),
        ("a/...", "starts with a dot"),
        (".metadata/00/x.json", "starts with a dot"),
        (".staging/x", "starts with a dot"),
        (".check/x", "starts with a dot"),
        ("a/.hidden", "starts with a dot"),
        ("a\\b", "backslash"),
        ("C:\\a", "backslash"),
        ("a\x00b", "control character"),
        ("a\nb", "control character"),
        ("a\x7fb", "control character"),
        ("a\x85b", "control character"),
        ("a\u2028b", "control character"),
        ("a\ud800b", "control character"),
        (" a", "space"),
        ("a /b", "space"),
        ("a/\u00a0b", "space"),
        ("a/b#1", "# and a number"),
        ("a#22/b", "# and a number"),
        ("a" * (NAME_BYTES + 1), "a part of it is longer"),
        ("ü" * (NAME_BYTES // 2 + 1), "a part of it is longer"),
        ("/".join(["a" * 99] * 9), f"longer than {KEY_BYTES}"),
    ],
)
def test_a_key_that_may_mean_something_else_is_refused(key: str, fault: str) -> None:
    with pytest.raises(ObjectStoreError, match=fault) as caught:
        check_key(key)
    assert not caught.value.retryable
    assert not is_key(key)


def test_a_long_key_is_not_quoted_in_full() -> None:
    with pytest.raises(ObjectStoreError) as caught:
        check_key("x" * 100_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("prefix", "checked"), [("", ""), ("staging/", "staging"), ("staging", "staging"), ("a/b/", "a/b")]
)
def test_a_prefix_may_end_with_a_slash_or_be_empty(prefix: str, checked: str) -> None:
    assert check_prefix(prefix) == checked


@pytest.mark.parametrize("prefix", ["/", "a//", "../", "a/../", ".metadata/"])
def test_a_prefix_that_leads_elsewhere_is_refused(prefix: str) -> None:
    with pytest.raises(ObjectStoreError):
        check_prefix(prefix)
