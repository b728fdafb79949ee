"""Activities that download, verify, deduplicate and publish clips. Local files exist only while an activity runs."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio import activity
from temporalio.client import Client

from found_footy.clips.common_frames import without_common_frames
from found_footy.clips.dedup import find_duplicates, plan_dedup
from found_footy.clips.downloader import build_downloader
from found_footy.clips.filters import (
    REJECTION_BY_VERDICT,
    FilterRules,
    check_file,
    reason_for_error,
    reason_for_media_error,
)
from found_footy.clips.frame_selection import Vision, read_clip
from found_footy.clips.models import (
    CandidateFailure,
    CandidateRef,
    DedupPlan,
    FetchResult,
    FrameReading,
    OutdatedQuery,
    OutdatedRejections,
    PoolRef,
    RejectionReason,
    ReverifyInput,
    ReverifyResult,
    SettleRequest,
    VideoFailure,
    VideoRef,
    VideoStatus,
    clip_key,
    staging_key,
)
from found_footy.clips.verification import Verification, VerificationStatus, verify_readings
from found_footy.config import Settings
from found_footy.discovery.models import GoalCheck, SearchAttempt, TargetGoal, WorkflowRef
from found_footy.errors import (
    CacheUnavailable,
    CandidateRejected,
    DownloadUnavailable,
    MediaError,
    ObjectMissing,
    VisionError,
)
from found_footy.fixtures.models import Sport
from found_footy.media.fingerprint import Hashes
from found_footy.media.processor import MediaProcessor
from found_footy.operations.unexpected_answers import UnexpectedAnswerRecorder
from found_footy.runtime.clock import utc_now
from found_footy.runtime.http_exchanges import record_exchanges
from found_footy.storage.limits import LeaseSemaphore
from found_footy.storage.objects.backend import ObjectStore
from found_footy.storage.redis import RedisCache
from found_footy.storage.volumes import MEGABYTE, require_space, temporary_folder

if TYPE_CHECKING:
    from found_footy.clips.downloader import Downloader
    from found_footy.clips.store import ClipStore

log = logging.getLogger(__name__)

TEMP_PREFIX = "footy-"
_CHUNK_BYTES = 1024 * 1024


@contextmanager
def clip_workdir() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=TEMP_PREFIX) as folder:
        yield Path(folder)


@asynccontextmanager
async def staged_file(objects: ObjectStore, event_id: str, md5: str) -> AsyncIterator[Path]:
    with clip_workdir() as folder:
        path = folder / f"{md5}.mp4"
        await objects.get(staging_key(event_id, md5), path)
        yield path


def redact_temp_path(error: MediaError) -> str:
    """Return the message of a media error without the path of the temporary file."""
    return re.sub(rf"\S*/{TEMP_PREFIX}[^/\s]+/[^/\s:]+", "the file", str(error))


def md5_of_file(path: Path) -> str:
    # MD5 names the content; it is not used for security.
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


# --- Downloads: from a post to a staged file, and the checks before verification.


MAX_DOWNLOAD_ATTEMPTS = 3
"""Attempts while a host does not respond. The workflow's retry policy covers all other failures."""


