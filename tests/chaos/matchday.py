"""Plays a matchday through the real system during a disturbance, and collects the outcome."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import Client

from footy_simulator.checks import check_clips, check_fixtures, has_settled
from footy_simulator.loader import load_scenario
from footy_simulator.server import Simulator
from found_footy.app import Running, running
from found_footy.cli.demo import clear, demo_settings
from found_footy.clips.models import staging_key
from found_footy.clips.store import ClipStore
from found_footy.config import Settings, load_settings
from found_footy.errors import StoreUnavailable
from found_footy.fixtures.store import FixtureStore, open_store
from found_footy.storage.stores import build_objects
from tests.support.scenarios import ONE_MATCH, rendered_clips

FINAL = {"kept", "replaced", "refused"}
"""States of a clip after all work is done."""

Disturbance = Callable[[Running, Simulator], Awaitable[None]]


@dataclass(frozen=True)
class Outcome:
    """What must be equal in every run. Post ids contain the time and are left out."""

    fixtures: Mapping[int, Any]
    clips: Mapping[str, Any]
    posts: Mapping[str, Any]
    objects: tuple[str, ...]


async def play_matchday(
    folder: Path, disturb: Disturbance | None = None, scenario: str | Path = ONE_MATCH, **updates: Any
) -> Outcome:
    """Return once everything has settled; fail if it differs from the script."""
    script = load_scenario(scenario).football
    has_clips = any(goal.clips for match in script.matches for goal in match.goals)
    async with Simulator(script, clips_folder=rendered_clips() if has_clips else None) as simulator:
        own = {"data_dir": folder, "web_port": 0, **updates}
        settings = demo_settings(load_settings(), simulator).model_copy(update=own)
        try:
            async with running(settings) as system, open_store(system.settings) as store:
                disturbing = asyncio.create_task(disturb(system, simulator) if disturb else asyncio.sleep(0))
                async with asyncio.timeout(480):
                    documents = await _settled(simulator, store, disturbing)
                    await _until_withdrawn_goals_are_closed(documents, store)
                assert disturbing.done(), "the matchday was over before the disturbance"
                await disturbing
                documents = await store.fixtures()
                report = check_clips(script, documents, simulator.clip_of)
                assert check_fixtures(simulator.truth, documents).mismatches + report.mismatches == ()
                return await _outcome(settings, ClipStore(store.database), documents)
        finally:
            await clear(settings)


async def _settled(simulator: Simulator, store: FixtureStore, disturbing: asyncio.Task[None]) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = []
    while not (simulator.state().settled and has_settled(simulator.truth, documents)):
        if disturbing.done():
            disturbing.result()  # raise its error at once
        await asyncio.sleep(0.3)
        with contextlib.suppress(StoreUnavailable):
            documents = await store.fixtures()
    return documents


async def _until_withdrawn_goals_are_closed(documents: list[dict[str, Any]], store: FixtureStore) -> None:
    """A match completes before the search of a withdrawn goal does."""
    events = [event for document in documents for event in document["events"]]
    for event in events:
        while event["_removed"] and event["_debounce_complete"] and not event["_download_complete"]:
            await asyncio.sleep(0.3)
            event = await store.event(event["_event_id"])


async def _outcome(settings: Settings, clips: ClipStore, documents: list[dict[str, Any]]) -> Outcome:
    events = [event for document in documents for event in document["events"]]
    stored, kept, states = await _files(settings, clips, events)
    # Clean-up is the last step of a search, after the event was closed.
    async with asyncio.timeout(120):
        while not (states <= FINAL and stored == kept):
            await asyncio.sleep(0.5)
            stored, kept, states = await _files(settings, clips, events)
    standing = [event for event in events if not event["_removed"]]
    for event in standing:
        assert [video["rank"] for video in event["_s3_videos"]] == list(range(1, len(event["_s3_videos"]) + 1))
    return Outcome(
        fixtures={document["_id"]: _fixture(document) for document in documents},
        clips={event["_event_id"]: [_clip(video) for video in event["_s3_videos"]] for event in standing},
        posts={event["_event_id"]: _posts(event) for event in standing},
        objects=tuple(key for key in stored if not any(e["_removed"] and e["_event_id"] in key for e in events)),
    )


async def _files(
    settings: Settings, clips: ClipStore, events: list[dict[str, Any]]
) -> tuple[list[str], list[str], set[str]]:
    """Keys in the object store, keys that the database expects, and the states of all clips.

    Files of clips rejected by the feed's data stay in staging, in case the feed corrects it.
    """
    others = ("recordings/", "library/")
    async with contextlib.aclosing(build_objects(settings)) as objects:
        stored = sorted([each.key async for each in objects.list() if not each.key.startswith(others)])
    kept: list[str] = []
    found: set[str] = set()
    for event in events:
        states = await clips.video_states(event["_event_id"])
        names = (md5 for md5, state in states.items() if state == "kept")
        kept += [f"{event['_event_id'].split('_')[0]}/{event['_event_id']}/{md5}.mp4" for md5 in names]
        kept += [staging_key(event["_event_id"], md5) for md5 in await clips.reverifiable_videos(event["_event_id"])]
        found.update(states.values())
    return stored, sorted(kept), found


def _fixture(document: Mapping[str, Any]) -> dict[str, Any]:
    """Without times and poll ids."""
    return {
        "stage": document["stage"],
        "status": document["fixture"]["status"]["short"],
        "goals": document["goals"],
        "penalties": document["score"]["penalty"],
        "events": {event["_event_id"]: _event(event) for event in document["events"]},
    }


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    fields = ("time", "player", "assist", "detail", "_scoring_team", "_removed")
    # Whether a withdrawn goal was stable before depends on how many polls were lost.
    standing = ("_debounce_complete", "_score_before", "_score_after", "_download_complete")
    return {name: event[name] for name in (fields if event["_removed"] else fields + standing)}


def _clip(video: Mapping[str, Any]) -> Mapping[str, Any]:
    names = ("md5", "rank", "popularity", "timestamp_status", "extracted_minute", "duration", "file_size", "copies")
    return {name: video[name] for name in names}


def _posts(event: Mapping[str, Any]) -> Mapping[Any, int]:
    return Counter((each["source"], each["state"], each["loss"]) for each in event["_discovered_videos"])


# --- conditions that trigger disturbances


async def until_staged(system: Running) -> None:
    """Wait for a download in the staging area."""
    async with contextlib.aclosing(build_objects(system.settings)) as objects:
        while not [each async for each in objects.list("staging/")]:
            await asyncio.sleep(0.1)


async def until_retried(client: Client, *texts: str) -> None:
    """Wait for a retried activity whose last failure contains one of these texts."""
    while not any([text in failure async for failure in _last_failures(client) for text in texts]):
        await asyncio.sleep(0.2)


async def _last_failures(client: Client) -> AsyncIterator[str]:
    async for execution in client.list_workflows("ExecutionStatus = 'Running'"):
        handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
        for pending in (await handle.describe()).raw_description.pending_activities:
            yield str(pending.last_failure)  # the server truncates large failures, without their type


async def until_polled(simulator: Simulator, times: int) -> None:
    """Wait for polls; return during one, just after its request."""
    polls = simulator.state().polls
    while simulator.state().polls < polls + times:
        await asyncio.sleep(0.005)


def pids_of(system: Running, prefix: str) -> set[int]:
    return {child.pid for child in system.supervisor.status() if child.name.startswith(prefix) and child.pid}


def kill(system: Running, prefix: str) -> None:
    for pid in pids_of(system, prefix):
        os.kill(pid, signal.SIGKILL)


async def until_restarted(system: Running, prefix: str, before: set[int]) -> None:
    while not pids_of(system, prefix) or pids_of(system, prefix) & before:
        await asyncio.sleep(0.05)
