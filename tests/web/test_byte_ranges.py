"""Parsing of byte ranges, as a table."""

from __future__ import annotations

import pytest

from found_footy.web.files import ByteRange, Unsatisfiable, if_range_matches, parse_range
from found_footy.web.response_cache import etag_matches

SIZE = 1000

SATISFIABLE = [
    ("bytes=0-0", 0, 1),
    ("bytes=0-99", 0, 100),
    ("bytes=100-", 100, 1000),
    ("bytes=999-", 999, 1000),
    ("bytes=999-999", 999, 1000),
    ("bytes=-1", 999, 1000),
    ("bytes=-100", 900, 1000),
    ("bytes=-1000", 0, 1000),
    ("bytes=-10000", 0, 1000),
    ("bytes=10-10000", 10, 1000),
    ("bytes=5-" + "9" * 100, 5, 1000),
    ("bytes=0000-0009", 0, 10),
    ("BYTES=0-9", 0, 10),
    ("bytes= 0-9", 0, 10),
    ("bytes=0-9, ", 0, 10),
]
PAST_THE_END = ["bytes=1000-", "bytes=2000-3000", "bytes=-0", "bytes=" + "9" * 150 + "-"]
IGNORED = [
    "bytes=9-0",
    "bytes=-",
    "bytes=",
    "bytes",
    "bytes=a-b",
    "bytes=0-1,5-9",
    "bytes=1-2-3",
    "bytes=--5",
    "bytes=+1-5",
    "bytes=1.5-9",
    "bytes=1 - 9",
    "bytes=٣-٩",
    "items=0-5",
    "0-5",
    "",
    "bytes=" + "0-1," * 500,
    "bytes=" + "9" * 10_000 + "-",
]


@pytest.mark.parametrize(("asked", "start", "end"), SATISFIABLE)
def test_a_single_range_selects_its_bytes(asked: str, start: int, end: int) -> None:
    assert parse_range(asked, SIZE) == ByteRange(start, end)


@pytest.mark.parametrize("asked", PAST_THE_END)
def test_a_range_past_the_end_cannot_be_satisfied(asked: str) -> None:
    with pytest.raises(Unsatisfiable):
        parse_range(asked, SIZE)


@pytest.mark.parametrize("asked", [None, *IGNORED])
def test_malformed_ranges_select_the_whole_file(asked: str | None) -> None:
    assert parse_range(asked, SIZE) is None


def test_no_range_of_an_empty_file_is_satisfiable() -> None:
    for asked in ("bytes=0-", "bytes=0-0", "bytes=-5"):
        with pytest.raises(Unsatisfiable):
            parse_range(asked, 0)
    assert parse_range(None, 0) is None


@pytest.mark.parametrize(
    ("header", "known"),
    [
        (None, False),
        ("", False),
        ("*", True),
        ('"a"', True),
        ('W/"a"', True),
        ('"b", "a"', True),
        ('"b"', False),
        ("a", False),
        ('"A"', False),
        ('"a', False),
        ('"b,"a', False),
        ('"' + "a" * 10_000, False),
    ],
)
def test_etag_matching(header: str | None, known: bool) -> None:
    assert etag_matches('"a"', header) is known


@pytest.mark.parametrize(
    ("header", "holds"),
    [(None, True), ('"a"', True), ('W/"a"', False), ('"b"', False), ("Sat, 22 Aug 2026 15:30:00 GMT", False)],
)
def test_if_range_matches_the_same_version_only(header: str | None, holds: bool) -> None:
    assert if_range_matches(header, '"a"') is holds
