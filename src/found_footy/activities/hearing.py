"""What the feeds last said of our matches, made one answer a match."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from found_footy.domain.errors import FootyError
from found_footy.domain.feeds.ids import in_our_ids
from found_footy.domain.feeds.monitoring import match_id
from found_footy.domain.feeds.reconcile import reconcile
from found_footy.domain.feeds.reconciled import Heard, Match, Reconciled
from found_footy.domain.feeds.snapshot import Snapshot
from found_footy.domain.feeds.unified import live_of
from found_footy.feed_registry import OpenFeed
from found_footy.ports_feeds import FollowedListing, FollowedMatch, Snapshots

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HeardMatch:
    match: FollowedMatch
    words: tuple[Heard, ...]
    """Of the feeds whose last word is still fresh; at least one."""

    @property
    def at(self) -> datetime:
        """Of the newest."""
        return max(word.at for word in self.words)

    def is_news(self, since: datetime | None) -> bool:
        return since is None or self.at > since

    def reconciled(self, since: datetime | None) -> Reconciled:
        """A goal that only those list who have said nothing since then is listed, and not seen once more."""
        match = self.match
        return reconcile(Match(match.id, match.home, match.away), self.words, since)

    def in_staging(self, since: datetime | None) -> Reconciled:
        """Before it begins, names still change: whose place is taken by whom is the founding feed's to say."""
        found = self.reconciled(since)
        founder = next((word.live for word in self.words if word.founding), None)
        if founder is None:
            return replace(found, live=replace(found.live, league=self.match.league))
        return replace(found, live=replace(found.live, home=founder.home, away=founder.away, league=founder.league))


async def hear(snapshots: Snapshots, feeds: Sequence[OpenFeed], matches: Sequence[FollowedMatch]) -> list[HeardMatch]:
    """The matches of which at least one feed that is switched on has spoken lately."""
    on = {each.id: each for each in feeds}
    listings = [(match, listing) for match in matches for listing in match.listings if listing.feed in on]
    fresh = await snapshots.fresh([match_id(listing.feed, listing.feed_id) for _, listing in listings])
    words: dict[int, list[Heard]] = {}
    for match, listing in listings:
        snapshot = fresh.get(match_id(listing.feed, listing.feed_id))
        word = _word(snapshot, listing, on) if snapshot is not None else None
        if word is not None:
            words.setdefault(match.id, []).append(word)
    return [HeardMatch(match, tuple(words[match.id])) for match in matches if match.id in words]


def _word(snapshot: Snapshot, listing: FollowedListing, on: Mapping[str, OpenFeed]) -> Heard | None:
    opened = on[listing.feed]
    try:
        live = live_of(snapshot.payload)
        if listing.founding:
            live = in_our_ids(live, opened.id_space)
    except FootyError as error:
        log.error(str(error), extra={"action": "snapshot_unreadable", "feed": listing.feed, "error": error.kind})
        return None
    return Heard(
        feed=opened.id,
        precedence=opened.source.precedence,
        live=live,
        at=snapshot.created_at,
        swapped=listing.swapped,
        founding=listing.founding,
        origin=opened.origin,
    )
