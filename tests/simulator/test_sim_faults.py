from __future__ import annotations

from sim_helpers import at, goal, match, pair

from footy_simulator.api_football import RequestQuota, corrupted
from footy_simulator.faults import FaultSchedule
from footy_simulator.scenario import ScriptedFault, ScriptedLimits


def kinds(schedule: FaultSchedule, offset: float, *match_ids: int) -> list[str]:
    due = schedule.due(offset, match_ids)
    return [fault.kind for fault in ([due.feed] if due.feed else due.matches)]


def test_a_fault_lasts_its_polls_whatever_the_time() -> None:
    schedule = FaultSchedule([ScriptedFault(at="+1m", kind="server_error", polls=2)])
    seen = [kinds(schedule, offset, 1) for offset in (0, 59, 60, 60, 60, 5000)]
    assert seen == [[], [], ["server_error"], ["server_error"], [], []]


def test_a_match_fault_counts_only_polls_of_that_match() -> None:
    schedule = FaultSchedule([ScriptedFault(at="+1m", kind="wrong_score", match=7)])
    assert [kinds(schedule, 60, 1), kinds(schedule, 120, 1, 7), kinds(schedule, 180, 7)] == [
        [],
        ["wrong_score"],
        [],
    ]


def test_faults_of_the_feed_come_one_after_the_other() -> None:
    schedule = FaultSchedule([ScriptedFault(at="+2m", kind="html"), ScriptedFault(at="+1m", kind="truncated", polls=2)])
    assert [kinds(schedule, 300, 1) for _ in range(4)] == [["truncated"], ["truncated"], ["html"], []]


def test_effects_of_match_faults() -> None:
    fixture = at(match(goals=[goal(9)]), 20)
    wrong = [
        corrupted(fixture, [ScriptedFault(at="+0m", kind=kind, match=1)])
        for kind in ("wrong_score", "bad_schema", "unknown_status")
    ]
    assert pair(wrong[0]["goals"]) == (2, 0)
    assert len(wrong[0]["events"]) == 1
    assert wrong[1]["fixture"]["status"]["elapsed"] == "abc"
    assert wrong[2]["fixture"]["status"]["short"] == "XYZ"
    assert pair(fixture["goals"]) == (1, 0), "the original is left alone"
    assert corrupted(fixture, [ScriptedFault(at="+0m", kind="bad_schema", match=2)]) == fixture


def test_the_limits() -> None:
    now = 0.0
    quota = RequestQuota(ScriptedLimits(per_day=5, per_minute=2), lambda: now)
    assert [quota.take(), quota.take()] == [{}, {}]
    assert quota.take() == {"rateLimit": "Too many requests. Your rate limit is 2 requests per minute."}
    assert quota.headers()["x-ratelimit-remaining"] == "0"
    assert quota.headers()["x-ratelimit-requests-remaining"] == "3"
    now = 60.0
    assert [quota.take(), quota.take()] == [{}, {}]
    now = 120.0
    assert quota.take() == {}
    assert quota.take()["requests"].startswith("You have reached the request limit for the day")
