"""Six accelerated days: what the running system uses must stay bounded. `make soak` fails if it does not

The whole system runs: engines, workers, library, web, watchdog; the internet is the simulator. Each day has four
matches with 32 files, somebody who browses the pages, and a webhook. A day takes about two minutes; then, at night,
every stored time moves back by 24 hours: rows, keys, files. So all retention acts as in six real days. Temporal keeps
closed workflows for about one day as well.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import logging
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from google.protobuf.duration_pb2 import Duration
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.workflowservice.v1 import UpdateNamespaceRequest
from temporalio.client import Client
from tests.support.time_travel import age_files, age_keys, age_rows

from bench.growth import Growth, Resource, Sample, growths
from bench.played import prepare
from bench.processes import folder_size, usage_by_part
from bench.soak_scenario import MATCHES, SPEED, soak_day
from bench.table import table
from footy_simulator.clips.plan import all_clips
from footy_simulator.scenario import Scenario
from footy_simulator.server import Simulator
from found_footy.app import Running, running
from found_footy.cli.demo import clear, demo_settings, read_library
from found_footy.config import Settings
from found_footy.errors import StoreUnavailable
from found_footy.feeds.registry import open_cache
from found_footy.fixtures.ingest import trigger_ingest
from found_footy.fixtures.store import FixtureStore, open_store
from found_footy.notifications.activities import open_senders
from found_footy.notifications.store import NotificationStore
from found_footy.notifications.subscriptions import SubscriptionService
from found_footy.recordings.store import RecordingStore
from found_footy.runtime import embedded_temporal
from found_footy.runtime.clock import utc_now
from found_footy.runtime.engine import free_port
from found_footy.runtime.http_server import HttpServer
from found_footy.runtime.system import pages_url

DAYS = 6
RETENTION_DAYS = 1.5
"""Of matches and library: at the end of each day from the second on, two days are there."""
STEADY_FROM = 2
"""The third day: caches are full, and retention has deleted twice."""
DAY_SECONDS = 600.0
"""Limit of a day's matches."""
LIBRARY_SECONDS = 90.0
"""Limit of what the library does with the day's clips."""
TEMPORAL_RETENTION = timedelta(seconds=90)
NIGHT = timedelta(hours=24)
BROWSE_SECONDS = 1.0
CLIPS = Path(tempfile.gettempdir()) / "soak-clips"
"""Kept for the next run."""
PAGES = ("/", "/health", "/metrics", "/api/v1/fixtures", "/operations", "/library", "/search")
LIMITED_TABLES = {"frame_sightings"}
"""With a limit of rows that six days do not reach."""
TABLES = "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
DATABASE_SIZE = "select pg_database_size(current_database()) as bytes"


async def soak(days: int, data: Path | None) -> list[Growth]:
    scenarios = [soak_day(day) for day in range(days)]
    CLIPS.mkdir(exist_ok=True)
    prepare(itertools.chain.from_iterable(map(all_clips, scenarios)), CLIPS)
    samples: list[Sample] = []
    with tempfile.TemporaryDirectory() as name:
        async with _system(data or Path(name) / "data", scenarios[0]) as system:
            for number, scenario in enumerate(scenarios):
                began = time.monotonic()
                samples.append(await system.live_through(number, scenario))
                print(f"day {number + 1}: {time.monotonic() - began:.0f} s", flush=True)
            _report(samples)
    return [each for each in growths(samples, STEADY_FROM) if each.name not in LIMITED_TABLES]


