"""Downloads the posts of one search, verifies and hashes their files, and publishes an event's clips."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.client import Client
from temporalio.common import (
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from found_footy.clips.activities import DownloadActivities, UploadActivities, VerificationActivities
    from found_footy.clips.models import (
        CandidateFailure,
        CandidateRef,
        DedupPlan,
        DownloadInput,
        DownloadResult,
        FetchResult,
        OutdatedQuery,
        OutdatedRejections,
        PoolRef,
        ReverifyInput,
        SettleRequest,
        UploadBatch,
        UploadInput,
        VideoFailure,
        VideoRef,
        upload_workflow_id,
    )
    from found_footy.discovery.models import SearchAttempt, WorkflowRef
    from found_footy.runtime.activity_policy import ActivityPolicy
    from found_footy.runtime.queues import WorkKind
    from found_footy.runtime.temporal import EVENT_ID
    from found_footy.runtime.workflow_limits import execution_timeout

STORE_RETRY_WINDOW = timedelta(minutes=15)
"""How long a step is retried while the object store or the database is unavailable."""

DATABASE = ActivityPolicy(timedelta(seconds=30), attempts=5)
SIGNAL = ActivityPolicy(timedelta(seconds=30), attempts=10)
FETCH = (
    ActivityPolicy(timedelta(seconds=240), attempts=3, initial_backoff=timedelta(seconds=2))
    .within(STORE_RETRY_WINDOW)
    .on(WorkKind.NETWORK)
)
VERIFY = ActivityPolicy(timedelta(seconds=300), attempts=1).on(WorkKind.MEDIA)
REVERIFY = ActivityPolicy(timedelta(seconds=60), attempts=3).within(STORE_RETRY_WINDOW)
LIST_OUTDATED_REJECTIONS = ActivityPolicy(timedelta(seconds=15), attempts=1)
# Before further verifications: of forty goals at once, no clip would be published until all are verified.
HASH = ActivityPolicy(timedelta(seconds=180), attempts=4).within(STORE_RETRY_WINDOW).on(WorkKind.MEDIA).first()
DEDUPLICATE = ActivityPolicy(timedelta(seconds=120), attempts=3).on(WorkKind.MEDIA).first()
PUBLISH = ActivityPolicy(timedelta(seconds=60), attempts=3).on(WorkKind.NETWORK)
CLEAN_UP = ActivityPolicy(timedelta(seconds=60), attempts=5).on(WorkKind.NETWORK)

REVERIFY_WINDOW = timedelta(days=1)
"""How long after a match a feed correction still changes verdicts. Staged files are kept for longer."""

run_activity = workflow.execute_activity_method


@workflow.defn(name="DownloadWorkflow")
class DownloadWorkflow:
    def __init__(self) -> None:
        self._verified = 0

    @workflow.run
    async def run(self, request: DownloadInput) -> DownloadResult:
        # Register first: the event must list this download before anything can fail.
        ref = WorkflowRef(request.event_id, workflow.info().workflow_id)
        goal = await run_activity(DownloadActivities.register_download_workflow, ref, **DATABASE.options())
        fetched: list[FetchResult] = []
        try:
            if goal.confirmed:
                fetched = await asyncio.gather(*(self._fetch(request.event_id, key) for key in request.keys))
            files = {each.md5: each.state for each in fetched if each.md5}  # several posts may link to one file
            await asyncio.gather(*(self._verify_and_hash(request, md5, state) for md5, state in sorted(files.items())))
        finally:  # also without files: the upload counts posts and cleans up
            await queue_for_upload(SearchAttempt(request.event_id, request.attempt))
        return DownloadResult(
            fetched=sum(bool(each.md5) for each in fetched),
            rejected=sum(not each.md5 for each in fetched),
            verified=self._verified,
            withdrawn=not goal.confirmed,
        )

    async def _fetch(self, event_id: str, key: str) -> FetchResult:
        try:
            return await run_activity(DownloadActivities.fetch_clip, CandidateRef(event_id, key), **FETCH.options())
        except ActivityError as error:
            failure = CandidateFailure(event_id, key, *_cause(error))
            await run_activity(DownloadActivities.reject_candidate, failure, **DATABASE.options())
            return FetchResult()

    async def _verify_and_hash(self, request: DownloadInput, md5: str, state: str) -> None:
        video = VideoRef(request.event_id, md5)
        if state == "staged":
            state = await self._verify(video, timedelta(seconds=request.vision_retry_seconds))
        if state == "checked":
            await hash_video(video)

    async def _verify(self, video: VideoRef, retry_window: timedelta) -> str:
        """Fail closed: without a result the video is rejected as not checked."""
        self._verified += 1
        policy = VERIFY.within(retry_window)
        try:
            return (await run_activity(VerificationActivities.verify_clip, video, **policy.options())).state
        except ActivityError as error:
            # `reject_video` keeps a result that a late attempt has saved.
            failure = VideoFailure(video.event_id, video.md5, "VisionUnavailable", _cause(error)[1])
            return (await run_activity(DownloadActivities.reject_video, failure, **DATABASE.options())).state


@workflow.defn(name="ReverifyWorkflow")
class ReverifyWorkflow:
    """Verifies rejected clips again after the feed has corrected their goal, without another download or OCR."""

    @workflow.run
    async def run(self, request: ReverifyInput) -> int:
        result = await run_activity(VerificationActivities.reverify_rejected_clips, request, **REVERIFY.options())
        await asyncio.gather(*(hash_video(VideoRef(request.event_id, md5)) for md5 in result.accepted))
        if result.accepted:
            await queue_for_upload(SearchAttempt(request.event_id, 0))
        return len(result.accepted)


async def list_outdated_rejections() -> OutdatedRejections:
    """Run the activity; call this from a workflow."""
    query = OutdatedQuery(workflow.now() - REVERIFY_WINDOW)
    return await run_activity(
        VerificationActivities.list_outdated_rejections, query, **LIST_OUTDATED_REJECTIONS.options()
    )


async def hash_video(video: VideoRef) -> None:
    try:
        await run_activity(DownloadActivities.hash_clip, video, **HASH.options())
    except ActivityError as error:
        failure = VideoFailure(video.event_id, video.md5, *_cause(error))
        await run_activity(DownloadActivities.reject_video, failure, **DATABASE.options())


async def queue_for_upload(request: SearchAttempt) -> None:
    await run_activity(UploadActivities.queue_videos_for_upload, request, **SIGNAL.options())


def _cause(error: ActivityError) -> tuple[str, str]:
    """Class and message of the error that ended an activity.

    When a retry window closes, Temporal wraps the error of the last attempt in a timeout of its own.
    """
    cause: BaseException | None = error.cause
    while cause is not None:
        if isinstance(cause, ApplicationError):
            return cause.type or "InternalFault", cause.message
        cause = cause.__cause__
    return "InternalFault", str(error.cause or error)


POOLS = ("verified", "unverified")
MAX_BATCHES = 100
"""Per run; then the workflow continues as new, so that its history stays short."""
INITIAL_BACKOFF, MAX_BACKOFF = 5.0, 60.0
"""Seconds until a failed batch is retried; doubled each time."""


@workflow.defn(name="UploadWorkflow")
class UploadWorkflow:
    """Serializes all changes to an event's clips. Batches are idempotent and never dropped."""

    def __init__(self) -> None:
        self._pending: deque[UploadBatch] = deque()

    @workflow.signal
    def add_batch(self, batch: UploadBatch) -> None:
        self._pending.append(batch)

    @workflow.run
    async def run(self, request: UploadInput) -> int:
        self._pending.extendleft(reversed(request.waiting))
        uploaded = 0
        while True:
            try:
                await workflow.wait_condition(
                    lambda: bool(self._pending), timeout=timedelta(seconds=request.idle_seconds)
                )
            except TimeoutError:
                if not self._pending:  # a signal may arrive together with the timeout
                    return uploaded
            # The work is in the database, and one upload processes all of it, so it covers every pending batch.
            self._pending.clear()
            await self._upload_until_done(request.event_id)
            uploaded += 1
            if uploaded >= MAX_BATCHES or workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(UploadInput(request.event_id, request.idle_seconds, list(self._pending)))

    async def _upload_until_done(self, event_id: str) -> None:
        backoff = INITIAL_BACKOFF
        while True:
            try:
                return await self._upload(event_id)
            except ActivityError as error:
                workflow.logger.warning("upload failed, retrying: %s", error.cause or error)
            await asyncio.sleep(backoff)
            backoff = min(2 * backoff, MAX_BACKOFF)

    async def _upload(self, event_id: str) -> None:
        # Both pools or neither: a failed pool must not count as a pool without duplicates.
        plans: list[DedupPlan] = await asyncio.gather(
            *(
                run_activity(UploadActivities.deduplicate_pool, PoolRef(event_id, pool), **DEDUPLICATE.options())
                for pool in POOLS
            )
        )
        # Publish files before the links to them, so that every visible clip can be downloaded.
        await asyncio.gather(
            *(
                run_activity(UploadActivities.publish_clip, VideoRef(event_id, md5), **PUBLISH.options())
                for plan in plans
                for md5 in plan.publish
            )
        )
        settle = SettleRequest(event_id, plans, workflow.now())
        await run_activity(UploadActivities.settle_event, settle, **DATABASE.options())
        ref = WorkflowRef(event_id, workflow.info().workflow_id)
        await run_activity(UploadActivities.clean_up_upload, ref, **CLEAN_UP.options())


def upload_starter(client: Client, task_queue: str, idle_seconds: float) -> Callable[[SearchAttempt], Awaitable[None]]:
    """Return the callback of `UploadActivities` that signals the event's upload workflow, starting it if necessary."""

    async def start_or_signal(request: SearchAttempt) -> None:
        await client.start_workflow(
            UploadWorkflow.run,
            UploadInput(request.event_id, idle_seconds),
            id=upload_workflow_id(request.event_id),
            task_queue=task_queue,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            execution_timeout=execution_timeout(UploadWorkflow),
            start_signal="add_batch",
            start_signal_args=[UploadBatch(request.attempt)],
            search_attributes=TypedSearchAttributes([SearchAttributePair(EVENT_ID, request.event_id)]),
        )

    return start_or_signal
