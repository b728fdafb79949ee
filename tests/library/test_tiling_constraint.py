"""The clips of a source tile it, whoever writes to the database: also by hand, and two at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import psycopg
import pytest

from found_footy.errors import MediaTooLarge
from found_footy.library.models import LibraryClip
from tests.support.library_rows import DETECTOR, LibraryStores, master


def lay(*tiles: tuple[int, int], live: bool = True) -> str:
    values = ", ".join(f"(%(source)s, {first}, {end}, 'spliced', {live})" for first, end in tiles)
    return f"insert into library_clips (source_id, first_frame, end_frame, state, live) values {values}"


RETIRE = "update library_clips set live = false where source_id = %(source)s and first_frame = "
DROP = "delete from library_clips where source_id = %(source)s and first_frame = "


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param([f"{DROP}0"], id="the first is deleted"),
        pytest.param([f"{DROP}40"], id="one in the middle is deleted"),
        pytest.param([f"{DROP}70"], id="the last is deleted"),
        pytest.param(["delete from library_clips where source_id = %(source)s"], id="all are deleted"),
        pytest.param([f"{RETIRE}40"], id="one is retired"),
        pytest.param(["update library_clips set live = false"], id="all are retired"),
        pytest.param([f"{RETIRE}40", lay((40, 60))], id="the new one is too short"),
        pytest.param([f"{RETIRE}40", lay((50, 70))], id="the new one begins too late"),
        pytest.param([f"{RETIRE}40", lay((40, 50), (51, 70))], id="a frame is missing between the halves"),
        pytest.param([f"{RETIRE}40", lay((40, 56), (55, 70))], id="a frame is in both halves"),
        pytest.param([f"{RETIRE}40", lay((40, 71))], id="it reaches into the next"),
        pytest.param([f"{RETIRE}70", lay((70, 99))], id="the last frame is missing"),
        pytest.param([f"{RETIRE}70", lay((70, 101))], id="there is a frame too many"),
        pytest.param([lay((100, 120))], id="one lies behind the end"),
        pytest.param([lay((10, 20))], id="one lies within another"),
        pytest.param(["update library_clips set end_frame = 39 where first_frame = 0"], id="an edge is moved"),
        pytest.param(["update library_clips set first_frame = 1 where first_frame = 0"], id="the start is moved"),
        pytest.param(["update library_clips set end_frame = end_frame + 1"], id="all are moved"),
        pytest.param(["update library_sources set frames = 101"], id="the film grows"),
        pytest.param(["update library_sources set frames = null"], id="the film is forgotten"),
        pytest.param([lay((-5, 0))], id="a frame before the first"),
        pytest.param([lay((100, 100))], id="a clip without a frame"),
        pytest.param(["insert into library_clips (source_id, first_frame, end_frame, state)"
                      " select max(id), 0, 100, 'spliced' from library_sources"], id="a source without a film"),
    ],
)  # fmt: skip
async def test_the_schema_rejects_gaps_and_overlaps(stores: LibraryStores, statements: Sequence[str]) -> None:
    clips = await stores.cut()
    await stores.new_source("without a film")
    before = await stores.rows("library_clips")

    with pytest.raises(psycopg.IntegrityError):
        await _write(stores, clips, statements)

    assert await stores.rows("library_clips") == before
    assert await stores.tiles(clips[0].source_id) == [(0, 40), (40, 70), (70, 100)]


@pytest.mark.parametrize(
    ("statements", "tiles"),
    [
        ([f"{RETIRE}40", lay((40, 50), (50, 70))], [(0, 40), (40, 50), (50, 70), (70, 100)]),
        ([f"{RETIRE}0", f"{RETIRE}40", lay((0, 70))], [(0, 70), (70, 100)]),
        ([f"{DROP}70", lay((70, 100))], [(0, 40), (40, 70), (70, 100)]),
        # What stands at the end counts, not what stood meanwhile.
        ([f"{RETIRE}40", lay((40, 69)), "update library_clips set end_frame = 70 where end_frame = 69"],
         [(0, 40), (40, 70), (70, 100)]),
        ([f"{RETIRE}40", lay((40, 50)), "update library_clips set live = not live where source_id = %(source)s"
          " and first_frame = 40 and end_frame = 50", "update library_clips set live = true where end_frame = 70"],
         [(0, 40), (40, 70), (70, 100)]),
        (["update library_clips set live = false where source_id = %(source)s", lay((0, 100))], [(0, 100)]),
        ([lay((10, 20), live=False)], [(0, 40), (40, 70), (70, 100)]),
    ],
)  # fmt: skip
async def test_the_schema_accepts_another_tiling(
    stores: LibraryStores, statements: Sequence[str], tiles: Sequence[tuple[int, int]]
) -> None:
    clips = await stores.cut()
    await stores.cut(name="beside it")
    await _write(stores, clips, statements)
    assert await stores.tiles(clips[0].source_id) == tiles


async def test_deleting_a_source_deletes_its_clips(stores: LibraryStores) -> None:
    clips = await stores.cut()
    await _write(stores, clips, ["delete from library_sources where id = %(source)s"])
    assert await stores.library.clips_of(clips[0].source_id) == []


async def test_a_clip_stays_with_its_source(stores: LibraryStores) -> None:
    one = await stores.cut(cuts=())
    await stores.cut(cuts=(), name="other")
    with pytest.raises(psycopg.IntegrityError, match=r"another source|do_not_overlap"):
        await _write(stores, one, ["update library_clips set source_id = %(source)s"])


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        # Each is right alone; together they would lay the same frames twice, or not at all.
        ([f"{RETIRE}40", lay((40, 50), (50, 70))], [f"{RETIRE}40", lay((40, 60), (60, 70))]),
        ([f"{RETIRE}0", f"{RETIRE}40", lay((0, 70))], [f"{RETIRE}40", f"{RETIRE}70", lay((40, 100))]),
        ([f"{RETIRE}40", lay((40, 50), (50, 70))], [f"{RETIRE}40", f"{RETIRE}70", lay((40, 100))]),
    ],
)
async def test_of_two_transactions_at_once_one_is_refused(
    stores: LibraryStores, mine: Sequence[str], theirs: Sequence[str]
) -> None:
    clips = await stores.cut()
    meet = asyncio.Barrier(2)

    async def edit(statements: Sequence[str]) -> None:
        await _write(stores, clips, statements, meet)

    results = await asyncio.gather(edit(mine), edit(theirs), return_exceptions=True)

    refused = [each for each in results if each is not None]
    assert len(refused) == 1
    # A deadlock that the database has to break is an answer, too.
    assert isinstance(refused[0], psycopg.Error) or "deadlock" in str(refused[0])
    await stores.tiles(clips[0].source_id)


async def test_a_long_film_is_tiled_at_once(stores: LibraryStores) -> None:
    """Four hours with a cut in every fourth second."""
    clips = await stores.cut(frames=360_000, cuts=range(100, 360_000, 100))
    assert len(clips) == 3_600
    assert len(await stores.tiles(clips[0].source_id)) == 3_600


async def test_a_film_with_too_many_frames_is_rejected(stores: LibraryStores) -> None:
    source_id = await stores.new_source()
    with pytest.raises(MediaTooLarge, match="16777216 frames; the maximum is 16777215"):
        await stores.library.save_master(source_id, master(2**24))
    await stores.library.save_master(source_id, master(2**24 - 1))
    assert await stores.library.save_scenes(source_id, "long", DETECTOR, []) == 1


async def _write(
    stores: LibraryStores, clips: Sequence[LibraryClip], statements: Sequence[str], meet: asyncio.Barrier | None = None
) -> None:
    async with stores.database.connection() as connection:
        if meet is not None:
            await connection.execute("select 1")
            await meet.wait()
        for statement in statements:
            await connection.execute(statement.encode(), {"source": clips[0].source_id})
