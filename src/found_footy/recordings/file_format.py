"""File format of recordings: JSON lines, compressed. Invalid content raises RecordingBroken with its location."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from found_footy.discovery.models import Post
from found_footy.errors import FeedSchemaError, RecordingBroken, UnknownStatus
from found_footy.feeds.snapshot import decode, to_payload
from found_footy.json_reader import JsonReader
from found_footy.recordings.models import (
    RecordedAliases,
    RecordedDownload,
    RecordedError,
    RecordedFeed,
    RecordedSearch,
    RecordedSnapshot,
    Recording,
    SourceResult,
)

FORMAT = "found-footy recording"
VERSION = 1

MAX_POLLS = 100_000
MAX_POSTS = 10_000
MAX_NAMES = 200
MAX_TEXT_LENGTH = 4000

Line = dict[str, Any]


def to_lines(recording: Recording) -> Iterator[Line]:
    yield {
        "kind": "recording",
        "format": FORMAT,
        "version": VERSION,
        "title": recording.title,
        "fixture": recording.fixture_id,
        "feeds": [_plain_fields(feed) for feed in recording.feeds],
        "rules": dict(recording.rules),
    }
    yield from ({"kind": "names", **_plain_fields(names)} for names in recording.names)
    yield from map(_answer_line, recording.answers)
    yield from map(search_line, recording.searches)
    yield from map(_download_line, recording.downloads)
    if recording.document is not None:
        yield {"kind": "outcome", "fixture": recording.document}


def _plain_fields(value: Any) -> Line:
    """Return the fields of a dataclass with plain values only."""
    return {name: getattr(value, name) for name in value.__slots__}


def _answer_line(answer: RecordedSnapshot) -> Line:
    result: Line = {"payload": to_payload(answer.live)} if answer.live is not None else {"error": _error(answer.error)}
    return {
        "kind": "answer",
        "feed": answer.feed,
        "id": answer.feed_id,
        "at": [_isoformat(moment) for moment in answer.at],
        **result,
    }


def search_line(search: RecordedSearch) -> Line:
    return {
        "kind": "search",
        "event": search.event_id,
        "attempt": search.attempt,
        "at": _isoformat(search.at),
        "players": list(search.players),
        "teams": list(search.teams),
        "sources": [
            {"source": each.source, "found": each.found, "error": _error(each.error)} for each in search.sources
        ],
        "posts": [_plain_fields(post) | {"posted_at": _isoformat(post.posted_at)} for post in search.posts],
    }


def _download_line(download: RecordedDownload) -> Line:
    fields = _plain_fields(download)
    return {"kind": "download", "loss": fields.pop("rejection_reason"), **fields}


def _error(error: RecordedError | None) -> Line | None:
    return None if error is None else {"class": error.kind, "message": error.message}


def _isoformat(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


# --- Parsing.


def parse_recording(lines: Iterable[Any]) -> Recording:
    """Build a recording from its lines. Unknown kinds of lines are ignored."""
    parts: dict[str, list[Any]] = {kind: [] for kind in ("recording", "outcome", *READERS)}
    for number, line in enumerate(lines, start=1):
        try:
            reader = JsonReader(line)
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
        raise RecordingBroken("the recording must have exactly one head line and at most one outcome")
    head: JsonReader = parts["recording"][0]
    try:
        return Recording(
            title=head["title"].text(MAX_TEXT_LENGTH),
            fixture_id=None if head.get("fixture") is None else head["fixture"].integer(),
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


def _check_head(reader: JsonReader, kind: str) -> None:
    if kind != "recording" or reader.get("format") != FORMAT:
        raise RecordingBroken(f"not a recording: its first line does not name the format {FORMAT!r}")
    if reader.get("version") != VERSION:
        raise RecordingBroken(f"the recording has version {reader.get('version')!r}; this program reads {VERSION}")


def _feed(reader: JsonReader) -> RecordedFeed:
    return RecordedFeed(reader["id"].text(), reader["precedence"].integer(1000), reader["founding"].boolean())


def _read_answer(reader: JsonReader) -> RecordedSnapshot:
    moments = tuple(each.timestamp() for each in reader["at"].items(MAX_POLLS))
    if not moments or list(moments) != sorted(moments):
        raise reader["at"].schema_error("one or more times in ascending order")
    payload = reader.optional("payload")
    live = None if payload is None else decode({key: each.value for key, each in payload.fields().items()})
    return RecordedSnapshot(
        feed=reader["feed"].text(),
        feed_id=reader["id"].integer(),
        at=moments,
        live=live,
        error=None if live is not None else _read_error(reader["error"]),
    )


def _read_error(reader: JsonReader) -> RecordedError:
    return RecordedError(reader["class"].text(), reader["message"].text(MAX_TEXT_LENGTH))


def read_search(reader: JsonReader) -> RecordedSearch:
    return RecordedSearch(
        event_id=reader["event"].text(),
        attempt=reader["attempt"].integer(1000),
        at=reader["at"].timestamp(),
        players=tuple(each.text() for each in reader["players"].items(MAX_NAMES)),
        teams=tuple(each.text() for each in reader["teams"].items(MAX_NAMES)),
        sources=tuple(_source(each) for each in reader["sources"].items()),
        posts=tuple(_post(each) for each in reader["posts"].items(MAX_POSTS)),
    )


def _source(reader: JsonReader) -> SourceResult:
    error = reader.optional("error")
    found = reader.optional("found")
    return SourceResult(
        reader["source"].text(),
        None if found is None else found.integer(MAX_POSTS),
        None if error is None else _read_error(error),
    )


def _post(reader: JsonReader) -> Post:
    duration = reader.optional("duration")
    return Post(
        source=reader["source"].text(),
        id=reader["id"].text(),
        url=reader["url"].text(MAX_TEXT_LENGTH),
        media_url=reader["media_url"].text(MAX_TEXT_LENGTH),
        posted_at=reader["posted_at"].timestamp(),
        author=reader["author"].text(MAX_TEXT_LENGTH),
        text=reader["text"].text(MAX_TEXT_LENGTH),
        duration=None if duration is None else _number(duration),
    )


def _read_download(reader: JsonReader) -> RecordedDownload:
    def optional(name: str) -> str | None:
        found = reader.optional(name)
        return None if found is None else found.text()

    return RecordedDownload(
        event_id=reader["event_id"].text(),
        key=reader["key"].text(MAX_TEXT_LENGTH),
        media_url=reader["media_url"].text(MAX_TEXT_LENGTH),
        md5=optional("md5"),
        clip=optional("clip"),
        rejection_reason=optional("loss"),
        detail=reader["detail"].text(MAX_TEXT_LENGTH),
    )


def _read_names(reader: JsonReader) -> RecordedAliases:
    return RecordedAliases(
        reader["team_id"].integer(2**62),
        reader["team_name"].text(),
        tuple(each.text() for each in reader["aliases"].items(MAX_NAMES)),
    )


def _number(reader: JsonReader) -> float:
    if isinstance(reader.value, bool) or not isinstance(reader.value, int | float):
        raise reader.schema_error("a number")
    number = float(reader.value)
    if not 0 <= number < 1e12:  # rejects NaN too
        raise reader.schema_error("a non-negative number")
    return number


def _document(reader: JsonReader) -> Mapping[str, Any]:
    return {key: each.value for key, each in reader["fixture"].fields().items()}


READERS: dict[str, Callable[[JsonReader], Any]] = {
    "answer": _read_answer,
    "search": read_search,
    "download": _read_download,
    "names": _read_names,
}


# --- Packed file: compressed JSON lines that end with their count and checksum.


MAX_PACKED_BYTES = 64 * 1024 * 1024
MAX_PLAIN_BYTES = 512 * 1024 * 1024
"""A long cricket match with three feeds has about ten MiB."""
MAX_LINE_BYTES = 16 * 1024 * 1024
_CHUNK = 1024 * 1024


def pack(recording: Recording) -> bytes:
    plain = bytearray()
    count = 0
    for line in to_lines(recording):
        plain += canonical_json(line) + b"\n"
        count += 1
    end = {"kind": "end", "lines": count, "sha256": hashlib.sha256(plain).hexdigest()}
    plain += canonical_json(end) + b"\n"
    return gzip.compress(bytes(plain), mtime=0)


def unpack(packed: bytes, *, max_bytes: int = MAX_PLAIN_BYTES) -> Recording:
    return parse_recording(_verify_lines(_split_lines(packed, max_bytes)))


def canonical_json(value: Any) -> bytes:
    """Encode deterministically. Raises ValueError for values that JSON cannot represent."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _decompress(packed: bytes, max_bytes: int) -> Iterator[bytes]:
    if len(packed) > MAX_PACKED_BYTES:
        raise RecordingBroken(f"the recording has {len(packed)} bytes; the maximum is {MAX_PACKED_BYTES}")
    unpacker = zlib.decompressobj(wbits=31)
    remaining, total = packed, 0
    try:
        while not unpacker.eof:
            chunk = unpacker.decompress(remaining, _CHUNK)
            remaining = unpacker.unconsumed_tail
            total += len(chunk)
            if total > max_bytes:
                raise RecordingBroken(f"the recording decompresses to more than {max_bytes} bytes")
            if not chunk and not remaining and not unpacker.eof:
                raise RecordingBroken("the recording is truncated")
            yield chunk
    except zlib.error as error:
        raise RecordingBroken(f"the recording cannot be decompressed: {error}") from error
    if unpacker.unused_data:
        raise RecordingBroken("the recording has data after its end")


