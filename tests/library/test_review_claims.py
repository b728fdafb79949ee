"""Several reviewers at a time: nobody is shown a clip that lies before somebody else."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from found_footy.errors import EditRefused
from found_footy.library.models import ClipState, LibraryClip
from found_footy.library.review import ActionKind, Reviewer
from tests.support.library_rows import ANNA, BEN, LEASE, NOW, LibraryStores, later


async def claimed(stores: LibraryStores, who: Reviewer, most: int = 3, source_id: int | None = None) -> list[int]:
    return [clip.id for clip in await stores.review.claim(who, LEASE, most, source_id)]


def ids(clips: list[LibraryClip]) -> list[int]:
    return [clip.id for clip in clips]


async def test_clips_are_claimed_in_order_by_one_reviewer_each(stores: LibraryStores) -> None:
    clips = await stores.ready(cuts=range(20, 100, 20))
    assert await claimed(stores, ANNA) == ids(clips[:3])
    assert await claimed(stores, BEN) == ids(clips[3:])
    assert await claimed(stores, later(ANNA, 1)) == ids(clips[:3]), "what is with them already"
    mine = await stores.library.clip(clips[0].id)
    assert (mine.claimed_by, mine.claimed_until) == (ANNA.id, NOW + timedelta(seconds=1) + LEASE)


async def test_concurrent_claims_do_not_overlap(stores: LibraryStores) -> None:
    clips = await stores.ready(frames=400, cuts=range(10, 400, 10))
    windows = [Reviewer(f"window-{number}", "Anna", NOW) for number in range(10)]
    shares = await asyncio.gather(*(claimed(stores, who, 4) for who in windows))
    got = [id_ for share in shares for id_ in share]
    assert sorted(got) == ids(clips)
    assert [len(share) for share in shares] == [4] * 10
    assert await claimed(stores, Reviewer("late", "Ben", NOW)) == []


async def test_a_second_reviewer_starts_with_another_source(stores: LibraryStores) -> None:
    """Neighbours of a clip that lies before somebody could not be merged."""
    first = await stores.ready(cuts=range(20, 100, 20), name="first")
    second = await stores.ready(cuts=(50,), name="second")
    assert await claimed(stores, ANNA, 2) == ids(first[:2])
    assert await claimed(stores, BEN, 2) == ids(second)
    assert await claimed(stores, BEN, 4) == [*ids(first[2:4]), *ids(second)], "nothing else is left"
    assert await claimed(stores, Reviewer("window-3", "Cleo", NOW), 3, first[0].source_id) == ids(first[4:])


async def test_an_expired_claim_can_be_taken_over(stores: LibraryStores) -> None:
    clips = await stores.ready()
    await claimed(stores, ANNA)
    assert await claimed(stores, later(BEN, 119.9)) == []
    assert await claimed(stores, later(ANNA, 119)) == ids(clips), "a sign of life"
    assert await claimed(stores, later(BEN, 121)) == []
    assert await claimed(stores, later(BEN, 240)) == ids(clips)
    assert await claimed(stores, later(ANNA, 241)) == []


async def test_releasing_frees_all_claims(stores: LibraryStores) -> None:
    clips = await stores.ready()
    await claimed(stores, ANNA, 2)
    await stores.review.release(BEN)
    assert await claimed(stores, BEN) == ids(clips[2:])
    await stores.review.release(ANNA)
    assert await claimed(stores, BEN) == ids(clips)


async def test_a_claim_ends_with_the_action(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    await claimed(stores, ANNA)
    await stores.review.decide(ActionKind.SKIP, [one.id], ANNA)
    assert (await stores.library.clip(one.id)).claimed_by is None
    await stores.review.decide(ActionKind.APPROVE, [one.id], later(BEN, 1))
    assert await claimed(stores, ANNA) == [two.id, three.id]


async def test_only_live_clips_pending_review_are_claimed(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    await stores.cut(name="without sheets")
    await stores.review.split(one.id, 10, ANNA)
    await stores.review.decide(ActionKind.ARCHIVE, [two.id], ANNA)
    assert await claimed(stores, ANNA, 99) == [three.id]


@pytest.mark.parametrize("kind", ["approve", "skip", "archive", "group", "split", "merge"])
async def test_a_claimed_clip_is_not_claimed_by_another_reviewer(stores: LibraryStores, kind: str) -> None:
    one, two, _ = await stores.ready()
    await claimed(stores, ANNA, 1)
    before = await stores.rows("library_clips")

    with pytest.raises(EditRefused, match=f"clip {one.id} is claimed by another reviewer"):
        await _act(stores, kind, one, two, later(BEN, 119))

    assert await stores.rows("library_clips") == before
    await _act(stores, kind, one, two, later(BEN, 121))


async def test_a_claim_respects_its_limit(stores: LibraryStores) -> None:
    await stores.ready()
    await claimed(stores, ANNA, 3)
    assert len(await claimed(stores, ANNA, 1)) == 1
    assert await claimed(stores, BEN, 3) == [], "the others stay with her"


async def _act(stores: LibraryStores, kind: str, one: LibraryClip, two: LibraryClip, who: Reviewer) -> None:
    match kind:
        case "group":
            await stores.review.group(two.id, one.id, who)
        case "merge":
            await stores.review.merge(two.id, one.id, who)
        case "split":
            await stores.review.split(one.id, 10, who)
        case _:
            await stores.review.decide(ActionKind(kind), [two.id, one.id], who)
    assert (await stores.library.clip(one.id)).state is not ClipState.EDIT_PENDING
