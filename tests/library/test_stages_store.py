"""What the stages find, begin, finish and fail: by the tables of the domain, each item once."""

from __future__ import annotations

from datetime import datetime, timedelta

import psycopg
import pytest

from found_footy.errors import BadRequest, EditRefused, NotFound
from found_footy.library.models import ClipState, SourceState
from found_footy.library.review import ActionKind
from found_footy.library.stages import (
    FIRST_RETRY_DELAY,
    MAX_STAGE_FAILURES,
    STAGES,
    ItemKind,
    Lane,
    LibraryStage,
    find_stage,
)
from found_footy.operations.models import LibraryStageUse
from found_footy.operations.store import OperationsStore
from found_footy.text import MAX_ERROR_TEXT
from tests.support.library_rows import ANNA, DETECTOR, NOW, UNDO_FOR, LibraryStores, master, pending

SETTLED = NOW + UNDO_FOR
MODELS = {"mobilenet_v3_small": "1"}

ALL_STATES = [
    (item, str(state)) for item, kind in ((ItemKind.SOURCE, SourceState), (ItemKind.CLIP, ClipState)) for state in kind
]


async def put_in(stores: LibraryStores, item: ItemKind, state: str) -> int:
    """An item in this state, however it came there."""
    async with stores.database.connection() as connection:
        source = await connection.execute(
            "insert into library_sources (kind, state, title, url, frames, rate_num, rate_den, width, height, audio,"
            " file_size, file_md5) values ('url', %s, 'film', 'x', 100, 25, 1, 320, 180, true, 1, 'x') returning id",
            [state if item is ItemKind.SOURCE else "spliced"],
        )
        source_id: int = (await source.fetchall())[0]["id"]
        clip = await connection.execute(
            "insert into library_clips (source_id, first_frame, end_frame, state) values (%s, 0, 100, %s) returning id",
            [source_id, state if item is ItemKind.CLIP else "spliced"],
        )
        clip_id: int = (await clip.fetchall())[0]["id"]
    return source_id if item is ItemKind.SOURCE else clip_id


async def work(
    stores: LibraryStores, stage: str, now: datetime = NOW, models: dict[str, str] | None = None
) -> list[int]:
    return await pending(stores.library, stage, MODELS if models is None else models, now)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
async def test_a_stage_takes_its_states_and_no_other(stores: LibraryStores, stage: LibraryStage) -> None:
    for item, state in ALL_STATES:
        if item is not stage.item:
            continue
        id_ = await put_in(stores, item, state)
        may = state in (stage.takes, stage.working, stage.failed)

        assert await stores.library.begin(stage, id_, NOW) is may, state

        found = await (stores.library.source(id_) if item is ItemKind.SOURCE else stores.library.clip(id_))
        assert found.state == (stage.working if may else state)
        if not may:
            assert not await stores.library.finish(stage, id_, NOW)
            await stores.library.fail(stage, id_, "late", "MediaBroken", True, NOW)
        else:
            assert await stores.library.finish(stage, id_, NOW)
            assert not await stores.library.finish(stage, id_, NOW), "a second time"
        after = await (stores.library.source(id_) if item is ItemKind.SOURCE else stores.library.clip(id_))
        assert after.state == (stage.done if may else state)
        assert after.error is None


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
async def test_a_failure_is_recorded_and_backs_off(stores: LibraryStores, stage: LibraryStage) -> None:
    id_ = await put_in(stores, stage.item, stage.takes)
    assert await stores.library.begin(stage, id_, NOW)
    await stores.library.fail(stage, id_, "no\x00 picture " + "x" * 5000, "MediaBroken", True, NOW)
    await stores.library.fail(stage, id_, "told twice", "MediaBroken", True, NOW)

    found = await (stores.library.source(id_) if stage.item is ItemKind.SOURCE else stores.library.clip(id_))
    assert (found.state, found.error_kind, found.failures) == (stage.failed, "MediaBroken", 1)
    assert found.error is not None
    assert found.error.startswith("no picture x")
    assert len(found.error) == MAX_ERROR_TEXT
    assert found.retry_at == NOW + FIRST_RETRY_DELAY
    assert id_ not in await work(stores, stage.name)
    assert id_ in await work(stores, stage.name, NOW + FIRST_RETRY_DELAY)
    others = [each for each in STAGES if each is not stage and each.failed is stage.failed]
    for other in others:
        assert id_ not in await work(stores, other.name, NOW + FIRST_RETRY_DELAY), (
            "it is the other stage's to try again"
        )
        assert not await stores.library.begin(other, id_, NOW + FIRST_RETRY_DELAY)


