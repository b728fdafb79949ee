"""Which files of a host are taken for a whole film: the best pictures, and sound with them."""

from __future__ import annotations

import pytest

from found_footy.clips.ytdlp_process import choose_formats


def offered(text: str) -> dict[str, object]:
    """`name height codecs`, of which codecs are v, a, va or nothing told."""
    name, height, *codecs = text.split()
    told = {"vcodec": "avc1" if "v" in codecs[0] else "none", "acodec": "mp4a" if "a" in codecs[0] else "none"}
    return {"format_id": name, "height": int(height) or None, **(told if codecs[0] != "?" else {})}


@pytest.mark.parametrize(
    ("formats", "expected"),
    [
        ([], []),
        (["s 0 a"], []),
        (["one 0 ?"], ["one"]),
        (["low 360 va", "high 1080 v"], ["high"]),
        (["s 0 a", "low 360 va", "high 1080 v"], ["high", "s"]),
        (["s1 0 a", "s2 0 a", "high 1080 v"], ["high", "s2"]),
        (["s 0 a", "whole 1080 va", "parted 1080 v"], ["whole"]),
        (["s 0 a", "high 1080 v", "huge 2160 v"], ["high", "s"]),
        (["s 0 a", "huge 2160 v"], ["huge", "s"]),
        (["early 720 va", "late 720 va"], ["late"]),
    ],
)
def test_the_best_pictures_and_their_sound(formats: list[str], expected: list[str]) -> None:
    assert [each["format_id"] for each in choose_formats([offered(text) for text in formats])] == expected
