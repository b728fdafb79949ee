"""The score feeds as the operations page shows them: words, and bars as numbers. Nothing here asks anybody."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from found_footy.domain.feeds.monitoring import MatchLife, MonitorRecord
from found_footy.domain.feeds.quota import Quota
from found_footy.domain.operations.feed_effects import lasting
from found_footy.domain.operations.feeds_measured import Declared, Dispute, FeedUse, MatchFeed
from found_footy.domain.operations.findings import Limits, spoken
from found_footy.domain.operations.measured import LiveMatch, Measured
from found_footy.web.operating.said import said_words
from found_footy.web.operating.view import Hides

MOST_PAUSED = 40
MOST_DISPUTES = 20


@dataclass(frozen=True, slots=True)
class FeedChip:
    """A live match at one of its feeds."""

    feed: str
    state: str
    """ok, late, paused, failing, off or unknown."""
    words: str
    more: str
    """For whoever wants to know why."""


@dataclass(frozen=True, slots=True)
class FeedRow:
    feed: str
    state: str
    """ok, failed, off or quiet."""
    word: str
    adapter: str
    precedence: int | None
    asked: str
    answers: str
    matches: int
    problem: str
    quota: Quota | None
    switch: str | None
    """on, off or auto; None where it is not declared here."""

    @property
    def quota_width(self) -> float | None:
        if self.quota is None or not self.quota.day_limit or self.quota.day_remaining is None:
            return None
        return round(min(100.0, 100 * self.quota.day_remaining / self.quota.day_limit), 1)


@dataclass(frozen=True, slots=True)
class PausedRow:
    title: str
    feed: str
    failures: int
    until: datetime | None
    again: str
    problem: str


@dataclass(frozen=True, slots=True)
class DisputeRow:
    fixture_id: int
    match: str
    field: str
    said: tuple[tuple[str, str, bool], ...]
    """The feed, what it said, and whether it is believed."""
    lasted: str
    polls: int
    goes_on: bool


def feed_chips(match: LiveMatch, measured: Measured, limit: timedelta) -> tuple[FeedChip, ...]:
    """In the order of trust, where that is known."""
    declared = {each.feed: each for each in measured.declared or ()}
    ordered = sorted(match.listings, key=lambda each: (-_precedence(declared.get(each.feed)), each.feed))
    return tuple(_chip(each, declared.get(each.feed), measured, limit) for each in ordered)


def _precedence(declared: Declared | None) -> int:
    return declared.precedence if declared else -1


def _chip(listing: MatchFeed, declared: Declared | None, measured: Measured, limit: timedelta) -> FeedChip:
    record = measured.cached.record(listing.feed, listing.feed_id) if measured.cached else None
    notes = [
        f"number {listing.feed_id} there",
        "the match has this feed’s numbers" if listing.founding else "",
        "home and away are the other way round there" if listing.swapped else "",
        f"precedence {declared.precedence}" if declared else "",
        record.error or "" if record else "",
    ]
    state, words = _standing(record, declared, measured, limit)
    return FeedChip(listing.feed, state, words, "; ".join(note for note in notes if note))


def _standing(
    record: MonitorRecord | None, declared: Declared | None, measured: Measured, limit: timedelta
) -> tuple[str, str]:
    now = measured.at
    if declared is not None and not declared.usable:
        return "off", "off"
    if record is None:
        return "unknown", "not asked yet" if measured.cached else "not known"
    if record.life is MatchLife.PAUSED:
        left = f", again in {spoken(record.paused_until - now)}" if record.paused_until else ""
        return "paused", f"paused{left}"
    age = spoken(now - record.updated_at) if record.updated_at else "never"
    if record.failures_in_a_row:
        return "failing", f"{age}, {record.failures_in_a_row} failed"
    if record.updated_at is None:
        return "unknown", "not heard yet"
    return ("late" if now - record.updated_at > limit else "ok"), age


def feed_rows(measured: Measured) -> tuple[FeedRow, ...]:
    """Those that are declared; where their file cannot be read, those that were ever asked."""
    used = {feed.feed: feed for feed in (measured.recorded.feeds if measured.recorded else ())}
    listed = Counter(
        each.feed for match in (measured.recorded.matches if measured.recorded else ()) for each in match.listings
    )
    if measured.declared is None:
        return tuple(_feed_row(name, None, feed, listed[name], measured) for name, feed in sorted(used.items()))
    return tuple(
        _feed_row(each.feed, each, used.get(each.feed), listed[each.feed], measured) for each in measured.declared
    )


def _feed_row(name: str, declared: Declared | None, use: FeedUse | None, matches: int, measured: Measured) -> FeedRow:
    state, word = _feed_state(declared, use)
    recent = measured.cached.recent.get(name) if measured.cached else None
    problem = declared.lacks if declared and declared.on and declared.lacks else use.error if use and use.error else ""
    if declared is not None and not declared.on:
        problem = ""
    return FeedRow(
        feed=name,
        state=state,
        word=word,
        adapter=declared.adapter if declared else "",
        precedence=declared.precedence if declared else None,
        asked=f"asked {spoken(measured.at - use.asked_at)} ago" if use else "not asked yet",
        answers=f"{recent[0]} of {sum(recent)} answers good" if recent and sum(recent) else "",
        matches=matches,
        problem=problem,
        quota=use.quota if use else None,
        switch=None if declared is None else {None: "auto", True: "on", False: "off"}[declared.switched],
    )


def _feed_state(declared: Declared | None, use: FeedUse | None) -> tuple[str, str]:
    if declared is not None and not declared.on:
        return "off", "off"
    if declared is not None and declared.lacks:
        return "failed", "cannot be asked"
    if use is None:
        return "quiet", "quiet"
    return ("failed", "fails") if use.error else ("ok", "answers")


def paused_rows(measured: Measured) -> tuple[PausedRow, ...]:
    records = measured.cached.records if measured.cached else ()
    paused = [each for each in records if each.life is MatchLife.PAUSED]
    ordered = sorted(paused, key=lambda each: (each.paused_until or measured.at, each.match_id))
    return tuple(_paused_row(each, measured.at) for each in ordered[:MOST_PAUSED])


def _paused_row(record: MonitorRecord, now: datetime) -> PausedRow:
    until = record.paused_until
    again = "with the next poll" if until is None or until <= now else f"in {spoken(until - now)}"
    title = record.title or record.match_id
    return PausedRow(title, record.feed, record.failures_in_a_row, until, again, record.error or "")


def dispute_rows(measured: Measured, limits: Limits, hides: Hides) -> tuple[DisputeRow, ...]:
    """What was said of a match whose score is hidden stays hidden."""
    disputes = measured.recorded.disputes if measured.recorded else ()
    return tuple(_dispute_row(each, measured, limits, hides(each.fixture_id)) for each in disputes[:MOST_DISPUTES])


def _dispute_row(dispute: Dispute, measured: Measured, limits: Limits, hidden: bool) -> DisputeRow:
    said = tuple(
        (feed, "hidden" if hidden else said_words(value), feed == dispute.chosen)
        for feed, value in sorted(dispute.said.items(), key=lambda item: (item[0] != dispute.chosen, item[0]))
    )
    lasted = spoken(dispute.last_at - dispute.first_at)
    goes_on = lasting(dispute, measured, limits)
    return DisputeRow(
        dispute.fixture_id, f"{dispute.home} – {dispute.away}", dispute.field, said, lasted, dispute.polls, goes_on
    )
