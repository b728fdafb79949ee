"""A small world to look at: matches and goals in every state, with real files behind the clips."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import SecretStr

from found_footy.app import open_web
from found_footy.clips.models import DedupPlan, Duplicate, Expectation, FrameReading, Proof, clip_key
from found_footy.clips.store import ClipStore
from found_footy.clips.verification import Verification, VerificationReason, VerificationStatus
from found_footy.config import Settings
from found_footy.discovery.models import Post, SourceReport
from found_footy.discovery.query import SearchQuery
from found_footy.discovery.selection import Selection
from found_footy.errors import FootyError, SourceRateLimited
from found_footy.fixtures.comparison import apply_poll
from found_footy.fixtures.lifecycle import LifecycleRules
from found_footy.fixtures.models import (
    FixtureStage,
    GoalKind,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    Poll,
    Score,
    Side,
    Team,
)
from found_footy.fixtures.store import FixtureStore, open_store
from found_footy.media.fingerprint import Fingerprint
from found_footy.media.models import RelativeBox
from found_footy.runtime.http_server import HttpServer
from found_footy.storage.objects.store import ThreadedObjectStore
from found_footy.storage.stores import build_objects
from found_footy.web.app import create_app
from found_footy.web.services import WebServices
from tests.media.made_clips import scene, write
from tests.support.clips import fingerprint, info
from tests.support.football import RULES, follow_matches
from tests.support.web_world_feeds import populate_feeds

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
KICKOFF = datetime(2026, 8, 22, 14, 0, tzinfo=UTC)

PREMIER = League(39, "Premier League", "England", 2026, "Regular Season - 2")
LIGA = League(140, "La Liga", "Spain", 2026, "Regular Season - 1")
LIVERPOOL, CITY = Team(40, "Liverpool"), Team(50, "Manchester City")
BARCELONA, SEVILLA = Team(529, "Barcelona"), Team(536, "Sevilla")

HOSTILE = '<script>document.title="owned"</script><img src=x onerror=alert(1)>'
HOSTILE_TEXT = f"{HOSTILE} \u202egoal\u202c 🔥⚽️ {'very long ' * 1200}"

SALAH, HAALAND, NUNEZ = "7001_40_306_Goal_1", "7001_50_1100_Goal_1", "7001_40_51617_Goal_1"
WITHDRAWN, NO_CLIP, HOSTILE_GOAL, SEEN = (
    "7002_529_521_Goal_1",
    "7003_157_184_Goal_1",
    "7005_999001_666_Goal_1",
    "7002_536_900_Goal_1",
)


@cache
def clip_bytes(seed: int = 1, start: float = 0.0, seconds: float = 4.0) -> bytes:
    """A film that a browser plays; the same seed is the same scene, so that starts can differ."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "clip.mp4")
        write(path, scene(seconds, seed=seed, start=start), muxer={"movflags": "faststart"})
        return path.read_bytes()


@dataclass(frozen=True)
class Clip:
    """A file that comes in for a goal."""

    name: str
    content: bytes
    verified: bool = True
    posts: int = 1
    copy_of: str | None = None
    offset: float = 0.0
    seconds: float = 4.0


