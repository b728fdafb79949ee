"""What each class of loss means, for people who see it on a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from found_footy.domain.videos.losses import Loss

MEANINGS: Mapping[str, str] = {
    Loss.PASSED_OVER: "longer clips were taken first, until it was too old",
    Loss.GONE: "the post or its video was deleted before it could be fetched",
    Loss.GEO_BLOCKED: "the host does not serve it here",
    Loss.PRIVATE: "it can be seen only after a login",
    Loss.UNREACHABLE: "its host did not answer, or only with errors",
    Loss.UNSUPPORTED: "nobody here knows how to fetch a video from that place",
    Loss.FORBIDDEN_ADDRESS: "its address leads into a private network",
    Loss.TOO_LARGE: "its file is larger than a clip may be",
    Loss.TOO_SLOW: "it came too slowly to be fetched in time",
    Loss.NOT_A_VIDEO: "its file is something else",
    Loss.BROKEN: "its file is damaged or cut off",
    Loss.TOO_SHORT: "it is shorter than any clip of a goal",
    Loss.TOO_LONG: "it is longer than a clip of one goal",
    Loss.PORTRAIT: "it is higher than it is wide: filmed off a screen, or cropped for phones",
    Loss.NOT_SOCCER: "its pictures show no football",
    Loss.FILMED_SCREEN: "somebody filmed a screen",
    Loss.WRONG_MINUTE: "its clock shows another minute of the match",
    Loss.OTHER_MATCH: "its scoreboard shows another match, or another score",
    Loss.NOT_CRICKET: "its pictures show no cricket",
    Loss.WRONG_OVER: "its scoreboard shows another over, or the other innings",
    Loss.NOT_CHECKED: "nobody could look at it before the goal was closed",
    Loss.WITHDRAWN: "the goal was withdrawn meanwhile",
    Loss.FAILED: "a fault of our own",
}


@dataclass(frozen=True, slots=True)
class LossCount:
    loss: str
    count: int
    meaning: str


def losses_by_class(losses: Iterable[str]) -> tuple[LossCount, ...]:
    """The most frequent first."""
    return tuple(
        LossCount(loss, count, MEANINGS.get(loss, ""))
        for loss, count in sorted(Counter(losses).items(), key=lambda each: (-each[1], each[0]))
    )
