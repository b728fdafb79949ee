"""One name in all its spellings, in the library's search and in that of goals, over a real database."""

from __future__ import annotations

import pytest

from found_footy.fixtures.store import FixtureStore
from found_footy.library.moments import SearchFilter, parse_query
from found_footy.library.search import LibrarySearch
from tests.library.clip_rows import GOAL, ClipRows

CASES = [
    # (as it is known, as it is asked for, whether it is found)
    *[(known, said, True) for known in ("Müller", "Mueller", "Muller") for said in ("Müller", "mueller", "muller")],
    ("Mu\u0308ller", "mueller", True),
    ("MÜLLER", "muell", True),
    ("Müller", "muel", True),
    ("Müller", "mue", True),
    ("Müller", "moller", False),
    ("Özil", "oezil", True),
    ("Oezil", "Özil", True),
    ("Ozil", "oezil", True),
    *[(known, said, True) for known in ("Ødegaard", "Oedegaard", "Odegaard", "Ødegård", "Odegard")
      for said in ("Ødegaard", "oedegaard", "odegaard", "ødegård", "odegard")],
    *[(known, said, True) for known in ("Håland", "Haaland") for said in ("Håland", "haaland", "haland", "haal")],
    *[(known, said, True) for known in ("Weiß", "Weiss") for said in ("Weiß", "weiss", "WEISS")],
    ("Weiß", "weis", True),
    ("Sævarsson", "saevarsson", True),
    ("Sævarsson", "savarsson", True),
    ("İlkay Gündoğan", "guendogan ilkay", True),
    ("Großaspach", "grossasp", True),
    ("Michael", "michał", False),
    ("Michał", "michael", False),
    ("Rafael", "rafał", False),
    ("Samuel", "samuel", True),
    ("Huber", "hue", False),
    ("Mäkelä", "maekelae", True),
    ("Bø", "boe", True),
]  # fmt: skip


@pytest.mark.parametrize(("known", "said", "is_found"), CASES)
async def test_a_name_is_found_in_each_of_its_spellings(
    store: FixtureStore, known: str, said: str, is_found: bool
) -> None:
    questions = (
        "select labelled_words('p', %(known)s) @@ search_query(%(said)s, 's', null, null, null) as it",
        "select labelled_words('p', %(known)s) @@ search_query(null, 's', null, %(said)s, null) as it",
        "select labelled_words('s', %(known)s) @@ search_query(null, 's', %(said)s, null, null) as it",
        "select library_search_vector(%(known)s, '{}')"
        " @@ library_search_query(%(said)s, '{}', null, null, null, null) as it",
        "select library_search_vector('', jsonb_build_object('player', %(known)s::text))"
        " @@ library_search_query(null, '{}', null, %(said)s, null, null) as it",
    )
    async with store.database.connection() as connection:
        for question in questions:
            row = await (await connection.execute(question, {"known": known, "said": said})).fetchone()
            assert row is not None
            assert row["it"] is is_found, question


async def test_spellings_combine_with_words_and_filters(clip_rows: ClipRows, search_store: LibrarySearch) -> None:
    (clip,) = await clip_rows.add("a film", {**GOAL, "player": "Thomas Müller", "home": "Bayern München"})
    for wanted in (
        SearchFilter(parse_query("mueller muenchen")),
        SearchFilter(player="mueller"),
        SearchFilter(parse_query("müll"), team="muenchen"),
    ):
        assert [hit.clip_id for hit in await search_store.matching(wanted, 9)] == [clip]


async def test_a_film_is_found_by_its_submitted_team(clip_rows: ClipRows, search_store: LibrarySearch) -> None:
    (clip,) = await clip_rows.add("a film", {"team": "Liverpool"})
    assert [hit.clip_id for hit in await search_store.matching(SearchFilter(team="liverpool"), 9)] == [clip]