class SoakedSystem:
    def __init__(self, system: Running, store: FixtureStore, port: int, browser: Browser) -> None:
        self.system, self.store, self.browser = system, store, browser
        self._recordings = RecordingStore(store.database)
        self._port = port

    async def live_through(self, number: int, scenario: Scenario) -> Sample:
        """Play a day, and return what is used at its end."""
        if number:
            await self._pass_night()
        simulator = _simulator(scenario, self._port)
        async with simulator:
            await trigger_ingest(self.system.client)
            ids = [match.id for match in scenario.matches]
            await self._until_over(number, ids)
            documents = await self.store.fixtures()
            deadline = time.monotonic() + LIBRARY_SECONDS
            while time.monotonic() < deadline:
                if (await read_library(self.system.settings, documents)).settled:
                    break
                await asyncio.sleep(1)
        return await self.measure()

    async def _until_over(self, number: int, ids: Sequence[int]) -> None:
        deadline = time.monotonic() + DAY_SECONDS
        while True:
            found = [document for document in await self.store.fixtures() if document["_id"] in ids]
            self.browser.fixtures = [document["_id"] for document in found]
            self.browser.events = [event["_event_id"] for document in found for event in document["events"]]
            sealed = {each.fixture_id for each in await self._recordings.summaries() if each.key is not None}
            over = [document for document in found if is_over(document, sealed)]
            if len(over) == MATCHES:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"day {number + 1}: {len(over)} of {MATCHES} matches over in {DAY_SECONDS:g} s")
            await asyncio.sleep(1)

    async def _pass_night(self) -> None:
        while True:
            # The system goes on: a poll may wait for these rows while this waits for the poll's.
            with suppress(StoreUnavailable):
                await age_rows(self.store.database, NIGHT)
                break
        async with open_cache(self.system.settings) as cache:
            await age_keys(cache, NIGHT)
        await age_files(self.system.settings.data_dir / "objects", NIGHT)

    async def measure(self) -> Sample:
        found: dict[tuple[Resource, str], float] = {}
        for name, usage in usage_by_part(self.system).items():
            found[Resource.MEMORY, name] = usage.memory / 1e6
            found[Resource.FILES, name] = usage.files
            found[Resource.PROCESSES, name] = usage.processes
        database = self.store.database
        for table_ in [row["name"] for row in await database.fetch(TABLES.encode())]:
            (row,) = await database.fetch(f"select count(*) as rows from {table_}".encode())
            found[Resource.ROWS, table_] = row["rows"]
        (row,) = await database.fetch(DATABASE_SIZE.encode())
        found[Resource.DISK, "database"] = row["bytes"] / 1e6
        folder = self.system.settings.data_dir
        for path in folder.iterdir():
            found[Resource.DISK, path.name] = (folder_size(path) if path.is_dir() else path.stat().st_size) / 1e6
        async with open_cache(self.system.settings) as cache:
            found[Resource.KEYS, "all"] = int(await cache.run("DBSIZE"))
        found.update(
            {(Resource.HISTORIES, name): value for name, value in (await _histories(self.system.client)).items()}
        )
        return found


def is_over(document: Mapping[str, Any], sealed: Collection[int]) -> bool:
    """Whether nothing more happens to a match. The recording is sealed in a poll after the one that completes it."""
    return (
        document["stage"] == "completed"
        and document["_id"] in sealed
        and all(event["_download_complete"] for event in document["events"])
    )


async def _histories(client: Client) -> Mapping[str, float]:
    running_ = [each async for each in client.list_workflows("ExecutionStatus = 'Running'")]
    closed = await client.count_workflows("ExecutionStatus != 'Running'")
    return {
        "running workflows": len(running_),
        "closed workflows": closed.count,
        "events of the longest running": max((each.history_length for each in running_), default=0),
    }


class Browser:
    """Somebody who reads the pages all the time, and listens to live updates."""

    def __init__(self, url: str) -> None:
        self.fixtures: Sequence[int] = ()
        self.events: Sequence[str] = ()
        self.answers: dict[int, int] = {}
        self._url = url

    async def run(self) -> None:
        async with (
            httpx.AsyncClient(base_url=self._url, timeout=30, follow_redirects=True) as client,
            asyncio.TaskGroup() as tasks,
        ):
            tasks.create_task(self._listen(client))
            for number in itertools.count():
                links = [f"/g/{event}" for event in self.events] + [f"/api/v1/events/{event}" for event in self.events]
                links += [f"/operations/match/{fixture}" for fixture in self.fixtures]
                paths = [*PAGES, *links]
                with suppress(httpx.HTTPError):
                    answer = await client.get(paths[number % len(paths)])
                    self.answers[answer.status_code] = self.answers.get(answer.status_code, 0) + 1
                await asyncio.sleep(BROWSE_SECONDS)

    async def _listen(self, client: httpx.AsyncClient) -> None:
        while True:
            with suppress(httpx.HTTPError):
                async with client.stream("GET", "/api/v1/stream", timeout=None) as stream:
                    async for _ in stream.aiter_bytes():
                        pass
            await asyncio.sleep(1)


