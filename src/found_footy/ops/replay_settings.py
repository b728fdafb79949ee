"""How a system is set up that plays a recording: the rules of then, the waiting times of a demo, nobody outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from found_footy.config import Settings, as_demo
from found_footy.domain.recordings.recording import RecordedFeed, Recording

NAMESPACE = "replay"
RECORDING, PLAYHEAD, SOURCES = "recording.jsonl.gz", "playhead.json", "sources.yaml"

COUNTED = (
    "debounce_polls",
    "drop_polls",
    "over_polls",
    "same_goal_minutes",
    "search_attempts",
    "search_attempts_most",
    "candidates",
)
"""Rules that are numbers of things, and hold as they were."""
TIMED = ("search_seconds", "search_gap_seconds", "post_age_seconds")
"""Rules that are times, and run as fast as the searches do."""
FASTEST_SEARCH = 20.0
"""Faster, the time that a search takes by itself would count for more than the time between two of them."""
DECIDING_POLLS = 1
"""Beyond what the rules ask for: a poll that says the same once more."""


def in_a_row(settings: Settings) -> int:
    """After so many polls that say the same, nothing is left that another one could decide."""
    return max(settings.debounce_polls, settings.drop_polls, settings.over_polls) + DECIDING_POLLS


def search_speed(speed: float) -> float:
    return min(speed, FASTEST_SEARCH)


def word_lasts(settings: Settings) -> float:
    """Seconds for which what a feed says counts in the replay, where the feed does not say it again."""
    return 1.5 * settings.poll_seconds + settings.feed_patience_seconds


def replay_settings(settings: Settings, recording: Recording, folder: Path, speed: float) -> Settings:
    """`folder` is thrown away afterwards."""
    return as_demo(settings).model_copy(
        update={
            "data_dir": folder,
            "database_url": None,
            "temporal_address": None,
            "temporal_namespace": NAMESPACE,
            "temporal_api_key": None,
            "redis_url": None,
            "object_store_url": None,
            "feed": None,
            "feeds_file": folder / SOURCES,
            "follow": ("all",),
            "tracked_teams": (),
            "tracked_leagues": (),
            "sources": (),
            "browser_url": None,
            "drop_folder": None,
            "private_hosts": (),
            # Whoever plays a recording answers at once, unless the machine is busy; nobody else is waited for.
            "feed_patience_seconds": 5.0,
            # A feed that was paused then was not heard, and that is in the recording.
            "pause_failures": 100,
            "patience_seconds": 20.0,
            **_rules(recording, search_speed(speed)),
        }
    )


def _rules(recording: Recording, speed: float) -> dict[str, Any]:
    rules: dict[str, Any] = {name: int(recording.rules[name]) for name in COUNTED if recording.rules.get(name, 0) >= 1}
    rules |= {name: recording.rules[name] / speed for name in TIMED if name in recording.rules}
    if not recording.searches:
        rules |= {"search_attempts": 1, "search_attempts_most": 1, "search_seconds": 1.0, "search_gap_seconds": 0.1}
    return rules


def feeds_of(recording: Recording) -> list[RecordedFeed]:
    """Those that said anything, the founding one before all others of its precedence."""
    spoke = {answer.feed for answer in recording.answers}
    known = {feed.id: feed for feed in recording.feeds}
    found = [known.get(feed, RecordedFeed(feed)) for feed in sorted(spoke)]
    return sorted(found, key=lambda feed: (-feed.precedence, not feed.founding, feed.id))


def write_sources(folder: Path, recording: Recording) -> None:
    """Each feed of the recording under its own name, so that what they say is put together as it was then."""
    sources = [
        {
            "domain_id": feed.id,
            "adapter": "recording",
            "precedence_weight": min(feed.precedence, 100),
            "rate_limits": {"max_concurrent_contexts": 100, "min_interval_seconds": 0.0, "burst_allowance": 1000},
            "metadata": {
                "path": str(folder / RECORDING),
                "feed": feed.id,
                "playhead": str(folder / PLAYHEAD),
            },
        }
        for feed in feeds_of(recording)
    ]
    # JSON is YAML, too.
    (folder / SOURCES).write_text(json.dumps({"sources": sources}, indent=2))