class DownloadActivities:
    def __init__(
        self,
        clips: ClipStore,
        objects: ObjectStore,
        downloader: Downloader,
        media: MediaProcessor,
        filters: FilterRules,
        now: Callable[[], datetime],
        unexpected: UnexpectedAnswerRecorder | None = None,
        free_space: int = 0,
    ) -> None:
        self._clips = clips
        self._unexpected = unexpected or UnexpectedAnswerRecorder()
        self._free_space = free_space
        self._objects = objects
        self._downloader = downloader
        self._media = media
        self._filters = filters
        self._now = now

    @activity.defn
    async def register_download_workflow(self, request: WorkflowRef) -> GoalCheck:
        return GoalCheck(await self._clips.register_download(request.event_id, request.workflow_id))

    @activity.defn
    async def fetch_clip(self, request: CandidateRef) -> FetchResult:
        goal = await self._clips.goal(request.event_id)
        candidate = await self._clips.candidate(request.event_id, request.key)
        if candidate.md5 is not None:
            return FetchResult(candidate.md5, await self._clips.video_state(request.event_id, candidate.md5) or "")
        if candidate.rejection_reason is not None:
            return FetchResult()
        try:
            if not goal.is_confirmed:
                raise CandidateRejected(RejectionReason.WITHDRAWN, "the goal was withdrawn")
            return await self._fetch(goal, request.key, candidate.media_url)
        except CandidateRejected as rejected:
            return await self._reject(request, rejected.reason, str(rejected))
        except MediaError as error:
            return await self._reject(request, reason_for_media_error(error), redact_temp_path(error))
        except DownloadUnavailable as error:
            if activity.info().attempt < MAX_DOWNLOAD_ATTEMPTS:
                raise
            return await self._reject(request, RejectionReason.UNREACHABLE, str(error))

    async def _fetch(self, goal: TargetGoal, key: str, media_url: str) -> FetchResult:
        # Check before the download, not when the disk fills up half-way.
        require_space(temporary_folder(), self._free_space)
        with clip_workdir() as folder:
            path = folder / "clip.mp4"
            with record_exchanges() as exchanges:
                try:
                    await self._downloader.fetch(media_url, path)
                except CandidateRejected as rejected:
                    await self._unexpected.note("download", [rejected], exchanges)
                    raise
            md5 = await asyncio.to_thread(md5_of_file, path)
            info = None
            # A file that is already stored is neither staged nor verified again.
            if await self._clips.video_state(goal.id, md5) is None:
                info = await self._media.probe(path)
                rejection = check_file(info.duration, info.aspect, self._filters)
                if rejection is not None:
                    raise CandidateRejected(*rejection)
                await self._objects.put(
                    staging_key(goal.id, md5),
                    path,
                    content_type=content_type(info.container),
                    metadata=_metadata(goal, key),
                )
            return FetchResult(md5, await self._clips.add_video(goal.id, key, md5, info, self._now()))

    async def _reject(self, request: CandidateRef, reason: str, detail: str) -> FetchResult:
        await self._clips.reject_candidate(request.event_id, request.key, reason, detail)
        log.info(f"{request.key} rejected: {reason}: {detail}", extra={"action": "candidate_rejected", **vars(request)})
        return FetchResult()

    @activity.defn
    async def reject_candidate(self, request: CandidateFailure) -> None:
        log.error(
            request.detail, extra={"action": "fetch_failed", "event_id": request.event_id, "error": request.error}
        )
        reason = reason_for_error(request.error)
        await self._clips.reject_candidate(request.event_id, request.key, reason, f"{request.error}: {request.detail}")

    @activity.defn
    async def hash_clip(self, request: VideoRef) -> VideoStatus:
        if await self._clips.video_state(request.event_id, request.md5) == "checked":
            try:
                async with staged_file(self._objects, request.event_id, request.md5) as path:
                    fingerprint = await self._media.fingerprint(path)
                await self._clips.save_fingerprint(request.event_id, request.md5, fingerprint)
            except MediaError as error:
                await self._clips.reject_video(
                    request.event_id, request.md5, reason_for_media_error(error), redact_temp_path(error)
                )
        return VideoStatus(await self._clips.video_state(request.event_id, request.md5) or "")

    @activity.defn
    async def reject_video(self, request: VideoFailure) -> VideoStatus:
        log.error(
            request.detail, extra={"action": "check_failed", "event_id": request.event_id, "error": request.error}
        )
        reason = reason_for_error(request.error)
        state = await self._clips.video_state(request.event_id, request.md5)
        if reason is not RejectionReason.NOT_CHECKED or state == "staged":
            await self._clips.reject_video(request.event_id, request.md5, reason, f"{request.error}: {request.detail}")
            state = await self._clips.video_state(request.event_id, request.md5)
        return VideoStatus(state or "")


def content_type(container: str) -> str:
    """Content type for browsers. All keys end in `.mp4`, as links do, whatever the container is."""
    if "matroska" in container or "webm" in container:
        return "video/webm"
    return "video/mp2t" if container == "mpegts" else "video/mp4"


