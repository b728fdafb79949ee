"""What in a cricket match's script must fit together."""

from __future__ import annotations

from collections.abc import Iterator

from found_footy.simulator.clips.checks import wicket_clip_problems
from found_footy.simulator.cricket_now import wickets_in_order
from found_footy.simulator.cricket_script import BALLS_AN_OVER, WICKETS_AN_INNINGS, CricketMatch, Innings
from found_footy.simulator.problems import Problem


def cricket_problems(path: str, match: CricketMatch) -> Iterator[Problem]:
    bats_first = match.innings[0].batting
    chosen = (match.toss.decision == "bat") == (match.toss.winner is bats_first)
    if not chosen:
        allowed = f"the side that {match.toss.decision}s by the toss, or another toss"
        yield Problem(f"{path}.innings[0].batting", str(bats_first), allowed)
    most = 4 if match.match_type == "Test" else 2
    if len(match.innings) > most:
        yield Problem(f"{path}.innings", len(match.innings), f"at most {most} in a {match.match_type}")
    if match.ends != "ABD" and not match.result:
        yield Problem(f"{path}.result", None, "the result in words")
    for index, innings in enumerate(match.innings):
        yield from _innings(f"{path}.innings[{index}]", innings)
        for place, wicket in enumerate(innings.wickets):
            yield from wicket_clip_problems(f"{path}.innings[{index}].wickets[{place}]", innings, wicket)


def _innings(path: str, innings: Innings) -> Iterator[Problem]:
    total = innings.overs.count
    if not total:
        yield Problem(f"{path}.overs", str(innings.overs), "at least one ball")
    if len(innings.wickets) > WICKETS_AN_INNINGS:
        yield Problem(f"{path}.wickets", len(innings.wickets), f"at most {WICKETS_AN_INNINGS}")
    fallen: set[int] = set()
    out: set[str] = set()
    for index, wicket in enumerate(innings.wickets):
        here = f"{path}.wickets[{index}]"
        if not 0 < wicket.ball.count <= total or not wicket.ball.ball:
            yield Problem(f"{here}.ball", str(wicket.ball), f"a ball that is bowled, up to {_last(total)}")
        if wicket.ball.count in fallen:
            yield Problem(f"{here}.ball", str(wicket.ball), "a ball on which no other wicket falls")
        if wicket.batter.key in out:
            yield Problem(f"{here}.batter", wicket.batter.name, "somebody who is not out yet")
        fallen.add(wicket.ball.count)
        out.add(wicket.batter.key)
        if (wicket.bowler is None) != (wicket.kind in ("run_out", "other")):
            allowed = "nobody" if wicket.kind in ("run_out", "other") else f"a bowler with {wicket.kind}"
            yield Problem(f"{here}.bowler", wicket.bowler and wicket.bowler.name, allowed)
    yield from _runs(path, innings)
    for index, pause in enumerate(innings.breaks):
        if pause.after.count >= total:
            yield Problem(f"{path}.breaks[{index}].after", str(pause.after), f"before the last ball, {_last(total)}")


def _runs(path: str, innings: Innings) -> Iterator[Problem]:
    """What is on the board never falls."""
    before = 0
    for wicket in wickets_in_order(innings):
        if wicket.runs is not None:
            if not before <= wicket.runs <= innings.runs:
                yield Problem(f"{path}.wickets", f"{wicket.runs} runs at {wicket.ball}", f"{before} to {innings.runs}")
            before = max(before, wicket.runs)


def _last(total: int) -> str:
    return f"{(total - 1) // BALLS_AN_OVER}.{(total - 1) % BALLS_AN_OVER + 1}" if total else "none"
