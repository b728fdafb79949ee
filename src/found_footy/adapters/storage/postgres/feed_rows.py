"""What the Atom feeds tell: the goals whose clips are the newest."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any, Literal

from found_footy.adapters.storage.postgres.database import Database
from found_footy.domain.announcing.feed_goal import FeedClip, FeedGoal
from found_footy.domain.errors import NotFound
from found_footy.domain.fixtures.model import Minute, Score

About = Literal["team", "competition"]


class PostgresFeeds:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def name(self, about: About, id_: int) -> str:
        found = await self._db.fetch(f"feeds.{about}", id=id_)
        if not found:
            raise NotFound(f"no match of a {about} {id_} was ever seen")
        name: str = found[0]["name"]
        return name

    async def goals(self, about: About | None, id_: int | None, limit: int) -> list[FeedGoal]:
        if about is None:
            newest = await self._db.fetch("feeds.newest", limit=limit)
        else:
            newest = await self._db.fetch(f"feeds.newest_of_{about}", id=id_, limit=limit)
        if not newest:
            return []
        return [_goal(row) for row in await self._db.fetch("feeds.goals", ids=[row["id"] for row in newest])]


def _goal(row: Mapping[str, Any]) -> FeedGoal:
    return FeedGoal(
        id=row["id"],
        fixture_id=row["fixture_id"],
        league=row["league_name"],
        home=row["home_name"],
        away=row["away_name"],
        team=row["team_name"],
        player=row["player_name"],
        minute=Minute(row["elapsed"], row["extra"], row["innings"]),
        after=Score(row["home_after"], row["away_after"]),
        published=row["published"].astimezone(UTC),
        updated=row["updated"].astimezone(UTC),
        clips=row["clips"],
        verified=row["verified"],
        best=FeedClip(row["best_id"], row["best_size"]),
        withdrawn=row["removed_reason"],
    )
