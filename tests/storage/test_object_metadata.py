"""Any text, as headers of ASCII, within S3's two kilobytes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.errors import ObjectStoreError
from found_footy.storage.objects.keys import MAX_METADATA_BYTES, fit_metadata, from_headers, to_headers, truncate_value

ACCENT = "\u0301"


def size(metadata: dict[str, str]) -> int:
    return sum(len("x-amz-meta-") + len(name) + len(value) for name, value in to_headers(metadata).items())


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("Liverpool", "Liverpool"),
        ("Bayern München", "Bayern%20M%C3%BCnchen"),
        ("Beşiktaş", "Be%C5%9Fikta%C5%9F"),
        ("北京国安", "%E5%8C%97%E4%BA%AC%E5%9B%BD%E5%AE%89"),
        ("45+2", "45+2"),
        ("https://x.com/a/1", "https://x.com/a/1"),
        ("100%", "100%25"),
        ("a\r\nb", "a%0D%0Ab"),
        ("", "%"),
    ],
)
def test_a_text_is_written_so_that_people_can_still_guess_it(text: str, header: str) -> None:
    assert to_headers({"home_team": text}) == {"home-team": header}
    assert from_headers({"home-team": header}) == {"home_team": text}


def test_http_headers_are_not_treated_as_metadata() -> None:
    assert from_headers({"Content-Type": "video/mp4", "Cache-Control": "x", "player": "M.%20Salah"}) == {
        "player": "M. Salah"
    }


@pytest.mark.parametrize("header", ["100%", "%zz", "%FF%FE", "plain ü"])
def test_metadata_of_other_programs_is_read_leniently(header: str) -> None:
    assert isinstance(from_headers({"a": header})["a"], str)


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefghijklm", 12, "abc…"),
        ("München" * 2, 22, "München" + "M…"),
        ("üüüü", 15, "ü…"),
        ("üüüü", 14, "…"),
        (f"abce{ACCENT}" + "x" * 20, 13, "abc…"),
        (f"abce{ACCENT}" + "x" * 20, 19, f"abce{ACCENT}…"),
        ("👩\u200d🚀👩\u200d🚀", 30, "👩…"),
        ("ab cdefghijklmnop", 14, "ab…"),
    ],
)
def test_a_text_is_cut_between_characters(text: str, size: int, expected: str) -> None:
    assert truncate_value(text, size) == expected


def test_short_values_leave_their_room_to_long_ones() -> None:
    kept = fit_metadata({"a": "x" * 3000, "b": "y" * 500, "c": "z"})
    assert (kept["b"], kept["c"]) == ("y" * 500, "z")
    assert kept["a"].startswith("x" * 1400)
    assert MAX_METADATA_BYTES - 20 < size(kept) <= MAX_METADATA_BYTES


def test_half_of_a_character_is_replaced() -> None:
    assert fit_metadata({"a": "x\ud83dy"}) == {"a": "x\ufffdy"}


def test_too_many_fields_are_refused() -> None:
    with pytest.raises(ObjectStoreError, match="metadata fields exceed") as caught:
        fit_metadata({f"field_{number}": "some words that are long" for number in range(100)})
    assert not caught.value.retryable


names = st.from_regex(re.compile(r"[a-z][a-z0-9_]{0,20}", re.ASCII), fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(st.dictionaries(names, texts, max_size=3))
def test_metadata_within_the_limit_survives_a_round_trip(metadata: dict[str, str]) -> None:
    headers = to_headers(fit_metadata(metadata))
    assert all(value.isascii() and value.isprintable() and value == value.strip() for value in headers.values())
    kept = from_headers(headers)
    assert kept == fit_metadata(metadata)
    if size(metadata) <= MAX_METADATA_BYTES:
        assert kept == metadata


@given(st.dictionaries(names, st.text(max_size=4000), max_size=8))
def test_oversized_metadata_is_truncated(metadata: dict[str, str]) -> None:
    kept = fit_metadata(metadata)
    assert size(kept) <= MAX_METADATA_BYTES
    assert kept.keys() == metadata.keys()
    assert from_headers(to_headers(kept)) == kept
    assert fit_metadata(kept) == kept
