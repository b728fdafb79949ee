"""Replay of recordings: inputs, settings, and the runner that plays and compares."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowFailureError

from found_footy.config import Settings, apply_demo_profile
from found_footy.discovery.models import search_workflow_id
from found_footy.errors import EngineError, RecordingBroken
from found_footy.feeds.alignment import ID_SPAN, id_offset
from found_footy.fixtures.models import IngestInput, MonitorInput, phase_of
from found_footy.fixtures.workflow import IngestWorkflow, MonitorWorkflow
from found_footy.recordings.file_format import pack
from found_footy.recordings.missing_clips import MissingClipExplanation, explain_missing_clips
from found_footy.recordings.models import RecordedFeed, Recording
from found_footy.recordings.outcome import (
    MatchComparison,
    MatchOutcome,
    OutcomeDifference,
    compare_outcomes,
    outcome_of_document,
    outcomes_of_answers,
)
from found_footy.recordings.playback import FILE_MISSING, RecordedDownloader, RecordedSource, RunningSearch, write_clock
from found_footy.recordings.timeline import MatchKey, ReplayPoll, ReplayTimeline, add_missing_polls, build_timeline
from found_footy.runtime.clock import utc_now
from found_footy.runtime.temporary_engines import delete_leftovers, temporary_engines, temporary_folder
from found_footy.storage.objects.backend import ObjectStore

Documents = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SeededAliases:
    """Aliases saved before the replay, so that none is looked up."""

    team_id: int
    team_name: str
    aliases: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class ReplayInputs:
    """What replaces external services in a replay's worker."""

    sources: Sequence[RecordedSource]
    downloader: RecordedDownloader
    aliases: Sequence[SeededAliases]


OpenReplay = Callable[[Settings, Client, ReplayInputs], AbstractAsyncContextManager[Callable[[], Awaitable[Documents]]]]
"""Runs a regular worker with these inputs, and yields a function that reads all matches: `app.open_replay`."""


def replay_inputs(
    recording: Recording, clips: ObjectStore | None, max_post_age: timedelta, speed: float
) -> ReplayInputs:
    """`clips` stores the recorded files; `speed` is that of the searches."""
    names = sorted({each.source for search in recording.searches for each in search.sources})
    return ReplayInputs(
        [
            RecordedSource(name, recording.searches, running_search, speed=speed, max_post_age=max_post_age)
            for name in names
        ],
        RecordedDownloader(recording.fixture_id or 0, recording.downloads, clips),
        list(_seeded_aliases(recording, utc_now())),
    )


def running_search() -> RunningSearch:
    """Identify the calling search by its workflow id."""
    info = activity.info()
    return RunningSearch((info.workflow_id or "").removeprefix(search_workflow_id("")), is_retry=info.attempt > 1)


def _seeded_aliases(recording: Recording, now: datetime) -> Iterator[SeededAliases]:
    """The recorded aliases under every id that the teams may have in the replay."""
    offsets = {feed.id: id_offset(feed.id, is_primary=False) for feed in feeds_of(recording)}
    teams = {
        (answer.feed, team.id): team.name
        for answer in recording.answers
        if answer.live is not None
        for team in (answer.live.home, answer.live.away)
    }
    for (feed, id_), name in teams.items():
        for team_id in {id_, id_ + offsets.get(feed, 0)}:
            yield SeededAliases(team_id, name, (), now - timedelta(days=1))
    for names in {each.team_id: each for each in recording.names}.values():
        for offset in {0, *offsets.values()}:
            yield SeededAliases(names.team_id % ID_SPAN + offset, names.team_name, names.aliases, now)


# --- Settings of a replay: recorded rules, a demo's timings, no external services.


NAMESPACE = "replay"
RECORDING, REPLAY_CLOCK, SOURCES = "recording.jsonl.gz", "replay_clock.json", "sources.yaml"

COUNT_SETTINGS = (
    "debounce_polls",
    "drop_polls",
    "over_polls",
    "same_goal_minutes",
    "search_attempts",
    "search_attempts_most",
    "candidates",
)
"""Rules that are counts, used as recorded."""
TIME_SETTINGS = ("search_seconds", "search_gap_seconds", "post_age_seconds")
"""Rules that are durations, divided by the speed of the searches."""
MAX_SEARCH_SPEED = 20.0
"""At higher speeds the duration of a search would outweigh the time between searches."""
DECIDING_POLLS = 1
"""Additional polls with an equal response, beyond what the rules require."""


def max_repeated_polls(settings: Settings) -> int:
    """Number of consecutive equal polls after which further ones cannot change a decision."""
    return max(settings.debounce_polls, settings.drop_polls, settings.over_polls) + DECIDING_POLLS


def search_speed(speed: float) -> float:
    return min(speed, MAX_SEARCH_SPEED)


