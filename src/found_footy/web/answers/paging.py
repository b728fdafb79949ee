"""Pages of lists. A cursor says after which entry the next page begins, so that what is added meanwhile shifts nothing.

It is opaque to readers, and only good for the list and the filters that it was made for: it carries a checksum over
all of these. That keeps mistakes out; it is no secret, since whoever makes one up can only ask for another page.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from found_footy.domain.errors import BadRequest
from found_footy.web.services import Services

MOST_ON_A_PAGE = 200
LONGEST_CURSOR = 600
_CHECKSUM_BYTES = 6
_BIGINT = 2**63


@dataclass(frozen=True, slots=True)
class Order:
    """A list, and the types of what its entries are ordered by."""

    listing: str
    kinds: tuple[type, ...]

    def cursor(self, place: Sequence[Any], wanted: Mapping[str, Any]) -> str:
        payload = json.dumps([_written(value) for value in place], separators=(",", ":")).encode()
        return urlsafe_b64encode(self._checksum(payload, wanted) + payload).decode().rstrip("=")

    def place(self, cursor: str, wanted: Mapping[str, Any]) -> tuple[Any, ...]:
        """Raises BadRequest for whatever `cursor` has not made for the same list and the same filters."""
        try:
            if len(cursor) > LONGEST_CURSOR or not re.fullmatch(r"[A-Za-z0-9_-]+", cursor):
                raise ValueError("made up")
            content = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
            checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
            if checksum != self._checksum(payload, wanted):
                raise ValueError("of another list")
            values = json.loads(payload)
            return tuple(_READ[kind](value) for kind, value in zip(self.kinds, values, strict=True))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError, binascii.Error):
            raise BadRequest(
                "the cursor is not one of this list with these filters; begin without it, and take `next` as it is"
            ) from None

    def _checksum(self, payload: bytes, wanted: Mapping[str, Any]) -> bytes:
        filters = json.dumps(wanted, default=str, sort_keys=True)
        told = f"{self.listing}\n{filters}\n".encode("utf-8", "replace") + payload
        return hashlib.blake2b(told, digest_size=_CHECKSUM_BYTES, person=b"footy-cursor").digest()


async def page(
    services: Services, order: Order, wanted: Mapping[str, Any], cursor: str | None, limit: int, **more: str
) -> bytes:
    """`{"items": […], "next": …}` as text; `more` is put before these."""
    after = order.place(cursor, wanted) if cursor is not None else None
    found = await services.reading.page(order.listing, wanted, after, limit + 1, services.now())
    items = ",".join(document for _, document in found[:limit])
    following = order.cursor(found[limit - 1][0], wanted) if len(found) > limit else None
    first = "".join(f"{json.dumps(name)}:{json.dumps(value)}," for name, value in more.items())
    return f'{{{first}"items":[{items}],"next":{json.dumps(following)}}}'.encode()


def _written(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def _moment(value: object) -> datetime:
    return datetime.fromisoformat(_text(value)).astimezone(UTC)


def _day(value: object) -> date:
    return date.fromisoformat(_text(value))


def _number(value: object) -> int:
    if type(value) is not int or not -_BIGINT <= value < _BIGINT:
        raise ValueError(value)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(value)
    value.encode()  # half a character is none
    return value


_READ: Mapping[type, Callable[[object], Any]] = {datetime: _moment, date: _day, int: _number, str: _text}
