"""The activities of the clips around a real database and object store, with a scripted outside."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from temporalio.testing import ActivityEnvironment

from found_footy.clips.activities import DownloadActivities, UploadActivities, VerificationActivities
from found_footy.clips.filters import FilterRules
from found_footy.clips.models import CandidateRef, FetchResult, FrameReading, PoolRef, SettleRequest, VideoRef
from found_footy.clips.store import ClipStore
from found_footy.discovery.activities import SearchActivities, SearchRules
from found_footy.discovery.models import Post, SearchAttempt, TeamName, WorkflowRef
from found_footy.discovery.query import SearchQuery
from found_footy.errors import WikidataError
from found_footy.fixtures.models import Score, Sport
from found_footy.fixtures.store import FixtureStore
from found_footy.media.processor import MediaProcessor
from found_footy.recordings.recorder import MatchRecorder
from found_footy.recordings.store import RecordingStore
from found_footy.storage.objects.backend import ObjectStore
from tests.support.clips import GOAL, NOW, post, record_search

SEARCH = WorkflowRef(GOAL, f"search-{GOAL}")


async def _queue_nothing(order: SearchAttempt) -> None:
    """Tests call the upload's steps themselves."""


class ScriptedSource:
    def __init__(self, name: str, *posts: Post, error: Exception | None = None) -> None:
        self.name = name
        self.posts = posts
        self.error = error
        self.asked: list[SearchQuery] = []

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        self.asked.append(query)
        if self.error:
            raise self.error
        return self.posts

    async def check(self) -> str:
        return self.name

    async def aclose(self) -> None:
        pass


class ScriptedDownloader:
    """Files by their address, or the error that comes instead."""

    def __init__(self) -> None:
        self.files: dict[str, bytes | Exception] = {}
        self.requests: list[str] = []

    async def fetch(self, media_url: str, to: Path) -> None:
        self.requests.append(media_url)
        answer = self.files[media_url]
        if isinstance(answer, Exception):
            raise answer
        await asyncio.to_thread(to.write_bytes, answer)

    async def aclose(self) -> None:
        pass


@dataclass
class ScriptedVision:
    reading: FrameReading = field(
        default_factory=lambda: FrameReading(1.0, soccer=True, screen=False, clock="22:40", score=Score(0, 0))
    )
    error: Exception | None = None
    calls: int = 0

    async def __call__(self, path: Path, sport: Sport = Sport.FOOTBALL) -> Sequence[FrameReading]:
        self.calls += 1
        if self.error:
            raise self.error
        return [self.reading, self.reading]


class ScriptedTeamNames:
    def __init__(self, *names: TeamName, error: WikidataError | None = None) -> None:
        self.names = names
        self.error = error
        self.asked: list[str] = []

    async def team_names(self, team: str, *, country: str | None = None, national: bool = False) -> Sequence[TeamName]:
        self.asked.append(team)
        if self.error:
            raise self.error
        return self.names

    async def check(self) -> str:
        return "names"

    async def aclose(self) -> None:
        pass


class ClipSystem:
    def __init__(self, store: FixtureStore, objects: ObjectStore, media: MediaProcessor, clip: bytes) -> None:
        self.store, self.objects = store, objects
        self.clips = ClipStore(store.database)
        self.sources: list[ScriptedSource] = []
        self.downloads, self.scripted_vision, self.clip = ScriptedDownloader(), ScriptedVision(), clip
        self.now = NOW
        self.download = DownloadActivities(self.clips, objects, self.downloads, media, FilterRules(), lambda: self.now)
        self.vision = VerificationActivities(self.clips, objects, self.scripted_vision, 3, nullcontext)
        self.upload = UploadActivities(self.clips, objects, _queue_nothing)

    @property
    def search(self) -> SearchActivities:
        recorder = MatchRecorder(RecordingStore(self.store.database), self.objects, {})
        rules = SearchRules()
        return SearchActivities(self.store, self.clips, self.objects, self.sources, rules, lambda: self.now, recorder)

    async def call(self, activity: Any, order: Any, attempt: int = 1) -> Any:
        environment = ActivityEnvironment()
        environment.info = ActivityEnvironment.default_info()
        environment.info = type(environment.info)(**{**vars(environment.info), "attempt": attempt})
        return await environment.run(activity, order)

    async def download_file(self, name: str = "a", content: bytes | None = None) -> str:
        """A file that is in staging, by a post of that name."""
        (key,) = await record_search(self.clips, len(self.downloads.requests) + 1, post(name))
        self.downloads.files[post(name).media_url] = content or self.clip
        answer: FetchResult = await self.call(self.download.fetch_clip, CandidateRef(GOAL, key))
        assert answer.state == "staged"
        return answer.md5

    async def candidates(self) -> dict[str, tuple[str, str | None]]:
        event = await self.store.event(GOAL)
        return {each["key"]: (each["state"], each["loss"]) for each in event["_discovered_videos"]}

    async def keys(self) -> list[str]:
        return sorted([stored.key async for stored in self.objects.list()])

    async def upload_all(self) -> None:
        plans = [await self.call(self.upload.deduplicate_pool, PoolRef(GOAL, p)) for p in ("verified", "unverified")]
        for name in (name for plan in plans for name in plan.publish):
            await self.call(self.upload.publish_clip, VideoRef(GOAL, name))
        await self.call(self.upload.settle_event, SettleRequest(GOAL, plans, NOW))
        await self.call(self.upload.clean_up_upload, SEARCH)
