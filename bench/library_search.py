"""Search among 100,000 library clips: latency, and recall at 10 against the exact result

Vectors have 576 dimensions and form clusters (see library_world.py). A query is a clip that was cut, mirrored or
compressed. "All of it" covers a whole request: neighbours, moments and their details.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import psycopg

from bench.library_world import CLIPS, VERSION, Shelves, Vectors, exact, fill, shelves
from bench.table import table
from found_footy.library.moments import SearchFilter, parse_query
from found_footy.library.search import EF_SEARCH, LibrarySearch
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.embedded_postgres import EmbeddedPostgres
from found_footy.storage.migrations import migrate
from found_footy.storage.postgres import Database

MODEL = "mobilenet_v3_small"
INDEX = """
create index library_embeddings_mobilenet_v3_small on library_embeddings
    using hnsw ((mobilenet_v3_small::halfvec(576)) halfvec_cosine_ops)
"""
AT = 10
QUESTIONS = 300
WARM_UP = 50


class Named:
    """A model that only provides its name."""

    name, version, dimensions, supports_text = MODEL, VERSION.decode(), 576, False

    async def embed_images(self, bgr: Sequence[object]) -> Vectors:
        raise NotImplementedError

    async def embed_text(self, words: str) -> Vectors:
        raise NotImplementedError

    async def aclose(self) -> None: ...


async def main() -> None:
    world = shelves(QUESTIONS)
    with tempfile.TemporaryDirectory() as folder:
        data = DataFolder(folder)
        with data.lock():
            engine = EmbeddedPostgres(data)
            await engine.start()
            try:
                await migrate(engine.url)
                await fill(engine.url, world.vectors)
                await _measure(engine.url, world)
            finally:
                await engine.destroy()


async def _measure(url: str, world: Shelves) -> None:
    truth = exact(world.vectors, world.questions, AT)
    print(f"the index of {CLIPS:,} vectors was built in {await _build(url):.0f} s\n", flush=True)
    database = Database(url)
    await database.open()
    try:
        rows = []
        for ef_search in sorted({40, EF_SEARCH, 120, 200}):
            store = LibrarySearch(database, ef_search=ef_search)
            mark = ", the default" if ef_search == EF_SEARCH else ""
            rows.append([f"nearest {AT}, `ef_search` {ef_search}{mark}", *await _likeness(store, world, truth)])
        store = LibrarySearch(database)
        for name, wanted, keeps in _filtered():
            fitting = np.flatnonzero(keeps(np.arange(CLIPS)))
            right = fitting[exact(world.vectors[fitting], world.questions, AT) - 1] + 1
            rows.append([f"nearest {AT}, {name}", *await _likeness(store, world, right, wanted)])
        search = LibrarySearch(database, [Named()])

        async def like(number: int) -> None:
            await search.similar_to_clip(number * 331 % CLIPS + 1, SearchFilter())

        async def words(number: int) -> None:
            await search.by_text(SearchFilter(parse_query(f"player{number % 400:03} team{number % 100}")))

        rows.append(["all of it, like a clip", *_spread(await _timed(like)), ""])
        rows.append(["all of it, two words", *_spread(await _timed(words)), ""])
        rows.append(["every vector compared, without the index", *_spread(await _without_index(url, world)), "1.000"])
        table(["search", "p50", "p99", f"recall at {AT}"], rows)
    finally:
        await database.close()


def _filtered() -> list[tuple[str, SearchFilter, Callable[[np.ndarray], np.ndarray]]]:
    """Return filters and their predicates on clip numbers: the number determines the source and all other fields."""

    def film(clip: np.ndarray) -> np.ndarray:
        return clip // 20

    return [
        ("one half of all", SearchFilter(verified=True), lambda clip: film(clip) % 2 == 0),
        ("one competition of 20", SearchFilter(competition="league03"), lambda clip: film(clip) % 20 == 3),
        ("one scorer of 400", SearchFilter(player="player033"), lambda clip: film(clip) % 400 == 33),
    ]


async def _likeness(
    store: LibrarySearch, world: Shelves, truth: np.ndarray, wanted: SearchFilter | None = None
) -> tuple[str, str, str]:
    right = 0

    async def ask(number: int) -> None:
        nonlocal right
        at = number % QUESTIONS
        hits = await store.nearest(MODEL, VERSION.decode(), world.questions[at], wanted or SearchFilter(), AT)
        right += len({hit.clip_id for hit in hits} & set(truth[at].tolist())) if number >= 0 else 0

    times = await _timed(ask)
    return *_spread(times), f"{right / (AT * len(times)):.3f}"


async def _timed(ask: Callable[[int], Awaitable[None]]) -> list[float]:
    times = []
    for number in range(-WARM_UP, QUESTIONS):
        began = time.perf_counter()
        await ask(number)
        times.append(time.perf_counter() - began)
    return times[WARM_UP:]


def _spread(times: Sequence[float]) -> tuple[str, str]:
    return f"{np.percentile(times, 50) * 1000:.1f} ms", f"{np.percentile(times, 99) * 1000:.1f} ms"


async def _build(url: str) -> float:
    began = time.perf_counter()
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("set maintenance_work_mem = '600MB'")
        await connection.execute(INDEX)
        await connection.execute("analyze")
    return time.perf_counter() - began


async def _without_index(url: str, world: Shelves) -> list[float]:
    statement = f"select clip_id from library_embeddings order by {MODEL} <=> %s::vector limit {AT}"
    times = []
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("set enable_indexscan = off")
        for question in world.questions[:20]:
            began = time.perf_counter()
            await (await connection.execute(statement.encode(), (str(question.tolist()),))).fetchall()
            times.append(time.perf_counter() - began)
    return times
