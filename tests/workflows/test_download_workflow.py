"""One search's posts, on a real Temporal server."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

from temporalio.client import Client
from temporalio.exceptions import ApplicationError

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
    VideoState,
    download_id,
)
from found_footy.workflows.contracts import Done, EventWorkflow, StillWanted
from found_footy.workflows.download import DownloadWorkflow
from tests.support.workers import worker_with


class World:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.event_id = f"{uuid4()}_40_7_Goal_1"
        self.steps: list[str] = []
        self.files: dict[str, Fetched | Exception] = {}
        self.verdicts: dict[str, Looked] = {}
        self.wanted = True
        self.hash_fails = False
        self.lost: list[Lost] = []
        self.refused: list[Refused] = []
        self.after_refusal = "refused"

    async def register(self, order: EventWorkflow) -> StillWanted:
        self.steps.append("register")
        return StillWanted(self.wanted)

    async def fetch(self, order: CandidateRef) -> Fetched:
        self.steps.append(f"fetch {order.key}")
        found = self.files[order.key]
        if isinstance(found, Exception):
            raise found
        return found

    async def lose(self, order: Lost) -> Done:
        self.lost.append(order)
        return Done()

    async def ask(self, order: LookOrder) -> Done:
        self.steps.append(f"look {order.md5}")
        answer = self.verdicts.get(order.md5, Looked(order.md5, "checked"))
        handle = self.client.get_workflow_handle(order.workflow_id)
        await handle.signal("looked", answer)
        await handle.signal("looked", answer)  # a signal may come twice
        return Done()

    async def hash(self, order: VideoRef) -> VideoState:
        self.steps.append(f"hash {order.md5}")
        if self.hash_fails:
            raise ApplicationError("killed", type="ProgramFault", non_retryable=True)
        return VideoState("hashed")

    async def refuse(self, order: Refused) -> VideoState:
        self.refused.append(order)
        return VideoState(self.after_refusal)

    async def hand_over(self, order: SearchAttempt) -> Done:
        self.steps.append("hand over")
        return Done()

    @property
    def fakes(self) -> dict[Any, Any]:
        return {
            REGISTER_DOWNLOAD: (EventWorkflow, self.register),
            FETCH_CLIP: (CandidateRef, self.fetch),
            LOSE_CANDIDATE: (Lost, self.lose),
            ASK_VISION: (LookOrder, self.ask),
            HASH_CLIP: (VideoRef, self.hash),
            REFUSE_VIDEO: (Refused, self.refuse),
            HAND_OVER: (SearchAttempt, self.hand_over),
        }

    async def run(self, *keys: str, patience: float = 30) -> DownloadResult:
        async with worker_with(self.client, self.fakes) as queue:
            result: DownloadResult = await self.client.execute_workflow(
                DownloadWorkflow.run,
                DownloadInput(self.event_id, 1, list(keys), 2, patience),
                id=download_id(self.event_id, 1),
                task_queue=queue,
                execution_timeout=timedelta(seconds=120),
            )
        return result


async def test_registers_first_and_hands_over_last(temporal: Client) -> None:
    world = World(temporal)
    world.files = {"x:1": Fetched("aa", "staged")}
    result = await world.run("x:1")
    assert world.steps == ["register", "fetch x:1", "look aa", "hash aa", "hand over"]
    assert result == DownloadResult(fetched=1, lost=0, looked=1)


async def test_hands_over_also_with_nothing(temporal: Client) -> None:
    world = World(temporal)
    world.files = {"x:1": Fetched()}
    assert await world.run("x:1") == DownloadResult(fetched=0, lost=1, looked=0)
    assert world.steps[-1] == "hand over"


async def test_the_same_file_by_two_posts_is_looked_at_once(temporal: Client) -> None:
    world = World(temporal)
    world.files = {"x:1": Fetched("aa", "staged"), "bluesky:1": Fetched("aa", "staged")}
    await world.run("x:1", "bluesky:1")
    assert world.steps.count("look aa") == world.steps.count("hash aa") == 1


async def test_a_file_that_is_known_is_not_looked_at_again(temporal: Client) -> None:
    world = World(temporal)
    world.files = {"a": Fetched("aa", "kept"), "b": Fetched("bb", "refused"), "c": Fetched("cc", "checked")}
    await world.run("a", "b", "c")
    assert [step for step in world.steps if step.startswith(("look", "hash"))] == ["hash cc"]


async def test_a_refused_file_is_not_hashed(temporal: Client) -> None:
    world = World(temporal)
    world.files = {"a": Fetched("aa", "staged")}
    world.verdicts = {"aa": Looked("aa", "refused")}
    await world.run("a")
    assert "hash aa" not in world.steps


async def test_one_posts_failure_costs_no_other_its_clip(temporal: Client) -> None:
    world = World(temporal)
    broken = ApplicationError("no answer", type="DownloadUnavailable", non_retryable=True)
    world.files = {"a": broken, "b": Fetched("bb", "staged")}
    result = await world.run("a", "b")
    assert result.fetched == result.lost == 1
    assert [(lost.key, lost.error, lost.detail) for lost in world.lost] == [("a", "DownloadUnavailable", "no answer")]
    assert "hash bb" in world.steps


async def test_what_nobody_could_look_at_is_refused(temporal: Client) -> None:
    """Fail closed: it is neither hashed nor handed over as a clip."""
    world = World(temporal)
    world.files = {"a": Fetched("aa", "staged")}
    world.verdicts = {"aa": Looked("aa", "", "the server is away")}
    await world.run("a")
    assert [(refused.md5, refused.error) for refused in world.refused] == [("aa", "VisionUnavailable")]
    assert "hash aa" not in world.steps
    assert world.steps[-1] == "hand over"


async def test_a_look_that_came_too_late_and_was_saved_counts(temporal: Client) -> None:
    world = World(temporal)
    world.files = {"a": Fetched("aa", "staged")}
    world.verdicts = {"aa": Looked("aa", "", "not in time")}
    world.after_refusal = "checked"
    await world.run("a")
    assert "hash aa" in world.steps


async def test_a_file_that_cannot_be_hashed_is_refused(temporal: Client) -> None:
    world = World(temporal)
    world.files = {"a": Fetched("aa", "staged")}
    world.hash_fails = True
    await world.run("a")
    assert [refused.error for refused in world.refused] == ["ProgramFault"]


async def test_a_withdrawn_goal_is_not_downloaded(temporal: Client) -> None:
    world = World(temporal)
    world.wanted = False
    assert (await world.run("a")).withdrawn
    assert world.steps == ["register", "hand over"]