def _metadata(goal: TargetGoal, key: str) -> Mapping[str, str]:
    return {
        "event": goal.id,
        "home": goal.home.name,
        "away": goal.away.name,
        "player": goal.player or "",
        "minute": str(goal.minute),
        "post": key,
    }


# --- Uploads: verified files become clips or copies of clips.


class UploadActivities:
    def __init__(
        self,
        clips: ClipStore,
        objects: ObjectStore,
        start_or_signal_upload: Callable[[SearchAttempt], Awaitable[None]],
    ) -> None:
        self._clips = clips
        self._objects = objects
        self._start_or_signal_upload = start_or_signal_upload

    @activity.defn
    async def queue_videos_for_upload(self, request: SearchAttempt) -> None:
        await self._start_or_signal_upload(request)

    @activity.defn
    async def deduplicate_pool(self, request: PoolRef) -> DedupPlan:
        common = await self._clips.common_frames()
        await self._reject_taken_down(request, common)
        pool = await self._clips.pool(request.event_id, request.pool)
        new = [video.id for video in pool.new]
        fingerprints = {md5: without_common_frames(each, common) for md5, each in pool.fingerprints.items()}
        pairs = await asyncio.to_thread(find_duplicates, [video.id for video in pool.kept], new, fingerprints)
        plan = plan_dedup([*pool.kept, *pool.new], pairs, pool.copies)
        return replace(plan, publish=tuple(name for name in plan.stays if name in new))

    async def _reject_taken_down(self, request: PoolRef, common: Hashes) -> None:
        """Reject new files that a takedown covers, and those that show the same moment as a clip taken down."""
        await self._clips.reject_blocked(request.event_id)
        taken_down = await self._clips.taken_down(request.event_id)
        if not taken_down:
            return
        pool = await self._clips.pool(request.event_id, request.pool)
        new = [video.id for video in pool.new]
        fingerprints = {md5: pool.fingerprints[md5] for md5 in new}
        fingerprints |= {md5: fingerprint for md5, (fingerprint, _) in taken_down.items()}
        cleaned = {md5: without_common_frames(each, common) for md5, each in fingerprints.items()}
        for pair in await asyncio.to_thread(find_duplicates, list(taken_down), new, cleaned):
            if pair.b in taken_down:
                reason = taken_down[pair.b][1]
                await self._clips.reject_video(request.event_id, pair.a, RejectionReason.TAKEN_DOWN, reason)

    @activity.defn
    async def publish_clip(self, request: VideoRef) -> None:
        goal = await self._clips.goal(request.event_id)
        if not goal.is_confirmed:
            return
        target = clip_key(goal.fixture_id, goal.id, request.md5)
        try:
            await self._objects.copy(staging_key(goal.id, request.md5), target)
        except ObjectMissing:
            # If an earlier attempt got as far as cleaning up, the clip is already at its target.
            if await self._objects.head(target) is None:
                raise

    @activity.defn
    async def settle_event(self, request: SettleRequest) -> None:
        settled = await self._clips.settle(request.event_id, request.plans, request.at)
        log.info(
            f"{sum(len(plan.publish) for plan in request.plans)} new clips",
            extra={"action": "settled", "event_id": request.event_id, "settled": settled},
        )

    @activity.defn
    async def clean_up_upload(self, request: WorkflowRef) -> None:
        goal = await self._clips.goal(request.event_id)
        states = await self._clips.video_states(request.event_id)
        reverifiable = await self._clips.reverifiable_videos(request.event_id)
        staged = [
            staging_key(goal.id, md5)
            for md5, state in states.items()
            if state in ("kept", "replaced", "refused") and md5 not in reverifiable
        ]
        # A clip may have been taken down between its copy and its publication.
        published = [
            clip_key(goal.fixture_id, goal.id, md5) for md5, state in states.items() if state in ("replaced", "refused")
        ]
        await self._objects.delete([*staged, *published])


# --- Verification: whether a clip shows this goal, or this wicket.


