"""One match out of several feeds' words: whose word counts, and what is remembered of the others."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from found_footy.feeds.models import FeedReport, ReconciledFixture
from found_footy.feeds.reconcile import reconcile, runs_differ
from found_footy.fixtures.models import (
    Innings,
    LastEvent,
    League,
    LiveFixture,
    MatchMinute,
    Player,
    Score,
    Side,
    Sport,
    Team,
    Toss,
)
from tests.support.football import AWAY, HOME, START
from tests.support.two_feeds import LATER, OURS, feed_answer, feed_report

SALAH = "10 home Mohamed Salah"


def reconciled(*words: FeedReport) -> ReconciledFixture:
    return reconcile(OURS, words)


def a(**fields: Any) -> FeedReport:
    return feed_report("a", replace(feed_answer("a"), **fields))


def b(**fields: Any) -> FeedReport:
    return feed_report("b", replace(feed_answer("b"), **fields))


@pytest.mark.parametrize(
    ("field", "first", "second", "chosen"),
    [
        ("status", "2H", "1H", "2H"),
        ("score", Score(2, 0), Score(1, 0), Score(2, 0)),
        ("score", None, Score(1, 0), Score(1, 0)),  # missing: the next feed's
        ("penalties", None, Score(4, 3), Score(4, 3)),
        ("minute", None, MatchMinute(44), MatchMinute(44)),
        ("venue", None, "Anfield", "Anfield"),
        ("venue", "", "Anfield", "Anfield"),
        ("venue", "Anfield Road", "Anfield", "Anfield Road"),
        ("kickoff", START, START + LATER, START),
        ("toss", None, Toss(Side.AWAY, "bat"), Toss(Side.AWAY, "bat")),
        ("innings", (), (Innings(1, Side.HOME, 10, 1),), (Innings(1, Side.HOME, 10, 1),)),
        ("last_event", None, LastEvent("goal", "Salah"), LastEvent("goal", "Salah")),
        ("status", "???", "1H", "1H"),  # a status that nobody knows is none
    ],
)
def test_precedence_decides_and_the_next_feed_fills_what_is_missing(
    field: str, first: Any, second: Any, chosen: Any
) -> None:
    found = reconciled(b(**{field: second}), a(**{field: first}))
    assert getattr(found.live, field) == chosen
    assert found.provenance[field].chosen.feed == ("a" if chosen == first else "b")


def test_among_equals_the_latest_snapshot_wins() -> None:
    older, newer = feed_answer("b", score="1-0"), feed_answer("b", score="2-0")
    words = [
        FeedReport("old", 50, older, START, founding=True),
        FeedReport("new", 50, newer, START + timedelta(seconds=1)),
    ]
    found = reconcile(OURS, words)
    assert found.live.score == Score(2, 0)
    assert found.provenance["score"].chosen.feed == "new"
    assert [said.feed for said in found.provenance["score"].others] == ["old"]


@pytest.mark.parametrize(
    ("confidence", "chosen"),
    [(0.5, "a"), (0.49, "b"), (0.0, "b"), (1.0, "a"), (math.nan, "b")],
)
def test_uncertain_fields_are_skipped(confidence: float, chosen: str) -> None:
    found = reconciled(a(score=Score(1, 0), confidence={"score": confidence}), b(score=Score(0, 0)))
    assert found.provenance["score"].chosen.feed == chosen
    left_out = chosen == "b"
    assert ("a" in [said.feed for said in found.provenance["score"].others]) is False
    assert (found.conflicts == ()) is left_out


def test_a_field_without_a_certain_source_stays_empty_except_status() -> None:
    found = reconciled(a(venue="Anfield", confidence={"venue": 0.1, "status": 0.1, "kickoff": 0.0}))
    assert found.live.venue is None
    assert "venue" not in found.provenance
    assert found.live.status == "1H"
    assert found.live.kickoff == START


def test_goals_that_a_reader_is_not_sure_of_are_not_listed() -> None:
    first = feed_report("a", replace(feed_answer("a", SALAH), confidence={"goals": 0.3}))
    assert reconciled(first, feed_report("b", feed_answer("b"))).live.goals == ()


def test_each_field_has_its_source_time_and_other_values() -> None:
    found = reconcile(
        OURS, [feed_report("a", feed_answer("a", SALAH), START), feed_report("b", feed_answer("b"), START + LATER)]
    )
    score = found.provenance["score"]
    assert (score.chosen.feed, score.chosen.value, score.chosen.at) == ("a", "1-0", START)
    assert [(said.feed, said.value, said.at) for said in score.others] == [("b", "0-0", START + LATER)]
    assert found.provenance["goals"].chosen.value == ["1-0 10' Mohamed Salah"]
    assert found.provenance["goals"].others[0].value == []
    assert found.provenance["league"].chosen.value == "Premier League"
    assert found.provenance["minute"].chosen.value == "45'"


def test_metadata_is_chosen_key_by_key() -> None:
    first = a(metadata={"weather": "rain", "referee": ""}, confidence={"metadata.weather": 0.2})
    found = reconciled(first, b(metadata={"weather": "sun", "referee": "Oliver", "series": "Cup"}))
    assert found.live.metadata == {"weather": "sun", "referee": "Oliver", "series": "Cup"}
    assert found.provenance["metadata.series"].chosen.feed == "b"


def test_a_clock_belongs_to_its_status() -> None:
    found = reconciled(a(status="FT", minute=None), b(status="2H", minute=MatchMinute(88)))
    assert (found.live.status, found.live.minute) == ("FT", None)


# ids and sides ---------------------------------------------------------------------------------------------------


def numbered(live: LiveFixture) -> LiveFixture:
    goals = tuple(replace(goal, player=Player(306, goal.player.name), assist=Player(7, "Jota")) for goal in live.goals)
    return replace(live, goals=goals)


def test_teams_and_match_have_fixture_ids_and_players_those_of_the_founding_feed() -> None:
    words = (
        feed_report("a", numbered(feed_answer("a", SALAH))),
        feed_report("b", numbered(feed_answer("b", SALAH, "20 away Phil Foden"))),
    )
    live = reconciled(*words).live
    assert (live.id, live.home, live.away, live.feed) == (5000, HOME, AWAY, "a")
    assert [goal.player for goal in live.goals] == [Player(306, "Mohamed Salah"), Player(None, "Phil Foden")]
    assert live.goals[1].assist == Player(None, "Jota")


def test_the_league_comes_from_the_founding_feed() -> None:
    first = feed_report("a", replace(feed_answer("a"), league=League(7, "EPL")), founding=False)
    found = reconcile(OURS, [first, feed_report("b", feed_answer("b"), founding=True)])
    assert found.live.league == League(39, "Premier League")
    assert found.live.feed == "b"
    assert found.provenance["league"].chosen.feed == "b"
    assert [said.value for said in found.provenance["league"].others] == ["EPL"]


def test_a_feed_that_has_home_and_away_the_other_way_round_is_turned() -> None:
    theirs = LiveFixture(
        id=1,
        feed="b",
        status="LIVE",
        kickoff=START,
        league=League(1, "T20"),
        home=Team(1, AWAY.name, "MCI"),
        away=Team(2, HOME.name, "LIV"),
        score=Score(3, 1),
        penalties=Score(5, 4),
        goals=feed_answer("b", "10 away Mohamed Salah", "11 home Phil Foden").goals,
        sport=Sport.CRICKET,
        innings=(Innings(1, Side.HOME, 187, 5, 20),),
        toss=Toss(Side.HOME, "bat"),
    )
    live = reconcile(OURS, [feed_report("b", theirs, swapped=True)]).live
    assert (live.score, live.penalties) == (Score(1, 3), Score(4, 5))
    assert [goal.side for goal in live.goals] == [Side.HOME, Side.AWAY]
    assert live.innings[0].batting is Side.AWAY
    assert live.toss == Toss(Side.AWAY, "bat")
    assert (live.home.short, live.away.short) == ("LIV", "MCI")


def test_the_raw_data_comes_from_the_feed_with_the_highest_precedence() -> None:
    found = reconciled(b(raw={"from": "b"}), a(raw={"from": "a"}))
    assert found.live.raw == {"from": "a"}


# what counts -----------------------------------------------------------------------------------------------------


def test_only_snapshots_since_the_last_poll_count() -> None:
    words = [feed_report("a", feed_answer("a"), START + LATER), feed_report("b", feed_answer("b", SALAH), START)]
    live = reconcile(OURS, words, since=START).live
    assert live.evidence is not None
    assert live.evidence.feeds == ("a",)
    assert [goal.confirmed for goal in live.goals] == [False]
    everything = reconcile(OURS, words).live
    assert everything.evidence is not None
    assert everything.evidence.feeds == ("a", "b")
    assert [goal.confirmed for goal in everything.goals] == [True]


def test_the_highest_count_of_any_feed_is_kept_per_side() -> None:
    live = reconciled(a(score=Score(0, 2)), b(score=Score(1, 1))).live
    assert live.evidence is not None
    assert live.evidence.max_score == Score(1, 2)
    assert live.score == Score(0, 2)


# contradictions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "fields"),
    [
        ({}, {}, []),
        ({"score": Score(1, 0)}, {"score": Score(1, 0)}, []),
        ({"score": Score(1, 0)}, {"score": Score(0, 0)}, ["score"]),
        ({"score": None}, {"score": Score(0, 0)}, []),
        ({"status": "1H"}, {"status": "HT"}, []),  # both are on
        ({"status": "FT"}, {"status": "2H"}, ["status"]),
        ({"status": "FT"}, {"status": "AET"}, []),
        ({"status": "NS"}, {"status": "FT"}, ["status"]),
        ({"status": "???"}, {"status": "FT"}, []),
        ({"innings": (Innings(1, Side.HOME, 100, 3),)}, {"innings": (Innings(1, Side.HOME, 95, 3),)}, []),
        (
            {"innings": (Innings(1, Side.HOME, 100, 3),)},
            {"innings": (Innings(1, Side.HOME, 94, 3),)},
            ["innings.1.runs"],
        ),
        (
            {"innings": (Innings(1, Side.HOME, 100, 3),)},
            {"innings": (Innings(1, Side.HOME, 100, 4),)},
            ["innings.1.wickets"],
        ),
        ({"innings": (Innings(1, Side.HOME, 100, 3),)}, {"innings": (Innings(2, Side.AWAY, 4, 0),)}, []),
        ({"score": Score(1, 0), "confidence": {"score": 0.2}}, {"score": Score(0, 0)}, []),
    ],
)
def test_conflicting_values(first: dict[str, Any], second: dict[str, Any], fields: list[str]) -> None:
    found = reconciled(a(**first), b(**second)).conflicts
    assert [each.field for each in found] == fields
    assert all(each.chosen == "a" and set(each.reported) == {"a", "b"} for each in found)


@pytest.mark.parametrize(
    ("runs", "differ"),
    [([], False), ([5], False), ([0, 0], False),
     ([0, 1], True), ([19, 20], False), ([18, 20], True), ([187, 186], False)],
)  # fmt: skip
def test_runs_may_differ_by_a_twentieth(runs: list[int], differ: bool) -> None:
    assert runs_differ(runs) is differ