def replay_snapshot_lifetime(settings: Settings) -> float:
    """Seconds for which a feed's response remains valid in the replay without a new one."""
    return 1.5 * settings.poll_seconds + settings.feed_patience_seconds


def replay_settings(settings: Settings, recording: Recording, folder: Path, speed: float) -> Settings:
    """Derive the settings of a replay. `folder` is deleted afterwards."""
    return apply_demo_profile(settings).model_copy(
        update={
            "data_dir": folder,
            "database_url": None,
            "temporal_address": None,
            "temporal_namespace": NAMESPACE,
            "temporal_api_key": None,
            "redis_url": None,
            "object_store_url": None,
            "feed": None,
            "feeds_file": folder / SOURCES,
            "follow": ("all",),
            "tracked_teams": (),
            "tracked_leagues": (),
            "sources": (),
            "browser_url": None,
            "drop_folder": None,
            "private_hosts": (),
            # Playback responds at once unless the machine is busy, and there is no other feed to wait for.
            "feed_patience_seconds": 5.0,
            # Pauses of feeds are already part of the recording.
            "pause_failures": 100,
            "patience_seconds": 20.0,
            **_rules(recording, search_speed(speed)),
        }
    )


def _rules(recording: Recording, speed: float) -> dict[str, Any]:
    rules: dict[str, Any] = {
        name: int(recording.rules[name]) for name in COUNT_SETTINGS if recording.rules.get(name, 0) >= 1
    }
    rules |= {name: recording.rules[name] / speed for name in TIME_SETTINGS if name in recording.rules}
    if not recording.searches:
        rules |= {"search_attempts": 1, "search_attempts_most": 1, "search_seconds": 1.0, "search_gap_seconds": 0.1}
    return rules


def feeds_of(recording: Recording) -> list[RecordedFeed]:
    """Return the feeds with responses by precedence, the founding one first among equals."""
    responding = {answer.feed for answer in recording.answers}
    known = {feed.id: feed for feed in recording.feeds}
    found = [known.get(feed, RecordedFeed(feed)) for feed in sorted(responding)]
    return sorted(found, key=lambda feed: (-feed.precedence, not feed.founding, feed.id))


def write_sources(folder: Path, recording: Recording) -> None:
    """Declare each recorded feed under its own name, so that responses are reconciled as they were."""
    sources = [
        {
            "domain_id": feed.id,
            "adapter": "recording",
            "precedence_weight": min(feed.precedence, 100),
            "rate_limits": {"max_concurrent_contexts": 100, "min_interval_seconds": 0.0, "burst_allowance": 1000},
            "metadata": {
                "path": str(folder / RECORDING),
                "feed": feed.id,
                "replay_clock": str(folder / REPLAY_CLOCK),
            },
        }
        for feed in feeds_of(recording)
    ]
    # JSON is valid YAML.
    (folder / SOURCES).write_text(json.dumps({"sources": sources}, indent=2))


# --- Runner: plays a recording through the real workflows, poll by poll, and compares the outcomes.


POLL_TIMEOUT = timedelta(seconds=60)
CLOSING_TIMEOUT = 120.0
"""Time limit for searches and matches to end after the last poll."""
CLOSING_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class ReplayProgress:
    step: str
    done: int = 0
    total: int = 0
    at: datetime | None = None
    """Position in the recording."""


@dataclass(frozen=True, slots=True)
class ReplayResult:
    title: str
    compared: tuple[MatchComparison, ...]
    without_clip: tuple[MissingClipExplanation, ...]
    polls: int
    skipped: int
    seconds: float

    @property
    def differences(self) -> tuple[OutcomeDifference, ...]:
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
            "matches": [_comparison_to_json(match) for match in self.compared],
            "without_clip": [asdict(each) for each in self.without_clip],
        }


def _comparison_to_json(match: MatchComparison) -> dict[str, Any]:
    document = asdict(match)
    for outcome in (document["then"], document["now"]):
        for goal in outcome["goals"] if outcome else ():
            goal["losses"], goal["lost_files"] = goal.pop("rejections"), goal.pop("missing_files")
    return document