Permit = Callable[[], AbstractAsyncContextManager[None]]
"""Permit for one of the vision checks that may run concurrently across all workers. Raises PermitTimeout and
CacheUnavailable.
"""
ReadClip = Callable[[Path, Sport], Awaitable[Sequence[FrameReading]]]
"""Reads the frames that verification needs. Raises MediaError, or VisionError if no reading was possible."""


class VerificationActivities:
    def __init__(
        self,
        clips: ClipStore,
        objects: ObjectStore,
        read_clip: ReadClip,
        tolerance_minutes: int,
        permit: Permit,
        unexpected: UnexpectedAnswerRecorder | None = None,
    ) -> None:
        self._clips = clips
        self._objects = objects
        self._read_clip = read_clip
        self._tolerance = tolerance_minutes
        self._permit = permit
        self._unexpected = unexpected or UnexpectedAnswerRecorder()

    @activity.defn
    async def verify_clip(self, request: VideoRef) -> VideoStatus:
        state = await self._clips.video_state(request.event_id, request.md5)
        if state != "staged":
            return VideoStatus(state or "")
        goal = await self._clips.goal(request.event_id)
        if not goal.is_confirmed:
            await self._clips.reject_video(
                request.event_id, request.md5, RejectionReason.WITHDRAWN, "the goal was withdrawn"
            )
            return VideoStatus("refused")
        try:
            async with staged_file(self._objects, request.event_id, request.md5) as path, self._permit():
                readings = await self._readings(path, goal.sport)
        except MediaError as error:
            await self._clips.reject_video(
                request.event_id, request.md5, reason_for_media_error(error), redact_temp_path(error)
            )
            return VideoStatus("refused")
        posted_at = await self._clips.first_posted_at(request.event_id, request.md5)
        expectation = replace(goal.expectation, posted_after_minutes=_minutes_between(goal.kickoff, posted_at))
        verification = verify_readings(readings, expectation, self._tolerance)
        log.info(
            f"{request.md5}: {verification.status}, {verification.reason or verification.minute}",
            extra={
                "action": "clip_verified",
                "event_id": request.event_id,
                "md5": request.md5,
                "status": verification.status,
            },
        )
        if verification.status is VerificationStatus.REJECTED:
            await self._clips.reject_video(
                request.event_id, request.md5, *_rejection(verification, goal.sport), verification
            )
        else:
            await self._clips.save_verification(request.event_id, request.md5, verification)
        return VideoStatus(await self._clips.video_state(request.event_id, request.md5) or "")

    @activity.defn
    async def list_outdated_rejections(self, request: OutdatedQuery) -> OutdatedRejections:
        return OutdatedRejections(await self._clips.outdated_rejections(request.completed_since))

    @activity.defn
    async def reverify_rejected_clips(self, request: ReverifyInput) -> ReverifyResult:
        """Verify rejected clips again from their stored readings, after the feed has corrected the goal.

        Clips that are now accepted are hashed next. A clip whose file has been deleted stays rejected.
        """
        goal = await self._clips.goal(request.event_id)
        if not goal.is_confirmed:
            return ReverifyResult([])
        for md5, proof in (await self._clips.reverifiable_videos(goal.id)).items():
            expectation = replace(goal.expectation, posted_after_minutes=proof.expectation.posted_after_minutes)
            if proof.expectation == expectation:
                continue
            verification = verify_readings(proof.readings, expectation, self._tolerance)
            rejected = verification.status is VerificationStatus.REJECTED
            if not rejected and await self._objects.head(staging_key(goal.id, md5)) is not None:
                await self._clips.accept_rejected_video(goal.id, md5, verification)
            else:
                missing = RejectionReason.GONE, "the file was deleted before the feed corrected the goal"
                reason, detail = _rejection(verification, goal.sport) if rejected else missing
                await self._clips.update_rejection(goal.id, md5, reason, detail, verification)
            log.info(
                f"{md5}: {verification.status}, {verification.reason or verification.minute}",
                extra={"action": "clip_reverified", "event_id": goal.id, "md5": md5, "status": verification.status},
            )
        # Includes clips accepted by an earlier attempt that failed afterwards.
        states = await self._clips.video_states(goal.id)
        return ReverifyResult(sorted(md5 for md5, state in states.items() if state == "checked"))

    async def _readings(self, path: Path, sport: Sport) -> Sequence[FrameReading]:
        with record_exchanges() as exchanges:
            try:
                return await self._read_clip(path, sport)
            except VisionError as error:
                await self._unexpected.note("vision server", [error], exchanges)
                raise


