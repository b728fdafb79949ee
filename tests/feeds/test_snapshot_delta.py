"""What has changed between two snapshots."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.feeds.models import CachedSnapshot
from found_footy.feeds.snapshot import canonical_json, checksum, snapshot_delta

NOW = datetime(2026, 3, 7, 15, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def snapshot(payload: dict[str, Any], sequence: int = 1) -> CachedSnapshot:
    return CachedSnapshot("espn_401", "espn", payload, NOW, sequence, checksum(payload))


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({"status": "1H"}, {"status": "1H"}, {}),
        ({"status": "1H"}, {"status": "HT"}, {"status": "HT"}),
        ({"score": {"home": 0}}, {"score": {"home": 1}}, {"score": {"home": 1}}),
        ({"toss": None}, {"toss": "bat"}, {"toss": "bat"}),
        ({}, {"venue": None}, {"venue": None}),  # new, and the feed says that it has none
        ({"toss": "bat"}, {}, {"toss": None}),  # gone
        ({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}, {"b": 3, "c": 4}),
    ],
)
def test_the_delta_contains_only_differences(
    before: dict[str, Any], after: dict[str, Any], changed: dict[str, Any]
) -> None:
    assert snapshot_delta(snapshot(before, 4), snapshot(after, 5)) == {
        **changed,
        "_diff_type": "update",
        "_sequence_delta": 1,
    }


def test_the_first_delta_is_the_whole_snapshot() -> None:
    assert snapshot_delta(None, snapshot({"status": "1H"})) == {"status": "1H", "_diff_type": "initial"}


def test_missed_snapshots_show_in_the_sequence() -> None:
    assert snapshot_delta(snapshot({}, 3), snapshot({}, 7))["_sequence_delta"] == 4


@given(st.dictionaries(st.text(), JSON, max_size=4), st.dictionaries(st.text(), JSON, max_size=4))
def test_applying_the_delta_yields_the_new_snapshot(before: dict[str, Any], after: dict[str, Any]) -> None:
    changes = snapshot_delta(snapshot(before), snapshot(after))
    laid = {key: value for key, value in {**before, **changes}.items() if not key.startswith("_")}
    assert {k: v for k, v in laid.items() if v is not None} == {
        k: v for k, v in after.items() if v is not None and not k.startswith("_")
    }


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_the_order_of_keys_does_not_change_the_checksum(payload: dict[str, Any]) -> None:
    assert checksum(payload) == checksum(dict(reversed(payload.items())))


def test_the_checksum_is_the_sha_256_of_the_canonical_text() -> None:
    assert canonical_json({"b": "ü", "a": [1, None]}) == '{"a":[1,null],"b":"\\u00fc"}'
    assert len(checksum({"name": "\ud800"})) == 64, "half of a character breaks nothing"


def test_a_number_that_json_cannot_represent_is_rejected() -> None:
    with pytest.raises(ValueError, match="JSON"):
        checksum({"runs": float("nan")})
