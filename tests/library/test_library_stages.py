"""Each stage of the library on real engines: what it makes, how it fails, and that it goes on after anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from found_footy.clips.models import clip_key
from found_footy.errors import FootyError
from found_footy.fixtures.store import FixtureStore
from found_footy.library import activities, clip_files
from found_footy.library.models import (
    ClipState,
    SourceKind,
    SourceState,
    Submission,
    clip_file_key,
    keyframe_key,
    master_key,
    piece_key,
    sprite_key,
    upload_key,
)
from found_footy.library.review import ActionKind
from found_footy.library.scrub import scrub
from found_footy.library.stages import FIRST_RETRY_DELAY, STAGES, FindWorkInput, ItemKind, StageFailure, find_stage
from found_footy.library.submissions import default_title
from found_footy.storage.objects.store import ThreadedObjectStore
from tests.library.goals import GOAL, VIDEO, add_goal
from tests.support.library_rows import LibraryStores
from tests.support.library_system import FRAMES, KEYFRAMES, SCENES, LibrarySystem, film_bytes, library_system

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def system(store: FixtureStore, objects: ThreadedObjectStore, tmp_path: Path) -> AsyncIterator[LibrarySystem]:
    async with library_system(store.database, objects, tmp_path) as made:
        yield made


async def deleted_leftovers(system: LibrarySystem) -> None:
    await ActivityEnvironment().run(system.dispatch.delete_leftovers, FindWorkInput())


async def state_of(system: LibrarySystem, stage: str, item: int) -> str:
    if find_stage(stage).item is ItemKind.SOURCE:
        return (await system.store.source(item)).state
    return (await system.store.clip(item)).state


async def test_a_film_passes_all_stages(system: LibrarySystem) -> None:
    source = await system.submitted()
    assert await system.due("download") == [source]
    assert await system.run("download", source)
    found = await system.store.source(source)
    assert (found.state, found.master and found.master.frames) == (SourceState.DOWNLOADED, FRAMES)
    await deleted_leftovers(system)
    assert await system.keys() == [master_key(source)], "the upload has done its duty"

    assert await system.run("splice", source)
    clips = await system.store.clips_of(source)
    assert [(clip.first, clip.end) for clip in clips] == [(0, 40), (40, 80), (80, 120)]
    assert await system.due("sprites") == [clip.id for clip in clips]

    first = clips[0].id
    assert await system.run("sprites", first)
    clip = await system.store.clip(first)
    assert (clip.state, clip.has_file, clip.sprite and clip.sprite.frames) == (ClipState.PENDING_REVIEW, True, 40)

    await system.review.decide(ActionKind.APPROVE, [first], system.who)
    assert await system.due("keyframes") == [], "it can still be undone"
    system.clock.pass_by(61)
    assert await system.due("keyframes") == [first]
    assert await system.run("keyframes", first)
    assert await system.run("embeddings", first)
    assert (await system.store.clip(first)).state == ClipState.EMBEDDED
    assert await system.due("re-embedding") == []
    assert await system.keys() == await system.named()
    assert clip_file_key(source, first) in await system.keys()
    assert keyframe_key(source, first, len(KEYFRAMES) - 1) in await system.keys()


async def test_a_clip_that_covers_its_source_has_no_second_file(system: LibrarySystem) -> None:
    (clip,) = await system.spliced(film_bytes(scenes=1))
    assert await system.run("sprites", clip.id)
    assert not (await system.store.clip(clip.id)).has_file
    await deleted_leftovers(system)
    assert await system.keys() == sorted([master_key(clip.source_id), sprite_key(clip.source_id, clip.id)])


async def test_sprites_and_keyframes_come_from_the_clips_own_file(
    system: LibrarySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, clip, _ = await system.spliced()
    cuts = []
    cut_clip = system.workshop.cut_clip

    async def counted(*arguments: Any) -> None:
        cuts.append(arguments[1:3])
        await cut_clip(*arguments)

    monkeypatch.setattr(system.workshop, "cut_clip", counted)
    assert await system.run("sprites", clip.id)
    assert cuts == [(40, 80)]
    await system.review.decide(ActionKind.APPROVE, [clip.id], system.who)
    system.clock.pass_by(61)
    await system.objects.delete([master_key(clip.source_id)])
    assert await system.run("keyframes", clip.id), "the master is not needed"
    keyframes = await system.store.keyframes(clip.id)
    assert all(40 <= each.frame < 80 for each in keyframes), "frames are counted in the master"


class WorkerKilled(BaseException):
    """Ends an activity without any handling, as a kill does."""


async def test_a_killed_sprites_stage_resumes_from_the_clip_file(
    system: LibrarySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, clip, _ = await system.spliced()

    async def killed(*_: object) -> None:
        raise WorkerKilled

    with monkeypatch.context() as patch:
        patch.setattr(system.workshop, "make_sprite_sheet", killed)
        with pytest.raises(WorkerKilled):
            await system.run("sprites", clip.id)
    monkeypatch.setattr(system.workshop, "cut_clip", killed)
    assert await system.run("sprites", clip.id)
    assert (await system.store.clip(clip.id)).state is ClipState.PENDING_REVIEW


async def test_a_killed_cut_resumes_from_its_last_finished_piece(
    system: LibrarySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip_files, "PIECE_SECONDS", 0.4)  # 10 frames
    short, clip, _ = await system.spliced()
    async with system.store._db.connection() as connection:  # no keyframe at 3, so that the clip must be encoded
        await connection.execute("update library_clips set end_frame = 3 where id = %s", [short.id])
        await connection.execute("update library_clips set first_frame = 3 where id = %s", [clip.id])
    encoded: list[int] = []
    encode_piece = system.workshop.encode_piece

    async def killed_at_the_fourth(path: Path, first: int, *arguments: Any) -> None:
        encoded.append(first)
        if encoded == [3, 13, 23, 33]:
            raise WorkerKilled
        await encode_piece(path, first, *arguments)

    monkeypatch.setattr(system.workshop, "encode_piece", killed_at_the_fourth)
    with pytest.raises(WorkerKilled):
        await system.run("sprites", clip.id)
    assert await system.run("sprites", clip.id)
    assert encoded == [3, 13, 23, 33, *range(33, 80, 10)], "no finished piece is encoded again"
    made = await system.store.clip(clip.id)
    assert (made.state, made.sprite and made.sprite.frames) == (ClipState.PENDING_REVIEW, 77)
    assert not [key for key in await system.keys() if key.endswith("-0.mp4")], "the pieces are deleted"


async def test_the_pieces_of_a_clip_are_deleted_with_it(system: LibrarySystem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clip_files, "PIECE_SECONDS", 0.4)
    clip, *_ = await system.spliced()
    assert await system.run("sprites", clip.id)
    await system.put(piece_key(clip.source_id, clip.id, 3), b"left by a killed worker")
    await system.review.decide(ActionKind.ARCHIVE, [clip.id], system.who)
    system.clock.pass_by(61)
    assert await system.run("clean-up", clip.id)
    await deleted_leftovers(system)
    assert await system.keys() == await system.named()


async def test_a_killed_download_resumes_from_the_downloaded_file(
    system: LibrarySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activities, "MIN_RESUMABLE_BYTES", 1)
    url = "https://videos.example/match.mp4"
    source = await system.store.submit(Submission(SourceKind.URL, default_title(url), url=url), system.clock())
    downloads = []

    class Fetcher:
        async def fetch(self, url: str, to: Path, progress: object) -> str:
            downloads.append(url)
            await asyncio.to_thread(to.write_bytes, film_bytes())
            return "A match"

    async def killed(*_: object) -> None:
        raise WorkerKilled

    stages = system.activities["download_source"].__self__
    monkeypatch.setattr(stages, "_fetcher", Fetcher())
    with monkeypatch.context() as patch:
        patch.setattr(system.workshop, "make_master", killed)
        with pytest.raises(WorkerKilled):
            await system.run("download", source)
    assert await system.run("download", source)
    found = await system.store.source(source)
    assert (found.state, found.title, downloads) == (SourceState.DOWNLOADED, "A match", [url])
    await deleted_leftovers(system)
    assert await system.keys() == [master_key(source)], "the master replaces the downloaded file"


async def test_known_scenes_are_not_detected_again(system: LibrarySystem, monkeypatch: pytest.MonkeyPatch) -> None:
    await system.spliced(name="first")

    async def never(*args: object) -> None:
        raise AssertionError("looked for again")

    monkeypatch.setattr(system.workshop, "find_scene_cuts", never)
    assert len(await system.spliced(name="second")) == SCENES


async def test_duplicates_are_paired_in_any_order(system: LibrarySystem, store: FixtureStore) -> None:
    one, other, copy = await system.spliced(film_bytes(seeds=(10, 11, 10)))
    assert all(await asyncio.gather(*(system.run("sprites", clip.id) for clip in (one, other, copy))))
    async with store.database.connection() as connection:
        cursor = await connection.execute("select one, other from library_duplicates")
        assert [(row["one"], row["other"]) for row in await cursor.fetchall()] == [(one.id, copy.id)]


async def test_another_model_embeds_again(system: LibrarySystem) -> None:
    clips = await system.in_review()
    await system.review.decide(ActionKind.APPROVE, [clips[0].id], system.who)
    system.clock.pass_by(61)
    assert await system.run("keyframes", clips[0].id)
    assert await system.run("embeddings", clips[0].id)
    system.models = dict.fromkeys(system.models, "newer")
    assert await system.due("re-embedding") == [clips[0].id]
    assert await system.run("re-embedding", clips[0].id)
    assert system.embedder.asked == 1, "its vector of this model was there"
    async with system.store._db.connection() as connection:
        await connection.execute("update library_embeddings set mobilenet_v3_small_version = 'older'")
    assert await system.run("re-embedding", clips[0].id)
    assert system.embedder.asked == 2


async def test_an_archived_clip_loses_its_files_and_stays_a_tile(system: LibrarySystem) -> None:
    clips = await system.in_review()
    before = await system.keys()
    await system.review.decide(ActionKind.ARCHIVE, [clips[1].id], system.who)
    system.clock.pass_by(61)
    assert await system.run("clean-up", clips[1].id)
    gone = {clip_file_key(clips[1].source_id, clips[1].id), sprite_key(clips[1].source_id, clips[1].id)}
    assert set(before) - set(await system.keys()) == gone
    kept = await system.store.clip(clips[1].id)
    assert (kept.state, kept.live) == (ClipState.ARCHIVED, True)
    assert await system.store.pending_deletions(10) == [upload_key("film")]


async def test_archiving_keeps_the_goals_own_file(system: LibrarySystem, store: FixtureStore) -> None:
    """A video of one scene: its clip has no file of its own, and what it shows would stay for ever."""
    await add_goal(LibraryStores(store.database))
    published = clip_key(7001, GOAL, VIDEO)
    await system.put(published, film_bytes(scenes=1))
    assert await system.store.import_published_clips(system.clock(), 9) == 1
    (source,) = await system.due("download")
    assert await system.run("download", source)
    assert await system.run("splice", source)
    (clip,) = await system.store.clips_of(source)
    assert await system.run("sprites", clip.id)
    assert await system.keys() == sorted([master_key(source), sprite_key(source, clip.id)])

    await system.review.decide(ActionKind.ARCHIVE, [clip.id], system.who)
    system.clock.pass_by(61)
    assert await system.run("clean-up", clip.id)
    assert await system.keys() == await system.named() == []
    assert await system.objects.head(published) is not None
    seen = await scrub(system.store, system.objects, system.clock())
    assert (seen.is_clean, seen.rows, seen.objects, seen.to_delete) == (True, 0, 0, 0)
    assert await system.store.import_published_clips(system.clock(), 9) == 0


async def test_a_removed_film_is_deleted_by_the_clean_up(system: LibrarySystem) -> None:
    clips = await system.in_review()
    source = clips[0].source_id
    await system.review.remove_source(source, system.who)
    assert await system.due("clean-up") == [], "it can still be undone"
    system.clock.pass_by(61)
    for clip in await system.due("clean-up"):
        assert await system.run("clean-up", clip)
    await deleted_leftovers(system)
    assert await system.keys() == await system.named() == []
    assert await system.store.pending_deletions(9) == []


async def test_an_edit_becomes_files_when_it_is_settled(system: LibrarySystem) -> None:
    clips = await system.in_review()
    done = await system.review.merge(clips[0].id, clips[1].id, system.who)
    (made,) = done.made
    assert (await system.store.clip(made)).state == ClipState.EDIT_PENDING
    await ActivityEnvironment().run(system.dispatch.find_work, FindWorkInput())
    assert (await system.store.clip(made)).state == ClipState.EDIT_PENDING, "the undo window is open"
    system.clock.pass_by(61)
    assert (await ActivityEnvironment().run(system.dispatch.find_work, FindWorkInput())).settled == 1
    assert await system.due("sprites") == [made]
    assert await system.due("clean-up") == [clips[0].id, clips[1].id]
    assert await system.run("sprites", made)
    for clip in clips[:2]:
        assert await system.run("clean-up", clip.id)
    await deleted_leftovers(system)
    assert await system.keys() == await system.named()
    states = [(clip.state, clip.live) for clip in await system.store.clips_of(clips[0].source_id)]
    assert sorted(states) == sorted([(ClipState.ARCHIVED, False)] * 2 + [(ClipState.PENDING_REVIEW, True)] * 2)


async def test_an_undone_edit_creates_no_files(system: LibrarySystem) -> None:
    clips = await system.in_review()
    before = await system.keys()
    await system.review.split(clips[0].id, 20, system.who)
    await system.review.undo(system.who)
    system.clock.pass_by(61)
    assert await system.review.settle_due_edits(system.clock(), 9) == 0
    assert await system.due("sprites") == await system.due("clean-up") == []
    assert await system.keys() == before


async def test_a_skipped_clip_can_be_approved_later(system: LibrarySystem) -> None:
    clips = await system.spliced(film_bytes(scenes=1))
    assert await system.run("sprites", clips[0].id)
    await system.review.decide(ActionKind.SKIP, [clips[0].id], system.who)
    system.clock.pass_by(61)
    assert (await system.store.clip(clips[0].id)).state == ClipState.REVIEW_SKIPPED
    for stage in STAGES:
        assert clips[0].id not in await system.due(stage.name) or stage.item is ItemKind.SOURCE
    await system.review.decide(ActionKind.APPROVE, [clips[0].id], system.who)
    system.clock.pass_by(61)
    assert await system.due("keyframes") == [clips[0].id]


# --- failures


async def prepared(system: LibrarySystem, stage: str) -> tuple[int, str]:
    """An item that this stage takes, and an object without which it fails."""
    if stage == "download":
        return await system.submitted(), upload_key("film")
    if stage == "splice":
        source = await system.submitted()
        assert await system.run("download", source)
        return source, master_key(source)
    if stage == "sprites":
        clip = (await system.spliced())[0]
        return clip.id, master_key(clip.source_id)
    clip = (await system.spliced())[0]
    assert await system.run("sprites", clip.id)
    kind = ActionKind.ARCHIVE if stage == "clean-up" else ActionKind.APPROVE
    await system.review.decide(kind, [clip.id], system.who)
    system.clock.pass_by(61)
    if stage == "keyframes":
        await system.objects.delete([master_key(clip.source_id)])  # from which a missing file would be cut
        return clip.id, clip_file_key(clip.source_id, clip.id)
    if stage == "clean-up":
        return clip.id, master_key(clip.source_id)
    assert await system.run("keyframes", clip.id)
    if stage == "re-embedding":
        assert await system.run("embeddings", clip.id)
        system.models = dict.fromkeys(system.models, "newer")
    return clip.id, keyframe_key(clip.source_id, clip.id, 0)


@pytest.mark.parametrize("stage", [stage.name for stage in STAGES if stage.name != "clean-up"])
async def test_each_stage_survives_failure_retry_and_crash(system: LibrarySystem, tmp_path: Path, stage: str) -> None:
    item, key = await prepared(system, stage)
    spare = tmp_path / "spare"
    await system.objects.get(key, spare)
    await system.objects.delete([key])
    with pytest.raises(FootyError) as failure:
        await system.run(stage, item)
    assert (failure.value.kind, failure.value.retryable) == ("ObjectMissing", False)
    assert await state_of(system, stage, item) == find_stage(stage).working

    failed = StageFailure(stage, item, str(failure.value), "ObjectMissing", retryable=False)
    for _ in range(2):
        await ActivityEnvironment().run(system.dispatch.fail_stage, failed)
    assert await state_of(system, stage, item) == find_stage(stage).failed
    assert item not in await system.due(stage), "only a person can help"

    await system.objects.put(key, spare)
    is_source = find_stage(stage).item is ItemKind.SOURCE
    await system.store.retry(item if is_source else None, None if is_source else item, system.clock())
    assert item in await system.due(stage)

    # Somebody takes it, and dies.
    assert await system.store.begin(find_stage(stage), item, system.clock())
    assert item in await system.due(stage)
    assert await system.run(stage, item)
    assert await state_of(system, stage, item) == find_stage(stage).done
    before = await system.keys()
    # What is embedded may be embedded again at any time.
    assert await system.run(stage, item) is (stage == "re-embedding")
    assert await system.keys() == before


async def test_deletions_stay_queued_while_the_store_is_unavailable(system: LibrarySystem, tmp_path: Path) -> None:
    item, _ = await prepared(system, "clean-up")
    (tmp_path / "objects").rename(tmp_path / "away")
    with pytest.raises(FootyError) as failure:
        await system.run("clean-up", item)
    assert (failure.value.kind, failure.value.retryable) == ("ObjectStoreUnavailable", True)
    clip = await system.store.clip(item)
    assert (clip.state, clip.has_file, clip.sprite) == (ClipState.CLEANING, False, None)
    assert sprite_key(clip.source_id, clip.id) in await system.store.pending_deletions(10)
    await deleted_leftovers(system)
    assert sprite_key(clip.source_id, clip.id) in await system.store.pending_deletions(10)

    failed = StageFailure("clean-up", item, str(failure.value), "ObjectStoreUnavailable", retryable=True)
    await ActivityEnvironment().run(system.dispatch.fail_stage, failed)
    assert (await system.store.clip(item)).state == ClipState.CLEANING_FAILED
    assert await system.due("clean-up") == []
    system.clock.pass_by((FIRST_RETRY_DELAY + timedelta(seconds=1)).total_seconds())
    (tmp_path / "away").rename(tmp_path / "objects")
    assert await system.due("clean-up") == [item]
    assert await system.store.begin(find_stage("clean-up"), item, system.clock())
    assert await system.run("clean-up", item)
    assert not await system.run("clean-up", item)
    await deleted_leftovers(system)
    assert await system.store.pending_deletions(10) == []
    assert await system.keys() == await system.named()


@pytest.mark.parametrize(("content", "kind"), [(b"", "NotAVideo"), (b"no film at all", "NotAVideo"), (None, None)])
async def test_an_invalid_file_fails_permanently_without_naming_local_paths(
    system: LibrarySystem, content: bytes | None, kind: str | None, tmp_path: Path
) -> None:
    # What is not given is a film that is cut off.
    source = await system.submitted(film_bytes()[:3000] if content is None else content)
    with pytest.raises(FootyError) as failure:
        await system.run("download", source)
    assert not failure.value.retryable
    assert kind in (None, failure.value.kind)
    assert str(tmp_path) not in str(failure.value)
    assert await system.keys() == [upload_key("film")]


async def test_a_forbidden_url_fails_permanently(system: LibrarySystem) -> None:
    order = Submission(SourceKind.URL, "A film", url="http://127.0.0.1:9/film.mp4")
    source = await system.store.submit(order, system.clock())
    with pytest.raises(FootyError) as failure:
        await system.run("download", source)
    assert (failure.value.kind, failure.value.retryable) == ("BadRequest", False)


async def test_the_dispatcher_finds_work_of_every_stage(system: LibrarySystem) -> None:
    first = await system.submitted(name="one")
    second = await system.submitted(name="two")
    assert await system.run("download", second)
    found = await ActivityEnvironment().run(system.dispatch.find_work, FindWorkInput())
    assert [(each.stage, each.item) for each in found.work] == [("download", first), ("splice", second)]
    assert found.deletions == 1


async def test_an_idle_dispatcher_returns_after_its_long_poll_or_at_shutdown(system: LibrarySystem) -> None:
    found = await ActivityEnvironment().run(system.dispatch.find_work, FindWorkInput())
    assert (found.work, found.settled, found.deletions) == ([], 0, 0)
    system.dispatch._long_poll_seconds = 3600
    environment = ActivityEnvironment()
    asking = asyncio.ensure_future(environment.run(system.dispatch.find_work, FindWorkInput()))
    await asyncio.sleep(0)
    environment.worker_shutdown()
    assert (await asyncio.wait_for(asking, 30)).work == []
