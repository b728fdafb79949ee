"""What a matchday leaves behind, in a form that is equal for every run of the same script, and how two runs differ.

Left out are times, ids that contain a time, and what legitimately depends on the order of arrival: which copies were
published in between. Instead of these, rules are checked: every message once and in order, every link leads to a clip
that is there or says why not, and every file is one that the database knows.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import httpx
from temporalio.client import Client
from temporalio.service import RPCError

from found_footy.cli.demo import read_library
from found_footy.clips.models import staging_key
from found_footy.clips.store import ClipStore
from found_footy.config import Settings
from found_footy.errors import FootyError
from found_footy.storage.postgres import Database
from found_footy.storage.stores import build_objects
from tests.support.notifications import Receiver

FINAL = {"kept", "replaced", "refused"}
"""States of a clip after all work is done."""
CONTINUOUS = {"MonitorWorkflow", "FeedWorkflow", "NotificationWorkflow", "LibraryWorkflow"}
"""Workflows of schedules, of which one may run at any time."""
SETTLE_SECONDS = 120.0
PUBLISHED = "select id, event_id, md5, state from videos where published_at is not null order by id"
ENDED = "select path from ended_links order by path"
STANDING_SCENES = """
select c.state, count(*) as number from library_clips c join library_sources s on s.id = c.source_id
where c.live and s.facts ->> 'withdrawn' is distinct from 'true' group by c.state
"""
"""Whether a goal is withdrawn before or after its clip is imported depends on the order of arrival."""
UNDELIVERED = """
select (select count(*) from outbox where position is null) as without_position,
    (select last from outbox_last_position) - (select position from outbox_fanned_out) as not_fanned_out,
    (select count(*) from deliveries where state in ('pending', 'sending')) as open,
    (select count(*) from deliveries where state = 'dead') as dead
