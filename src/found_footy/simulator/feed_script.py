"""What a scenario says of the feeds: how late they are, what they get wrong, and how much they allow."""

from __future__ import annotations

from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from found_footy.simulator.notation import Moment
from found_footy.simulator.script_model import Model

FaultKind = Literal[
    "server_error",
    "timeout",
    "truncated",
    "html",
    "captcha",
    "rate_limit",
    "redirect_loop",
    "gzip_bomb",
    "hour_off",
    "wrong_score",
    "invented_goal",
    "bad_schema",
    "unknown_status",
    "back_in_time",
    "duplicate_id",
]
MATCH_FAULTS: tuple[FaultKind, ...] = (
    "wrong_score",
    "invented_goal",
    "bad_schema",
    "unknown_status",
    "back_in_time",
    "duplicate_id",
)
"""They are in one match's entry of an answer that is otherwise right; all others spoil the whole answer."""


class Fault(Model):
    """Something wrong with a feed's answers, from a moment on, for a number of polls or for a while.

    A fault of one match lasts for that many polls that ask for the match.
    """

    at: Moment
    kind: FaultKind
    polls: PositiveInt = 1
    lasts: PositiveInt | None = None
    """Minutes of matchday time, in the place of a number of polls."""
    match: PositiveInt | None = None
    seconds: PositiveInt | None = None
    """For `timeout`: how long, in real seconds, the request is held."""


class Limits(Model):
    """The plan's limits, in requests."""

    per_day: PositiveInt = 150_000
    per_minute: PositiveInt = 1_200


class FeedScript(Model):
    """How one feed tells of the matchday."""

    delay: NonNegativeInt = 0
    """Seconds of matchday time by which it is late."""
    faults: tuple[Fault, ...] = ()


class EspnScript(FeedScript):
    cricket: bool = False
    """Whether it lists the cricket matches, too."""


class Feeds(Model):
    """The feeds beside API-Football."""

    espn: EspnScript | None = None
    """None: ESPN tells of nothing."""
    crex: FeedScript = FeedScript()
    """It lists the cricket matches, if there are any."""
