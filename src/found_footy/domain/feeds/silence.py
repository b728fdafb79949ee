"""Why nobody has said anything new of a match: all of its feeds fail, or none of them knows it any more."""

from __future__ import annotations

from collections.abc import Sequence

from found_footy.domain.errors import FeedUnavailable, NotInAnswer
from found_footy.domain.feeds.monitoring import MonitorRecord


def is_unknown(records: Sequence[MonitorRecord], feeds: int) -> bool:
    """Whether each of so many feeds has left it out of its answer. Records begin with the class of the failure."""
    missing = [record for record in records if (record.error or "").startswith(NotInAnswer.__name__)]
    return feeds > 0 and len(missing) == feeds


def why_silent(records: Sequence[MonitorRecord]) -> FeedUnavailable | None:
    """None where a feed is just slow: then the match is late, and nothing has failed."""
    errors = [f"{record.feed}: {record.error}" for record in records if record.error]
    return FeedUnavailable("; ".join(errors)) if errors and len(errors) == len(records) else None
