"""What a clip shows and the correct result for it, derived from its spec alone."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from footy_simulator.clips.broadcast import (
    BOARDS,
    GOAL_AT,
    ClockFace,
    broadcast_timeline,
    clock_face,
    overs_face,
    visible_part,
)
from footy_simulator.clips.models import (
    HARD_STYLES,
    UNSEEN,
    Alteration,
    ClipSpec,
    ExpectedRejection,
    Footage,
    MasterSpec,
    Pair,
    PostKind,
    Verdict,
    reason_of,
)

_WITH_CUTS = ("match", "cricket")
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Cut:
    frame: int
    """First frame of the new shot."""
    wiped: bool
    """Whether a wipe hides it, so that the exact frame is not visible."""


def cuts_of_master(master: MasterSpec) -> tuple[Cut, ...]:
    """Cuts after its first frame and before its end."""
    if master.footage.scene not in _WITH_CUTS:
        return ()
    timeline = broadcast_timeline(master.footage)
    frames = round((master.end - master.start) * master.fps)
    first = round(master.start * master.fps)
    found = [
        Cut(math.ceil(shot.start * master.fps - _ROUNDING) - first, shot.start in timeline.wipes)
        for shot in timeline.shots[1:]
    ]
    return tuple(cut for cut in found if 0 < cut.frame < frames)


def cuts_of(spec: ClipSpec) -> tuple[Cut, ...]:
    """Cuts of a copy: each of its frames shows the master's frame at that time."""
    begin, rate = spec.start - spec.master.start, spec.master.fps
    frames = round(spec.length * spec.fps)
    found = [
        Cut(math.ceil(((cut.frame - 0.5) / rate - begin) * spec.fps - _ROUNDING), cut.wiped)
        for cut in cuts_of_master(spec.master)
    ]
    return tuple(cut for cut in found if 0 < cut.frame < frames)


# --- The ground truth.


HARD_TO_FIND = 1 / 3
"""A clock on screen for a smaller share of the clip is hard to find."""
_STEP = 0.04
"""Sampling step in seconds for when the scoreboard appears and disappears."""

Readability = Literal["clear", "hard", "none"]


@dataclass(frozen=True, slots=True)
class TrueReading:
    """What the scoreboard shows at a second of the clip; None if it is not visible."""

    at: float
    clock: str | None
    added: str | None = None
    stoppage_clock: str | None = None
    score: Pair | None = None


@dataclass(frozen=True, slots=True)
class ClipTruth:
    match: int
    goal: int
    number: int
    kind: PostKind
    also: tuple[Alteration, ...]
    verdict: Verdict
    reason: ExpectedRejection | None
    """Expected rejection."""
    footage: str | None
    """Equal for all clips of the same broadcast; None if nothing can be watched."""
    offset: float | None
    """Where the clip starts in that broadcast, in seconds."""
    length: float
    teams: tuple[str, str] | None
    """Codes on the scoreboard; None for other sports."""
    scores: tuple[Pair, ...]
    """On the scoreboard, in their order."""
    minutes: tuple[int, int] | None
    """First and last minute on the clock: 66 for 66:12, 92 for 92:30 in any notation. In cricket, balls bowled."""
    clock: Readability
    clock_seen: tuple[tuple[float, float], ...]
    """Intervals in which it is visible, in seconds of the clip."""
    readings: tuple[TrueReading, ...]
    """At 25, 50 and 75 % of the clip."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def clip_truth(spec: ClipSpec) -> ClipTruth:
    footage = spec.footage
    watchable = spec.kind not in UNSEEN
    soccer = footage.scene in ("match", "cricket") and watchable
    visible_spans = _clock_seen(spec) if soccer and _board_in_picture(spec) else ()
    shown = [second for start, end in visible_spans for second in (start, end - _STEP)]
    return ClipTruth(
        match=spec.match,
        goal=spec.goal,
        number=spec.number,
        kind=spec.kind,
        also=spec.also,
        verdict=_verdict(spec, visible_spans),
        reason=_reason(spec),
        footage=footage.key if watchable else None,
        offset=spec.start if watchable else None,
        length=spec.length,
        teams=footage.codes if soccer else None,
        scores=tuple(dict.fromkeys(score_at(footage, _master_second(spec, second)) for second in shown)),
        minutes=_minutes(spec, shown),
        clock=_readability(spec, visible_spans),
        clock_seen=visible_spans,
        readings=tuple(_reading(spec, visible_spans, share * spec.length) for share in (0.25, 0.5, 0.75)),
    )


def seconds_in_common(one: ClipTruth, other: ClipTruth) -> float:
    """Seconds of the same broadcast that two clips share."""
    if one.footage is None or one.footage != other.footage or one.offset is None or other.offset is None:
        return 0.0
    start, end = max(one.offset, other.offset), min(one.offset + one.length, other.offset + other.length)
    return max(0.0, end - start)


def face_at(footage: Footage, second: float) -> ClockFace:
    """The clock at a second of the footage's timeline."""
    if footage.balls is not None:
        return overs_face(balls_at(footage, second))
    return clock_face(footage.style, clock_at(footage, second), footage.half_ends, footage.added)


