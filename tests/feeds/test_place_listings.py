"""Where the matches that a feed lists belong, and our ids for them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from found_footy.errors import FeedSchemaError
from found_footy.feeds.alignment import ID_SPAN, id_offset, to_fixture_ids
from found_footy.feeds.match_pairing import OPERATOR_DECISION, PairingResults, pair_listings, to_listing
from found_footy.feeds.models import MatchListing, PairingCandidate
from found_footy.fixtures.models import Sport, Team
from tests.support.football import START, match


def listing(feed_id: int, home: str = "Liverpool FC", away: str = "Man City") -> MatchListing:
    return MatchListing("two", feed_id, Sport.FOOTBALL, (home,), (away,), START, "Premier League")


def candidate(fixture_id: int, home: str = "Liverpool", away: str = "Manchester City") -> PairingCandidate:
    return PairingCandidate(fixture_id, Sport.FOOTBALL, (home,), (away,), START, "Premier League")


def placed(places: PairingResults) -> tuple[dict[int, int | None], dict[int, int | None], list[int]]:
    return (
        {each.feed_id: pairing.fixture_id for each, pairing in places.joined},
        {each.feed_id: pairing.fixture_id for each, pairing in places.doubtful},
        [each.feed_id for each in places.new],
    )


UNSURE = listing(1, away="Skyblues")


@pytest.mark.parametrize(
    ("listings", "known", "decided", "expected"),
    [
        ([listing(1)], (), {}, ({1: 10}, {}, [])),
        ([listing(1)], (1,), {}, ({}, {}, [])),
        ([listing(1, "Arsenal", "Chelsea")], (), {}, ({}, {}, [1])),
        # A match of ours is one match of a feed at most.
        ([listing(1), listing(2)], (), {}, ({1: 10}, {}, [2])),
        ([UNSURE], (), {}, ({}, {1: 10}, [])),
        ([UNSURE], (), {(1, 10): True}, ({1: 10}, {}, [])),
        ([UNSURE], (), {(1, 10): False}, ({}, {}, [1])),
        ([listing(1)], (), {(1, 10): False}, ({}, {}, [1])),
        # What was said of another listing, or of a match that is gone, says nothing.
        ([UNSURE], (), {(2, 10): True, (1, 99): True}, ({}, {1: 10}, [])),
    ],
)
def test_each_listing_finds_its_place(
    listings: list[MatchListing],
    known: tuple[int, ...],
    decided: dict[tuple[int, int], bool],
    expected: tuple[dict[int, int], dict[int, int], list[int]],
) -> None:
    assert (
        placed(pair_listings(listings, known, [candidate(10), candidate(11, "Everton", "Fulham")], decided)) == expected
    )


def test_an_operators_decision_is_the_reason() -> None:
    ((_, pairing),) = pair_listings([UNSURE], (), [candidate(10)], {(1, 10): True}).joined
    assert pairing.reasons == (OPERATOR_DECISION,)


def test_a_listing_has_all_names_that_the_feed_gives() -> None:
    live = replace(match(), home=Team(1, "Liverpool", "LIV"), kickoff=START + timedelta(hours=1))
    made = to_listing("two", live)
    assert (made.home, made.away, made.kickoff) == (("Liverpool", "LIV"), ("Manchester City",), live.kickoff)


def test_ids_of_two_feeds_never_meet() -> None:
    spaces = {id_offset(feed, is_primary=False) for feed in ("espn", "crex", "recording", "api_football", "espn2")}
    assert len(spaces) == 5
    assert all(ID_SPAN <= space < 2**53 - ID_SPAN and space % ID_SPAN == 0 for space in spaces)


def test_the_founding_feed_keeps_its_ids() -> None:
    live = match("23 home 7")
    assert to_fixture_ids(live, id_offset("one", is_primary=True)) is live


def test_all_ids_of_a_founding_feed_become_fixture_ids() -> None:
    live = match("23 home 7", "24 away ?")
    ours = to_fixture_ids(live, ID_SPAN)
    assert (ours.id, ours.home.id, ours.away.id, ours.league.id) == (
        ID_SPAN + 5000,
        ID_SPAN + 40,
        ID_SPAN + 50,
        ID_SPAN + 39,
    )
    assert [goal.player.id for goal in ours.goals] == [ID_SPAN + 7, None]


def test_an_id_that_is_out_of_all_bounds_is_refused() -> None:
    with pytest.raises(FeedSchemaError):
        to_fixture_ids(match(fixture_id=ID_SPAN), ID_SPAN)


def test_among_hundreds_of_matches_at_the_same_time_the_right_one_is_found() -> None:
    crowd = [candidate(100 + n, f"{chr(97 + n % 26)}ik{n} Town", f"{chr(97 + n % 26)}ol{n} Rovers") for n in range(300)]
    listings = [listing(1), UNSURE, listing(3, "Nobody Athletic", "Nowhere City")]
    joined, doubtful, new = placed(pair_listings(listings[:1], (), [*crowd, candidate(10)], {}))
    assert (joined, doubtful, new) == ({1: 10}, {}, [])
    assert placed(pair_listings([UNSURE], (), [*crowd, candidate(10)], {}))[1] == {1: 10}
    assert placed(pair_listings([listings[2]], (), crowd, {}))[2] == [3]


def test_an_operators_decision_counts_even_without_similar_names() -> None:
    crowd = [candidate(100 + n, f"{chr(97 + n % 26)}ik{n} Town", f"{chr(97 + n % 26)}ol{n} Rovers") for n in range(300)]
    strange = listing(1, "Die Roten", "Die Blauen")
    assert placed(pair_listings([strange], (), [*crowd, candidate(10)], {(1, 10): True}))[0] == {1: 10}


@pytest.mark.parametrize(("hours", "joins"), [(0, True), (3, True), (13, False), (200, False)])
def test_a_match_of_another_time_is_another(hours: int, joins: bool) -> None:
    later = replace(listing(1), kickoff=START + timedelta(hours=hours))
    assert bool(pair_listings([later], (), [candidate(10)], {}).joined) is joins
