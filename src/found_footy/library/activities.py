"""Activities of the library: the dispatcher's quick ones, and one for each stage."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, groupby, zip_longest
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError

from found_footy.clips.dedup import find_duplicates
from found_footy.clips.download_http import DownloadLimits
from found_footy.clips.models import clip_key
from found_footy.config import Settings
from found_footy.errors import (
    EmbeddingError,
    EngineError,
    FootyError,
    InternalFault,
    MediaError,
    MediaTooLarge,
    ObjectStoreError,
    ObjectStoreUnavailable,
)
from found_footy.library.clip_files import ClipFiles, is_whole, piece_keys
from found_footy.library.embedders import Embedder, build_embedders
from found_footy.library.embedding_store import EmbeddingStore
from found_footy.library.master_cache import MasterCache, hide_path
from found_footy.library.models import (
    LibraryClip,
    SourceKind,
    SourceVideo,
    keyframe_key,
    master_key,
    sprite_key,
    upload_key,
)
from found_footy.library.review_store import ReviewStore
from found_footy.library.source_download import SourceFetcher, open_source_fetcher
from found_footy.library.stages import (
    FindWorkInput,
    PendingWork,
    StageFailure,
    StageInput,
    StageResult,
    find_stage,
    stage_workflow_id,
)
from found_footy.library.store import LibraryStore
from found_footy.library.submissions import MAX_TITLE_LENGTH, default_title
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.processor import MediaProcessor
from found_footy.runtime.clock import utc_now
from found_footy.runtime.sandbox import Progress
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.objects.store import ThreadedObjectStore
from found_footy.storage.postgres import Database, open_database
from found_footy.storage.stores import build_objects
from found_footy.storage.volumes import MEGABYTE, require_space
from found_footy.text import clean_text

log = logging.getLogger(__name__)

Picture = NDArray[np.uint8]

LONG_POLL_SECONDS = 20.0
"""How long `find_work` waits for work before it returns nothing."""
MAX_STARTS = 100
"""Per round: more would only wait in Temporal instead of in the database."""
MAX_IMPORTS = 100
MAX_SETTLED = 100
MAX_DELETIONS = 500
RUNNING_STAGES = "ExecutionStatus = 'Running' AND WorkflowType = 'StageWorkflow'"


class DispatchActivities:
    """Activities of the dispatcher. They run next to the live goals' activities and never queue behind the stages."""

    def __init__(
        self,
        store: LibraryStore,
        review: ReviewStore,
        objects: ObjectStore,
        client: Client,
        models: Mapping[str, str],
        now: Callable[[], datetime],
        *,
        poll_seconds: float,
        max_per_stage: int,
        long_poll_seconds: float = LONG_POLL_SECONDS,
    ) -> None:
        """`models` are the enabled embedding models with their versions."""
        self._store = store
        self._review = review
        self._objects = objects
        self._client = client
        self._models = models
        self._now = now
        self._poll_seconds = poll_seconds
        self._max_per_stage = max_per_stage
        self._long_poll_seconds = long_poll_seconds

    @activity.defn(name="find_library_work")
    async def find_work(self, _: FindWorkInput) -> PendingWork:
        """Import published clips, settle edits, and return the items that stages may take."""
        polling = asyncio.create_task(self._poll())
        # A worker shutdown must not wait for this, even if the database does not respond.
        stopping = asyncio.create_task(activity.wait_for_worker_shutdown())
        try:
            await asyncio.wait({polling, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return polling.result() if polling.done() else PendingWork()
        finally:
            polling.cancel()
            stopping.cancel()
            await asyncio.gather(polling, stopping, return_exceptions=True)

    async def _poll(self) -> PendingWork:
        until = asyncio.get_running_loop().time() + self._long_poll_seconds
        while True:
            found = await self._find()
            left = until - asyncio.get_running_loop().time()
            if found or left <= 0:
                return found
            await asyncio.sleep(min(self._poll_seconds, left))

    async def _find(self) -> PendingWork:
        now = self._now()
        imported = await self._store.import_published_clips(now, MAX_IMPORTS)
        settled = await self._review.settle_due_edits(now, MAX_SETTLED)
        if settled:
            log.info(f"settled {settled} edits", extra={"action": "edits_settled", "edits": settled})
        pending = await self._store.pending_work(self._models, now, self._max_per_stage)
        running = await self._running_stages() if pending else frozenset()
        work = [each for each in pending if stage_workflow_id(each.stage, each.item) not in running]
        deletions = len(await self._store.pending_deletions(1))
        return PendingWork(imported, settled, interleave(work, MAX_STARTS), deletions)

    async def _running_stages(self) -> frozenset[str]:
        """Ids of running stage workflows. Temporal lists a workflow shortly after its start; until then a second start
        has no effect.
        """
        try:
            return frozenset([execution.id async for execution in self._client.list_workflows(RUNNING_STAGES)])
        except RPCError as error:
            raise EngineError(f"Temporal cannot list running workflows: {error}") from error

    @activity.defn
    async def fail_stage(self, failure: StageFailure) -> None:
        log.error(
            failure.error,
            extra={"action": "stage_failed", "stage": failure.stage, "item": failure.item, "error": failure.kind},
        )
        stage = find_stage(failure.stage)
        await self._store.fail(stage, failure.item, failure.error, failure.kind, failure.retryable, self._now())

    @activity.defn
    async def delete_leftovers(self, _: FindWorkInput) -> None:
        """Delete queued objects. Failures stay queued, with the reason."""
        keys = await self._store.pending_deletions(MAX_DELETIONS)
        try:
            await self._objects.delete(keys)
        except ObjectStoreUnavailable as error:
            await self._store.record_deletion_failure(keys, error)
        except ObjectStoreError:
            # A single failing key fails the whole request.
            await self._delete_one_by_one(keys)
        else:
            await self._store.mark_deleted(keys)

    async def _delete_one_by_one(self, keys: Sequence[str]) -> None:
        for key in keys:
            try:
                await self._objects.delete([key])
            except ObjectStoreError as error:
                await self._store.record_deletion_failure([key], error)
            else:
                await self._store.mark_deleted([key])


def interleave(work: Sequence[StageInput], limit: int) -> list[StageInput]:
    """Take from each stage and lane in turn, so that a backlog of one does not delay the others."""
    queues = [list(items) for _, items in groupby(work, key=lambda each: (each.stage, each.lane))]
    turns = chain.from_iterable(zip_longest(*queues))
    return [each for each in turns if each is not None][:limit]


# --- Progress of a source.


PROGRESS_SECONDS = 1.0
MIN_PROGRESS = 0.005
"""Smaller changes are not saved."""


class ProgressReporter:
    def __init__(self) -> None:
        self.share = 0.0

    def part(self, first: float, last: float) -> Progress:
        """Return the callback for one of several steps, which covers these shares of the whole."""

        def report(share: float) -> None:
            self.share = first + (last - first) * min(max(share, 0.0), 1.0)

        return report


SaveProgress = Callable[[int, float, datetime], Awaitable[None]]


@asynccontextmanager
async def report_progress(
    save: SaveProgress, item: int, now: Callable[[], datetime], every: float = PROGRESS_SECONDS
) -> AsyncIterator[ProgressReporter]:
    """Save the reported share every second while the block runs."""
    reporter = ProgressReporter()
    saving = asyncio.create_task(_save_progress(save, item, reporter, now, every))
    try:
        yield reporter
    finally:
        saving.cancel()
        await asyncio.gather(saving, return_exceptions=True)


async def _save_progress(
    save: SaveProgress, item: int, reporter: ProgressReporter, now: Callable[[], datetime], every: float
) -> None:
    saved = 0.0
    while True:
        await asyncio.sleep(every)
        share = reporter.share
        if abs(share - saved) < MIN_PROGRESS:
            continue
        try:
            await save(item, share, now())
            saved = share
        except FootyError as error:
            # The work itself continues.
            log.warning(str(error), extra={"action": "progress_not_saved", "error": error.kind, "item": item})


# --- Stages.


DOWNLOAD_SHARE = 0.5
"""Progress when the file is downloaded; the rest is encoding the master."""
CUT_SHARE = 0.7
"""Progress when the clip's file is cut; the rest is its sprite sheet."""
MIN_RESUMABLE_BYTES = 50_000_000
"""A smaller download is simply repeated."""


@dataclass(frozen=True, slots=True)
class StageRules:
    max_bytes: int
    min_scene_seconds: float
    keyframes: Sequence[str]
    free_space: int = 0


class StageActivities:
    """One activity per stage: take the item, process it, mark it done. Every step is idempotent."""

    def __init__(
        self,
        store: LibraryStore,
        objects: ObjectStore,
        cache: MasterCache,
        media: MediaProcessor,
        fetcher: SourceFetcher,
        embedders: Sequence[Embedder],
        vectors: EmbeddingStore,
        rules: StageRules,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._objects = objects
        self._cache = cache
        self._media = media
        self._files = ClipFiles(objects, cache, media)
        self._fetcher = fetcher
        self._embedders = embedders
        self._vectors = vectors
        self._rules = rules
        self._now = now
        self._has_columns = False

    async def _run(self, stage_input: StageInput, work: Callable[[int], Awaitable[None]]) -> StageResult:
        stage = find_stage(stage_input.stage)
        if not await self._store.begin(stage, stage_input.item, self._now()):
            return StageResult(done=False)
        try:
            await work(stage_input.item)
        except MediaError as error:
            raise type(error)(hide_path(error)) from error
        return StageResult(await self._store.finish(stage, stage_input.item, self._now()))

    # --- Download.

    @activity.defn
    async def download_source(self, stage_input: StageInput) -> StageResult:
        return await self._run(stage_input, self._download)

    async def _download(self, source_id: int) -> None:
        source = await self._store.source(source_id)
        if not await self._has_master(source):
            await self._make_master(source)

    async def _has_master(self, source: SourceVideo) -> bool:
        """Whether an earlier attempt has stored the master."""
        if source.master is None:
            return False
        stored = await self._objects.head(master_key(source.id))
        return stored is not None and stored.size == source.master.size

    async def _make_master(self, source: SourceVideo) -> None:
        with self._cache.temporary_folder() as folder:
            require_space(folder, self._rules.free_space)
            async with report_progress(self._store.save_progress, source.id, self._now) as reporter:
                raw, made = folder / "raw", folder / "master.mp4"
                title = await self._fetch(source, raw, reporter.part(0, DOWNLOAD_SHARE))
                master = await self._media.make_master(raw, made, reporter.part(DOWNLOAD_SHARE, 1))
                await self._objects.put(
                    master_key(source.id), made, metadata={"source": str(source.id), "title": title or source.title}
                )
        await self._store.save_master(source.id, master, title)
        log.info(f"source {source.id} has its master", extra={"action": "source_ready", "source": source.id})

    async def _fetch(self, source: SourceVideo, to: Path, progress: Progress) -> str | None:
        """Fetch the file. Return the page's title unless the submitter gave one."""
        if source.kind is SourceKind.URL and source.url is not None and not await self._is_downloaded(source):
            return await self._download_url(source, source.url, to, progress)
        key = _file_key(source)
        stored = await self._objects.head(key)
        if stored is not None and stored.size > self._rules.max_bytes:
            raise MediaTooLarge(f"the file has {stored.size} bytes; the maximum is {self._rules.max_bytes}")
        await self._objects.get(key, to)
        return None

    async def _is_downloaded(self, source: SourceVideo) -> bool:
        """Whether an earlier attempt has stored the file."""
        return source.upload_key is not None and await self._objects.head(source.upload_key) is not None

    async def _download_url(self, source: SourceVideo, url: str, to: Path, progress: Progress) -> str | None:
        """Download, and store a large file, so that a killed worker's successor does not download it again."""
        title = clean_text(await self._fetcher.fetch(url, to, progress), MAX_TITLE_LENGTH)
        new_title = title if title and source.title == default_title(url) else None
        if (await asyncio.to_thread(to.stat)).st_size >= MIN_RESUMABLE_BYTES:
            key = upload_key(f"source-{source.id}")
            await self._objects.put(key, to)
            await self._store.save_download(source.id, key, new_title)
        return new_title

    # --- Splice.

    @activity.defn
    async def splice_source(self, stage_input: StageInput) -> StageResult:
        return await self._run(stage_input, self._splice)

    async def _splice(self, source_id: int) -> None:
        source = await self._store.source(source_id)
        if source.master is None:
            raise InternalFault(f"source {source_id} has no master")
        minimum = self._rules.min_scene_seconds
        # A different minimum finds different scenes.
        detector = f"{self._media.scene_detector} {minimum:g}s"
        cuts = await self._store.known_scenes(source.master.md5, detector)
        if cuts is None:
            async with (
                self._cache.master(source) as path,
                report_progress(self._store.save_progress, source_id, self._now) as reporter,
            ):
                cuts = list(await self._media.find_scene_cuts(path, minimum, reporter.part(0, 1)))
        count = await self._store.save_scenes(source_id, source.master.md5, detector, cuts)
        log.info(f"source {source_id} has {count} clips", extra={"action": "source_spliced", "source": source_id})

    # --- Sprites.

    @activity.defn
    async def make_sprites(self, stage_input: StageInput) -> StageResult:
        return await self._run(stage_input, self._make_sprites)

    async def _make_sprites(self, clip_id: int) -> None:
        clip, source = await self._clip_and_source(clip_id)
        # Objects are stored before the row, so that every object a row refers to exists.
        async with (
            report_progress(self._store.save_clip_progress, clip.id, self._now) as reporter,
            self._files.file(clip, source, reporter.part(0, CUT_SHARE)) as (path, first),
        ):
            with self._cache.temporary_folder() as folder:
                sheet, end = folder / "sheet.webp", first + clip.frames
                sprite = await self._media.make_sprite_sheet(path, first, end, sheet, reporter.part(CUT_SHARE, 1))
                fingerprint = await self._media.fingerprint_range(path, first, end)
                await self._files.put(sprite_key(source.id, clip.id), sheet, "image/webp", clip)
        await self._store.save_sprite(clip.id, sprite, not is_whole(clip, source), fingerprint)
        await self._save_duplicates(clip.id, fingerprint)

    async def _save_duplicates(self, clip_id: int, fingerprint: Fingerprint) -> None:
        """Repeat if a sibling got its fingerprint meanwhile: otherwise neither might see the other."""
        siblings, seen = await self._store.sibling_fingerprints(clip_id), None
        while seen is None or siblings.keys() != seen:
            named = {str(id_): each for id_, each in siblings.items()}
            me = str(clip_id)
            pairs = await asyncio.to_thread(find_duplicates, list(named), [me], {**named, me: fingerprint})
            await self._store.save_duplicates(clip_id, sorted({int(pair.b) for pair in pairs}))
            siblings, seen = await self._store.sibling_fingerprints(clip_id), siblings.keys()

    # --- Keyframes.

    @activity.defn
    async def take_keyframes(self, stage_input: StageInput) -> StageResult:
        return await self._run(stage_input, self._take_keyframes)

    async def _take_keyframes(self, clip_id: int) -> None:
        clip, source = await self._clip_and_source(clip_id)
        async with self._files.file(clip, source) as (path, first):
            with self._cache.temporary_folder() as folder:
                end = first + clip.frames
                taken = await self._media.extract_keyframes(path, first, end, self._rules.keyframes, folder)
                for each in taken:
                    key = keyframe_key(source.id, clip.id, each.number)
                    await self._files.put(key, folder / f"{each.number}.jpg", "image/jpeg", clip)
        # Frames are counted in the master, whichever file they were taken from.
        shift = clip.first - first
        await self._store.save_keyframes(clip.id, [replace(each, frame=each.frame + shift) for each in taken])

    # --- Embeddings.

    @activity.defn
    async def embed_clip(self, stage_input: StageInput) -> StageResult:
        async def embed(clip_id: int) -> None:
            await self._embed(clip_id, only_outdated=find_stage(stage_input.stage).only_outdated_embeddings)

        return await self._run(stage_input, embed)

    async def _embed(self, clip_id: int, *, only_outdated: bool) -> None:
        images = await self._keyframe_images(clip_id)
        if not self._has_columns:
            await self._vectors.ensure_columns(self._embedders)
            self._has_columns = True
        # A clip embedded for the first time has new keyframes, whatever vectors it had before.
        names = [each.name for each in self._embedders]
        known = await self._vectors.versions(clip_id, names) if only_outdated else {}
        for embedder in self._embedders:
            if known.get(embedder.name) == embedder.version:
                continue
            vectors = await embedder.embed_images(images)
            await self._vectors.save(clip_id, embedder.name, embedder.version, mean_embedding(vectors))

    async def _keyframe_images(self, clip_id: int) -> list[Picture]:
        clip = await self._store.clip(clip_id)
        keyframes = await self._store.keyframes(clip_id)
        if not keyframes:
            raise EmbeddingError(f"clip {clip_id} has no keyframes")
        images = []
        with self._cache.temporary_folder() as folder:
            for each in keyframes:
                path = folder / f"{each.number}.jpg"
                await self._objects.get(keyframe_key(clip.source_id, clip_id, each.number), path)
                images.append(await asyncio.to_thread(_read_image, path))
        return images

    # --- Clean-up.

    @activity.defn
    async def clean_up_clip(self, stage_input: StageInput) -> StageResult:
        return await self._run(stage_input, self._clean_up)

    async def _clean_up(self, clip_id: int) -> None:
        # Rows first: no row refers to an object about to be deleted, and the queue holds the pending deletions.
        keys = await self._store.release_files(clip_id)
        clip = await self._store.clip(clip_id)
        # Includes keyframes and pieces of a worker that died before saving their rows.
        unsaved = [keyframe_key(clip.source_id, clip_id, number) for number in range(len(self._rules.keyframes))]
        unsaved += piece_keys(clip, await self._store.source(clip.source_id))
        try:
            await self._objects.delete([*keys, *unsaved])
        except ObjectStoreError as error:
            await self._store.record_deletion_failure(keys, error)
            raise
        await self._store.mark_deleted(keys)

    async def _clip_and_source(self, clip_id: int) -> tuple[LibraryClip, SourceVideo]:
        clip = await self._store.clip(clip_id)
        source = await self._store.source(clip.source_id)
        if source.master is None:
            raise InternalFault(f"source {source.id} of clip {clip_id} has no master")
        return clip, source


def mean_embedding(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean of the vectors, normalized. Raises EmbeddingError if they cancel out."""
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    if not np.isfinite(length) or length < 1e-6:
        raise EmbeddingError("the mean of the keyframes' vectors is zero or not finite")
    return np.asarray(mean / length, dtype=np.float32)


def _read_image(path: Path) -> Picture:
    # Our own file: no sandbox needed.
    image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if image is None:
        raise EmbeddingError(f"cannot read keyframe {path.name}")
    return np.asarray(image, dtype=np.uint8)


def _file_key(source: SourceVideo) -> str:
    if source.kind is SourceKind.GOAL and source.event_id and source.video_md5:
        return clip_key(int(source.facts["fixture_id"] or 0), source.event_id, source.video_md5)
    if source.upload_key is None:
        raise InternalFault(f"source {source.id} has neither a URL nor an uploaded file")
    return source.upload_key


@dataclass(frozen=True, slots=True)
class Library:
    """Stores and models that the library's commands and workers share."""

    database: Database
    store: LibraryStore
    objects: ThreadedObjectStore
    embedders: tuple[Embedder, ...]
    """Searches use the first one."""
    vectors: EmbeddingStore

    @property
    def models(self) -> dict[str, str]:
        return {each.name: each.version for each in self.embedders}


def source_bytes(settings: Settings) -> int:
    return settings.source_mb * 1_000_000


def build_media_processor(settings: Settings) -> MediaProcessor:
    return MediaProcessor(
        settings.media_memory_mb,
        settings.source_media_seconds,
        max_processes=settings.library_at_once,
        max_video_seconds=settings.source_hours * 3600,
        max_video_bytes=source_bytes(settings),
    )


def build_source_fetcher(settings: Settings) -> SourceFetcher:
    limits = DownloadLimits(
        source_bytes(settings),
        settings.source_media_seconds,
        settings.download_redirects,
        settings.private_hosts,
        impersonate=settings.download_impersonate,
    )
    return open_source_fetcher(
        limits,
        x_syndication_url=settings.x_syndication_url,
        fxtwitter_url=settings.fxtwitter_url,
        x_url=settings.x_url,
        max_duration_seconds=settings.source_hours * 3600,
        plc_url=settings.plc_url,
    )


@asynccontextmanager
async def open_library(settings: Settings) -> AsyncIterator[Library]:
    """Raises EngineError if no database is configured."""
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        objects = build_objects(settings)
        stack.push_async_callback(objects.aclose)
        embedders = tuple(build_embedders(settings))
        for each in embedders:
            stack.push_async_callback(each.aclose)
        yield Library(database, LibraryStore(database), objects, embedders, EmbeddingStore(database))


@asynccontextmanager
async def open_stages(settings: Settings, library: Library) -> AsyncIterator[StageActivities]:
    async with AsyncExitStack() as stack:
        media = build_media_processor(settings)
        stack.push_async_callback(media.aclose)
        fetcher = build_source_fetcher(settings)
        stack.push_async_callback(fetcher.aclose)
        cache = MasterCache(library.objects)
        stack.push_async_callback(cache.aclose)
        free_space = settings.free_space_mb * MEGABYTE
        rules = StageRules(source_bytes(settings), settings.scene_seconds_least, settings.keyframes, free_space)
        yield StageActivities(
            library.store,
            library.objects,
            cache,
            media,
            fetcher,
            library.embedders,
            library.vectors,
            rules,
            utc_now,
        )


def build_dispatcher(settings: Settings, library: Library, client: Client) -> DispatchActivities:
    return DispatchActivities(
        library.store,
        ReviewStore(library.database, timedelta(seconds=settings.undo_seconds)),
        library.objects,
        client,
        library.models,
        utc_now,
        poll_seconds=settings.library_seconds,
        max_per_stage=settings.library_queue_most,
    )
