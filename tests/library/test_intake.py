"""How sources come into the library: kept videos of goals whose search has ended, and what editors submit."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from found_footy.errors import NotFound
from found_footy.library.models import SourceKind, SourceState, Submission
from tests.library.goals import GOAL, add_goal
from tests.support.library_rows import NOW, Bench


async def test_a_published_clip_becomes_a_source_with_facts(bench: Bench) -> None:
    await add_goal(bench, videos={"a" * 32: "kept", "b" * 32: "replaced", "c" * 32: "refused"})

    assert await bench.library.import_published_clips(NOW, 99) == 1

    (row,) = await bench.rows("library_sources")
    source = await bench.library.source(row["id"])
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
    assert await bench.news("library.source") == [{"source": source.id, "state": "new"}]


@pytest.mark.parametrize(
    "unready",
    ["download_complete = false", "removed_at = now(), removed_reason = 'offside'"],
)
async def test_open_goals_are_not_imported(bench: Bench, unready: str) -> None:
    await add_goal(bench, also=unready)
    assert await bench.library.import_published_clips(NOW, 99) == 0


async def test_clips_are_imported_once(bench: Bench) -> None:
    await add_goal(bench, videos={f"{number:032x}": "kept" for number in range(7)})
    taken = await asyncio.gather(*(bench.library.import_published_clips(NOW, 5) for _ in range(4)))
    taken += [await bench.library.import_published_clips(NOW, 5), await bench.library.import_published_clips(NOW, 5)]
    assert (sum(taken), max(taken), taken[-1]) == (7, 5, 0)
    assert len(await bench.rows("library_sources")) == 7


async def test_a_source_outlives_its_match(bench: Bench) -> None:
    await add_goal(bench)
    await bench.library.import_published_clips(NOW, 9)
    async with bench.database.connection() as connection:
        await connection.execute("delete from fixtures")
    (row,) = await bench.rows("library_sources")
    assert (await bench.library.source(row["id"])).facts["player"] == "Mohamed Salah"


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
    bench: Bench, change: str, title: str, facts: dict[str, object]
) -> None:
    await add_goal(bench)
    await bench.library.import_published_clips(NOW, 9)
    (before,) = await bench.rows("library_sources")
    async with bench.database.connection() as connection:
        await connection.execute(f"update events set {change}".encode())
    later = NOW + timedelta(minutes=1)
    assert await bench.library.import_published_clips(later, 9) == 0
    (after,) = await bench.rows("library_sources")
    assert (after["title"], after["facts"]) == (title, {**before["facts"], **facts})
    assert (after["id"], after["state"], after["changed_at"]) == (before["id"], "new", later)
    told = len(await bench.news("library.source"))
    await bench.library.import_published_clips(later, 9)
    assert (told, len(await bench.news("library.source"))) == (2, 2), "once, and the pages hear of it"


async def test_a_wicket_has_overs_and_no_score(bench: Bench) -> None:
    await add_goal(
        bench, sport="cricket", also="type = 'Wicket', kind = 'Caught', innings = 2, elapsed = 12, extra = 3"
    )
    await bench.library.import_published_clips(NOW, 9)
    (row,) = await bench.rows("library_sources")
    assert row["title"] == "Mohamed Salah 12.3 ov · Liverpool – Manchester City"
    assert (row["facts"]["minute"], row["facts"]["score"], row["facts"]["kind"]) == ("12.3 ov", None, "Caught")


async def test_a_goal_without_a_scorer_is_titled_by_its_team(bench: Bench) -> None:
    await add_goal(bench, also="player_name = null, assist_name = null")
    await bench.library.import_published_clips(NOW, 9)
    (row,) = await bench.rows("library_sources")
    assert row["title"] == "Liverpool 90+3' · Liverpool 2–1 Manchester City"


async def test_a_submission_waits_for_its_download(bench: Bench) -> None:
    given = Submission(SourceKind.URL, "A \x00film \ud800", {"team": "Ajax\x00"}, "https://x.example/1", by="Anna")
    source = await bench.library.source(await bench.library.submit(given, NOW))

    assert (source.kind, source.state, source.url) == (SourceKind.URL, SourceState.NEW, "https://x.example/1")
    assert (source.title, source.submitted_by) == ("A film ?", "Anna")
    assert source.facts == {"team": "Ajax"}
    assert (source.master, source.progress, source.created_at) == (None, None, NOW)


async def test_a_long_title_is_truncated(bench: Bench) -> None:
    source_id = await bench.library.submit(Submission(SourceKind.URL, "x" * 9999, url="https://x.example"), NOW)
    assert len((await bench.library.source(source_id)).title) == 200


@pytest.mark.parametrize(
    "wrong",
    [
        Submission(SourceKind.URL, "no address"),
        Submission(SourceKind.FILE, "no file"),
        Submission(SourceKind.GOAL, "no goal", url="https://x.example"),
    ],
)
async def test_the_schema_rejects_a_source_without_origin(bench: Bench, wrong: Submission) -> None:
    with pytest.raises(psycopg.IntegrityError):
        await bench.library.submit(wrong, NOW)


async def test_unknown_ids_raise_not_found(bench: Bench) -> None:
    with pytest.raises(NotFound, match="source 4711 not found"):
        await bench.library.source(4711)
    with pytest.raises(NotFound, match="clip 4711 not found"):
        await bench.library.clip(4711)
    assert await bench.library.clips_of(4711) == []


async def test_progress_is_published_while_a_stage_runs(bench: Bench) -> None:
    source_id = await bench.new_source()
    await bench.library.save_progress(source_id, 0.1, NOW)
    assert (await bench.library.source(source_id)).progress is None, "nobody has begun"
    async with bench.stage("download", source_id):
        for share in (0.25, 0.25, 7.0):
            await bench.library.save_progress(source_id, share, datetime.now(UTC))
        assert (await bench.library.source(source_id)).progress == 1.0
    assert (await bench.library.source(source_id)).progress is None

    told = [news["progress"] for news in await bench.news("library.source") if "progress" in news]
    assert told == [0.25, 1.0]