@pytest.mark.parametrize("retryable", [True, False])
async def test_an_item_that_fails_while_the_stage_works_for_others_is_parked(
    stores: LibraryStores, retryable: bool
) -> None:
    stage = find_stage("sprites")
    clip, *others = await stores.cut(frames=400, cuts=range(40, 400, 40))
    for number in range(MAX_STAGE_FAILURES if retryable else 1):
        now = NOW + timedelta(hours=number)
        assert await stores.library.begin(stage, clip.id, now)
        await stores.library.fail(stage, clip.id, "broken", "MediaBroken", retryable, now)
        await stores.prepare(others[number], now + timedelta(minutes=1))
    assert clip.id not in await work(stores, "sprites", NOW + timedelta(days=9))

    await stores.library.retry(None, clip.id, NOW)

    assert clip.id in await work(stores, "sprites")
    found = await stores.library.clip(clip.id)
    assert (found.failures, found.error, found.state) == (0, "broken", ClipState.SPRITE_FAILED)
    await stores.prepare(clip)
    found = await stores.library.clip(clip.id)
    assert (found.failures, found.error, found.error_kind, found.retry_at) == (0, None, None, None)


async def test_an_outage_parks_nothing_and_its_items_are_retried_once_it_is_over(stores: LibraryStores) -> None:
    stage = find_stage("sprites")
    one, two, three = await stores.cut()
    now = NOW
    for number in range(12):
        now = NOW + timedelta(hours=number)
        for clip in (one, two):
            assert await stores.library.begin(stage, clip.id, now)
            await stores.library.fail(stage, clip.id, "no free process", "DecoderUnavailable", True, now)
    soon = now + FIRST_RETRY_DELAY
    assert await work(stores, "sprites", soon) == [three.id], "both back off"
    await stores.prepare(three, now + timedelta(minutes=1))
    assert await work(stores, "sprites", soon - timedelta(seconds=1)) == []
    assert await work(stores, "sprites", soon) == [one.id, two.id], "the stage works again"


async def test_an_unavailable_engine_is_tried_again_soon(stores: LibraryStores) -> None:
    stage = find_stage("sprites")
    (clip,) = await stores.cut(cuts=())
    now = NOW
    for _ in range(12):
        assert await stores.library.begin(stage, clip.id, now)
        await stores.library.fail(stage, clip.id, "no connection", "ObjectStoreUnavailable", True, now)
        assert await work(stores, "sprites", now + timedelta(seconds=29)) == []
        now += timedelta(minutes=4)
        assert await work(stores, "sprites", now) == [clip.id]


@pytest.mark.parametrize(("stage", "expected"), [(None, 2), ("sprites", 1), ("splice", 0)])
async def test_all_failed_items_are_retried_at_once(stores: LibraryStores, stage: str | None, expected: int) -> None:
    (clip,) = await stores.cut(cuts=())
    source_id = await stores.new_source("other")
    for name, id_ in (("sprites", clip.id), ("download", source_id)):
        assert await stores.library.begin(find_stage(name), id_, NOW)
        await stores.library.fail(find_stage(name), id_, "broken", "MediaBroken", False, NOW)
    assert await stores.library.retry_failed(NOW, stage) == expected
    assert len(await work(stores, "sprites")) + len(await work(stores, "download")) == expected
    with pytest.raises(BadRequest, match="choose from download, splice"):
        await stores.library.retry_failed(NOW, "unknown")


async def test_pending_work_carries_the_length_of_the_video(stores: LibraryStores) -> None:
    clips = await stores.cut()
    source_id = await stores.new_source("other")
    found = {(each.stage, each.item): each.seconds for each in await stores.library.pending_work(MODELS, NOW, 9)}
    lengths = {("sprites", clip.id): clip.frames / 25 for clip in clips}
    assert found == {**lengths, ("download", source_id): 0.0}


async def test_progress_of_a_clip_is_published_while_its_stage_runs(stores: LibraryStores) -> None:
    clip, *_ = await stores.cut()
    await stores.library.save_clip_progress(clip.id, 0.3, NOW)  # the stage has not begun
    async with stores.stage("sprites", clip.id):
        await stores.library.save_clip_progress(clip.id, 0.4, NOW)
        assert (await stores.rows("library_clips"))[0]["progress"] == pytest.approx(0.4)
    assert (await stores.rows("library_clips"))[0]["progress"] is None
    assert [each.get("progress") for each in await stores.news("library.clip")] == [None, 0.4, None]


