"""Where a replay stands: a small file that whoever leads it moves on, and that the feeds of all workers read."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta
from pathlib import Path

from found_footy.domain.errors import FeedUnavailable
from found_footy.domain.recordings.timeline import PlayedPoll, Timeline


def move_playhead(path: Path, timeline: Timeline, start: datetime, position: datetime) -> None:
    """Whole or not at all: nobody reads half a file."""
    document = {
        "start": start.isoformat(),
        "position": position.isoformat(),
        "polls": [[poll.at.isoformat(), poll.offset.total_seconds()] for poll in timeline.polls],
    }
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(document))
    os.replace(part, path)


class Playhead:
    """A `PlayedTime` that is read anew for each question that it is asked."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now_played(self) -> LedTime:
        try:
            told = json.loads(self._path.read_text())
            polls = tuple(
                PlayedPoll(datetime.fromisoformat(at), timedelta(seconds=offset), frozenset())
                for at, offset in told["polls"]
            )
            return LedTime(
                Timeline(polls), datetime.fromisoformat(told["start"]), datetime.fromisoformat(told["position"])
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FeedUnavailable(f"nobody plays the recording: {type(error).__name__} at {self._path.name}") from error


class LedTime:
    def __init__(self, timeline: Timeline, start: datetime, position: datetime) -> None:
        self._timeline = timeline
        self._start = start
        self._position = position

    def position(self) -> datetime:
        return self._position

    def shown(self, moment: datetime) -> datetime:
        return self._timeline.shown(moment, self._start)
