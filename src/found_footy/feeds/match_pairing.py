"""Pairing of feed listings with fixtures, and the markers that separate matches with equal names: women, age group,
reserves, legends, format.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache

from found_footy.feeds.models import MatchListing, Pairing, PairingCandidate, PairingVerdict
from found_footy.feeds.team_similarity import MAX_NAME_LENGTH, TeamSimilarity, is_placeholder, team_similarity, words_of
from found_footy.fixtures.models import LiveFixture, Sport
from found_footy.fixtures.team_names import Squad, country_code, squad_of
from found_footy.text import folded, word_set

_AGE = re.compile(r"\b(?:u|under|sub) ?(1\d|2[0-3])\b")
_WOMENS = re.compile(r"\b(womens?|nwsl|wsl|wbbl|wpl|wncl|uwcl|wwc|liga f|arkema|shebelieves)\b")
_RESERVES = re.compile(r"\b(next gen|futuro|promesas|(barcelona|barca) atletic|bilbao athletic)\b")
_GUEST_TEAMS = re.compile(r".\b(legends?|masters|veterans|all ?stars?|xi|select|invitational)\b")
_SECOND_TEAM = re.compile(r".\b(a|lions|emerging|development)$")
"""Second team: India A, England Lions."""
_OLYMPIC = re.compile(r"\bolympics?\b")
_MULTI_DAY = re.compile(
    r"\b(tests?|first class|[345] day|four day|five day|sheffield shield|county championship|ranji|duleep|plunket)\b"
)
_FORMATS = (
    ("long", _MULTI_DAY),
    ("odi", re.compile(r"\b(odis?|one day|list a|50 over)\b")),
    ("t20", re.compile(r"\b(t20is?|t20s?|twenty20|20 over|ipl|bbl|psl|cpl)\b")),
    ("t10", re.compile(r"\b(t10|ecs|ecn|european cricket)\b")),
    ("hundred", re.compile(r"\bhundred\b")),
)
_OLYMPIC_AGE = "23"


@dataclass(frozen=True, slots=True)
class SquadMarkers:
    """Markers of a match; `sides` holds those of each team, in the order of the listing."""

    women: bool
    ages: frozenset[str]
    youth: bool
    sides: tuple[frozenset[str], frozenset[str]]
    formats: frozenset[str]

    @property
    def is_multi_day(self) -> bool:
        return "long" in self.formats

    @property
    def can_repeat_same_day(self) -> bool:
        """Return whether the same teams may play twice on one day."""
        return "t10" in self.formats


@lru_cache(maxsize=4096)
def find_markers(home: str, away: str, competition: str, sport: Sport) -> SquadMarkers:
    texts = [folded(text) for text in (home, away, competition)]
    squads = {squad_of(text) for text in (home, away, competition)}
    ages = frozenset(age for text in texts for age in _AGE.findall(text))
    women = Squad.WOMEN in squads or any(_WOMENS.search(text) for text in texts)
    if sport is Sport.FOOTBALL and _OLYMPIC.search(texts[2]) and not women:
        ages |= {_OLYMPIC_AGE}
    league = _side_markers(competition, sport) & {Squad.RESERVES, Squad.OTHER_GAME}
    return SquadMarkers(
        women=women,
        ages=ages,
        youth=Squad.YOUTH in squads or bool(ages),
        sides=(_side_markers(home, sport) | league, _side_markers(away, sport) | league),
        formats=_match_formats(texts[2], sport),
    )


def _side_markers(name: str, sport: Sport) -> frozenset[str]:
    normalized = folded(name)
    markers: set[str] = {str(squad) for squad in (Squad.RESERVES, Squad.OTHER_GAME) if squad_of(name) is squad}
    if _RESERVES.search(normalized):
        markers.add(Squad.RESERVES)
    if _GUEST_TEAMS.search(normalized):
        markers.add("guests")
    if sport is Sport.CRICKET and _SECOND_TEAM.search(normalized):
        markers.add("second string")
    return frozenset(markers)


def _match_formats(competition: str, sport: Sport) -> frozenset[str]:
    if sport is not Sport.CRICKET:
        return frozenset()
    return frozenset(name for name, pattern in _FORMATS if pattern.search(competition))


def find_incompatibility(a: SquadMarkers, b: SquadMarkers, *, swapped: bool) -> str | None:
    """Return why the two cannot be the same match; None if they can."""
    if a.women is not b.women:
        return "only one is a women's match"
    if a.youth is not b.youth or (a.ages and b.ages and not a.ages & b.ages):
        return "the age groups differ"
    b_sides = b.sides[::-1] if swapped else b.sides
    for a_side, b_side in zip(a.sides, b_sides, strict=True):
        if a_side != b_side:
            return f"only one is marked {', '.join(sorted(a_side ^ b_side))}"
    if a.formats and b.formats and not a.formats & b.formats:
        return "the formats differ"
    return None


# --- Pair a listing with a fixture by teams and kick-off, supported by the competition.


class KickoffDistance(StrEnum):
    ON_TIME = "at the same time"
    CLOSE = "hours apart"
    """The kick-off was moved, or one of them is in another time zone."""
    SAME_DAY = "half a day apart"
    LATER_DAY = "days apart"
    """Some feeds list each day of a match that lasts several days."""
    UNRELATED = "apart"


_MAX_DISTANCES = {
    KickoffDistance.ON_TIME: timedelta(minutes=15),
    KickoffDistance.CLOSE: timedelta(hours=3),
    KickoffDistance.SAME_DAY: timedelta(hours=12),
}
_MAX_DAYS = timedelta(days=5)
_MIN_REPEAT_DISTANCE = timedelta(minutes=45)
"""Minimum distance of two matches between the same teams on the same day."""

SAME, DOUBTFUL, DIFFERENT = PairingVerdict.SAME, PairingVerdict.DOUBTFUL, PairingVerdict.DIFFERENT


@dataclass(frozen=True, slots=True)
class _Rule:
    supported: PairingVerdict
    """Verdict if the competition is the same, too."""
    alone: PairingVerdict
    confidence: float


_NO_RULE = _Rule(DIFFERENT, DIFFERENT, 0.0)
_S, _L, _P, _X = TeamSimilarity.SAME, TeamSimilarity.LIKELY, TeamSimilarity.POSSIBLE, TeamSimilarity.DIFFERENT

RULES: dict[tuple[TeamSimilarity, TeamSimilarity], dict[KickoffDistance, _Rule]] = {
    (_S, _S): {
        KickoffDistance.ON_TIME: _Rule(SAME, SAME, 0.99),
        KickoffDistance.CLOSE: _Rule(SAME, SAME, 0.93),
        KickoffDistance.SAME_DAY: _Rule(SAME, SAME, 0.86),
        KickoffDistance.LATER_DAY: _Rule(SAME, DOUBTFUL, 0.80),
    },
    (_S, _L): {
        KickoffDistance.ON_TIME: _Rule(SAME, SAME, 0.96),
        KickoffDistance.CLOSE: _Rule(SAME, SAME, 0.90),
        KickoffDistance.SAME_DAY: _Rule(SAME, DOUBTFUL, 0.70),
        KickoffDistance.LATER_DAY: _Rule(DOUBTFUL, DOUBTFUL, 0.50),
    },
    (_L, _L): {
        KickoffDistance.ON_TIME: _Rule(SAME, SAME, 0.92),
        KickoffDistance.CLOSE: _Rule(SAME, DOUBTFUL, 0.80),
        KickoffDistance.SAME_DAY: _Rule(DOUBTFUL, DOUBTFUL, 0.50),
    },
    (_S, _P): {
        KickoffDistance.ON_TIME: _Rule(SAME, SAME, 0.86),
        KickoffDistance.CLOSE: _Rule(SAME, DOUBTFUL, 0.72),
        KickoffDistance.SAME_DAY: _Rule(DOUBTFUL, DOUBTFUL, 0.45),
    },
    (_L, _P): {
        KickoffDistance.ON_TIME: _Rule(SAME, DOUBTFUL, 0.75),
        KickoffDistance.CLOSE: _Rule(DOUBTFUL, DOUBTFUL, 0.50),
    },
    (_P, _P): {KickoffDistance.ON_TIME: _Rule(DOUBTFUL, DOUBTFUL, 0.50)},
    # One team and the time match, and the other name is unknown.
    (_S, _X): {
        KickoffDistance.ON_TIME: _Rule(DOUBTFUL, DOUBTFUL, 0.40),
        KickoffDistance.CLOSE: _Rule(DOUBTFUL, DIFFERENT, 0.30),
    },
}
"""Rules by similarity of the two teams, the more similar one first."""

MIN_MARGIN = 0.05
SWAPPED_FACTOR = 0.9
"""Factor on the confidence of a pairing with home and away swapped."""
_ORGANISERS = word_set("uefa fifa conmebol concacaf afc caf icc acc ofc copa cup league trophy series tour")


def pair_listing(listing: MatchListing, candidates: Sequence[PairingCandidate]) -> Pairing:
    """Return the best pairing, or DIFFERENT if no candidate is possible."""
    listing = replace(
        listing,
        home=tuple(name[:MAX_NAME_LENGTH] for name in listing.home),
        away=tuple(name[:MAX_NAME_LENGTH] for name in listing.away),
        competition=listing.competition[: 2 * MAX_NAME_LENGTH],
    )
    compared = [
        _compare(listing, candidate)
        for candidate in candidates
        if candidate.sport is listing.sport and abs(listing.kickoff - candidate.kickoff) <= _MAX_DAYS
    ]
    ranked = sorted(compared, key=lambda each: (_ORDER[each.verdict], each.confidence), reverse=True)
    if not ranked or ranked[0].verdict is DIFFERENT:
        return Pairing(DIFFERENT)
    best, *others = ranked
    runner_up = next((each for each in others if each.verdict is SAME), None)
    if best.verdict is SAME and runner_up is not None and best.confidence - runner_up.confidence < MIN_MARGIN:
        ambiguity = f"match {runner_up.fixture_id} is equally likely"
        return Pairing(DOUBTFUL, best.fixture_id, best.swapped, best.confidence / 2, (*best.reasons, ambiguity))
    return best


_ORDER = {DIFFERENT: 0, DOUBTFUL: 1, SAME: 2}


def _compare(listing: MatchListing, candidate: PairingCandidate) -> Pairing:
    markers = _markers(listing), _markers(candidate)
    distance = kickoff_distance(listing, candidate, markers)
    if distance is KickoffDistance.UNRELATED:
        return Pairing(DIFFERENT, candidate.fixture_id)
    straight = _compare_oriented(listing, candidate, markers, distance, swapped=False)
    swapped = _compare_oriented(listing, candidate, markers, distance, swapped=True)
    return max((straight, swapped), key=lambda each: (_ORDER[each.verdict], each.confidence))


def _compare_oriented(
    listing: MatchListing,
    candidate: PairingCandidate,
    markers: tuple[SquadMarkers, SquadMarkers],
    distance: KickoffDistance,
    *,
    swapped: bool,
) -> Pairing:
    names = (candidate.away, candidate.home) if swapped else (candidate.home, candidate.away)
    home, away = team_similarity(names[0], listing.home), team_similarity(names[1], listing.away)
    rule = RULES.get((max(home, away), min(home, away)), {}).get(distance, _NO_RULE)
    if rule is _NO_RULE or find_incompatibility(*markers, swapped=swapped) is not None:
        return Pairing(DIFFERENT, candidate.fixture_id, swapped)
    is_same = is_same_competition(listing.competition, candidate.competition)
    verdict = rule.supported if is_same else rule.alone
    confidence = rule.confidence
    if swapped:
        confidence *= SWAPPED_FACTOR
        is_certain = home is away is TeamSimilarity.SAME and distance in (
            KickoffDistance.ON_TIME,
            KickoffDistance.CLOSE,
        )
        if verdict is SAME and not is_certain and not _is_on_neutral_ground(listing):
            verdict = DOUBTFUL
    if verdict is DIFFERENT:
        return Pairing(DIFFERENT, candidate.fixture_id, swapped)
    reasons = (
        _team_reason(names[0], listing.home, home),
        _team_reason(names[1], listing.away, away),
        _time_reason(listing, candidate),
        _competition_reason(listing, candidate, same=is_same),
        *(["home and away are swapped"] if swapped else []),
    )
    return Pairing(verdict, candidate.fixture_id, swapped, round(confidence, 3), reasons)


def _markers(match: MatchListing | PairingCandidate) -> SquadMarkers:
    home, away = (names[0] if names else "" for names in (match.home, match.away))
    return find_markers(home, away, match.competition, match.sport)


def kickoff_distance(
    listing: MatchListing, candidate: PairingCandidate, markers: tuple[SquadMarkers, SquadMarkers]
) -> KickoffDistance:
    gap = abs(listing.kickoff - candidate.kickoff)
    if gap > _MIN_REPEAT_DISTANCE and any(each.can_repeat_same_day for each in markers):
        return KickoffDistance.UNRELATED
    for distance, bound in _MAX_DISTANCES.items():
        if gap <= bound:
            return distance
    is_multi_day = listing.sport is Sport.CRICKET and any(each.is_multi_day for each in markers)
    return KickoffDistance.LATER_DAY if is_multi_day and gap <= _MAX_DAYS else KickoffDistance.UNRELATED


def is_same_competition(a: str, b: str) -> bool:
    """Return whether two names match: `UEFA Champions League` and `Champions League`. An empty name never does."""
    a_words, b_words = _competition_words(a), _competition_words(b)
    if not a_words or not b_words:
        return False
    if set(a_words) <= set(b_words) or set(b_words) <= set(a_words):
        return True
    short, long = sorted(("".join(a_words), "".join(b_words)), key=len)
    return len(short) >= 4 and short in long  # LaLiga in Spanish La Liga


def _competition_words(name: str) -> list[str]:
    words = words_of(name)
    return [word for word in words if word not in _ORGANISERS] or words


def _is_on_neutral_ground(listing: MatchListing) -> bool:
    """Return whether the venue is neutral: the home side of a World Cup match is arbitrary."""
    if listing.sport is Sport.CRICKET:
        return True
    return bool(listing.home and listing.away and country_code(listing.home[0]) and country_code(listing.away[0]))


def _team_reason(fixture_names: Sequence[str], listing_names: Sequence[str], similarity: TeamSimilarity) -> str:
    names = f"{fixture_names[0] if fixture_names else '?'} and {listing_names[0] if listing_names else '?'}"
    if listing_names and fixture_names and (is_placeholder(listing_names[0]) or is_placeholder(fixture_names[0])):
        return f"{names}: one is not determined yet"
    wording = {
        TeamSimilarity.SAME: "the same team",
        TeamSimilarity.LIKELY: "very likely the same team",
        TeamSimilarity.POSSIBLE: "may be the same team",
        TeamSimilarity.DIFFERENT: "no sign of being the same team",
    }
    return f"{names}: {wording[similarity]}"


def _time_reason(listing: MatchListing, candidate: PairingCandidate) -> str:
    gap = abs(listing.kickoff - candidate.kickoff)
    if gap <= _MAX_DISTANCES[KickoffDistance.ON_TIME]:
        return "the same kick-off"
    hours, rest = divmod(gap, timedelta(hours=1))
    if not rest and hours <= 12:
        return f"kick-offs exactly {hours} h apart: one of them may be in the wrong time zone"
    return f"kick-offs {gap.total_seconds() / 3600:.1f} h apart"


def _competition_reason(listing: MatchListing, candidate: PairingCandidate, *, same: bool) -> str:
    if not listing.competition or not candidate.competition:
        return "a competition is missing"
    relation = "the same competition" if same else "different competition names"
    return f"{candidate.competition} and {listing.competition}: {relation}"


# --- Place a feed's listings: paired with a fixture, new, or doubtful.


OPERATOR_DECISION = "decided by an operator"
MAX_KICKOFF_GAP = {Sport.FOOTBALL: timedelta(hours=12), Sport.CRICKET: timedelta(days=5)}
"""Maximum distance between the starts of two listings of one match; cricket lasts several days."""
PREFIX_LENGTH = 3
MAX_FULL_COMPARISON = 20
"""With more candidates, only those that share the beginning of a name are compared."""


@dataclass(frozen=True, slots=True)
class PairingResults:
    joined: tuple[tuple[MatchListing, Pairing], ...] = ()
    doubtful: tuple[tuple[MatchListing, Pairing], ...] = ()
    new: tuple[MatchListing, ...] = ()


def to_listing(feed: str, live: LiveFixture) -> MatchListing:
    return MatchListing(
        feed=feed,
        feed_id=live.id,
        sport=live.sport,
        home=tuple(name for name in (live.home.name, live.home.short) if name),
        away=tuple(name for name in (live.away.name, live.away.short) if name),
        kickoff=live.kickoff,
        competition=live.league.name,
    )


def pair_listings(
    listings: Sequence[MatchListing],
    already_paired: Collection[int],
    candidates: Sequence[PairingCandidate],
    decided: Mapping[tuple[int, int], bool],
) -> PairingResults:
    """Pair new listings with fixtures, each with at most one match per feed. `already_paired` are feed ids."""
    unpaired = {candidate.fixture_id: candidate for candidate in candidates}
    prefixes = {candidate.fixture_id: _prefixes((*candidate.home, *candidate.away)) for candidate in candidates}
    paired: list[tuple[MatchListing, Pairing]] = []
    doubtful: list[tuple[MatchListing, Pairing]] = []
    new: list[MatchListing] = []
    for listing in listings:
        if listing.feed_id in already_paired:
            continue
        pairing = _pair_with_decisions(listing, _nearby_candidates(listing, unpaired, prefixes, decided), decided)
        if pairing.verdict is PairingVerdict.SAME and pairing.fixture_id is not None:
            del unpaired[pairing.fixture_id]
            paired.append((listing, pairing))
        elif pairing.verdict is PairingVerdict.DOUBTFUL and pairing.fixture_id is not None:
            doubtful.append((listing, pairing))
        else:
            new.append(listing)
    return PairingResults(tuple(paired), tuple(doubtful), tuple(new))


def _nearby_candidates(
    listing: MatchListing,
    unpaired: Mapping[int, PairingCandidate],
    prefixes: Mapping[int, frozenset[str]],
    decided: Mapping[tuple[int, int], bool],
) -> dict[int, PairingCandidate]:
    """Narrow the candidates before they are compared: at three o'clock on a Saturday there are hundreds."""
    limit = MAX_KICKOFF_GAP[listing.sport]
    near = {
        id_: each
        for id_, each in unpaired.items()
        if each.sport is listing.sport and abs(each.kickoff - listing.kickoff) <= limit
    }
    if len(near) <= MAX_FULL_COMPARISON:
        return near
    listing_prefixes = _prefixes((*listing.home, *listing.away))
    decided_ids = {fixture_id for feed_id, fixture_id in decided if feed_id == listing.feed_id}
    return {id_: each for id_, each in near.items() if id_ in decided_ids or listing_prefixes & prefixes[id_]}


def _prefixes(names: Iterable[str]) -> frozenset[str]:
    return frozenset(word[:PREFIX_LENGTH] for name in names for word in words_of(name))


def _pair_with_decisions(
    listing: MatchListing, unpaired: Mapping[int, PairingCandidate], decided: Mapping[tuple[int, int], bool]
) -> Pairing:
    decisions = {
        other_id: same
        for (feed_id, other_id), same in decided.items()
        if feed_id == listing.feed_id and other_id in unpaired
    }
    for fixture_id, same in decisions.items():
        if same:
            pairing = pair_listing(listing, [unpaired[fixture_id]])
            return replace(
                pairing,
                verdict=PairingVerdict.SAME,
                fixture_id=fixture_id,
                confidence=1.0,
                reasons=(OPERATOR_DECISION,),
            )
    return pair_listing(listing, [candidate for id_, candidate in unpaired.items() if decisions.get(id_) is not False])
