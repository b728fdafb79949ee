"""What became of the posts of each goal, held against what the simulator posted. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from found_footy.simulator.clip_outcomes import AnyMatch, Outcome, ends_right, expected, goal_name
from found_footy.simulator.clips.plan import clips_for
from found_footy.simulator.clips.spec import ClipSpec
from found_footy.simulator.clips.truth import seconds_in_common, truth_of
from found_footy.simulator.cricket_script import CricketMatch
from found_footy.simulator.ground_truth import TrueGoal
from found_footy.simulator.known_matches import place
from found_footy.simulator.script import Match, Scenario
from found_footy.simulator.truth import truth
from found_footy.simulator.verdict import Mismatch

Document = Mapping[str, Any]
ClipOf = Callable[[str, str], ClipSpec | None]
"""Of a source and a post's id there; what the simulator's `clip_of` tells."""

ENOUGH_SECONDS = 3.0
"""Two clips that share as much of a broadcast are the same to anybody."""
TURNED_OR_CUT = ("mirrored", "crop", "no_clock")
"""Alterations after which the picture is another one, and staying apart is no fault; see docs/reference/accuracy.md."""
PASSED_OVER = "passed over"


@dataclass(frozen=True, slots=True)
class ClipVerdict:
    goals: int
    """Stable goals of which something was posted."""
    videos: int
    """Published for them."""
    verified: int
    duplicates: int
    """Posts that were kept and show what another one shows."""
    refused: Mapping[str, int]
    """By the reason."""
    mismatches: tuple[Mismatch, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Candidate:
    key: str
    clip: ClipSpec | None
    outcome: Outcome
    video: str | None
    """The one that it ended in."""


def judge_clips(scenario: Scenario, documents: Sequence[Document], clip_of: ClipOf) -> ClipVerdict:
    """`documents` are fixtures whose events carry `_discovered_videos` and `_s3_videos`.

    A withdrawn goal is only to be removed, which `verdict.judge` looks at.
    """
    script = truth(scenario)
    known = place(script, documents).of
    told = {match.id: match.goals for match in script.matches}
    goals, mismatches, events = 0, [], []
    for match in scenario.all_matches:
        stable = [(number, goal) for number, goal in _in_file_order(match, told[match.id]) if goal.state == "stable"]
        for number, goal in stable:
            clips = clips_for(scenario, match.id, number)
            event = _event_of(known.get(match.id), goal)
            goals += bool(clips)
            if event is not None:
                events.append(event)
                mismatches += _Goal(match, number, clips, event, clip_of).mismatches()
            elif clips:
                mismatches.append(Mismatch(match.id, "clips", goal_name(match, number), "no such goal"))
    videos = [video for event in events for video in event["_s3_videos"]]
    posts = [post for event in events for post in event["_discovered_videos"]]
    kept = {key for video in videos for key in video["source_posts"]}
    return ClipVerdict(
        goals=goals,
        videos=len(videos),
        verified=sum(bool(video["timestamp_verified"]) for video in videos),
        duplicates=len(kept) - len(videos),
        refused=dict(Counter(post["loss"] for post in posts if post["loss"])),
        mismatches=tuple(mismatches),
    )


def _in_file_order(match: AnyMatch, goals: Sequence[TrueGoal]) -> Iterator[tuple[int, TrueGoal]]:
    """The truth lists goals by their minute, as the feed has it in the end; the file as it likes.

    Wickets are counted in the order in which they fall.
    """
    if isinstance(match, CricketMatch):
        return iter(enumerate(goals))
    order = sorted(range(len(match.goals)), key=lambda number: _final_minute(match, number))
    return zip(order, goals, strict=True)


def _final_minute(match: Match, number: int) -> tuple[int, int]:
    goal = match.goals[number]
    minutes = [goal.minute, *(change.minute for change in goal.changes if change.minute)]
    return minutes[-1].order


def _event_of(document: Document | None, goal: TrueGoal) -> Document | None:
    """By the score after it, which no two stable goals of a match share."""
    for event in () if document is None else document["events"]:
        after = event["_score_after"]
        if not event["_removed"] and (after["home"], after["away"]) == goal.score_after:
            return dict(event)
    return None


class _Goal:
    """One goal that stands, its posts, and the event that a consumer has of it."""

    def __init__(
        self, match: AnyMatch, number: int, clips: Sequence[ClipSpec], event: Document, clip_of: ClipOf
    ) -> None:
        self._match, self._number, self._clips = match, number, clips
        self._name = goal_name(match, number)
        self._videos = sorted(event["_s3_videos"], key=lambda video: video["rank"])
        self._candidates = [self._candidate(post, clip_of) for post in event["_discovered_videos"]]

    def mismatches(self) -> list[Mismatch]:
        found = [*self._outcomes(), *self._missing(), *self._apart(), *self._thrown_together(), *self._ranks()]
        return [Mismatch(self._match.id, what, f"{self._name}: {want}", got) for what, want, got in found]

    def _candidate(self, post: Document, clip_of: ClipOf) -> _Candidate:
        source, _, post_id = post["key"].partition(":")
        video = next((video for video in self._videos if post["key"] in video["source_posts"]), None)
        if post["loss"] or video is None:
            outcome = Outcome(post["loss"] or f"neither kept nor lost, but {post['state']}", kept=False)
        else:
            outcome = Outcome("verified" if video["timestamp_verified"] else "unverified", kept=True)
        return _Candidate(post["key"], clip_of(source, post_id), outcome, video["md5"] if video else None)

    def _outcomes(self) -> Iterator[tuple[str, str, str]]:
        for candidate in self._candidates:
            clip, got = candidate.clip, f"{candidate.outcome.text} ({candidate.key})"
            if clip is None:
                yield "post", "nothing but its clips", got
            elif candidate.outcome.text != PASSED_OVER and not ends_right(
                clip, self._match, self._number, candidate.outcome
            ):
                yield "clip", expected(clip, self._match, self._number), got

    def _missing(self) -> Iterator[tuple[str, str, str]]:
        for clip in self._clips:
            ends = [candidate.outcome.text for candidate in self._candidates if candidate.clip == clip]
            if not ends:
                yield "clip", expected(clip, self._match, self._number), "not found"
            elif set(ends) == {PASSED_OVER}:
                yield "clip", expected(clip, self._match, self._number), PASSED_OVER
        clear = any(truth_of(clip).verdict == "verified" and truth_of(clip).clock == "clear" for clip in self._clips)
        if clear and not any(video["timestamp_verified"] for video in self._videos):
            yield "video", "at least one that is verified", "none"

    def _kept_pairs(self) -> Iterator[tuple[_Candidate, _Candidate, ClipSpec, ClipSpec]]:
        kept = [candidate for candidate in self._candidates if candidate.outcome.kept]
        for one, other in combinations(kept, 2):
            if one.clip is not None and other.clip is not None:
                yield one, other, one.clip, other.clip

    def _apart(self) -> Iterator[tuple[str, str, str]]:
        for one, other, clip, twin in self._kept_pairs():
            hard = any(name in TURNED_OR_CUT for each in (clip, twin) for name in each.also) and clip != twin
            shared = seconds_in_common(truth_of(clip), truth_of(twin))
            if one.video != other.video and one.outcome == other.outcome and shared >= ENOUGH_SECONDS and not hard:
                yield "duplicate", f"one video of {one.key} and {other.key}, which share {shared:.1f} s", "two"

    def _thrown_together(self) -> Iterator[tuple[str, str, str]]:
        for one, other, clip, twin in self._kept_pairs():
            if one.video == other.video and seconds_in_common(truth_of(clip), truth_of(twin)) == 0:
                yield "duplicate", f"two videos of {one.key} and {other.key}, which share nothing", "one"

    def _ranks(self) -> Iterator[tuple[str, str, str]]:
        ranks = [video["rank"] for video in self._videos]
        if ranks != list(range(1, len(ranks) + 1)):
            yield "ranks", f"1 to {len(ranks)}", ", ".join(map(str, ranks))
        worth = [(not v["timestamp_verified"], -v["popularity"], -v["file_size"]) for v in self._videos]
        if worth != sorted(worth):
            order = ", ".join(f"{v['md5'][:8]} {v['popularity']}× {v['file_size']} B" for v in self._videos)
            yield "ranks", "verified ones first, then the popular, then the large", order
        for name, times in Counter(video["md5"] for video in self._videos).items():
            if times > 1:
                yield "video", "each file once", f"{name} {times} times"