def clock_at(footage: Footage, second: float) -> float:
    """Seconds of play at a second of the timeline: the clock runs on during a replay."""
    return max(0.0, footage.goal_clock + second - GOAL_AT)


def balls_at(footage: Footage, second: float) -> int:
    """Balls bowled by then: the scoreboard counts the ball together with the wicket."""
    before, after = footage.balls or (0, 0)
    return before if second < broadcast_timeline(footage).score_changes else after


def score_at(footage: Footage, second: float) -> Pair:
    return footage.before if second < broadcast_timeline(footage).score_changes else footage.after


def _reason(spec: ClipSpec) -> ExpectedRejection | None:
    """A score alone never rejects a goal's clip whose clock fits; for a wicket, the score is the proof."""
    return None if _is_last_seasons_goal(spec) else reason_of(spec.kind)


def _is_last_seasons_goal(spec: ClipSpec) -> bool:
    return spec.kind == "last_season" and spec.footage.scene == "match"


def _verdict(spec: ClipSpec, visible_spans: tuple[tuple[float, float], ...]) -> Verdict:
    if _reason(spec) is not None:
        return "rejected"
    return "verified" if visible_spans and not _is_last_seasons_goal(spec) else "unverified"


def _board_in_picture(spec: ClipSpec) -> bool:
    part = visible_part(spec.kind, spec.also, spec.footage.style)
    return part.holds(BOARDS[spec.footage.style]) and "mirrored" not in spec.also


def _clock_seen(spec: ClipSpec) -> tuple[tuple[float, float], ...]:
    timeline = broadcast_timeline(spec.footage)
    spans: list[tuple[float, float]] = []
    began: float | None = None
    for step in range(int(spec.length / _STEP) + 1):
        at = round(step * _STEP, 2)
        on = at < spec.length and timeline.board_at(_master_second(spec, at))
        if on and began is None:
            began = at
        elif not on and began is not None:
            spans.append((began, at))
            began = None
    if began is not None:
        spans.append((began, spec.length))
    return tuple(spans)


def _master_second(spec: ClipSpec, at: float) -> float:
    """The second of the timeline that is shown; a clip that is too long freezes at its master's end."""
    return min(spec.start + at, spec.master.end - 1 / spec.master.fps)


def _minutes(spec: ClipSpec, shown: list[float]) -> tuple[int, int] | None:
    seconds, footage = [_master_second(spec, second) for second in shown], spec.footage
    if footage.balls is not None:
        minutes = [balls_at(footage, second) for second in seconds]
    else:
        minutes = [int(clock_at(footage, second)) // 60 for second in seconds]
    return (minutes[0], minutes[-1]) if minutes else None


def _readability(spec: ClipSpec, visible_spans: tuple[tuple[float, float], ...]) -> Readability:
    if not visible_spans:
        return "none"
    visible = sum(end - start for start, end in visible_spans) / spec.length
    hard = spec.footage.style in HARD_STYLES or spec.kind in ("filmed", "too_long") or visible < HARD_TO_FIND
    return "hard" if hard else "clear"


def _reading(spec: ClipSpec, visible_spans: tuple[tuple[float, float], ...], at: float) -> TrueReading:
    if not any(start <= at < end for start, end in visible_spans):
        return TrueReading(round(at, 3), None)
    second = _master_second(spec, at)
    face = face_at(spec.footage, second)
    return TrueReading(round(at, 3), face.clock, face.added, face.stoppage_clock, score_at(spec.footage, second))
