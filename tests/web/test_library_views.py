"""Texts and views of the library pages."""

from __future__ import annotations

import pytest

from found_footy.library.models import ClipState, SourceState
from found_footy.library.views import Sheet
from found_footy.web.pages.library import LibraryFilter, library_filter
from found_footy.web.pages.library_views import (
    CLIP_GROUPS,
    SOURCE_GROUPS,
    SOURCE_TONES,
    advice_for,
    format_length,
    format_size,
    format_timecode,
    state_counts,
    thumbnail,
)


def test_each_state_is_in_one_group() -> None:
    assert sorted(state for group in CLIP_GROUPS for state in group.states) == sorted(ClipState)
    assert sorted(state for states in SOURCE_GROUPS.values() for state in states) == sorted(SourceState)
    assert set(SOURCE_TONES) == set(SourceState)


def test_clips_are_counted_by_group() -> None:
    found = state_counts({"pending_review": 3, "archived": 1, "cleaning": 2, "embedded": 0})
    assert [(each.name, each.number) for each in found] == [("review", 3), ("archived", 3)]


@pytest.mark.parametrize(
    ("seconds", "length", "place"),
    [
        (0, "0.0 s", "0:00.0"),
        (7.24, "7.2 s", "0:07.2"),
        (59.96, "60.0 s", "0:59.9"),
        (75, "1:15", "1:15.0"),
        (3599.6, "1:00:00", "59:59.6"),
        (7384.05, "2:03:04", "2:03:04.0"),
    ],
)
def test_durations_and_positions_are_formatted_as_in_players(seconds: float, length: str, place: str) -> None:
    assert (format_length(seconds), format_timecode(seconds)) == (length, place)


def test_sizes_switch_units_at_a_thousand() -> None:
    assert (format_size(400_000), format_size(2_340_000_000)) == ("0.4 MB", "2.3 GB")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("NotAVideo", "no video"),
        ("VisionUnavailable", "LLAMA_URL"),
        ("InternalFault", "log"),
        ("SomethingElse", "log"),
        ("annotations", "log"),
    ],
)
def test_each_failure_has_advice(kind: str, said: str) -> None:
    assert said in advice_for(kind)


SHEET = Sheet(
    clip=5, url="/c/5.webp", first=100, columns=4, rows=3, width=160, height=90, count=10, every=5
)  # fmt: skip


@pytest.mark.parametrize(
    ("frame", "left", "top"),
    [
        (100, 0, 0),
        (104, 0, 0),
        (105, 160, 0),
        (121, 0, 90),
        (149, 160, 180),
        (10_000, 160, 180),
        (0, 0, 0),
        (None, 480, 0),
    ],
)
def test_a_thumbnail_is_found_by_frame(frame: int | None, left: int, top: int) -> None:
    found = thumbnail(SHEET, frame)
    assert found is not None
    assert (found.left, found.top, found.sheet_width, found.sheet_height) == (left, top, 640, 270)


def test_without_a_sheet_there_is_no_thumbnail() -> None:
    assert thumbnail(None, 7) is None


@pytest.mark.parametrize(
    ("query", "filters", "address"),
    [
        ({}, LibraryFilter(), "/library"),
        ({"state": "failed", "q": " a\x00b "}, LibraryFilter("failed", "", "a b"), "/library?q=a+b&state=failed"),
        ({"state": "'; drop", "kind": "book"}, LibraryFilter(), "/library"),
        ({"kind": "goal"}, LibraryFilter("", "goal"), "/library?kind=goal"),
    ],
)
def test_invalid_filters_are_ignored(query: dict[str, str], filters: LibraryFilter, address: str) -> None:
    assert (library_filter(query), library_filter(query).address()) == (filters, address)
    assert filters.is_empty is (address == "/library")
