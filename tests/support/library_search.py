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

from found_footy.app import open_web
from found_footy.config import Settings
from found_footy.library.embedding_store import EmbeddingStore
from found_footy.library.models import keyframe_key
from found_footy.library.onnx_embedders import MobileNetEmbedder
from found_footy.library.search import LibrarySearch, LibrarySearchServices
from found_footy.media.processor import MediaProcessor
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.postgres import Database
from found_footy.web.api import library as library_search
from found_footy.web.app import create_app
from found_footy.web.pages import search as search_page
from found_footy.web.services import LibraryServices, WebServices
from tests.library.clip_rows import GOAL, ClipRows
from tests.support.web_world import NOW

Picture = NDArray[np.uint8]
MODEL = MobileNetEmbedder()


@dataclass(frozen=True, slots=True)
class Searchable(LibraryServices):
    search: LibrarySearchServices | None = None


@asynccontextmanager
async def served_library(
    settings: Settings, database: Database, now: datetime = NOW
) -> AsyncIterator[tuple[HttpServer, WebServices]]:
    """The whole application over real HTTP."""
    stills = MediaProcessor(512, 10)
    search = LibrarySearchServices(LibrarySearch(database, [MODEL]), stills)
    try:
        async with open_web(settings) as opened:
            given = {field.name: getattr(opened.library, field.name) for field in fields(opened.library)}
            library = Searchable(**{**given, "search": search})
            services = replace(opened, now=lambda: now, library=library)
            app = create_app(services)
            known = {getattr(route, "path", "") for route in app.router.routes}
            for router in (library_search.router_library_search, search_page.picture_router):
                if not known.issuperset(route.path for route in router.routes if isinstance(route, Route)):
                    app.router.routes.extend(router.routes)
            async with HttpServer(app, grace_seconds=1) as server:
                try:
                    yield server, services
                finally:
                    services.live.close()
    finally:
        await stills.aclose()


async def add_clips(
    database: Database,
    objects: ObjectStore,
    pictures: Sequence[Picture],
    title: str = "a film",
    facts: Mapping[str, Any] = GOAL,
) -> list[int]:
    """A source whose clips are in the library, each with a keyframe and a vector."""
    clips = await ClipRows(database).add(title, facts, ["embedded"] * len(pictures))
    vectors = EmbeddingStore(database)
    for clip, picture, vector in zip(clips, pictures, await MODEL.embed_images(pictures), strict=True):
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
