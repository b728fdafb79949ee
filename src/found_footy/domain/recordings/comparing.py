"""Holds what came out of a replay against what happened then. Pure: two outcomes in, their differences out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from found_footy.domain.recordings.outcome import WITHDRAWN, GoalOutcome, MatchOutcome

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    match: int
    about: str
    """The match, or a goal of it."""
    what: str
    then: str
    now: str


@dataclass(frozen=True, slots=True)
class Compared:
    """One match, then and now. It is in at least one of the two."""

    then: MatchOutcome | None
    now: MatchOutcome | None
    differences: tuple[Difference, ...]
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        given = self.then or self.now
        assert given is not None
        return given.title

    @property
    def note(self) -> str:
        """Why there is nothing to compare."""
        return self.then.note if self.then is not None else ""


def compare_all(then: Sequence[MatchOutcome], now: Sequence[MatchOutcome]) -> tuple[Compared, ...]:
    """The matches of then in their order, and after them those that are only there now: doubled, or invented."""
    left = list(now)
    found: dict[int, MatchOutcome] = {}
    # Ids are compared without what they are moved by, so matches of two feeds may share one; titles tell them apart.
    for is_same in (_same_id_and_title, _same_id):
        for number, match in enumerate(then):
            same = next((each for each in left if number not in found and is_same(match, each)), None)
            if same is not None:
                left.remove(same)
                found[number] = same
    return (
        *(compare(match, found.get(number)) for number, match in enumerate(then)),
        *(Compared(None, each, (Difference(each.id, each.title, "match", NOTHING, each.title),)) for each in left),
    )


def _same_id(then: MatchOutcome, now: MatchOutcome) -> bool:
    return then.id == now.id


def _same_id_and_title(then: MatchOutcome, now: MatchOutcome) -> bool:
    return (then.id, then.title) == (now.id, now.title)


def compare(then: MatchOutcome, now: MatchOutcome | None) -> Compared:
    if then.note:
        # Nothing is known of its goals then, because there were none to be followed: now there are none, either.
        invented = [goal for goal in now.goals if goal.state != WITHDRAWN] if now is not None else []
        found = [each for goal in invented for each in _goal(then.id, None, goal, [])]
        return Compared(then, now, tuple(found), (then.note,))
    if now is None:
        return Compared(then, None, (Difference(then.id, then.title, "match", then.title, NOTHING),))
    found = list(_facts(then.id, then.title, {"status": (then.status, now.status), "score": (then.score, now.score)}))
    notes = list(then.remarks)
    for before, after in _pairs(then.goals, now.goals):
        found += _goal(then.id, before, after, notes)
    return Compared(then, now, tuple(found), tuple(notes))


def _pairs(
    then: Sequence[GoalOutcome], now: Sequence[GoalOutcome]
) -> Iterable[tuple[GoalOutcome | None, GoalOutcome | None]]:
    """By id, where both know it; a feed's own list tells none, and there the score after a goal is its name."""
    left = list(now)
    by_feed = all(goal.id is None for goal in then)
    for goal in then:
        same = next((each for each in left if _is_same(goal, each)), None)
        if same is not None:
            left.remove(same)
        yield goal, same
    # A goal that was withdrawn is no difference to a list that has only those that stayed.
    yield from ((None, goal) for goal in left if not (by_feed and goal.state == WITHDRAWN))


def _is_same(then: GoalOutcome, now: GoalOutcome) -> bool:
    if then.id is not None:
        return then.id == now.id
    return then.score == now.score and now.state != WITHDRAWN


def _goal(match: int, then: GoalOutcome | None, now: GoalOutcome | None, notes: list[str]) -> Iterable[Difference]:
    if then is None or now is None:
        given = then or now
        assert given is not None
        shown = f"{given.title} ({given.state})"
        return [Difference(match, given.title, "goal", shown if then else NOTHING, shown if now else NOTHING)]
    facts = {
        name: (str(getattr(then, name)), str(getattr(now, name)))
        for name in ("state", "side", "player", "minute", "kind")
    }
    if then.state != WITHDRAWN:  # it has no place in the count any more
        facts["score"] = then.score, now.score
    if then.polls is not None:
        facts["polls"] = str(then.polls), str(now.polls)
    if then.clips is not None and now.clips is not None:
        if now.lost_files:
            notes.append(f"{then.title}: clips not compared, files that are not kept any more: {now.lost_files}")
        else:
            facts["clips"] = _clips(then.clips), _clips(now.clips)
            facts["losses"] = _losses(then.losses), _losses(now.losses)
    return _facts(match, then.title, facts)


def _facts(match: int, about: str, facts: Mapping[str, tuple[str, str]]) -> list[Difference]:
    return [Difference(match, about, what, before, after) for what, (before, after) in facts.items() if before != after]


def _clips(clips: Sequence[str]) -> str:
    return ", ".join(md5[:8] for md5 in sorted(clips)) or NOTHING


def _losses(losses: Mapping[str, int] | None) -> str:
    return ", ".join(f"{count} {loss}" for loss, count in sorted((losses or {}).items())) or NOTHING
