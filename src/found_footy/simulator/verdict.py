"""What a consumer came to know, held against the ground truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from found_footy.simulator.ground_truth import GroundTruth, TrueGoal, TrueMatch

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mismatch:
    match: int
    what: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class Verdict:
    matches: int
    goals: int
    withdrawn: int
    mismatches: tuple[Mismatch, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"mismatches": [asdict(mismatch) for mismatch in self.mismatches]}


def judge(truth: GroundTruth, documents: Sequence[Document]) -> Verdict:
    """`documents` are fixtures in the shape of `footy fixtures --json`."""
    known = {document["_id"]: document for document in documents}
    mismatches = [m for match in truth.matches for m in _judge_match(match, known.get(match.id))]
    expected = {match.id for match in truth.matches}
    mismatches += [Mismatch(id_, "match", "none", "one that is not scripted") for id_ in known if id_ not in expected]
    events = [event for document in documents for event in document["events"]]
    return Verdict(
        matches=len(documents),
        goals=sum(_is_certain(event) for event in events),
        withdrawn=sum(event["_removed"] for event in events),
        mismatches=tuple(mismatches),
    )


def has_settled(truth: GroundTruth, documents: Sequence[Document]) -> bool:
    """Whether every match is where it belongs in the end; goals may still be wrong."""
    stages = {document["_id"]: document["stage"] for document in documents}
    return all(stages.get(match.id) == match.stage for match in truth.matches)


def _judge_match(match: TrueMatch, document: Document | None) -> list[Mismatch]:
    if document is None:
        return [Mismatch(match.id, "match", f"{match.home} - {match.away}", "nothing")]
    facts = {
        "stage": (match.stage, document["stage"]),
        "status": (match.status, document["fixture"]["status"]["short"]),
        "score": (_pair(match.score), _pair(_numbers(document["goals"]))),
        "penalties": (_pair(match.penalties), _pair(_numbers(document["score"]["penalty"]))),
    }
    found = [Mismatch(match.id, what, want, got) for what, (want, got) in facts.items() if want != got]
    want_goals = Counter(_of_truth(goal) for goal in match.goals)
    got_goals = Counter(_of_event(event) for event in document["events"])
    found += [Mismatch(match.id, "goal", goal, "nothing") for goal in (want_goals - got_goals).elements()]
    found += [Mismatch(match.id, "goal", "nothing", goal) for goal in (got_goals - want_goals).elements()]
    return found


def _of_truth(goal: TrueGoal) -> str:
    minute = f"{goal.elapsed}+{goal.extra}" if goal.extra else str(goal.elapsed)
    return _line(goal.state, minute, goal.side, goal.player, goal.kind, _pair(goal.score_after))


def _of_event(event: Document) -> str:
    time = event["time"]
    minute = f"{time['elapsed']}+{time['extra']}" if time["extra"] else str(time["elapsed"])
    if event["_removed"]:
        state, after = "withdrawn", _pair(None)
    else:
        state = "stable" if _is_certain(event) else "uncertain"
        after = _pair(_numbers(event["_score_after"]))
    return _line(state, minute, event["_scoring_team"], event["player"]["name"], event["detail"], after)


def _line(state: str, minute: str, side: str, player: str | None, kind: str, after: str) -> str:
    return f"{state}: {minute}' {side} {player or 'unknown'} ({kind}) {after}"


def _is_certain(event: Document) -> bool:
    return bool(event["_debounce_complete"] and event["_download_complete"] and not event["_removed"])


def _numbers(pair: Document) -> tuple[int, int] | None:
    return None if pair["home"] is None else (pair["home"], pair["away"])


def _pair(pair: tuple[int, int] | None) -> str:
    return "none" if pair is None else f"{pair[0]}-{pair[1]}"
