"""What came out of a replay against what happened then, and why a goal has no clip."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from found_footy.errors import SourceLoggedOut
from found_footy.recordings.missing_clips import MissingClipReason, explain_missing_clips
from found_footy.recordings.models import Recording
from found_footy.recordings.outcome import (
    NOT_STARTED,
    OVER_WHEN_FIRST_SEEN,
    REMOVED,
    STABLE,
    GoalOutcome,
    MatchOutcome,
    compare,
    compare_outcomes,
    id_without_feed_offset,
    outcome_of_document,
    outcomes_of_answers,
)
from tests.support.football import match
from tests.support.recordings import post, recording, response, search

EVENT = "5000_40_7_Goal_1"
ONE = GoalOutcome("home", "Seven", "23'", "Normal Goal", "1-0", STABLE, EVENT, 3, ("a" * 32,), {"gone": 1})
THEN = MatchOutcome(5000, "Liverpool - Chelsea", "FT", "1-0", (ONE,))


def differing(now: MatchOutcome | None, then: MatchOutcome = THEN) -> list[tuple[str, str, str]]:
    return [(each.what, each.then, each.now) for each in compare(then, now).differences]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (THEN, []),
        (None, [("match", "Liverpool - Chelsea", "nothing")]),
        (replace(THEN, status="AET"), [("status", "FT", "AET")]),
        (replace(THEN, score="2-0"), [("score", "1-0", "2-0")]),
        (replace(THEN, goals=()), [("goal", "23' Seven 1-0 (certain)", "nothing")]),
        (replace(THEN, goals=(ONE, replace(ONE, id="x"))), [("goal", "nothing", "23' Seven 1-0 (certain)")]),
        (replace(THEN, goals=(replace(ONE, player="Eight"),)), [("player", "Seven", "Eight")]),
        (replace(THEN, goals=(replace(ONE, minute="24'"),)), [("minute", "23'", "24'")]),
        (replace(THEN, goals=(replace(ONE, state=REMOVED),)), [("state", "certain", "withdrawn")]),
        (replace(THEN, goals=(replace(ONE, polls=2),)), [("polls", "3", "2")]),
        (replace(THEN, goals=(replace(ONE, clips=()),)), [("clips", "aaaaaaaa", "nothing")]),
        (replace(THEN, goals=(replace(ONE, rejections={"gone": 2}),)), [("rejections", "1 gone", "2 gone")]),
        # missing files prove nothing
        (replace(THEN, goals=(replace(ONE, clips=(), missing_files=1),)), []),
    ],
)
def test_differences(now: MatchOutcome | None, expected: list[tuple[str, str, str]]) -> None:
    assert differing(now) == expected


def test_missing_files_are_noted() -> None:
    (note,) = compare(THEN, replace(THEN, goals=(replace(ONE, clips=(), missing_files=2),))).notes
    assert "no longer exist: 2" in note


FEED_SAID = replace(ONE, id=None, polls=None, clips=None, rejections=None)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ((ONE,), []),
        ((replace(ONE, id="anything"),), []),  # a feed's list tells no ids
        ((ONE, replace(ONE, score="1-1", state=REMOVED)), []),  # nor what was withdrawn before its end
        ((replace(ONE, state=REMOVED),), [("goal", "23' Seven 1-0 (certain)", "nothing")]),
        (
            (replace(ONE, score="2-0"),),
            [("goal", "23' Seven 1-0 (certain)", "nothing"), ("goal", "nothing", "23' Seven 2-0 (certain)")],
        ),
    ],
)
def test_goals_without_ids_are_paired_by_score(now: tuple[GoalOutcome, ...], expected: list[Any]) -> None:
    assert differing(replace(THEN, goals=now), replace(THEN, goals=(FEED_SAID,))) == expected


UNSEEN = replace(THEN, id=6000, title="Arsenal - Everton", note=OVER_WHEN_FIRST_SEEN, goals=())
OTHER_FEEDS = replace(THEN, title="Leeds - Fulham", goals=())
"""A match to which another feed has given the same number."""
NOT_THERE = ("match", "nothing", "Liverpool - Chelsea")


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        ([THEN], [THEN], [[]]),
        ([THEN], [], [[("match", "Liverpool - Chelsea", "nothing")]]),
        # doubled, and invented
        ([THEN], [THEN, THEN], [[], [NOT_THERE]]),
        ([THEN], [THEN, replace(THEN, id=6000)], [[], [NOT_THERE]]),
        ([], [THEN], [[NOT_THERE]]),
        # a note says why one is not compared; but what is over or has not begun has no goals
        ([THEN, UNSEEN], [THEN], [[], []]),
        ([THEN, UNSEEN], [THEN, replace(UNSEEN, note="")], [[], []]),
        ([UNSEEN], [replace(UNSEEN, goals=(ONE,))], [[("goal", "nothing", "23' Seven 1-0 (certain)")]]),
        ([UNSEEN], [replace(UNSEEN, goals=(replace(ONE, state=REMOVED),))], [[]]),
        # two feeds that use one number: neither takes the other's place, in whatever order they come
        ([THEN, OTHER_FEEDS], [THEN, OTHER_FEEDS], [[], []]),
        ([THEN, OTHER_FEEDS], [OTHER_FEEDS, THEN], [[], []]),
        ([THEN, OTHER_FEEDS], [OTHER_FEEDS], [[("match", "Liverpool - Chelsea", "nothing")], []]),
        # a team that has got another name is still itself
        ([THEN], [replace(THEN, title="Liverpool FC - Chelsea")], [[]]),
    ],
)
def test_every_recorded_and_replayed_match_is_compared(
    then: list[MatchOutcome], now: list[MatchOutcome], expected: list[list[tuple[str, str, str]]]
) -> None:
    found = compare_outcomes(then, now)
    assert [[(each.what, each.then, each.now) for each in match.differences] for match in found] == expected


def test_notes_and_titles_of_unmatched_matches() -> None:
    unseen, invented = compare_outcomes([UNSEEN], [THEN])
    assert (unseen.notes, unseen.note) == ((OVER_WHEN_FIRST_SEEN,), OVER_WHEN_FIRST_SEEN)
    assert (invented.title, invented.note, invented.then) == ("Liverpool - Chelsea", "", None)


@pytest.mark.parametrize(
    ("id_", "expected"),
    [
        ("5000_40_7_Goal_1", "5000_40_7_Goal_1"),
        ("77000000005000_77000000000040_77000000000007_Goal_1", "5000_40_7_Goal_1"),
        ("5000_40_0_Wicket_2", "5000_40_0_Wicket_2"),
    ],
)
def test_ids_are_compared_without_feed_offsets(id_: str, expected: str) -> None:
    assert id_without_feed_offset(id_) == expected


# --- a feed's own words as the truth


def truth(*answers: Any) -> MatchOutcome:
    (found,) = outcomes_of_answers(recording(*answers), over_polls=3)
    return found


def test_the_outcome_is_the_last_response_before_the_match_is_closed() -> None:
    found = truth(
        response(match(status="NS", score=None), [0]),
        response(match("23 home 7"), [1, 2]),
        response(match("23 home 7", "80 away 9", status="FT"), [3, 4]),
        response(match("23 home 7", "81 away 9", status="FT"), [5]),
        response(match("23 home 7", "82 away 9", status="FT"), [6]),
    )
    assert (found.status, found.score) == ("FT", "1-1")
    assert [(goal.minute, goal.score, goal.id) for goal in found.goals] == [("23'", "1-0", None), ("81'", "1-1", None)]
    (remark,) = found.remarks
    assert "81' Player 9 1-1" in remark
    assert "82' Player 9 1-1" in remark


@pytest.mark.parametrize(
    ("answers", "note"),
    [
        ([response(match("23 home 7", status="FT"), [0])], OVER_WHEN_FIRST_SEEN),
        ([response(match(status="NS", score=None), [0]), response(match(status="PST", score=None), [9])], NOT_STARTED),
        ([response(match(status="NS", score=None), [0]), response(match("23 home 7"), [9])], ""),
        ([response(match(status="NS", score=None), [0]), response(match(status="FT"), [9])], ""),
    ],
)
def test_matches_without_an_outcome_have_a_note(answers: list[Any], note: str) -> None:
    assert truth(*answers).note == note


# --- why a goal has no clip


def candidate(name: str, loss: str | None, state: str = "lost") -> dict[str, Any]:
    return {"key": f"bluesky:{name}", "loss": loss, "loss_detail": f"{name} is {loss}", "state": state}


def event(*candidates: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "_event_id": EVENT,
        "_debounce_complete": True,
        "_removed": False,
        "_s3_videos": [],
        "_discovered_videos": list(candidates),
        "time": {"elapsed": 23, "extra": None},
        "player": {"name": "Seven"},
    } | fields


def recorded(*searches: Any, events: list[dict[str, Any]]) -> Recording:
    return recording(response(match(), [0]), searches=searches, document={"events": events})


OTHER = "5000_40_7_Goal_2"


@pytest.mark.parametrize(
    ("searches", "candidates", "why", "evidence"),
    [
        ([search(EVENT, 1), search(EVENT, 2)], [], MissingClipReason.NEVER_POSTED, "2 searches found: bluesky 0, x 0"),
        ([], [], MissingClipReason.UNKNOWN, "no search was recorded"),
        # one source that answers is enough to say that nothing was posted there; the other one is told of
        (
            [search(EVENT, 1, failed=SourceLoggedOut("who?"))],
            [],
            MissingClipReason.NEVER_POSTED,
            "x failed 1 of 1 times",
        ),
        (
            [search(EVENT, 1, post("a"))],
            [candidate("a", "too short")],
            MissingClipReason.MISSED,
            "too short: bluesky:a, a is too",
        ),
        ([search(EVENT, 1, post("a"))], [candidate("a", "passed over")], MissingClipReason.MISSED, "1 × passed over"),
        (
            [search(EVENT, 1, post("a", poll=2), poll=10)],
            [],
            MissingClipReason.MISSED,
            "too old when found, the newest",
        ),
        (
            [search(EVENT, 1, poll=10), search(OTHER, 1, post("late", poll=14), poll=15)],
            [],
            MissingClipReason.MISSED,
            "posted 120 s after the last search: bluesky:late",
        ),
        # posts of somebody else's goal say nothing of this one
        (
            [search(EVENT, 1, poll=10), search(OTHER, 1, post("b", poll=14, text="Eight scores for Liverpool"))],
            [],
            MissingClipReason.NEVER_POSTED,
            "1 searches found",
        ),
        # nor do posts from before
        (
            [search(EVENT, 1, poll=10), search(OTHER, 1, post("early", poll=3))],
            [],
            MissingClipReason.NEVER_POSTED,
            "1 searches found",
        ),
    ],
)
def test_a_goal_without_a_clip_is_explained(
    searches: Any, candidates: Any, why: MissingClipReason, evidence: str
) -> None:
    (found,) = explain_missing_clips(recorded(*searches, events=[event(*candidates)]))
    assert found.why is why
    assert any(evidence in line for line in found.evidence), found.evidence


def test_without_a_successful_search_the_reason_is_unknown() -> None:
    silent = search(EVENT, 1, failed=SourceLoggedOut("who?"))
    silent = replace(silent, sources=silent.sources[1:])
    (found,) = explain_missing_clips(recorded(silent, events=[event()]))
    assert found.why is MissingClipReason.UNKNOWN


@pytest.mark.parametrize("fields", [{"_removed": True}, {"_debounce_complete": False}, {"_s3_videos": [{"md5": "a"}]}])
def test_only_stable_goals_without_a_clip_are_explained(fields: dict[str, Any]) -> None:
    assert explain_missing_clips(recorded(search(EVENT, 1), events=[event(**fields)])) == ()


def test_outcome_of_a_document() -> None:
    goal = event(
        candidate("a", "gone"),
        candidate("b", "not kept"),
        time={"elapsed": 90, "extra": 3, "innings": None},
        detail="Penalty",
        _scoring_team="home",
        _score_after={"home": 1, "away": 0},
        _stable_count=3,
        _s3_videos=[{"md5": "f" * 32}],
    )
    document = {
        "_id": 77_000_000_005_000,
        "teams": {"home": {"name": "Liverpool"}, "away": {"name": "Chelsea"}},
        "goals": {"home": 1, "away": 0},
        "fixture": {"status": {"short": "FT"}},
        "events": [goal],
    }
    found = outcome_of_document(document, missing_file_detail="b is not kept")
    assert (found.id, found.title, found.score) == (5000, "Liverpool - Chelsea", "1-0")
    (one,) = found.goals
    assert (one.minute, one.kind, one.polls, one.missing_files) == ("90+3'", "Penalty", 3, 1)
    assert (one.clips, one.rejections) == (("f" * 32,), {"gone": 1})
