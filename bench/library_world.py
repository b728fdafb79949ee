"""A library of 100,000 clips with vectors distributed like those of broadcasts: in clusters, close to each other.

Clips of one moment are closest, those of one match further apart, and all within a narrow cone, since all show grass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import psycopg
from numpy.typing import NDArray

DIMENSIONS = 576
MATCHES, MOMENTS, COPIES = 500, 20, 10
"""Matches, moments per match, and clips per moment."""
CLIPS = MATCHES * MOMENTS * COPIES
VERSION = b"bench-01"
FREEDOM = 64
"""Dimensions in which clips actually differ: far fewer than the vectors have."""

Vectors = NDArray[np.float32]

_SOURCES = """
insert into library_sources (kind, state, title, facts, upload_key, frames, rate_num, rate_den, width, height)
select 'file', 'spliced', format('Film %%s', n), jsonb_build_object(
        'sport', 'football', 'player', 'Player' || to_char(n %% 400, 'FM000'), 'team', format('Team%%s', n %% 100),
        'home', format('Team%%s', n %% 100), 'away', format('Team%%s', (n + 7) %% 100),
        'competition', 'League' || to_char(n %% 20, 'FM00'), 'minute', format('%%s''', n %% 90 + 1),
        'kind', 'Normal Goal', 'verified', n %% 2 = 0, 'kickoff', '2026-08-22T14:00:00+00:00'),
    'x', %(moments)s * 100, 25, 1, 1280, 720
from generate_series(0, %(sources)s - 1) as n
"""
_CLIPS = """
insert into library_clips (source_id, first_frame, end_frame, state)
select s.id, n * 100, n * 100 + 100, 'embedded' from library_sources s, generate_series(0, %(moments)s - 1) as n
order by s.id, n
"""


@dataclass(frozen=True)
class Shelves:
    vectors: Vectors
    """Vectors of the clips, indexed by clip number minus one."""
    questions: Vectors
    """Query vectors: clips that were cut, mirrored or compressed."""


def shelves(questions: int, seed: int = 7) -> Shelves:
    chance = np.random.default_rng(seed)
    # A few directions hold most of the variance, as in real images.
    weight = 1 / np.sqrt(np.arange(1, FREEDOM + 1, dtype=np.float32))[:, None]
    basis = (chance.normal(size=(FREEDOM, DIMENSIONS)) * weight / np.linalg.norm(weight)).astype(np.float32)
    middle = np.abs(chance.normal(size=DIMENSIONS)).astype(np.float32)
    # A source is one recording of a match: its clips are the match's moments, which the other recordings share.
    matches = chance.normal(size=(MATCHES, 1, 1, FREEDOM), scale=0.5)
    moments = chance.normal(size=(MATCHES, 1, MOMENTS, FREEDOM), scale=0.35)
    copies = chance.normal(size=(MATCHES, COPIES, MOMENTS, FREEDOM), scale=0.35)
    places = (matches + moments + copies).reshape(CLIPS, FREEDOM).astype(np.float32)
    vectors = places @ basis + middle
    vectors += chance.normal(size=vectors.shape, scale=0.05).astype(np.float32)
    chosen = chance.choice(CLIPS, questions, replace=False)
    asked = vectors[chosen] + chance.normal(size=(questions, FREEDOM), scale=0.2).astype(np.float32) @ basis
    return Shelves(_unit(vectors), _unit(asked))


async def fill(url: str, vectors: Vectors) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        given = {"sources": MATCHES * COPIES, "moments": MOMENTS}
        await connection.execute(_SOURCES, given)
        await connection.execute("alter table library_clips disable trigger library_clips_tile")
        await connection.execute(_CLIPS, given)
        await connection.execute("alter table library_clips enable trigger library_clips_tile")
        await connection.execute("drop index if exists library_embeddings_mobilenet_v3_small")
        columns = "clip_id, mobilenet_v3_small, mobilenet_v3_small_version"
        copying = f"copy library_embeddings ({columns}) from stdin (format binary)"
        async with connection.cursor().copy(copying.encode()) as copy:
            await copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for start in range(0, len(vectors), 5000):
                await copy.write(_rows(start + 1, vectors[start : start + 5000]))
            await copy.write(b"\xff\xff")
        await connection.execute("vacuum analyze")


def exact(vectors: Vectors, questions: Vectors, count: int) -> NDArray[np.int64]:
    """Return the indexes of the most similar clips for each query."""
    found = []
    for start in range(0, len(questions), 50):
        likeness = questions[start : start + 50] @ vectors.T
        found.append(np.argsort(-likeness, axis=1)[:, :count] + 1)
    return np.concatenate(found)


def _unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def _rows(first: int, vectors: Vectors) -> bytes:
    """Encode rows in PostgreSQL's binary COPY format: each field follows its length."""
    form = np.dtype(
        [("fields", ">i2"), ("a", ">i4"), ("id", ">i8"), ("b", ">i4"), ("size", ">i2"), ("none", ">i2"),
         ("vector", ">f4", DIMENSIONS), ("c", ">i4"), ("version", f"S{len(VERSION)}")]
    )  # fmt: skip
    rows = np.zeros(len(vectors), dtype=form)
    rows["fields"], rows["a"], rows["b"], rows["c"] = 3, 8, 4 + 4 * DIMENSIONS, len(VERSION)
    rows["id"], rows["size"] = np.arange(first, first + len(vectors)), DIMENSIONS
    rows["vector"], rows["version"] = vectors, VERSION
    return rows.tobytes()
