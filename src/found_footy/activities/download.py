"""From a post to a file in staging, and what is known of it before anybody looks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import datetime

from temporalio import activity
from temporalio.client import Client
from temporalio.common import SearchAttributePair, TypedSearchAttributes

from found_footy.activities.boundary import implements
from found_footy.activities.clip_files import folder_for_a_clip, md5_of_file, said_of_file, staged_file
from found_footy.activities.unexpected import AnswerKeeper
from found_footy.domain.discovery.goal import SoughtGoal
from found_footy.domain.errors import ClipLost, DownloadUnavailable, MediaError
from found_footy.domain.videos.filters import FilterRules, loss_of_error, loss_of_media, refusal
from found_footy.domain.videos.keys import staging_key
from found_footy.domain.videos.losses import Loss
from found_footy.http_exchanges import record_exchanges
from found_footy.ports import ClipStore, Downloader, MediaReader, ObjectStore
from found_footy.workflows.clip_contracts import (
    ASK_VISION,
    FETCH_CLIP,
    HAND_OVER,
    HASH_CLIP,
    LOSE_CANDIDATE,
    REFUSE_VIDEO,
    REGISTER_DOWNLOAD,
    Batch,
    CandidateRef,
    Fetched,
    LookOrder,
    Lost,
    Refused,
    SearchAttempt,
    UploadInput,
    VideoRef,
    VideoState,
    VisionInput,
    upload_id,
    vision_id,
)
from found_footy.workflows.contracts import EVENT_ID, Done, EventWorkflow, StillWanted
from found_footy.workflows.upload import UploadWorkflow
from found_footy.workflows.vision import VisionWorkflow

log = logging.getLogger(__name__)

DOWNLOAD_TRIES = 3
"""Of a host that does not answer; whatever else fails is tried for as long as the workflow says."""


class DownloadActivities:
    def __init__(
        self,
        clips: ClipStore,
        objects: ObjectStore,
        downloader: Downloader,
        media: MediaReader,
        filters: FilterRules,
        now: Callable[[], datetime],
        keeper: AnswerKeeper | None = None,
    ) -> None:
        self._clips = clips
        self._keeper = keeper or AnswerKeeper()
        self._objects = objects
        self._downloader = downloader
        self._media = media
        self._filters = filters
        self._now = now

    @implements(REGISTER_DOWNLOAD)
    async def register_download_workflow(self, order: EventWorkflow) -> StillWanted:
        return StillWanted(await self._clips.register_download(order.event_id, order.workflow_id))

    @implements(FETCH_CLIP)
    async def fetch_clip(self, order: CandidateRef) -> Fetched:
        goal = await self._clips.goal(order.event_id)
        candidate = await self._clips.candidate(order.event_id, order.key)
        if candidate.md5 is not None:
            return Fetched(candidate.md5, await self._clips.video_state(order.event_id, candidate.md5) or "")
        if candidate.loss is not None:
            return Fetched()
        try:
            if not goal.wanted:
                raise ClipLost(Loss.WITHDRAWN, "the goal was withdrawn")
            return await self._fetch(goal, order.key, candidate.media_url)
        except ClipLost as lost:
            return await self._lose(order, lost.loss, str(lost))
        except MediaError as error:
            return await self._lose(order, loss_of_media(error), said_of_file(error))
        except DownloadUnavailable as error:
            if activity.info().attempt < DOWNLOAD_TRIES:
                raise
            return await self._lose(order, Loss.UNREACHABLE, str(error))

    async def _fetch(self, goal: SoughtGoal, key: str, media_url: str) -> Fetched:
        with folder_for_a_clip() as folder:
            path = folder / "clip.mp4"
            with record_exchanges() as exchanges:
                try:
                    await self._downloader.fetch(media_url, path)
                except ClipLost as lost:
                    await self._keeper.note("download", [lost], exchanges)
                    raise
            md5 = await asyncio.to_thread(md5_of_file, path)
            info = None
            # A file that is known needs neither a second look nor a second place.
            if await self._clips.video_state(goal.id, md5) is None:
                info = await self._media.probe(path)
                refused = refusal(info.duration, info.aspect, self._filters)
                if refused is not None:
                    raise ClipLost(*refused)
                await self._objects.put(
                    staging_key(goal.id, md5),
                    path,
                    content_type=content_type(info.container),
                    metadata=_metadata(goal, key),
                )
            return Fetched(md5, await self._clips.add_video(goal.id, key, md5, info, self._now()))

    async def _lose(self, order: CandidateRef, loss: str, detail: str) -> Fetched:
        await self._clips.lose_candidate(order.event_id, order.key, loss, detail)
        log.info(f"{order.key} is lost: {loss}: {detail}", extra={"action": "candidate_lost", **vars(order)})
        return Fetched()

    @implements(LOSE_CANDIDATE)
    async def lose_candidate(self, order: Lost) -> Done:
        log.error(order.detail, extra={"action": "fetch_failed", "event_id": order.event_id, "error": order.error})
        loss = loss_of_error(order.error)
        await self._clips.lose_candidate(order.event_id, order.key, loss, f"{order.error}: {order.detail}")
        return Done()

    @implements(HASH_CLIP)
    async def hash_clip(self, order: VideoRef) -> VideoState:
        if await self._clips.video_state(order.event_id, order.md5) == "checked":
            try:
                async with staged_file(self._objects, order.event_id, order.md5) as path:
                    fingerprint = await self._media.fingerprint(path)
                await self._clips.save_fingerprint(order.event_id, order.md5, fingerprint)
            except MediaError as error:
                await self._clips.refuse_video(order.event_id, order.md5, loss_of_media(error), said_of_file(error))
        return VideoState(await self._clips.video_state(order.event_id, order.md5) or "")

    @implements(REFUSE_VIDEO)
    async def refuse_video(self, order: Refused) -> VideoState:
        log.error(order.detail, extra={"action": "check_failed", "event_id": order.event_id, "error": order.error})
        loss = loss_of_error(order.error)
        state = await self._clips.video_state(order.event_id, order.md5)
        if loss is not Loss.NOT_CHECKED or state == "staged":
            await self._clips.refuse_video(order.event_id, order.md5, loss, f"{order.error}: {order.detail}")
            state = await self._clips.video_state(order.event_id, order.md5)
        return VideoState(state or "")


class HandOverActivities:
    """Signals that start whoever they are meant for, where it does not run."""

    def __init__(self, client: Client, task_queue: str, upload_idle_seconds: float) -> None:
        self._client = client
        self._task_queue = task_queue
        self._upload_idle_seconds = upload_idle_seconds

    @implements(HAND_OVER)
    async def hand_over_to_upload(self, order: SearchAttempt) -> Done:
        await self._client.start_workflow(
            UploadWorkflow.run,
            UploadInput(order.event_id, self._upload_idle_seconds),
            id=upload_id(order.event_id),
            task_queue=self._task_queue,
            start_signal="add_batch",
            start_signal_args=[Batch(order.attempt)],
            search_attributes=TypedSearchAttributes([SearchAttributePair(EVENT_ID, order.event_id)]),
        )
        return Done()

    @implements(ASK_VISION)
    async def ask_vision(self, order: LookOrder) -> Done:
        await self._client.start_workflow(
            VisionWorkflow.run,
            VisionInput(),
            id=vision_id(self._task_queue),
            task_queue=self._task_queue,
            start_signal="look",
            start_signal_args=[order],
        )
        return Done()


def content_type(container: str) -> str:
    """What a browser must be told; the key says `.mp4` of everything, as links do."""
    if "matroska" in container or "webm" in container:
        return "video/webm"
    return "video/mp2t" if container == "mpegts" else "video/mp4"


def _metadata(goal: SoughtGoal, key: str) -> Mapping[str, str]:
    return {
        "event": goal.id,
        "home": goal.home.name,
        "away": goal.away.name,
        "player": goal.player or "",
        "minute": str(goal.minute),
        "post": key,
    }
