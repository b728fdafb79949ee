"""What a consumer came to know, held against the ground truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from found_footy.domain.fixtures.model import WICKET
from found_footy.simulator.ground_truth import GroundTruth, TrueGoal, TrueMatch
from found_footy.simulator.known_matches import place

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
    wickets: int
    withdrawn: int
    doubted: int
    """Goals that one feed told for a moment, and that never counted."""
    mismatches: tuple[Mismatch, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"mismatches": [asdict(mismatch) for mismatch in self.mismatches]}


def judge(truth: GroundTruth, documents: Sequence[Document]) -> Verdict:
    """`documents` are fixtures in the shape of `footy fixtures --json`."""
    placed = place(truth, documents)
    mismatches: list[Mismatch] = []
    doubted = 0
    for match in truth.matches:
        document = placed.of.get(match.id)
        if document is None:
            mismatches.append(Mismatch(match.id, "match", f"{match.home} - {match.away}", "nothing"))
            continue
        goals = _judge_goals(match, document["events"])
        mismatches += [*_judge_match(match, document), *goals.mismatches]
        doubted += goals.doubted
    mismatches += [Mismatch(match.id, "match", "one", f"another: {d['_id']}") for d, match in placed.doubled]
    mismatches += [Mismatch(d["_id"], "match", "none", "one that is not scripted") for d in placed.strange]
    events = [event for document in documents for event in document["events"]]
    certain = [event["type"] == WICKET for event in events if _is_certain(event)]
    return Verdict(
        matches=len(documents),
        goals=certain.count(False),
        wickets=certain.count(True),
        withdrawn=sum(event["_removed"] for event in events) - doubted,
        doubted=doubted,
        mismatches=tuple(mismatches),
    )


def has_settled(truth: GroundTruth, documents: Sequence[Document]) -> bool:
    """Whether every match is where it belongs in the end; goals may still be wrong."""
    known = place(truth, documents).of
    return all(match.id in known and known[match.id]["stage"] == match.stage for match in truth.matches)


def _judge_match(match: TrueMatch, document: Document) -> list[Mismatch]:
    facts = {
        "stage": (match.stage, document["stage"]),
        "status": (match.status, document["fixture"]["status"]["short"]),
        "score": (_pair(match.score), _pair(_numbers(document["goals"]))),
        "penalties": (_pair(match.penalties), _pair(_numbers(document["score"]["penalty"]))),
    }
    return [Mismatch(match.id, what, want, got) for what, (want, got) in facts.items() if want != got]


@dataclass(frozen=True, slots=True)
class _Goals:
    mismatches: list[Mismatch]
    doubted: int


def _judge_goals(match: TrueMatch, events: Sequence[Document]) -> _Goals:
    """Each scripted goal is there once, under any of its player's names, and nothing else is."""
    rest = {event["_event_id"]: _of_event(event) for event in events}
    # What one feed told for a moment and never counted is no goal that was invented.
    doubted = {event["_event_id"] for event in events if event["_removed"] and not event["_debounce_complete"]}
    what = "wicket" if match.goals and match.goals[0].type == WICKET else "goal"
    missing = []
    for goal in match.goals:
        lines = _of_truth(goal)
        event_id = next((id_ for id_, line in rest.items() if line in lines), None)
        if event_id is None:
            missing.append(Mismatch(match.id, what, lines[0], "nothing"))
        else:
            del rest[event_id]
    invented = [Mismatch(match.id, what, "nothing", line) for id_, line in rest.items() if id_ not in doubted]
    return _Goals(missing + invented, len(rest) - len(invented))


def _of_truth(goal: TrueGoal) -> list[str]:
    """One line for each spelling of the player's name, the script's own first."""
    minute = _minute(goal.elapsed, goal.extra, goal.innings)
    names = (goal.player, *goal.also)
    return [_line(goal.state, minute, goal.side, name, goal.kind, _pair(goal.score_after)) for name in names]


def _minute(elapsed: int, extra: int | None, innings: int | None) -> str:
    if innings is not None:
        return f"{elapsed}.{extra or 0} of innings {innings},"
    return f"{elapsed}+{extra}'" if extra else f"{elapsed}'"


def _of_event(event: Document) -> str:
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
