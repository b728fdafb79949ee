"""Which bytes of a file a request asks for, as RFC 9110 reads its headers. Pure functions of the headers."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 200
"""Of a header that is taken apart; a longer one asks for nothing that anybody needs."""

_ONE_RANGE = re.compile(r"bytes=[ \t,]*(\d*)-(\d*)[ \t,]*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    """The first byte after it."""

    @property
    def length(self) -> int:
        return self.end - self.start

    def content_range(self, size: int) -> str:
        return f"bytes {self.start}-{self.end - 1}/{size}"


class Unsatisfiable(Exception):
    """The range begins after the last byte."""


def span_of(asked: str | None, size: int) -> Span | None:
    """The bytes of a single range; None for the whole file, which also answers what cannot be understood.

    Raises Unsatisfiable.
    """
    found = _ONE_RANGE.fullmatch(asked) if asked is not None and len(asked) <= LONGEST else None
    if found is None or found[1] == found[2] == "":
        return None
    if found[1] == "":
        start, end = max(0, size - int(found[2])), size
    else:
        start, end = int(found[1]), min(size, int(found[2]) + 1 if found[2] else size)
        if found[2] and int(found[2]) < start:
            return None
    if start >= size:
        raise Unsatisfiable
    return Span(start, end)


def range_holds(if_range: str | None, etag: str) -> bool:
    """Whether a range is still one of the version that the reader has. A weak tag, or a date, never tells."""
    return if_range is None or if_range.strip() == etag