def _split_lines(packed: bytes, max_bytes: int) -> Iterator[bytes]:
    buffer = bytearray()
    for chunk in _decompress(packed, max_bytes):
        *complete_lines, rest = chunk.split(b"\n")
        if complete_lines:
            yield bytes(buffer + complete_lines[0])
            yield from complete_lines[1:]
            buffer = bytearray(rest)
        else:
            buffer += rest
        if len(buffer) > MAX_LINE_BYTES:
            raise RecordingBroken(f"a line of the recording has more than {MAX_LINE_BYTES} bytes")
    if buffer:
        raise RecordingBroken("the recording is truncated within a line")


def _verify_lines(lines: Iterator[bytes]) -> Iterator[Any]:
    """Yield the lines before the last one, and verify its count and checksum."""
    digest = hashlib.sha256()
    count = 0
    has_ended = False
    for line in lines:
        if has_ended:
            raise RecordingBroken("the recording has data after its last line")
        value = _parse_line(line, count + 1)
        if isinstance(value, dict) and value.get("kind") == "end":
            if value.get("lines") != count or value.get("sha256") != digest.hexdigest():
                raise RecordingBroken("the recording is damaged: its checksum does not match")
            has_ended = True
            continue
        digest.update(line + b"\n")
        count += 1
        yield value
    if not has_ended:
        raise RecordingBroken("the recording is truncated: its last line is missing")


def _parse_line(line: bytes, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordingBroken(f"line {number} of the recording is not valid JSON") from error
