"""Which files are worth a look at all, by what their container says."""

from __future__ import annotations

from dataclasses import dataclass

from found_footy.domain.errors import MediaBroken, MediaError, MediaTooLarge, NotAVideo
from found_footy.domain.videos.losses import Loss


@dataclass(frozen=True, slots=True)
class FilterRules:
    least_seconds: float = 3.0
    most_seconds: float = 60.0
    least_aspect: float = 1.33
    """Width to height; below it a clip was cut for a phone."""


def refusal(duration: float, aspect: float, rules: FilterRules) -> tuple[Loss, str] | None:
    """Why a file is refused, in a class and in words; None where it is worth a look."""
    if duration < rules.least_seconds:
        return Loss.TOO_SHORT, f"{duration:.1f} s long; at least {rules.least_seconds:g} s are wanted"
    if duration > rules.most_seconds:
        return Loss.TOO_LONG, f"{duration:.1f} s long; at most {rules.most_seconds:g} s are wanted"
    if aspect < rules.least_aspect:
        return Loss.PORTRAIT, f"{aspect:.2f} as wide as high; at least {rules.least_aspect:g} is wanted"
    return None


def loss_of_media(error: MediaError) -> Loss:
    """What a file that cannot be decoded is lost as."""
    match error:
        case NotAVideo():
            return Loss.NOT_A_VIDEO
        case MediaTooLarge():
            return Loss.TOO_LARGE
        case MediaBroken():
            return Loss.BROKEN
    return Loss.BROKEN


LOSS_OF_ERROR = {"DownloadUnavailable": Loss.UNREACHABLE, "VisionUnavailable": Loss.NOT_CHECKED}
"""What the error that ended the last try of a step is lost as; any other is a fault of our own."""


def loss_of_error(kind: str) -> Loss:
    return LOSS_OF_ERROR.get(kind, Loss.FAILED)
