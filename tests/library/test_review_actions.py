"""Simple actions, one clip or many at once, what is remembered of them, and who hears of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from found_footy.errors import EditRefused, NotFound
from found_footy.library.models import APPROVED, ARCHIVED, ClipState
from found_footy.library.review import ACTION_RULES, EDITABLE, ActionKind, ReviewFields
from tests.support.library_rows import ANNA, BEN, NOW, UNDO_FOR, LibraryStores, later

SO_ALREADY = {
    ActionKind.APPROVE: APPROVED,
    ActionKind.SKIP: {ClipState.REVIEW_SKIPPED},
    ActionKind.ARCHIVE: ARCHIVED,
}
JUDGEMENTS = {
    ActionKind.APPROVE: ClipState.REVIEW_APPROVED,
    ActionKind.SKIP: ClipState.REVIEW_SKIPPED,
    ActionKind.ARCHIVE: ClipState.REVIEW_ARCHIVED,
}


async def set_states(stores: LibraryStores, ids: Sequence[int], states: Sequence[ClipState]) -> None:
    async with stores.database.connection() as connection:
        for id_, state in zip(ids, states, strict=True):
            await connection.execute("update library_clips set state = %s where id = %s", [state, id_])


@pytest.mark.parametrize("kind", JUDGEMENTS)
async def test_an_action_takes_effect_at_once(stores: LibraryStores, kind: ActionKind) -> None:
    one, two, three = await stores.ready()

    done = await stores.review.decide(kind, [one.id, three.id], ANNA)

    state = JUDGEMENTS[kind]
    standing = ReviewFields(state, True, None, NOW + UNDO_FOR, "Anna", NOW)
    assert done.after == {one.id: standing, three.id: standing}
    assert done.before == {id_: ReviewFields(ClipState.PENDING_REVIEW) for id_ in (one.id, three.id)}
    assert (done.made, done.settles_at, done.undone_at) == ((), NOW + UNDO_FOR, None)
    for id_ in (one.id, three.id):
        clip = await stores.library.clip(id_)
        assert (clip.state, clip.reviewed_by, clip.reviewed_at) == (state, "Anna", NOW)
    assert await stores.library.clip(two.id) == two


@pytest.mark.parametrize("kind", JUDGEMENTS)
async def test_refused_actions_have_a_reason_and_change_nothing(stores: LibraryStores, kind: ActionKind) -> None:
    states = list(ClipState)
    clips = await stores.ready(frames=1000, cuts=range(10, 10 * len(states), 10))
    ids = [clip.id for clip in clips]
    await set_states(stores, ids, states)
    takes = ACTION_RULES[kind].takes
    allowed = [id_ for id_, state in zip(ids, states, strict=True) if state in takes]
    before = await stores.rows("library_clips")

    already = [id_ for id_, state in zip(ids, states, strict=True) if state in SO_ALREADY[kind]]
    for id_ in already:
        with pytest.raises(EditRefused, match=f"clip {id_} is already (approved|skipped|archived)"):
            await stores.review.decide(kind, [id_], ANNA)
    for id_ in set(ids) - {*allowed, *already}:
        for named in ([id_], [*allowed, *already, id_]):
            with pytest.raises(EditRefused, match=f"clip {id_} cannot be (approved|skipped|archived): it is .+"):
                await stores.review.decide(kind, named, ANNA)

    assert await stores.rows("library_clips") == before
    assert await stores.rows("library_actions") == []
    done = await stores.review.decide(kind, [*allowed, *already], ANNA)
    assert done.after.keys() == set(allowed), "of many, those that are so already stay as they are"
    await stores.review.undo(later(ANNA, 1))
    await stores.review.release(ANNA)
    without = [{name: row[name] for name in row if name != "changed_at"} for row in before]
    assert await stores.rows("library_clips", without=["changed_at"]) == without


async def test_idle_clips_can_be_cut_in_every_state(stores: LibraryStores) -> None:
    states = list(ClipState)
    clips = await stores.ready(frames=1000, cuts=range(10, 10 * len(states), 10))
    await set_states(stores, [clip.id for clip in clips], states)
    for clip, state in zip(clips, states, strict=True):
        if state not in EDITABLE:
            with pytest.raises(EditRefused, match=f"cannot edit clip {clip.id}: it is"):
                await stores.review.split(clip.id, clip.first + 5, ANNA)
    for clip, state in zip(clips, states, strict=True):
        if state in EDITABLE:
            await stores.review.split(clip.id, clip.first + 5, ANNA)
    await stores.tiles(clips[0].source_id)


async def test_unknown_and_repeated_clips_are_refused(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    for ids, why in [
        ([], "no clips given"),
        ([one.id, one.id], "given twice"),
        (list(range(501)), "the maximum is 500"),
    ]:
        with pytest.raises(EditRefused, match=why):
            await stores.review.decide(ActionKind.SKIP, ids, ANNA)
    with pytest.raises(NotFound, match="clip 4711, 4712 not found"):
        await stores.review.decide(ActionKind.SKIP, [4712, one.id, 4711], ANNA)
    with pytest.raises(EditRefused, match="expected approve, skip or archive"):
        await stores.review.decide(ActionKind.MERGE, [one.id], ANNA)


async def test_a_group_is_approved_together_and_undone_together(stores: LibraryStores) -> None:
    """Each is grouped with the clip before it, as the page does it."""
    one, two, three = await stores.ready()
    await stores.review.group(two.id, one.id, ANNA)
    await stores.review.group(three.id, two.id, later(ANNA, 1))

    clips = [await stores.library.clip(clip.id) for clip in (one, two, three)]
    assert [clip.grouped_with for clip in clips] == [None, one.id, one.id]
    assert {clip.state for clip in clips} == {ClipState.REVIEW_APPROVED}
    with pytest.raises(EditRefused, match="already grouped"):
        await stores.review.group(one.id, two.id, later(ANNA, 2))
    with pytest.raises(EditRefused, match="with itself"):
        await stores.review.group(one.id, one.id, later(ANNA, 2))

    await stores.review.undo(later(ANNA, 3))
    await stores.review.undo(later(ANNA, 4))
    for clip in (one, two, three):
        back = await stores.library.clip(clip.id)
        assert (back.state, back.grouped_with, back.settles_at, back.reviewed_by) == (clip.state, None, None, None)


async def test_skip_and_approval_can_be_undone_in_turn(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    await stores.review.decide(ActionKind.SKIP, [one.id], ANNA)
    await stores.review.decide(ActionKind.APPROVE, [one.id], later(BEN, 30))

    await stores.review.undo(later(BEN, 40))
    skipped = await stores.library.clip(one.id)
    assert (skipped.state, skipped.reviewed_by, skipped.settles_at) == (
        ClipState.REVIEW_SKIPPED, "Anna", NOW + UNDO_FOR,
    )  # fmt: skip
    await stores.review.undo(later(ANNA, 50))
    assert (await stores.library.clip(one.id)).state is ClipState.PENDING_REVIEW


async def test_actions_on_clips_taken_by_a_stage_cannot_be_undone(stores: LibraryStores) -> None:
    """The clocks of two machines differ a little."""
    one, *_ = await stores.ready()
    await stores.review.decide(ActionKind.APPROVE, [one.id], ANNA)
    await stores.run("keyframes", one.id, NOW + UNDO_FOR)
    with pytest.raises(EditRefused, match=f"can no longer be undone: clip {one.id} is now waiting for embedding"):
        await stores.review.undo(later(ANNA, 59))


async def test_the_journal_lists_actions_of_all_reviewers(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    done = [
        await stores.review.decide(ActionKind.SKIP, [one.id], ANNA),
        await stores.review.split(two.id, 50, later(BEN, 1)),
        await stores.review.decide(ActionKind.APPROVE, [three.id], later(ANNA, 2)),
    ]

    async def listed(since: int, limit: int) -> list[int]:
        return [each.id for each in await stores.review.actions(since, limit)]

    assert await listed(0, 99) == [each.id for each in done]
    assert await listed(0, 2) == [each.id for each in done[1:]]
    assert await listed(done[1].id, 99) == [done[2].id]
    undone = await stores.review.undo(later(BEN, 3))
    assert (await stores.review.actions(0, 99))[1].undone_at == undone.undone_at
    assert (undone.name, undone.undone_at) == ("Ben", NOW + timedelta(seconds=3))


async def test_live_clips_are_counted_by_state(stores: LibraryStores) -> None:
    assert set((await stores.review.counts()).values()) == {0}
    one, two, _ = await stores.ready()
    await stores.review.decide(ActionKind.SKIP, [one.id], ANNA)
    await stores.review.split(two.id, 50, ANNA)
    counts = await stores.review.counts()
    assert counts.keys() == set(ClipState)
    assert {state: count for state, count in counts.items() if count} == {
        ClipState.EDIT_PENDING: 2,
        ClipState.PENDING_REVIEW: 1,
        ClipState.REVIEW_SKIPPED: 1,
    }


async def test_verdicts_are_stored(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    await stores.review.set_verdict(two.id, one.id, True, ANNA)
    await stores.review.set_verdict(one.id, two.id, False, later(BEN, 1))
    (verdict,) = await stores.rows("library_verdicts", "one")
    assert (verdict["one"], verdict["other"], verdict["same"], verdict["said_by"]) == (one.id, two.id, False, "Ben")
    with pytest.raises(EditRefused, match="itself"):
        await stores.review.set_verdict(one.id, one.id, True, ANNA)
    with pytest.raises(NotFound, match="4711"):
        await stores.review.set_verdict(one.id, 4711, True, ANNA)
    await stores.review.split(three.id, 80, ANNA)
    with pytest.raises(EditRefused, match="split or merged"):
        await stores.review.set_verdict(one.id, three.id, True, ANNA)


async def test_actions_undo_and_settling_are_published(stores: LibraryStores) -> None:
    one, two, three = await stores.ready()
    silent = len(await stores.news("library.clip"))
    split = await stores.review.split(one.id, 10, ANNA)
    await stores.review.undo(later(ANNA, 1))
    await stores.review.release(ANNA)
    merged = await stores.review.merge(one.id, two.id, later(BEN, 2))
    await stores.review.settle_edit(merged.id, NOW + timedelta(seconds=62))
    await stores.review.set_verdict(merged.made[0], three.id, False, later(BEN, 63))

    told = (await stores.news("library.clip"))[silent:]

    def news(id_: int, state: str, live: bool, **more: object) -> dict[str, object]:
        return {"clip": id_, "source": one.source_id, "state": state, "live": live, **more}

    anna = {"action": split.id, "kind": "split", "by": "Anna"}
    ben = {"action": merged.id, "kind": "merge", "by": "Ben"}
    assert told == [
        news(one.id, "pending_review", False, **anna),
        *(news(id_, "edit_pending", True, **anna) for id_ in split.made),
        *(news(id_, "edit_pending", False, undone=True, **anna) for id_ in split.made),
        news(one.id, "pending_review", True, undone=True, **anna),
        *(news(id_, "pending_review", False, **ben) for id_ in (one.id, two.id)),
        news(merged.made[0], "edit_pending", True, **ben),
        news(merged.made[0], "spliced", True),
        *(news(id_, "review_archived", False) for id_ in (one.id, two.id)),
        news(three.id, "pending_review", True, other=merged.made[0], same=False, by="Ben"),
        news(merged.made[0], "spliced", True, other=three.id, same=False, by="Ben"),
    ]


async def test_refused_actions_are_not_published(stores: LibraryStores) -> None:
    one, *_ = await stores.ready()
    told = await stores.rows("outbox")
    with pytest.raises(EditRefused):
        await stores.review.split(one.id, 0, ANNA)
    assert await stores.rows("outbox") == told


async def test_a_rejected_pair_stays_rejected_when_its_fingerprints_match_again(stores: LibraryStores) -> None:
    one, two, _ = await stores.ready()
    await stores.library.save_duplicates(one.id, [two.id])
    await stores.review.set_verdict(one.id, two.id, False, ANNA)
    await stores.library.save_duplicates(two.id, [one.id])
    (verdict,) = await stores.rows("library_verdicts", "one")
    assert (verdict["one"], verdict["other"], verdict["same"]) == (one.id, two.id, False)
    await stores.review.clear_verdict(two.id, one.id, ANNA)
    assert await stores.rows("library_verdicts", "one") == []
    with pytest.raises(EditRefused, match="have no verdict"):
        await stores.review.clear_verdict(one.id, two.id, ANNA)
