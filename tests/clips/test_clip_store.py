"""What was searched, found, refused and kept, on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import psycopg
import pytest

from found_footy.clips.activities import UploadActivities
from found_footy.clips.models import PoolRef, RejectionReason, SettleRequest, download_workflow_id
from found_footy.clips.store import ClipStore
from found_footy.clips.verification import Verification, VerificationReason, VerificationStatus
from found_footy.discovery.models import SourceReport
from found_footy.discovery.query import team_search_names
from found_footy.errors import NotFound, SourceRateLimited
from found_footy.fixtures.store import FixtureStore
from found_footy.media.fingerprint import Fingerprint
from found_footy.notifications.outbox import SQL as OUTBOX_SQL
from found_footy.operations.store import OperationsStore
from tests.support.clips import (
    GOAL,
    NOW,
    QUERY,
    add_hashed_file,
    fingerprint,
    info,
    md5,
    post,
    record_search,
    selecting,
    stable_goal,
    verification,
    withdraw_goal,
)


@pytest.fixture
async def clips(store: FixtureStore) -> ClipStore:
    await stable_goal(store)
    await store.set_monitor_complete(GOAL, f"search-{GOAL}")
    return ClipStore(store.database)


async def uploaded(clips: ClipStore) -> None:
    """What the uploader does between the object store's parts."""
    upload = UploadActivities(clips, None, None)  # type: ignore[arg-type]
    plans = [await upload.deduplicate_pool(PoolRef(GOAL, pool)) for pool in ("verified", "unverified")]
    await upload.settle_event(SettleRequest(GOAL, plans, NOW))


async def shown(store: FixtureStore) -> list[tuple[str, int, int]]:
    """md5, rank and popularity of the clips."""
    videos = (await store.event(GOAL))["_s3_videos"]
    return [(video["md5"], video["rank"], video["popularity"]) for video in videos]


async def topics(url: str) -> Sequence[str]:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        rows = await (
            await connection.execute("select topic from outbox where topic like 'clip%' order by id")
        ).fetchall()
    return [row[0] for row in rows]


async def test_a_goal_has_everything_that_a_search_needs(clips: ClipStore) -> None:
    await clips.save_aliases(40, "Liverpool", ["Liverpool", "LFC"], NOW)
    goal = await clips.goal(GOAL)
    assert goal.is_confirmed
    assert team_search_names(goal, goal.side) == ("Liverpool", "LFC")
    assert goal.expectation.names == ("Liverpool", "Manchester City")
    assert str(goal.expectation.minute) == "23'"
    with pytest.raises(NotFound):
        await clips.goal("5000_40_8_Goal_1")


async def test_a_search_that_is_repeated_takes_the_same_posts(clips: ClipStore) -> None:
    first = await record_search(clips, 1, post("a"), post("b"))
    assert first == ["bluesky:a", "bluesky:b"]
    assert await record_search(clips, 1, post("a"), post("b"), post("c")) == first


async def test_a_post_is_used_once(clips: ClipStore) -> None:
    await record_search(clips, 1, post("a"))
    await clips.register_download(GOAL, download_workflow_id(GOAL, 1))
    assert await record_search(clips, 2, post("a"), post("b")) == ["bluesky:b"]


async def test_unselected_posts_wait_for_the_next_search_and_are_then_passed_over(
    clips: ClipStore, store: FixtureStore
) -> None:
    posts = [post("long", 30), post("short", 5), post("shorter", 4)]
    await clips.save_search(GOAL, 1, QUERY, [], posts, NOW)
    assert list(await clips.take_candidates(GOAL, 1, selecting(max_posts=1))) == ["bluesky:long"]
    await clips.register_download(GOAL, download_workflow_id(GOAL, 1))
    assert list(await clips.take_candidates(GOAL, 2, selecting(max_posts=1))) == ["bluesky:short"]
    await clips.register_download(GOAL, download_workflow_id(GOAL, 2))
    assert list(await clips.take_candidates(GOAL, 3, selecting(NOW + timedelta(minutes=4)))) == []
    candidates = {each["key"]: each for each in (await store.event(GOAL))["_discovered_videos"]}
    assert (candidates["bluesky:shorter"]["state"], candidates["bluesky:shorter"]["loss"]) == ("lost", "passed over")


