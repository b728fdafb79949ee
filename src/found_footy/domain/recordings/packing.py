"""A recording as the bytes of one file: compressed lines of JSON that end with their own count and checksum.

The same recording always makes the same bytes. Whoever unpacks trusts none of them: a file that is damaged, cut
off, or larger than any match could be, is refused before it fills the memory.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from typing import Any

from found_footy.domain.errors import RecordingBroken
from found_footy.domain.recordings.notation import lines_of, recording_of
from found_footy.domain.recordings.recording import Recording

SUFFIX = ".jsonl.gz"
PACKED_BYTES = 64 * 1024 * 1024
PLAIN_BYTES = 512 * 1024 * 1024
"""A long cricket match with three feeds has some ten MiB."""
LINE_BYTES = 16 * 1024 * 1024
_CHUNK = 1024 * 1024


def pack(recording: Recording) -> bytes:
    plain = bytearray()
    count = 0
    for line in lines_of(recording):
        plain += canonical(line) + b"\n"
        count += 1
    end = {"kind": "end", "lines": count, "sha256": hashlib.sha256(plain).hexdigest()}
    plain += canonical(end) + b"\n"
    return gzip.compress(bytes(plain), mtime=0)


def unpack(packed: bytes, *, most: int = PLAIN_BYTES) -> Recording:
    return recording_of(_checked(_lines(packed, most)))


def canonical(value: Any) -> bytes:
    """The same value always gives the same bytes. A ValueError where JSON has no words for it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _plain(packed: bytes, most: int) -> Iterator[bytes]:
    if len(packed) > PACKED_BYTES:
        raise RecordingBroken(f"the recording has {len(packed)} bytes; {PACKED_BYTES} are allowed")
    unpacker = zlib.decompressobj(wbits=31)
    given, total = packed, 0
    try:
        while not unpacker.eof:
            chunk = unpacker.decompress(given, _CHUNK)
            given = unpacker.unconsumed_tail
            total += len(chunk)
            if total > most:
                raise RecordingBroken(f"the recording unpacks to more than {most} bytes")
            if not chunk and not given and not unpacker.eof:
                raise RecordingBroken("the recording is cut off")
            yield chunk
    except zlib.error as error:
        raise RecordingBroken(f"the recording cannot be unpacked: {error}") from error
    if unpacker.unused_data:
        raise RecordingBroken("something follows the end of the recording")


def _lines(packed: bytes, most: int) -> Iterator[bytes]:
    left = bytearray()
    for chunk in _plain(packed, most):
        *whole, rest = chunk.split(b"\n")
        if whole:
            yield bytes(left + whole[0])
            yield from whole[1:]
            left = bytearray(rest)
        else:
            left += rest
        if len(left) > LINE_BYTES:
            raise RecordingBroken(f"a line of the recording has more than {LINE_BYTES} bytes")
    if left:
        raise RecordingBroken("the recording is cut off in a line")


def _checked(lines: Iterator[bytes]) -> Iterator[Any]:
    """The lines before the last one, which must know how many they are, and their checksum."""
    digest = hashlib.sha256()
    count = 0
    ended = False
    for line in lines:
        if ended:
            raise RecordingBroken("something follows the last line of the recording")
        value = _value(line, count + 1)
        if isinstance(value, dict) and value.get("kind") == "end":
            if value.get("lines") != count or value.get("sha256") != digest.hexdigest():
                raise RecordingBroken("the recording is damaged: its checksum is another one")
            ended = True
            continue
        digest.update(line + b"\n")
        count += 1
        yield value
    if not ended:
        raise RecordingBroken("the recording is cut off: its last line is missing")


def _value(line: bytes, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordingBroken(f"line {number} of the recording is no JSON") from error
