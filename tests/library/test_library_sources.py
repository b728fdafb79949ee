"""Where sources come from: kept videos of goals, links and files; and that each is in the library on its own feet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from found_footy.clips.models import clip_key
from found_footy.errors import FootyError
from found_footy.fixtures.store import FixtureStore
from found_footy.library.models import SourceKind, SourceState, Submission, master_key
from found_footy.library.submissions import default_title
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.objects.store import ThreadedObjectStore
from tests.conftest import SampleDataCopy
from tests.support.library_system import FRAMES, film_bytes, library_system

pytestmark = pytest.mark.timeout(300)

PAGE = """<html><head><title>The derby in full</title></head><body>
<script>jwplayer("p").setup({"file": "/film.mp4", "title": "The derby in full"});</script></body></html>"""


@pytest.fixture
async def web() -> AsyncIterator[HttpServer]:
    async def answer(request: Request) -> Response:
        if request.url.path == "/film.mp4":
            return Response(film_bytes(), media_type="video/mp4")
        if request.url.path == "/page":
            return Response(PAGE, media_type="text/html")
        return Response(status_code=int(request.url.path[1:]))

    async with HttpServer(Starlette(routes=[Route("/{any}", answer)])) as server:
        yield server


async def test_a_published_clip_becomes_a_source_that_outlives_its_match(
    small_world: SampleDataCopy, tmp_path: Path
) -> None:
    objects = small_world.world.objects
    async with library_system(small_world.store.database, objects, tmp_path) as system:
        assert await system.store.import_published_clips(system.clock(), 100) > 0
        assert await system.store.import_published_clips(system.clock(), 100) == 0, "each video once"
        id_ = (await system.due("download"))[0]
        source = await system.store.source(id_)
        assert source.kind is SourceKind.GOAL
        assert await system.run("download", id_)
        made = await system.store.source(id_)
        assert (made.state, made.title) == (SourceState.DOWNLOADED, source.title)
        await objects.delete([clip_key(source.facts["fixture_id"], source.event_id or "", source.video_md5 or "")])
        assert await system.run("splice", id_)
        for clip in await system.store.clips_of(id_):
            assert await system.run("sprites", clip.id)


async def test_a_submitted_url_is_downloaded(
    store: FixtureStore, objects: ThreadedObjectStore, tmp_path: Path, web: HttpServer
) -> None:
    async with library_system(store.database, objects, tmp_path, [urlsplit(web.url).netloc]) as system:
        order = Submission(SourceKind.URL, "A link", url=f"{web.url}/film.mp4")
        source = await system.store.submit(order, system.clock())
        assert await system.run("download", source)
        made = await system.store.source(source)
        assert (made.master and made.master.frames, made.title) == (FRAMES, "A link")
        assert await system.keys() == [master_key(source)]


@pytest.mark.parametrize("chosen", [True, False])
async def test_the_page_title_is_used_unless_one_was_submitted(
    store: FixtureStore, objects: ThreadedObjectStore, tmp_path: Path, web: HttpServer, chosen: bool
) -> None:
    url = f"{web.url}/page"
    given = "What an editor calls it" if chosen else default_title(url)
    async with library_system(store.database, objects, tmp_path, [urlsplit(web.url).netloc]) as system:
        source = await system.store.submit(Submission(SourceKind.URL, given, url=url), system.clock())
        assert await system.run("download", source)
        title = (await system.store.source(source)).title
        assert title == (given if chosen else "The derby in full")


@pytest.mark.parametrize(
    ("path", "kind", "retryable"), [("404", "CandidateRejected", False), ("503", "DownloadUnavailable", True)]
)
async def test_a_broken_url_fails_with_a_reason(
    store: FixtureStore,
    objects: ThreadedObjectStore,
    tmp_path: Path,
    web: HttpServer,
    path: str,
    kind: str,
    retryable: bool,
) -> None:
    async with library_system(store.database, objects, tmp_path, [urlsplit(web.url).netloc]) as system:
        order = Submission(SourceKind.URL, "A link", url=f"{web.url}/{path}?key=secret")
        source = await system.store.submit(order, system.clock())
        with pytest.raises(FootyError) as failure:
            await system.run("download", source)
        assert (failure.value.kind, failure.value.retryable) == (kind, retryable)
        assert "secret" not in str(failure.value)
        assert await system.keys() == []