async def test_durations_failures_and_backlog_of_stages_are_measured(stores: LibraryStores) -> None:
    one, two, three = await stores.cut()
    sprites = find_stage("sprites")
    for seconds, clip in ((4, one), (8, two)):
        assert await stores.library.begin(sprites, clip.id, NOW)
        assert await stores.library.finish(sprites, clip.id, NOW + timedelta(seconds=seconds))
    assert await stores.library.begin(sprites, three.id, NOW)
    await stores.library.fail(sprites, three.id, "broken", "MediaBroken", False, NOW)
    await stores.new_source("other")
    facts = await OperationsStore(stores.database).facts(NOW)
    stages = {each.stage: each for each in facts.library}
    assert list(stages) == [each.name for each in STAGES]
    assert stages["sprites"] == LibraryStageUse("sprites", 0, 0, 0, parked=1, done=2, failed=1, seconds=12.0)
    assert stages["sprites"].mean_seconds == 6.0
    assert (stages["download"].waiting, stages["keyframes"].mean_seconds) == (1, None)


async def test_failures_of_one_stage_are_not_counted_for_the_next(stores: LibraryStores) -> None:
    source_id = await stores.new_source()
    download, splice = find_stage("download"), find_stage("splice")
    for _ in range(2):
        await stores.library.begin(download, source_id, NOW)
        await stores.library.fail(download, source_id, "away", "DownloadUnavailable", True, NOW)
    await stores.run("download", source_id)
    await stores.library.begin(splice, source_id, NOW)
    await stores.library.fail(splice, source_id, "broken", "MediaBroken", True, NOW)
    assert (await stores.library.source(source_id)).failures == 1


async def test_an_item_that_could_not_start_fails_too(stores: LibraryStores) -> None:
    (clip,) = await stores.cut(cuts=())
    await stores.library.fail(find_stage("sprites"), clip.id, "no worker", "StoreUnavailable", True, NOW)
    assert (await stores.library.clip(clip.id)).state is ClipState.SPRITE_FAILED


async def test_only_failed_items_can_be_retried(stores: LibraryStores) -> None:
    for item, state in ALL_STATES:
        id_ = await put_in(stores, item, state)
        source_id, clip_id = (id_, None) if item is ItemKind.SOURCE else (None, id_)
        if any(stage.item is item and stage.failed == state for stage in STAGES):
            await stores.library.retry(source_id, clip_id, NOW)
        else:
            with pytest.raises(EditRefused, match=f"{item} {id_} has not failed"):
                await stores.library.retry(source_id, clip_id, NOW)


async def test_retry_needs_one_existing_item(stores: LibraryStores) -> None:
    for source_id, clip_id in ((4711, None), (None, 4711)):
        with pytest.raises(NotFound, match="4711"):
            await stores.library.retry(source_id, clip_id, NOW)
    for both in (None, 1):
        with pytest.raises(BadRequest):
            await stores.library.retry(both, both, NOW)


