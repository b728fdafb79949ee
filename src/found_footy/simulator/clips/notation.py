"""How scenario files write a posted clip in one line: `copy logo 480p 30fps 600k -4s 8s +2m`.

The kind comes first; each further word is told by its form and may stand anywhere.
"""

from __future__ import annotations

import re
from typing import Any, get_args

from found_footy.simulator.clips.kinds import FRAME_RATES, HEIGHTS, Alteration, PostKind

_KINDS: tuple[str, ...] = get_args(PostKind)
_ALTERATIONS: tuple[str, ...] = get_args(Alteration)
_SETTINGS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("height", re.compile(r"(\d{3,4})p")),
    ("fps", re.compile(r"(\d{1,3})fps")),
    ("kbit", re.compile(r"(\d{2,5})k")),
    ("start", re.compile(r"([+-]\d{1,2}(?:\.\d+)?)s")),
    ("length", re.compile(r"(\d{1,2}(?:\.\d+)?)s")),
    ("after", re.compile(r"\+(\d{1,2})m")),
)
_FORMS = "480p, 30fps, 600k, -4s (start), 8s (length), +2m (posted)"


def read_clip(value: Any) -> Any:
    """The fields of a clip that is written as one line; anything else is handed on as it is."""
    if not isinstance(value, str):
        return value
    words = value.split()
    if not words or words[0] not in _KINDS:
        raise ValueError(f"a kind first, one of {', '.join(_KINDS)}")
    fields: dict[str, Any] = {"kind": words[0]}
    also: list[str] = []
    for word in words[1:]:
        if word in _ALTERATIONS:
            also.append(word)
            continue
        name, number = _setting(word)
        if name in fields:
            raise ValueError(f"{name} only once; {word!r} gives it again")
        fields[name] = number
    return {**fields, "also": also} if also else fields


def _setting(word: str) -> tuple[str, float | int]:
    for name, form in _SETTINGS:
        found = form.fullmatch(word)
        if found:
            number = float(found[1])
            return name, int(number) if number.is_integer() else number
    raise ValueError(f"words of {', '.join(_ALTERATIONS)}, {_FORMS}; not {word!r}")


def one_of(allowed: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in allowed)


def checked_height(value: int) -> int:
    if value not in HEIGHTS:
        raise ValueError(f"a height of {one_of(HEIGHTS)}")
    return value


def checked_rate(value: int) -> int:
    if value not in FRAME_RATES:
        raise ValueError(f"a frame rate of {one_of(FRAME_RATES)}")
    return value


def checked_code(value: str) -> str:
    if not (len(value) == 3 and value.isascii() and value.isupper()):
        raise ValueError("three capital letters, such as LIV")
    return value