async def test_posts_of_an_attempt_without_a_download_belong_to_the_next_one(clips: ClipStore) -> None:
    """The search activity took them and then failed, so no download knows them. Their age does not matter."""
    assert await record_search(clips, 1, post("a"), post("b")) == ["bluesky:a", "bluesky:b"]
    assert await record_search(clips, 2, post("c")) == ["bluesky:a", "bluesky:b", "bluesky:c"]
    await clips.register_download(GOAL, download_workflow_id(GOAL, 2))
    late = selecting(NOW + timedelta(minutes=4))
    assert list(await clips.take_candidates(GOAL, 3, late)) == []


async def test_each_source_of_each_search_is_remembered_with_its_answer(clips: ClipStore, store: FixtureStore) -> None:
    reports = [SourceReport("bluesky", 2), SourceReport("x", None, SourceRateLimited("wait"))]
    await clips.save_search(GOAL, 1, QUERY, reports, [], NOW)
    event = await store.event(GOAL)
    assert event["_search_query"] == "Seven (Liverpool OR LFC)"
    assert event["_twitter_aliases"] == ["Liverpool", "LFC"]
    assert event["_searches"][0]["sources"] == {
        "bluesky": {"found": 2},
        "x": {"error": {"class": "SourceRateLimited", "message": "wait"}},
    }


async def test_each_search_is_published_once(clips: ClipStore, store: FixtureStore) -> None:
    failed = SourceReport("x", None, SourceRateLimited("wait"))
    answers = [(1, [SourceReport("bluesky", 2), failed]), (1, [SourceReport("bluesky", 3)]), (2, [failed]), (3, [])]
    for attempt, reports in answers:
        await clips.save_search(GOAL, attempt, QUERY, reports, [], NOW)
    await store.database.fetch(OUTBOX_SQL["place"])
    told = [
        row for row in await store.database.fetch(OUTBOX_SQL["since"], after=0, limit=100) if "searched" in row["topic"]
    ]
    assert [(row["fixture_id"], row["event_id"]) for row in told] == [(5000, GOAL)] * 3
    assert [tuple(row["payload"][name] for name in ("attempt", "found")) for row in told] == [(1, 2), (2, 0), (3, 0)]


async def test_a_file_becomes_a_clip(clips: ClipStore, store: FixtureStore, database_url: str) -> None:
    (key,) = await record_search(clips, 1, post("a"))
    name = await add_hashed_file(clips, "a", key, fingerprint("goal"))
    await uploaded(clips)
    assert await shown(store) == [(name, 1, 1)]
    assert await topics(database_url) == ["clip.published", "clips.ranked"]
    video = (await store.event(GOAL))["_s3_videos"][0]
    assert video["_s3_key"] == f"5000/{GOAL}/{name}.mp4"
    assert video["timestamp_verified"]
    assert video["source_url"] == "https://example.invalid/a"


async def test_a_clip_document_has_the_seeds_link_and_hash_fields(clips: ClipStore, store: FixtureStore) -> None:
    (key,) = await record_search(clips, 1, post("a"))
    hashes = fingerprint("goal")
    with_gap = Fingerprint(np.delete(hashes.places, [3, 17]), np.delete(hashes.hashes, [3, 17]))
    await add_hashed_file(clips, "a", key, with_gap)
    await uploaded(clips)
    video = (await store.event(GOAL))["_s3_videos"][0]
    assert (video["s3_url"], video["hash_version"]) == (f"/v/{video['id']}", "dense/1")
    assert video["perceptual_hash"] == with_gap.to_text()


async def test_a_goal_is_watching_as_soon_as_it_has_a_clip(clips: ClipStore, store: FixtureStore) -> None:
    async def status() -> tuple[str, str]:
        recorded = await OperationsStore(store.database).facts(NOW)
        return (await store.event(GOAL))["status"], recorded.goals[0].status

    key, _ = await record_search(clips, 1, post("a"), post("b"))
    assert await status() == ("extracting", "extracting")
    await add_hashed_file(clips, "a", key, fingerprint("goal"))
    await uploaded(clips)
    assert (await clips.open_work(GOAL)).downloading == 1
    assert await status() == ("watching", "watching")


async def test_a_batch_that_is_delivered_twice_changes_nothing(
    clips: ClipStore, store: FixtureStore, database_url: str
) -> None:
    (key,) = await record_search(clips, 1, post("a"))
    await add_hashed_file(clips, "a", key, fingerprint("goal"))
    await uploaded(clips)
    before, news = await store.event(GOAL), await topics(database_url)
    await uploaded(clips)
    assert await store.event(GOAL) == before
    assert await topics(database_url) == news


