"""Plays a recording through the real workflows, poll by poll, and holds the outcome against what happened then.

The replay leads: each poll of the recording is one poll of everything, and the next one begins when it has ended. So
the outcome depends on the recording alone, and not on how fast the machine is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowFailureError

from found_footy.adapters.download.recorded import NOT_KEPT
from found_footy.adapters.feeds.playhead import move_playhead
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.bootstrap_replay import Replayed, open_replay_worker, seed_names
from found_footy.bootstrap_stores import open_store
from found_footy.config import Settings
from found_footy.domain.errors import EngineError, RecordingBroken
from found_footy.domain.feeds.ids import id_space
from found_footy.domain.fixtures.statuses import phase_of
from found_footy.domain.recordings.comparing import Compared, Difference, compare_all
from found_footy.domain.recordings.explaining import Explanation, explain
from found_footy.domain.recordings.outcome import MatchOutcome, outcome_of_document, outcomes_of_answers
from found_footy.domain.recordings.packing import pack
from found_footy.domain.recordings.recording import Recording
from found_footy.domain.recordings.timeline import Heard, PlayedPoll, Timeline, timeline_of, with_silences
from found_footy.ops.replay_engines import clear_left_overs, throw_away_engines, throw_away_folder
from found_footy.ops.replay_settings import (
    PLAYHEAD,
    RECORDING,
    feeds_of,
    in_a_row,
    replay_settings,
    search_speed,
    word_lasts,
    write_sources,
)
from found_footy.ports import ObjectStore
from found_footy.workflows.contracts import IngestInput, MonitorInput
from found_footy.workflows.ingest import IngestWorkflow
from found_footy.workflows.monitor import MonitorWorkflow

POLL_PATIENCE = timedelta(seconds=60)
CLOSING_SECONDS = 120.0
"""After the last poll of the recording, how long searches and matches may take to come to their end."""
CLOSING_PAUSE = 0.5

Documents = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Progress:
    step: str
    done: int = 0
    total: int = 0
    at: datetime | None = None
    """The moment of the recording."""


@dataclass(frozen=True, slots=True)
class ReplayResult:
    title: str
    compared: tuple[Compared, ...]
    without_clip: tuple[Explanation, ...]
    polls: int
    skipped: int
    seconds: float

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(each for match in self.compared for each in match.differences)

    @property
    def equal(self) -> bool:
        return not self.differences

    def to_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "equal": self.equal,
            "polls": {"played": self.polls, "left_out": self.skipped},
            "seconds": round(self.seconds, 1),
            "matches": [asdict(match) for match in self.compared],
            "without_clip": [asdict(each) for each in self.without_clip],
        }


async def replay(
    recording: Recording,
    settings: Settings,
    speed: float,
    show: Callable[[Progress], None] = lambda progress: None,
    *,
    clips: ObjectStore | None = None,
) -> ReplayResult:
    """`clips` is where the files of then are; the folder of `settings` only lends room."""
    began = time.monotonic()
    if not recording.answers:
        raise RecordingBroken("no feed said anything in this recording")
    show(Progress("starting the engines"))
    recording = with_silences(recording)
    await clear_left_overs(settings.data_dir)
    with throw_away_folder(settings.data_dir) as folder:
        mine = replay_settings(settings, recording, folder, speed)
        timeline = timeline_of(recording, in_a_row=in_a_row(mine), speed=speed)
        (folder / RECORDING).write_bytes(await asyncio.to_thread(pack, recording))
        write_sources(folder, recording)
        then = outcomes_of_then(recording, mine.over_polls)
        player = _Player(then, timeline, folder, word_lasts(mine), show)
        async with throw_away_engines(mine) as (located, client):
            await seed_names(
                located, recording, {feed.id: id_space(feed.id, own=False) for feed in feeds_of(recording)}
            )
            replayed = Replayed(recording, search_speed(speed), clips)
            player.begin()
            async with open_replay_worker(located, client, replayed) as worker, open_store(located) as store, worker:
                documents = await player.play(client, store, located.task_queue)
    now = [outcome_of_document(each, NOT_KEPT) for each in documents]
    return ReplayResult(
        recording.title,
        compare_all(then, now),
        explain(recording),
        len(timeline.polls),
        timeline.skipped,
        time.monotonic() - began,
    )


def outcomes_of_then(recording: Recording, over_polls: int) -> tuple[MatchOutcome, ...]:
    if recording.document is None:
        return outcomes_of_answers(recording, over_polls)
    return (outcome_of_document(recording.document),)


class _Player:
    def __init__(
        self,
        then: Sequence[MatchOutcome],
        timeline: Timeline,
        folder: Path,
        word_lasts: float,
        show: Callable[[Progress], None],
    ) -> None:
        self._timeline = timeline
        self._word_lasts = word_lasts
        self._playhead = folder / PLAYHEAD
        self._show = show
        self._start = datetime.now(UTC)
        self._known: frozenset[Heard] = frozenset()
        self._expected = {outcome.id for outcome in then if _ends(outcome)}
        self._ingests = 0

    def begin(self) -> None:
        """From now on the recording's first poll is the present."""
        self._start = datetime.now(UTC)
        self._move(self._timeline.polls[0])

    def _move(self, poll: PlayedPoll) -> None:
        move_playhead(self._playhead, self._timeline, self._start, poll.at)

    async def play(self, client: Client, store: PostgresStore, queue: str) -> Documents:
        polls = self._timeline.polls
        silent: frozenset[Heard] = frozenset()
        for number, poll in enumerate(polls):
            await self._wait_for(poll)
            if poll.silent - silent:
                # What a feed that fails had said did not count any more then; here it is forgotten by the clock, too.
                await asyncio.sleep(self._word_lasts)
            silent = poll.silent
            self._move(poll)
            if poll.lists - self._known:
                self._known |= poll.lists
                await self._ingest(client, queue)
            await _run_poll(client, queue, f"replay-poll-{number}")
            self._show(Progress("playing", number + 1, len(polls), poll.at))
        return await self._close(client, store, queue)

    async def _wait_for(self, poll: PlayedPoll) -> None:
        early = (self._start + poll.offset - datetime.now(UTC)).total_seconds()
        if early > 0:
            await asyncio.sleep(early)

    async def _ingest(self, client: Client, queue: str) -> None:
        """The feeds list matches that they did not list before; in life the daily ingest brings them in."""
        self._ingests += 1
        order = IngestInput(days=2, days_before=1, look_ahead_days=0)
        try:
            await client.execute_workflow(
                IngestWorkflow.run,
                order,
                id=f"replay-ingest-{self._ingests}",
                task_queue=queue,
                execution_timeout=POLL_PATIENCE,
            )
        except WorkflowFailureError as failure:
            raise EngineError(f"the matches of the recording could not be brought in: {_cause(failure)}") from failure

    async def _close(self, client: Client, store: PostgresStore, queue: str) -> Documents:
        """The last words of the feeds stand until all searches and matches have ended."""
        deadline = time.monotonic() + CLOSING_SECONDS
        number = 0
        while True:
            documents = await store.fixtures()
            open_ones = [document for document in documents if not self._is_done(document)]
            total = len(self._timeline.polls)
            self._show(Progress(f"ending {len(open_ones)} matches" if open_ones else "comparing", total, total))
            if not open_ones or time.monotonic() > deadline:
                return documents
            number += 1
            await _run_poll(client, queue, f"replay-closing-{number}")
            await asyncio.sleep(CLOSING_PAUSE)

    def _is_done(self, document: Mapping[str, Any]) -> bool:
        searched = all(
            event["_download_complete"] or event["_removed"] or not event["_debounce_complete"]
            for event in document["events"]
        )
        ended = outcome_of_document(document).id not in self._expected or document["stage"] == "completed"
        return searched and ended


def _ends(outcome: MatchOutcome) -> bool:
    return not outcome.note and phase_of(outcome.status).is_over


async def _run_poll(client: Client, queue: str, id_: str) -> None:
    try:
        await client.execute_workflow(
            MonitorWorkflow.run, MonitorInput(), id=id_, task_queue=queue, execution_timeout=POLL_PATIENCE
        )
    except WorkflowFailureError as failure:
        raise EngineError(f"a poll of the replay failed: {_cause(failure)}") from failure


def _cause(failure: BaseException) -> BaseException:
    while failure.__cause__ is not None:
        failure = failure.__cause__
    return failure
