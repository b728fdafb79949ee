"""Keyset pagination. A cursor names the entry after which the next page begins, so that new entries shift nothing.

It is opaque and contains a checksum over list and filters, to catch mistakes; it is not a secret.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any, Generic

from found_footy.errors import BadRequest
from found_footy.fixtures.documents import AnyDocument, DocumentList
from found_footy.library.views import ClipFilter, ClipSummary, LibraryViews, SourceFilter, SourceSummary
from found_footy.web.api.models import Page
from found_footy.web.services import WebServices

MAX_PAGE_SIZE = 200
MAX_CURSOR_LENGTH = 600
_CHECKSUM_BYTES = 6
_BIGINT = 2**63


@dataclass(frozen=True, slots=True)
class CursorOrder:
    """A list, and the types of its sort keys."""

    listing: str
    kinds: tuple[type, ...]

    def encode(self, position: Sequence[Any], filters: Mapping[str, Any]) -> str:
        payload = json.dumps([_to_json(value) for value in position], separators=(",", ":")).encode()
        return urlsafe_b64encode(self._checksum(payload, filters) + payload).decode().rstrip("=")

    def decode(self, cursor: str, filters: Mapping[str, Any]) -> tuple[Any, ...]:
        """Decode a cursor. Raises BadRequest for a cursor of another list or other filters."""
        try:
            if len(cursor) > MAX_CURSOR_LENGTH or not re.fullmatch(r"[A-Za-z0-9_-]+", cursor):
                raise ValueError("malformed")
            content = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
            checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
            if checksum != self._checksum(payload, filters):
                raise ValueError("another list")
            values = json.loads(payload)
            return tuple(_PARSERS[kind](value) for kind, value in zip(self.kinds, values, strict=True))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError, binascii.Error):
            raise BadRequest("invalid cursor: it belongs to another list or other filters") from None

    def _checksum(self, payload: bytes, filters: Mapping[str, Any]) -> bytes:
        canonical = json.dumps(filters, default=str, sort_keys=True)
        content = f"{self.listing}\n{canonical}\n".encode("utf-8", "replace") + payload
        return hashlib.blake2b(content, digest_size=_CHECKSUM_BYTES, person=b"footy-cursor").digest()


@dataclass(frozen=True, slots=True)
class DocumentPage(Generic[AnyDocument]):
    items: list[AnyDocument]
    next: str | None


async def paginate(
    services: WebServices,
    documents: DocumentList[AnyDocument],
    filters: Mapping[str, Any],
    cursor: str | None,
    limit: int,
) -> DocumentPage[AnyDocument]:
    """Read one page. Raises BadRequest for a cursor of another list or other filters."""
    order = ORDERS[documents.name]
    after = order.decode(cursor, filters) if cursor is not None else None
    rows = await services.reading.page(documents, filters, after, limit + 1, services.now())
    next_cursor = order.encode(rows[limit - 1][0], filters) if len(rows) > limit else None
    return DocumentPage([document for _, document in rows[:limit]], next_cursor)


def _to_json(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def _parse_time(value: object) -> datetime:
    return datetime.fromisoformat(_parse_text(value)).astimezone(UTC)


def _parse_day(value: object) -> date:
    return date.fromisoformat(_parse_text(value))


def _parse_int(value: object) -> int:
    if type(value) is not int or not -_BIGINT <= value < _BIGINT:
        raise ValueError(value)
    return value


def _parse_text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(value)
    value.encode()  # rejects lone surrogates
    return value


_PARSERS: Mapping[type, Callable[[object], Any]] = {
    datetime: _parse_time,
    date: _parse_day,
    int: _parse_int,
    str: _parse_text,
}


ORDERS: Mapping[str, CursorOrder] = {
    "dates": CursorOrder("dates", (date,)),
    "fixtures": CursorOrder("fixtures", (datetime, int)),
    "fixtures_found": CursorOrder("fixtures_found", (datetime, int)),
    "events": CursorOrder("events", (datetime, str)),
    "videos": CursorOrder("videos", (datetime, str)),
    "clips_found": CursorOrder("clips_found", (datetime, str, int)),
}
"""Types of the sort keys by list."""


# --- Library lists.


SOURCES_ORDER = CursorOrder("library_sources", (int,))
CLIPS_ORDER = CursorOrder("library_clips", (int,))


async def sources_page(
    views: LibraryViews, filters: SourceFilter, cursor: str | None, limit: int
) -> Page[SourceSummary]:
    """Read one page. Raises BadRequest for a cursor of another list."""
    filter_values = asdict(filters)
    before = SOURCES_ORDER.decode(cursor, filter_values)[0] if cursor is not None else None
    rows = await views.sources(filters, before=before, limit=limit + 1)
    next_cursor = SOURCES_ORDER.encode((rows[limit - 1].id,), filter_values) if len(rows) > limit else None
    return Page[SourceSummary](items=rows[:limit], next=next_cursor)


async def clips_page(views: LibraryViews, filters: ClipFilter, cursor: str | None, limit: int) -> Page[ClipSummary]:
    """Read one page. Raises BadRequest for a cursor of another list."""
    filter_values = asdict(filters)
    before = CLIPS_ORDER.decode(cursor, filter_values)[0] if cursor is not None else None
    rows = await views.clips(filters, before=before, limit=limit + 1)
    next_cursor = CLIPS_ORDER.encode((rows[limit - 1].id,), filter_values) if len(rows) > limit else None
    return Page[ClipSummary](items=rows[:limit], next=next_cursor)
