"""The outbox, written in the transaction of the change itself."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.types.json import Jsonb

from found_footy.adapters.storage.postgres import rows
from found_footy.adapters.storage.postgres.database import Connection, fetch
from found_footy.domain.fixtures.polling import News


async def announce(connection: Connection, news: Sequence[News]) -> None:
    if news:
        await fetch(connection, "outbox.add", {"rows": Jsonb([rows.news_row(each) for each in news])})
