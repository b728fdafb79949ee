"""Time from a stable goal to its first and last clip, against the unavoidable minimum

Six goals, 8 s apart, in the demo's profile and without a browser. For each, two copies are posted at once, and another
part of the broadcast 4 s later. The time is measured from the start of the goal's search to the end of the publishing
step. The minimum is the sum of the waits between searches until the post is up, and of download, verification and
hashing of the file, each measured alone in the same run; for the last clip, of all files of its batch.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from bench.histories import History, history_of
from bench.played import Played, played, prepare
from bench.table import table
from bench.unavoidable import Work, side_by_side, work_of
from footy_simulator.clips.plan import all_clips
from footy_simulator.loader import parse_scenario
from footy_simulator.posts import downloadable_url
from found_footy.clips.models import download_workflow_id, upload_workflow_id
from found_footy.clips.ocr_vision import OcrVision
from found_footy.discovery.models import search_workflow_id

LIMIT_SECONDS = 240
GOAL = 1.3
SCENARIO = """
leagues:
  premier_league: {id: 39, name: Premier League, country: England, season: 2025, round: Regular Season - 9}
matches:
  - id: 1396001
    league: premier_league
    home: {id: 33, name: Manchester United}
    away: {id: 45, name: Everton}
    broadcast: {style: classic}
    kickoff: -1m
    goals:
      - {minute: 4, side: home, player: {id: 1485, name: Bruno Fernandes}, clips: &posted [CLIPS]}
      - {minute: 20, side: away, player: {id: 18766, name: D. Calvert-Lewin}, clips: *posted}
      - {minute: 36, side: home, player: {id: 909, name: M. Rashford}, clips: *posted}
  - id: 1396002
    league: premier_league
    home: {id: 66, name: Aston Villa}
    away: {id: 48, name: West Ham}
    broadcast: {style: split}
    kickoff: -1m
    goals:
      - {minute: 12, side: home, player: {id: 19366, name: O. Watkins}, clips: *posted}
      - {minute: 28, side: away, player: {id: 19428, name: J. Bowen}, clips: *posted}
      - {minute: 44, side: away, player: {id: 1646, name: L. Paqueta}, clips: *posted}
