"""Pages of the library's lists, for the API and for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from found_footy.web.answers.paging import Order
from found_footy.web.library.ports import LibraryReading, Listing

ORDERS: Mapping[Listing, Order] = {
    "sources": Order("library_sources", (int,)),
    "clips": Order("library_clips", (int,)),
}


async def listed_page(
    reading: LibraryReading, listing: Listing, wanted: Mapping[str, Any], cursor: str | None, limit: int
) -> bytes:
    """`{"items": […], "next": …}` as text. Raises BadRequest for a cursor of another list."""
    order = ORDERS[listing]
    before = order.place(cursor, wanted)[0] if cursor is not None else None
    found = await reading.page(listing, wanted, before, limit + 1)
    items = ",".join(document for _, document in found[:limit])
    following = order.cursor((found[limit - 1][0],), wanted) if len(found) > limit else None
    return f'{{"items":[{items}],"next":{json.dumps(following)}}}'.encode()
