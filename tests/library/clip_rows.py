"""A library of rows alone: sources with facts, clips that tile them, and vectors that a test chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from found_footy.storage.postgres import Database

FRAMES = 100
"""Of each clip."""

GOAL: Mapping[str, Any] = {
    "sport": "football",
    "competition": "Premier League",
    "home": "Liverpool",
    "away": "Manchester City",
    "team": "Liverpool",
    "player": "Mohamed Salah",
    "minute": "90+3'",
    "kind": "Normal Goal",
    "kickoff": "2026-08-22T14:00:00+00:00",
    "verified": True,
}


@dataclass(frozen=True)
class ClipRows:
    database: Database

    async def add(
        self, title: str = "a film", facts: Mapping[str, Any] = GOAL, states: Sequence[str] = ("embedded",)
    ) -> list[int]:
        """A source with a clip in each of these states; the clips' numbers."""
        async with self.database.connection() as connection:
            cursor = await connection.execute(
                "insert into library_sources (kind, state, title, facts, upload_key, frames, rate_num, rate_den, width,"
                " height, audio, file_size, file_md5) values ('file', 'spliced', %s, %s, 'x', %s, 25, 1, 1280, 720,"
                " false, 1000, md5(random()::text)) returning id",
                (title, Jsonb(dict(facts)), FRAMES * len(states)),
            )
            source = (await cursor.fetchall())[0]["id"]
            made = []
            for place, state in enumerate(states):
                cursor = await connection.execute(
                    "insert into library_clips (source_id, first_frame, end_frame, state) values (%s, %s, %s, %s)"
                    " returning id",
                    (source, place * FRAMES, (place + 1) * FRAMES, state),
                )
                made.append((await cursor.fetchall())[0]["id"])
        return made

    async def pair(self, one: int, other: int) -> None:
        await self._run("insert into library_duplicates values (%s, %s)", min(one, other), max(one, other))

    async def say(self, one: int, other: int, same: bool) -> None:
        await self._run(
            "insert into library_verdicts values (%s, %s, %s, 'Anna', now())", min(one, other), max(one, other), same
        )

    async def _run(self, statement: Any, *params: Any) -> None:
        async with self.database.connection() as connection:
            await connection.execute(statement, params)


def pointing(*parts: float, dimensions: int = 576) -> NDArray[np.float32]:
    """A vector of length one whose first numbers are in this proportion."""
    vector = np.zeros(dimensions, dtype=np.float32)
    vector[: len(parts)] = parts
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
