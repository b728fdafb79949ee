"""How sources come into the library: kept videos of goals, and what editors submit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.adapters.storage.postgres import library_rows as rows
from found_footy.adapters.storage.postgres.database import Connection, fetch
from found_footy.adapters.storage.postgres.library_news import source_news
from found_footy.adapters.storage.postgres.library_part import LibraryPart
from found_footy.adapters.storage.postgres.news import announce
from found_footy.domain.clips.states import SourceState
from found_footy.domain.fixtures.model import Minute, Sport
from found_footy.ports_library import Submission

LONGEST_TITLE = 300


class LibraryIntake(LibraryPart):
    async def take_in(self, now: datetime, most: int) -> int:
        async with self._db.connection() as connection:
            # Somebody else may be at it, too: each video becomes one source.
            added = await _written(connection, "library.to_take_in", "library.add_goals", now, most)
            await _written(connection, "library.to_correct", "library.correct_goals", now, most)
        return added

    async def submit(self, what: Submission, now: datetime) -> int:
        given = {
            "kind": what.kind,
            "title": rows.storable(what.title)[:LONGEST_TITLE],
            "facts": Jsonb(rows.storable(what.facts)),
            "url": what.url,
            "upload_key": what.upload_key,
            "by": rows.storable(what.by)[:LONGEST_TITLE],
            "now": now,
        }
        async with self._db.connection() as connection:
            source_id: int = (await fetch(connection, "library.submit", given))[0]["id"]
            await announce(connection, [source_news(source_id, SourceState.NEW)])
        return source_id


async def _written(connection: Connection, find: str, write: str, now: datetime, most: int) -> int:
    found = await fetch(connection, find, {"most": most})
    if not found:
        return 0
    rows = [
        {
            "event_id": row["event_id"],
            "video_md5": row["md5"],
            "title": title_of(row),
            "facts": facts_of(row),
            "said": row["said"],
        }
        for row in found
    ]
    done = await fetch(connection, write, {"rows": Jsonb(rows), "now": now})
    await announce(connection, [source_news(row["id"], SourceState(row["state"])) for row in done])
    return len(done)


def facts_of(row: Mapping[str, Any]) -> dict[str, Any]:
    facts = {
        "event_id": row["event_id"],
        "fixture_id": row["fixture_id"],
        "sport": row["sport"],
        "competition": row["league_name"],
        "home": row["home_name"],
        "away": row["away_name"],
        "team": row["team_name"],
        "player": row["player_name"],
        "assist": row["assist_name"],
        "minute": _minute(row),
        "kind": row["kind"],
        "score": _score(row),
        "kickoff": row["kickoff"].isoformat(),
        "verified": row["verified"],
    }
    return {**facts, "withdrawn": True} if row["withdrawn"] else facts


def title_of(row: Mapping[str, Any]) -> str:
    """`Mohamed Salah 12' · Liverpool 1–0 Manchester City`."""
    who = row["player_name"] or row["team_name"]
    title = f"{who} {_minute(row)} · {row['home_name']} {_score(row) or '–'} {row['away_name']}"
    return f"Withdrawn: {title}"[:LONGEST_TITLE] if row["withdrawn"] else title[:LONGEST_TITLE]


def _minute(row: Mapping[str, Any]) -> str:
    return str(Minute(row["elapsed"], row["extra"], row["innings"]))


def _score(row: Mapping[str, Any]) -> str | None:
    """In cricket the events count wickets, which nobody calls the score."""
    return f"{row['home_after']}–{row['away_after']}" if row["sport"] == Sport.FOOTBALL else None
