"""Several reviewers at a time: nobody is shown a clip that lies before somebody else."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from found_footy.errors import EditRefused
from found_footy.library.models import ClipState, LibraryClip
from found_footy.library.review import ActionKind, Reviewer
from tests.support.library_rows import ANNA, BEN, LEASE, NOW, Bench, later


async def claimed(bench: Bench, who: Reviewer, most: int = 3, source_id: int | None = None) -> list[int]:
    return [clip.id for clip in await bench.review.claim(who, LEASE, most, source_id)]


def ids(clips: list[LibraryClip]) -> list[int]:
    return [clip.id for clip in clips]


async def test_clips_are_claimed_in_order_by_one_reviewer_each(bench: Bench) -> None:
    clips = await bench.ready(cuts=range(20, 100, 20))
    assert await claimed(bench, ANNA) == ids(clips[:3])
    assert await claimed(bench, BEN) == ids(clips[3:])
    assert await claimed(bench, later(ANNA, 1)) == ids(clips[:3]), "what is with them already"
    mine = await bench.library.clip(clips[0].id)
    assert (mine.claimed_by, mine.claimed_until) == (ANNA.id, NOW + timedelta(seconds=1) + LEASE)


async def test_concurrent_claims_do_not_overlap(bench: Bench) -> None:
    clips = await bench.ready(frames=400, cuts=range(10, 400, 10))
    windows = [Reviewer(f"window-{number}", "Anna", NOW) for number in range(10)]
    shares = await asyncio.gather(*(claimed(bench, who, 4) for who in windows))
    got = [id_ for share in shares for id_ in share]
    assert sorted(got) == ids(clips)
    assert [len(share) for share in shares] == [4] * 10
    assert await claimed(bench, Reviewer("late", "Ben", NOW)) == []


async def test_a_second_reviewer_starts_with_another_source(bench: Bench) -> None:
    """Neighbours of a clip that lies before somebody could not be merged."""
    first = await bench.ready(cuts=range(20, 100, 20), name="first")
    second = await bench.ready(cuts=(50,), name="second")
    assert await claimed(bench, ANNA, 2) == ids(first[:2])
    assert await claimed(bench, BEN, 2) == ids(second)
    assert await claimed(bench, BEN, 4) == [*ids(first[2:4]), *ids(second)], "nothing else is left"
    assert await claimed(bench, Reviewer("window-3", "Cleo", NOW), 3, first[0].source_id) == ids(first[4:])


async def test_an_expired_claim_can_be_taken_over(bench: Bench) -> None:
    clips = await bench.ready()
    await claimed(bench, ANNA)
    assert await claimed(bench, later(BEN, 119.9)) == []
    assert await claimed(bench, later(ANNA, 119)) == ids(clips), "a sign of life"
    assert await claimed(bench, later(BEN, 121)) == []
    assert await claimed(bench, later(BEN, 240)) == ids(clips)
    assert await claimed(bench, later(ANNA, 241)) == []


async def test_releasing_frees_all_claims(bench: Bench) -> None:
    clips = await bench.ready()
    await claimed(bench, ANNA, 2)
    await bench.review.release(BEN)
    assert await claimed(bench, BEN) == ids(clips[2:])
    await bench.review.release(ANNA)
    assert await claimed(bench, BEN) == ids(clips)


async def test_a_claim_ends_with_the_action(bench: Bench) -> None:
    one, two, three = await bench.ready()
    await claimed(bench, ANNA)
    await bench.review.decide(ActionKind.SKIP, [one.id], ANNA)
    assert (await bench.library.clip(one.id)).claimed_by is None
    await bench.review.decide(ActionKind.APPROVE, [one.id], later(BEN, 1))
    assert await claimed(bench, ANNA) == [two.id, three.id]


async def test_only_live_clips_pending_review_are_claimed(bench: Bench) -> None:
    one, two, three = await bench.ready()
    await bench.cut(name="without sheets")
    await bench.review.split(one.id, 10, ANNA)
    await bench.review.decide(ActionKind.ARCHIVE, [two.id], ANNA)
    assert await claimed(bench, ANNA, 99) == [three.id]


@pytest.mark.parametrize("kind", ["approve", "skip", "archive", "group", "split", "merge"])
async def test_a_claimed_clip_is_not_claimed_by_another_reviewer(bench: Bench, kind: str) -> None:
    one, two, _ = await bench.ready()
    await claimed(bench, ANNA, 1)
    before = await bench.rows("library_clips")

    with pytest.raises(EditRefused, match=f"clip {one.id} is claimed by another reviewer"):
        await _act(bench, kind, one, two, later(BEN, 119))

    assert await bench.rows("library_clips") == before
    await _act(bench, kind, one, two, later(BEN, 121))


async def test_a_claim_respects_its_limit(bench: Bench) -> None:
    await bench.ready()
    await claimed(bench, ANNA, 3)
    assert len(await claimed(bench, ANNA, 1)) == 1
    assert await claimed(bench, BEN, 3) == [], "the others stay with her"


async def _act(bench: Bench, kind: str, one: LibraryClip, two: LibraryClip, who: Reviewer) -> None:
    match kind:
        case "group":
            await bench.review.group(two.id, one.id, who)
        case "merge":
            await bench.review.merge(two.id, one.id, who)
        case "split":
            await bench.review.split(one.id, 10, who)
        case _:
            await bench.review.decide(ActionKind(kind), [two.id, one.id], who)
    assert (await bench.library.clip(one.id)).state is not ClipState.EDIT_PENDING
