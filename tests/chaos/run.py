"""Plays matchdays under seeded disturbances and compares each with the undisturbed one.

python -m tests.chaos.run                      five seeds
python -m tests.chaos.run --seeds 1-100        a hundred, one line each, also in the file of --output
python -m tests.chaos.run --seed 17 --verbose  one seed again, with what happened and when
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr
from temporalio.client import Client

from footy_simulator.checks import check_clips, check_fixtures, has_settled
from footy_simulator.loader import load_scenario
from footy_simulator.server import Simulator
from found_footy.cli.demo import demo_settings
from found_footy.config import Settings, load_settings
from found_footy.errors import FootyError, StoreUnavailable
from found_footy.fixtures.store import FixtureStore
from found_footy.runtime.data_folder import DataFolder
from found_footy.runtime.engine import free_port
from found_footy.runtime.supervisor import WorkerProcess, WorkerSpec
from found_footy.runtime.system import environment_of
from found_footy.storage.postgres import Database
from tests.chaos.disturbances import LIVE_WORKERS, PROCESSES, Disturbance, Kind, Target, draw
from tests.chaos.outcome import Outcome, differences, read_outcome
from tests.chaos.process import FOLDER
from tests.chaos.stage import SOURCE_SECONDS, Addresses, KeptProcess, Stage, open_stage, send, tree_of
from tests.support.engines import client_in_namespace
from tests.support.link import Link
from tests.support.notifications import Receiver, subscribe
from tests.support.scenarios import SHORT_MATCH, rendered_clips

REPLAY = "python -m tests.chaos.run --seed {seed} --verbose"
RUN_SECONDS = 240.0
"""After that a run counts as stuck."""
WITHDRAWN_GOAL = "18766"
BEFORE_WITHDRAWAL, BEFORE_END = 330.0, 540.0
"""Seconds of matchday time. It stands still there until the goal is stable, and until all disturbances are over."""

OWN_SETTINGS = {
    # X only through the browser service: without it, its posts are missing.
    "sources": ("reddit", "bluesky", "x"),
    "search_attempts": 3,
    # A busy machine is no disturbance: nothing may depend on its speed.
    "search_attempts_most": 40,
    "source_timeout_seconds": SOURCE_SECONDS,
    "post_age_seconds": 900.0,
    "search_seconds": 1.0,
    "upload_idle_seconds": 3.0,
    "free_space_mb": 1,
    "workers": 2,
    "library_workers": 1,
    "log_level": "INFO",
}
TOPICS = ["goal.stable", "goal.withdrawn", "clip.published", "clip.replaced", "fixture.completed"]


class LinkedSimulator(Simulator):
    """Names the proxy in front of it wherever it names itself."""

    def __init__(self, link: Link) -> None:
        super().__init__(load_scenario(SHORT_MATCH).football, clips_folder=rendered_clips())
        self._link = link

    @property
    def url(self) -> str:
        return self._link.url

    async def connect(self) -> None:
        self._link.target = urlsplit(super().url).port


class RunningMatchday:
    """The processes of Found Footy for one run, and what disturbances do to them."""

    def __init__(
        self, stage: Stage, up: KeptProcess, simulator: Simulator, hooks: Path, data: Path, verbose: bool
    ) -> None:
        self.stage = stage
        self.simulator = simulator
        self._up = up
        self._hooks = hooks
        self._data = DataFolder(data)
        self._verbose = verbose
        self._began = time.monotonic()
        self.not_applied: list[str] = []

    def note(self, text: str) -> None:
        if self._verbose:
            offset = self.simulator.state().offset_seconds
            print(f"  {time.monotonic() - self._began:6.1f} s  {offset:4.0f}  {text}", flush=True)

    async def disturb(self, disturbance: Disturbance) -> None:
        reached = await self._until_triggered(disturbance)
        self.note(str(disturbance))
        kind, target, seconds = disturbance.kind, disturbance.target, disturbance.seconds
        if kind in (Kind.KILL, Kind.PAUSE):
            # A worker that reached its step has already killed or stopped itself.
            pid = reached if reached and target in LIVE_WORKERS else await self._pid(target)
            if kind is Kind.KILL:
                send([pid], signal.SIGKILL)
            else:
                await self._pause(pid, seconds, alone=target is Target.SUPERVISOR)
        elif kind in (Kind.CUT, Kind.SLOW):
            link = self.stage.links[target]
            if kind is Kind.CUT:
                link.cut(silently=bool(disturbance.amount))
            else:
                link.delay = disturbance.amount
            await asyncio.sleep(seconds)
            link.restore()
        elif kind is Kind.FULL:
            await self._fill(target, seconds, str(disturbance))
        else:
            await self._skew(reached if reached and target in LIVE_WORKERS else await self._pid(target), disturbance)
        self.note(f"ended: {disturbance}")

    async def _until_triggered(self, disturbance: Disturbance) -> int | None:
        """Return the pid of the worker that reached the step, if it is one."""
        step, progress = disturbance.trigger.step, disturbance.trigger.progress
        if progress is not None:
            while self.simulator.state().offset_seconds < progress * BEFORE_END:
                await asyncio.sleep(0.1)
            return None
        assert step is not None
        orders = {Kind.KILL: "kill", Kind.PAUSE: "stop"} if disturbance.target in LIVE_WORKERS else {}
        armed = self._hooks / "armed" / step
        armed.with_suffix(".new").write_text(orders.get(disturbance.kind, "go on"))
        armed.with_suffix(".new").rename(armed)
        reached = self._hooks / "reached" / step
        while not reached.exists():
            await asyncio.sleep(0.1)
        return int(reached.read_text())

    async def _pid(self, target: Target) -> int:
        """Wait for the process if it is being restarted."""
        while True:
            pid = self._current_pid(target)
            if pid is not None:
                return pid
            await asyncio.sleep(0.05)

    def _current_pid(self, target: Target) -> int | None:
        if target is Target.SUPERVISOR:
            return self._up.pid
        if target in PROCESSES:
            with suppress(FootyError):
                runtime = self._data.read_runtime()
                pid = runtime.pids.get(target) if runtime else None
                return pid if pid is not None and Path(f"/proc/{pid}").exists() else None
            return None
        return self.stage.servers[target].pid

    async def _pause(self, pid: int, seconds: float, *, alone: bool) -> None:
        """`alone`: its children go on."""
        pids = [pid] if alone else tree_of(pid)
        send(pids, signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            send(pids, signal.SIGCONT)

    async def _fill(self, target: Target, seconds: float, text: str) -> None:
        disk = self.stage.disks[target]
        if not disk.is_mounted:
            self.not_applied.append(f"{text}: mounting is not allowed here")
            return
        disk.fill()
        try:
            await asyncio.sleep(seconds)
        finally:
            disk.free()

    async def _skew(self, pid: int, disturbance: Disturbance) -> None:
        path = self._hooks / f"skew-{pid}"
        path.with_suffix(".new").write_text(str(disturbance.amount))
        path.with_suffix(".new").rename(path)
        await asyncio.sleep(disturbance.seconds)
        path.unlink(missing_ok=True)  # a skew of the same process may have replaced this one


@dataclass(frozen=True)
class RunResult:
    outcome: Outcome
    seconds: float
    restarts: int
    """Of `footy up` and the servers."""
    not_applied: tuple[str, ...]
    folder: Path
    """With the logs of its processes, until the stage closes."""
    searches: tuple[str, ...]
    """What each source answered, as evidence."""


SEARCHES = """
select event_id, source,
    string_agg(coalesce(found::text, error_kind || ': ' || error_message), ', ' order by attempt) as answers
