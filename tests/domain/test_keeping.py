from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from found_footy.domain.videos.dedup import Video
from found_footy.domain.videos.keeping import Copy, Pair, settle


def video(name: str, duration: float = 10, size: int = 100) -> Video:
    return Video(name, "verified", duration, size)


def test_a_video_without_a_match_stays() -> None:
    result = settle([video("a"), video("b")], [])
    assert result.stays == ("a", "b")
    assert result.copies == ()


def test_the_larger_file_replaces_the_smaller_one() -> None:
    result = settle([video("old", size=100), video("new", size=200)], [Pair("old", "new", 1.5)])
    assert result.stays == ("new",)
    assert result.copies == (Copy("old", "new", 1.5),)


def test_the_offset_is_turned_with_the_pair() -> None:
    result = settle([video("old", size=100), video("new", size=200)], [Pair("new", "old", -1.5)])
    assert result.copies == (Copy("old", "new", 1.5),)


def test_a_new_video_joins_two_that_were_apart() -> None:
    """The seeds' system stopped at the first match, and the other copy stayed for ever."""
    pool = [video("a", size=100), video("b", size=300), video("new", size=200)]
    result = settle(pool, [Pair("new", "a", 2.0), Pair("new", "b", 5.0)])
    assert result.stays == ("b",)
    assert result.copies == (Copy("a", "b", 3.0), Copy("new", "b", 5.0))


def test_an_earlier_copy_follows_its_winner() -> None:
    """A link that was redirected once must not end at a video that has gone itself."""
    result = settle(
        [video("second", size=200), video("third", size=300)],
        [Pair("second", "third", 1.0)],
        [Copy("first", "second", 0.5), Copy("other", "elsewhere", 4.0)],
    )
    assert result.copies == (Copy("first", "third", 1.5), Copy("second", "third", 1.0))


def test_a_mirror_of_a_mirror_is_none() -> None:
    result = settle(
        [video("second", size=200), video("third", size=300)],
        [Pair("second", "third", 0.0, mirrored=True)],
        [Copy("first", "second", 0.0, mirrored=True)],
    )
    assert result.copies == (Copy("first", "third", 0.0), Copy("second", "third", 0.0, mirrored=True))


@given(st.data())
def test_offsets_agree_with_where_each_clip_starts(data: st.DataObject) -> None:
    """Clips of one broadcast, matched along any tree: each copy's offset is the difference of the starts."""
    names = [f"v{n}" for n in range(data.draw(st.integers(1, 7)))]
    starts = {name: data.draw(st.integers(0, 40)) / 4 for name in names}
    videos = [video(name, size=data.draw(st.integers(1, 5))) for name in names]
    pairs = []
    for place, name in enumerate(names[1:], start=1):
        other = names[data.draw(st.integers(0, place - 1))]
        pairs.append(Pair(name, other, starts[name] - starts[other]))
    result = settle(videos, pairs)
    assert len(result.stays) == 1
    for copy in result.copies:
        assert copy.offset == starts[copy.id] - starts[copy.of]
    assert settle(videos, pairs, result.copies) == result, "settled twice is settled once"