async def test_copies_are_merged_into_the_best_and_their_posts_counted(
    clips: ClipStore, store: FixtureStore, database_url: str
) -> None:
    one, two, three = await record_search(clips, 1, post("a"), post("b"), post("c"))
    small = await add_hashed_file(clips, "small", one, fingerprint("goal", 0), file_size=100)
    await uploaded(clips)
    large = await add_hashed_file(clips, "large", two, fingerprint("goal", 2), file_size=300)
    await clips.add_video(GOAL, three, small, None, NOW)  # the same file again, by another post
    await uploaded(clips)
    assert await shown(store) == [(large, 1, 3)]
    copy = (await store.event(GOAL))["_s3_videos"][0]["copies"][0]
    assert (copy["md5"], copy["offset_seconds"], copy["mirrored"]) == (small, -2.0, False)
    assert (await topics(database_url))[2:] == ["clip.published", "clip.replaced", "clips.ranked"]
    states = {each["key"]: each["state"] for each in (await store.event(GOAL))["_discovered_videos"]}
    assert states == {one: "duplicate", two: "kept", three: "duplicate"}


async def test_a_chain_of_redirects_leads_to_the_current_clip(clips: ClipStore, store: FixtureStore) -> None:
    keys = await record_search(clips, 1, post("a"), post("b"), post("c"))
    for number, (key, start) in enumerate(zip(keys, (0, 1, 3), strict=True)):
        await add_hashed_file(clips, f"v{number}", key, fingerprint("goal", start), file_size=100 * (number + 1))
        await uploaded(clips)
    (clip,) = (await store.event(GOAL))["_s3_videos"]
    assert clip["md5"] == md5("v2")
    assert clip["popularity"] == 3
    assert {copy["md5"]: copy["offset_seconds"] for copy in clip["copies"]} == {md5("v0"): -3.0, md5("v1"): -2.0}


async def test_verified_and_unverified_copies_of_one_moment_stay_apart(clips: ClipStore, store: FixtureStore) -> None:
    one, two = await record_search(clips, 1, post("a"), post("b"))
    proved = await add_hashed_file(clips, "proved", one, fingerprint("goal"), file_size=10)
    other = await add_hashed_file(
        clips, "other", two, fingerprint("goal"), file_size=9999, status=VerificationStatus.UNVERIFIED
    )
    await uploaded(clips)
    assert await shown(store) == [(proved, 1, 1), (other, 2, 1)]


async def test_a_rejected_file_sets_the_reason_of_each_post(clips: ClipStore, store: FixtureStore) -> None:
    one, two = await record_search(clips, 1, post("a"), post("b"))
    rejected = Verification(VerificationStatus.REJECTED, 67, VerificationReason.WRONG_MINUTE, None)
    for key in (one, two):
        await clips.add_video(GOAL, key, md5("wrong"), info(), NOW)
    await clips.reject_video(GOAL, md5("wrong"), RejectionReason.WRONG_MINUTE, "the clock says 67'", rejected)
    candidates = (await store.event(GOAL))["_discovered_videos"]
    assert [(each["state"], each["loss"], each["loss_detail"]) for each in candidates] == [
        ("lost", "wrong minute", "the clock says 67'")
    ] * 2


async def test_a_late_rejection_does_not_touch_a_published_clip(clips: ClipStore, store: FixtureStore) -> None:
    """The activity that gave up on a clip may be slower than another attempt that published it."""
    (key,) = await record_search(clips, 1, post("a"))
    name = await add_hashed_file(clips, "a", key, fingerprint("goal"))
    await uploaded(clips)
    for reason in (RejectionReason.FAILED, RejectionReason.NOT_CHECKED, RejectionReason.WRONG_MINUTE):
        await clips.reject_video(GOAL, name, reason, "too late", verification(VerificationStatus.REJECTED))
    await clips.reject_candidate(GOAL, key, RejectionReason.FAILED, "too late")
    event = await store.event(GOAL)
    assert [(each["state"], each["loss"]) for each in event["_discovered_videos"]] == [("kept", None)]
    assert [video["timestamp_status"] for video in event["_s3_videos"]] == ["verified"]


async def test_a_withdrawn_goal_takes_its_clips_with_it(clips: ClipStore, store: FixtureStore) -> None:
    one, two = await record_search(clips, 1, post("a"), post("b"))
    await add_hashed_file(clips, "a", one, fingerprint("goal"))
    await uploaded(clips)
    await add_hashed_file(clips, "b", two, fingerprint("other"))
    await withdraw_goal(store)
    assert not await clips.settle(GOAL, [], NOW), "nothing is added to a goal that does not count"
    await clips.close(GOAL, "withdrawn")
    event = await store.event(GOAL)
    assert event["_s3_videos"] == []
    assert event["_download_complete"]
    assert {each["key"]: each["loss"] for each in event["_discovered_videos"]} == {one: None, two: "withdrawn"}
    assert await clips.clips() == []


