"""What reviewers do, for the page and for programs alike: take clips, act upon them, take it back."""

from __future__ import annotations

from collections.abc import Sequence

from found_footy.domain.clips.review import ActionKind, Reviewer
from found_footy.domain.clips.states import ClipState
from found_footy.domain.clips.undo import Done
from found_footy.domain.errors import BadRequest, NotFound
from found_footy.web.library_services import LibraryServices
from found_footy.web.review.documents import clip_document, copy_document, source_document, told_document
from found_footy.web.review.models import ActionWish, ReviewActions, ReviewDone, ReviewLook, UndoWish

NEIGHBOURS = 12
"""On each side of a clip, in the film strip."""


async def take(library: LibraryServices, who: Reviewer, most: int, source_id: int | None = None) -> ReviewLook:
    """The next clips; those that lie before this reviewer already stay there for another while."""
    clips = await library.review.claim(who, library.claim_for, most, source_id)
    queue = [clip.id for clip in clips]
    return await look(library, who, queue, queue)


async def look(
    library: LibraryServices, who: Reviewer, clip_ids: Sequence[int], queue: Sequence[int] = ()
) -> ReviewLook:
    """Those clips with what lies around them."""
    around = await library.looking.around(clip_ids, NEIGHBOURS)
    live = [clip for clip in around if clip.live]
    sources = await library.looking.sources(sorted({clip.source_id for clip in live}))
    copies = await library.looking.copies([clip.id for clip in live])
    return ReviewLook(
        now=who.now,
        queue=list(queue),
        clips=[clip_document(clip, around, who) for clip in live],
        sources=[document for each in sources if (document := source_document(each)) is not None],
        copies={id_: [copy_document(each, who) for each in found] for id_, found in copies.items()},
        counts=await counts(library),
    )


async def look_at(library: LibraryServices, who: Reviewer, clip_id: int) -> ReviewLook:
    """Where it was split or merged, what lies there now. Raises NotFound."""
    found = await look(library, who, [clip_id])
    if not found.clips:
        raise NotFound(f"there is no clip {clip_id}")
    return found


async def act(library: LibraryServices, who: Reviewer, wish: ActionWish) -> ReviewDone:
    """Raises EditRefused, NotFound and BadRequest."""
    return await _done(library, who, await _acted(library, who, wish), wish.most)


async def _acted(library: LibraryServices, who: Reviewer, wish: ActionWish) -> Done:
    review, kind = library.review, wish.kind
    _require_sense(wish)
    if kind is ActionKind.GROUP:
        return await review.group(wish.clips[0], _given(wish.with_), who)
    if kind is ActionKind.MERGE:
        return await review.merge(wish.clips[0], _given(wish.with_), who)
    if kind is ActionKind.SPLIT:
        return await review.split(wish.clips[0], _given(wish.at), who)
    return await review.judge(kind, wish.clips, who)


def _require_sense(wish: ActionWish) -> None:
    """Raises BadRequest where something is missing, or given that the action has no use for."""
    pairs, splits = wish.kind in (ActionKind.GROUP, ActionKind.MERGE), wish.kind is ActionKind.SPLIT
    if (pairs or splits) and len(wish.clips) != 1:
        raise BadRequest(f"{wish.kind} takes one clip")
    for name, given, wanted in (("with", wish.with_, pairs), ("at", wish.at, splits)):
        if (given is not None) != wanted:
            raise BadRequest(f"{wish.kind} {'needs' if wanted else 'does not take'} {name!r}")


def _given(value: int | None) -> int:
    assert value is not None  # or it would have made no sense
    return value


async def undo(library: LibraryServices, who: Reviewer, wish: UndoWish) -> ReviewDone:
    """Raises EditRefused and NotFound."""
    return await _done(library, who, await library.review.undo(who, wish.action), wish.most)


async def _done(library: LibraryServices, who: Reviewer, done: Done, most: int) -> ReviewDone:
    told = await library.looking.action(done.id)
    taken = await library.review.claim(who, library.claim_for, most) if most else []
    queue = [clip.id for clip in taken]
    around = await look(library, who, [*done.before, *done.made, *queue], queue)
    return ReviewDone(action=told_document(told, who), look=around)


async def actions(library: LibraryServices, who: Reviewer, since: int, most: int) -> ReviewActions:
    told = await library.looking.actions(since, most)
    items = [told_document(each, who) for each in told]
    return ReviewActions(now=who.now, items=items, counts=await counts(library))


async def counts(library: LibraryServices) -> dict[ClipState, int]:
    return {ClipState(state): number for state, number in (await library.review.counts()).items()}
