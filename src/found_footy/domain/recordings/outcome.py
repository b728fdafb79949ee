"""What became of a match: as it was then, and as it came out of a replay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from found_footy.domain.feeds.ids import SPAN
from found_footy.domain.fixtures.goals import in_order
from found_footy.domain.fixtures.model import LiveFixture, Minute, Score
from found_footy.domain.fixtures.statuses import Phase, phase_of
from found_footy.domain.recordings.recording import RecordedAnswer, Recording

Document = Mapping[str, Any]

CERTAIN, WITHDRAWN, UNSURE = "certain", "withdrawn", "unsure"


@dataclass(frozen=True, slots=True)
class GoalOutcome:
    side: str
    player: str | None
    minute: str
    kind: str
    score: str
    """After it."""
    state: str
    id: str | None = None
    """Without what a feed's ids are moved by; None where it is not known, as in a feed's own list."""
    polls: int | None = None
    """That listed it until it was certain."""
    clips: tuple[str, ...] | None = None
    """The kept files, the best first."""
    losses: Mapping[str, int] | None = None
    """Why posts fell out, by class."""
    lost_files: int = 0
    """Clips of then whose files are not kept any more, so that nothing can be said of them."""

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


def plain_id(id_: str) -> str:
    """Two systems may count a feed's ids from different beginnings; what they are without that is the same."""
    return re.sub(r"\d+", lambda number: str(int(number[0]) % SPAN), id_)


def outcome_of_document(document: Document, file_not_kept: str = "") -> MatchOutcome:
    """`document` has the shape of `footy fixture --json`; `file_not_kept` is how such a loss is worded."""
    goals, teams = document["goals"], document["teams"]
    return MatchOutcome(
        id=int(document["_id"]) % SPAN,
        title=f"{teams['home']['name']} - {teams['away']['name']}",
        status=document["fixture"]["status"]["short"],
        score="-" if goals["home"] is None else f"{goals['home']}-{goals['away']}",
        goals=tuple(_goal(event, file_not_kept) for event in document["events"]),
    )


def _goal(event: Document, file_not_kept: str) -> GoalOutcome:
    after, time = event["_score_after"], event["time"]
    posts = event["_discovered_videos"]
    gone = [post for post in posts if file_not_kept and post["loss_detail"] == file_not_kept]
    state = CERTAIN if event["_debounce_complete"] else UNSURE
    return GoalOutcome(
        side=event["_scoring_team"],
        player=event["player"]["name"],
        minute=str(Minute(time["elapsed"], time["extra"], time.get("innings"))),
        kind=event["detail"],
        score=f"{after['home']}-{after['away']}",
        state=WITHDRAWN if event["_removed"] else state,
        id=plain_id(event["_event_id"]),
        polls=event["_stable_count"],
        clips=tuple(video["md5"] for video in event["_s3_videos"]),
        losses=dict(sorted(Counter(post["loss"] for post in posts if post["loss"] and post not in gone).items())),
        lost_files=len(gone),
    )


OVER_AT_FIRST_SIGHT = "over when it was first seen: such matches are kept without their goals"
NOT_BEGUN = "had not begun when the recording ends"


def outcomes_of_answers(recording: Recording, over_polls: int) -> tuple[MatchOutcome, ...]:
    """For a recording without an outcome of its own: each match as its feed told it when it was over.

    A match is closed after so many polls that say that it is over. What a feed corrects later is not taken over.
    """
    told: dict[tuple[str, int], list[RecordedAnswer]] = {}
    for answer in recording.answers:
        if answer.live is not None:
            told.setdefault((answer.feed, answer.feed_id), []).append(answer)
    return tuple(_told([(each.live, len(each.at)) for each in answers], over_polls) for answers in told.values())


def _told(answers: Sequence[tuple[LiveFixture | None, int]], over_polls: int) -> MatchOutcome:
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
        note = OVER_AT_FIRST_SIGHT
    elif phase_of(last.status) in (Phase.UPCOMING, Phase.POSTPONED):
        note = NOT_BEGUN
    return MatchOutcome(
        id=closing.id,
        title=f"{closing.home.name} - {closing.away.name}",
        status=closing.status,
        score="-" if closing.score is None else str(closing.score),
        goals=() if note else _goals(closing),
        note=note,
        remarks=() if note else _corrected(_goals(closing), _goals(last)),
    )


def _goals(live: LiveFixture) -> tuple[GoalOutcome, ...]:
    score = Score(0, 0)
    goals = []
    for goal in in_order(live.goals, live.score):
        score = score.plus(goal.side)
        goals.append(
            GoalOutcome(str(goal.side), goal.player.name, str(goal.minute), str(goal.kind), str(score), CERTAIN)
        )
    return tuple(goals)


def _corrected(closed: Sequence[GoalOutcome], last: Sequence[GoalOutcome]) -> tuple[str, ...]:
    changed = [(old, new) for old, new in zip_longest(closed, last) if old != new]
    return tuple(
        f"corrected by the feed after the match was closed: {_named(old)} is now {_named(new)}" for old, new in changed
    )


def _named(goal: GoalOutcome | None) -> str:
    return "nothing" if goal is None else f"{goal.title} ({goal.kind})"
