"""What becomes of the files that were looked at: clips, or copies of clips."""

from __future__ import annotations

import asyncio
import logging

from found_footy.activities.boundary import implements
from found_footy.domain.errors import ObjectMissing
from found_footy.domain.videos.keeping import Copy, Settlement, settle
from found_footy.domain.videos.keys import clip_key, staging_key
from found_footy.media.pairs import pairs_of
from found_footy.ports import ClipStore, ObjectStore
from found_footy.workflows.clip_contracts import (
    CLEAN_UP_UPLOAD,
    DEDUPLICATE_POOL,
    PUBLISH_CLIP,
    SETTLE_EVENT,
    CopyOf,
    PoolPlan,
    PoolRef,
    Settled,
    SettleOrder,
    VideoRef,
)
from found_footy.workflows.contracts import Done, EventWorkflow

log = logging.getLogger(__name__)


class UploadActivities:
    def __init__(self, clips: ClipStore, objects: ObjectStore) -> None:
        self._clips = clips
        self._objects = objects

    @implements(DEDUPLICATE_POOL)
    async def deduplicate_pool(self, order: PoolRef) -> PoolPlan:
        pool = await self._clips.pool(order.event_id, order.pool)
        new = [video.id for video in pool.new]
        pairs = await asyncio.to_thread(pairs_of, [video.id for video in pool.kept], new, pool.fingerprints)
        result = settle([*pool.kept, *pool.new], pairs, pool.copies)
        return PoolPlan(
            stays=list(result.stays),
            publish=[name for name in result.stays if name in new],
            copies=[CopyOf(copy.id, copy.of, copy.offset, copy.mirrored) for copy in result.copies],
        )

    @implements(PUBLISH_CLIP)
    async def publish_clip(self, order: VideoRef) -> Done:
        goal = await self._clips.goal(order.event_id)
        if not goal.wanted:
            return Done()
        target = clip_key(goal.fixture_id, goal.id, order.md5)
        try:
            await self._objects.copy(staging_key(goal.id, order.md5), target)
        except ObjectMissing:
            # An earlier try may have got as far as cleaning up; then the clip is where it belongs.
            if await self._objects.head(target) is None:
                raise
        return Done()

    @implements(SETTLE_EVENT)
    async def settle_event(self, order: SettleOrder) -> Settled:
        settlements = [
            Settlement(tuple(plan.stays), tuple(Copy(c.md5, c.of, c.offset, c.mirrored) for c in plan.copies))
            for plan in order.plans
        ]
        settled = await self._clips.settle(order.event_id, settlements, order.at)
        log.info(
            f"{sum(len(plan.publish) for plan in order.plans)} new clips",
            extra={"action": "settled", "event_id": order.event_id, "settled": settled},
        )
        return Settled(settled)

    @implements(CLEAN_UP_UPLOAD)
    async def clean_up_upload(self, order: EventWorkflow) -> Done:
        goal = await self._clips.goal(order.event_id)
        states = await self._clips.video_states(order.event_id)
        done = [staging_key(goal.id, md5) for md5, state in states.items() if state in ("kept", "replaced", "refused")]
        gone = [clip_key(goal.fixture_id, goal.id, md5) for md5, state in states.items() if state == "replaced"]
        await self._objects.delete([*done, *gone])
        return Done()
