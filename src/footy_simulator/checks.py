"""Compare what a consumer stored with the script: fixtures and goals first, then the outcome of every posted clip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from footy_simulator.clips.models import ClipSpec, ExpectedRejection, PostKind
from footy_simulator.clips.plan import clips_for, fallen_of, final_minute, goal_footage, wicket_footage
from footy_simulator.clips.truth import ClipTruth, clip_truth, seconds_in_common
from footy_simulator.expectations import ExpectedEvent, ExpectedMatch, ExpectedOutcome
from footy_simulator.scenario import BALLS_PER_OVER, Scenario, ScriptedCricketMatch, ScriptedMatch
from footy_simulator.truth import expected_outcome
from found_footy.clips.models import RejectionReason
from found_footy.fixtures.models import WICKET

TOLERANCE = 4
"""Minutes. A clock this close may be taken for the goal's, so either result is accepted."""
BALL_TOLERANCE = BALLS_PER_OVER + 2
"""Balls. The same for a wicket."""

AnyMatch = ScriptedMatch | ScriptedCricketMatch

_REJECTIONS: dict[ExpectedRejection, frozenset[RejectionReason]] = {
    "wrong_minute": frozenset({RejectionReason.WRONG_MINUTE}),
    "other_match": frozenset({RejectionReason.OTHER_MATCH}),
    "not_soccer": frozenset({RejectionReason.NOT_SOCCER}),
    "filmed_screen": frozenset({RejectionReason.FILMED_SCREEN}),
    "portrait": frozenset({RejectionReason.PORTRAIT}),
    "too_short": frozenset({RejectionReason.TOO_SHORT}),
    "too_long": frozenset({RejectionReason.TOO_LONG}),
    "broken": frozenset({RejectionReason.BROKEN}),
    "not_a_video": frozenset({RejectionReason.NOT_A_VIDEO}),
    "gone": frozenset({RejectionReason.GONE}),
    "geo_blocked": frozenset({RejectionReason.GEO_BLOCKED}),
    "private": frozenset({RejectionReason.PRIVATE}),
    "forbidden_address": frozenset({RejectionReason.FORBIDDEN_ADDRESS}),
    "too_large": frozenset({RejectionReason.TOO_LARGE}),
    "too_slow": frozenset({RejectionReason.TOO_SLOW}),
}
_CRICKET_REJECTIONS: dict[ExpectedRejection, frozenset[RejectionReason]] = {
    **_REJECTIONS,
    "wrong_minute": frozenset({RejectionReason.WRONG_OVER}),
    "not_soccer": frozenset({RejectionReason.NOT_CRICKET}),
}
_OTHER_MOMENT = frozenset({RejectionReason.WRONG_MINUTE, RejectionReason.WRONG_OVER, RejectionReason.OTHER_MATCH})
_GOAL_KINDS: frozenset[PostKind] = frozenset({"copy", "replay", "last_season"})
_CLOCK_REJECTIONS: frozenset[ExpectedRejection] = frozenset({"wrong_minute", "other_match"})


@dataclass(frozen=True, slots=True)
class ClipOutcome:
    text: str
    """`verified`, `unverified` or the rejection reason."""
    kept: bool


def is_expected(clip: ClipSpec, match: AnyMatch, goal: int, outcome: ClipOutcome) -> bool:
    """Whether a clip found by the search for this goal has an acceptable outcome."""
    if outcome.kept:
        return outcome.text in _pools(clip, match, goal)
    return outcome.text in allowed_rejections(clip, match, goal)


def expected(clip: ClipSpec, match: AnyMatch, goal: int) -> str:
    """The clip and its acceptable outcomes, for a mismatch."""
    ends = [*sorted(_pools(clip, match, goal), reverse=True), *sorted(allowed_rejections(clip, match, goal))]
    elsewhere = "" if (clip.match, clip.goal) == (match.id, goal) else f" of {clip.match} goal {clip.goal + 1}"
    return f"{' '.join((clip.kind, *clip.also))} (clip {clip.number + 1}{elsewhere}) {' or '.join(ends)}"