class SampleData:
    def __init__(self, store: FixtureStore, objects: ThreadedObjectStore, first_poll: int = 0) -> None:
        self.store, self.objects = store, objects
        self.clips = ClipStore(store.database)
        self._polls = first_poll

    # --- matches

    async def add(self, *matches: LiveFixture, stage: str = FixtureStage.ACTIVE) -> None:
        await follow_matches(self.store, [(match, stage) for match in matches], KICKOFF - timedelta(hours=2))

    async def poll(self, match: LiveFixture, times: int = 1, at: datetime | None = None) -> None:
        """The feed answers so many times with this."""
        for _ in range(times):
            self._polls += 1
            poll = Poll(f"monitor-{self._polls}", (at or KICKOFF) + timedelta(seconds=self._polls))
            async with self.store.poll() as transaction:
                (state,) = await transaction.load([match.id])
                outcome = apply_poll(state, match, poll, RULES, LifecycleRules())
                assert outcome is not None
                assert await transaction.save([outcome]) == {}

    # --- goals

    async def search(
        self, event_id: str, attempt: int, posts: Sequence[Post] = (), error: FootyError | None = None
    ) -> None:
        await self.store.set_monitor_complete(event_id, f"search-{event_id}")
        reports = [SourceReport("bluesky", len(posts)), SourceReport("x", None, error)]
        if error is None:
            reports = reports[:1]
        query = SearchQuery(("Salah",), ("Liverpool", "LFC"))
        await self.clips.save_search(event_id, attempt, query, reports, posts, NOW)
        await self.clips.take_candidates(
            event_id, attempt, lambda waiting: Selection(tuple(each.key for each in waiting), ())
        )

    async def clip(self, event_id: str, clip: Clip, attempt: int = 1, text: str = "What a goal!") -> str:
        """Found, downloaded, looked at, hashed and stored; not settled yet. Returns its MD5."""
        md5 = hashlib.md5(clip.content, usedforsecurity=False).hexdigest()
        posts = [post_of(f"{clip.name}-{number}", text) for number in range(clip.posts)]
        await self.search(event_id, attempt, posts)
        for post in posts:
            facts = info(clip.seconds, len(clip.content))
            await self.clips.add_video(event_id, post.key, md5, facts, NOW)
        await self.clips.save_verification(event_id, md5, verification_of(clip.verified))
        await self.clips.save_fingerprint(event_id, md5, pictures_of(clip.name))
        with TemporaryDirectory() as folder:
            path = Path(folder, "clip.mp4")
            await asyncio.to_thread(path.write_bytes, clip.content)
            await self.objects.put(clip_key(int(event_id.partition("_")[0]), event_id, md5), path)
        return md5

    async def publish(self, event_id: str, *clips: Clip, attempt: int = 1) -> dict[str, str]:
        """Returns the MD5 of each by its name."""
        names = {clip.name: await self.clip(event_id, clip, attempt) for clip in clips}
        kept = [md5 for md5, state in (await self.clips.video_states(event_id)).items() if state == "kept"]
        stays = (*kept, *(names[clip.name] for clip in clips if clip.copy_of is None))
        copies = tuple(
            Duplicate(names[clip.name], names[clip.copy_of], clip.offset, False)
            for clip in clips
            if clip.copy_of is not None
        )
        assert await self.clips.settle(event_id, [DedupPlan(stays, copies)], NOW)
        return names

    async def complete(self, event_id: str) -> None:
        await self.store.set_download_complete(event_id)


def pictures_of(name: str) -> Fingerprint:
    return fingerprint(name)


def post_of(name: str, text: str = "What a goal!", source: str = "bluesky") -> Post:
    url = f"https://posts.example/{name}"
    return Post(source, name, url, f"{url}.mp4", NOW - timedelta(minutes=1), "a fan", text, 4.0)


def verification_of(verified: bool) -> Verification:
    expected = Expectation(MatchMinute(23), "Liverpool", "Manchester City", Score(0, 0), Score(1, 0))
    box = RelativeBox(0.05, 0.06, 0.13, 0.11)
    reading = FrameReading(
        1.0, soccer=True, screen=False, clock="22:41" if verified else None, teams=("LIV", "MCI"), score=Score(0, 0),
        box=box if verified else None,
    )  # fmt: skip
    proof = Proof(1.0, box if verified else None, (reading, replace(reading, at=3.0)), expected)
    if verified:
        return Verification(VerificationStatus.VERIFIED, 23, None, proof)
    return Verification(VerificationStatus.UNVERIFIED, None, VerificationReason.NO_CLOCK, proof)


def goal(minute: str, side: Side, player: int, name: str, kind: GoalKind = GoalKind.NORMAL) -> LiveGoal:
    elapsed, _, extra = minute.partition("+")
    return LiveGoal(side, MatchMinute(int(elapsed), int(extra) if extra else None), Player(player, name), kind)


def match(
    fixture_id: int,
    league: League,
    home: Team,
    away: Team,
    *goals: LiveGoal,
    status: str = "2H",
    minute: MatchMinute | None = None,
    kickoff: datetime = KICKOFF,
) -> LiveFixture:
    score: Score | None = None if status == "NS" else Score(0, 0)
    for each in goals:
        assert score is not None
        score = score.plus(each.side)
    return LiveFixture(
        id=fixture_id, feed="api_football", status=status, kickoff=kickoff, league=league, home=home, away=away,
        score=score, minute=minute, goals=goals,
    )  # fmt: skip