from searches group by event_id, source order by event_id, source
"""


async def play(stage: Stage, disturbances: Sequence[Disturbance] = (), *, verbose: bool = False) -> RunResult:
    """Play the matchday once. Raises AssertionError with the state if it does not settle."""
    began = time.monotonic()
    addresses = await stage.prepare_run()
    folder = stage.folder / addresses.namespace
    hooks = folder / "hooks"
    for name in ("armed", "taken", "reached"):
        (hooks / name).mkdir(parents=True)
    launcher = hooks / "footy"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tests.chaos.process "$@"\n')
    launcher.chmod(0o755)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        simulator = await enter(LinkedSimulator(stage.links[Target.OUTSIDE]))
        await simulator.connect()
        while simulator.clips_to_render[0]:
            await asyncio.sleep(0.2)
        receiver = await enter(Receiver())
        hook = stage.links[Target.RECEIVER]
        hook.target = receiver.port
        settings = _settings(simulator, addresses, folder, hook)
        direct = _direct(settings, addresses)
        database = Database(addresses.database_url)
        await database.open()
        stack.push_async_callback(database.close)
        await subscribe(database, f"{hook.url}/hook", topics=TOPICS)
        client = await client_in_namespace(addresses.temporal_address, addresses.namespace)

        work = stage.disks[Target.WORK].path / addresses.namespace
        work.mkdir()
        # So many processes start that each must not compile the whole product again.
        own = {FOLDER: str(hooks), "TMPDIR": str(work), "PYTHONDONTWRITEBYTECODE": ""}
        environment = {**environment_of(settings), **own}
        spec = WorkerSpec("up", [str(launcher), "up"], environment, grace_seconds=60)
        up = KeptProcess(WorkerProcess(spec, _created(DataFolder(folder / "runner"))))
        matchday = RunningMatchday(stage, up, simulator, hooks, settings.data_dir, verbose)
        simulator.hold_at(BEFORE_WITHDRAWAL)
        await up.start()
        # Else they would go on starting workflows during the next runs.
        stack.push_async_callback(_delete_schedules, client)
        stack.push_async_callback(up.stop)
        stack.callback(stage.restore)
        before = sum(server.restarts for server in stage.servers.values())

        tasks = [asyncio.create_task(matchday.disturb(each), name=str(each)) for each in disturbances]
        store = FixtureStore(database)
        director = asyncio.create_task(_direct_the_match(simulator, store, tasks, matchday.note))
        try:
            async with asyncio.timeout(RUN_SECONDS):
                documents = await _settled(simulator, store, [director, *tasks])
            matchday.note("all matches are completed")
            outcome = await read_outcome(direct, database, client, documents, receiver)
            found = await database.fetch(SEARCHES)
            matchday.note("everything has settled")
        except TimeoutError:
            waiting = [task.get_name() for task in tasks if not task.done()]
            state = simulator.state()
            raise AssertionError(f"stuck at {state}; disturbances that did not end: {waiting}") from None
        finally:
            for task in (director, *tasks):
                task.cancel()
            await asyncio.gather(director, *tasks, return_exceptions=True)
        script = simulator.scenario
        scripted = check_clips(script, documents, simulator.clip_of).mismatches
        scripted += check_fixtures(simulator.truth, documents).mismatches
        violations = (*outcome.violations, *(f"not as scripted: {each}" for each in scripted))
        outcome = Outcome(**{**{name: getattr(outcome, name) for name in vars(outcome)}, "violations": violations})
        restarts = up.restarts + sum(server.restarts for server in stage.servers.values()) - before
    searches = tuple(f"{row['event_id']} {row['source']}: {row['answers']}" for row in found)
    return RunResult(outcome, time.monotonic() - began, restarts, tuple(matchday.not_applied), folder, searches)


async def _delete_schedules(client: Client) -> None:
    async for each in await client.list_schedules():
        await client.get_schedule_handle(each.id).delete()


def _created(folder: DataFolder) -> DataFolder:
    folder.create()
    return folder


def _settings(simulator: Simulator, addresses: Addresses, folder: Path, receiver: Link) -> Settings:
    settings = demo_settings(load_settings(), simulator)
    own = {"data_dir": folder / "data", "web_port": free_port(), **OWN_SETTINGS}
    hosts = (*settings.private_hosts, receiver.host)
    return settings.model_copy(update={**own, **addresses.settings, "private_hosts": hosts})


def _direct(settings: Settings, addresses: Addresses) -> Settings:
    """Past the proxies."""
    return settings.model_copy(update={**addresses.objects, "database_url": SecretStr(addresses.database_url)})


async def _direct_the_match(
    simulator: Simulator, store: FixtureStore, tasks: Sequence[asyncio.Task[None]], note: Callable[[str], None]
) -> None:
    """Let time stand still where the script would otherwise depend on how many polls were lost."""
    while not await _is_stable(store):
        await asyncio.sleep(0.2)
    note("the goal to be withdrawn is stable")
    simulator.hold_at(BEFORE_END)
    await asyncio.gather(*tasks)
    note("all disturbances are over")
    simulator.hold_at(None)


async def _is_stable(store: FixtureStore) -> bool:
    with suppress(StoreUnavailable):
        events = [event for document in await store.fixtures() for event in document["events"]]
        return any(WITHDRAWN_GOAL in event["_event_id"] and event["_download_complete"] for event in events)
    return False


async def _settled(
    simulator: Simulator, store: FixtureStore, tasks: Sequence[asyncio.Task[None]]
) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = []
    while not (all(task.done() for task in tasks) and simulator.state().settled and _is_over(simulator, documents)):
        for task in tasks:
            if task.done():
                task.result()  # raise its error at once
        await asyncio.sleep(0.4)
        with suppress(StoreUnavailable):
            documents = await store.fixtures()
    return documents


def _is_over(simulator: Simulator, documents: Sequence[dict[str, Any]]) -> bool:
    events = [event for document in documents for event in document["events"]]
    return has_settled(simulator.truth, documents) and all(event["_download_complete"] for event in events)


# --- Several seeds.


@dataclass(frozen=True)
class SeedResult:
    seed: int
    seconds: float
    restarts: int
    disturbances: tuple[str, ...]
    not_applied: tuple[str, ...]
    differences: tuple[str, ...]
    evidence: tuple[str, ...] = ()

    @property
    def replay(self) -> str:
        return REPLAY.format(seed=self.seed)


async def reference(stage: Stage, *, verbose: bool = False) -> Outcome:
    """Outcome of the undisturbed run."""
    outcome = (await play(stage, verbose=verbose)).outcome
    assert outcome.violations == (), "\n".join(outcome.violations)
    return outcome


async def run_seed(stage: Stage, expected: Outcome, seed: int, *, verbose: bool = False) -> SeedResult:
    disturbances = draw(seed)
    began = time.monotonic()
    try:
        result = await play(stage, disturbances, verbose=verbose)
        found, restarts, not_applied = differences(expected, result.outcome), result.restarts, result.not_applied
        evidence = result.searches if found else ()
    except AssertionError as error:
        found, restarts, not_applied, evidence = [str(error)], 0, (), ()
    if found:
        evidence += (f"the logs are in {_keep_logs(stage, seed)}",)
    texts = tuple(map(str, disturbances))
    return SeedResult(seed, round(time.monotonic() - began, 1), restarts, texts, not_applied, tuple(found), evidence)


def _keep_logs(stage: Stage, seed: int) -> Path:
    """Copy the logs of the latest run to a folder that stays."""
    kept = Path(tempfile.gettempdir()) / f"footy-chaos-seed-{seed}-{int(time.time())}"
    for place in ("data", "runner"):
        shutil.copytree(stage.folder / stage.run_name / place / "logs", kept / place, dirs_exist_ok=True)
    return kept


def parse_seeds(text: str) -> list[int]:
    """`3` or `1-100`."""
    first, _, last = text.partition("-")
    seeds = list(range(int(first), int(last or first) + 1))
    if not seeds or seeds[0] < 1:
        raise argparse.ArgumentTypeError("expected a positive number or a range such as 1-100")
    return seeds


def report(result: SeedResult) -> str:
    state = "failed" if result.differences else "equal"
    lines = [f"seed {result.seed:4}  {state:6}  {result.seconds:6.1f} s  {result.restarts:2} restarts"]
    if result.differences:
        lines += [f"  {each}" for each in result.differences]
        lines += [f"  disturbed by: {each}" for each in result.disturbances]
        lines += [f"  {each}" for each in result.evidence]
        lines.append(f"  replay: {result.replay}")
    lines += [f"  not applied: {each}" for each in result.not_applied]
    return "\n".join(lines)


async def run_seeds(
    seeds: Sequence[int], show: Callable[[SeedResult], None], *, minutes: float, verbose: bool, keep: bool
) -> list[SeedResult]:
    """Stop after these minutes, or with the first failure if `keep`, whose files then stay."""
    results: list[SeedResult] = []
    deadline = time.monotonic() + minutes * 60
    async with open_stage() as stage:
        expected = await reference(stage, verbose=verbose)
        for seed in seeds:
            if time.monotonic() > deadline:
                break
            results.append(await run_seed(stage, expected, seed, verbose=verbose))
            show(results[-1])
            if keep and results[-1].differences:
                print(f"the files are in {stage.folder}; end with Ctrl-C", flush=True)
                await asyncio.Event().wait()
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.run", description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=parse_seeds, default=parse_seeds("1-5"), help="such as 1-100")
    parser.add_argument("--seed", type=parse_seeds, dest="seeds", help="a single one")
    parser.add_argument("--minutes", type=float, default=120, help="start no run after this time")
    parser.add_argument("--output", type=Path, help="append a JSON line per seed to this file")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    parser.add_argument("--verbose", action="store_true", help="print what happens when")
    parser.add_argument("--keep", action="store_true", help="stop at the first failure, with everything running")
    given = parser.parse_args(arguments)

    def show(result: SeedResult) -> None:
        line = json.dumps(asdict(result))
        print(line if given.json else report(result), flush=True)
        if given.output:
            with given.output.open("a") as file:
                file.write(line + "\n")

    os.environ.setdefault("FOOTY_FEED", "api_football")
    results = asyncio.run(run_seeds(given.seeds, show, minutes=given.minutes, verbose=given.verbose, keep=given.keep))
    failed = [result for result in results if result.differences]
    if not given.json:
        seconds = sum(result.seconds for result in results)
        print(f"{len(results)} of {len(given.seeds)} seeds, {len(failed)} failed, {seconds:.0f} s", flush=True)
    return 1 if failed or len(results) < len(given.seeds) else 0


if __name__ == "__main__":
    sys.exit(main())