"""


@dataclass(frozen=True)
class Outcome:
    """What must be equal in every run."""

    fixtures: Mapping[int, Any]
    clips: Mapping[str, Any]
    posts: Mapping[str, Any]
    links: Mapping[str, Any]
    messages: Mapping[str, int]
    library: Mapping[str, int]
    violations: tuple[str, ...] = ()
    """Broken rules; none in a correct run."""


def differences(expected: Outcome, found: Outcome) -> list[str]:
    """One line per difference, and one per broken rule."""
    lines = list(found.violations)
    for field in fields(Outcome):
        if field.name != "violations":
            lines += _different(field.name, getattr(expected, field.name), getattr(found, field.name))
    return lines


def _different(path: str, expected: Any, found: Any) -> Iterator[str]:
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for key in sorted({*expected, *found}, key=str):
            yield from _different(f"{path}.{key}", expected.get(key), found.get(key))
    elif expected != found:
        yield f"{path}: {expected!r} in the undisturbed run, {found!r} here"


async def read_outcome(
    settings: Settings, database: Database, client: Client, documents: Sequence[Mapping[str, Any]], receiver: Receiver
) -> Outcome:
    """Wait for the last steps after the matches are closed, and read everything. `settings` bypass the proxies."""
    clips = ClipStore(database)
    events = [event for document in documents for event in document["events"]]
    violations: list[str] = []
    rest = await _until_nothing_is_left(settings, clips, database, client, events, documents)
    violations += rest
    standing = [event for event in events if not event["_removed"]]
    for event in standing:
        if [video["rank"] for video in event["_s3_videos"]] != list(range(1, len(event["_s3_videos"]) + 1)):
            violations.append(f"ranks of {event['_event_id']}: {[video['rank'] for video in event['_s3_videos']]}")
        for post in event["_discovered_videos"]:
            if post["state"] not in ("kept", "duplicate") and not post["loss"]:
                violations.append(f"unexplained candidate {post['key']}: {post['state']}")
    links, broken = await _links(settings, database, {event["_event_id"] for event in standing})
    violations += [*broken, *_message_faults(receiver)]
    library = await read_library(settings, documents)
    scenes = await database.fetch(STANDING_SCENES)
    return Outcome(
        fixtures={document["_id"]: _fixture(document) for document in documents},
        clips={event["_event_id"]: [_clip(video) for video in event["_s3_videos"]] for event in standing},
        posts={event["_event_id"]: _posts(event) for event in standing},
        links=links,
        messages=_messages(receiver),
        library={**library.sources, **{f"scenes {each['state']}": each["number"] for each in scenes}},
        violations=tuple(violations),
    )


# --- The last steps: clean-up, deliveries, idle workflows, the library.


async def _until_nothing_is_left(
    settings: Settings,
    clips: ClipStore,
    database: Database,
    client: Client,
    events: Sequence[Mapping[str, Any]],
    documents: Sequence[Mapping[str, Any]],
) -> list[str]:
    """Return what is still open after a while: orphans, stuck workflows, undelivered messages."""
    left = ["nothing was read"]
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SETTLE_SECONDS):
            while left:
                try:
                    left = await _left(settings, clips, database, client, events, documents)
                except (FootyError, RPCError) as error:
                    left = [f"could not read the state: {error}"]
                await asyncio.sleep(0.3 if left else 0)
    return left


async def _left(
    settings: Settings,
    clips: ClipStore,
    database: Database,
    client: Client,
    events: Sequence[Mapping[str, Any]],
    documents: Sequence[Mapping[str, Any]],
) -> list[str]:
    left = [f"undelivered: {name} {count}" for name, count in (await database.fetch(UNDELIVERED))[0].items() if count]
    stored, kept, states = await _files(settings, clips, events)
    left += [f"orphan object {key}" for key in sorted(set(stored) - set(kept))]
    left += [f"missing object {key}" for key in sorted(set(kept) - set(stored))]
    left += [f"unfinished clip: {state}" for state in sorted(states - FINAL)]
    async for each in client.list_workflows("ExecutionStatus = 'Running'"):
        if each.workflow_type not in CONTINUOUS:
            left.append(f"stuck workflow {each.id}")
    library = await read_library(settings, documents)
    return left if library.settled else [*left, f"unfinished library: {library.to_json()}"]


async def _files(
    settings: Settings, clips: ClipStore, events: Sequence[Mapping[str, Any]]
) -> tuple[list[str], list[str], set[str]]:
    """Keys in the object store, keys that the database expects, and the states of all clips.

    Files of clips rejected by the feed's data stay in staging, in case the feed corrects it. Files of withdrawn goals
    are deleted by retention.
    """
    others = ("recordings/", "library/")
    withdrawn = [event["_event_id"] for event in events if event["_removed"]]
    async with contextlib.aclosing(build_objects(settings)) as objects:
        stored = [
            each.key
            async for each in objects.list()
            if not each.key.startswith(others) and not any(event_id in each.key for event_id in withdrawn)
        ]
    kept: list[str] = []
    found: set[str] = set()
    for event_id in (event["_event_id"] for event in events if not event["_removed"]):
        states = await clips.video_states(event_id)
        names = (md5 for md5, state in states.items() if state == "kept")
        kept += [f"{event_id.split('_')[0]}/{event_id}/{md5}.mp4" for md5 in names]
        kept += [staging_key(event_id, md5) for md5 in await clips.reverifiable_videos(event_id)]
        found.update(states.values())
    return stored, kept, found


# --- Fixtures and clips.


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
    names = ("time", "player", "assist", "detail", "_scoring_team", "_removed", "_debounce_complete")
    names += ("_score_before", "_score_after", "_download_complete")
    return {name: event[name] for name in names}


def _clip(video: Mapping[str, Any]) -> Mapping[str, Any]:
    names = ("md5", "rank", "popularity", "timestamp_status", "extracted_minute", "duration", "file_size", "copies")
    return {name: video[name] for name in names}


def _posts(event: Mapping[str, Any]) -> Mapping[Any, int]:
    """A post that was the first of its clip is `kept`, a later one `duplicate`."""
    posts = event["_discovered_videos"]
    return Counter(f"{each['source']} {each['loss'] or 'published'}" for each in posts)


# --- Links.


async def _links(settings: Settings, database: Database, standing: set[str]) -> tuple[dict[str, Any], list[str]]:
    """Follow each link that was ever published, through the web process. Return the final ones, and what is broken."""
    final: dict[str, Any] = {}
    broken: list[str] = []
    published = [dict(row) for row in await database.fetch(PUBLISHED)]
    ended = [str(row["path"]) for row in await database.fetch(ENDED)]
    base = f"http://127.0.0.1:{settings.web_port}"
    async with httpx.AsyncClient(base_url=base, follow_redirects=True, trust_env=False, timeout=30) as client:
        for video in published:
            response = await _get(client, f"/v/{video['id']}")
            if video["event_id"] not in standing:
                if response.status_code != 410:
                    broken.append(f"link of a withdrawn goal's clip answers {response.status_code}, not 410")
                final[video["event_id"]] = "gone"
                continue
            winner = response.url.path.removeprefix("/v/")
            names = {each["id"]: each["md5"] for each in published if each["state"] == "kept"}
            content = hashlib.md5(response.content, usedforsecurity=False).hexdigest()
            if response.status_code != 200 or names.get(winner) != content:
                broken.append(f"link {video['id']} ({video['state']}) answers {response.status_code}, file {content}")
            if video["state"] == "kept":
                final[video["id"]] = content
        for path in ended:
            if (answer := await _get(client, f"/{path}")).status_code != 410:
                broken.append(f"ended link {path} answers {answer.status_code}, not 410")
    return final, broken


async def _get(client: httpx.AsyncClient, path: str) -> httpx.Response:
    """The process may be starting, or its connection to an engine be a dead one."""
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(httpx.TransportError):
                response = await client.get(path)
                if response.status_code < 500:
                    return response
            await asyncio.sleep(0.2)


# --- Messages.


ONCE = ("goal.stable", "goal.withdrawn", "fixture.completed")
"""Topics of which each subject has the same messages in every run. Clips depend on the order of arrival."""


def _messages(receiver: Receiver) -> dict[str, int]:
    """Number of different messages of each topic about each match and goal."""
    bodies = {each.key: each.body for each in receiver.received}.values()
    return dict(Counter(f"{body['topic']} {_subject(body)}" for body in bodies if body["topic"] in ONCE))


def _message_faults(receiver: Receiver) -> Iterator[str]:
    """Repeated messages must be equal, and those about a goal in order."""
    bodies: dict[str, bytes] = {}
    last: dict[str, int] = {}
    for message in receiver.received:
        first = message.key not in bodies
        if bodies.setdefault(message.key, message.raw) != message.raw:
            yield f"two different messages with the key {message.key}"
        subject, position = _subject(message.body), message.body["position"]
        if first and last.get(subject, 0) > position:
            yield f"message {position} about {subject} came after {last[subject]}"
        last[subject] = max(position, last.get(subject, 0))


def _subject(body: Mapping[str, Any]) -> str:
    goal, match = body.get("goal"), body.get("match") or body.get("fixture")
    return str(goal["key"] if goal else match["id"] if match else "")
