"""A name that somebody knows a team by, before it is decided whether a search gains by it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NameKind(StrEnum):
    LABEL = "label"
    ALIAS = "alias"
    NICKNAME = "nickname"
    SHORT = "short"


@dataclass(frozen=True, slots=True)
class TeamName:
    text: str
    language: str
    """Such as `en`; `mul` for all."""
    kind: NameKind
