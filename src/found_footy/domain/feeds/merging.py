"""One list of goals out of the lists of several feeds; wickets are listed as goals are.

Two feeds mean the same goal when it brings the same score, which for one side is to say: its n-th goal. That alone
would take the second goal for the first one where a feed has dropped the first, so the minutes must fit as well, and
as always the cheapest explanation of the whole list wins.

The list of the feed that is believed most comes first. Others add what it lacks: goals that it is late with, and
goals that it has dropped. They add no more than their own score counts, so that one goal with two minutes that do
not fit together is not two goals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from found_footy.domain.fixtures.attribution import same_person
from found_footy.domain.fixtures.goals import in_order
from found_footy.domain.fixtures.identity import OTHER_FEED_MINUTES, Costs, cheapest_pairs, minutes_apart, oddness
from found_footy.domain.fixtures.model import Kind, LiveGoal, Person, Score, Side, WicketKind

SAME_GOAL_MINUTES = 2
MOST = 100
"""Goals of one feed; a match has far fewer, and what is compared with each other must end."""


@dataclass(frozen=True, slots=True)
class GoalList:
    """One feed's goals, in our ids."""

    feed: str
    goals: tuple[LiveGoal, ...]
    score: Score | None
    origin: str = ""
    """Who answers in truth; empty where that is the feed itself."""


@dataclass(frozen=True, slots=True)
class _Word:
    listed: GoalList
    goal: LiveGoal


_Words = list[_Word]
"""What the feeds say of one goal; the most believed one first."""


def merged(lists: Sequence[GoalList], minutes: int = SAME_GOAL_MINUTES) -> tuple[LiveGoal, ...]:
    """In the order of play; each goal with the feeds that list it. The most believed feed comes first in `lists`."""
    if not lists:
        return ()
    first, *others = lists
    path = [[_Word(first, goal)] for goal in _goals(first)]
    for listed in others:
        _add(path, listed, minutes)
    return tuple(_one(words) for words in path)


def _goals(listed: GoalList) -> list[LiveGoal]:
    return in_order(listed.goals, listed.score)[:MOST]


def _add(path: list[_Words], listed: GoalList, minutes: int) -> None:
    goals = _goals(listed)
    pairs = cheapest_pairs(_costs(path, goals, minutes))
    places: dict[int, _Words] = {g: path[p] for g, p in pairs.items()}
    for g, words in places.items():
        words.append(_Word(listed, goals[g]))
    there = Counter(words[0].goal.side for words in path)
    for g, goal in enumerate(goals):
        if g in places or there[goal.side] >= _counted(listed, goals, goal.side):
            continue
        words = [_Word(listed, goal)]
        path.insert(_position(path, places, g, goal), words)
        places[g] = words
        there[goal.side] += 1


def _counted(listed: GoalList, goals: Sequence[LiveGoal], side: Side) -> int:
    if listed.score is not None:
        return listed.score.of(side)
    return sum(goal.side is side for goal in goals)


def _costs(path: Sequence[_Words], goals: Sequence[LiveGoal], minutes: int) -> Costs:
    costs: Costs = {}
    numbers = _numbers([words[0].goal for words in path])
    for g, (goal, number) in enumerate(zip(goals, _numbers(goals), strict=True)):
        for p, words in enumerate(path):
            found = [
                cost
                for word in words
                if (cost := _cost(word.goal, goal, minutes, same_score=numbers[p] == number)) is not None
            ]
            if found:
                costs.setdefault(g, {})[p] = min(found)
    return costs


def _numbers(goals: Sequence[LiveGoal]) -> list[int]:
    """The how manieth of its side each is."""
    seen: Counter[Side] = Counter()
    numbers = []
    for goal in goals:
        seen[goal.side] += 1
        numbers.append(seen[goal.side])
    return numbers


def _cost(a: LiveGoal, b: LiveGoal, minutes: int, *, same_score: bool) -> float | None:
    if a.side is not b.side or a.type != b.type:
        return None
    drift = minutes_apart(a.minute, b.minute)
    if drift > max(minutes, OTHER_FEED_MINUTES):
        return None
    wide = same_score and same_person(a.player, b.player)
    return oddness(drift, a.player, b.player, same_score=same_score, tolerance=OTHER_FEED_MINUTES if wide else minutes)


def _position(path: Sequence[_Words], places: dict[int, _Words], number: int, goal: LiveGoal) -> int:
    """After what the feed lists before it, before what it lists after it; in between by the minute."""
    index = {id(words): position for position, words in enumerate(path)}
    known = {g: index[id(words)] for g, words in places.items()}
    position = max((at + 1 for g, at in known.items() if g < number), default=0)
    end = min((at for g, at in known.items() if g > number), default=len(path))
    while position < end and path[position][0].goal.minute.order <= goal.minute.order:
        position += 1
    return position


def _one(words: _Words) -> LiveGoal:
    first = words[0].goal
    return LiveGoal(
        side=first.side,
        minute=first.minute,
        player=_person([word.goal.player for word in words]),
        kind=_kind([word.goal.kind for word in words]),
        assist=_person([word.goal.assist for word in words]),
        type=first.type,
        feeds=tuple(sorted(word.listed.feed for word in words)),
        origins=tuple(sorted({word.listed.origin or word.listed.feed for word in words})),
    )


def _person(said: Sequence[Person]) -> Person:
    """The first who is known; by the number that another feed has for the same name."""
    known = [person for person in said if person.known]
    if not known:
        return Person()
    first = known[0]
    if first.id is not None:
        return first
    return next((person for person in known if person.id is not None and same_person(first, person)), first)


def _kind(said: Sequence[Kind]) -> Kind:
    return next((kind for kind in said if kind is not WicketKind.OTHER), said[0])
