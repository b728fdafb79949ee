"""Why a candidate is not among the clips. Every one that falls out has exactly one of these."""

from __future__ import annotations

from enum import StrEnum

from found_footy.domain.videos.verification import Reason


class Loss(StrEnum):
    # the post
    PASSED_OVER = "passed over"
    """Longer ones were taken, until it was too old."""
    # the download
    GONE = "gone"
    GEO_BLOCKED = "geo-blocked"
    PRIVATE = "private"
    UNREACHABLE = "unreachable"
    """The host does not answer, or only with errors."""
    UNSUPPORTED = "unsupported"
    """Nobody here knows how to get a video from that place."""
    FORBIDDEN_ADDRESS = "forbidden address"
    """A private, loopback or otherwise closed address."""
    TOO_LARGE = "too large"
    TOO_SLOW = "too slow"
    # the file
    NOT_A_VIDEO = "not a video"
    BROKEN = "broken"
    TOO_SHORT = "too short"
    TOO_LONG = "too long"
    PORTRAIT = "portrait"
    # what it shows
    NOT_SOCCER = "not soccer"
    FILMED_SCREEN = "filmed screen"
    WRONG_MINUTE = "wrong minute"
    OTHER_MATCH = "other match"
    NOT_CRICKET = "not cricket"
    """Of a wicket, as what is not soccer is of a goal."""
    WRONG_OVER = "wrong over"
    NOT_CHECKED = "not checked"
    """Nobody could look at it for so long that its goal was closed without it."""
    # the goal, and ourselves
    WITHDRAWN = "withdrawn"
    FAILED = "failed"
    """A fault of our own; its text is kept."""


LOSS_OF_REASON: dict[Reason, Loss] = {
    Reason.NOT_SOCCER: Loss.NOT_SOCCER,
    Reason.FILMED_SCREEN: Loss.FILMED_SCREEN,
    Reason.WRONG_MINUTE: Loss.WRONG_MINUTE,
    Reason.OTHER_TEAMS: Loss.OTHER_MATCH,
    Reason.OTHER_SCORE: Loss.OTHER_MATCH,
    Reason.NOT_CRICKET: Loss.NOT_CRICKET,
    Reason.WRONG_OVER: Loss.WRONG_OVER,
    Reason.OTHER_INNINGS: Loss.WRONG_OVER,
}
"""Of a rejected clip. The other reasons leave a clip unverified, which is no loss."""
