"""A folder of ESPN's answers, `<Unix time>.json.gz` each, read as a recording of that feed."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from found_footy.adapters.feeds.espn_scoreboard import FEED, parse_scoreboard
from found_footy.domain.errors import FeedError, RecordingBroken
from found_footy.domain.recordings.recording import RecordedAnswer, RecordedError, RecordedFeed, Recording

SUFFIX = ".json.gz"
MOST_FILES = 20_000
FILE_BYTES = 8 * 1024 * 1024
PLAIN_BYTES = 64 * 1024 * 1024
POLL_SECONDS = 30.0
POLLS_EACH = 4
"""An answer stands for the polls until the next one; so many are enough to decide all that it can."""


def load_scoreboards(folder: Path) -> Recording:
    """Raises RecordingBroken, which names the file."""
    answers: list[RecordedAnswer] = []
    for path in _files(folder):
        answers += _answers(path)
    if not answers:
        raise RecordingBroken(f"{folder}: no files named <Unix time>{SUFFIX} with a match in them")
    return Recording(
        title=f"ESPN's answers in {folder.name}",
        feeds=(RecordedFeed(FEED, founding=True),),
        answers=tuple(sorted(answers, key=lambda answer: (answer.at[0], answer.feed_id))),
        rules={"poll_seconds": POLL_SECONDS},
    )


def _files(folder: Path) -> list[Path]:
    try:
        found = list(islice(folder.glob(f"*{SUFFIX}"), MOST_FILES + 1))
    except OSError as error:
        raise RecordingBroken(f"{folder} cannot be read: {error.strerror}") from error
    if len(found) > MOST_FILES:
        raise RecordingBroken(f"{folder}: more than {MOST_FILES} files")
    return sorted(found, key=_taken)


def _taken(path: Path) -> int:
    name = path.name.removesuffix(SUFFIX)
    if not (name.isascii() and name.isdecimal()) or len(name) > 10:
        raise RecordingBroken(f"{path}: {name!r} is no Unix time, such as 1782934981")
    return int(name)


def _answers(path: Path) -> list[RecordedAnswer]:
    taken = datetime.fromtimestamp(_taken(path), UTC)
    polls = tuple(taken + timedelta(seconds=POLL_SECONDS * number) for number in range(POLLS_EACH))
    try:
        answer = parse_scoreboard(_body(path))
    except FeedError as error:
        raise RecordingBroken(f"{path}: {error}") from error
    said = [RecordedAnswer(FEED, live.id, polls, live) for live in answer.fixtures]
    failed = answer.failures.items()
    return said + [RecordedAnswer(FEED, id_, polls, error=RecordedError(e.kind, str(e))) for id_, e in failed]


def _body(path: Path) -> Any:
    try:
        packed = path.read_bytes() if path.stat().st_size <= FILE_BYTES else None
    except OSError as error:
        raise RecordingBroken(f"{path} cannot be read: {error.strerror}") from error
    if packed is None:
        raise RecordingBroken(f"{path}: more than {FILE_BYTES} bytes")
    unpacker = zlib.decompressobj(wbits=31)
    try:
        plain = unpacker.decompress(packed, PLAIN_BYTES)
    except zlib.error as error:
        raise RecordingBroken(f"{path} cannot be unpacked: {error}") from error
    if not unpacker.eof:
        raise RecordingBroken(f"{path} is cut off, or unpacks to more than {PLAIN_BYTES} bytes")
    try:
        return json.loads(plain)
    except (ValueError, RecursionError) as error:
        raise RecordingBroken(f"{path} is no JSON") from error
