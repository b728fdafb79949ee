"""Lets time pass for stored data, so that days of retention take seconds: every stored time moves into the past."""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from pathlib import Path

from psycopg import sql

from found_footy.storage.postgres import Database
from found_footy.storage.redis import RedisCache

# Valkey has no other clock than the lives of its keys.
SHORTEN_LIVES = """
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local left = redis.call('PTTL', key)
  if left >= 0 and left <= tonumber(ARGV[2]) then
    redis.call('DEL', key)
  elseif left > 0 then
    redis.call('PEXPIRE', key, left - tonumber(ARGV[2]))
  end
end
"""
TIMES = b"""
select c.table_name, array_agg(c.column_name::text) as columns
from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
  and c.data_type = 'timestamp with time zone'
group by 1
"""


async def age_keys(cache: RedisCache, passed: timedelta) -> None:
    await cache.run_script(SHORTEN_LIVES, [], [cache.key("*"), round(passed.total_seconds() * 1000)])


async def age_rows(database: Database, passed: timedelta) -> None:
    async with database.connection() as connection, connection.transaction():
        for row in await (await connection.execute(TIMES)).fetchall():
            changes = [
                sql.SQL("{0} = {0} - {1}").format(sql.Identifier(column), sql.Literal(passed))
                for column in row["columns"]
            ]
            update = sql.SQL("update {} set {}").format(sql.Identifier(row["table_name"]), sql.SQL(", ").join(changes))
            await connection.execute(update)


async def age_files(folder: Path, passed: timedelta) -> None:
    def age() -> None:
        for path, _, names in os.walk(folder):
            for name in names:
                file = Path(path, name)
                try:
                    stat = file.stat()
                    os.utime(file, (stat.st_atime, stat.st_mtime - passed.total_seconds()))
                except FileNotFoundError:
                    continue  # deleted meanwhile

    await asyncio.to_thread(age)
