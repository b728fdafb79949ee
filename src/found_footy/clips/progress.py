"""Progress of a goal's search as text: the current state, and why there is no clip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass

from found_footy.clips.models import RejectionReason
from found_footy.fixtures.documents import GoalDetails


def progress_line(goal: GoalDetails, attempts: int) -> str:
    """`searching 4/10 · 3 found · 1 duplicate · 1 wrong minute · 1 verified`; empty before the search starts."""
    if not goal.monitor_complete or goal.removed:
        return ""
    candidates = goal.discovered_videos
    parts = [] if goal.download_complete else [_searching(goal, attempts)]
    parts.append(f"{len(candidates)} found")
    states = Counter(each.state for each in candidates)
    parts += [f"{states[name]} {name}" for name in ("downloading", "checking") if states[name]]
    duplicates = len([each for each in candidates if each.state in ("kept", "duplicate")]) - len(goal.s3_videos)
    if duplicates > 0:
        parts.append(f"{duplicates} duplicate{'s' if duplicates > 1 else ''}")
    rejections = Counter(each.loss for each in candidates if each.state == "lost")
    parts += [f"{count} {reason}" for reason, count in sorted(rejections.items())]
    verified = sum(video.timestamp_verified for video in goal.s3_videos)
    unverified = len(goal.s3_videos) - verified
    if verified:
        parts.append(f"{verified} verified")
    if unverified:
        parts.append(f"{unverified} unverified")
    return " · ".join(parts)


def _searching(goal: GoalDetails, attempts: int) -> str:
    """`searching 4/10`, with the sources that are behind: `searching 4/10 (x 1/10)`."""
    searches = len(goal.searches)
    progress = source_progress(goal, attempts)
    furthest = max((answered for answered, _ in progress.values()), default=0)
    behind = [
        f"{source} {answered}/{required}" for source, (answered, required) in progress.items() if answered < furthest
    ]
    return f"searching {searches}/{max(attempts, searches)}" + (f" ({', '.join(behind)})" if behind else "")


def source_progress(goal: GoalDetails, attempts: int) -> dict[str, tuple[int, int]]:
    """Return the answered and the required number of searches by source."""
    counts = goal.search_sources
    return {source: (count.answered, max(attempts, count.answered)) for source, count in sorted(counts.items())}


def why_no_clip(goal: GoalDetails) -> str:
    """One sentence for a goal without clips; empty if it has some or may still get one."""
    if goal.s3_videos or not goal.debounce_complete:
        return ""
    if goal.removed:
        return f"No clips: the goal was withdrawn ({goal.removed_reason})."
    if not goal.download_complete:
        return "No clip yet: the search is running."
    searches, candidates = goal.searches, goal.discovered_videos
    answers = [answer for search in searches for answer in search.sources.values()]
    if not answers:
        return f"No clip: {count(searches, 'search', 'searches')}, and no source was enabled."
    if not candidates and all(answer.error is not None for answer in answers):
        return f"No clip: no source answered in {count(searches, 'search', 'searches')}."
    if not candidates:
        return f"No clip: {count(searches, 'search', 'searches')} found no posts."
    rejections = Counter(each.loss or each.state for each in candidates)
    named = ", ".join(f"{number} {reason}" for reason, number in rejections.most_common())
    found = count(candidates, "post", "posts")
    return f"No clip: {count(searches, 'search', 'searches')} found {found}; all were rejected ({named})."


def source_failures(goal: GoalDetails) -> dict[str, tuple[int, str]]:
    """Failure count and last error of each source that failed."""
    failures: dict[str, tuple[int, str]] = {}
    for search in goal.searches:
        for source, answer in search.sources.items():
            if answer.error is not None:
                times = failures.get(source, (0, ""))[0]
                failures[source] = times + 1, f"{answer.error.class_}: {answer.error.message}"
    return failures


def count(items: Sized, singular: str, plural: str) -> str:
    number = len(items)
    return f"{number} {singular if number == 1 else plural}"


# --- Explanations of rejection reasons, for pages.


MEANINGS: Mapping[str, str] = {
    RejectionReason.PASSED_OVER: "longer clips were downloaded first until it was too old",
    RejectionReason.GONE: "the post or its video was deleted before it could be fetched",
    RejectionReason.GEO_BLOCKED: "the host does not serve it here",
    RejectionReason.PRIVATE: "it requires a login",
    RejectionReason.UNREACHABLE: "its host did not respond, or only with errors",
    RejectionReason.UNSUPPORTED: "videos from this site cannot be downloaded",
    RejectionReason.FORBIDDEN_ADDRESS: "its address is in a private network",
    RejectionReason.TOO_LARGE: "its file is larger than a clip may be",
    RejectionReason.TOO_SLOW: "it did not download in time",
    RejectionReason.NOT_A_VIDEO: "its file is not a video",
    RejectionReason.BROKEN: "its file is damaged or truncated",
    RejectionReason.TOO_SHORT: "it is shorter than any clip of a goal",
    RejectionReason.TOO_LONG: "it is longer than a clip of one goal",
    RejectionReason.PORTRAIT: "it is taller than wide: filmed from a screen, or cropped for phones",
    RejectionReason.NOT_SOCCER: "it does not show football",
    RejectionReason.FILMED_SCREEN: "it was filmed from a screen",
    RejectionReason.WRONG_MINUTE: "its clock shows another minute of the match",
    RejectionReason.OTHER_MATCH: "its scoreboard shows another match, or another score",
    RejectionReason.NOT_CRICKET: "it does not show cricket",
    RejectionReason.WRONG_OVER: "its scoreboard shows another over, or the other innings",
    RejectionReason.NOT_CHECKED: "it could not be checked before the goal was closed",
    RejectionReason.WITHDRAWN: "the goal was withdrawn",
    RejectionReason.TAKEN_DOWN: "an operator removed or hid it",
    RejectionReason.FAILED: "an internal error",
}


@dataclass(frozen=True, slots=True)
class RejectionCount:
    reason: str
    count: int
    meaning: str


def count_rejections(reasons: Iterable[str]) -> tuple[RejectionCount, ...]:
    """Most frequent first."""
    return tuple(
        RejectionCount(reason, count, MEANINGS.get(reason, ""))
        for reason, count in sorted(Counter(reasons).items(), key=lambda each: (-each[1], each[0]))
    )
