"""Feeds that are off, refuse, pause or are used up. While one of them goes on, that is a loss and not the end."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta

from found_footy.domain.feeds.monitoring import MatchLife
from found_footy.domain.feeds.quota import Pace, pace
from found_footy.domain.operations.feed_answers import missing_answers
from found_footy.domain.operations.feeds_measured import Declared, FeedUse
from found_footy.domain.operations.findings import Finding, Grade, Limits, spoken
from found_footy.domain.operations.measured import Measured

MATCHES_A_REQUEST = 20
FORGOTTEN = timedelta(hours=1)
"""A feed that is not asked for so long counts no more, where it is not known which are declared."""
RENEWED = "It is renewed at 00:00 UTC; a larger plan or a longer poll interval helps for good."


def feed_findings(measured: Measured, limits: Limits) -> Iterator[Finding]:
    yield from _declared(measured.declared)
    used = feeds_in_use(measured)
    failing = [feed for feed in used if feed.error]
    for feed in failing:
        grade = Grade.FAILED if len(failing) == len(used) else Grade.DEGRADED
        advice = "`footy doctor --live` shows what the feed answers, and what to do."
        if grade is Grade.DEGRADED:
            advice = f"The other feeds go on meanwhile. {advice}"
        yield Finding("feed", grade, f"{feed.feed} fails: {feed.error}", feed.answered_at, advice, "feeds")
    if (reason := no_data(measured)) and not failing and any(each.usable for each in measured.declared or ()):
        advice = "`footy ingest` asks the feeds now; `footy doctor --live` shows what each of them answers."
        yield Finding("feeds_silent", Grade.FAILED, reason[0].upper() + reason[1:], None, advice, "feeds")
    yield from _quotas(measured, used, limits)
    yield from _paused(measured, {feed.feed for feed in failing})


def no_data(measured: Measured) -> str:
    """Why the grade of the feeds says nothing; empty if it does, or if this cannot be known."""
    if measured.recorded is None or measured.declared is None:
        return ""
    return missing_answers(feeds_in_use(measured), measured.at, following=bool(measured.recorded.matches))


def feeds_in_use(measured: Measured) -> tuple[FeedUse, ...]:
    """Those that are asked: switched on, or asked of late where nobody can say."""
    feeds = measured.recorded.feeds if measured.recorded else ()
    if measured.declared is not None:
        usable = {each.feed for each in measured.declared if each.usable}
        return tuple(feed for feed in feeds if feed.feed in usable)
    return tuple(feed for feed in feeds if measured.at - feed.asked_at <= FORGOTTEN)


def _declared(declared: Sequence[Declared] | None) -> Iterator[Finding]:
    if declared is None:
        return
    usable = [each for each in declared if each.usable]
    if not usable and not any(each.on for each in declared):
        what = "No score feed is switched on"
        yield Finding("feeds_off", Grade.FAILED, what, None, "Switch one on below, or with `footy feeds on`.", "feeds")
        return
    for each in declared:
        if each.on and each.lacks:
            grade = Grade.DEGRADED if usable else Grade.FAILED
            yield Finding("feed_lacks", grade, f"{each.feed} cannot be asked", None, each.lacks, "feeds")
        elif not each.on and each.switched is False and each.enabled:
            advice = f"It is as somebody wanted it. `footy feeds auto {each.feed}` takes it back."
            yield Finding("feed_off", Grade.DEGRADED, f"{each.feed} is switched off", None, advice, "feeds")


def _quotas(measured: Measured, used: Sequence[FeedUse], limits: Limits) -> Iterator[Finding]:
    paces = {feed.feed: _pace(measured, feed, limits) for feed in used}
    ended = [feed for feed, allowed in paces.items() if allowed.slowed and allowed.interval is None]
    for feed in ended:
        grade = Grade.FAILED if len(ended) == len(paces) else Grade.DEGRADED
        what = f"No polls of {feed}: {paces[feed].reason}"
        yield Finding("quota_used", grade, what, None, RENEWED, "feeds")
    for feed, allowed in paces.items():
        if allowed.slowed and allowed.interval is not None:
            what = f"{feed} is polled only every {spoken(allowed.interval)}: {allowed.reason}"
            yield Finding("quota_low", Grade.DEGRADED, what, None, RENEWED, "feeds")


def _paused(measured: Measured, named: set[str]) -> Iterator[Finding]:
    """One finding a feed; a feed that fails altogether is named already."""
    records = measured.cached.records if measured.cached else ()
    paused = [each for each in records if each.life is MatchLife.PAUSED and each.feed not in named]
    for feed, number in sorted(Counter(each.feed for each in paused).items()):
        mine = [each for each in paused if each.feed == feed]
        said = next((f": {each.error}" for each in mine if each.error), "")
        what = f"{number} match{'es' if number > 1 else ''} paused at {feed}{said}"
        since = min((each.updated_at for each in mine if each.updated_at), default=None)
        advice = "Each is tried again after its pause; other feeds of the match go on."
        yield Finding("feed_paused", Grade.DEGRADED, what, since, advice, "paused")


def poll_pace(measured: Measured, limits: Limits) -> Pace:
    """Of the feed that may still be asked the most often."""
    paces = [_pace(measured, feed, limits) for feed in feeds_in_use(measured)]
    if not paces:
        return Pace(limits.poll, slowed=False)
    return min(paces, key=lambda allowed: (allowed.slowed, allowed.interval or timedelta.max))


def _pace(measured: Measured, feed: FeedUse, limits: Limits) -> Pace:
    matches = len(measured.recorded.matches) if measured.recorded else 0
    return pace(feed.quota, measured.at, limits.poll, max(1, math.ceil(matches / MATCHES_A_REQUEST)))
