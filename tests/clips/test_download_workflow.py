"""One search's posts, on a real Temporal server."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from found_footy.clips import workflow
from found_footy.clips.activities import DownloadActivities, UploadActivities, VerificationActivities
from found_footy.clips.models import (
    CandidateFailure,
    CandidateRef,
    DownloadInput,
    DownloadResult,
    FetchResult,
    ReverifyInput,
    ReverifyResult,
    VideoFailure,
    VideoRef,
    VideoStatus,
    download_workflow_id,
    reverify_workflow_id,
)
from found_footy.clips.workflow import FETCH, HASH, STORE_RETRY_WINDOW, DownloadWorkflow, ReverifyWorkflow
from found_footy.discovery.models import GoalCheck, SearchAttempt, WorkflowRef
from tests.support.workers import worker_with

UNAVAILABLE = ApplicationError("no answer", type="VisionUnavailable", non_retryable=True)


class ScriptedDownloads:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.event_id = f"{uuid4()}_40_7_Goal_1"
        self.steps: list[str] = []
        self.files: dict[str, FetchResult | Exception] = {}
        self.verdicts: dict[str, str | Exception] = {}
        self.confirmed = True
        self.hash_error: Exception | None = None
        self.reverified: list[str] = []
        self.rejected_candidates: list[CandidateFailure] = []
        self.rejected_videos: list[VideoFailure] = []
        self.after_rejection = "refused"

    async def register(self, order: WorkflowRef) -> GoalCheck:
        self.steps.append("register")
        return GoalCheck(self.confirmed)

    async def fetch(self, order: CandidateRef) -> FetchResult:
        self.steps.append(f"fetch {order.key}")
        found = self.files[order.key]
        if isinstance(found, Exception):
            raise found
        return found

    async def reject_candidate(self, order: CandidateFailure) -> None:
        self.rejected_candidates.append(order)

    async def verify(self, order: VideoRef) -> VideoStatus:
        self.steps.append(f"verify {order.md5}")
        verdict = self.verdicts.get(order.md5, "checked")
        if isinstance(verdict, Exception):
            raise verdict
        return VideoStatus(verdict)

    async def hash(self, order: VideoRef) -> VideoStatus:
        self.steps.append(f"hash {order.md5}")
        if self.hash_error:
            raise self.hash_error
        return VideoStatus("hashed")

    async def reject_video(self, order: VideoFailure) -> VideoStatus:
        self.rejected_videos.append(order)
        return VideoStatus(self.after_rejection)

    async def reverify(self, order: ReverifyInput) -> ReverifyResult:
        self.steps.append("reverify")
        return ReverifyResult(self.reverified)

    async def queue_for_upload(self, order: SearchAttempt) -> None:
        self.steps.append("queue for upload")

    @property
    def fakes(self) -> dict[Any, Any]:
        return {
            DownloadActivities.register_download_workflow: self.register,
            DownloadActivities.fetch_clip: self.fetch,
            DownloadActivities.reject_candidate: self.reject_candidate,
            VerificationActivities.verify_clip: self.verify,
            DownloadActivities.hash_clip: self.hash,
            DownloadActivities.reject_video: self.reject_video,
            VerificationActivities.reverify_rejected_clips: self.reverify,
            UploadActivities.queue_videos_for_upload: self.queue_for_upload,
        }

    async def run(self, *keys: str, patience: float = 30) -> DownloadResult:
        async with worker_with(self.client, self.fakes) as queue:
            result: DownloadResult = await self.client.execute_workflow(
                DownloadWorkflow.run,
                DownloadInput(self.event_id, 1, list(keys), patience),
                id=download_workflow_id(self.event_id, 1),
                task_queue=queue,
                execution_timeout=timedelta(seconds=120),
            )
        return result


async def test_registers_first_and_queues_for_upload_last(temporal: Client) -> None:
    scripted = ScriptedDownloads(temporal)
    scripted.files = {"x:1": FetchResult("aa", "staged")}
    result = await scripted.run("x:1")
    assert scripted.steps == ["register", "fetch x:1", "verify aa", "hash aa", "queue for upload"]
    assert result == DownloadResult(fetched=1, rejected=0, verified=1)


async def test_an_object_store_away_longer_than_the_retry_window_rejects_with_that_reason(
    temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert FETCH.retry_window == HASH.retry_window == STORE_RETRY_WINDOW
    for name, policy in (("FETCH", FETCH), ("HASH", HASH)):
        short = policy.within(timedelta(seconds=3), max_backoff=timedelta(seconds=0.5))
        monkeypatch.setattr(workflow, name, replace(short, initial_backoff=timedelta(seconds=0.5)))
    scripted = ScriptedDownloads(temporal)
    away = ApplicationError("the bucket does not respond", type="ObjectStoreUnavailable")
    scripted.files = {"x:1": away, "x:2": FetchResult("aa", "staged")}
    scripted.hash_error = away
    result = await scripted.run("x:1", "x:2")
    detail = "the bucket does not respond"
    assert scripted.rejected_candidates == [
        CandidateFailure(scripted.event_id, "x:1", "ObjectStoreUnavailable", detail)
    ]
    assert scripted.rejected_videos == [VideoFailure(scripted.event_id, "aa", "ObjectStoreUnavailable", detail)]
    assert min(scripted.steps.count("fetch x:1"), scripted.steps.count("hash aa")) > 1, (
        "retried until the window closed"
    )
    assert scripted.steps[-1] == "queue for upload"
    assert (result.fetched, result.rejected) == (1, 1)


async def reverify(scripted: ScriptedDownloads) -> int:
    async with worker_with(scripted.client, scripted.fakes) as queue:
        accepted: int = await scripted.client.execute_workflow(
            ReverifyWorkflow.run,
            ReverifyInput(scripted.event_id),
            id=reverify_workflow_id(scripted.event_id),
            task_queue=queue,
            execution_timeout=timedelta(seconds=120),
        )
    return accepted


async def test_reverified_clips_are_hashed_and_queued_without_a_download(temporal: Client) -> None:
    scripted = ScriptedDownloads(temporal)
    assert await reverify(scripted) == 0
    assert scripted.steps == ["reverify"]
    scripted.reverified = ["aa"]
    assert await reverify(scripted) == 1
    assert scripted.steps == ["reverify", "reverify", "hash aa", "queue for upload"]


async def test_queues_for_upload_even_without_files(temporal: Client) -> None:
    scripted = ScriptedDownloads(temporal)
    scripted.files = {"x:1": FetchResult()}
    assert await scripted.run("x:1") == DownloadResult(fetched=0, rejected=1, verified=0)
    assert scripted.steps[-1] == "queue for upload"


async def test_the_same_file_by_two_posts_is_verified_once(temporal: Client) -> None:
    scripted = ScriptedDownloads(temporal)
    scripted.files = {"x:1": FetchResult("aa", "staged"), "bluesky:1": FetchResult("aa", "staged")}
    await scripted.run("x:1", "bluesky:1")
    assert scripted.steps.count("verify aa") == scripted.steps.count("hash aa") == 1


async def test_a_file_that_is_known_is_not_verified_again(temporal: Client) -> None:
    scripted = ScriptedDownloads(temporal)
    scripted.files = {
        "a": FetchResult("aa", "kept"),
        "b": FetchResult("bb", "refused"),
        "c": FetchResult("cc", "checked"),
    }
    await scripted.run("a", "b", "c")
    assert [step for step in scripted.steps if step.startswith(("verify", "hash"))] == ["hash cc"]


async def test_a_refused_file_is_not_hashed(temporal: Client) -> None:
    scripted = ScriptedDownloads(temporal)
    scripted.files = {"a": FetchResult("aa", "staged")}
    scripted.verdicts = {"aa": "refused"}
    await scripted.run("a")
    assert "hash aa" not in scripted.steps


async def test_a_failing_post_does_not_affect_the_others(temporal: Client) -> None:
    scripted = ScriptedDownloads(temporal)
    broken = ApplicationError("no answer", type="DownloadUnavailable", non_retryable=True)
    scripted.files = {"a": broken, "b": FetchResult("bb", "staged")}
    result = await scripted.run("a", "b")
    assert result.fetched == result.rejected == 1
    assert [(lost.key, lost.error, lost.detail) for lost in scripted.rejected_candidates] == [
        ("a", "DownloadUnavailable", "no answer")
    ]
    assert "hash bb" in scripted.steps


async def test_a_file_that_could_not_be_verified_is_rejected(temporal: Client) -> None:
    """Fail closed: it is not hashed, so it cannot become a clip."""
    scripted = ScriptedDownloads(temporal)
    scripted.files = {"a": FetchResult("aa", "staged")}
    scripted.verdicts = {"aa": UNAVAILABLE}
    await scripted.run("a")
    assert [(refused.md5, refused.error) for refused in scripted.rejected_videos] == [("aa", "VisionUnavailable")]
    assert "hash aa" not in scripted.steps
    assert scripted.steps[-1] == "queue for upload"


async def test_a_verification_that_a_late_attempt_saved_counts(temporal: Client) -> None:
    scripted = ScriptedDownloads(temporal)
    scripted.files = {"a": FetchResult("aa", "staged")}
    scripted.verdicts = {"aa": UNAVAILABLE}
    scripted.after_rejection = "checked"
    await scripted.run("a")
    assert "hash aa" in scripted.steps


async def test_a_file_that_cannot_be_hashed_is_refused(temporal: Client) -> None:
    scripted = ScriptedDownloads(temporal)
    scripted.files = {"a": FetchResult("aa", "staged")}
    scripted.hash_error = ApplicationError("killed", type="InternalFault", non_retryable=True)
    await scripted.run("a")
    assert [refused.error for refused in scripted.rejected_videos] == ["InternalFault"]


async def test_a_withdrawn_goal_is_not_downloaded(temporal: Client) -> None:
    scripted = ScriptedDownloads(temporal)
    scripted.confirmed = False
    assert (await scripted.run("a")).withdrawn
    assert scripted.steps == ["register", "queue for upload"]
