"""The ids of posts on X carry the time at which they were made: a cut or invented one betrays itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

EPOCH = datetime(2010, 11, 4, 1, 42, 54, 657000, tzinfo=UTC)
"""1288834974657 ms after 1970: the time of id 0."""
AHEAD = timedelta(minutes=5)
"""How far clocks may differ."""
APART = timedelta(minutes=5)
"""How far the time in the id may be from the time that is shown."""

_DIGITS = re.compile(r"[1-9][0-9]{14,19}", re.ASCII)


def made_at(id_: str) -> datetime | None:
    """The time in an id; nothing where it has no valid form."""
    if not _DIGITS.fullmatch(id_):
        return None
    try:
        return EPOCH + timedelta(milliseconds=int(id_) >> 22)
    except OverflowError:
        return None


def fault_of(id_: str, shown: datetime, now: datetime) -> str | None:
    """Why an id cannot be that of a post that shows this time; nothing where it can."""
    made = made_at(id_)
    if made is None:
        return f"the id {id_[:30]!r} is no number of 15 to 20 digits"
    if made > now + AHEAD:
        return f"the id {id_} is of the future ({made:%Y-%m-%d %H:%M})"
    if abs(made - shown) > APART:
        return f"the id {id_} is of {made:%Y-%m-%d %H:%M}, the post of {shown:%Y-%m-%d %H:%M}"
    return None
