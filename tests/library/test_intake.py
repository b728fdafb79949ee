"""How sources come into the library: kept videos of goals whose search has ended, and what editors submit."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from found_footy.errors import NotFound
from found_footy.library.models import SourceKind, SourceState, Submission
from tests.library.goals import GOAL, add_goal
from tests.support.library_rows import NOW, LibraryStores


async def test_a_published_clip_becomes_a_source_with_facts(stores: LibraryStores) -> None:
    await add_goal(stores, videos={"a" * 32: "kept", "b" * 32: "replaced", "c" * 32: "refused"})

    assert await stores.library.import_published_clips(NOW, 99) == 1

    (row,) = await stores.rows("library_sources")
    source = await stores.library.source(row["id"])
    assert (source.kind, source.state) == (SourceKind.GOAL, SourceState.NEW)
    assert (source.event_id, source.video_md5) == (GOAL, "a" * 32)
    assert source.title == "Mohamed Salah 90+3' · Liverpool 2–1 Manchester City"
    assert source.facts == {
        "event_id": GOAL,
        "fixture_id": 7001,
        "sport": "football",
        "competition": "Premier League",
        "home": "Liverpool",
        "away": "Manchester City",
        "team": "Liverpool",
        "player": "Mohamed Salah",
        "assist": "Darwin Núñez",
        "minute": "90+3'",
        "kind": "Penalty",
        "score": "2–1",
        "kickoff": "2026-08-22T14:00:00+00:00",
        "verified": True,
    }
    assert source.created_at == NOW
    assert await stores.news("library.source") == [{"source": source.id, "state": "new"}]


@pytest.mark.parametrize(
    "unready",
    ["download_complete = false", "removed_at = now(), removed_reason = 'offside'"],
)
async def test_open_goals_are_not_imported(stores: LibraryStores, unready: str) -> None:
    await add_goal(stores, also=unready)
    assert await stores.library.import_published_clips(NOW, 99) == 0


async def test_clips_are_imported_once(stores: LibraryStores) -> None:
    await add_goal(stores, videos={f"{number:032x}": "kept" for number in range(7)})
    taken = await asyncio.gather(*(stores.library.import_published_clips(NOW, 5) for _ in range(4)))
    taken += [await stores.library.import_published_clips(NOW, 5), await stores.library.import_published_clips(NOW, 5)]
    assert (sum(taken), max(taken), taken[-1]) == (7, 5, 0)
    assert len(await stores.rows("library_sources")) == 7


async def test_a_source_outlives_its_match(stores: LibraryStores) -> None:
    await add_goal(stores)
    await stores.library.import_published_clips(NOW, 9)
    async with stores.database.connection() as connection:
        await connection.execute("delete from fixtures")
    (row,) = await stores.rows("library_sources")
    assert (await stores.library.source(row["id"])).facts["player"] == "Mohamed Salah"


@pytest.mark.parametrize(
    ("change", "title", "facts"),
    [
        (
            "player_name = 'Luis Díaz', elapsed = 89, extra = null",
            "Luis Díaz 89' · Liverpool 2–1 Manchester City",
            {"player": "Luis Díaz", "minute": "89'"},
        ),
        (
            "removed_at = now(), removed_reason = 'offside'",
            "Withdrawn: Mohamed Salah 90+3' · Liverpool 2–1 Manchester City",
            {"withdrawn": True},
        ),
    ],
)
async def test_facts_follow_corrections_of_the_goal(
    stores: LibraryStores, change: str, title: str, facts: dict[str, object]
) -> None:
    await add_goal(stores)
    await stores.library.import_published_clips(NOW, 9)
    (before,) = await stores.rows("library_sources")
    async with stores.database.connection() as connection:
        await connection.execute(f"update events set {change}".encode())
    later = NOW + timedelta(minutes=1)
    assert await stores.library.import_published_clips(later, 9) == 0
    (after,) = await stores.rows("library_sources")
    assert (after["title"], after["facts"]) == (title, {**before["facts"], **facts})
    assert (after["id"], after["state"], after["changed_at"]) == (before["id"], "new", later)
    told = len(await stores.news("library.source"))
    await stores.library.import_published_clips(later, 9)
    assert (told, len(await stores.news("library.source"))) == (2, 2), "once, and the pages hear of it"


async def test_a_wicket_has_overs_and_no_score(stores: LibraryStores) -> None:
    await add_goal(
        stores, sport="cricket", also="type = 'Wicket', kind = 'Caught', innings = 2, elapsed = 12, extra = 3"
    )
    await stores.library.import_published_clips(NOW, 9)
    (row,) = await stores.rows("library_sources")
    assert row["title"] == "Mohamed Salah 12.3 ov · Liverpool – Manchester City"
    assert (row["facts"]["minute"], row["facts"]["score"], row["facts"]["kind"]) == ("12.3 ov", None, "Caught")


async def test_a_goal_without_a_scorer_is_titled_by_its_team(stores: LibraryStores) -> None:
    await add_goal(stores, also="player_name = null, assist_name = null")
    await stores.library.import_published_clips(NOW, 9)
    (row,) = await stores.rows("library_sources")
    assert row["title"] == "Liverpool 90+3' · Liverpool 2–1 Manchester City"


async def test_a_submission_waits_for_its_download(stores: LibraryStores) -> None:
    given = Submission(SourceKind.URL, "A \x00film \ud800", {"team": "Ajax\x00"}, "https://x.example/1", by="Anna")
    source = await stores.library.source(await stores.library.submit(given, NOW))

    assert (source.kind, source.state, source.url) == (SourceKind.URL, SourceState.NEW, "https://x.example/1")
    assert (source.title, source.submitted_by) == ("A film ?", "Anna")
    assert source.facts == {"team": "Ajax"}
    assert (source.master, source.progress, source.created_at) == (None, None, NOW)


async def test_a_long_title_is_truncated(stores: LibraryStores) -> None:
    source_id = await stores.library.submit(Submission(SourceKind.URL, "x" * 9999, url="https://x.example"), NOW)
    assert len((await stores.library.source(source_id)).title) == 200


@pytest.mark.parametrize(
    "wrong",
    [
        Submission(SourceKind.URL, "no address"),
        Submission(SourceKind.FILE, "no file"),
        Submission(SourceKind.GOAL, "no goal", url="https://x.example"),
    ],
)
async def test_the_schema_rejects_a_source_without_origin(stores: LibraryStores, wrong: Submission) -> None:
    with pytest.raises(psycopg.IntegrityError):
        await stores.library.submit(wrong, NOW)


async def test_unknown_ids_raise_not_found(stores: LibraryStores) -> None:
    with pytest.raises(NotFound, match="source 4711 not found"):
        await stores.library.source(4711)
    with pytest.raises(NotFound, match="clip 4711 not found"):
        await stores.library.clip(4711)
    assert await stores.library.clips_of(4711) == []


async def test_progress_is_published_while_a_stage_runs(stores: LibraryStores) -> None:
    source_id = await stores.new_source()
    await stores.library.save_progress(source_id, 0.1, NOW)
    assert (await stores.library.source(source_id)).progress is None, "nobody has begun"
    async with stores.stage("download", source_id):
        for share in (0.25, 0.25, 7.0):
            await stores.library.save_progress(source_id, share, datetime.now(UTC))
        assert (await stores.library.source(source_id)).progress == 1.0
    assert (await stores.library.source(source_id)).progress is None

    told = [news["progress"] for news in await stores.news("library.source") if "progress" in news]
    assert told == [0.25, 1.0]