async def test_no_stage_takes_a_clip_within_its_undo_window(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    await stores.review.decide(ActionKind.APPROVE, [one.id], ANNA)
    await stores.review.decide(ActionKind.ARCHIVE, [two.id], ANNA)
    split = await stores.review.split(three.id, 80, ANNA)
    soon = SETTLED - timedelta(microseconds=1)

    for stage in STAGES:
        assert await work(stores, stage.name, soon) == []
    assert not await stores.library.begin(find_stage("keyframes"), one.id, soon)
    assert await work(stores, "keyframes", SETTLED) == [one.id]
    assert await work(stores, "clean-up", SETTLED) == [two.id]
    assert await work(stores, "sprites", SETTLED) == [], "it is not settled"
    await stores.review.settle_edit(split.id, SETTLED)
    assert await work(stores, "sprites", SETTLED) == list(split.made)
    assert await work(stores, "clean-up", SETTLED) == [two.id, three.id]


async def test_a_clip_that_was_split_while_approved_gets_no_keyframes(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    await stores.review.decide(ActionKind.APPROVE, [one.id], ANNA)
    await stores.review.split(one.id, 10, ANNA)
    # Its time is over, and nobody has settled the edit yet.
    assert await work(stores, "keyframes", SETTLED) == []
    assert not await stores.library.begin(find_stage("keyframes"), one.id, SETTLED)


async def test_pending_work_is_limited_and_oldest_first(stores: LibraryStores) -> None:
    clips = await stores.cut(cuts=range(10, 100, 10))
    found = await pending(stores.library, "sprites", {}, NOW, 3)
    assert found == [clip.id for clip in clips[:3]]


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
async def test_goals_and_submissions_use_separate_lanes(stores: LibraryStores, stage: LibraryStage) -> None:
    film, goal, again = [await put_in(stores, stage.item, stage.takes) for _ in range(3)]
    clips = "select source_id from library_clips where id = any(%(goals)s)"
    of_goals = clips if stage.item is ItemKind.CLIP else "select unnest(%(goals)s)"
    async with stores.database.connection() as connection:
        await connection.execute(
            "update library_sources set kind = 'goal', event_id = id::text, video_md5 = 'x'"
            f" where id in ({of_goals})".encode(),
            {"goals": [goal, again]},
        )
        await connection.execute("insert into library_embeddings (clip_id) select id from library_clips")
    assert await stores.library.begin(stage, again, NOW), "who died at it left it so"

    found = {lane: await pending(stores.library, stage.name, MODELS, NOW, lane=lane) for lane in Lane}
    assert found == {Lane.GOALS: [goal, again], Lane.FILMS: [film]}
    assert await pending(stores.library, stage.name, MODELS, NOW) == [film, goal, again]


@pytest.mark.parametrize(
    ("models", "lacks"),
    [
        ({}, False),
        ({"mobilenet_v3_small": "1"}, False),
        ({"mobilenet_v3_small": "2"}, True),
        ({"mobilenet_v3_small": "0"}, True),
        ({"mobilenet_v3_small": "%s'; drop table outbox; --"}, True),
        ({"mobilenet_v3_small": "1", "siglip": "1"}, True),  # nobody has made its column yet
    ],
)
async def test_a_clip_is_embedded_again_for_another_model_or_version(
    stores: LibraryStores, models: dict[str, str], lacks: bool
) -> None:
    one, two, _ = await stores.ready()
    for clip in (one, two):
        await stores.review.decide(ActionKind.APPROVE, [clip.id], ANNA)
        await stores.run("keyframes", clip.id, SETTLED)
    assert await work(stores, "re-embedding", SETTLED, models) == [], "it was never embedded"
    await stores.run("embeddings", one.id, SETTLED)
    async with stores.database.connection() as connection:
        await connection.execute("update library_embeddings set mobilenet_v3_small_version = '1'")

    assert await work(stores, "re-embedding", SETTLED, models) == ([one.id] if lacks else [])
    assert await work(stores, "embeddings", SETTLED, models) == [two.id]


async def test_stages_with_one_working_state_are_distinguished(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    await stores.review.decide(ActionKind.APPROVE, [one.id], ANNA)
    await stores.run("keyframes", one.id, SETTLED)
    await stores.run("embeddings", one.id, SETTLED)
    assert await work(stores, "re-embedding", SETTLED) == [one.id], "no model was switched on"
    assert await stores.library.begin(find_stage("re-embedding"), one.id, SETTLED)

    assert await work(stores, "embeddings", SETTLED) == []
    assert not await stores.library.begin(find_stage("embeddings"), one.id, SETTLED)
    assert not await stores.library.finish(find_stage("embeddings"), one.id, SETTLED)
    # Whoever was at it may be gone: it is taken again, whatever vectors there are.
    assert await work(stores, "re-embedding", SETTLED, {}) == [one.id]
    assert await stores.library.finish(find_stage("re-embedding"), one.id, SETTLED)


async def test_invalid_model_names_are_rejected(stores: LibraryStores) -> None:
    with pytest.raises(BadRequest, match="invalid model name"):
        await work(stores, "re-embedding", NOW, {'x" or true --': "1"})


async def test_each_state_change_is_published(stores: LibraryStores) -> None:
    source_id = await stores.new_source()
    async with stores.stage("download", source_id):
        await stores.library.save_master(source_id, master())
    async with stores.stage("splice", source_id):
        await stores.library.save_scenes(source_id, "film", DETECTOR, [])
    (clip,) = await stores.library.clips_of(source_id)
    await stores.prepare(clip)
    await stores.library.save_progress(source_id, 0.5, NOW)  # nobody is at it any more
    states = [news["state"] for news in await stores.news("library.source")]
    assert states == ["new", "downloading", "downloaded", "splicing", "spliced"]
    assert await stores.news("library.clip") == [
        {"clip": clip.id, "source": clip.source_id, "state": state, "live": True}
        for state in ("generating_sprite", "pending_review")
    ]


async def test_a_repeated_begin_is_published_once(stores: LibraryStores) -> None:
    source_id = await stores.new_source()
    for _ in range(3):
        assert await stores.library.begin(find_stage("download"), source_id, NOW)
    assert [news["state"] for news in await stores.news("library.source")] == ["new", "downloading"]


async def test_the_schema_rejects_unknown_states(stores: LibraryStores) -> None:
    for item in ItemKind:
        with pytest.raises(psycopg.IntegrityError):
            await put_in(stores, item, "lost")
