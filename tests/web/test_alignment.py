"""Alignment of clips, as tables of cases."""

from __future__ import annotations

import pytest

from found_footy.clips.alignment import (
    AlignedBy,
    ClipAlignment,
    ClipFacts,
    ClipOffset,
    align,
    align_by_pairs_and_clocks,
    match_second,
    start_by_clock,
)
from found_footy.clips.dedup import DuplicatePair
from found_footy.clips.models import FrameReading
from found_footy.media.fingerprint import Fingerprint, mirror
from tests.support.clips import fingerprint

REFERENCE, UNKNOWN = ClipOffset(0.0, AlignedBy.REFERENCE), ClipOffset(None, AlignedBy.NOTHING)


def pictures(offset: float) -> ClipOffset:
    return ClipOffset(offset, AlignedBy.PICTURES)


def clock(offset: float) -> ClipOffset:
    return ClipOffset(offset, AlignedBy.CLOCK)


def read(at: float, text: str | None, stoppage: str | None = None) -> FrameReading:
    return FrameReading(at, soccer=True, screen=False, clock=text, stoppage_clock=stoppage, teams=("LIV", "MCI"))


@pytest.mark.parametrize(
    ("text", "stoppage", "second"),
    [
        ("22:41", None, 22 * 60 + 41),
        ("0:07", None, 7),
        ("90:12", None, 90 * 60 + 12),
        ("47:17", None, 47 * 60 + 17),
        ("45:00", "02:17", 47 * 60 + 17),
        ("45:00 +2:17", None, 47 * 60 + 17),
        ("90:00", "+ 4:05", 94 * 60 + 5),
        ("2H 12:30", None, 57 * 60 + 30),
        ("45:00", None, None),
        ("45+2", None, None),
        ("67'", None, None),
        ("HT", None, None),
        ("FT 90:00", None, None),
        ("Samsung", None, None),
        (None, "02:17", None),
    ],
)
def test_a_reading_is_converted_to_match_seconds(text: str | None, stoppage: str | None, second: int | None) -> None:
    assert match_second(read(1.0, text, stoppage)) == second


@pytest.mark.parametrize(
    ("readings", "start"),
    [
        ([], None),
        ([(1.0, None)], None),
        ([(1.0, "22:41")], 1360),
        ([(1.0, "22:41"), (3.0, "22:43")], 1360),
        ([(1.0, "22:41"), (3.0, "22:44")], 1360.5),
        ([(1.0, "22:41"), (3.0, "22:30")], None),
        ([(1.0, "22:41"), (2.0, "22:42"), (3.0, "22:30")], 1360),
        ([(1.0, "22:41"), (9.0, "22:41")], None),
    ],
    ids=["nothing", "no clock", "one", "agree", "nearly", "contradict", "two against one", "a replay stands still"],
)
def test_the_start_of_a_clip_follows_from_its_readings(
    readings: list[tuple[float, str | None]], start: float | None
) -> None:
    assert start_by_clock([read(at, text) for at, text in readings]) == start


@pytest.mark.parametrize(
    ("pairs", "starts", "expected"),
    [
        ([], {}, {"a": REFERENCE, "b": UNKNOWN, "c": UNKNOWN}),
        ([DuplicatePair("b", "a", 1.5)], {}, {"a": REFERENCE, "b": pictures(1.5), "c": UNKNOWN}),
        ([DuplicatePair("a", "b", 1.5)], {}, {"a": REFERENCE, "b": pictures(-1.5), "c": UNKNOWN}),
        (
            [DuplicatePair("b", "a", 1.5), DuplicatePair("c", "b", 2)],
            {},
            {"a": REFERENCE, "b": pictures(1.5), "c": pictures(3.5)},
        ),
        ([], {"a": 100, "b": 103}, {"a": REFERENCE, "b": clock(3), "c": UNKNOWN}),
        ([DuplicatePair("b", "a", 1.5)], {"a": 100, "b": 103}, {"a": REFERENCE, "b": pictures(1.5), "c": UNKNOWN}),
        ([DuplicatePair("b", "a", 1.5)], {"b": 100, "c": 98}, {"a": REFERENCE, "b": pictures(1.5), "c": clock(-0.5)}),
        ([DuplicatePair("c", "b", 2)], {"a": 100, "b": 103}, {"a": REFERENCE, "b": clock(3), "c": clock(5)}),
        ([DuplicatePair("c", "b", 2)], {"a": 100, "c": 103}, {"a": REFERENCE, "b": clock(1), "c": clock(3)}),
        ([DuplicatePair("c", "b", 2)], {"b": 100, "c": 98}, {"a": REFERENCE, "b": UNKNOWN, "c": UNKNOWN}),
    ],
    ids=[
        "nothing tells",
        "by pictures",
        "by pictures, the other way",
        "over another clip",
        "by the clock",
        "pictures come first",
        "by the clock of a clip that pictures align",
        "by pictures of a clip that the clock aligns",
        "the same in another order",
        "only with each other",
    ],
)
def test_clips_are_aligned_by_fingerprint_else_by_clock(
    pairs: list[DuplicatePair], starts: dict[str, float], expected: dict[str, ClipOffset]
) -> None:
    assert align_by_pairs_and_clocks(["a", "b", "c"], pairs, starts) == expected


def facts(name: str, moment: str, start: float = 0.0, *readings: FrameReading) -> ClipFacts:
    return ClipFacts(name, fingerprint(moment, start), readings)


def test_fingerprints_and_readings_are_combined() -> None:
    found = align(
        [
            facts("best", "broadcast", 5.0, read(1.0, "22:41")),
            facts("late copy", "broadcast", 7.5),
            facts("other camera", "stands", 0.0, read(2.0, "22:44")),
            facts("fan film", "phone"),
            ClipFacts("mirror", mirror(fingerprint("broadcast", 4.0))),
            ClipFacts("no pictures", Fingerprint(fingerprint("x").places[:0], fingerprint("x").hashes[:0])),
        ]
    )
    assert found == {
        "best": REFERENCE,
        "late copy": pictures(2.5),
        "other camera": clock(2.0),
        "fan film": UNKNOWN,
        "mirror": pictures(-1.0),
        "no pictures": UNKNOWN,
    }
    # 22:44 is at 2.0 s there; here it is three seconds after 22:41, which is at 1.0 s.
    assert found["other camera"].offset == (1.0 + 3.0) - 2.0


def test_zero_or_one_clip_needs_no_alignment() -> None:
    assert align([]) == {}
    assert align([facts("only", "broadcast")]) == {"only": REFERENCE}


class Links:
    def __init__(self) -> None:
        self.asked = 0

    async def fingerprints(self, event_id: str) -> dict[str, Fingerprint]:
        self.asked += 1
        return {"a": fingerprint("x"), "b": fingerprint("x", 2.0)}


async def test_alignment_is_cached_until_a_clip_is_added() -> None:
    links = Links()
    clips = ClipAlignment(links.fingerprints)
    a, b = ClipFacts("a"), ClipFacts("b")
    for _ in range(3):
        assert await clips.aligned("goal", [a, b]) == {"a": REFERENCE, "b": pictures(2.0)}
    assert links.asked == 1
    assert await clips.aligned("goal", [b, a]) == {"b": REFERENCE, "a": pictures(-2.0)}
    assert links.asked == 2
    assert await clips.aligned("goal", [a]) == {"a": REFERENCE}
    assert links.asked == 2
