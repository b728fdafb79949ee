"""The names of a team's players, which change too seldom to be asked for at each poll."""

from __future__ import annotations

from collections.abc import Mapping

from found_footy.adapters.storage.redis import json_values as read
from found_footy.adapters.storage.redis.cache import RedisCache

ROSTER = "roster"
SECONDS = 12 * 3600
MAX_PLAYERS = 500


class RedisRosters:
    def __init__(self, cache: RedisCache) -> None:
        self._cache = cache

    async def put(self, team_id: str, names: Mapping[int, str]) -> None:
        """Instead of what was known of this team."""
        some = dict(list(names.items())[:MAX_PLAYERS])
        text = read.dump({str(player): name for player, name in some.items()})
        await self._cache.run("SET", self._cache.key(ROSTER, team_id), text, "EX", SECONDS)

    async def get(self, team_id: str) -> Mapping[int, str] | None:
        """Player to name; None where nothing is known, which is not an empty team."""
        key = self._cache.key(ROSTER, team_id)
        return read.readable(key, await self._cache.run("GET", key), _names)


def _names(fields: read.Fields) -> Mapping[int, str]:
    try:
        return {int(player): read.string(fields, player) for player in fields}
    except read.Broken:
        raise
    except ValueError as error:
        raise read.Broken("a player's id is not a number") from error
