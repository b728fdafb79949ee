"""Errors of a recording as the errors that they were."""

from __future__ import annotations

from typing import TypeVar

from found_footy.domain import errors
from found_footy.domain.errors import FeedError, FeedRejected, FootyError, SourceError, SourceUnavailable
from found_footy.domain.recordings.recording import RecordedError

E = TypeVar("E", bound=FootyError)


def feed_error(error: RecordedError) -> FeedError:
    return _known(error, FeedError) or FeedRejected(f"{error.kind}: {error.message}")


def source_error(error: RecordedError) -> SourceError:
    return _known(error, SourceError) or SourceUnavailable(f"{error.kind}: {error.message}")


def _known(error: RecordedError, family: type[E]) -> E | None:
    """None for a class that is of another family, that we do not know, or that is more than its message."""
    kind = getattr(errors, error.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, family)) or kind.__init__ is not FootyError.__init__:
        return None
    made: E = kind(error.message)
    return made
