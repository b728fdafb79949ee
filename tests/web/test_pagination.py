"""Cursors: opaque, valid for one list and its filters."""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from datetime import UTC, date, datetime
from typing import Any

import httpx
import pytest

from found_footy.errors import BadRequest
from found_footy.web.pagination import CursorOrder

AT = datetime(2026, 8, 22, 14, 0, 0, 123456, tzinfo=UTC)
GOALS = CursorOrder("events", (datetime, str))
MATCHES = CursorOrder("fixtures", (datetime, int))
DAYS = CursorOrder("dates", (date,))
FILTERS: dict[str, Any] = {"team": "liv", "since": AT, "limit": None}


def forged(order: CursorOrder, values: Any, filters: dict[str, Any]) -> str:
    """By somebody who has read the source."""
    payload = json.dumps(values).encode()
    told = f"{order.listing}\n{json.dumps(filters, default=str, sort_keys=True)}\n".encode() + payload
    checksum = hashlib.blake2b(told, digest_size=6, person=b"footy-cursor").digest()
    return urlsafe_b64encode(checksum + payload).decode().rstrip("=")


@pytest.mark.parametrize(
    ("order", "place"),
    [
        (GOALS, (AT, "7001_40_306_Goal_1")),
        (GOALS, (AT, 'Nú"ñ\\ez 🔥')),
        (MATCHES, (AT, 2**63 - 1)),
        (DAYS, (date(2026, 8, 22),)),
    ],
)
def test_a_cursor_round_trips(order: CursorOrder, place: tuple[Any, ...]) -> None:
    cursor = order.encode(place, FILTERS)
    assert set(cursor) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert order.decode(cursor, FILTERS) == place


@pytest.mark.parametrize(
    ("order", "cursor"),
    [
        (GOALS, ""),
        (GOALS, "a"),
        (GOALS, "made-up"),
        (GOALS, "é" * 20),
        (GOALS, "A" * 100_000),
        (GOALS, "!!!!"),
        (GOALS, MATCHES.encode((AT, 1), FILTERS)),  # of another list
        (GOALS, GOALS.encode((AT, "x"), {**FILTERS, "team": "other"})),  # with other filters
        (GOALS, GOALS.encode((AT, "x"), FILTERS)[:-2]),
        (GOALS, "A" + GOALS.encode((AT, "x"), FILTERS)),
        (GOALS, forged(GOALS, [], FILTERS)),
        (GOALS, forged(GOALS, [AT.isoformat()], FILTERS)),
        (GOALS, forged(GOALS, [AT.isoformat(), "a\0b"], FILTERS)),
        (GOALS, forged(GOALS, [AT.isoformat(), "\ud800"], FILTERS)),
        (GOALS, forged(GOALS, ["yesterday", "x"], FILTERS)),
        (GOALS, forged(GOALS, [17, "x"], FILTERS)),
        (GOALS, forged(GOALS, {"a": 1}, FILTERS)),
        (MATCHES, forged(MATCHES, [AT.isoformat(), 2**63], FILTERS)),
        (MATCHES, forged(MATCHES, [AT.isoformat(), 1.5], FILTERS)),
        (MATCHES, forged(MATCHES, [AT.isoformat(), True], FILTERS)),
        (MATCHES, forged(MATCHES, ["0001-01-01T00:00:00+14:00", 1], FILTERS)),
        (DAYS, forged(DAYS, ["2026-02-30"], FILTERS)),
        (DAYS, forged(DAYS, [[[[[]]]]], FILTERS)),
    ],
)
def test_invalid_cursors_are_rejected(order: CursorOrder, cursor: str) -> None:
    with pytest.raises(BadRequest, match="invalid cursor"):
        order.decode(cursor, FILTERS)


LISTS = ["dates", "fixtures", "events", "videos", "search", "search?kind=fixtures", "search?kind=clips"]


async def test_a_forged_cursor_is_a_clear_error_in_every_list(site: httpx.AsyncClient) -> None:
    for path in LISTS:
        for cursor in ("made-up", "AAAA", "%00", "x" * 500):
            answer = await site.get(f"/api/v1/{path}{'&' if '?' in path else '?'}cursor={cursor}")
            assert answer.status_code == 400, (path, cursor)
            assert answer.json()["error"]["class"] == "BadRequest"
        assert (await site.get(f"/api/v1/{path}{'&' if '?' in path else '?'}cursor={'x' * 2000}")).status_code == 422
        for limit in ("0", "-1", "201", "many", str(2**64)):
            answer = await site.get(f"/api/v1/{path}{'&' if '?' in path else '?'}limit={limit}")
            assert answer.status_code == 422, (path, limit)


async def test_pages_of_one_add_up_to_the_whole_list(site: httpx.AsyncClient) -> None:
    for path in LISTS:
        join = "&" if "?" in path else "?"
        whole = (await site.get(f"/api/v1/{path}{join}limit=200")).json()
        assert whole["next"] is None
        assert len(whole["items"]) > 1
        pieces, cursor = [], ""
        while cursor is not None:
            page = (await site.get(f"/api/v1/{path}{join}limit=1{cursor and '&cursor='}{cursor}")).json()
            assert len(page["items"]) == 1, path
            pieces += page["items"]
            cursor = page["next"]
        assert pieces == whole["items"], path
