"""File filters by duration and aspect ratio, and rejection reasons for errors and verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from found_footy.clips.models import RejectionReason
from found_footy.clips.verification import VerificationReason
from found_footy.errors import MediaBroken, MediaError, MediaTooLarge, NotAVideo


@dataclass(frozen=True, slots=True)
class FilterRules:
    min_seconds: float = 3.0
    max_seconds: float = 60.0
    min_aspect: float = 1.33
    """Minimum width / height; lower values are clips cropped for phones."""


def check_file(duration: float, aspect: float, rules: FilterRules) -> tuple[RejectionReason, str] | None:
    """Return the rejection reason and its message, or None if the file is acceptable."""
    if duration < rules.min_seconds:
        return RejectionReason.TOO_SHORT, f"{duration:.1f} s long; the minimum is {rules.min_seconds:g} s"
    if duration > rules.max_seconds:
        return RejectionReason.TOO_LONG, f"{duration:.1f} s long; the maximum is {rules.max_seconds:g} s"
    if aspect < rules.min_aspect:
        return RejectionReason.PORTRAIT, f"{aspect:.2f} as wide as high; the minimum is {rules.min_aspect:g}"
    return None


def reason_for_media_error(error: MediaError) -> RejectionReason:
    """Rejection reason for a file that cannot be decoded."""
    match error:
        case NotAVideo():
            return RejectionReason.NOT_A_VIDEO
        case MediaTooLarge():
            return RejectionReason.TOO_LARGE
        case MediaBroken():
            return RejectionReason.BROKEN
    return RejectionReason.BROKEN


REJECTION_BY_ERROR = {
    "DownloadUnavailable": RejectionReason.UNREACHABLE,
    "VisionUnavailable": RejectionReason.NOT_CHECKED,
}
"""Rejection reason by the error type of an activity's last attempt; any other type is an internal failure."""


def reason_for_error(kind: str) -> RejectionReason:
    return REJECTION_BY_ERROR.get(kind, RejectionReason.FAILED)


# --- Rejection reasons by verdict.


REJECTION_BY_VERDICT: dict[VerificationReason, RejectionReason] = {
    VerificationReason.NOT_SOCCER: RejectionReason.NOT_SOCCER,
    VerificationReason.FILMED_SCREEN: RejectionReason.FILMED_SCREEN,
    VerificationReason.WRONG_MINUTE: RejectionReason.WRONG_MINUTE,
    VerificationReason.OTHER_TEAMS: RejectionReason.OTHER_MATCH,
    VerificationReason.OTHER_SCORE: RejectionReason.OTHER_MATCH,
    VerificationReason.NOT_CRICKET: RejectionReason.NOT_CRICKET,
    VerificationReason.WRONG_OVER: RejectionReason.WRONG_OVER,
    VerificationReason.OTHER_INNINGS: RejectionReason.WRONG_OVER,
}
"""Reasons that reject a clip. All others leave it unverified, which is not a rejection."""
