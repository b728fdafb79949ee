"""PostgreSQL stores of live check results and unexpected responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from found_footy.config import Settings
from found_footy.errors import FootyError
from found_footy.fixtures.models import OutboxEvent
from found_footy.notifications.outbox import append_outbox
from found_footy.operations.models import CheckKind, CheckResult, ServiceCheck, UnexpectedAnswer
from found_footy.operations.service_checks import after_check, is_transition
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http_exchanges import MAX_BODY_BYTES, Exchange
from found_footy.runtime.redaction import Redactor
from found_footy.secrets import build_redactor
from found_footy.storage.postgres import Database, fetch, load_queries
from found_footy.text import shorten

SQL = load_queries(__package__, "check_store")

MAX_PER_NAME = 5
MIN_INTERVAL = timedelta(minutes=10)
MAX_KEPT = 200
MAX_REQUEST = 2000


class PostgresServiceChecks:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def checks(self) -> Sequence[ServiceCheck]:
        return [service_check(row) for row in await self._db.fetch(SQL["checks"])]

    async def save(self, results: Sequence[CheckResult], *, complete: bool = False) -> Sequence[ServiceCheck]:
        changed = []
        async with self._db.connection() as connection:
            await fetch(connection, SQL["lock"], {})
            known = {row["name"]: service_check(row) for row in await fetch(connection, SQL["checks"], {})}
            for result in results:
                before = known.get(result.name)
                after = after_check(before, result)
                if after is before:
                    continue
                await fetch(connection, SQL["save"], asdict(after) | {"kind": str(after.kind)})
                if is_transition(before, after):
                    changed.append(after)
            if complete:
                await fetch(connection, SQL["delete_others"], {"names": [each.name for each in results]})
            await append_outbox(
                connection, [OutboxEvent("service.changed", None, payload=_payload(each)) for each in changed]
            )
        return changed


def service_check(row: Mapping[str, Any]) -> ServiceCheck:
    times = {name: value.astimezone(UTC) for name, value in row.items() if isinstance(value, datetime)}
    return ServiceCheck(**{**row, **times, "kind": CheckKind(row["kind"])})


def _payload(check: ServiceCheck) -> dict[str, Any]:
    return {
        "name": check.name,
        "kind": str(check.kind),
        "ok": check.ok,
        "since": check.since.isoformat(),
        "last_ok_at": check.last_ok_at.isoformat() if check.last_ok_at else None,
        "asked": check.asked,
        "answer": check.answer,
        "error_class": check.error_class,
        "hint": check.hint,
    }


class PostgresUnexpectedAnswers:
    def __init__(self, database: Database, redactor: Redactor, now: Callable[[], datetime]) -> None:
        self._db = database
        self._redactor = redactor
        self._now = now

    async def save(self, name: str, error: FootyError, exchange: Exchange) -> bool:
        clean, at = self._clean, self._now()
        row = {
            "name": name[:100],
            "at": at,
            "error_class": error.kind,
            "message": shorten(clean(str(error))),
            "request": clean(exchange.request_line)[:MAX_REQUEST],
            "status": exchange.status,
            "headers": Jsonb({key: clean(value) for key, value in (exchange.headers or {}).items()}),
            "body": _cut(clean(exchange.body[:MAX_BODY_BYTES].decode("utf-8", "replace")), MAX_BODY_BYTES),
            "kept_since": at - MIN_INTERVAL,
        }
        async with self._db.connection() as connection:
            await fetch(connection, SQL["lock_name"], {"name": row["name"]})
            if not await fetch(connection, SQL["keep"], row):
                return False
            await fetch(connection, SQL["prune"], {"name": row["name"], "limit": MAX_PER_NAME})
        return True

    async def kept(self) -> Sequence[UnexpectedAnswer]:
        rows = await self._db.fetch(SQL["kept"], limit=MAX_KEPT)
        return [UnexpectedAnswer(**{**row, "at": row["at"].astimezone(UTC)}) for row in rows]

    def _clean(self, text: str) -> str:
        """Redact the text and replace NUL, which PostgreSQL cannot store."""
        return self._redactor.text(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def _cut(text: str, max_bytes: int) -> str:
    """Limit the size in bytes again, because masks and replacement characters can make a text longer."""
    return text.encode()[:max_bytes].decode("utf-8", "ignore")


def build_unexpected_answers(settings: Settings, database: Database) -> PostgresUnexpectedAnswers:
    return PostgresUnexpectedAnswers(database, build_redactor(settings), utc_now)
