"""The verdict on clips passes a perfect consumer, and names each fault of another."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from social_helpers import scenario_with

from footy_simulator.checks import AnyMatch, ClipReport, allowed_rejections, check_clips, expected
from footy_simulator.clips.models import ClipSpec
from footy_simulator.clips.plan import clips_for
from footy_simulator.clips.truth import clip_truth, seconds_in_common
from footy_simulator.loader import load_scenario
from footy_simulator.posts import PostTimeline, SocialPost
from footy_simulator.scenario import Scenario, ScriptedMatch
from footy_simulator.truth import expected_outcome

Documents = list[dict[str, Any]]
GOALS: list[dict[str, Any]] = [
    {
        "minute": 20,
        "side": "home",
        "player": {"id": 1, "name": "A. Smith"},
        "clips": ["copy -2s 5s", "copy logo -2s 5s", "copy mirrored -2s 5s", "replay", "html", "gone", "endless"],
    },
    {"minute": 30, "side": "home", "player": {"id": 1, "name": "A. Smith"}, "cancelled_after": 4, "clips": ["copy"]},
    {"minute": 60, "side": "home", "player": {"id": 1, "name": "A. Smith"}, "clips": ["copy", "wrong_minute"]},
]
SCENARIO = scenario_with(goals=GOALS)


def published(scenario: Scenario) -> PostTimeline:
    feed = PostTimeline(scenario, lambda: math.inf)
    feed.notice()
    return feed


def perfect(scenario: Scenario, feed: PostTimeline) -> Documents:
    """What a consumer without fault has of a matchday, with X and without any mistake."""
    documents = []
    for match, told in zip(scenario.all_matches, expected_outcome(scenario).matches, strict=True):
        stable = [goal for goal in told.goals if goal.state == "stable"]
        numbers = list(range(len(told.goals)))
        if isinstance(match, ScriptedMatch):
            numbers = [number for number, goal in enumerate(match.goals) if goal.cancelled_after is None]
        assert len(numbers) == len(stable), "listed by their minutes"
        events = [
            event_of(scenario, feed, match, number, goal.score_after)
            for number, goal in zip(numbers, stable, strict=True)
        ]
        documents.append({"_id": match.id, "events": events})
    return documents


def event_of(
    scenario: Scenario, feed: PostTimeline, match: AnyMatch, number: int, after: tuple[int, int] | None
) -> dict[str, Any]:
    assert after is not None
    videos: list[tuple[ClipSpec, dict[str, Any]]] = []
    found = []
    for post, clip in posts_of(feed, match.id, number):
        losses = sorted(allowed_rejections(clip, match, number))
        lost = clip_truth(clip).verdict == "rejected"
        key = key_of(post)
        found.append({"key": key, "state": "lost" if lost else "kept", "loss": losses[0] if lost else None})
        if not lost:
            put(videos, key, clip)
    listed = [video for _, video in videos]
    listed.sort(key=lambda v: (not v["timestamp_verified"], -v["popularity"], -v["file_size"]))
    for rank, video in enumerate(listed, start=1):
        video["rank"] = rank
    return {
        "_event_id": f"{match.id}_{number}",
        "_removed": False,
        "_score_after": {"home": after[0], "away": after[1]},
        "_s3_videos": listed,
        "_discovered_videos": found,
    }


def put(videos: list[tuple[ClipSpec, dict[str, Any]]], key: str, clip: ClipSpec) -> None:
    shown = clip_truth(clip)
    for other, video in videos:
        same_pool = video["timestamp_verified"] == (shown.verdict == "verified")
        if same_pool and seconds_in_common(clip_truth(other), shown) >= 3:
            video["source_posts"].append(key)
            video["popularity"] += 1
            return
    video = {
        "md5": f"{len(videos)}-{clip.key}",
        "rank": 0,
        "popularity": 1,
        "timestamp_verified": shown.verdict == "verified",
        "file_size": 1000 * clip.kbit,
        "duration": clip.length,
        "source_posts": [key],
    }
    videos.append((clip, video))


def posts_of(feed: PostTimeline, match: int, goal: int) -> list[tuple[SocialPost, ClipSpec]]:
    found = []
    for platform in ("x", "bluesky", "reddit"):
        for post in feed.posts_of(platform):
            clip = feed.clip_of(platform, post.id)
            if clip is not None and (clip.match, clip.goal) == (match, goal):
                found.append((post, clip))
    return found


def key_of(post: SocialPost) -> str:
    return f"bluesky:did:plc:abc/{post.id}" if post.platform == "bluesky" else f"{post.platform}:{post.id}"


FEED = published(SCENARIO)
PERFECT = perfect(SCENARIO, FEED)


def judged(documents: Documents) -> ClipReport:
    return check_clips(SCENARIO, documents, FEED.clip_of)


def key(kind: str, also: str | None = None, goal: int = 0, platform: str = "x") -> str:
    for post, clip in posts_of(FEED, 5001, goal):
        if clip.kind == kind and clip.also == ((also,) if also else ()) and post.platform == platform:
            return key_of(post)
    raise AssertionError(kind)


def candidate(event: dict[str, Any], wanted: str) -> dict[str, Any]:
    return next(post for post in event["_discovered_videos"] if post["key"] == wanted)


def video_of(event: dict[str, Any], wanted: str) -> dict[str, Any]:
    return next(video for video in event["_s3_videos"] if wanted in video["source_posts"])


@pytest.mark.parametrize("name", ["matchday", "quick"])
def test_a_perfect_consumer_is_passed(name: str) -> None:
    scenario = load_scenario(name)
    feed = published(scenario)
    verdict = check_clips(scenario, perfect(scenario, feed), feed.clip_of)
    assert verdict.mismatches == ()
    assert 0 < verdict.verified <= verdict.videos
    assert verdict.goals == {"matchday": 23 + 6, "quick": 4 + 4}[name]


def test_the_counts() -> None:
    verdict = judged(PERFECT)
    assert verdict.mismatches == ()
    assert (verdict.goals, verdict.videos, verdict.verified) == (2, 4, 2)
    assert verdict.duplicates == 11 - 4, "four clips and another one, each posted twice, and one linked as a mirror"
    assert verdict.refused == {"not a video": 2, "gone": 2, "too large": 2, "wrong minute": 2}
    assert json.loads(json.dumps(verdict.to_json()))["mismatches"] == []


def test_without_a_browser_every_clip_counts_as_found_by_its_other_post() -> None:
    documents = copy.deepcopy(PERFECT)
    for event in documents[0]["events"]:
        event["_discovered_videos"] = [p for p in event["_discovered_videos"] if not p["key"].startswith("x:")]
        for video in event["_s3_videos"]:
            video["source_posts"] = [key for key in video["source_posts"] if not key.startswith("x:")]
    assert judged(documents).mismatches == ()


def lose(event: dict[str, Any]) -> None:
    wanted = key("copy")
    candidate(event, wanted).update(state="lost", loss="wrong minute")
    video_of(event, wanted)["source_posts"].remove(wanted)


def keep_what_is_gone(event: dict[str, Any]) -> None:
    candidate(event, key("gone")).update(state="kept", loss=None)
    event["_s3_videos"][0]["source_posts"].append(key("gone"))


def refuse_for_another_reason(event: dict[str, Any]) -> None:
    candidate(event, key("html"))["loss"] = "broken"


def leave_unfinished(event: dict[str, Any]) -> None:
    candidate(event, key("html")).update(state="downloading", loss=None)


def find_too_little(event: dict[str, Any]) -> None:
    wanted = [key("html"), key("html", platform="bluesky")]
    event["_discovered_videos"] = [post for post in event["_discovered_videos"] if post["key"] not in wanted]


def pass_over(event: dict[str, Any]) -> None:
    for platform in ("x", "bluesky"):
        candidate(event, key("html", platform=platform))["loss"] = "passed over"


def verify_a_replay(event: dict[str, Any]) -> None:
    video_of(event, key("replay"))["timestamp_verified"] = True
    event["_s3_videos"].sort(key=lambda v: (not v["timestamp_verified"], -v["popularity"], -v["file_size"]))
    for rank, video in enumerate(event["_s3_videos"], start=1):
        video["rank"] = rank


def verify_nothing(event: dict[str, Any]) -> None:
    for video in event["_s3_videos"]:
        video["timestamp_verified"] = False


def keep_a_duplicate(event: dict[str, Any]) -> None:
    wanted = key("copy", "logo")
    video = video_of(event, wanted)
    video["source_posts"].remove(wanted)
    apart = {**video, "md5": "another", "source_posts": [wanted], "popularity": 0, "file_size": 0}
    event["_s3_videos"].insert(1, apart)
    for rank, each in enumerate(event["_s3_videos"], start=1):
        each["rank"] = rank


def throw_together(event: dict[str, Any]) -> None:
    replay, mirrored = video_of(event, key("replay")), video_of(event, key("copy", "mirrored"))
    mirrored["source_posts"] += replay["source_posts"]
    event["_s3_videos"].remove(replay)
    for rank, each in enumerate(event["_s3_videos"], start=1):
        each["rank"] = rank


def rank_twice(event: dict[str, Any]) -> None:
    event["_s3_videos"][1]["rank"] = 1


def rank_wrongly(event: dict[str, Any]) -> None:
    first, second = event["_s3_videos"][:2]
    first["rank"], second["rank"] = 2, 1


def take_a_stranger(event: dict[str, Any]) -> None:
    memory = next(post for post in FEED.posts_of("x") if "memory" in post.media)
    event["_discovered_videos"].append({"key": key_of(memory), "state": "lost", "loss": "gone"})


def publish_twice(event: dict[str, Any]) -> None:
    twin = {**event["_s3_videos"][-1], "rank": len(event["_s3_videos"]) + 1, "source_posts": []}
    event["_s3_videos"].append(twin)


@pytest.mark.parametrize(
    ("spoil", "what", "want", "got"),
    [
        (lose, "clip", "copy (clip 1) verified", "wrong minute (x:"),
        (keep_what_is_gone, "clip", "gone (clip 6) gone", "verified (x:"),
        (refuse_for_another_reason, "clip", "html (clip 5) not a video", "broken (x:"),
        (leave_unfinished, "clip", "html (clip 5) not a video", "neither published nor rejected, but downloading"),
        (find_too_little, "clip", "html (clip 5) not a video", "not found"),
        (pass_over, "clip", "html (clip 5) not a video", "passed over"),
        (verify_a_replay, "clip", "replay (clip 4) unverified", "verified (x:"),
        (verify_nothing, "video", "at least one verified clip", "none"),
        (keep_a_duplicate, "duplicate", "which share 5.0 s", "two"),
        (throw_together, "duplicate", "which share no footage", "one"),
        (rank_twice, "ranks", "1 to 3", "1, 1, 3"),
        (rank_wrongly, "ranks", "verified ones first", "×"),
        (take_a_stranger, "post", "only posts with its clips", "gone (x:"),
        (publish_twice, "video", "each file once", "2 times"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_fault_is_named(spoil: Callable[[dict[str, Any]], None], what: str, want: str, got: str) -> None:
    documents = copy.deepcopy(PERFECT)
    spoil(documents[0]["events"][0])
    found = judged(documents).mismatches
    assert {mismatch.match for mismatch in found} == {5001}
    assert any(m.what == what and want in m.expected and got in m.got for m in found), found
    assert all(m.expected.startswith("1-0 20': ") for m in found)


def test_a_goal_that_is_not_there_is_named() -> None:
    documents = copy.deepcopy(PERFECT)
    documents[0]["events"].pop()
    [mismatch] = judged(documents).mismatches
    assert (mismatch.what, mismatch.expected, mismatch.got) == ("clips", "2-0 60'", "no such goal")
    assert len(judged([]).mismatches) == 2


def test_of_a_withdrawn_goal_nothing_is_judged() -> None:
    documents = copy.deepcopy(PERFECT)
    removed = {**copy.deepcopy(documents[0]["events"][0]), "_removed": True, "_discovered_videos": [], "_s3_videos": []}
    documents[0]["events"].append(removed)
    assert judged(documents).mismatches == ()


@pytest.mark.parametrize(
    ("loss", "right"), [("wrong minute", True), ("other match", True), ("not soccer", False), (None, False)]
)
def test_a_clip_of_another_goal_of_the_same_player_is_refused_by_its_clock(loss: str | None, right: bool) -> None:
    documents = copy.deepcopy(PERFECT)
    event = documents[0]["events"][1]
    foreign = key("copy", goal=1)
    event["_discovered_videos"].append({"key": foreign, "state": "lost" if loss else "kept", "loss": loss})
    if loss is None:
        event["_s3_videos"][0]["source_posts"].append(foreign)
    found = [mismatch for mismatch in judged(documents).mismatches if mismatch.what == "clip"]
    assert (found == []) is right
    assert all("copy (clip 1 of 5001 goal 2) other match or wrong minute" in mismatch.expected for mismatch in found)


def test_a_clip_of_another_goal_without_a_clock_may_be_accepted() -> None:
    documents = copy.deepcopy(PERFECT)
    event = documents[0]["events"][1]
    foreign = key("replay")
    event["_discovered_videos"].append({"key": foreign, "state": "kept", "loss": None})
    event["_s3_videos"].append(
        {"md5": "r", "rank": 2, "popularity": 1, "timestamp_verified": False, "file_size": 1, "source_posts": [foreign]}
    )
    assert judged(documents).mismatches == ()


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        ("copy", "verified"),
        ("copy mirrored", "unverified"),
        ("copy no_clock", "unverified or not soccer"),
        ("replay", "unverified"),
        ("wrong_minute", "wrong minute"),
        ("last_season", "unverified"),
        ("other_match", "other match"),
        ("studio", "not soccer"),
        ("filmed", "filmed screen"),
        ("portrait", "portrait"),
        ("too_short", "too short"),
        ("too_long", "too long"),
        ("truncated", "broken"),
        ("zip", "not a video"),
        ("gone", "gone"),
        ("geo_blocked", "geo-blocked"),
        ("private", "private"),
        ("loopback", "forbidden address"),
        ("redirect_private", "forbidden address"),
        ("endless", "too large or too slow"),
        ("huge", "too large"),
        ("drip", "too slow"),
    ],
)
def test_outcome_of_each_kind(line: str, ends: str) -> None:
    scenario = scenario_with(line)
    [clip] = clips_for(scenario, 5001, 0)
    assert expected(clip, scenario.matches[0], 0) == f"{line} (clip 1) {ends}"