def goal_name(match: AnyMatch, goal: int) -> str:
    if isinstance(match, ScriptedCricketMatch):
        runs, wickets = wicket_footage(match, goal).after
        return f"{runs}-{wickets} {fallen_of(match)[goal].wicket.ball} ov"
    home, away = goal_footage(match, goal).after
    return f"{home}-{away} {match.goals[goal].minute}'"


def allowed_rejections(clip: ClipSpec, match: AnyMatch, goal: int) -> frozenset[str]:
    shown = clip_truth(clip)
    own = (clip.match, clip.goal) == (match.id, goal)
    if shown.reason is not None and (own or shown.reason not in _CLOCK_REJECTIONS):
        rejections = _CRICKET_REJECTIONS if isinstance(match, ScriptedCricketMatch) else _REJECTIONS
        return _endless(clip) or rejections[shown.reason]
    if not own:
        # Found by the search for another goal: its clock, where visible, proves that.
        return _OTHER_MOMENT | _cropped_rejections(clip, match)
    return _cropped_rejections(clip, match)


def _pools(clip: ClipSpec, match: AnyMatch, goal: int) -> frozenset[str]:
    """Pools in which the clip may be published; empty for one that must be rejected."""
    shown = clip_truth(clip)
    own = (clip.match, clip.goal) == (match.id, goal)
    if not own:
        if shown.clock == "clear" and not _is_clock_close(shown, match, goal):
            return frozenset()
        refused = shown.reason is not None and shown.reason not in _CLOCK_REJECTIONS
        return frozenset() if refused else frozenset({"verified", "unverified"})
    if clip.kind not in _GOAL_KINDS:
        return frozenset()
    return frozenset({shown.verdict, "unverified"}) if shown.clock == "hard" else frozenset({shown.verdict})


def _is_clock_close(shown: ClipTruth, match: AnyMatch, goal: int) -> bool:
    """Whether the clip's clock is close enough to be taken for the goal's."""
    if shown.match != match.id or shown.minutes is None:
        return False
    if isinstance(match, ScriptedCricketMatch):
        ball = fallen_of(match)[goal].wicket.ball.count
        return shown.minutes[0] - BALL_TOLERANCE <= ball <= shown.minutes[1] + BALL_TOLERANCE
    minute = final_minute(match.goals[goal]).played
    return shown.minutes[0] - TOLERANCE <= minute <= shown.minutes[1] + 1 + TOLERANCE


def _endless(clip: ClipSpec) -> frozenset[str]:
    """An endless response is too large or too slow, whichever limit is reached first."""
    return frozenset({RejectionReason.TOO_LARGE, RejectionReason.TOO_SLOW}) if clip.kind == "endless" else frozenset()


def _cropped_rejections(clip: ClipSpec, match: AnyMatch) -> frozenset[str]:
    """A crop that removes the scoreboard may leave too little pitch to recognise the sport."""
    rejection = RejectionReason.NOT_CRICKET if isinstance(match, ScriptedCricketMatch) else RejectionReason.NOT_SOCCER
    return frozenset({rejection}) if "no_clock" in clip.also else frozenset()


# --- Match documents with scripted matches.


Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MatchedDocuments:
    by_match: Mapping[int, Document]
    """Keyed by the scripted match's id."""
    duplicates: Sequence[tuple[Document, ExpectedMatch]] = ()
    """Further documents of a match that already has one."""
    unscripted: Sequence[Document] = ()


def match_documents(expected: ExpectedOutcome, documents: Sequence[Document]) -> MatchedDocuments:
    matches = {match.id: match for match in expected.matches}
    by_match = {document["_id"]: document for document in documents if document["_id"] in matches}
    duplicates: list[tuple[Document, ExpectedMatch]] = []
    unscripted: list[Document] = []
    for document in sorted((d for d in documents if d["_id"] not in by_match), key=_kickoff):
        same = [match for match in expected.matches if _describes(document, match)]
        free = next((match for match in same if match.id not in by_match), None)
        if free is not None:
            by_match[free.id] = document
        elif same:
            duplicates.append((document, same[0]))
        else:
            unscripted.append(document)
    return MatchedDocuments(by_match, duplicates, unscripted)


