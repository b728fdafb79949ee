"""One name in all its spellings, in the library's search and in that of goals, over a real database."""

from __future__ import annotations

import psycopg
import pytest
from tests.contract.library_search.shelf import GOAL, Shelf

from found_footy.adapters.storage.postgres.library_search import PostgresLibrarySearch
from found_footy.adapters.storage.postgres.migrate import migrations
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.domain.clips.searching import Wanted, asked

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

OLD_ROWS = """
insert into library_sources (kind, state, title, facts, url)
values ('url', 'new', 'Özil', '{"team": "Köln", "player": "Müller"}', 'https://films.example/1');
insert into fixtures (id, feed, stage, status, kickoff, league_id, league_name, country, home_id, home_name, away_id,
    away_name, added_at)
values (1, 'x', 'staging', 'NS', now(), 1, 'Liga', 'Österreich', 1, '1. FC Köln', 2, 'Arsenal', now()),
    (2, 'x', 'staging', 'NS', now(), 1, 'Liga', 'England', 1, 'Chelsea', 2, 'Arsenal', now());
insert into events (id, fixture_id, team_id, team_name, side, player_name, type, kind, elapsed, seq, home_before,
    away_before, home_after, away_after, first_seen, seen, missing)
values ('1_1', 1, 1, 'Köln', 'home', 'Müller', 'Goal', 'Normal Goal', 3, 1, 0, 0, 1, 0, now(), 1, 0);
"""


@pytest.mark.parametrize(("known", "said", "is_found"), CASES)
async def test_a_name_is_found_in_each_of_its_spellings(
    store: PostgresStore, known: str, said: str, is_found: bool
) -> None:
    questions = (
        "select named('p', %(known)s) @@ looking_for(%(said)s, 's', null, null, null) as it",
        "select named('p', %(known)s) @@ looking_for(null, 's', null, %(said)s, null) as it",
        "select named('s', %(known)s) @@ looking_for(null, 's', %(said)s, null, null) as it",
        "select library_words(%(known)s, '{}') @@ library_looking_for(%(said)s, '{}', null, null, null, null) as it",
        "select library_words('', jsonb_build_object('player', %(known)s::text))"
        " @@ library_looking_for(null, '{}', null, %(said)s, null, null) as it",
    )
    async with store.database.connection() as connection:
        for question in questions:
            row = await (await connection.execute(question, {"known": known, "said": said})).fetchone()
            assert row is not None
            assert row["it"] is is_found, question


async def test_the_search_finds_them_with_other_words_and_filters(
    shelf: Shelf, search_store: PostgresLibrarySearch
) -> None:
    (clip,) = await shelf.put("a film", {**GOAL, "player": "Thomas Müller", "home": "Bayern München"})
    for wanted in (Wanted(asked("mueller muenchen")), Wanted(player="mueller"), Wanted(asked("müll"), team="muenchen")):
        assert [hit.clip_id for hit in await search_store.by_words(wanted, 9)] == [clip]


async def test_a_film_is_found_by_the_team_that_an_editor_told(
    shelf: Shelf, search_store: PostgresLibrarySearch
) -> None:
    (clip,) = await shelf.put("a film", {"team": "Liverpool"})
    assert [hit.clip_id for hit in await search_store.by_words(Wanted(team="liverpool"), 9)] == [clip]


async def test_what_was_there_before_is_indexed_anew(database_url: str) -> None:
    """As far as the migration before it; then rows; then this one. All of it is taken back."""
    before = [each for each in migrations() if each.name < "0015"]
    (this,) = [each for each in migrations() if each.name.startswith("0015")]
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await connection.execute("drop schema public cascade; create schema public")
        for migration in before:
            await connection.execute(migration.sql.encode())
        await connection.execute(OLD_ROWS.encode())
        await connection.execute(this.sql.encode())
        for table, looking in (
            ("library_sources", "'oezil' & 't.koeln' & 'p.mueller' & 'muller'"),
            ("fixtures", "'t.koeln' & 'c.oesterreich'"),
            ("events", "'p.mueller' & 's.koeln' & 'c.oesterreich'"),
        ):
            cursor = await connection.execute(f"select count(*) from {table} where words @@ %s::tsquery", [looking])
            assert await cursor.fetchone() == (1,), table
        await connection.rollback()
