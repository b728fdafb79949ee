"""The activities between a certain goal and its clips: the real database and object store, a scripted outside."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from footy_simulator.clips.encode import render
from footy_simulator.clips.plan import clips_for
from footy_simulator.loader import load_scenario
from found_footy.clips.models import (
    CandidateRef,
    FetchResult,
    FrameReading,
    OutdatedQuery,
    OutdatedRejections,
    Proof,
    RejectionReason,
    ReverifyInput,
    ReverifyResult,
    VideoFailure,
    VideoRef,
    clip_key,
    staging_key,
)
from found_footy.discovery.activities import AliasActivities
from found_footy.discovery.models import (
    CloseRequest,
    NameKind,
    SearchAttempt,
    SearchProgress,
    TeamName,
    TeamRef,
    WorkflowRef,
)
from found_footy.errors import (
    CandidateRejected,
    DownloadUnavailable,
    ObjectMissing,
    SourceLoggedOut,
    SourceRateLimited,
    VisionUnavailable,
    WikidataError,
)
from found_footy.fixtures.models import Score
from found_footy.fixtures.store import FixtureStore
from found_footy.media.processor import MediaProcessor
from found_footy.storage.objects.backend import ObjectStore
from tests.support.clip_system import SEARCH, ClipSystem, ScriptedSource, ScriptedTeamNames
from tests.support.clips import (
    GOAL,
    NOW,
    add_hashed_file,
    fingerprint,
    md5,
    post,
    record_search,
    stable_goal,
    withdraw_goal,
)
from tests.support.scenarios import rendered_clips


@pytest.fixture(scope="module")
def rendered() -> dict[str, bytes]:
    """A real clip, and some that are none."""
    scenario = load_scenario("quick")
    folder = rendered_clips()
    wanted = {"copy": (1390001, 0, 0), "too_short": (1390002, 1, 1)}
    files = {
        name: render(clips_for(scenario, match, goal)[number], folder).read_bytes()
        for name, (match, goal, number) in wanted.items()
    }
    return files | {"html": b"<!DOCTYPE html><p>gone</p>" * 50, "cut": files["copy"][: len(files["copy"]) // 2]}


@pytest.fixture
async def system(store: FixtureStore, objects: ObjectStore, rendered: dict[str, bytes]) -> AsyncIterator[ClipSystem]:
    await stable_goal(store)
    media = MediaProcessor(2048, 30)
    yield ClipSystem(store, objects, media, rendered["copy"])
    await media.aclose()


# --- searching


async def test_a_failing_source_does_not_stop_the_others(system: ClipSystem) -> None:
    system.sources = [
        ScriptedSource("x", error=SourceLoggedOut("log in again")),
        ScriptedSource("broken", error=ZeroDivisionError("a fault of ours")),
        ScriptedSource("bluesky", post("a")),
    ]
    answer = await system.call(system.search.search_sources, SearchAttempt(GOAL, 1))
    assert answer.keys == ["bluesky:a"]
    (search,) = (await system.store.event(GOAL))["_searches"]
    assert search["sources"]["bluesky"] == {"found": 1}
    assert search["sources"]["x"]["error"] == {"class": "SourceLoggedOut", "message": "log in again"}
    assert search["sources"]["broken"]["error"]["class"] == "InternalFault"


async def test_a_post_that_two_sources_find_is_one_candidate_and_counts_for_both(system: ClipSystem) -> None:
    same = post("1", source="x")
    system.sources = [ScriptedSource("fxtwitter", same), ScriptedSource("x", same, post("2", source="x"))]
    answer = await system.call(system.search.search_sources, SearchAttempt(GOAL, 1))
    assert (answer.posts, sorted(answer.keys)) == (2, ["x:1", "x:2"])
    (search,) = (await system.store.event(GOAL))["_searches"]
    assert search["sources"] == {"fxtwitter": {"found": 1}, "x": {"found": 2}}


async def test_each_source_has_its_own_ten_answered_searches(system: ClipSystem) -> None:
    """A failed search does not count, and a source that has answered ten is not asked while another catches up."""
    x, bluesky = ScriptedSource("x", error=SourceRateLimited("wait")), ScriptedSource("bluesky")
    system.sources = [x, bluesky]
    complete = []
    for attempt in range(1, 14):
        x.error = SourceRateLimited("wait") if attempt <= 3 else None
        complete.append((await system.call(system.search.search_sources, SearchAttempt(GOAL, attempt))).complete)
    assert complete == [False] * 12 + [True]
    assert (len(x.asked), len(bluesky.asked)) == (13, 10)
    event = await system.store.event(GOAL)
    assert event["_search_sources"] == {"x": {"answered": 10, "failed": 3}, "bluesky": {"answered": 10, "failed": 0}}


async def test_a_repeated_search_attempt_counts_once(system: ClipSystem) -> None:
    system.sources = [ScriptedSource("bluesky")]
    for attempt in (1, 2, 2, 2, 3):
        await system.call(system.search.search_sources, SearchAttempt(GOAL, attempt))
    assert await system.clips.search_progress(GOAL) == SearchProgress(3, {"bluesky": 3})


async def test_a_search_without_sources_ends_after_the_planned_attempts(system: ClipSystem) -> None:
    outcomes = [await system.call(system.search.search_sources, SearchAttempt(GOAL, n)) for n in (1, 9, 10)]
    assert [each.complete for each in outcomes] == [False, False, True]


async def test_a_restarted_search_is_planned_after_the_attempts_that_ran(system: ClipSystem) -> None:
    system.sources = [ScriptedSource("bluesky")]
    for attempt in (1, 2):
        await system.call(system.search.search_sources, SearchAttempt(GOAL, attempt))
    check = await system.call(system.search.set_monitor_complete, WorkflowRef(GOAL, f"search-{GOAL}"))
    assert check.plan is not None
    assert check.plan.attempts_made == 2


async def test_all_sources_are_searched_for_the_scorer_and_the_team(system: ClipSystem) -> None:
    await system.clips.save_aliases(40, "Liverpool", ["Liverpool", "LFC"], NOW)
    async with system.store.database.connection() as connection:
        await connection.execute("update events set player_name = 'M. Salah'")
    system.sources = [ScriptedSource("x"), ScriptedSource("bluesky")]
    await system.call(system.search.search_sources, SearchAttempt(GOAL, 1))
    assert {source.asked[0].text for source in system.sources} == {"Salah (Liverpool OR LFC)"}


async def test_old_posts_are_skipped_and_only_the_longest_are_used(system: ClipSystem) -> None:
    posts = [post(f"p{n}", duration=n) for n in range(4, 12)] + [post("old", 50, NOW - timedelta(minutes=4))]
    system.sources = [ScriptedSource("bluesky", *posts)]
    answer = await system.call(system.search.search_sources, SearchAttempt(GOAL, 1))
    assert answer.posts == 8
    assert sorted(answer.keys) == sorted(f"bluesky:p{n}" for n in range(7, 12))
    assert "bluesky:old" not in await system.candidates()


async def test_ten_thousand_posts_are_handled(system: ClipSystem) -> None:
    system.sources = [ScriptedSource("bluesky", *(post(f"p{n}") for n in range(10_000)))]
    answer = await system.call(system.search.search_sources, SearchAttempt(GOAL, 1))
    assert len(answer.keys) == 5


async def test_a_withdrawn_goal_is_not_searched_for(system: ClipSystem) -> None:
    await withdraw_goal(system.store)
    system.sources = [ScriptedSource("bluesky", post("a"))]
    assert not (await system.call(system.search.search_sources, SearchAttempt(GOAL, 1))).confirmed
    assert system.sources[0].asked == []


# --- fetching


async def test_a_file_is_staged_with_its_metadata(system: ClipSystem) -> None:
    name = await system.download_file()
    assert await system.keys() == [staging_key(GOAL, name)]
    assert (await system.objects.metadata(staging_key(GOAL, name)))["away"] == "Manchester City"
    assert await system.candidates() == {"bluesky:a": ("checking", None)}


async def test_a_fetch_that_is_repeated_fetches_nothing(system: ClipSystem) -> None:
    await system.download_file()
    answer = await system.call(system.download.fetch_clip, CandidateRef(GOAL, "bluesky:a"))
    assert answer.state == "staged"
    assert len(system.downloads.requests) == 1


async def test_the_same_file_by_another_post_is_not_stored_again(system: ClipSystem) -> None:
    await system.download_file("a")
    assert await system.download_file("b") == md5_of(system.clip)
    assert len(await system.keys()) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (CandidateRejected(RejectionReason.GONE, "it is not there any more"), "gone"),
        (CandidateRejected(RejectionReason.FORBIDDEN_ADDRESS, "10.0.0.1"), "forbidden address"),
        ("html", "not a video"),
        ("cut", "broken"),
        ("too_short", "too short"),
    ],
)
async def test_each_loss_has_its_class(
    system: ClipSystem, rendered: dict[str, bytes], answer: CandidateRejected | str, reason: str
) -> None:
    (key,) = await record_search(system.clips, 1, post("a"))
    content = rendered[answer] if isinstance(answer, str) else answer
    system.downloads.files[post("a").media_url] = content
    assert await system.call(system.download.fetch_clip, CandidateRef(GOAL, key)) == FetchResult()
    assert await system.candidates() == {key: ("lost", reason)}
    (candidate,) = (await system.store.event(GOAL))["_discovered_videos"]
    assert candidate["loss_detail"]
    assert "/" not in candidate["loss_detail"], "where the file lay for a moment is nobody's business"
    assert await system.keys() == []
    again = await system.call(system.download.fetch_clip, CandidateRef(GOAL, key))
    assert again == FetchResult()
    assert len(system.downloads.requests) == 1, "what is lost is not tried again"


async def test_a_host_that_does_not_answer_is_tried_again_and_then_unreachable(system: ClipSystem) -> None:
    (key,) = await record_search(system.clips, 1, post("a"))
    system.downloads.files[post("a").media_url] = DownloadUnavailable("no answer")
    order = CandidateRef(GOAL, key)
    for attempt in (1, 2):
        with pytest.raises(DownloadUnavailable):
            await system.call(system.download.fetch_clip, order, attempt)
    assert await system.call(system.download.fetch_clip, order, 3) == FetchResult()
    assert await system.candidates() == {key: ("lost", "unreachable")}


async def test_nothing_is_fetched_for_a_goal_that_was_withdrawn(system: ClipSystem) -> None:
    (key,) = await record_search(system.clips, 1, post("a"))
    await withdraw_goal(system.store)
    assert await system.call(system.download.fetch_clip, CandidateRef(GOAL, key)) == FetchResult()
    assert system.downloads.requests == []
    assert await system.candidates() == {key: ("lost", "withdrawn")}


# --- looking


async def test_a_clip_that_proves_the_goal_is_checked_and_hashed(system: ClipSystem) -> None:
    clip = VideoRef(GOAL, await system.download_file())
    assert (await system.call(system.vision.verify_clip, clip)).state == "checked"
    assert (await system.call(system.download.hash_clip, clip)).state == "hashed"
    assert (await system.call(system.vision.verify_clip, clip)).state == "hashed"
    assert system.scripted_vision.calls == 1, "a look that is repeated looks at nothing"


async def test_a_clip_of_another_minute_is_refused_for_that_reason(system: ClipSystem) -> None:
    clip = VideoRef(GOAL, await system.download_file())
    system.scripted_vision.reading = FrameReading(1.0, soccer=True, screen=False, clock="67:10", score=Score(0, 0))
    assert (await system.call(system.vision.verify_clip, clip)).state == "refused"
    assert await system.candidates() == {"bluesky:a": ("lost", "wrong minute")}


async def test_the_proof_holds_the_minutes_from_kick_off_to_the_first_post(system: ClipSystem) -> None:
    """They exclude the third minute of the match where a stoppage-time clock lost its first digits."""
    clip = VideoRef(GOAL, await system.download_file())
    await system.call(system.vision.verify_clip, clip)
    async with system.store.database.connection() as connection:
        cursor = await connection.execute("select proof from videos where md5 = %s", [clip.md5])
        (row,) = await cursor.fetchall()
    goal = await system.clips.goal(GOAL)
    assert goal.kickoff is not None
    expected = (post("a").posted_at - goal.kickoff).total_seconds() / 60
    assert Proof.from_json(row["proof"]).expectation.posted_after_minutes == expected


async def test_a_clip_waits_while_the_vision_server_is_down(system: ClipSystem) -> None:
    """Fail closed: it is neither published nor refused."""
    clip = VideoRef(GOAL, await system.download_file())
    system.scripted_vision.error = VisionUnavailable("the server is away")
    with pytest.raises(VisionUnavailable):
        await system.call(system.vision.verify_clip, clip)
    assert await system.candidates() == {"bluesky:a": ("checking", None)}
    await system.upload_all()
    assert (await system.store.event(GOAL))["_s3_videos"] == []


async def test_a_file_is_rejected_as_unchecked_only_before_verification(system: ClipSystem) -> None:
    clip = VideoRef(GOAL, await system.download_file())
    refused = VideoFailure(GOAL, clip.md5, "VisionUnavailable", "away")
    await system.call(system.vision.verify_clip, clip)
    assert (await system.call(system.download.reject_video, refused)).state == "checked"
    other = VideoRef(GOAL, await system.download_file("b", system.clip + b"0"))
    answer = await system.call(system.download.reject_video, VideoFailure(GOAL, other.md5, "VisionUnavailable", "away"))
    assert answer.state == "refused"
    assert (await system.candidates())["bluesky:b"] == ("lost", "not checked")


async def test_a_hash_is_not_made_before_the_look(system: ClipSystem) -> None:
    clip = VideoRef(GOAL, await system.download_file())
    assert (await system.call(system.download.hash_clip, clip)).state == "staged"


# --- corrections by the feed


async def rejected_clip(system: ClipSystem) -> VideoRef:
    """A clip of minute 68 for a goal in minute 23, after the search has ended."""
    clip = VideoRef(GOAL, await system.download_file())
    system.scripted_vision.reading = FrameReading(1.0, soccer=True, screen=False, clock="67:10")
    assert (await system.call(system.vision.verify_clip, clip)).state == "refused"
    await system.upload_all()
    assert (await system.call(system.search.close_event, CloseRequest(GOAL))).closed
    await system.call(system.search.sweep_event, SEARCH)
    return clip


async def correct_goal(system: ClipSystem, minute: int) -> None:
    async with system.store.database.connection() as connection:
        await connection.execute("update events set elapsed = %s", [minute])


async def outdated(system: ClipSystem) -> list[str]:
    query = OutdatedQuery(NOW - timedelta(days=1))
    found: OutdatedRejections = await system.call(system.vision.list_outdated_rejections, query)
    return found.event_ids


async def test_a_clip_rejected_for_its_minute_is_published_when_the_feed_corrects_the_goal(system: ClipSystem) -> None:
    clip = await rejected_clip(system)
    assert await outdated(system) == []
    await correct_goal(system, 68)
    assert await outdated(system) == [GOAL]
    order = ReverifyInput(GOAL)
    result = await system.call(system.vision.reverify_rejected_clips, order)
    assert result == await system.call(system.vision.reverify_rejected_clips, order) == ReverifyResult([clip.md5])
    assert await outdated(system) == []
    await system.call(system.download.hash_clip, clip)
    await system.upload_all()
    assert [video["md5"] for video in (await system.store.event(GOAL))["_s3_videos"]] == [clip.md5]
    assert await system.keys() == [clip_key(5000, GOAL, clip.md5)]
    assert (system.scripted_vision.calls, len(system.downloads.requests)) == (1, 1), "no second download or reading"


async def test_a_correction_that_does_not_fit_the_clip_leaves_it_rejected(system: ClipSystem) -> None:
    await rejected_clip(system)
    await correct_goal(system, 24)
    assert await system.call(system.vision.reverify_rejected_clips, ReverifyInput(GOAL)) == ReverifyResult([])
    assert await system.candidates() == {"bluesky:a": ("lost", "wrong minute")}
    assert await outdated(system) == [], "it is judged once per correction"


async def test_a_clip_with_a_missing_file_stays_rejected_after_a_correction(system: ClipSystem) -> None:
    clip = await rejected_clip(system)
    await system.objects.delete([staging_key(GOAL, clip.md5)])
    await correct_goal(system, 68)
    assert await system.call(system.vision.reverify_rejected_clips, ReverifyInput(GOAL)) == ReverifyResult([])
    assert await system.candidates() == {"bluesky:a": ("lost", "gone")}
    assert await outdated(system) == []


async def test_a_withdrawn_goal_keeps_no_rejected_files(system: ClipSystem) -> None:
    await rejected_clip(system)
    await withdraw_goal(system.store)
    await correct_goal(system, 68)
    assert await outdated(system) == []
    await system.call(system.search.sweep_event, SEARCH)
    assert await system.keys() == []


# --- uploading


async def test_a_clip_is_copied_to_its_place_and_staging_is_cleaned(system: ClipSystem) -> None:
    name = await system.download_file()
    for step in (system.vision.verify_clip, system.download.hash_clip):
        await system.call(step, VideoRef(GOAL, name))
    await system.upload_all()
    assert await system.keys() == [clip_key(5000, GOAL, name)]
    assert (await system.objects.metadata(clip_key(5000, GOAL, name)))["home"] == "Liverpool"
    await system.upload_all()
    assert await system.keys() == [clip_key(5000, GOAL, name)]


async def test_a_copy_that_gave_way_loses_its_file_and_keeps_its_redirect(system: ClipSystem, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    keys = await record_search(system.clips, 1, post("a"), post("b"))
    for number, key in enumerate(keys):
        name = await add_hashed_file(system.clips, f"v{number}", key, fingerprint("goal"), file_size=100 + number)
        await system.objects.put(staging_key(GOAL, name), file)
        await system.upload_all()
    assert await system.keys() == [clip_key(5000, GOAL, md5("v1"))]
    (video,) = (await system.store.event(GOAL))["_s3_videos"]
    assert [copy["md5"] for copy in video["copies"]] == [md5("v0")]


async def test_publishing_again_after_the_clean_up_succeeds(system: ClipSystem) -> None:
    name = await system.download_file()
    await system.call(system.upload.publish_clip, VideoRef(GOAL, name))
    await system.objects.delete([staging_key(GOAL, name)])
    await system.call(system.upload.publish_clip, VideoRef(GOAL, name))
    await system.objects.delete([clip_key(5000, GOAL, name)])
    with pytest.raises(ObjectMissing):
        await system.call(system.upload.publish_clip, VideoRef(GOAL, name))


# --- the end


async def test_an_event_with_open_work_is_closed_only_when_abandoned(system: ClipSystem) -> None:
    name = await system.download_file()
    assert not (await system.call(system.search.close_event, CloseRequest(GOAL))).closed
    assert (await system.call(system.search.close_event, CloseRequest(GOAL, "time is over"))).closed
    assert await system.candidates() == {"bluesky:a": ("lost", "not checked")}
    await system.call(system.search.sweep_event, SEARCH)
    assert await system.keys() == [], f"{name} is swept"


async def test_a_sweep_takes_nothing_from_an_event_with_open_work(system: ClipSystem) -> None:
    name = await system.download_file()
    await system.call(system.search.sweep_event, SEARCH)
    assert await system.keys() == [staging_key(GOAL, name)]


async def test_a_withdrawn_goal_is_closed_at_once_whatever_is_open(system: ClipSystem) -> None:
    await system.download_file()
    await withdraw_goal(system.store)
    assert (await system.call(system.search.close_event, CloseRequest(GOAL))).closed
    assert await system.candidates() == {"bluesky:a": ("lost", "withdrawn")}


async def test_the_sweep_leaves_the_clips_and_takes_the_orphans(system: ClipSystem, tmp_path: Path) -> None:
    name = await system.download_file()
    for step in (system.vision.verify_clip, system.download.hash_clip):
        await system.call(step, VideoRef(GOAL, name))
    await system.upload_all()
    orphan = tmp_path / "orphan"
    orphan.write_bytes(b"left by a dead worker")
    for key in (staging_key(GOAL, md5("x")), clip_key(5000, GOAL, md5("x")), clip_key(5000, "other", md5("x"))):
        await system.objects.put(key, orphan)
    await system.call(system.search.sweep_event, SEARCH)
    assert await system.keys() == sorted([clip_key(5000, GOAL, name), clip_key(5000, "other", md5("x"))])


# --- names


async def test_names_are_requested_once_and_saved(system: ClipSystem) -> None:
    names = ScriptedTeamNames(TeamName("LFC", "en", NameKind.ALIAS), TeamName("The Reds", "en", NameKind.NICKNAME))
    aliases = AliasActivities(system.clips, names, lambda: NOW)
    team = TeamRef(40, "Liverpool", "Premier League", "England")
    first = await system.call(aliases.resolve_team_aliases, team)
    assert first.aliases[:2] == ["Liverpool", "LFC"]
    assert await system.call(aliases.resolve_team_aliases, team) == first
    assert names.asked == ["Liverpool"]
    assert (await system.clips.goal(GOAL)).home_aliases == tuple(first.aliases)


async def test_a_failed_name_lookup_is_not_saved_as_unknown(system: ClipSystem) -> None:
    aliases = AliasActivities(system.clips, ScriptedTeamNames(error=WikidataError("away")), lambda: NOW)
    with pytest.raises(WikidataError):
        await system.call(aliases.resolve_team_aliases, TeamRef(40, "Liverpool"))
    assert await system.clips.aliases([40]) == {}


def md5_of(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
