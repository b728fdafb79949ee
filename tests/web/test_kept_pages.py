"""Cached pages: keyed by preferences, never outdated."""

from __future__ import annotations

import asyncio

import httpx

from found_footy.access.models import Role
from tests.conftest import SampleDataCopy
from tests.support.web_access import PAGE, log_in, make_token
from tests.support.web_world import SALAH

DAY = "/day/2026-08-22"


async def test_an_unchanged_page_returns_304(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    first = await web.get(DAY, headers=PAGE)
    assert (await web.get(DAY, headers={**PAGE, "if-none-match": first.headers["etag"]})).status_code == 304
    assert {"cookie", "accept-encoding"} <= {each.strip().lower() for each in first.headers["vary"].split(",")}
    assert first.headers["cache-control"] == "private, no-cache"
    async with small_world.store.database.connection() as connection:
        await connection.execute("update events set player_name = 'Somebody Else' where id = %s", [SALAH])
    changed = await web.get(DAY, headers={**PAGE, "if-none-match": first.headers["etag"]})
    assert changed.status_code == 200
    assert "Somebody Else" in changed.text


async def test_the_page_cache_depends_on_preferences(web: httpx.AsyncClient, small_world: SampleDataCopy) -> None:
    while (await web.get("/health/ready")).status_code != 200:
        await asyncio.sleep(0.05)  # until the news have their positions, which a page carries
    plain = (await web.get(DAY, headers=PAGE)).text
    assert "Mohamed Salah" in plain
    hidden = (await web.get(DAY, headers={**PAGE, "cookie": "spoilers=hidden"})).text
    assert "Mohamed Salah" not in hidden
    assert (await web.get(DAY, headers={**PAGE, "cookie": "theme=dark"})).text != plain
    await log_in(web, await make_token(small_world.store, Role.EDITOR, name="Edda"))
    own = await web.get(DAY, headers=PAGE)
    assert "etag" not in own.headers
    web.cookies.clear()
    assert (await web.get(DAY, headers=PAGE)).text == plain
