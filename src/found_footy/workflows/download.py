"""One search's posts: fetched, looked at, hashed, and handed over to the uploader, always."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from found_footy.workflows.clip_contracts import (
    ASK_VISION,
    FETCH_CLIP,
    HAND_OVER,
    HASH_CLIP,
    LOSE_CANDIDATE,
    REFUSE_VIDEO,
    REGISTER_DOWNLOAD,
    CandidateRef,
    DownloadInput,
    DownloadResult,
    Fetched,
    Looked,
    LookOrder,
    Lost,
    Refused,
    SearchAttempt,
    VideoRef,
)
from found_footy.workflows.contracts import EventWorkflow

STORE_PATIENCE = timedelta(minutes=15)
"""How long a step is tried again while the object store or the database is away."""
MARGIN = timedelta(minutes=2)
"""Beyond its patience, for the answer of the vision workflow to arrive."""


@workflow.defn(name="DownloadWorkflow")
class DownloadWorkflow:
    def __init__(self) -> None:
        self._looked: dict[str, Looked] = {}

    @workflow.signal
    def looked(self, answer: Looked) -> None:
        self._looked[answer.md5] = answer

    @workflow.run
    async def run(self, order: DownloadInput) -> DownloadResult:
        me = workflow.info().workflow_id
        # First of all: the event knows of us before anything can go wrong.
        still = await REGISTER_DOWNLOAD(EventWorkflow(order.event_id, me))
        if not still.wanted:
            await HAND_OVER(SearchAttempt(order.event_id, order.attempt))
            return DownloadResult(withdrawn=True)
        try:
            fetched = await asyncio.gather(*(self._fetch(order.event_id, key) for key in order.keys))
            # One file is looked at once, however many posts it came by.
            files = {each.md5: each.state for each in fetched if each.md5}
            await asyncio.gather(*(self._inspect(order, md5, state) for md5, state in sorted(files.items())))
        finally:
            # Also with nothing: the uploader counts the posts of files that it has, and cleans up.
            await HAND_OVER(SearchAttempt(order.event_id, order.attempt))
        return DownloadResult(
            fetched=sum(bool(each.md5) for each in fetched),
            lost=sum(not each.md5 for each in fetched),
            looked=len(self._looked),
        )

    async def _fetch(self, event_id: str, key: str) -> Fetched:
        try:
            return await FETCH_CLIP.patiently(CandidateRef(event_id, key), STORE_PATIENCE)
        except ActivityError as error:
            await LOSE_CANDIDATE(Lost(event_id, key, *_explained(error)))
            return Fetched()

    async def _inspect(self, order: DownloadInput, md5: str, state: str) -> None:
        clip = VideoRef(order.event_id, md5)
        if state == "staged":
            state = await self._look(order, md5)
        if state == "checked":
            try:
                await HASH_CLIP.patiently(clip, STORE_PATIENCE)
            except ActivityError as error:
                await REFUSE_VIDEO(Refused(order.event_id, md5, *_explained(error)))

    async def _look(self, order: DownloadInput, md5: str) -> str:
        """Waits for its turn: the looks of all workers together are bounded by the vision workflow."""
        patience = order.vision_patience_seconds
        me = workflow.info().workflow_id
        try:
            await ASK_VISION(LookOrder(me, order.event_id, md5, order.vision_calls, patience))
            await workflow.wait_condition(
                lambda: md5 in self._looked, timeout=timedelta(seconds=patience) + MARGIN, timeout_summary="vision"
            )
            answer = self._looked[md5]
        except (TimeoutError, ActivityError):
            answer = Looked(md5, "", "the vision workflow did not answer")
        if not answer.state:
            # Nothing is published that nobody could look at; but a look may have been late, and saved all the same.
            refused = Refused(order.event_id, md5, "VisionUnavailable", answer.detail)
            return (await REFUSE_VIDEO(refused)).state
        return answer.state


def _explained(error: ActivityError) -> tuple[str, str]:
    """The class of the error that ended an activity, and its words."""
    cause = error.cause
    if isinstance(cause, ApplicationError):
        return cause.type or "ProgramFault", cause.message
    return "ProgramFault", str(cause or error)
