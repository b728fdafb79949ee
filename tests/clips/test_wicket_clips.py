"""From a certain wicket to its clips: the real database, object store, decoder and OCR; the simulator's posts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import pytest

from footy_simulator.clips.encode import render
from footy_simulator.clips.plan import clips_for
from footy_simulator.loader import load_scenario
from footy_simulator.posts import plan_posts
from found_footy.clips.activities import VerificationActivities
from found_footy.clips.frame_selection import read_clip
from found_footy.clips.models import CandidateRef, FrameReading, PoolRef, RejectionReason, SettleRequest, VideoRef
from found_footy.clips.ocr_vision import OcrVision
from found_footy.clips.store import SQL as CLIPS_SQL
from found_footy.discovery.models import Post, SearchAttempt, SearchProgress
from found_footy.discovery.query import SearchQuery
from found_footy.fixtures.comparison import apply_poll
from found_footy.fixtures.lifecycle import LifecycleRules
from found_footy.fixtures.models import (
    WICKET,
    FixtureStage,
    Innings,
    League,
    LiveFixture,
    LiveGoal,
    MatchMinute,
    Player,
    Score,
    Side,
    Sport,
    Team,
    WicketKind,
)
from found_footy.fixtures.store import FixtureStore
from found_footy.media.processor import MediaProcessor
from found_footy.storage.objects.backend import ObjectStore
from tests.support.clip_system import ClipSystem
from tests.support.clips import NOW
from tests.support.football import RULES, START, follow_matches, poll
from tests.support.scenarios import rendered_clips

SCENARIO = load_scenario("quick")
MATCH = SCENARIO.cricket[0]
SECOND, THIRD = 1, 2
"""Of the wickets that fall: Joe Root's in the first innings, Kane Williamson's in the second."""


def heard(*wickets: LiveGoal) -> LiveFixture:
    taken = Score(0, 0)
    for wicket in wickets:
        taken = taken.plus(wicket.side)
    return LiveFixture(
        id=MATCH.id,
        feed="crex",
        status="LIVE",
        kickoff=START,
        league=League(1, MATCH.series),
        home=Team(109, "England", "ENG"),
        away=Team(158, "New Zealand", "NZ"),
        score=taken,
        goals=wickets,
        sport=Sport.CRICKET,
        innings=(Innings(1, Side.HOME, 160, 2, 20, 0, over=True), Innings(2, Side.AWAY, 24, 1, 2, 5)),
    )


WICKETS = (
    LiveGoal(
        Side.AWAY, MatchMinute(4, 3, 1), Player(1, "Jos Buttler"), WicketKind.BOWLED, Player(2, "Trent Boult"), WICKET
    ),
    LiveGoal(
        Side.AWAY,
        MatchMinute(13, 2, 1),
        Player(3, "Joe Root"),
        WicketKind.CAUGHT,
        Player(4, "Mitchell Santner"),
        WICKET,
    ),
    LiveGoal(
        Side.HOME, MatchMinute(2, 5, 2), Player(5, "Kane Williamson"), WicketKind.LBW, Player(6, "Jofra Archer"), WICKET
    ),
)


class Posted:
    """What the simulator posts on Bluesky, found by its words."""

    name = "bluesky"

    def __init__(self) -> None:
        self.asked: list[SearchQuery] = []

    async def search(self, query: SearchQuery, since: datetime) -> Sequence[Post]:
        self.asked.append(query)
        planned = [post for post in plan_posts(SCENARIO) if post.platform == "x" and not post.age]
        posts = [
            Post(
                self.name,
                f"p{number}",
                "https://example.invalid/p",
                post.media,
                NOW,
                post.author,
                post.text,
                post.duration,
            )
            for number, post in enumerate(planned)
        ]
        return [post for post in posts if query.matches(post.text)]

    async def check(self) -> str:
        return self.name

    async def aclose(self) -> None:
        pass


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """The clips of the second and the third wicket, by where they are posted."""
    folder = rendered_clips()
    specs = [spec for wicket in (SECOND, THIRD) for spec in clips_for(SCENARIO, MATCH.id, wicket)]
    return {f"/media/{spec.file_name}": render(spec, folder).read_bytes() for spec in specs}


@pytest.fixture
async def system(store: FixtureStore, objects: ObjectStore, files: dict[str, bytes]) -> AsyncIterator[ClipSystem]:
    await follow_matches(store, [(heard(), FixtureStage.ACTIVE)], START)
    for number in range(1, 4):
        async with store.poll() as transaction:
            (state,) = await transaction.load([MATCH.id])
            outcome = apply_poll(state, heard(*WICKETS), poll(number), RULES, LifecycleRules())
            assert outcome is not None
            assert await transaction.save([outcome]) == {}
    media, vision = MediaProcessor(2048, 60), OcrVision()

    async def read_frames(path: Path, sport: Sport) -> Sequence[FrameReading]:
        return (await read_clip(vision, path, media.frames_at, sport)).readings

    made = ClipSystem(store, objects, media, b"")
    made.vision = VerificationActivities(made.clips, objects, read_frames, 3, nullcontext)
    made.downloads.files.update(files)
    made.sources = [Posted()]  # type: ignore[list-item]
    yield made
    await media.aclose()


async def event_of(system: ClipSystem, player: str) -> str:
    document = await system.store.fixture(MATCH.id)
    return next(event["_event_id"] for event in document["events"] if event["player"]["name"] == player)


async def worked(system: ClipSystem, event_id: str) -> dict[str, tuple[str, str | None]]:
    """Searches, fetches, looks and keeps what is verified; for each post what became of it."""
    found = await system.call(system.search.search_sources, SearchAttempt(event_id, 1))
    for key in found.keys:
        answer = await system.call(system.download.fetch_clip, CandidateRef(event_id, key))
        await system.call(system.vision.verify_clip, VideoRef(event_id, answer.md5))
        await system.call(system.download.hash_clip, VideoRef(event_id, answer.md5))
    plan = await system.call(system.upload.deduplicate_pool, PoolRef(event_id, "verified"))
    for name in plan.publish:
        await system.call(system.upload.publish_clip, VideoRef(event_id, name))
    await system.call(system.upload.settle_event, SettleRequest(event_id, [plan], NOW))
    rows = await system.store.database.fetch(CLIPS_SQL["states"], id=event_id)
    assert len(rows) == len(found.keys)
    event = await system.store.event(event_id)
    assert [video["timestamp_verified"] for video in event["_s3_videos"]] == [True]
    return {each["key"]: (each["state"], each["loss"]) for each in event["_discovered_videos"]}


async def test_a_wickets_clip_is_verified_and_another_overs_is_rejected(system: ClipSystem) -> None:
    event_id = await event_of(system, "Joe Root")
    goal = await system.clips.goal(event_id)
    assert (goal.sport, goal.assist, goal.minute) == (Sport.CRICKET, "Mitchell Santner", MatchMinute(13, 2, 1))
    ends = await worked(system, event_id)
    assert sorted(ends.values(), key=str) == [("kept", None), ("lost", RejectionReason.WRONG_OVER)]
    assert await statuses(system, event_id) == {"verified": 1, "rejected": 1}


async def test_a_wicket_of_another_match_is_rejected(system: ClipSystem) -> None:
    event_id = await event_of(system, "Kane Williamson")
    ends = await worked(system, event_id)
    assert sorted(ends.values(), key=str) == [("kept", None), ("lost", RejectionReason.OTHER_MATCH)]
    assert await statuses(system, event_id) == {"verified": 1, "rejected": 1}


async def test_a_wicket_has_its_own_search_terms_and_no_team_lookup(system: ClipSystem) -> None:
    event_id = await event_of(system, "Joe Root")
    await system.call(system.search.search_sources, SearchAttempt(event_id, 1))
    (query,) = system.sources[0].asked
    assert query.text.startswith("(Root OR Mitchell OR Santner) (England OR")
    assert "stumped" in query.words
    assert await system.clips.teams_without_aliases(10) == []
    plan = system.search._rules.plan(await system.clips.goal(event_id), SearchProgress())
    assert plan.teams == []


async def statuses(system: ClipSystem, event_id: str) -> dict[str, int]:
    async with system.store.database.connection() as connection:
        rows = await connection.execute(
            "select status, count(*) as n from videos where event_id = %s group by 1", (event_id,)
        )
        return {row["status"]: row["n"] for row in await rows.fetchall()}