def _kickoff(document: Document) -> str:
    return str(document["fixture"]["date"])


def _describes(document: Document, match: ExpectedMatch) -> bool:
    teams = document["teams"]
    return (
        document.get("sport", "football") == match.sport
        and teams["home"]["name"] in (match.home, *match.home_also)
        and teams["away"]["name"] in (match.away, *match.away_also)
    )


# --- Fixtures and goals.


@dataclass(frozen=True, slots=True)
class Mismatch:
    match: int
    what: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class FixtureReport:
    matches: int
    goals: int
    wickets: int
    withdrawn: int
    unconfirmed: int
    """Goals that one feed reported briefly and that never became stable."""
    mismatches: tuple[Mismatch, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"mismatches": [asdict(mismatch) for mismatch in self.mismatches]}


def check_fixtures(expected: ExpectedOutcome, documents: Sequence[Document]) -> FixtureReport:
    """`documents` are fixtures in the shape of `footy fixtures --json`."""
    matched = match_documents(expected, documents)
    mismatches: list[Mismatch] = []
    unconfirmed = 0
    for match in expected.matches:
        document = matched.by_match.get(match.id)
        if document is None:
            mismatches.append(Mismatch(match.id, "match", f"{match.home} - {match.away}", "nothing"))
            continue
        goals = _check_goals(match, document["events"])
        mismatches += [*_check_match(match, document), *goals.mismatches]
        unconfirmed += goals.unconfirmed
    mismatches += [Mismatch(match.id, "match", "one", f"another: {d['_id']}") for d, match in matched.duplicates]
    mismatches += [Mismatch(d["_id"], "match", "none", "an unscripted match") for d in matched.unscripted]
    events = [event for document in documents for event in document["events"]]
    certain = [event["type"] == WICKET for event in events if _is_certain(event)]
    return FixtureReport(
        matches=len(documents),
        goals=certain.count(False),
        wickets=certain.count(True),
        withdrawn=sum(event["_removed"] for event in events) - unconfirmed,
        unconfirmed=unconfirmed,
        mismatches=tuple(mismatches),
    )


def has_settled(expected: ExpectedOutcome, documents: Sequence[Document]) -> bool:
    """Whether every match has reached its final stage; goals may still be wrong."""
    known = match_documents(expected, documents).by_match
    return all(match.id in known and known[match.id]["stage"] == match.stage for match in expected.matches)


def _check_match(match: ExpectedMatch, document: Document) -> list[Mismatch]:
    facts = {
        "stage": (match.stage, document["stage"]),
        "status": (match.status, document["fixture"]["status"]["short"]),
        "score": (_pair(match.score), _pair(_numbers(document["goals"]))),
        "penalties": (_pair(match.penalties), _pair(_numbers(document["score"]["penalty"]))),
    }
    return [Mismatch(match.id, what, want, got) for what, (want, got) in facts.items() if want != got]


@dataclass(frozen=True, slots=True)
class _GoalCheck:
    mismatches: list[Mismatch]
    unconfirmed: int


def _check_goals(match: ExpectedMatch, events: Sequence[Document]) -> _GoalCheck:
    """Each scripted goal exists once, under any spelling of its player's name, and no other goal exists."""
    rest = {event["_event_id"]: _event_line(event) for event in events}
    # A goal that one feed reported briefly and that was never counted is not a mismatch.
    unconfirmed = {event["_event_id"] for event in events if event["_removed"] and not event["_debounce_complete"]}
    what = "wicket" if match.goals and match.goals[0].type == WICKET else "goal"
    missing = []
    for goal in match.goals:
        lines = _expected_lines(goal)
        event_id = next((id_ for id_, line in rest.items() if line in lines), None)
        if event_id is None:
            missing.append(Mismatch(match.id, what, lines[0], "nothing"))
        else:
            del rest[event_id]
    invented = [Mismatch(match.id, what, "nothing", line) for id_, line in rest.items() if id_ not in unconfirmed]
    return _GoalCheck(missing + invented, len(rest) - len(invented))


