"""One look at a clip: is it this goal, or this wicket?"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from found_footy.activities.boundary import implements
from found_footy.activities.clip_files import said_of_file, staged_file
from found_footy.activities.unexpected import AnswerKeeper
from found_footy.domain.errors import MediaError, VisionError
from found_footy.domain.fixtures.model import Sport
from found_footy.domain.videos.filters import loss_of_media
from found_footy.domain.videos.losses import LOSS_OF_REASON, Loss
from found_footy.domain.videos.readings import FrameReading
from found_footy.domain.videos.verification import Status, Verification, validate_timestamp
from found_footy.domain.videos.wicket_proof import validate_wicket
from found_footy.http_exchanges import record_exchanges
from found_footy.ports import ClipStore, ClipWatcher, ObjectStore
from found_footy.workflows.clip_contracts import LOOK_AT_CLIP, VideoRef, VideoState

log = logging.getLogger(__name__)


class VisionActivities:
    def __init__(
        self,
        clips: ClipStore,
        objects: ObjectStore,
        watch: ClipWatcher,
        tolerance_minutes: int,
        keeper: AnswerKeeper | None = None,
    ) -> None:
        self._clips = clips
        self._objects = objects
        self._watch = watch
        self._tolerance = tolerance_minutes
        self._keeper = keeper or AnswerKeeper()

    @implements(LOOK_AT_CLIP)
    async def look_at_clip(self, order: VideoRef) -> VideoState:
        state = await self._clips.video_state(order.event_id, order.md5)
        if state != "staged":
            return VideoState(state or "")
        goal = await self._clips.goal(order.event_id)
        if not goal.wanted:
            await self._clips.refuse_video(order.event_id, order.md5, Loss.WITHDRAWN, "the goal was withdrawn")
            return VideoState("refused")
        try:
            async with staged_file(self._objects, order.event_id, order.md5) as path:
                readings = await self._readings(path, goal.sport)
        except MediaError as error:
            await self._clips.refuse_video(order.event_id, order.md5, loss_of_media(error), said_of_file(error))
            return VideoState("refused")
        if goal.sport is Sport.CRICKET:
            seen = validate_wicket(readings, goal.expectation)
        else:
            seen = validate_timestamp(readings, goal.expectation, self._tolerance)
        log.info(
            f"{order.md5}: {seen.status}, {seen.reason or seen.minute}",
            extra={"action": "clip_looked_at", "event_id": order.event_id, "md5": order.md5, "status": seen.status},
        )
        if seen.status is Status.REJECTED:
            await self._clips.refuse_video(order.event_id, order.md5, *_refusal(seen, goal.sport), seen)
        else:
            await self._clips.save_look(order.event_id, order.md5, seen)
        return VideoState(await self._clips.video_state(order.event_id, order.md5) or "")

    async def _readings(self, path: Path, sport: Sport) -> Sequence[FrameReading]:
        with record_exchanges() as exchanges:
            try:
                return await self._watch(path, sport)
            except VisionError as error:
                await self._keeper.note("vision server", [error], exchanges)
                raise


def _refusal(seen: Verification, sport: Sport) -> tuple[Loss, str]:
    assert seen.reason is not None
    loss = LOSS_OF_REASON[seen.reason]
    # Each part says what the class does not say already.
    parts = [str(seen.reason)] if str(seen.reason) != str(loss) else []
    if seen.minute is not None:
        cricket = sport is Sport.CRICKET
        parts.append(f"after {seen.minute} overs" if cricket else f"the clock says {seen.minute}'")
    return loss, "; ".join(parts)
