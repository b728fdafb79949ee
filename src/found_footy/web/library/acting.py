"""What a reader may do with a source or a clip on the library's pages, and doing it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from found_footy.domain.clips.review import ActionKind, Reviewer
from found_footy.domain.clips.stages import STAGES
from found_footy.domain.clips.states import CLIP_STEPS, EDITABLE, ClipState, Step
from found_footy.domain.errors import BadRequest
from found_footy.ports_library import Removed
from found_footy.web.access.visitors import Role, Visitor
from found_footy.web.services import Services

FAILED = frozenset(stage.failed for stage in STAGES)
LARGEST = 2**63 - 1


def can_do(document: Mapping[str, Any], who: Visitor) -> frozenset[str]:
    """Of a clip."""
    state = ClipState(document["state"])
    if not who.may(Role.EDITOR):
        return frozenset()
    can = {"judge"}
    if state in FAILED:
        can.add("retry")
    if document["live"] and (state, Step.ARCHIVE) in CLIP_STEPS:
        can.add("archive")
    if document["live"] and state in EDITABLE:
        can.add("review")
    return frozenset(can)


async def act_on_source(services: Services, who: Visitor, source_id: int, form: Mapping[str, str]) -> str:
    """Where to go afterwards. Raises BadRequest, NotFound, EditRefused."""
    own = f"/library/sources/{source_id}"
    match form.get("do", ""):
        case "retry":
            await services.library.store.retry(source_id, None, services.now())
            return f"{own}?done=retry"
        case "remove":
            if form.get("sure") != "yes":
                raise BadRequest("to remove a source, say that you are sure")
            removed = await remove_source(services, who, source_id)
            return "/library?done=deleted" if removed.deleted else f"{own}?done=remove&action={removed.action_id or ''}"
        case "undo":
            await services.library.review.undo(_reviewer(services, who), _number(form.get("action", "")))
            return f"{own}?done=undo"
        case _:
            raise BadRequest("the form says nothing that could be done")


async def remove_source(services: Services, who: Visitor, source_id: int) -> Removed:
    """Raises NotFound, EditRefused."""
    return await services.library.store.remove(source_id, _reviewer(services, who), services.library.undo_for)


async def act_on_clip(services: Services, who: Visitor, clip_id: int, form: Mapping[str, str]) -> str:
    """What to say afterwards, as the query of the clip's page. Raises BadRequest, NotFound, EditRefused."""
    reviewer = _reviewer(services, who)
    review = services.library.review
    match wish := form.get("do", ""):
        case "retry":
            await services.library.store.retry(None, clip_id, services.now())
        case "archive":
            done = await review.judge(ActionKind.ARCHIVE, [clip_id], reviewer)
            return f"done=archive&action={done.id}"
        case "undo":
            await review.undo(reviewer, _number(form.get("action", "")))
        case "same" | "different":
            await review.say(clip_id, _number(form.get("other", "")), wish == "same", reviewer)
        case "withdraw":
            await review.unsay(clip_id, _number(form.get("other", "")), reviewer)
        case _:
            raise BadRequest("the form says nothing that could be done")
    return f"done={wish}"


def _reviewer(services: Services, who: Visitor) -> Reviewer:
    return Reviewer(f"{who.token_id}:library", who.name, services.now())


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:20]) <= LARGEST:
        raise BadRequest("the form names no clip and no action")
    return int(text)
