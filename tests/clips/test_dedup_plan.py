from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from found_footy.clips.dedup import DedupCandidate, DuplicatePair, plan_dedup
from found_footy.clips.models import Duplicate


def video(name: str, duration: float = 10, size: int = 100) -> DedupCandidate:
    return DedupCandidate(name, "verified", duration, size)


def test_a_video_without_a_match_stays() -> None:
    result = plan_dedup([video("a"), video("b")], [])
    assert result.stays == ("a", "b")
    assert result.copies == ()


def test_the_larger_file_replaces_the_smaller_one() -> None:
    result = plan_dedup([video("old", size=100), video("new", size=200)], [DuplicatePair("old", "new", 1.5)])
    assert result.stays == ("new",)
    assert result.copies == (Duplicate("old", "new", 1.5),)


def test_the_offset_is_turned_with_the_pair() -> None:
    result = plan_dedup([video("old", size=100), video("new", size=200)], [DuplicatePair("new", "old", -1.5)])
    assert result.copies == (Duplicate("old", "new", 1.5),)


def test_a_new_video_joins_two_that_were_apart() -> None:
    """The seeds' system stopped at the first match, and the other copy stayed for ever."""
    pool = [video("a", size=100), video("b", size=300), video("new", size=200)]
    result = plan_dedup(pool, [DuplicatePair("new", "a", 2.0), DuplicatePair("new", "b", 5.0)])
    assert result.stays == ("b",)
    assert result.copies == (Duplicate("a", "b", 3.0), Duplicate("new", "b", 5.0))


def test_an_earlier_copy_follows_its_winner() -> None:
    """A link that was redirected once must not end at a video that has gone itself."""
    result = plan_dedup(
        [video("second", size=200), video("third", size=300)],
        [DuplicatePair("second", "third", 1.0)],
        [Duplicate("first", "second", 0.5), Duplicate("other", "elsewhere", 4.0)],
    )
    assert result.copies == (Duplicate("first", "third", 1.5), Duplicate("second", "third", 1.0))


def test_a_mirror_of_a_mirror_is_none() -> None:
    result = plan_dedup(
        [video("second", size=200), video("third", size=300)],
        [DuplicatePair("second", "third", 0.0, mirrored=True)],
        [Duplicate("first", "second", 0.0, mirrored=True)],
    )
    assert result.copies == (Duplicate("first", "third", 0.0), Duplicate("second", "third", 0.0, mirrored=True))


@given(st.data())
def test_offsets_agree_with_where_each_clip_starts(data: st.DataObject) -> None:
    """Clips of one broadcast, matched along any tree: each copy's offset is the difference of the starts."""
    names = [f"v{n}" for n in range(data.draw(st.integers(1, 7)))]
    starts = {name: data.draw(st.integers(0, 40)) / 4 for name in names}
    videos = [video(name, size=data.draw(st.integers(1, 5))) for name in names]
    pairs = []
    for place, name in enumerate(names[1:], start=1):
        other = names[data.draw(st.integers(0, place - 1))]
        pairs.append(DuplicatePair(name, other, starts[name] - starts[other]))
    result = plan_dedup(videos, pairs)
    assert len(result.stays) == 1
    for copy in result.copies:
        assert copy.offset == starts[copy.md5] - starts[copy.of]
    assert plan_dedup(videos, pairs, result.copies) == result, "settled twice is settled once"
