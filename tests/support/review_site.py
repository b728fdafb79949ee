"""The pages in front of a clip library of one's own, with editors who are logged in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser, BrowserContext

from found_footy.access.models import Role
from found_footy.app import open_web
from found_footy.fixtures.store import FixtureStore, open_store
from found_footy.library.store import LibraryStore
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.stores import build_objects
from found_footy.web.app import create_app
from tests.support.library_world import SALAH, TITLE, CutSource, film
from tests.support.web_access import bearer, make_token
from tests.support.web_world import settings_for


@dataclass
class ReviewSite:
    url: str
    store: FixtureStore
    library: LibraryStore
    objects: ObjectStore
    ahead: timedelta = timedelta(0)
    """How far the server's clock goes before the real one."""

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    async def film(
        self, scenes: Sequence[float] = (2.0,) * 4, seed: int = 1, title: str = TITLE, facts: Mapping[str, Any] = SALAH
    ) -> CutSource:
        return await film(self.library, self.objects, scenes, seed=seed, title=title, facts=facts, now=self.now())

    async def tiles(self, filmed: CutSource) -> list[tuple[int, int, str]]:
        """Of a source, as the database has them."""
        clips = await self.library.clips_of(filmed.source_id)
        return [(clip.first, clip.end, str(clip.state)) for clip in clips if clip.live]

    async def token(self, name: str, role: Role = Role.EDITOR) -> str:
        return await make_token(self.store, role, name=name, now=self.now())

    async def program(self, name: str = "Ana", window: str = "one") -> httpx.AsyncClient:
        """An editor who asks the API."""
        headers = {**bearer(await self.token(name)), "x-review-window": window}
        return httpx.AsyncClient(base_url=f"{self.url}/api/v1/review", headers=headers)

    async def browser(self, chromium: Browser, name: str = "Ana", **more: Any) -> BrowserContext:
        """One in which an editor has logged in."""
        context = await chromium.new_context(base_url=self.url, **more)
        form: dict[str, str | float | bool] = {"token": await self.token(name), "back": "/"}
        await context.request.post("/login", form=form, max_redirects=0)
        return context


@asynccontextmanager
async def review_site(database_url: str, folder: Path, **settings: object) -> AsyncIterator[ReviewSite]:
    chosen = settings_for(database_url, folder, **settings)
    async with (
        open_store(chosen) as store,
        aclosing(build_objects(chosen)) as objects,
        open_web(chosen) as services,
    ):
        site = ReviewSite("", store, LibraryStore(store.database), objects)
        async with HttpServer(create_app(replace(services, now=site.now)), grace_seconds=1) as server:
            site.url = server.url
            try:
                yield site
            finally:
                services.live.close()