async def test_closing_sets_a_reason_for_open_work(clips: ClipStore, store: FixtureStore) -> None:
    keys = await record_search(clips, 1, *(post(name, duration) for duration, name in enumerate("abcdef", start=10)))
    await clips.add_video(GOAL, keys[0], md5("staged"), info(), NOW)
    await add_hashed_file(clips, "hashed", keys[1], fingerprint("goal"))
    assert (await clips.open_work(GOAL)).any
    await clips.close(GOAL, "time is over")
    assert not (await clips.open_work(GOAL)).any
    reasons = sorted(each["loss"] for each in (await store.event(GOAL))["_discovered_videos"])
    assert reasons == ["failed"] * 4 + ["not checked", "passed over"]


async def test_a_search_that_fell_silent_is_started_again(clips: ClipStore, store: FixtureStore) -> None:
    await clips.touch(GOAL, NOW)
    assert await store.events_to_search(NOW - timedelta(minutes=10)) == []
    assert await store.events_to_search(NOW + timedelta(seconds=1)) == [GOAL]
    await clips.close(GOAL, "")
    assert await store.events_to_search(NOW + timedelta(days=1)) == []


async def test_teams_without_names_come_once_each(clips: ClipStore) -> None:
    assert [team.id for team in await clips.teams_without_aliases(10)] == [40, 50]
    await clips.save_aliases(40, "Liverpool", ["LFC"], NOW)
    assert [(team.id, team.name) for team in await clips.teams_without_aliases(10)] == [(50, "Manchester City")]
    assert await clips.aliases([40, 50]) == {40: ("LFC",)}


async def test_coverage_counts_goals_with_clips(clips: ClipStore, store: FixtureStore) -> None:
    (key,) = await record_search(clips, 1, post("a"))
    await add_hashed_file(clips, "a", key, fingerprint("goal"))
    await uploaded(clips)
    (match,) = await store.coverage([5000])
    assert (match.goals, match.with_clips, match.verified) == (1, 1, 1)
    assert match.median_seconds == match.longest_seconds
    assert match.median_seconds is not None


async def test_clips_can_be_listed(clips: ClipStore) -> None:
    keys = await record_search(clips, 1, post("a"), post("b"))
    await add_hashed_file(clips, "a", keys[0], fingerprint("goal"))
    await add_hashed_file(clips, "b", keys[1], fingerprint("other"), status=VerificationStatus.UNVERIFIED)
    await uploaded(clips)

    async def names(**filters: Any) -> list[str]:
        return [clip["md5"] for clip in await clips.clips(**filters)]

    assert await names() == [md5("a"), md5("b")]
    assert await names(fixture=5000, event=GOAL, verified=True) == [md5("a")]
    assert await names(fixture=1) == []


async def test_pictures_of_three_fixtures_are_common_and_merge_nothing(
    clips: ClipStore, store: FixtureStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ident = fingerprint("ident", 0, 5)
    keys = await record_search(clips, 1, post("a"), post("b"))
    for name, key in zip(("one", "other"), keys, strict=True):
        hashes = np.concatenate([ident.hashes, fingerprint(name, 0, 4).hashes])
        await add_hashed_file(clips, name, key, Fingerprint(np.arange(hashes.size), hashes))
    assert (await clips.common_frames()).size == 0
    elsewhere = "insert into frame_sightings (hash, fixture_id) select hash, %(fixture)s from frame_sightings"
    for fixture in (-1, -2):
        await store.database.fetch(
            f"{elsewhere} where hash = any(%(ident)s) on conflict do nothing",  # type: ignore[arg-type]
            fixture=fixture,
            ident=ident.hashes.view(np.int64).tolist(),
        )
    assert set((await clips.common_frames()).tolist()) == set(ident.hashes.tolist())
    await uploaded(clips)
    assert len(await shown(store)) == 2

    monkeypatch.setattr("found_footy.clips.store.MAX_SIGHTINGS", 10)
    await clips.save_fingerprint(GOAL, md5("one"), fingerprint("more", 0, 1))
    (count,) = await store.database.fetch("select count(*) from frame_sightings")  # type: ignore[arg-type]
    assert count["count"] <= 100, "the oldest gave way"
