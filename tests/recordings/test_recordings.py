"""A recording as a file: it comes back as it was, and whatever was done to it is noticed."""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.errors import FeedUnavailable, RecordingBroken, SourceRateLimited
from found_footy.recordings.file_format import MAX_PACKED_BYTES, canonical_json, pack, to_lines, unpack
from found_footy.recordings.models import RecordedAliases, RecordedDownload, Recording
from tests.support.football import match
from tests.support.recordings import post, recording, response, search

WHOLE = recording(
    response(match(status="NS", score=None), [0, 1]),
    response(match("23 home 7"), [2, 3, 4]),
    response(FeedUnavailable("no answer"), [5]),
    response(match("23 home 7"), [2], feed="api_football", feed_id=77),
    fixture_id=5000,
    searches=(search("5000_40_7_Goal_1", 1, post("a"), failed=SourceRateLimited("slower")),),
    downloads=(RecordedDownload("5000_40_7_Goal_1", "bluesky:a", "https://a", md5="0" * 32, clip="0" * 32),),
    names=(RecordedAliases(40, "Liverpool", ("LFC",)),),
    document={"_id": 5000, "events": []},
)


def test_a_recording_survives_packing() -> None:
    assert unpack(pack(WHOLE)) == WHOLE


def test_packing_is_deterministic() -> None:
    assert pack(WHOLE) == pack(unpack(pack(WHOLE)))


@given(st.text(), st.lists(st.floats(0, 1000), max_size=5))
def test_any_text_and_any_times_survive_packing(text: str, polls: list[float]) -> None:
    live = replace(match("23 home 7"), raw={"said": text})
    given_ = recording(response(live, sorted([0.0, *polls])), searches=(search("e", 1, post("a", text="x")),))
    back = unpack(pack(given_))
    assert back == given_
    assert back.answers[0].live is not None
    assert back.answers[0].live.raw == {"said": text}


def plain(packed: bytes) -> bytes:
    return gzip.decompress(packed)


def flipped(packed: bytes) -> bytes:
    middle = len(packed) // 2
    return packed[:middle] + bytes([packed[middle] ^ 0xFF]) + packed[middle + 1 :]


def without_line(number: int) -> Callable[[bytes], bytes]:
    def cut(packed: bytes) -> bytes:
        lines = plain(packed).splitlines(keepends=True)
        del lines[number]
        return gzip.compress(b"".join(lines))

    return cut


def with_word(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda packed: gzip.compress(plain(packed).replace(old, new, 1))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda packed: b"", "truncated"),
        (lambda packed: b"no gzip at all", "cannot be decompressed"),
        (lambda packed: plain(packed), "cannot be decompressed"),
        (lambda packed: packed[: len(packed) // 2], "truncated"),
        (lambda packed: packed[:-4], "truncated"),
        (flipped, "recording"),
        (lambda packed: packed + b"more", "data after its end"),
        (lambda packed: packed + packed, "data after its end"),
        (lambda packed: gzip.compress(plain(packed)[:-10]), "truncated within a line"),
        (without_line(-1), "its last line is missing"),
        (without_line(2), "its checksum does not match"),
        (with_word(b"Liverpool", b"Liverfool"), "its checksum does not match"),
        (lambda packed: gzip.compress(plain(packed) + b'{"kind":"answer"}\n'), "data after its last line"),
        (lambda packed: gzip.compress(b"{\n"), "is not valid JSON"),
        (lambda packed: gzip.compress(b"[" * 100_000 + b"\n"), "is not valid JSON"),
    ],
)
def test_a_damaged_recording_is_rejected(damage: Callable[[bytes], bytes], words: str) -> None:
    with pytest.raises(RecordingBroken, match=words):
        unpack(damage(pack(WHOLE)))


def sealed(lines: list[Any]) -> bytes:
    """Lines with the right checksum, whatever they say."""
    body = b"".join(canonical_json(line) + b"\n" for line in lines)
    end = {"kind": "end", "lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}
    return gzip.compress(body + canonical_json(end) + b"\n")


def changed(kind: str, **fields: Any) -> list[Any]:
    lines = [json.loads(canonical_json(line)) for line in to_lines(WHOLE)]
    first = next(line for line in lines if line["kind"] == kind)
    first |= fields
    return lines


HEAD = changed("recording")[0]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "exactly one head line"),
        ([[]], "line 1"),
        ([{"kind": "answer"}], "not a recording"),
        ([HEAD | {"format": "something else"}], "not a recording"),
        ([HEAD | {"version": 2}], "version 2; this program reads 1"),
        ([HEAD | {"version": "1"}], "version '1'"),
        ([HEAD, HEAD], "exactly one head line"),
        (changed("recording", title=5), "title"),
        (changed("recording", feeds=[{"id": "espn"}]), "precedence"),
        (changed("recording", rules={"poll_seconds": -1}), "rules.poll_seconds"),
        (changed("recording", rules={"poll_seconds": "30"}), "rules.poll_seconds"),
        (changed("answer", at=[]), "at"),
        (changed("answer", at=["2026-01-02T00:00:00+00:00", "2026-01-01T00:00:00+00:00"]), "in ascending order"),
        (changed("answer", at=["yesterday"]), "ISO 8601"),
        (changed("answer", id=-1), "id"),
        (changed("answer", payload=None), "error"),
        (changed("answer", payload={"id": 1}), "line 3"),
        (changed("answer", payload=[]), "payload"),
        (changed("search", posts=[{"source": "x"}]), "posts.0"),
        (changed("search", attempt="1"), "attempt"),
        (changed("download", media_url=None), "media_url"),
        (changed("names", aliases="LFC"), "aliases"),
        (changed("outcome", fixture=[]), "line 1"),
    ],
)
def test_invalid_lines_are_located(lines: list[Any], words: str) -> None:
    with pytest.raises(RecordingBroken, match=words):
        unpack(sealed(lines))


def test_unknown_kinds_of_lines_are_ignored() -> None:
    lines = [*changed("recording"), {"kind": "weather", "said": "rain"}]
    assert unpack(sealed(lines)) == WHOLE


def test_a_decompression_bomb_is_rejected_while_decompressing() -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(RecordingBroken, match="more than 1000000 bytes"):
        unpack(bomb, max_bytes=1_000_000)


def test_an_endless_line_is_rejected() -> None:
    with pytest.raises(RecordingBroken, match="a line of the recording"):
        unpack(gzip.compress(b"0" * 40_000_000))


def test_a_file_that_is_too_large_is_not_decompressed() -> None:
    with pytest.raises(RecordingBroken, match="bytes"):
        unpack(bytes(MAX_PACKED_BYTES + 1))


def test_a_wrong_length_in_the_trailer_is_detected() -> None:
    packed = pack(WHOLE)
    with pytest.raises(RecordingBroken):
        unpack(packed[:-4] + struct.pack("<I", zlib.crc32(b"")))


def test_without_rules_the_poll_interval_is_the_default() -> None:
    assert Recording("x").poll_seconds == 30
