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
from found_footy.recordings.file_format import PACKED_BYTES, canonical_json, lines_of, pack, unpack
from found_footy.recordings.models import RecordedAliases, RecordedDownload, Recording
from tests.support.football import match
from tests.support.recordings import post, recording, said, search

WHOLE = recording(
    said(match(status="NS", score=None), [0, 1]),
    said(match("23 home 7"), [2, 3, 4]),
    said(FeedUnavailable("no answer"), [5]),
    said(match("23 home 7"), [2], feed="api_football", feed_id=77),
    fixture_id=5000,
    searches=(search("5000_40_7_Goal_1", 1, post("a"), failed=SourceRateLimited("slower")),),
    downloads=(RecordedDownload("5000_40_7_Goal_1", "bluesky:a", "https://a", md5="0" * 32, clip="0" * 32),),
    names=(RecordedAliases(40, "Liverpool", ("LFC",)),),
    document={"_id": 5000, "events": []},
)


def test_a_recording_comes_back_as_it_was() -> None:
    assert unpack(pack(WHOLE)) == WHOLE


def test_the_same_recording_makes_the_same_bytes() -> None:
    assert pack(WHOLE) == pack(unpack(pack(WHOLE)))


@given(st.text(), st.lists(st.floats(0, 1000), max_size=5))
def test_any_text_and_any_times_come_back(text: str, polls: list[float]) -> None:
    live = replace(match("23 home 7"), raw={"said": text})
    given_ = recording(said(live, sorted([0.0, *polls])), searches=(search("e", 1, post("a", text="x")),))
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
        (lambda packed: b"", "cut off"),
        (lambda packed: b"no gzip at all", "cannot be unpacked"),
        (lambda packed: plain(packed), "cannot be unpacked"),
        (lambda packed: packed[: len(packed) // 2], "cut off"),
        (lambda packed: packed[:-4], "cut off"),
        (flipped, "recording"),
        (lambda packed: packed + b"more", "follows the end"),
        (lambda packed: packed + packed, "follows the end"),
        (lambda packed: gzip.compress(plain(packed)[:-10]), "cut off in a line"),
        (without_line(-1), "its last line is missing"),
        (without_line(2), "its checksum is another one"),
        (with_word(b"Liverpool", b"Liverfool"), "its checksum is another one"),
        (lambda packed: gzip.compress(plain(packed) + b'{"kind":"answer"}\n'), "follows the last line"),
        (lambda packed: gzip.compress(b"{\n"), "is no JSON"),
        (lambda packed: gzip.compress(b"[" * 100_000 + b"\n"), "is no JSON"),
    ],
)
def test_a_damaged_recording_is_refused(damage: Callable[[bytes], bytes], words: str) -> None:
    with pytest.raises(RecordingBroken, match=words):
        unpack(damage(pack(WHOLE)))


def sealed(lines: list[Any]) -> bytes:
    """Lines with the right checksum, whatever they say."""
    body = b"".join(canonical_json(line) + b"\n" for line in lines)
    end = {"kind": "end", "lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}
    return gzip.compress(body + canonical_json(end) + b"\n")


def changed(kind: str, **fields: Any) -> list[Any]:
    lines = [json.loads(canonical_json(line)) for line in lines_of(WHOLE)]
    first = next(line for line in lines if line["kind"] == kind)
    first |= fields
    return lines


HEAD = changed("recording")[0]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "no beginning"),
        ([[]], "line 1"),
        ([{"kind": "answer"}], "no recording"),
        ([HEAD | {"format": "something else"}], "no recording"),
        ([HEAD | {"version": 2}], "version 2; this program reads 1"),
        ([HEAD | {"version": "1"}], "version '1'"),
        ([HEAD, HEAD], "several"),
        (changed("recording", title=5), "title"),
        (changed("recording", feeds=[{"id": "espn"}]), "precedence"),
        (changed("recording", rules={"poll_seconds": -1}), "rules.poll_seconds"),
        (changed("recording", rules={"poll_seconds": "30"}), "rules.poll_seconds"),
        (changed("answer", at=[]), "at"),
        (changed("answer", at=["2026-01-02T00:00:00+00:00", "2026-01-01T00:00:00+00:00"]), "in order"),
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
def test_lines_that_do_not_fit_are_named(lines: list[Any], words: str) -> None:
    with pytest.raises(RecordingBroken, match=words):
        unpack(sealed(lines))


def test_lines_of_a_kind_that_we_do_not_know_are_let_be() -> None:
    lines = [*changed("recording"), {"kind": "weather", "said": "rain"}]
    assert unpack(sealed(lines)) == WHOLE


def test_a_recording_that_unpacks_to_more_than_any_match_is_refused_while_it_unpacks() -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(RecordingBroken, match="more than 1000000 bytes"):
        unpack(bomb, most=1_000_000)


def test_a_line_that_never_ends_is_refused() -> None:
    with pytest.raises(RecordingBroken, match="a line of the recording"):
        unpack(gzip.compress(b"0" * 40_000_000))


def test_a_file_that_is_too_large_is_not_even_unpacked() -> None:
    with pytest.raises(RecordingBroken, match="bytes"):
        unpack(bytes(PACKED_BYTES + 1))


def test_a_wrong_length_in_the_trailer_is_noticed() -> None:
    packed = pack(WHOLE)
    with pytest.raises(RecordingBroken):
        unpack(packed[:-4] + struct.pack("<I", zlib.crc32(b"")))


def test_what_a_recording_without_rules_was_polled_by_is_the_usual_interval() -> None:
    assert Recording("x").poll_seconds == 30
