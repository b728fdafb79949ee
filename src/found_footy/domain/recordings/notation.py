"""A recording as JSON objects, one a line, and back. What does not fit is a RecordingBroken that says where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from found_footy.domain.discovery.posts import Post
from found_footy.domain.errors import FeedSchemaError, RecordingBroken, UnknownStatus
from found_footy.domain.feeds.document import Reader
from found_footy.domain.feeds.unified import live_of, payload_of
from found_footy.domain.recordings.recording import (
    RecordedAnswer,
    RecordedDownload,
    RecordedError,
    RecordedFeed,
    RecordedNames,
    RecordedSearch,
    Recording,
    SourceAnswer,
)

FORMAT = "found-footy recording"
VERSION = 1

MOST_POLLS = 100_000
MOST_POSTS = 10_000
MOST_NAMES = 200
LONG_TEXT = 4000

Line = dict[str, Any]


def lines_of(recording: Recording) -> Iterator[Line]:
    yield {
        "kind": "recording",
        "format": FORMAT,
        "version": VERSION,
        "title": recording.title,
        "fixture": recording.fixture_id,
        "feeds": [vars_of(feed) for feed in recording.feeds],
        "rules": dict(recording.rules),
    }
    yield from ({"kind": "names", **vars_of(names)} for names in recording.names)
    yield from map(_answer_line, recording.answers)
    yield from map(search_line, recording.searches)
    yield from ({"kind": "download", **vars_of(download)} for download in recording.downloads)
    if recording.document is not None:
        yield {"kind": "outcome", "fixture": recording.document}


def vars_of(value: Any) -> Line:
    """The fields of a value that holds plain ones only."""
    return {name: getattr(value, name) for name in value.__slots__}


def _answer_line(answer: RecordedAnswer) -> Line:
    said: Line = {"payload": payload_of(answer.live)} if answer.live is not None else {"error": _error(answer.error)}
    return {
        "kind": "answer",
        "feed": answer.feed,
        "id": answer.feed_id,
        "at": [_written(moment) for moment in answer.at],
        **said,
    }


def search_line(search: RecordedSearch) -> Line:
    return {
        "kind": "search",
        "event": search.event_id,
        "attempt": search.attempt,
        "at": _written(search.at),
        "players": list(search.players),
        "teams": list(search.teams),
        "sources": [
            {"source": each.source, "found": each.found, "error": _error(each.error)} for each in search.sources
        ],
        "posts": [vars_of(post) | {"posted_at": _written(post.posted_at)} for post in search.posts],
    }


def _error(error: RecordedError | None) -> Line | None:
    return None if error is None else {"class": error.kind, "message": error.message}


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


# --- and back


def recording_of(lines: Iterable[Any]) -> Recording:
    """Lines of kinds that this version does not know are let be."""
    parts: dict[str, list[Any]] = {kind: [] for kind in ("recording", "outcome", *READERS)}
    for number, line in enumerate(lines, start=1):
        try:
            reader = Reader(line)
            kind = reader["kind"].text()
            if number == 1:
                _check_head(reader, kind)
            if kind in READERS:
                parts[kind].append(READERS[kind](reader))
            elif kind in parts:
                parts[kind].append(reader)
        except (FeedSchemaError, UnknownStatus) as error:
            raise RecordingBroken(f"line {number} of the recording: {error}") from error
    if len(parts["recording"]) != 1 or len(parts["outcome"]) > 1:
        raise RecordingBroken("the recording has no beginning, or several")
    head: Reader = parts["recording"][0]
    try:
        return Recording(
            title=head["title"].text(LONG_TEXT),
            fixture_id=None if head.get("fixture") is None else head["fixture"].whole(),
            feeds=tuple(_feed(each) for each in head["feeds"].items()),
            answers=tuple(sorted(parts["answer"], key=lambda answer: (answer.at[0], answer.feed, answer.feed_id))),
            searches=tuple(sorted(parts["search"], key=lambda search: (search.at, search.event_id, search.attempt))),
            downloads=tuple(parts["download"]),
            names=tuple(parts["names"]),
            rules={name: _number(each) for name, each in head["rules"].fields().items()},
            document=_document(parts["outcome"][0]) if parts["outcome"] else None,
        )
    except FeedSchemaError as error:
        raise RecordingBroken(f"line 1 of the recording: {error}") from error


def _check_head(reader: Reader, kind: str) -> None:
    if kind != "recording" or reader.get("format") != FORMAT:
        raise RecordingBroken(f"this is no recording: its first line does not say {FORMAT!r}")
    if reader.get("version") != VERSION:
        raise RecordingBroken(f"the recording has version {reader.get('version')!r}; this program reads {VERSION}")


def _feed(reader: Reader) -> RecordedFeed:
    return RecordedFeed(reader["id"].text(), reader["precedence"].whole(1000), reader["founding"].flag())


def _read_answer(reader: Reader) -> RecordedAnswer:
    moments = tuple(each.moment() for each in reader["at"].items(MOST_POLLS))
    if not moments or list(moments) != sorted(moments):
        raise reader["at"].wrong("one time or more, in order")
    payload = reader.maybe("payload")
    live = None if payload is None else live_of({key: each.value for key, each in payload.fields().items()})
    return RecordedAnswer(
        feed=reader["feed"].text(),
        feed_id=reader["id"].whole(),
        at=moments,
        live=live,
        error=None if live is not None else _read_error(reader["error"]),
    )


def _read_error(reader: Reader) -> RecordedError:
    return RecordedError(reader["class"].text(), reader["message"].text(LONG_TEXT))


def read_search(reader: Reader) -> RecordedSearch:
    return RecordedSearch(
        event_id=reader["event"].text(),
        attempt=reader["attempt"].whole(1000),
        at=reader["at"].moment(),
        players=tuple(each.text() for each in reader["players"].items(MOST_NAMES)),
        teams=tuple(each.text() for each in reader["teams"].items(MOST_NAMES)),
        sources=tuple(_source(each) for each in reader["sources"].items()),
        posts=tuple(_post(each) for each in reader["posts"].items(MOST_POSTS)),
    )


def _source(reader: Reader) -> SourceAnswer:
    error = reader.maybe("error")
    found = reader.maybe("found")
    return SourceAnswer(
        reader["source"].text(),
        None if found is None else found.whole(MOST_POSTS),
        None if error is None else _read_error(error),
    )


def _post(reader: Reader) -> Post:
    duration = reader.maybe("duration")
    return Post(
        source=reader["source"].text(),
        id=reader["id"].text(),
        url=reader["url"].text(LONG_TEXT),
        media_url=reader["media_url"].text(LONG_TEXT),
        posted_at=reader["posted_at"].moment(),
        author=reader["author"].text(LONG_TEXT),
        text=reader["text"].text(LONG_TEXT),
        duration=None if duration is None else _number(duration),
    )


def _read_download(reader: Reader) -> RecordedDownload:
    def maybe(name: str) -> str | None:
        found = reader.maybe(name)
        return None if found is None else found.text()

    return RecordedDownload(
        event_id=reader["event_id"].text(),
        key=reader["key"].text(LONG_TEXT),
        media_url=reader["media_url"].text(LONG_TEXT),
        md5=maybe("md5"),
        clip=maybe("clip"),
        loss=maybe("loss"),
        detail=reader["detail"].text(LONG_TEXT),
    )


def _read_names(reader: Reader) -> RecordedNames:
    return RecordedNames(
        reader["team_id"].whole(2**62),
        reader["team_name"].text(),
        tuple(each.text() for each in reader["aliases"].items(MOST_NAMES)),
    )


def _number(reader: Reader) -> float:
    if isinstance(reader.value, bool) or not isinstance(reader.value, int | float):
        raise reader.wrong("a number")
    number = float(reader.value)
    if not 0 <= number < 1e12:  # also what is no number
        raise reader.wrong("a number that is not negative")
    return number


def _document(reader: Reader) -> Mapping[str, Any]:
    return {key: each.value for key, each in reader["fixture"].fields().items()}


READERS: dict[str, Callable[[Reader], Any]] = {
    "answer": _read_answer,
    "search": read_search,
    "download": _read_download,
    "names": _read_names,
}