def _minutes_between(kickoff: datetime | None, posted_at: datetime | None) -> float | None:
    return None if kickoff is None or posted_at is None else (posted_at - kickoff).total_seconds() / 60


def _rejection(verification: Verification, sport: Sport) -> tuple[RejectionReason, str]:
    assert verification.reason is not None
    reason = REJECTION_BY_VERDICT[verification.reason]
    # Leave out parts that repeat the rejection reason.
    parts = [str(verification.reason)] if str(verification.reason) != str(reason) else []
    if verification.minute is not None:
        cricket = sport is Sport.CRICKET
        parts.append(f"after {verification.minute} overs" if cricket else f"the clock shows {verification.minute}'")
    return reason, "; ".join(parts)


def build_vision(settings: Settings) -> Vision:
    if settings.llama_url is None:
        from found_footy.clips.ocr_vision import OcrVision  # loads OpenCV and the models' runtime

        return OcrVision()
    from found_footy.clips.llama_vision import LlamaVision

    return LlamaVision(settings.llama_url, timeout=settings.vision_timeout_seconds, model=settings.llama_model)


async def _load_models(vision: Vision) -> None:
    try:
        await vision.check()
    except VisionError as error:
        log.error(str(error), extra={"action": "vision_not_ready", "error": error.kind})


VISION_LEASE_SECONDS = 10.0
VISION_PERMIT_SECONDS = 30.0
"""How long an attempt of a vision check waits for its permit before Temporal retries it."""


async def vision_permit(settings: Settings, cache: RedisCache) -> Callable[[], AbstractAsyncContextManager[None]]:
    """Limit concurrent vision checks to `FOOTY_VISION_CALLS` across all workers."""
    semaphore = LeaseSemaphore(cache, lease_seconds=VISION_LEASE_SECONDS)
    try:
        await semaphore.prepare("vision")
    except CacheUnavailable as error:  # vision checks wait until the cache is back
        log.warning("%s", error, extra={"action": "vision_permit_failed"})
    return partial(semaphore.permit, "vision", settings.vision_calls, wait_seconds=VISION_PERMIT_SECONDS, strict=True)


@asynccontextmanager
async def open_activities(
    settings: Settings,
    client: Client,
    clips: ClipStore,
    objects: ObjectStore,
    cache: RedisCache,
    unexpected: UnexpectedAnswerRecorder,
    downloader: Downloader | None = None,
) -> AsyncIterator[tuple[DownloadActivities, VerificationActivities, UploadActivities]]:
    """Yield the activities. `downloader` overrides the one built from the settings."""
    from found_footy.clips.workflow import upload_starter  # which imports this module

    free_space = settings.free_space_mb * MEGABYTE

    async with (
        aclosing(MediaProcessor(settings.media_memory_mb, settings.media_seconds)) as media,
        aclosing(build_vision(settings)) as vision,
        aclosing(downloader or build_downloader(settings)) as downloader,
        AsyncExitStack() as stack,
    ):
        if settings.llama_url is None:
            # Otherwise the first verification waits two seconds for the models.
            loading = asyncio.create_task(_load_models(vision), name="load the OCR models")
            stack.callback(loading.cancel)

        async def read_frames(path: Path, sport: Sport) -> Sequence[FrameReading]:
            return (await read_clip(vision, path, media.frames_at, sport)).readings

        filters = FilterRules(settings.clip_seconds_least, settings.clip_seconds_most, settings.clip_aspect_least)
        permit = await vision_permit(settings, cache)
        starter = upload_starter(client, settings.task_queue, settings.upload_idle_seconds)
        yield (
            DownloadActivities(clips, objects, downloader, media, filters, utc_now, unexpected, free_space),
            VerificationActivities(clips, objects, read_frames, settings.clock_tolerance_minutes, permit, unexpected),
            UploadActivities(clips, objects, starter),
        )
