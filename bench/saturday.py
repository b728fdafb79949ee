"""A Saturday at 15:00: 200 matches, 40 goals within five minutes, 10 copies each, with 1, 2 and 4 workers

In real time and with the default settings, without a browser, with everything on this machine: engines, workers, web,
watchdog and the simulator. `--workers 2` runs one of them; each takes about ten minutes.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.played import Played, played
from bench.processes import Usage, folder_size, usage_by_part
from bench.saturday_scenario import COPIES, GOALS, KICKOFF_MINUTES, MATCHES, POSTED_AFTER, prepare_saturday, saturday
from bench.table import table
from footy_simulator.football import match_timeline
from footy_simulator.scenario import Scenario
from found_footy.config import DEMO, Settings
from found_footy.feeds.cache import FeedCache
from found_footy.feeds.registry import open_cache

WORKERS = (1, 2, 4)
LIMIT_SECONDS = 900.0
"""From kick-off; what is unfinished then counts as lost."""
WATCH_SECONDS = 1.0
PROGRESS_SECONDS = 30.0
CLIPS = Path(tempfile.gettempdir()) / "saturday-clips"
"""Kept for the next run."""
STATES = "select event_id, count(*) as settled from videos where state in ('kept', 'replaced', 'refused') group by 1"
EVENTS = "select id, player_id, stable_at from events"
FIRST_CLIPS = "select event_id, min(published_at) as at from videos where published_at is not null group by 1"
FILES = (
    "select count(*) as files, coalesce(sum(file_size), 0) as bytes, count(*) filter (where state = 'kept') as kept,"
    " count(*) filter (where state = 'refused') as refused from videos"
)


@dataclass
class Run:
    settled_at: dict[str, datetime] = field(default_factory=dict)
    """When the last file of an event was settled."""
    settled: dict[str, int] = field(default_factory=dict)
    oldest: float = 0.0
    """Age of the oldest data of a live match, in seconds."""
    first_settled: float | None = None
    last_settled: float = 0.0


async def main(workers: Sequence[int] = WORKERS) -> None:
    scenario = saturday()
    CLIPS.mkdir(exist_ok=True)
    prepare_saturday(scenario, CLIPS)
    for count in workers:
        with tempfile.TemporaryDirectory() as folder:
            await _measure(scenario, Path(folder) / "data", count)


async def _measure(scenario: Scenario, folder: Path, workers: int) -> None:
    print(f"\n{workers} worker{'s' if workers > 1 else ''}\n", flush=True)
    defaults = {name: Settings.model_fields[name].default for name in DEMO}
    start = datetime.now(UTC).replace(microsecond=0)
    options: dict[str, Any] = {"speed": 1.0, "lockstep": False, "start": start}
    # One source, so that no copy is posted twice.
    settings = {**defaults, "profile": "default", "workers": workers, "sources": ("fxtwitter",)}
    async with played(scenario, folder, CLIPS, settings=settings, **options) as matchday:
        while matchday.simulator.state().offset_seconds < KICKOFF_MINUTES * 60:
            await asyncio.sleep(0.1)
        before = usage_by_part(matchday.system)
        run = await _play(matchday)
        after = usage_by_part(matchday.system)
        await _report(matchday, scenario, start, workers, run)
        await _report_costs(matchday, folder, before, after)


async def _play(matchday: Played) -> Run:
    run = Run()
    begin = time.monotonic()
    shown = 0.0
    async with open_cache(matchday.system.settings) as cache:
        freshness = FeedCache(cache).freshness
        while (passed := time.monotonic() - begin) < LIMIT_SECONDS:
            now = datetime.now(UTC)
            ages = [(now - heard).total_seconds() for heard in (await freshness.times()).values()]
            run.oldest = max([run.oldest, *ages])
            for row in await matchday.rows(STATES):
                event_id, settled = row["event_id"], row["settled"]
                if settled != run.settled.get(event_id):
                    run.settled[event_id] = settled
                    run.settled_at[event_id] = now
                    run.last_settled = passed
                    run.first_settled = passed if run.first_settled is None else run.first_settled
            done = sum(run.settled.values())
            if passed >= shown:
                print(f"{passed:4.0f} s: {done} files settled, oldest data {run.oldest:.0f} s", flush=True)
                shown += PROGRESS_SECONDS
            if done >= GOALS * COPIES:
                break
            await asyncio.sleep(WATCH_SECONDS)
    return run


async def _report(matchday: Played, scenario: Scenario, start: datetime, workers: int, run: Run) -> None:
    goals = _goal_times(scenario, start)
    (files,) = await matchday.rows(FILES)
    published = {row["event_id"]: row["at"] for row in await matchday.rows(FIRST_CLIPS)}
    first, search, last = [], [], []
    for event in await matchday.rows(EVENTS):
        scored = goals[event["player_id"]]
        if event["id"] in published:
            first.append((published[event["id"]] - scored).total_seconds())
            search.append((published[event["id"]] - event["stable_at"]).total_seconds())
        if run.settled.get(event["id"]) == COPIES:
            posted = scored + timedelta(minutes=max(POSTED_AFTER))
            last.append((run.settled_at[event["id"]] - posted).total_seconds())
    done = sum(run.settled.values())
    minutes = (run.last_settled - (run.first_settled or 0.0)) / 60
    print()
    table(
        [
            "workers",
            "goal to first clip (median / p95 / max)",
            "stable to first clip",
            "last post to last clip",
            "latest poll",
            "files settled",
            "kept",
            "refused",
            "lost",
            "files a minute",
        ],
        [
            [
                workers,
                _spread(first),
                _spread(search),
                _spread(last),
                f"{max(0.0, run.oldest - matchday.system.settings.poll_seconds):.1f} s",
                f"{done} of {GOALS * COPIES}",
                files["kept"],
                files["refused"],
                GOALS * COPIES - done,
                f"{done / minutes:.0f}" if minutes else "",
            ]
        ],
    )


async def _report_costs(
    matchday: Played, folder: Path, before: Mapping[str, Usage], after: Mapping[str, Usage]
) -> None:
    (files,) = await matchday.rows(FILES)
    (database,) = await matchday.rows("select pg_database_size(current_database()) as bytes")
    print()
    rows: list[list[object]] = []
    total = 0.0
    for name, usage in after.items():
        seconds = usage.cpu_seconds - before.get(name, Usage()).cpu_seconds
        total += seconds
        rows.append([name, f"{seconds:.0f}", f"{seconds / GOALS:.2f}", f"{usage.memory / 1e6:.0f} MB"])
    rows.append(["all", f"{total:.0f}", f"{total / GOALS:.2f}", ""])
    table([f"process, {MATCHES} matches", "CPU seconds", "per goal", "memory"], rows)
    print()
    sizes = {
        "downloaded": files["bytes"],
        "object store": folder_size(folder / "objects"),
        "database": database["bytes"],
        "Temporal": folder_size(folder / "temporal"),
    }
    table(["bytes", "MB", "kB per goal"], [[n, f"{s / 1e6:.1f}", f"{s / 1e3 / GOALS:.0f}"] for n, s in sizes.items()])


def _goal_times(scenario: Scenario, start: datetime) -> dict[int, datetime]:
    """When each goal is scored, by its player."""
    times = {}
    for match in scenario.matches:
        for goal in match.goals:
            moment = match_timeline(match).moment_of(goal.minute)
            assert moment is not None
            times[goal.player.id] = start + timedelta(seconds=moment)
    return times


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "none"
    ordered = sorted(values)
    middle, high = ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return f"{middle:.0f} / {high:.0f} / {ordered[-1]:.0f} s"