def _simulator(scenario: Scenario, port: int) -> Simulator:
    return Simulator(scenario, port=port, clips_folder=CLIPS, speed=SPEED, max_step=SPEED)


@asynccontextmanager
async def _system(folder: Path, first: Scenario) -> AsyncIterator[SoakedSystem]:
    logging.disable(logging.CRITICAL)
    # By default, Temporal keeps closed workflows for at least an hour.
    embedded_temporal._DYNAMIC_CONFIG += (
        'system.namespaceMinRetentionLocal="1s"',
        'history.retentionTimerJitterDuration="1s"',
    )
    port = free_port()
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(HttpServer(_webhook(), name="the webhook"))
        async with _simulator(first, port) as simulator:
            settings = demo_settings(Settings(_env_file=None), simulator)
            settings = settings.model_copy(
                update={
                    "data_dir": folder,
                    "web_port": 0,
                    **dict.fromkeys(("retention_days", "library_days", "audit_days", "link_days"), RETENTION_DAYS),
                    "private_hosts": (*settings.private_hosts, urlsplit(receiver.url).netloc),
                }
            )
            stack.push_async_callback(clear, settings)
            system = await stack.enter_async_context(running(settings))
        store = await stack.enter_async_context(open_store(system.settings))
        await _keep_histories(system.client, TEMPORAL_RETENTION)
        async with open_senders(system.settings) as senders:
            subscriptions = SubscriptionService(NotificationStore(store.database), senders, utc_now)
            await subscriptions.create("soak", "webhook", f"{receiver.url}/hook", {})
        browser = Browser(pages_url(system.settings))
        browsing = asyncio.create_task(browser.run())
        try:
            yield SoakedSystem(system, store, port, browser)
            print(f"answers of the pages by status: {dict(sorted(browser.answers.items()))}", flush=True)
        finally:
            browsing.cancel()
            with suppress(asyncio.CancelledError):
                await browsing


def _webhook() -> Starlette:
    async def receive(request: Request) -> Response:
        await request.body()
        return Response(status_code=204)

    return Starlette(routes=[Route("/hook", receive, methods=["POST"])])


async def _keep_histories(client: Client, retention: timedelta) -> None:
    config = NamespaceConfig(workflow_execution_retention_ttl=Duration(seconds=int(retention.total_seconds())))
    await client.workflow_service.update_namespace(UpdateNamespaceRequest(namespace=client.namespace, config=config))


def _report(samples: Sequence[Sample]) -> None:
    print()
    head = ["", "", *(f"day {number + 1}" for number in range(len(samples)))]
    rows = []
    for resource, name in sorted({key for sample in samples for key in sample}):
        values = [sample.get((resource, name), 0.0) for sample in samples]
        if max(values):
            rows.append([resource, name, *(f"{value:.0f}" for value in values)])
    table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__.strip().splitlines()[0])
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="keep the data and the logs here")
    arguments = parser.parse_args()
    days: int = arguments.days
    print(f"{days} days from {datetime.now(UTC):%Y-%m-%d %H:%M} UTC", flush=True)
    try:
        found = asyncio.run(soak(days, arguments.data))
    except TimeoutError as error:
        sys.exit(str(error))
    for growth in found:
        print(f"UNBOUNDED: {growth}", flush=True)
    if found:
        sys.exit(1)
    print("\neverything stays bounded")


if __name__ == "__main__":
    main()