""".replace("CLIPS", "copy 360p -3s 5s, copy logo 360p -2s 6s, copy 360p +17s 4s +5m")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Clip:
    """One publication and its preceding steps."""

    seconds: float
    """From the start of the search to the end of the transaction that published the clip."""
    waited: float
    """Wait in the profile, from the first search to the first one after the post was up."""
    stages: Mapping[str, float]


@dataclass(frozen=True)
class Goal:
    name: str
    lead_in: float
    """From the start of the poll that made the goal stable to the start of its search."""
    first: Clip
    first_floor: float
    last: Clip
    last_floor: float
    work: Work
    """Work for the first clip alone."""


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        await measure(Path(name))


async def measure(folder: Path) -> None:
    scenario = parse_scenario(SCENARIO, "clip_latency")
    prepare(all_clips(scenario), folder / "clips")
    async with played(scenario, folder / "data", folder / "clips") as matchday:
        async with asyncio.timeout(LIMIT_SECONDS):
            await _searched(matchday, sum(len(match.goals) for match in scenario.matches))
        goals = await _goals(matchday, folder)
    _report(goals)


async def _searched(matchday: Played, goals: int) -> None:
    """Wait until the search for every goal has ended."""
    done = 0
    while done < goals:
        await asyncio.sleep(0.5)
        done = (await matchday.rows("select count(*) as done from events where download_complete"))[0]["done"]


async def _goals(matchday: Played, folder: Path) -> list[Goal]:
    events = await matchday.rows(
        "select id, player_name, elapsed, stable_at from events where removed_at is null order by stable_at"
    )
    searches = await matchday.rows("select event_id, attempt, min(at) as at from searches group by 1, 2 order by 2")
    posts = await matchday.rows(
        "select c.event_id, c.key, c.source, c.posted_at, c.attempt, c.md5, v.published_at "
        "from candidates c join videos v using (event_id, md5) order by v.published_at, c.posted_at"
    )
    works = await _works(matchday, posts, folder)
    found = []
    for event in events:
        mine = [post for post in posts if post["event_id"] == event["id"]]
        attempts = {row["attempt"]: row["at"] for row in searches if row["event_id"] == event["id"]}
        published = [post for post in mine if post["published_at"] is not None]
        if published:
            found.append(await _goal(matchday, event, mine, published, attempts, works))
    return found


async def _works(matchday: Played, posts: Sequence[Row], folder: Path) -> Mapping[str, Work]:
    """Measure each file alone, while the system is idle."""
    vision = OcrVision()
    await vision.check()
    works: dict[str, Work] = {}
    for post in posts:
        clip = matchday.simulator.clip_of(post["source"], post["key"].partition(":")[2])
        if clip is not None and post["md5"] not in works:
            works[post["md5"]] = await work_of(matchday.simulator.url + downloadable_url(clip), vision, folder)
    await vision.aclose()
    return works


async def _goal(
    matchday: Played,
    event: Row,
    posts: Sequence[Row],
    published: Sequence[Row],
    attempts: Mapping[int, datetime],
    works: Mapping[str, Work],
) -> Goal:
    first, last = published[0], published[-1]
    batch = {post["md5"] for post in posts if post["attempt"] == last["attempt"]}
    search = await history_of(matchday.system.client, search_workflow_id(event["id"]))
    clips = [await _clip(matchday, post, attempts, search) for post in (first, last)]
    return Goal(
        name=f"{event['player_name']} {event['elapsed']}'",
        lead_in=(search.begun - event["stable_at"]).total_seconds(),
        first=clips[0],
        first_floor=clips[0].waited + works[first["md5"]].seconds,
        last=clips[1],
        last_floor=clips[1].waited + side_by_side(works[md5] for md5 in batch),
        work=works[first["md5"]],
    )


async def _clip(matchday: Played, post: Row, attempts: Mapping[int, datetime], search: History) -> Clip:
    client, event_id, md5, taken = matchday.system.client, post["event_id"], post["md5"], post["attempt"]
    download = await history_of(client, download_workflow_id(event_id, taken))
    upload = await history_of(client, upload_workflow_id(event_id))
    searched = search.step("search_sources", attempt=taken)
    fetched = download.step("fetch_clip", key=post["key"])
    looked = download.step("verify_clip", md5=md5)
    hashed = download.step("hash_clip", md5=md5)
    handed = download.step("queue_videos_for_upload")
    settled = next(s for s in upload.steps if s.name == "settle_event" and _same(s.argument["at"], post))
    pools = [step for step in upload.steps if step.name == "deduplicate_pool" and step.wanted < settled.wanted]
    waited = (_first_after(attempts, post["posted_at"]) - 1) * matchday.system.settings.search_seconds
    stages = {
        "until its search": (searched.wanted - search.begun).total_seconds() - waited,
        "search": _seconds(searched.wanted, searched.done),
        "until its download": _seconds(searched.done, fetched.wanted),
        "download": _seconds(fetched.wanted, fetched.done),
        "until its look": _seconds(fetched.done, looked.wanted),
        "look": _seconds(looked.wanted, looked.done),
        "until its hash": _seconds(looked.done, hashed.wanted),
        "hash": _seconds(hashed.wanted, hashed.done),
        "until the batch is done": _seconds(hashed.done, handed.wanted),
        "hand-over": _seconds(handed.wanted, pools[-1].wanted),
        "upload": _seconds(pools[-1].wanted, settled.done),
    }
    return Clip(_seconds(search.begun, settled.done), waited, stages)


def _first_after(attempts: Mapping[int, datetime], posted_at: datetime) -> int:
    """Return the number of the first search after the post was up."""
    return next(attempt for attempt, at in sorted(attempts.items()) if at >= posted_at)


def _same(text: str, post: Row) -> bool:
    published: datetime = post["published_at"]
    return abs(datetime.fromisoformat(text) - published) < timedelta(milliseconds=1)


def _seconds(begin: datetime, end: datetime) -> float:
    return (end - begin).total_seconds()


def _report(goals: Sequence[Goal]) -> None:
    rows = [
        [
            goal.name,
            f"{goal.lead_in:.2f}",
            f"{goal.first.seconds:.2f}",
            f"{goal.first_floor:.2f}",
            f"{goal.first.seconds / goal.first_floor:.2f}",
            f"{goal.last.seconds:.2f}",
            f"{goal.last_floor:.2f}",
            f"{goal.last.seconds / goal.last_floor:.2f}",
        ]
        for goal in goals
    ]
    first = median(goal.first.seconds / goal.first_floor for goal in goals)
    last = median(goal.last.seconds / goal.last_floor for goal in goals)
    table(
        [
            "goal",
            "poll to search",
            "first clip",
            "cannot be avoided",
            "ratio",
            "last clip",
            "cannot be avoided",
            "ratio",
        ],
        [*rows, ["median", "", "", "", f"{first:.2f}", "", "", f"{last:.2f}"]],
    )
    print(f"\nGoal: at most {GOAL}. Where the time goes, in seconds (medians):\n", flush=True)
    alone = {name: f"{median(getattr(goal.work, name) for goal in goals):.3f}" for name in ("download", "look", "hash")}
    table(
        ["stage", "first clip", "last clip", "alone"],
        [
            [
                stage,
                f"{median(goal.first.stages[stage] for goal in goals):.3f}",
                f"{median(goal.last.stages[stage] for goal in goals):.3f}",
                alone.get(stage, ""),
            ]
            for stage in goals[0].first.stages
        ],
    )
