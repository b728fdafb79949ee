"""Outcomes of matches, as recorded and as replayed, and their comparison."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from found_footy.feeds.alignment import ID_SPAN
from found_footy.fixtures.identity import order_goals
from found_footy.fixtures.models import LiveFixture, MatchMinute, Phase, Score, phase_of
from found_footy.recordings.models import RecordedSnapshot, Recording

Document = Mapping[str, Any]

STABLE, REMOVED, UNSTABLE = "certain", "withdrawn", "unsure"


@dataclass(frozen=True, slots=True)
class GoalOutcome:
    side: str
    player: str | None
    minute: str
    kind: str
    score: str
    """Score after the goal."""
    state: str
    id: str | None = None
    """Event id without the feed's offset; None if unknown, as in a feed's goal list."""
    polls: int | None = None
    """Polls that listed the goal until it was stable."""
    clips: tuple[str, ...] | None = None
    """MD5s of the kept files, best first."""
    rejections: Mapping[str, int] | None = None
    """Rejected posts by reason."""
    missing_files: int = 0
    """Recorded clips whose files no longer exist, so they cannot be compared."""

    @property
    def title(self) -> str:
        return f"{self.minute} {self.player or 'scorer unknown'} {self.score}"


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    id: int
    title: str
    status: str
    score: str
    goals: tuple[GoalOutcome, ...] = ()
    note: str = ""
    """Why there is nothing to compare."""
    remarks: tuple[str, ...] = ()


def id_without_feed_offset(id_: str) -> str:
    """Remove feed offsets from an id, because two systems may use different offsets for the same feed."""
    return re.sub(r"\d+", lambda number: str(int(number[0]) % ID_SPAN), id_)


def outcome_of_document(document: Document, missing_file_detail: str = "") -> MatchOutcome:
    """Convert a document in the format of `footy fixture --json`.

    `missing_file_detail` is the rejection detail of posts whose file no longer exists.
    """
    goals, teams = document["goals"], document["teams"]
    return MatchOutcome(
        id=int(document["_id"]) % ID_SPAN,
        title=f"{teams['home']['name']} - {teams['away']['name']}",
        status=document["fixture"]["status"]["short"],
        score="-" if goals["home"] is None else f"{goals['home']}-{goals['away']}",
        goals=tuple(_goal(event, missing_file_detail) for event in document["events"]),
    )


def _goal(event: Document, missing_file_detail: str) -> GoalOutcome:
    after, time = event["_score_after"], event["time"]
    posts = event["_discovered_videos"]
    missing = [post for post in posts if missing_file_detail and post["loss_detail"] == missing_file_detail]
    rejections = Counter(post["loss"] for post in posts if post["loss"] and post not in missing)
    state = STABLE if event["_debounce_complete"] else UNSTABLE
    return GoalOutcome(
        side=event["_scoring_team"],
        player=event["player"]["name"],
        minute=str(MatchMinute(time["elapsed"], time["extra"], time.get("innings"))),
        kind=event["detail"],
        score=f"{after['home']}-{after['away']}",
        state=REMOVED if event["_removed"] else state,
        id=id_without_feed_offset(event["_event_id"]),
        polls=event["_stable_count"],
        clips=tuple(video["md5"] for video in event["_s3_videos"]),
        rejections=dict(sorted(rejections.items())),
        missing_files=len(missing),
    )


OVER_WHEN_FIRST_SEEN = "already over when first seen: goals of such matches are not followed"
NOT_STARTED = "had not started when the recording ended"


def outcomes_of_answers(recording: Recording, over_polls: int) -> tuple[MatchOutcome, ...]:
    """Derive the outcomes for a recording without one: each match as its feed reported it when it was over.

    A match is closed after `over_polls` polls that report it as over. Later corrections of the feed are ignored.
    """
    by_match: dict[tuple[str, int], list[RecordedSnapshot]] = {}
    for answer in recording.answers:
        if answer.live is not None:
            by_match.setdefault((answer.feed, answer.feed_id), []).append(answer)
    return tuple(
        _match_outcome([(each.live, len(each.at)) for each in answers], over_polls) for answers in by_match.values()
    )


def _match_outcome(answers: Sequence[tuple[LiveFixture | None, int]], over_polls: int) -> MatchOutcome:
    lives = [live for live, _ in answers if live is not None]
    first, last = lives[0], lives[-1]
    closing, over = last, 0
    for live, polls in answers:
        if live is not None:
            over = over + polls if phase_of(live.status).is_over else 0
            if over >= over_polls:
                closing = live
                break
    note = ""
    if phase_of(first.status).is_over:
        note = OVER_WHEN_FIRST_SEEN
    elif phase_of(last.status) in (Phase.UPCOMING, Phase.POSTPONED):
        note = NOT_STARTED
    return MatchOutcome(
        id=closing.id,
        title=f"{closing.home.name} - {closing.away.name}",
        status=closing.status,
        score="-" if closing.score is None else str(closing.score),
        goals=() if note else _goals(closing),
        note=note,
        remarks=() if note else _find_corrections(_goals(closing), _goals(last)),
    )


def _goals(live: LiveFixture) -> tuple[GoalOutcome, ...]:
    score = Score(0, 0)
    goals = []
    for goal in order_goals(live.goals, live.score):
        score = score.plus(goal.side)
        goals.append(
            GoalOutcome(str(goal.side), goal.player.name, str(goal.minute), str(goal.kind), str(score), STABLE)
        )
    return tuple(goals)


def _find_corrections(closed: Sequence[GoalOutcome], last: Sequence[GoalOutcome]) -> tuple[str, ...]:
    changed = [(old, new) for old, new in zip_longest(closed, last) if old != new]
    return tuple(
        f"corrected by the feed after the match was closed: {_describe_goal(old)} is now {_describe_goal(new)}"
        for old, new in changed
    )


def _describe_goal(goal: GoalOutcome | None) -> str:
    return "nothing" if goal is None else f"{goal.title} ({goal.kind})"


# --- Comparison of recorded and replayed outcomes.


NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class OutcomeDifference:
    match: int
    about: str
    """Title of the match or of a goal."""
    what: str
    then: str
    now: str


@dataclass(frozen=True, slots=True)
class MatchComparison:
    """A match in the recording and in the replay; it is present in at least one of them."""

    then: MatchOutcome | None
    now: MatchOutcome | None
    differences: tuple[OutcomeDifference, ...]
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        outcome = self.then or self.now
        assert outcome is not None
        return outcome.title

    @property
    def note(self) -> str:
        """Why there is nothing to compare."""
        return self.then.note if self.then is not None else ""


def compare_outcomes(then: Sequence[MatchOutcome], now: Sequence[MatchOutcome]) -> tuple[MatchComparison, ...]:
    """Compare the recorded matches in their order, then those that exist only in the replay (duplicates, extras)."""
    remaining = list(now)
    found: dict[int, MatchOutcome] = {}
    # Ids are compared without feed offsets, so matches of two feeds may share one; prefer an equal title.
    for is_same in (_same_id_and_title, _same_id):
        for number, match in enumerate(then):
            same = next((each for each in remaining if number not in found and is_same(match, each)), None)
            if same is not None:
                remaining.remove(same)
                found[number] = same
    return (
        *(compare(match, found.get(number)) for number, match in enumerate(then)),
        *(
            MatchComparison(None, each, (OutcomeDifference(each.id, each.title, "match", NOTHING, each.title),))
            for each in remaining
        ),
    )


def _same_id(then: MatchOutcome, now: MatchOutcome) -> bool:
    return then.id == now.id


def _same_id_and_title(then: MatchOutcome, now: MatchOutcome) -> bool:
    return (then.id, then.title) == (now.id, now.title)


def compare(then: MatchOutcome, now: MatchOutcome | None) -> MatchComparison:
    if then.note:
        # The goals were not followed in the recording, so the replay must have none either.
        invented = [goal for goal in now.goals if goal.state != REMOVED] if now is not None else []
        found = [each for goal in invented for each in _compare_goals(then.id, None, goal, [])]
        return MatchComparison(then, now, tuple(found), (then.note,))
    if now is None:
        return MatchComparison(then, None, (OutcomeDifference(then.id, then.title, "match", then.title, NOTHING),))
    found = list(
        _differences(then.id, then.title, {"status": (then.status, now.status), "score": (then.score, now.score)})
    )
    notes = list(then.remarks)
    for before, after in _pairs(then.goals, now.goals):
        found += _compare_goals(then.id, before, after, notes)
    return MatchComparison(then, now, tuple(found), tuple(notes))


def _pairs(
    then: Sequence[GoalOutcome], now: Sequence[GoalOutcome]
) -> Iterable[tuple[GoalOutcome | None, GoalOutcome | None]]:
    """Pair goals by id if the recording has ids, otherwise by the score after the goal."""
    remaining = list(now)
    by_feed = all(goal.id is None for goal in then)
    for goal in then:
        same = next((each for each in remaining if _is_same(goal, each)), None)
        if same is not None:
            remaining.remove(same)
        yield goal, same
    # A feed's list has no withdrawn goals, so a withdrawn goal is not a difference.
    yield from ((None, goal) for goal in remaining if not (by_feed and goal.state == REMOVED))


def _is_same(then: GoalOutcome, now: GoalOutcome) -> bool:
    if then.id is not None:
        return then.id == now.id
    return then.score == now.score and now.state != REMOVED


def _compare_goals(
    match: int, then: GoalOutcome | None, now: GoalOutcome | None, notes: list[str]
) -> Iterable[OutcomeDifference]:
    if then is None or now is None:
        goal = then or now
        assert goal is not None
        text = f"{goal.title} ({goal.state})"
        return [OutcomeDifference(match, goal.title, "goal", text if then else NOTHING, text if now else NOTHING)]
    facts = {
        name: (str(getattr(then, name)), str(getattr(now, name)))
        for name in ("state", "side", "player", "minute", "kind")
    }
    if then.state != REMOVED:  # a withdrawn goal has no score
        facts["score"] = then.score, now.score
    if then.polls is not None:
        facts["polls"] = str(then.polls), str(now.polls)
    if then.clips is not None and now.clips is not None:
        if now.missing_files:
            notes.append(f"{then.title}: clips not compared, because files no longer exist: {now.missing_files}")
        else:
            facts["clips"] = _clips(then.clips), _clips(now.clips)
            facts["rejections"] = _rejections(then.rejections), _rejections(now.rejections)
    return _differences(match, then.title, facts)


def _differences(match: int, about: str, facts: Mapping[str, tuple[str, str]]) -> list[OutcomeDifference]:
    return [
        OutcomeDifference(match, about, what, before, after)
        for what, (before, after) in facts.items()
        if before != after
    ]


def _clips(clips: Sequence[str]) -> str:
    return ", ".join(md5[:8] for md5 in sorted(clips)) or NOTHING


def _rejections(reasons: Mapping[str, int] | None) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted((reasons or {}).items())) or NOTHING
