"""Fresh reports of the feeds, one per feed and fixture."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from found_footy.errors import FootyError
from found_footy.feeds.alignment import to_fixture_ids
from found_footy.feeds.cache import SnapshotCache
from found_footy.feeds.models import (
    CachedSnapshot,
    FeedListing,
    FeedReport,
    FixtureIdentity,
    MonitoredFixture,
    OpenFeed,
    ReconciledFixture,
    feed_match_id,
)
from found_footy.feeds.reconcile import reconcile
from found_footy.feeds.snapshot import decode

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FixtureReports:
    match: MonitoredFixture
    reports: tuple[FeedReport, ...]
    """Reports of the feeds with a fresh answer; at least one."""

    @property
    def newest_at(self) -> datetime:
        return max(report.at for report in self.reports)

    def is_newer_than(self, since: datetime | None) -> bool:
        return since is None or self.newest_at > since

    def reconciled(self, since: datetime | None) -> ReconciledFixture:
        """Goals reported only by feeds without a new answer count as present but do not advance the debounce."""
        match = self.match
        return reconcile(FixtureIdentity(match.id, match.home, match.away), self.reports, since)

    def in_staging(self, since: datetime | None) -> ReconciledFixture:
        """Return the fixture with teams and league of its founding feed: names may change before kick-off."""
        found = self.reconciled(since)
        founder = next((report.live for report in self.reports if report.founding), None)
        if founder is None:
            return replace(found, live=replace(found.live, league=self.match.league))
        return replace(found, live=replace(found.live, home=founder.home, away=founder.away, league=founder.league))


async def load_reports(
    snapshots: SnapshotCache, feeds: Sequence[OpenFeed], matches: Sequence[MonitoredFixture]
) -> list[FixtureReports]:
    """Return the reports of fixtures for which at least one enabled feed has a fresh answer."""
    enabled = {each.id: each for each in feeds}
    listings = [(match, listing) for match in matches for listing in match.listings if listing.feed in enabled]
    fresh = await snapshots.load([feed_match_id(listing.feed, listing.feed_id) for _, listing in listings])

    def decoded() -> list[FixtureReports]:
        reports: dict[int, list[FeedReport]] = {}
        for match, listing in listings:
            snapshot = fresh.get(feed_match_id(listing.feed, listing.feed_id))
            report = _report(snapshot, listing, enabled[listing.feed]) if snapshot is not None else None
            if report is not None:
                reports.setdefault(match.id, []).append(report)
        return [FixtureReports(match, tuple(reports[match.id])) for match in matches if match.id in reports]

    # In a thread: decoding thousands of matches takes seconds, and the heartbeat must continue.
    return await asyncio.to_thread(decoded)


def _report(snapshot: CachedSnapshot, listing: FeedListing, opened: OpenFeed) -> FeedReport | None:
    try:
        live = decode(snapshot.payload)
        if listing.founding:
            live = to_fixture_ids(live, opened.id_offset)
    except FootyError as error:
        log.error(str(error), extra={"action": "snapshot_unreadable", "feed": listing.feed, "error": error.kind})
        return None
    return FeedReport(
        feed=opened.id,
        precedence=opened.source.precedence,
        live=live,
        at=snapshot.created_at,
        swapped=listing.swapped,
        founding=listing.founding,
        vendor=opened.vendor,
    )
