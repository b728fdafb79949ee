"""The pages of feeds that can be read: which script reads each, and what its answer says. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Any

_HERE = files("found_footy.adapters.browser")
READERS = {
    "crex_list": _HERE.joinpath("read_crex_list.js").read_text("utf-8"),
    "crex_match": _HERE.joinpath("read_crex_match.js").read_text("utf-8"),
}
"""Name to a JavaScript function that takes `{until}` and returns `{sign, data}`."""
PAGE_SIGNS = _HERE.joinpath("page_signs.js").read_text("utf-8")

_WORDS = re.compile(
    r"just a moment|attention required|verify (that )?you are (a )?human|are you (a )?(human|robot)|captcha"
    r"|unusual traffic|access denied|checking your browser|before you continue|enable javascript and cookies",
    re.IGNORECASE,
)
_LONG_PAGE = 1500
"""A page with more text than this has something to say, whatever else is on it."""


class Sign(StrEnum):
    READY = "ready"
    WAITING = "waiting"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Reading:
    sign: Sign
    data: dict[str, Any] | None = None


def reading_of(raw: object) -> Reading:
    """A page can answer whatever it likes: what does not fit is nothing known."""
    said = raw.get("sign") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or not isinstance(said, str) or said not in set(Sign):
        return Reading(Sign.WAITING)
    sign, data = Sign(said), raw.get("data")
    if sign is Sign.READY and not isinstance(data, dict):
        return Reading(Sign.WAITING)
    return Reading(sign, data if sign is Sign.READY else None)


@dataclass(frozen=True, slots=True)
class PageSigns:
    loaded: bool = False
    challenge: bool = False
    title: str = ""
    text: str = ""

    @property
    def blocked(self) -> str | None:
        """What stands in the way; None where nothing does."""
        words = _WORDS.search(f"{self.title}\n{self.text}") if len(self.text) < _LONG_PAGE else None
        if words is not None:
            return f"the page says {words[0]!r}"
        return "the page asks for a captcha or a consent" if self.challenge and self.loaded else None


def signs_of(raw: object) -> PageSigns:
    if not isinstance(raw, dict):
        return PageSigns()
    title, text = raw.get("title"), raw.get("text")
    return PageSigns(
        loaded=raw.get("loaded") is True,
        challenge=raw.get("challenge") is True,
        title=title if isinstance(title, str) else "",
        text=text if isinstance(text, str) else "",
    )
