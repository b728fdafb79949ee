"""Which of our matches a feed's listing is: teams, kick-off, and the competition as support.

No team plays twice within a few hours. So one name that is certain, one that may well be right and the same hour are
enough. Where two matches fit alike, or too little does, a person decides: a doubtful pairing is not made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from found_footy.domain.discovery.national_teams import country_code
from found_footy.domain.discovery.query import word_set
from found_footy.domain.feeds.club_names import LONGEST, words_of
from found_footy.domain.feeds.listing import Candidate, Listing, Pairing, Sameness
from found_footy.domain.feeds.match_marks import Marks, marks_of, what_differs
from found_footy.domain.feeds.team_sameness import Likeness, is_placeholder, team_likeness
from found_footy.domain.fixtures.model import Sport


class When(StrEnum):
    ON_TIME = "at the same time"
    CLOSE = "hours apart"
    """A kick-off that moved, or a time taken for another zone's."""
    SAME_DAY = "half a day apart"
    LATER_DAY = "days apart"
    """Of a match that lasts for days, some feeds list each day."""
    APART = "apart"


_BOUNDS = {
    When.ON_TIME: timedelta(minutes=15),
    When.CLOSE: timedelta(hours=3),
    When.SAME_DAY: timedelta(hours=12),
}
_DAYS = timedelta(days=5)
_REPEATED = timedelta(minutes=45)
"""From here on it is the next match, where the same teams play again on the same day."""

SAME, DOUBTFUL, DIFFERENT = Sameness.SAME, Sameness.DOUBTFUL, Sameness.DIFFERENT


@dataclass(frozen=True, slots=True)
class _Rule:
    supported: Sameness
    """Where the competition is the same, too."""
    alone: Sameness
    confidence: float


_NO = _Rule(DIFFERENT, DIFFERENT, 0.0)
_S, _L, _P, _X = Likeness.SAME, Likeness.LIKELY, Likeness.POSSIBLE, Likeness.DIFFERENT

RULES: dict[tuple[Likeness, Likeness], dict[When, _Rule]] = {
    (_S, _S): {
        When.ON_TIME: _Rule(SAME, SAME, 0.99),
        When.CLOSE: _Rule(SAME, SAME, 0.93),
        When.SAME_DAY: _Rule(SAME, SAME, 0.86),
        When.LATER_DAY: _Rule(SAME, DOUBTFUL, 0.80),
    },
    (_S, _L): {
        When.ON_TIME: _Rule(SAME, SAME, 0.96),
        When.CLOSE: _Rule(SAME, SAME, 0.90),
        When.SAME_DAY: _Rule(SAME, DOUBTFUL, 0.70),
        When.LATER_DAY: _Rule(DOUBTFUL, DOUBTFUL, 0.50),
    },
    (_L, _L): {
        When.ON_TIME: _Rule(SAME, SAME, 0.92),
        When.CLOSE: _Rule(SAME, DOUBTFUL, 0.80),
        When.SAME_DAY: _Rule(DOUBTFUL, DOUBTFUL, 0.50),
    },
    (_S, _P): {
        When.ON_TIME: _Rule(SAME, SAME, 0.86),
        When.CLOSE: _Rule(SAME, DOUBTFUL, 0.72),
        When.SAME_DAY: _Rule(DOUBTFUL, DOUBTFUL, 0.45),
    },
    (_L, _P): {
        When.ON_TIME: _Rule(SAME, DOUBTFUL, 0.75),
        When.CLOSE: _Rule(DOUBTFUL, DOUBTFUL, 0.50),
    },
    (_P, _P): {When.ON_TIME: _Rule(DOUBTFUL, DOUBTFUL, 0.50)},
    # The same team at the same time, and a name that says nothing to us.
    (_S, _X): {
        When.ON_TIME: _Rule(DOUBTFUL, DOUBTFUL, 0.40),
        When.CLOSE: _Rule(DOUBTFUL, DIFFERENT, 0.30),
    },
}
"""The likelier of the two teams first."""

CLEARLY_BETTER = 0.05
_TURNED = 0.9
"""A swapped match is a little less sure."""
_ORGANISERS = word_set("uefa fifa conmebol concacaf afc caf icc acc ofc copa cup league trophy series tour")


def pair_listing(listing: Listing, candidates: Sequence[Candidate]) -> Pairing:
    """The best of the candidates, or DIFFERENT where none may be it."""
    listing = replace(
        listing,
        home=tuple(name[:LONGEST] for name in listing.home),
        away=tuple(name[:LONGEST] for name in listing.away),
        competition=listing.competition[: 2 * LONGEST],
    )
    judged = [
        _judged(listing, candidate)
        for candidate in candidates
        if candidate.sport is listing.sport and abs(listing.kickoff - candidate.kickoff) <= _DAYS
    ]
    ranked = sorted(judged, key=lambda each: (_ORDER[each.sameness], each.confidence), reverse=True)
    if not ranked or ranked[0].sameness is DIFFERENT:
        return Pairing(DIFFERENT)
    best, *others = ranked
    rival = next((each for each in others if each.sameness is SAME), None)
    if best.sameness is SAME and rival is not None and best.confidence - rival.confidence < CLEARLY_BETTER:
        also = f"match {rival.fixture_id} fits as well"
        return Pairing(DOUBTFUL, best.fixture_id, best.swapped, best.confidence / 2, (*best.reasons, also))
    return best


