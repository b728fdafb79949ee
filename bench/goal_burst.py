"""40 goals within a minute with 10 copies each: clips per minute, and delay of the polls

In the demo's profile, without a browser, with everything on this machine: engines, workers and the simulator. The limit
is the throughput of the processors with downloads, verification and hashing only.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

from bench.burst_scenario import COPIES, GOALS, KICKOFF_MINUTES, SPEED, burst, prepare_burst
from bench.played import CORES, Played, played
from bench.table import table
from bench.unavoidable import Work, work_of
from footy_simulator.clips.plan import all_clips
from footy_simulator.posts import media_of
from footy_simulator.scenario import Scenario
from found_footy.clips.ocr_vision import OcrVision

LIMIT_SECONDS = 540.0
"""Time limit from the first goal on; unfinished work is counted as it is."""
LOOK_SECONDS = 0.02
PROGRESS_SECONDS = 15.0
SAMPLES = 6
INTERVALS = {"demo": 1.0, "default": 30.0}


@dataclass
class Polls:
    """Times of the feed requests."""

    times: list[float] = field(default_factory=list)

    async def watch(self, matchday: Played) -> None:
        seen = 0
        while True:
            polls = matchday.simulator.state().polls
            if polls != seen:
                self.times.append(time.monotonic())
                seen = polls
            await asyncio.sleep(LOOK_SECONDS)

    def gaps(self, begin: float, end: float) -> list[float]:
        """Return the times between polls; a poll still pending at the end counts with its waiting time so far."""
        before = max((moment for moment in self.times if moment < begin), default=begin)
        inside = [moment for moment in self.times if begin <= moment < end]
        return [later - earlier for earlier, later in pairwise([before, *inside, end])]


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        await measure(Path(name))


async def measure(folder: Path) -> None:
    scenario = burst()
    prepare_burst(scenario, folder / "clips")
    options: dict[str, Any] = {"speed": SPEED, "lockstep": False}
    async with played(scenario, folder / "data", folder / "clips", **options) as matchday:
        polls = Polls()
        watching = asyncio.create_task(polls.watch(matchday))
        try:
            while matchday.simulator.state().offset_seconds < KICKOFF_MINUTES * 60:
                await asyncio.sleep(LOOK_SECONDS)
            kickoff = time.monotonic()
            await _until_settled(matchday, polls, kickoff)
            settled = time.monotonic()
        finally:
            watching.cancel()
        _report_polls(matchday, polls, kickoff, settled)
        await _report_clips(matchday, await _works(matchday, scenario, folder))


async def _until_settled(matchday: Played, polls: Polls, kickoff: float) -> None:
    progress = kickoff
    while (now := time.monotonic()) - kickoff < LIMIT_SECONDS:
        (row,) = await matchday.rows(
            "select (select count(*) from events where stable_at is not null) as certain,"
            " (select count(*) from events where download_complete) as complete,"
            " (select count(*) from candidates) as posts,"
            " (select count(*) from videos where state in ('kept', 'replaced', 'refused')) as settled"
        )
        if now >= progress:
            worst = max(polls.gaps(kickoff, now), default=0.0)
            print(
                f"{now - kickoff:4.0f} s: {row['certain']} goals certain, {row['posts']} posts found, "
                f"{row['settled']} files settled, {row['complete']} goals complete, longest gap {worst:.1f} s",
                flush=True,
            )
            progress += PROGRESS_SECONDS
        if row["complete"] == GOALS:
            return
        await asyncio.sleep(1)
    print(f"stopped after {LIMIT_SECONDS:g} s", flush=True)


async def _works(matchday: Played, scenario: Scenario, folder: Path) -> Sequence[Work]:
    vision = OcrVision()
    await vision.check()
    every = GOALS * COPIES // SAMPLES
    urls = [matchday.simulator.url + media_of(clip) for clip in list(all_clips(scenario))[::every]]
    works = [await work_of(url, vision, folder) for url in urls]
    await vision.aclose()
    return works


def _report_polls(matchday: Played, polls: Polls, kickoff: float, settled: float) -> None:
    interval = matchday.system.settings.poll_seconds
    before, during = polls.gaps(kickoff - 10, kickoff), polls.gaps(kickoff, settled)
    print()
    table(
        ["polls", "count", "median gap", "longest gap", "latest by"],
        [
            [name, len(gaps), f"{median(gaps):.2f} s", f"{max(gaps):.2f} s", f"{max(gaps) - interval:.2f} s"]
            for name, gaps in (("10 s before kick-off", before), ("during the burst", during))
        ],
    )
    late = max(during) - interval
    for profile, seconds in INTERVALS.items():
        print(f"\nof the {profile} profile's {seconds:g} s that is {late / seconds:.2f} intervals (goal: at most 1)")


async def _report_clips(matchday: Played, works: Sequence[Work]) -> None:
    (row,) = await matchday.rows(
        "select min(staged_at) as first, count(*) filter (where state in ('kept', 'replaced', 'refused')) as settled,"
        " count(*) filter (where state = 'kept') as kept, count(*) as files,"
        " (select count(*) from candidates where md5 is null) as lost,"
        " (select max(at) from outbox where topic like 'clip%') as last from videos"
    )
    waits = await matchday.rows(
        "select e.id, min(v.published_at) - e.stable_at as wait from events e join videos v on v.event_id = e.id"
        " group by e.id having min(v.published_at) is not null"
    )
    minutes = _minutes(row["first"], row["last"])
    possible = 60 * CORES / fmean(work.seconds for work in works)
    seconds = sorted(wait["wait"].total_seconds() for wait in waits)
    print()
    table(
        ["files", "settled", "kept", "lost", "minutes", "files a minute", "possible", "share", "certain to first clip"],
        [
            [
                row["files"],
                row["settled"],
                row["kept"],
                row["lost"],
                f"{minutes:.1f}",
                f"{row['settled'] / minutes:.0f}",
                f"{possible:.0f}",
                f"{100 * row['settled'] / minutes / possible:.0f} %",
                f"{median(seconds):.0f} s, at most {seconds[-1]:.0f} s",
            ]
        ],
    )


def _minutes(begin: datetime, end: datetime) -> float:
    return (end - begin).total_seconds() / 60
