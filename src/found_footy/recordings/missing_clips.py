"""Explains why a goal has no clip: never posted, posted but missed, or unknown; with evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from found_footy.discovery.models import Post
from found_footy.discovery.query import SearchQuery
from found_footy.fixtures.models import MatchMinute
from found_footy.recordings.models import RecordedSearch, Recording

Document = Mapping[str, Any]


class MissingClipReason(StrEnum):
    NEVER_POSTED = "never posted"
    MISSED = "posted but missed"
    UNKNOWN = "unknown"
    """Sources that might have found a post failed."""


@dataclass(frozen=True, slots=True)
class MissingClipExplanation:
    event_id: str
    goal: str
    why: MissingClipReason
    evidence: tuple[str, ...]


def explain_missing_clips(recording: Recording) -> tuple[MissingClipExplanation, ...]:
    """Explain each goal of the recording that was stable, not withdrawn, and has no clip."""
    events = recording.document["events"] if recording.document else ()
    return tuple(
        _explain(event, recording)
        for event in events
        if event["_debounce_complete"] and not event["_removed"] and not event["_s3_videos"]
    )


def _explain(event: Document, recording: Recording) -> MissingClipExplanation:
    id_ = event["_event_id"]
    searches = [search for search in recording.searches if search.event_id == id_]
    posts = _posts(searches)
    time, name = event["time"], event["player"]["name"] or "scorer unknown"
    goal = f"{MatchMinute(time['elapsed'], time.get('extra'), time.get('innings'))} {name}"
    evidence = [_search_summary(searches), *_source_failures(searches)]
    later = _late_posts(searches, recording.searches, id_)
    if posts:
        why = MissingClipReason.MISSED
        evidence += _rejections(event, searches, posts)
    elif later:
        why = MissingClipReason.MISSED
    elif searches and all(any(each.error is None for each in search.sources) for search in searches):
        why = MissingClipReason.NEVER_POSTED
    else:
        why = MissingClipReason.UNKNOWN
    return MissingClipExplanation(id_, goal, why, (*evidence, *later))


def _posts(searches: Sequence[RecordedSearch]) -> dict[str, Post]:
    return {post.key: post for search in searches for post in search.posts}


def _search_summary(searches: Sequence[RecordedSearch]) -> str:
    if not searches:
        return "no search was recorded"
    found = Counter({each.source: 0 for search in searches for each in search.sources})
    for post in _posts(searches).values():
        found[post.source] += 1
    counts = ", ".join(f"{source} {count}" for source, count in sorted(found.items())) or "no source was enabled"
    return f"{len(searches)} searches found: {counts}"


def _source_failures(searches: Sequence[RecordedSearch]) -> list[str]:
    """Return failed sources, with the number of failures and the last error."""
    failures: dict[str, list[str]] = {}
    searched = Counter(each.source for search in searches for each in search.sources)
    for search in searches:
        for each in search.sources:
            if each.error is not None:
                failures.setdefault(each.source, []).append(f"{each.error.kind}: {each.error.message}")
    return [
        f"{source} failed {len(errors)} of {searched[source]} times, last with {errors[-1]}"
        for source, errors in sorted(failures.items())
    ]


def _rejections(event: Document, searches: Sequence[RecordedSearch], posts: Mapping[str, Post]) -> list[str]:
    candidates = {each["key"]: each for each in event["_discovered_videos"]}
    reasons = Counter(each["loss"] or each["state"] for each in candidates.values())
    lines = [f"{count} × {reason}" for reason, count in reasons.most_common()]
    examples: dict[str, str] = {}
    for each in candidates.values():
        if each["loss"]:
            examples.setdefault(each["loss"], f"{each['loss']}: {each['key']}, {each['loss_detail'] or 'no detail'}")
    lines += examples.values()
    found_at = {post.key: search.at for search in reversed(searches) for post in search.posts}
    old = [post for key, post in posts.items() if key not in candidates]
    if old:
        newest = min(old, key=lambda post: found_at[post.key] - post.posted_at)
        age = _seconds(newest.posted_at, found_at[newest.key])
        lines.append(f"{len(old)} too old when found, the newest {age} old: {newest.key}")
    return lines


def _late_posts(searches: Sequence[RecordedSearch], all_searches: Sequence[RecordedSearch], event_id: str) -> list[str]:
    """Return posts that match this goal and were found only by searches for other goals of the match."""
    if not searches:
        return []
    query = SearchQuery(searches[-1].players, searches[-1].teams)
    if not query.players:
        return []  # the teams alone would match every post on the match
    found_posts, last = _posts(searches), searches[-1].at
    other_posts = _posts([search for search in all_searches if search.event_id != event_id])
    late = [post for key, post in other_posts.items() if key not in found_posts and post.posted_at > last]
    return [
        f"posted {_seconds(last, post.posted_at)} after the last search: {post.key}"
        for post in sorted(late, key=lambda post: post.posted_at)
        if query.matches(post.text)
    ]


def _seconds(since: datetime, until: datetime) -> str:
    return f"{(until - since).total_seconds():.0f} s"