_ORDER = {DIFFERENT: 0, DOUBTFUL: 1, SAME: 2}


def _judged(listing: Listing, candidate: Candidate) -> Pairing:
    marks = _marks(listing), _marks(candidate)
    when = time_apart(listing, candidate, marks)
    if when is When.APART:
        return Pairing(DIFFERENT, candidate.fixture_id)
    straight = _oriented(listing, candidate, marks, when, swapped=False)
    turned = _oriented(listing, candidate, marks, when, swapped=True)
    return max((straight, turned), key=lambda each: (_ORDER[each.sameness], each.confidence))


def _oriented(
    listing: Listing, candidate: Candidate, marks: tuple[Marks, Marks], when: When, *, swapped: bool
) -> Pairing:
    ours = (candidate.away, candidate.home) if swapped else (candidate.home, candidate.away)
    home, away = team_likeness(ours[0], listing.home), team_likeness(ours[1], listing.away)
    rule = RULES.get((max(home, away), min(home, away)), {}).get(when, _NO)
    if rule is _NO or what_differs(*marks, swapped=swapped) is not None:
        return Pairing(DIFFERENT, candidate.fixture_id, swapped)
    same_competition = competitions_alike(listing.competition, candidate.competition)
    sameness = rule.supported if same_competition else rule.alone
    confidence = rule.confidence
    if swapped:
        confidence *= _TURNED
        certain = home is away is Likeness.SAME and when in (When.ON_TIME, When.CLOSE)
        if sameness is SAME and not certain and not _on_neutral_ground(listing):
            sameness = DOUBTFUL
    if sameness is DIFFERENT:
        return Pairing(DIFFERENT, candidate.fixture_id, swapped)
    reasons = (
        _about_team(ours[0], listing.home, home),
        _about_team(ours[1], listing.away, away),
        _about_time(listing, candidate),
        _about_competition(listing, candidate, same=same_competition),
        *(["home and away are swapped"] if swapped else []),
    )
    return Pairing(sameness, candidate.fixture_id, swapped, round(confidence, 3), reasons)


def _marks(match: Listing | Candidate) -> Marks:
    home, away = (names[0] if names else "" for names in (match.home, match.away))
    return marks_of(home, away, match.competition, match.sport)


def time_apart(listing: Listing, candidate: Candidate, marks: tuple[Marks, Marks]) -> When:
    apart = abs(listing.kickoff - candidate.kickoff)
    if apart > _REPEATED and any(each.may_be_repeated for each in marks):
        return When.APART
    for when, bound in _BOUNDS.items():
        if apart <= bound:
            return when
    long_ = listing.sport is Sport.CRICKET and any(each.lasts_days for each in marks)
    return When.LATER_DAY if long_ and apart <= _DAYS else When.APART


def competitions_alike(a: str, b: str) -> bool:
    """`UEFA Champions League` and `Champions League`; a name that nobody gave supports nothing."""
    one, other = _competition(a), _competition(b)
    if not one or not other:
        return False
    if set(one) <= set(other) or set(other) <= set(one):
        return True
    short, long_ = sorted(("".join(one), "".join(other)), key=len)
    return len(short) >= 4 and short in long_  # LaLiga in Spanish La Liga


def _competition(name: str) -> list[str]:
    words = words_of(name)
    return [word for word in words if word not in _ORGANISERS] or words


def _on_neutral_ground(listing: Listing) -> bool:
    """Who is called the home side of a World Cup match is nobody's choice."""
    if listing.sport is Sport.CRICKET:
        return True
    return bool(listing.home and listing.away and country_code(listing.home[0]) and country_code(listing.away[0]))


def _about_team(ours: Sequence[str], theirs: Sequence[str], likeness: Likeness) -> str:
    names = f"{ours[0] if ours else '?'} and {theirs[0] if theirs else '?'}"
    if theirs and ours and (is_placeholder(theirs[0]) or is_placeholder(ours[0])):
        return f"{names}: one is not known yet"
    words = {
        Likeness.SAME: "the same team",
        Likeness.LIKELY: "very likely the same team",
        Likeness.POSSIBLE: "may be the same team",
        Likeness.DIFFERENT: "nothing says that they are one team",
    }
    return f"{names}: {words[likeness]}"


def _about_time(listing: Listing, candidate: Candidate) -> str:
    apart = abs(listing.kickoff - candidate.kickoff)
    if apart <= _BOUNDS[When.ON_TIME]:
        return "the same kick-off"
    hours, rest = divmod(apart, timedelta(hours=1))
    if not rest and hours <= 12:
        return f"kick-offs exactly {hours} h apart: one of them may be in the wrong time zone"
    return f"kick-offs {apart.total_seconds() / 3600:.1f} h apart"


def _about_competition(listing: Listing, candidate: Candidate, *, same: bool) -> str:
    if not listing.competition or not candidate.competition:
        return "a competition is not given"
    sign = "the same competition" if same else "competitions that do not sound alike"
    return f"{candidate.competition} and {listing.competition}: {sign}"
