"""Tokens and logins for tests of the pages and the API."""

from __future__ import annotations

import re
import secrets
from datetime import datetime, timedelta

import httpx

from found_footy.access.models import ID_LENGTH, SECRET_BYTES, Role, new_token
from found_footy.access.store import TokenStore
from found_footy.fixtures.store import FixtureStore
from tests.support.web_world import NOW

PAGE = {"accept": "text/html"}


async def make_token(
    store: FixtureStore,
    role: Role,
    *,
    name: str = "somebody",
    now: datetime = NOW,
    holds: timedelta | None = None,
    revoked: bool = False,
) -> str:
    """The text of a new token."""
    access = TokenStore(store.database)
    random, secret = secrets.token_bytes(ID_LENGTH), secrets.token_bytes(SECRET_BYTES)
    token, text = new_token(name, role, now, random, secret, holds)
    await access.add_token(token)
    if revoked:
        await access.revoke(token.id, now)
    return text


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def log_in(web: httpx.AsyncClient, token: str, back: str = "/") -> httpx.Response:
    """The client keeps the cookie."""
    answer = await web.post("/login", data={"token": token, "back": back}, headers=PAGE)
    assert answer.status_code == 303, answer.text
    return answer


def csrf_in(page: str) -> str:
    """What the forms of a page carry."""
    found = re.search(r'name="csrf" value="([0-9a-f]{64})"', page)
    assert found is not None, page
    return found[1]
