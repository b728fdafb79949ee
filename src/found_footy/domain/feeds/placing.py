"""Where the matches that a feed lists belong: to a match of ours, to none yet, or nobody can tell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from found_footy.domain.feeds.club_names import words_of
from found_footy.domain.feeds.listing import Candidate, Listing, Pairing, Sameness
from found_footy.domain.feeds.pairing import pair_listing
from found_footy.domain.fixtures.model import LiveFixture, Sport

SAID_SO = "an operator says so"
NEAR = {Sport.FOOTBALL: timedelta(hours=12), Sport.CRICKET: timedelta(days=5)}
"""Matches whose beginnings are further apart are never the same; cricket is played over days."""
LETTERS = 3
FEW = 20
"""So many candidates are all weighed; of more, those that share the beginning of a name."""


@dataclass(frozen=True, slots=True)
class Places:
    joined: tuple[tuple[Listing, Pairing], ...] = ()
    doubtful: tuple[tuple[Listing, Pairing], ...] = ()
    new: tuple[Listing, ...] = ()


def listing_of(feed: str, live: LiveFixture) -> Listing:
    return Listing(
        feed=feed,
        feed_id=live.id,
        sport=live.sport,
        home=tuple(name for name in (live.home.name, live.home.short) if name),
        away=tuple(name for name in (live.away.name, live.away.short) if name),
        kickoff=live.kickoff,
        competition=live.league.name,
    )


def place(
    listings: Sequence[Listing],
    known: Collection[int],
    candidates: Sequence[Candidate],
    decided: Mapping[tuple[int, int], bool],
) -> Places:
    """`known` are the feed's ids that have a place already. A match of ours is one match of a feed at most."""
    free = {candidate.fixture_id: candidate for candidate in candidates}
    starts = {candidate.fixture_id: _starts((*candidate.home, *candidate.away)) for candidate in candidates}
    joined: list[tuple[Listing, Pairing]] = []
    doubtful: list[tuple[Listing, Pairing]] = []
    new: list[Listing] = []
    for listing in listings:
        if listing.feed_id in known:
            continue
        pairing = _pairing(listing, _near(listing, free, starts, decided), decided)
        if pairing.sameness is Sameness.SAME and pairing.fixture_id is not None:
            del free[pairing.fixture_id]
            joined.append((listing, pairing))
        elif pairing.sameness is Sameness.DOUBTFUL and pairing.fixture_id is not None:
            doubtful.append((listing, pairing))
        else:
            new.append(listing)
    return Places(tuple(joined), tuple(doubtful), tuple(new))


def _near(
    listing: Listing,
    free: Mapping[int, Candidate],
    starts: Mapping[int, frozenset[str]],
    decided: Mapping[tuple[int, int], bool],
) -> dict[int, Candidate]:
    """Weighing a pair costs some time, and a Saturday at three o'clock has hundreds."""
    limit = NEAR[listing.sport]
    near = {
        id_: each
        for id_, each in free.items()
        if each.sport is listing.sport and abs(each.kickoff - listing.kickoff) <= limit
    }
    if len(near) <= FEW:
        return near
    named = _starts((*listing.home, *listing.away))
    said = {ours for feed_id, ours in decided if feed_id == listing.feed_id}
    return {id_: each for id_, each in near.items() if id_ in said or named & starts[id_]}


def _starts(names: Iterable[str]) -> frozenset[str]:
    return frozenset(word[:LETTERS] for name in names for word in words_of(name))


def _pairing(listing: Listing, free: Mapping[int, Candidate], decided: Mapping[tuple[int, int], bool]) -> Pairing:
    said = {ours: same for (feed_id, ours), same in decided.items() if feed_id == listing.feed_id and ours in free}
    for fixture_id, same in said.items():
        if same:
            found = pair_listing(listing, [free[fixture_id]])
            return replace(found, sameness=Sameness.SAME, fixture_id=fixture_id, confidence=1.0, reasons=(SAID_SO,))
    return pair_listing(listing, [candidate for id_, candidate in free.items() if said.get(id_) is not False])
