"""What a clip shows, and what is right to say of it. Pure: it follows from the spec, and no picture is looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from found_footy.simulator.clips.clock_face import ClockFace, clock_face, overs_face
from found_footy.simulator.clips.framing import BOARDS, kept
from found_footy.simulator.clips.kinds import HARD_STYLES, UNSEEN, Alteration, PostKind, Reason, Verdict, reason_of
from found_footy.simulator.clips.spec import ClipSpec, Footage, Pair
from found_footy.simulator.clips.timeline import GOAL_AT, timeline_of

LOOKED_AT = (0.25, 0.75)
"""Where in a clip a clock has to be seen, as shares of its length."""
_STEP = 0.04
"""Seconds between two looks for when the scoreboard comes and goes."""

Readability = Literal["clear", "hard", "none"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the scoreboard says at a second of the clip; nothing where it is not to be seen."""

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
    reason: Reason | None
    """Why it is to be refused."""
    footage: str | None
    """The same text for all clips of the same broadcast; none for what cannot be watched."""
    offset: float | None
    """Where the clip starts in that broadcast, in seconds."""
    length: float
    teams: tuple[str, str] | None
    """The codes on the scoreboard; none for what is neither soccer nor cricket."""
    scores: tuple[Pair, ...]
    """On the scoreboard, in their order."""
    minutes: tuple[int, int] | None
    """The first and the last minute on the clock: 66 for 66:12, 92 for 92:30 however it is written. In cricket
    the balls that are bowled."""
    clock: Readability
    clock_seen: tuple[tuple[float, float], ...]
    """From when to when, in seconds of the clip."""
    readings: tuple[Reading, ...]
    """At 25, 50 and 75 % of the clip."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def truth_of(spec: ClipSpec) -> ClipTruth:
    footage = spec.footage
    watchable = spec.kind not in UNSEEN
    soccer = footage.scene in ("match", "cricket") and watchable
    seen = _clock_seen(spec) if soccer and _board_in_picture(spec) else ()
    shown = [second for start, end in seen for second in (start, end - _STEP)]
    return ClipTruth(
        match=spec.match,
        goal=spec.goal,
        number=spec.number,
        kind=spec.kind,
        also=spec.also,
        verdict=_verdict(spec, seen),
        reason=reason_of(spec.kind),
        footage=footage.key if watchable else None,
        offset=spec.start if watchable else None,
        length=spec.length,
        teams=footage.codes if soccer else None,
        scores=tuple(dict.fromkeys(score_at(footage, _master_second(spec, second)) for second in shown)),
        minutes=_minutes(spec, shown),
        clock=_readability(spec, seen),
        clock_seen=seen,
        readings=tuple(_reading(spec, seen, share * spec.length) for share in (0.25, 0.5, 0.75)),
    )


def seconds_in_common(one: ClipTruth, other: ClipTruth) -> float:
    """How many seconds of the same broadcast two clips share."""
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
    """Seconds of play at a second of the timeline: the clock goes on while a replay is shown."""
    return max(0.0, footage.goal_clock + second - GOAL_AT)


def balls_at(footage: Footage, second: float) -> int:
    """Bowled by then in the innings: the scoreboard counts the ball when it counts the wicket."""
    before, after = footage.balls or (0, 0)
    return before if second < timeline_of(footage).score_changes else after


def score_at(footage: Footage, second: float) -> Pair:
    return footage.before if second < timeline_of(footage).score_changes else footage.after


def _verdict(spec: ClipSpec, seen: tuple[tuple[float, float], ...]) -> Verdict:
    if reason_of(spec.kind) is not None:
        return "rejected"
    looks = [share * spec.length for share in LOOKED_AT]
    return "verified" if any(start <= at < end for at in looks for start, end in seen) else "unverified"


def _board_in_picture(spec: ClipSpec) -> bool:
    part = kept(spec.kind, spec.also, spec.footage.style)
    return part.holds(BOARDS[spec.footage.style]) and "mirrored" not in spec.also


def _clock_seen(spec: ClipSpec) -> tuple[tuple[float, float], ...]:
    timeline = timeline_of(spec.footage)
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
    """Which second of the timeline is shown; a clip that is too long stands still at its master's end."""
    return min(spec.start + at, spec.master.end - 1 / spec.master.fps)


def _minutes(spec: ClipSpec, shown: list[float]) -> tuple[int, int] | None:
    seconds, footage = [_master_second(spec, second) for second in shown], spec.footage
    if footage.balls is not None:
        minutes = [balls_at(footage, second) for second in seconds]
    else:
        minutes = [int(clock_at(footage, second)) // 60 for second in seconds]
    return (minutes[0], minutes[-1]) if minutes else None


def _readability(spec: ClipSpec, seen: tuple[tuple[float, float], ...]) -> Readability:
    if not seen:
        return "none"
    hard = spec.footage.style in HARD_STYLES or spec.kind in ("filmed", "too_long")
    return "hard" if hard else "clear"


def _reading(spec: ClipSpec, seen: tuple[tuple[float, float], ...], at: float) -> Reading:
    if not any(start <= at < end for start, end in seen):
        return Reading(round(at, 3), None)
    second = _master_second(spec, at)
    face = face_at(spec.footage, second)
    return Reading(round(at, 3), face.clock, face.added, face.stoppage_clock, score_at(spec.footage, second))
