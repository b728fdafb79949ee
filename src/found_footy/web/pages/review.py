"""Review page: its frame, and its buttons and keys as data for template, help and script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse

from found_footy.access.models import Role
from found_footy.library.models import ARCHIVED, ClipState
from found_footy.library.review import MAX_CLIPS_PER_ACTION, Reviewer
from found_footy.web.api import review as review_api
from found_footy.web.api.parameters import MAX_BIGINT
from found_footy.web.rendering import NO_STORE, render
from found_footy.web.services import ServicesDep
from found_footy.web.users import User, require_role


@dataclass(frozen=True, slots=True)
class Shortcut:
    """Action of a button or a key. The script identifies it by name."""

    name: str
    keys: tuple[str, ...]
    label: str
    help_text: str
    """Text in the help."""
    style: str = ""
    display_keys: str = ""
    """Keys as displayed, if different from the browser's key names."""

    @property
    def displayed_keys(self) -> tuple[str, ...]:
        return tuple(self.display_keys.split()) if self.display_keys else self.keys


DECIDE: Sequence[Shortcut] = (
    Shortcut("approve", ("a",), "Approve", "approve", "main"),
    Shortcut("skip", ("s",), "Skip", "skip: neither approve nor archive"),
    Shortcut("archive", ("x",), "Archive", "archive: files are deleted when the undo period ends", "danger"),
)
CUT: Sequence[Shortcut] = (
    Shortcut("split", ("c",), "Split", "split: the current frame becomes the first of the second part"),
    Shortcut("cut-before", ("b",), "Start here", "move the cut before this clip: it begins with the current frame"),
    Shortcut("cut-after", ("v",), "Next from here", "move the cut after this clip: the next one begins here"),
    Shortcut("merge-previous", ("m",), "Merge ←", "merge with the previous clip"),
    Shortcut("merge-next", ("n",), "Merge →", "merge with the next clip"),
    Shortcut("group", ("g",), "Group ←", "group with the previous clip and approve both"),
)
NAVIGATE: Sequence[Shortcut] = (
    Shortcut("previous", ("[",), "‹ Clip", "show the previous clip"),
    Shortcut("next", ("]",), "Clip ›", "show the next clip"),
    Shortcut("back", ("ArrowLeft",), "‹", "back one frame, ten with Shift", display_keys="←"),
    Shortcut("play", (" ",), "Play", "play or pause", display_keys="Space"),
    Shortcut("forward", ("ArrowRight",), "›", "forward one frame, ten with Shift", display_keys="→"),
)
COMPARE: Sequence[Shortcut] = (
    Shortcut("same", ("d",), "Same", "mark the likely copy as a duplicate"),
    Shortcut("different", ("e",), "Not a duplicate", "mark the likely copy as different"),
)
UNDO: Sequence[Shortcut] = (Shortcut("undo", ("u", "ctrl+z"), "Undo", "undo the last action"),)

HELP: Sequence[tuple[str, Sequence[Shortcut]]] = (
    ("Decide", (*DECIDE, *UNDO)),
    ("Cut", CUT),
    ("Move", NAVIGATE),
    ("Compare", COMPARE),
)
SELECT: Sequence[tuple[tuple[str, ...], str]] = (
    (("{", "}"), "extend the selection to the previous or next clip; a, s and x apply to all"),
    (("Shift", "click"), "the same in the strip, also with Shift+← or Shift+→"),
)

_C = ClipState
STATE_GROUPS: Sequence[tuple[str, tuple[ClipState, ...]]] = (
    ("to review", (_C.PENDING_REVIEW,)),
    ("being prepared", (_C.EDIT_PENDING, _C.SPLICED, _C.GENERATING_SPRITE)),
    ("skipped", (_C.REVIEW_SKIPPED,)),
    ("approved", (_C.REVIEW_APPROVED, _C.KEYFRAMING, _C.KEYFRAMED, _C.EMBEDDING)),
    ("in the library", (_C.EMBEDDED,)),
    ("archived", tuple(sorted(ARCHIVED))),
    ("failed", (_C.SPRITE_FAILED, _C.KEYFRAME_FAILED, _C.EMBEDDING_FAILED)),
)
"""Each state belongs to one of them."""


def count_groups(counts: Mapping[ClipState, int]) -> list[tuple[str, tuple[ClipState, ...], int]]:
    return [(name, states, sum(counts.get(state, 0) for state in states)) for name, states in STATE_GROUPS]


# --- Review page. Only the frame is rendered here; clips are loaded through the API, since each window claims its own.


router = APIRouter(include_in_schema=False)

MAX_LATEST_ACTIONS = 12
BUTTONS = {
    "decide": DECIDE,
    "cut": CUT,
    "navigate": NAVIGATE,
    "compare": COMPARE,
    "undo": UNDO,
}

Number = Annotated[int | None, Query(ge=1, le=MAX_BIGINT)]


@router.get("/review")
async def page(
    request: Request,
    services: ServicesDep,
    user: Annotated[User, Depends(require_role(Role.EDITOR))],
    source: Number = None,
    clip: Number = None,
) -> HTMLResponse:
    # Not a window yet: the script chooses the window id.
    reviewer = Reviewer(f"{user.token_id}:", user.name, services.now())
    latest = await review_api.actions(services.library, reviewer, 0, MAX_LATEST_ACTIONS)
    values = {
        "csrf": user.csrf,
        "source": source,
        "clip": clip,
        "groups": count_groups(latest.counts),
        "latest": latest.model_dump_json(),
        "actions": BUTTONS,
        "help": HELP,
        "selecting": SELECT,
        "claim_seconds": services.library.claim_for.total_seconds(),
        "undo_seconds": round(services.library.undo_for.total_seconds()),
        "max_clips": MAX_CLIPS_PER_ACTION,
        "position": services.live.position,
    }
    return render(request, "review.html", values, headers=NO_STORE)
