"""The web application with a library that can be searched: clips with files, keyframes and vectors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from starlette.routing import Route

from found_footy.adapters.embeddings.mobilenet import MobileNet
from found_footy.adapters.media.stills import LimitedStills
from found_footy.adapters.storage.postgres.database import Database
from found_footy.adapters.storage.postgres.library_search import PostgresLibrarySearch
from found_footy.adapters.storage.postgres.vectors import PostgresVectors
from found_footy.bootstrap_web import open_web
from found_footy.config import Settings
from found_footy.domain.clips.keys import keyframe_key
from found_footy.http_server import HttpServer
from found_footy.library_search import LibrarySearch
from found_footy.ports import ObjectStore
from found_footy.web.api import library_search
from found_footy.web.app import create_app
from found_footy.web.library_services import LibraryServices
from found_footy.web.pages import search as search_page
from found_footy.web.search.finding import SearchServices
from found_footy.web.services import Services
from tests.contract.library_search.shelf import GOAL, Shelf
from tests.support.web_world import NOW

Picture = NDArray[np.uint8]
MODEL = MobileNet()


@dataclass(frozen=True, slots=True)
class Searchable(LibraryServices):
    search: SearchServices | None = None


@asynccontextmanager
async def served_library(
    settings: Settings, database: Database, now: datetime = NOW
) -> AsyncIterator[tuple[HttpServer, Services]]:
    """The whole application over real HTTP."""
    stills = LimitedStills(512)
    search = SearchServices(LibrarySearch(PostgresLibrarySearch(database), [MODEL]), stills)
    try:
        async with open_web(settings) as opened:
            given = {field.name: getattr(opened.library, field.name) for field in fields(opened.library)}
            library = Searchable(**{**given, "search": search})
            services = replace(opened, now=lambda: now, library=library)
            app = create_app(services)
            known = {getattr(route, "path", "") for route in app.router.routes}
            for router in (library_search.router, search_page.picture_router):
                if not known.issuperset(route.path for route in router.routes if isinstance(route, Route)):
                    app.router.routes.extend(router.routes)
            async with HttpServer(app, grace_seconds=1) as server:
                try:
                    yield server, services
                finally:
                    services.live.close()
    finally:
        await stills.aclose()


async def shelve(
    database: Database,
    objects: ObjectStore,
    pictures: Sequence[Picture],
    title: str = "a film",
    facts: Mapping[str, Any] = GOAL,
) -> list[int]:
    """A source whose clips are in the library, each with a keyframe and a vector."""
    clips = await Shelf(database).put(title, facts, ["embedded"] * len(pictures))
    vectors = PostgresVectors(database)
    for clip, picture, vector in zip(clips, pictures, await MODEL.pictures(pictures), strict=True):
        await vectors.save(clip, MODEL.name, MODEL.version, vector)
        async with database.connection() as connection:
            cursor = await connection.execute(
                "insert into library_keyframes select id, 0, first_frame, '50%%', 640, 360 from library_clips"
                " where id = %s returning (select source_id from library_clips where id = clip_id) as source_id",
                (clip,),
            )
            source = (await cursor.fetchall())[0]["source_id"]
        await _put(objects, keyframe_key(source, clip, 0), picture)
    return clips


async def _put(objects: ObjectStore, key: str, picture: Picture) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "keyframe.jpg")
        await asyncio.to_thread(path.write_bytes, jpeg(picture))
        await objects.put(key, path, content_type="image/jpeg")


def jpeg(picture: Picture) -> bytes:
    return cv2.imencode(".jpg", picture)[1].tobytes()
