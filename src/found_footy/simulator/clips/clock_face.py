"""What a scoreboard says at a second of play. Pure.

How stoppage time is written differs: `classic` and `glass` let the clock run on (`92:17`) beside `+4`; `split` freezes
it at `90:00`, with `+4` and a clock of its own; `lower` writes `90+2:17`; `compact` just runs on.
"""

from __future__ import annotations

from dataclasses import dataclass

from found_footy.simulator.clips.kinds import AnyStyle


@dataclass(frozen=True, slots=True)
class ClockFace:
    clock: str
    added: str | None = None
    """The announced stoppage time, such as `+4`."""
    stoppage_clock: str | None = None
    """The clock that runs beside a frozen one."""


def clock_face(style: AnyStyle, second: float, half_ends: int, added: int) -> ClockFace:
    """At so many seconds of play; past `half_ends` the half is in its stoppage time of `added` minutes."""
    whole = int(second)
    if whole < half_ends:
        return ClockFace(_running(whole))
    shown = f"+{added}" if added else None
    match style:
        case "split":
            return ClockFace(_running(half_ends), shown, _running(whole - half_ends))
        case "lower":
            minutes, seconds = divmod(whole - half_ends, 60)
            return ClockFace(f"{half_ends // 60}+{minutes}:{seconds:02}", None)
        case "compact":
            return ClockFace(_running(whole))
        case _:
            return ClockFace(_running(whole), shown)


def overs_face(balls: int) -> ClockFace:
    """Overs and balls, as cricket scoreboards have them in the place of a clock."""
    return ClockFace(f"{balls // 6}.{balls % 6}")


def _running(second: int) -> str:
    return f"{second // 60:02}:{second % 60:02}"
