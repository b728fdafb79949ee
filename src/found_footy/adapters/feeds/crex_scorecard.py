"""The scorecard of a match on CREX: its innings, and the wickets with who fell to whom, how, and at which ball."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from found_footy.adapters.feeds.crex_names import Names
from found_footy.adapters.feeds.crex_words import OVERS_OF, Dismissal, Total, dismissal_of, total_of
from found_footy.adapters.feeds.cricket_words import MOST_INNINGS, other, overs_of
from found_footy.domain.errors import FeedSchemaError
from found_footy.domain.feeds.document import Reader
from found_footy.domain.fixtures.model import (
    WICKET,
    Innings,
    LiveGoal,
    Minute,
    Side,
    Team,
    Toss,
    WicketKind,
)

Teams = Mapping[Side, Team]
BALLS_AN_OVER = 6
MOST_ROWS = 30


@dataclass(frozen=True, slots=True)
class Played:
    innings: Innings
    wickets: tuple[LiveGoal, ...]
    described: tuple[str, ...]
    """The wickets in words."""
    whole: bool
    """Whether all of it was shown, and fits together."""


def _side(shown: Reader, teams: Teams) -> Side:
    name = shown.text().casefold()
    for side, team in teams.items():
        if name in (team.name.casefold(), (team.short or "").casefold()):
            return side
    raise shown.wrong("one of the two sides")


def shown_innings(data: Reader, teams: Teams, toss: Toss | None) -> list[tuple[Reader, Side]]:
    """Those that have begun, in the order in which they were played."""
    found = [
        (each, _side(each["team"], teams))
        for each in data["innings"].items(MOST_INNINGS)
        if total_of(each["score"].text(), f"{each.path}.score") is not None
    ]
    heads = data.maybe("teams")
    scored = heads is not None and any(_scored(each) for each in heads.items(2))
    if scored and not found:
        raise FeedSchemaError("innings", "no scorecard", "the scorecard of what is played")
    if len(found) == 2 and toss is not None and found[0][1] is not _bats_first(toss):
        found.reverse()
    return found


def _scored(head: Reader) -> bool:
    return re.match(r"\d", head.said("score") or "") is not None


def _bats_first(toss: Toss) -> Side:
    return toss.winner if toss.decision == "bat" else other(toss.winner)


def played_innings(
    shown: Reader, number: int, batting: Side, names: Names, *, over: bool, match_type: str | None
) -> Played:
    if shown.get("shown") is not True:
        raise FeedSchemaError(f"{shown.path}.shown", shown.get("shown"), "the tables of this innings")
    total = total_of(shown["score"].text(), f"{shown.path}.score")
    assert total is not None
    overs, balls = _overs(shown["overs"])
    out = {
        name.casefold(): (dismissal_of(row.said("decision") or ""), _made(row))
        for row in shown["batting"].items(MOST_ROWS)
        if (name := row.said("name"))
    }
    falls = [(row, out.get(row["name"].text().casefold())) for row in shown["falls"].items(MOST_ROWS)]
    # Who goes off hurt is listed among the fallen now and then, and may come back.
    falls = [(row, seen) for row, seen in falls if seen is None or seen[0].kind is not None]
    wickets = tuple(_wicket(row, seen and seen[0], number, batting, names) for row, seen in falls)
    _refuse_other_tables(shown, total, [row for row, _ in falls])
    described = tuple(_words(row, seen) for row, seen in falls)
    lost = total.wickets if total.wickets is not None else len(wickets)
    limit = OVERS_OF.get((match_type or "").upper(), 0)
    over = over or lost >= 10 or total.declared or (limit > 0 and overs >= limit)
    innings = Innings(number, batting, total.runs, lost, overs, balls, over)
    return Played(innings, wickets, described, total.wickets == len(wickets))


def _refuse_other_tables(shown: Reader, total: Total, falls: Sequence[Reader]) -> None:
    """Tables that cannot belong to this score are those of another innings, which is still shown."""
    if total.wickets is not None and len(falls) > total.wickets:
        raise FeedSchemaError(f"{shown.path}.falls", len(falls), f"at most the {total.wickets} wickets of the score")
    for row in falls:
        at = total_of(row.said("score") or "", f"{row.path}.score")
        if at is not None and at.runs > total.runs:
            raise FeedSchemaError(
                f"{row.path}.score", row.get("score"), f"at most the {total.runs} runs of the innings"
            )


def _overs(shown: Reader) -> tuple[int, int]:
    """`(12.3)`; nothing before the first ball."""
    text = shown.text().strip().strip("()").removesuffix("ov").strip()
    overs, balls = overs_of(Reader(text, shown.path)) if text else (0, 0)
    if balls > BALLS_AN_OVER:
        raise shown.wrong("overs such as 12.3")
    return (overs + 1, 0) if balls == BALLS_AN_OVER else (overs, balls)


def _wicket(row: Reader, seen: Dismissal | None, number: int, batting: Side, names: Names) -> LiveGoal:
    over, ball = overs_of(Reader(row["over"].text().strip("() "), row["over"].path))
    if ball > BALLS_AN_OVER:
        raise row["over"].wrong("overs such as 12.3")
    kind, bowler = (seen.kind, seen.bowler) if seen is not None else (None, None)
    return LiveGoal(
        side=other(batting),
        minute=Minute(over, ball, number),
        player=names.person(row["name"].text()),
        kind=kind or WicketKind.OTHER,
        assist=names.person(bowler or ""),
        type=WICKET,
    )


def _made(row: Reader) -> str:
    """What the batter had made: `42 (28)`."""
    runs, balls = row.said("runs"), row.said("balls")
    return f" {runs} ({balls})" if runs and balls and (runs + balls).isdecimal() else ""


def _words(row: Reader, seen: tuple[Dismissal, str] | None) -> str:
    name = row["name"].text()
    return f"{name}{seen[1]} {row.said('score') or ''}".strip() if seen else name


def with_ends(played: Sequence[Played]) -> list[Played]:
    """An innings after which another one began has ended."""
    last = len(played) - 1
    return [
        each if index == last else replace(each, innings=replace(each.innings, over=True))
        for index, each in enumerate(played)
    ]