async def replay(
    recording: Recording,
    settings: Settings,
    speed: float,
    open_replay: OpenReplay,
    show: Callable[[ReplayProgress], None] = lambda progress: None,
    *,
    clips: ObjectStore | None = None,
) -> ReplayResult:
    """Play a recording and compare the outcomes. `clips` holds the recorded files; `settings.data_dir` only provides
    disk space.
    """
    began = time.monotonic()
    if not recording.answers:
        raise RecordingBroken("the recording contains no responses")
    show(ReplayProgress("starting the engines"))
    recording = add_missing_polls(recording)
    await delete_leftovers(settings.data_dir)
    with temporary_folder(settings.data_dir) as folder:
        isolated = replay_settings(settings, recording, folder, speed)
        timeline = build_timeline(recording, max_repeats=max_repeated_polls(isolated), speed=speed)
        (folder / RECORDING).write_bytes(await asyncio.to_thread(pack, recording))
        write_sources(folder, recording)
        then = recorded_outcomes(recording, isolated.over_polls)
        player = ReplayRunner(then, timeline, folder, replay_snapshot_lifetime(isolated), show)
        async with temporary_engines(isolated) as (located, client):
            age = timedelta(seconds=isolated.post_age_seconds)
            inputs = replay_inputs(recording, clips, age, search_speed(speed))
            player.begin()
            async with open_replay(located, client, inputs) as read_documents:
                documents = await player.play(client, read_documents, located.task_queue)
    now = [outcome_of_document(each, FILE_MISSING) for each in documents]
    return ReplayResult(
        recording.title,
        compare_outcomes(then, now),
        explain_missing_clips(recording),
        len(timeline.polls),
        timeline.skipped,
        time.monotonic() - began,
    )


def recorded_outcomes(recording: Recording, over_polls: int) -> tuple[MatchOutcome, ...]:
    if recording.document is None:
        return outcomes_of_answers(recording, over_polls)
    return (outcome_of_document(recording.document),)


class ReplayRunner:
    def __init__(
        self,
        then: Sequence[MatchOutcome],
        timeline: ReplayTimeline,
        folder: Path,
        snapshot_lifetime: float,
        show: Callable[[ReplayProgress], None],
    ) -> None:
        self._timeline = timeline
        self._snapshot_lifetime = snapshot_lifetime
        self._clock_file = folder / REPLAY_CLOCK
        self._show = show
        self._start = utc_now()
        self._ingested: frozenset[MatchKey] = frozenset()
        self._expected = {outcome.id for outcome in then if _ended_in_recording(outcome)}
        self._ingests = 0

    def begin(self) -> None:
        """Start the replay: map the recording's first poll to now."""
        self._start = utc_now()
        self._move_clock(self._timeline.polls[0])

    def _move_clock(self, poll: ReplayPoll) -> None:
        write_clock(self._clock_file, self._timeline, self._start, poll.at)

    async def play(self, client: Client, read_documents: Callable[[], Awaitable[Documents]], queue: str) -> Documents:
        polls = self._timeline.polls
        expired: frozenset[MatchKey] = frozenset()
        for number, poll in enumerate(polls):
            await self._wait_for(poll)
            if poll.expired - expired:
                # The recorded system had dropped the last response of a failing feed, so let it expire here too.
                await asyncio.sleep(self._snapshot_lifetime)
            expired = poll.expired
            self._move_clock(poll)
            if poll.listed - self._ingested:
                self._ingested |= poll.listed
                await self._ingest(client, queue)
            await _run_poll(client, queue, f"replay-poll-{number}")
            self._show(ReplayProgress("playing", number + 1, len(polls), poll.at))
        return await self._close(client, read_documents, queue)

    async def _wait_for(self, poll: ReplayPoll) -> None:
        early = (self._start + poll.offset - utc_now()).total_seconds()
        if early > 0:
            await asyncio.sleep(early)

    async def _ingest(self, client: Client, queue: str) -> None:
        """Ingest newly listed matches, as the daily ingest does in production."""
        self._ingests += 1
        ingest_input = IngestInput(days=2, days_before=1, look_ahead_days=0)
        try:
            await client.execute_workflow(
                IngestWorkflow.run,
                ingest_input,
                id=f"replay-ingest-{self._ingests}",
                task_queue=queue,
                execution_timeout=POLL_TIMEOUT,
            )
        except WorkflowFailureError as failure:
            raise EngineError(f"cannot ingest the matches of the recording: {_cause(failure)}") from failure

    async def _close(self, client: Client, read_documents: Callable[[], Awaitable[Documents]], queue: str) -> Documents:
        """Keep polling the last responses until all searches and matches have ended."""
        deadline = time.monotonic() + CLOSING_TIMEOUT
        number = 0
        while True:
            documents = await read_documents()
            unfinished = [document for document in documents if not self._is_done(document)]
            total = len(self._timeline.polls)
            self._show(ReplayProgress(f"ending {len(unfinished)} matches" if unfinished else "comparing", total, total))
            if not unfinished or time.monotonic() > deadline:
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


def _ended_in_recording(outcome: MatchOutcome) -> bool:
    return not outcome.note and phase_of(outcome.status).is_over


async def _run_poll(client: Client, queue: str, id_: str) -> None:
    try:
        await client.execute_workflow(
            MonitorWorkflow.run, MonitorInput(), id=id_, task_queue=queue, execution_timeout=POLL_TIMEOUT
        )
    except WorkflowFailureError as failure:
        raise EngineError(f"a poll of the replay failed: {_cause(failure)}") from failure


def _cause(failure: BaseException) -> BaseException:
    while failure.__cause__ is not None:
        failure = failure.__cause__
    return failure
