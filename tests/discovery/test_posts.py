"""Texts of strangers, before anybody else sees them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.discovery.models import Post
from found_footy.text import LONGEST_TEXT, clean_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Salah 67'", "Salah 67'"),
        ("  two\n\n lines\t and more ", "two lines and more"),
        ("bell\x07 escape\x1b[31m null\x00", "bell escape [31m null"),
        ("\u202eturned\u202c \u2067isolated\u2069 \u200fmark", "turned isolated mark"),
        ("no\u200bwidth\ufeff", "nowidth"),
        ("Nu\u0301n\u0303ez", "Núñez"),
        ("half a pair \ud83d", "half a pair"),
        ("⚽️ goal 🔥", "⚽️ goal 🔥"),
        ("<b>bold</b> & </script>", "<b>bold</b> & </script>"),
        ("", ""),
        ("\x00" * 10_000, ""),
        ("x" * 10_000, "x" * LONGEST_TEXT),
    ],
)
def test_a_text_is_one_line_without_marks_that_do_harm(text: str, expected: str) -> None:
    assert clean_text(text) == expected


@given(st.text(max_size=3000), st.integers(1, 600))
def test_cleaning_is_idempotent_and_bounded(text: str, longest: int) -> None:
    cleaned = clean_text(text, longest)
    assert len(cleaned) <= longest
    assert "\x00" not in cleaned
    assert "\n" not in cleaned
    cleaned.encode("utf-8")
    assert clean_text(cleaned, longest) == cleaned.strip()


def test_a_key_is_unique_over_all_sources() -> None:
    at = datetime(2026, 8, 22, tzinfo=UTC)
    posts = [Post(source, "1", "u", "m", at) for source in ("x", "reddit")]
    assert [post.key for post in posts] == ["x:1", "reddit:1"]
