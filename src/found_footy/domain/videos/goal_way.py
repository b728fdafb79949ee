"""A goal's way to its clips in words: how far it is, and why it has none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]


def way(event: Document, attempts: int) -> str:
    """`searching 4/10 · 3 found · 1 duplicate · 1 wrong minute · 1 verified`; empty before the search begins."""
    if not event["_monitor_complete"] or event["_removed"]:
        return ""
    candidates = event["_discovered_videos"]
    parts = [] if event["_download_complete"] else [f"searching {len(event['_searches'])}/{attempts}"]
    parts.append(f"{len(candidates)} found")
    states = Counter(each["state"] for each in candidates)
    parts += [f"{states[name]} {name}" for name in ("downloading", "checking") if states[name]]
    duplicates = len([each for each in candidates if each["state"] in ("kept", "duplicate")]) - len(event["_s3_videos"])
    if duplicates > 0:
        parts.append(f"{duplicates} duplicate{'s' if duplicates > 1 else ''}")
    losses = Counter(each["loss"] for each in candidates if each["state"] == "lost")
    parts += [f"{count} {loss}" for loss, count in sorted(losses.items())]
    verified = sum(video["timestamp_verified"] for video in event["_s3_videos"])
    unverified = len(event["_s3_videos"]) - verified
    if verified:
        parts.append(f"{verified} verified")
    if unverified:
        parts.append(f"{unverified} unverified")
    return " · ".join(parts)


def why_no_clip(event: Document) -> str:
    """One sentence for a goal without clips; empty where it has some, or may still get one."""
    if event["_s3_videos"] or not event["_debounce_complete"]:
        return ""
    if event["_removed"]:
        return f"No clips: the goal was withdrawn ({event['_removed_reason']})."
    if not event["_download_complete"]:
        return "No clip yet: the search goes on."
    searches, candidates = event["_searches"], event["_discovered_videos"]
    answers = [answer for search in searches for answer in search["sources"].values()]
    if not answers:
        return f"No clip: {count(searches, 'search', 'searches')}, and no source was switched on."
    if not candidates and all("error" in answer for answer in answers):
        return f"No clip: no source answered in {count(searches, 'search', 'searches')}."
    if not candidates:
        return f"No clip: nothing was posted that {count(searches, 'search', 'searches')} found."
    losses = Counter(each["loss"] or each["state"] for each in candidates)
    named = ", ".join(f"{number} {loss}" for loss, number in losses.most_common())
    found = count(candidates, "post", "posts")
    return f"No clip: {count(searches, 'search', 'searches')} found {found}, and none could be used: {named}."


def source_failures(event: Document) -> dict[str, tuple[int, str]]:
    """For each source that failed: how often, and what it said last."""
    failures: dict[str, tuple[int, str]] = {}
    for search in event["_searches"]:
        for source, answer in search["sources"].items():
            if "error" in answer:
                error = answer["error"]
                times = failures.get(source, (0, ""))[0]
                failures[source] = times + 1, f"{error['class']}: {error['message']}"
    return failures


def count(things: Any, one: str, many: str) -> str:
    number = len(things)
    return f"{number} {one if number == 1 else many}"
