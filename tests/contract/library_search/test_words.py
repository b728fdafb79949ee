"""Clips by words and filters, over a real database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.contract.library_search.shelf import GOAL, Shelf

from found_footy.adapters.storage.postgres.library_search import PostgresLibrarySearch
from found_footy.domain.clips.searching import Wanted, asked
from found_footy.domain.clips.states import ClipState

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
async def shelved(shelf: Shelf) -> dict[int, str]:
    """Which clip is whose."""
    named = {"salah": GOAL, "nunez": NUNEZ, "mueller": MUELLER, "film": FILM}
    titles = {"film": "Fans sing in the rain"}
    return {(await shelf.put(titles.get(name, f"{name} scores"), facts))[0]: name for name, facts in named.items()}


async def found(store: PostgresLibrarySearch, shelved: dict[int, str], wanted: Wanted) -> list[str]:
    return [shelved[hit.clip_id] for hit in await store.by_words(wanted, 100)]


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
async def test_words_find_what_is_known_of_a_clip(
    search_store: PostgresLibrarySearch, shelved: dict[int, str], line: str, expected: list[str]
) -> None:
    assert await found(search_store, shelved, Wanted(asked(line))) == expected


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
async def test_filters_narrow_what_is_found(
    search_store: PostgresLibrarySearch, shelved: dict[int, str], filters: dict[str, Any], expected: list[str]
) -> None:
    assert await found(search_store, shelved, Wanted(**filters)) == expected


async def test_a_film_without_facts_is_not_verified(
    search_store: PostgresLibrarySearch, shelved: dict[int, str]
) -> None:
    assert set(await found(search_store, shelved, Wanted(verified=False))) <= {"nunez", "film"}


async def test_the_newest_comes_first_and_clips_of_a_film_in_their_order(
    shelf: Shelf, search_store: PostgresLibrarySearch
) -> None:
    old = await shelf.put(states=("embedded", "pending_review", "review_skipped"))
    new = await shelf.put(facts=NUNEZ)
    assert [hit.clip_id for hit in await search_store.by_words(Wanted(), 100)] == [*new, *old]
    assert len(await search_store.by_words(Wanted(), 2)) == 2


async def test_every_state_is_found_but_those_of_what_was_thrown_away(
    shelf: Shelf, search_store: PostgresLibrarySearch
) -> None:
    states = [str(state) for state in ClipState]
    clips = dict(zip(await shelf.put(states=states), states, strict=True))
    found = {clips[hit.clip_id] for hit in await search_store.by_words(Wanted(), 100)}
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
    shelf: Shelf, search_store: PostgresLibrarySearch, facts: dict[str, Any]
) -> None:
    clips = await shelf.put("odd film", facts)
    assert [hit.clip_id for hit in await search_store.by_words(Wanted(asked("odd")), 9)] == clips