def _expected_lines(goal: ExpectedEvent) -> list[str]:
    """One line for each spelling of the player's name, the script's own first."""
    minute = _minute(goal.elapsed, goal.extra, goal.innings)
    names = (goal.player, *goal.also)
    return [_line(goal.state, minute, goal.side, name, goal.kind, _pair(goal.score_after)) for name in names]


def _minute(elapsed: int, extra: int | None, innings: int | None) -> str:
    if innings is not None:
        return f"{elapsed}.{extra or 0} of innings {innings},"
    return f"{elapsed}+{extra}'" if extra else f"{elapsed}'"


def _event_line(event: Document) -> str:
    time = event["time"]
    minute = _minute(time["elapsed"], time["extra"], time.get("innings"))
    if event["_removed"]:
        state, after = "withdrawn", _pair(None)
    else:
        state = "stable" if _is_certain(event) else "uncertain"
        after = _pair(_numbers(event["_score_after"]))
    return _line(state, minute, event["_scoring_team"], event["player"]["name"], event["detail"], after)


def _line(state: str, minute: str, side: str, player: str | None, kind: str, after: str) -> str:
    return f"{state}: {minute} {side} {player or 'unknown'} ({kind}) {after}"


def _is_certain(event: Document) -> bool:
    return bool(event["_debounce_complete"] and event["_download_complete"] and not event["_removed"])


def _numbers(pair: Document) -> tuple[int, int] | None:
    return None if pair["home"] is None else (pair["home"], pair["away"])


def _pair(pair: tuple[int, int] | None) -> str:
    return "none" if pair is None else f"{pair[0]}-{pair[1]}"


# --- Clips.


ClipOf = Callable[[str, str], ClipSpec | None]
"""The posted clip by source and post id; see `Simulator.clip_of`."""

SAME_FOOTAGE_SECONDS = 3.0
"""Clips that share at least this much of a broadcast are duplicates."""
GEOMETRY_CHANGED = ("mirrored", "crop", "no_clock")
"""Alterations that change the geometry; not merging such copies is accepted (docs/reference/accuracy.md)."""
NOT_SELECTED = "passed over"


