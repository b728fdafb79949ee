"""What the parts of the library's store share: the database."""

from __future__ import annotations

from found_footy.adapters.storage.postgres.database import Database


class LibraryPart:
    def __init__(self, database: Database) -> None:
        self._db = database
