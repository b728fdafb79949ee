"""PostgreSQL store of tokens, sessions and failed login attempts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from found_footy.access.models import FAILURE_WINDOW, TOUCH_INTERVAL, Role, Token
from found_footy.errors import NotFound
from found_footy.storage.postgres import Database, load_queries

SQL = load_queries(__package__, "store")


class TokenStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def add_token(self, token: Token) -> None:
        await self._db.fetch(
            SQL["add_token"],
            id=token.id,
            called=token.name,
            role=str(token.role),
            hash=token.hash,
            created_at=token.created_at,
            expires_at=token.expires_at,
        )

    async def tokens(self) -> list[Token]:
        return [_token(row) for row in await self._db.fetch(SQL["tokens"])]

    async def token(self, id_: str) -> Token | None:
        found = await self._db.fetch(SQL["token"], id=id_)
        return _token(found[0]) if found else None

    async def token_of_session(self, hash_: bytes, now: datetime) -> Token | None:
        found = await self._db.fetch(SQL["token_of_session"], hash=hash_, now=now)
        return _token(found[0]) if found else None

    async def revoke(self, id_: str, now: datetime) -> Token:
        found = await self._db.fetch(SQL["revoke"], id=id_, now=now)
        if not found:
            raise NotFound(f"token {id_[:40]} not found")
        return _token(found[0])

    async def touch(self, id_: str, now: datetime) -> None:
        await self._db.fetch(SQL["touch"], id=id_, now=now, before=now - TOUCH_INTERVAL)

    async def add_session(self, hash_: bytes, token_id: str, now: datetime, expires_at: datetime) -> None:
        await self._db.fetch(SQL["add_session"], hash=hash_, token_id=token_id, now=now, expires_at=expires_at)

    async def end_session(self, hash_: bytes) -> None:
        await self._db.fetch(SQL["end_session"], hash=hash_)

    async def note_failure(self, client: str, now: datetime, limit: int) -> tuple[int, datetime]:
        """Record a failed login; return the number of recent ones, and the time of the oldest."""
        (row,) = await self._db.fetch(
            SQL["note_failure"], client=client, now=now, since=now - FAILURE_WINDOW, most=limit
        )
        return row["number"], row["oldest"]


def _token(row: dict[str, Any]) -> Token:
    return Token(**{**row, "role": Role.named(row["role"]), "hash": bytes(row["hash"])})