@dataclass(frozen=True, slots=True)
class ClipReport:
    goals: int
    """Stable goals with at least one posted clip."""
    videos: int
    """Clips published for them."""
    verified: int
    duplicates: int
    """Posts merged into another clip."""
    refused: Mapping[str, int]
    """Rejected candidates by reason."""
    mismatches: tuple[Mismatch, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _CandidateCheck:
    key: str
    clip: ClipSpec | None
    outcome: ClipOutcome
    video: str | None
    """MD5 of the published clip it became part of."""


def check_clips(scenario: Scenario, documents: Sequence[Document], clip_of: ClipOf) -> ClipReport:
    """`documents` are fixtures whose events carry `_discovered_videos` and `_s3_videos`.

    Withdrawn goals are covered by `check_fixtures`.
    """
    script = expected_outcome(scenario)
    known = match_documents(script, documents).by_match
    expected_goals = {match.id: match.goals for match in script.matches}
    goals, mismatches, events = 0, [], []
    for match in scenario.all_matches:
        stable = [
            (number, goal) for number, goal in _in_file_order(match, expected_goals[match.id]) if goal.state == "stable"
        ]
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
    return ClipReport(
        goals=goals,
        videos=len(videos),
        verified=sum(bool(video["timestamp_verified"]) for video in videos),
        duplicates=len(kept) - len(videos),
        refused=dict(Counter(post["loss"] for post in posts if post["loss"])),
        mismatches=tuple(mismatches),
    )


def _in_file_order(match: AnyMatch, goals: Sequence[ExpectedEvent]) -> Iterator[tuple[int, ExpectedEvent]]:
    """Pair each expected goal, which are sorted by final minute, with its index in the file.

    Wickets are numbered in the order in which they fall.
    """
    if isinstance(match, ScriptedCricketMatch):
        return iter(enumerate(goals))
    order = sorted(range(len(match.goals)), key=lambda number: _final_minute(match, number))
    return zip(order, goals, strict=True)


def _final_minute(match: ScriptedMatch, number: int) -> tuple[int, int]:
    goal = match.goals[number]
    minutes = [goal.minute, *(change.minute for change in goal.changes if change.minute)]
    return minutes[-1].order


def _event_of(document: Document | None, goal: ExpectedEvent) -> Document | None:
    """The event with the same score after it, which is unique among the stable goals of a match."""
    for event in () if document is None else document["events"]:
        after = event["_score_after"]
        if not event["_removed"] and (after["home"], after["away"]) == goal.score_after:
            return dict(event)
    return None


class _Goal:
    """Checks of one stable goal: its posts and the consumer's event."""

    def __init__(
        self, match: AnyMatch, number: int, clips: Sequence[ClipSpec], event: Document, clip_of: ClipOf
    ) -> None:
        self._match, self._number, self._clips = match, number, clips
        self._name = goal_name(match, number)
        self._videos = sorted(event["_s3_videos"], key=lambda video: video["rank"])
        self._candidates = [self._candidate(post, clip_of) for post in event["_discovered_videos"]]

    def mismatches(self) -> list[Mismatch]:
        found = [*self._outcomes(), *self._missing(), *self._not_merged(), *self._wrongly_merged(), *self._ranks()]
        return [Mismatch(self._match.id, what, f"{self._name}: {want}", got) for what, want, got in found]

    def _candidate(self, post: Document, clip_of: ClipOf) -> _CandidateCheck:
        source, _, post_id = post["key"].partition(":")
        video = next((video for video in self._videos if post["key"] in video["source_posts"]), None)
        if post["loss"] or video is None:
            outcome = ClipOutcome(post["loss"] or f"neither published nor rejected, but {post['state']}", kept=False)
        else:
            outcome = ClipOutcome("verified" if video["timestamp_verified"] else "unverified", kept=True)
        return _CandidateCheck(post["key"], clip_of(source, post_id), outcome, video["md5"] if video else None)

    def _outcomes(self) -> Iterator[tuple[str, str, str]]:
        for candidate in self._candidates:
            clip, got = candidate.clip, f"{candidate.outcome.text} ({candidate.key})"
            if clip is None:
                yield "post", "only posts with its clips", got
            elif candidate.outcome.text != NOT_SELECTED and not is_expected(
                clip, self._match, self._number, candidate.outcome
            ):
                yield "clip", expected(clip, self._match, self._number), got

    def _missing(self) -> Iterator[tuple[str, str, str]]:
        for clip in self._clips:
            ends = [candidate.outcome.text for candidate in self._candidates if candidate.clip == clip]
            if not ends:
                yield "clip", expected(clip, self._match, self._number), "not found"
            elif set(ends) == {NOT_SELECTED}:
                yield "clip", expected(clip, self._match, self._number), NOT_SELECTED
        clear = any(
            clip_truth(clip).verdict == "verified" and clip_truth(clip).clock == "clear" for clip in self._clips
        )
        if clear and not any(video["timestamp_verified"] for video in self._videos):
            yield "video", "at least one verified clip", "none"

    def _kept_pairs(self) -> Iterator[tuple[_CandidateCheck, _CandidateCheck, ClipSpec, ClipSpec]]:
        kept = [candidate for candidate in self._candidates if candidate.outcome.kept]
        for one, other in combinations(kept, 2):
            if one.clip is not None and other.clip is not None:
                yield one, other, one.clip, other.clip

    def _not_merged(self) -> Iterator[tuple[str, str, str]]:
        for one, other, clip, twin in self._kept_pairs():
            hard = any(name in GEOMETRY_CHANGED for each in (clip, twin) for name in each.also) and clip != twin
            shared = seconds_in_common(clip_truth(clip), clip_truth(twin))
            if (
                one.video != other.video
                and one.outcome == other.outcome
                and shared >= SAME_FOOTAGE_SECONDS
                and not hard
            ):
                yield "duplicate", f"one video of {one.key} and {other.key}, which share {shared:.1f} s", "two"

    def _wrongly_merged(self) -> Iterator[tuple[str, str, str]]:
        for one, other, clip, twin in self._kept_pairs():
            if one.video == other.video and seconds_in_common(clip_truth(clip), clip_truth(twin)) == 0:
                yield "duplicate", f"two videos of {one.key} and {other.key}, which share no footage", "one"

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
