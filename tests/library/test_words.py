"""Clips by words and filters, over a real database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from found_footy.library.models import ClipState
from found_footy.library.moments import SearchFilter, parse_query
from found_footy.library.search import LibrarySearch
from tests.library.clip_rows import GOAL, ClipRows

NUNEZ = {
    **GOAL,
    "player": "Darwin Núñez",
    "minute": "90'",
    "kind": "Penalty",
    "verified": False,
    "kickoff": "2026-08-29T14:00:00+00:00",
}
MUELLER = {
    **GOAL,
    "player": "Thomas Müller",
    "home": "Hannover 96",
    "away": "Bayern München",
    "team": "Bayern München",
    "competition": "Bundesliga",
    "kind": "Own Goal",
    "minute": "3'",
    "kickoff": "2026-08-30T14:00:00+00:00",
}
FILM = {"note": "from an editor"}


@pytest.fixture
async def clip_names(clip_rows: ClipRows) -> dict[int, str]:
    """Which clip is whose."""
    named = {"salah": GOAL, "nunez": NUNEZ, "mueller": MUELLER, "film": FILM}
    titles = {"film": "Fans sing in the rain"}
    return {(await clip_rows.add(titles.get(name, f"{name} scores"), facts))[0]: name for name, facts in named.items()}


async def found(store: LibrarySearch, clip_names: dict[int, str], wanted: SearchFilter) -> list[str]:
    return [clip_names[hit.clip_id] for hit in await store.matching(wanted, 100)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("salah", ["salah"]),
        ("SAL liv", ["salah"]),
        ("nunez", ["nunez"]),
        ("Núñ", ["nunez"]),
        ("mull bay", ["mueller"]),
        ("premier", ["nunez", "salah"]),
        ("city liverpool", ["nunez", "salah"]),
        ("90+3", ["salah"]),
        ("90", ["nunez", "salah"]),
        ("90+4", []),
        ("3'", ["mueller"]),
        ("hannover 96", ["mueller"]),
        ("penalty", ["nunez"]),
        ("own goal", ["mueller"]),
        ("goal", ["mueller", "salah"]),
        ("rain", ["film"]),
        ("salah penalty", []),
        ("alah", []),
        ("'; drop table library_clips; --", []),
        ("a:* & !b | (", []),
    ],
)
async def test_words_match_the_facts_of_a_clip(
    search_store: LibrarySearch, clip_names: dict[int, str], line: str, expected: list[str]
) -> None:
    assert await found(search_store, clip_names, SearchFilter(parse_query(line))) == expected


def day(number: int) -> datetime:
    return datetime(2026, 8, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"competition": "bundes"}, ["mueller"]),
        ({"competition": "liverpool"}, []),
        ({"team": "liverpool"}, ["nunez", "salah"]),
        ({"player": "salah"}, ["salah"]),
        ({"kind": "penalty"}, ["nunez"]),
        ({"kind": "own goal"}, ["mueller"]),
        ({"verified": True}, ["mueller", "salah"]),
        ({"sport": "cricket"}, []),
        ({"since": day(29), "until": day(30)}, ["nunez"]),
        ({"team": "liverpool", "verified": True, "until": day(29)}, ["salah"]),
        ({"place": "review"}, []),
    ],
)
async def test_filters(
    search_store: LibrarySearch, clip_names: dict[int, str], filters: dict[str, Any], expected: list[str]
) -> None:
    assert await found(search_store, clip_names, SearchFilter(**filters)) == expected


async def test_a_film_without_facts_is_not_verified(search_store: LibrarySearch, clip_names: dict[int, str]) -> None:
    assert set(await found(search_store, clip_names, SearchFilter(verified=False))) <= {"nunez", "film"}


async def test_results_are_sorted_by_time_and_frame(clip_rows: ClipRows, search_store: LibrarySearch) -> None:
    old = await clip_rows.add(states=("embedded", "pending_review", "review_skipped"))
    new = await clip_rows.add(facts=NUNEZ)
    assert [hit.clip_id for hit in await search_store.matching(SearchFilter(), 100)] == [*new, *old]
    assert len(await search_store.matching(SearchFilter(), 2)) == 2


async def test_clips_of_all_but_archived_states_are_found(clip_rows: ClipRows, search_store: LibrarySearch) -> None:
    states = [str(state) for state in ClipState]
    clips = dict(zip(await clip_rows.add(states=states), states, strict=True))
    found = {clips[hit.clip_id] for hit in await search_store.matching(SearchFilter(), 100)}
    assert set(states) - found == {"review_archived", "cleaning", "cleaning_failed", "archived"}


@pytest.mark.parametrize(
    "facts",
    [
        {"kickoff": "2026-99-99T14:00:00+00:00", "minute": "999999", "player": None},
        {"kickoff": "yesterday", "minute": "", "player": 7},
        {"kickoff": ["2026"], "minute": {"a": 1}, "title": "x" * 5000},
        {"kickoff": "2026-08-22T14:00:00", "player": "\u202e" + "y" * 10_000},
    ],
)
async def test_facts_of_any_shape_can_be_kept_and_found(
    clip_rows: ClipRows, search_store: LibrarySearch, facts: dict[str, Any]
) -> None:
    clips = await clip_rows.add("odd film", facts)
    assert [hit.clip_id for hit in await search_store.matching(SearchFilter(parse_query("odd")), 9)] == clips
