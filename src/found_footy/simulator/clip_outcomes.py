"""How a post may rightly end in a search for a goal: for its own goal, and for another one that it was found for."""

from __future__ import annotations

from dataclasses import dataclass

from found_footy.domain.videos.losses import Loss
from found_footy.simulator.clips.cricket_footage import fallen_of, wicket_footage
from found_footy.simulator.clips.footage import final_minute, goal_footage
from found_footy.simulator.clips.kinds import PostKind, Reason
from found_footy.simulator.clips.spec import ClipSpec
from found_footy.simulator.clips.truth import ClipTruth, truth_of
from found_footy.simulator.cricket_script import BALLS_AN_OVER, CricketMatch
from found_footy.simulator.script import Match

TOLERANCE = 4
"""Minutes: within these a clock may belong to the goal, so nothing is said of it."""
BALL_TOLERANCE = BALLS_AN_OVER + 2
"""The same for a wicket."""

AnyMatch = Match | CricketMatch

_LOSSES: dict[Reason, frozenset[Loss]] = {
    "wrong_minute": frozenset({Loss.WRONG_MINUTE}),
    "other_match": frozenset({Loss.OTHER_MATCH}),
    "not_soccer": frozenset({Loss.NOT_SOCCER}),
    "filmed_screen": frozenset({Loss.FILMED_SCREEN}),
    "portrait": frozenset({Loss.PORTRAIT}),
    "too_short": frozenset({Loss.TOO_SHORT}),
    "too_long": frozenset({Loss.TOO_LONG}),
    "broken": frozenset({Loss.BROKEN}),
    "not_a_video": frozenset({Loss.NOT_A_VIDEO}),
    "gone": frozenset({Loss.GONE}),
    "geo_blocked": frozenset({Loss.GEO_BLOCKED}),
    "private": frozenset({Loss.PRIVATE}),
    "forbidden_address": frozenset({Loss.FORBIDDEN_ADDRESS}),
    "too_large": frozenset({Loss.TOO_LARGE}),
    "too_slow": frozenset({Loss.TOO_SLOW}),
}
_LOSSES_OF_CRICKET: dict[Reason, frozenset[Loss]] = {
    **_LOSSES,
    "wrong_minute": frozenset({Loss.WRONG_OVER}),
    "not_soccer": frozenset({Loss.NOT_CRICKET}),
}
_SHOWS_ANOTHER = frozenset({Loss.WRONG_MINUTE, Loss.WRONG_OVER, Loss.OTHER_MATCH})
_OF_ITS_GOAL: frozenset[PostKind] = frozenset({"copy", "replay"})
_OF_A_CLOCK: frozenset[Reason] = frozenset({"wrong_minute", "other_match"})


@dataclass(frozen=True, slots=True)
class Outcome:
    text: str
    """`verified`, `unverified`, or why it was lost."""
    kept: bool


def ends_right(clip: ClipSpec, match: AnyMatch, goal: int, outcome: Outcome) -> bool:
    """Whether a clip that was found in the search for this goal ended as it should."""
    if outcome.kept:
        return outcome.text in _pools(clip, match, goal)
    return outcome.text in losses_allowed(clip, match, goal)


def expected(clip: ClipSpec, match: AnyMatch, goal: int) -> str:
    """The clip and its right ends, in words."""
    ends = [*sorted(_pools(clip, match, goal), reverse=True), *sorted(losses_allowed(clip, match, goal))]
    elsewhere = "" if (clip.match, clip.goal) == (match.id, goal) else f" of {clip.match} goal {clip.goal + 1}"
    return f"{' '.join((clip.kind, *clip.also))} (clip {clip.number + 1}{elsewhere}) {' or '.join(ends)}"


def goal_name(match: AnyMatch, goal: int) -> str:
    if isinstance(match, CricketMatch):
        runs, wickets = wicket_footage(match, goal).after
        return f"{runs}-{wickets} {fallen_of(match)[goal].wicket.ball} ov"
    home, away = goal_footage(match, goal).after
    return f"{home}-{away} {match.goals[goal].minute}'"


def losses_allowed(clip: ClipSpec, match: AnyMatch, goal: int) -> frozenset[str]:
    shown = truth_of(clip)
    own = (clip.match, clip.goal) == (match.id, goal)
    if shown.reason is not None and (own or shown.reason not in _OF_A_CLOCK):
        losses = _LOSSES_OF_CRICKET if isinstance(match, CricketMatch) else _LOSSES
        return _endless(clip) or losses[shown.reason]
    if not own:
        # A goal that somebody else's search has brought up: its clock, where it has one, gives it away.
        return _SHOWS_ANOTHER | _cut_away(clip, match)
    return _cut_away(clip, match)


def _pools(clip: ClipSpec, match: AnyMatch, goal: int) -> frozenset[str]:
    """The pools in which the clip may rightly be; none for one that is to be lost."""
    shown = truth_of(clip)
    own = (clip.match, clip.goal) == (match.id, goal)
    if not own:
        if shown.clock == "clear" and not _may_be(shown, match, goal):
            return frozenset()
        refused = shown.reason is not None and shown.reason not in _OF_A_CLOCK
        return frozenset() if refused else frozenset({"verified", "unverified"})
    if clip.kind not in _OF_ITS_GOAL:
        return frozenset()
    return frozenset({shown.verdict, "unverified"}) if shown.clock == "hard" else frozenset({shown.verdict})


def _may_be(shown: ClipTruth, match: AnyMatch, goal: int) -> bool:
    """Whether a clock that is near the goal's may be taken for it."""
    if shown.match != match.id or shown.minutes is None:
        return False
    if isinstance(match, CricketMatch):
        ball = fallen_of(match)[goal].wicket.ball.count
        return shown.minutes[0] - BALL_TOLERANCE <= ball <= shown.minutes[1] + BALL_TOLERANCE
    minute = final_minute(match.goals[goal]).played
    return shown.minutes[0] - TOLERANCE <= minute <= shown.minutes[1] + 1 + TOLERANCE


def _endless(clip: ClipSpec) -> frozenset[str]:
    """What has no end is too large or too slow, whichever bound is met first."""
    return frozenset({Loss.TOO_LARGE, Loss.TOO_SLOW}) if clip.kind == "endless" else frozenset()


def _cut_away(clip: ClipSpec, match: AnyMatch) -> frozenset[str]:
    """Without the scoreboard's part of the picture there may not be enough pitch left to tell the sport by."""
    loss = Loss.NOT_CRICKET if isinstance(match, CricketMatch) else Loss.NOT_SOCCER
    return frozenset({loss}) if "no_clock" in clip.also else frozenset()
