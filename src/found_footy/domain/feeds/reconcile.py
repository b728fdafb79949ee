"""One match out of what several feeds say of it, field by field, with who said what.

A field is taken from the feed of the highest precedence that has it, and among equals from the one heard last. What
its reader was not sure of is left out, as if the feed had not said it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from found_footy.domain.feeds.contradicting import Voice, contradictions
from found_footy.domain.feeds.merging import GoalList, merged
from found_footy.domain.feeds.our_terms import in_our_terms
from found_footy.domain.feeds.reconciled import FieldOrigin, Heard, Match, Reconciled, Said
from found_footy.domain.feeds.telling_fields import goals_told, innings_told, league_told, toss_told
from found_footy.domain.fixtures.goals import in_order
from found_footy.domain.fixtures.model import Hearing, LiveFixture, Score
from found_footy.domain.fixtures.statuses import PHASES, Phase

Read = Callable[[LiveFixture], Any]
Tell = Callable[[Any], Any]


def reconcile(match: Match, heard: Sequence[Heard], since: datetime | None = None) -> Reconciled:
    """`heard` has one word of each feed, and at least one. Only words after `since` count as heard now.

    The others are still believed, but neither prove a goal once more, nor that one is gone.
    """
    ranked = sorted(heard, key=lambda each: (-each.precedence, -each.at.timestamp(), each.feed))
    voices = [Voice(each.feed, each.at, in_our_terms(match, each), each.origin) for each in ranked]
    founder = next((each for each in ranked if each.founding), ranked[0])
    new = {each.feed for each in ranked if since is None or each.at > since}
    fields = _Fields(voices)

    status = fields.take("status", lambda live: live.status if live.status in PHASES else None)
    if status is None:
        # Nobody has one that we know: whoever uses it says so by name.
        status = voices[0].live.status
    goals = merged([GoalList(v.feed, v.live.goals, _score(v), v.origin) for v in voices if v.trusts("goals")])
    fields.take("goals", lambda live: in_order(live.goals, live.score), goals_told)
    live = replace(
        voices[0].live,
        feed=founder.feed,
        status=status,
        kickoff=fields.take("kickoff", lambda live: live.kickoff, lambda at: at.isoformat()) or voices[0].live.kickoff,
        league=_league(fields, founder),
        home=replace(match.home, short=match.home.short or fields.first(lambda live: live.home.short)),
        away=replace(match.away, short=match.away.short or fields.first(lambda live: live.away.short)),
        score=fields.take("score", lambda live: live.score, str),
        penalties=fields.take("penalties", lambda live: live.penalties, str),
        minute=fields.take("minute", _minute(PHASES.get(status)), str),
        goals=tuple(replace(goal, confirmed=bool(new & set(goal.feeds))) for goal in goals),
        innings=fields.take("innings", lambda live: live.innings or None, innings_told(match)) or (),
        toss=fields.take("toss", lambda live: live.toss, toss_told(match)),
        venue=fields.take("venue", lambda live: live.venue or None),
        last_event=fields.take("last_event", lambda live: live.last_event, lambda event: event.description),
        metadata=_metadata(fields),
        confidence={},
        hearing=Hearing(tuple(sorted(new)), _counted(voices)),
    )
    return Reconciled(live, fields.origins, contradictions(voices))


class _Fields:
    """Chooses field after field, and remembers whose word it was."""

    def __init__(self, voices: Sequence[Voice]) -> None:
        self._voices = voices
        self.origins: dict[str, FieldOrigin] = {}

    @property
    def voices(self) -> Sequence[Voice]:
        return self._voices

    def take(self, name: str, read: Read, tell: Tell = lambda value: value, *others: str) -> Any:
        """The value that counts, or None. `others` are further names that a reader's confidence may stand under."""
        said = [(voice, read(voice.live)) for voice in self._voices if voice.trusts(name, *others)]
        said = [(voice, value) for voice, value in said if value is not None]
        if not said:
            return None
        words = [Said(voice.feed, tell(value), voice.at, voice.confidence(name, *others)) for voice, value in said]
        self.origins[name] = FieldOrigin(words[0], tuple(words[1:]))
        return said[0][1]

    def first(self, read: Read) -> Any:
        return next((value for voice in self._voices if (value := read(voice.live))), None)


def _minute(phase: Phase | None) -> Read:
    """A clock belongs to its status: minute 88 is nothing to show beside `FT`."""
    return lambda live: live.minute if PHASES.get(live.status) is phase else None


def _score(voice: Voice) -> Score | None:
    return voice.live.score if voice.trusts("score") else None


def _counted(voices: Sequence[Voice]) -> Score | None:
    scores = [score for voice in voices if (score := _score(voice)) is not None]
    return Score(max(s.home for s in scores), max(s.away for s in scores)) if scores else None


def _league(fields: _Fields, founder: Heard) -> Any:
    """Its number is ours only from the feed that founded the match, so that one is always believed."""
    fields.take("league", lambda live: live.league, league_told)
    if "league" in fields.origins:
        origin = fields.origins["league"]
        words = sorted((origin.chosen, *origin.others), key=lambda said: said.feed != founder.feed)
        fields.origins["league"] = FieldOrigin(words[0], tuple(words[1:]))
    return founder.live.league


def _metadata(fields: _Fields) -> dict[str, str]:
    keys = dict.fromkeys(key for voice in fields.voices for key in voice.live.metadata)
    chosen = {key: fields.take(f"metadata.{key}", _entry(key), str, key, "metadata") for key in keys}
    return {key: value for key, value in chosen.items() if value is not None}


def _entry(key: str) -> Read:
    return lambda live: live.metadata.get(key) or None