async def populate(store: FixtureStore, objects: ThreadedObjectStore) -> SampleData:
    """Goals in every state; the constants above name them."""
    world = SampleData(store, objects)
    home, away = Side.HOME, Side.AWAY
    salah, haaland, nunez = (
        goal("23", home, 306, "Mohamed Salah"),
        goal("45+2", away, 1100, "Erling Haaland", GoalKind.PENALTY),
        goal("60", home, 51617, "Darwin Núñez"),
    )
    classic = match(7001, PREMIER, LIVERPOOL, CITY, minute=MatchMinute(67))
    await world.add(classic)
    await world.poll(replace(classic, goals=(salah, haaland, nunez), score=Score(2, 1)), times=3)
    await world.publish(
        SALAH,
        Clip("best", clip_bytes(1), posts=3),
        Clip("late", clip_bytes(1, 1.0), copy_of="best", offset=1.0),
        Clip("second", clip_bytes(2)),
        Clip("plain", clip_bytes(3), verified=False),
    )
    await world.search(SALAH, 2, error=SourceRateLimited("x: too many requests"))
    await world.complete(SALAH)
    await world.publish(HAALAND, Clip("pen", clip_bytes(4)))
    await world.search(HAALAND, 2)
    await world.search(NUNEZ, 1, [post_of("waiting")])

    liga = match(7002, LIGA, BARCELONA, SEVILLA, status="1H", minute=MatchMinute(31))
    await world.add(liga)
    offside = goal("12", home, 521, "Robert Lewandowski")
    await world.poll(replace(liga, goals=(offside,), score=Score(1, 0)), times=3)
    await world.publish(WITHDRAWN, Clip("offside", clip_bytes(5)))
    await world.poll(liga, times=3)
    await world.poll(replace(liga, goals=(goal("30", away, 900, "Isaac Romero"),), score=Score(0, 1)), times=2)

    bayern = match(7003, League(78, "Bundesliga", "Germany"), Team(157, "Bayern München"), Team(165, "1. FC Köln"))
    await world.add(bayern)
    kane = goal("88", home, 184, "Harry Kane")
    await world.poll(replace(bayern, goals=(kane,), score=Score(1, 0), status="2H"), times=3)
    await world.search(NO_CLIP, 1, [post_of("gone"), post_of("short")])
    await world.clips.reject_candidate(NO_CLIP, post_of("gone").key, "gone", "HTTP 404")
    await world.clips.reject_candidate(NO_CLIP, post_of("short").key, "too short", "2.1 s, at least 3 s")
    await world.clips.close(NO_CLIP, "the search ended")
    await world.poll(replace(bayern, goals=(kane,), score=Score(1, 0), status="FT", minute=MatchMinute(90)), times=3)

    later = match(
        7004, PREMIER, Team(42, "Arsenal"), Team(49, "Chelsea"), status="NS", kickoff=NOW + timedelta(hours=3)
    )
    await world.add(later, stage=FixtureStage.STAGING)

    strange = match(7005, League(999, HOSTILE), Team(999001, HOSTILE), Team(999002, "\u202eمنتخب\u202c 🔥"))
    await world.add(strange)
    own = goal("5", home, 666, HOSTILE)
    await world.poll(replace(strange, goals=(own,), score=Score(1, 0)), times=3)
    await world.clip(HOSTILE_GOAL, Clip("hostile", clip_bytes(6)), text=HOSTILE_TEXT)
    md5 = hashlib.md5(clip_bytes(6), usedforsecurity=False).hexdigest()
    await world.clips.settle(HOSTILE_GOAL, [DedupPlan((md5,), ())], NOW)

    yesterday = match(7006, PREMIER, CITY, Team(42, "Arsenal"), status="2H", kickoff=KICKOFF - timedelta(days=1))
    await world.add(yesterday)
    await world.poll(replace(yesterday, status="FT", minute=MatchMinute(90)), times=3)
    await populate_feeds(world, KICKOFF, NOW)
    return world


async def populate_at(database_url: str, folder: Path) -> None:
    settings = settings_for(database_url, folder)
    async with open_store(settings) as store, aclosing(build_objects(settings)) as objects:
        await populate(store, objects)


def settings_for(database_url: str, folder: Path, **more: object) -> Settings:
    given = {"database_url": SecretStr(database_url), "data_dir": folder, "api_football_key": SecretStr("test"), **more}
    return _default_settings().model_copy(update=given)


@cache
def _default_settings() -> Settings:
    """Of the environment of the tests, which takes 20 ms to read."""
    return Settings()


@asynccontextmanager
async def served(settings: Settings, now: datetime | None = NOW) -> AsyncIterator[tuple[HttpServer, WebServices]]:
    """The web application over real HTTP."""
    async with open_web(settings) as services:
        if now is not None:
            services = replace(services, now=lambda: now)
        async with HttpServer(create_app(services), grace_seconds=1) as server:
            try:
                yield server, services
            finally:
                services.live.close()
