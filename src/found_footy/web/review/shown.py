"""The buttons, keys and counts of the review page, as data: the page, its help and its script read the same table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from found_footy.domain.clips.states import ClipState


@dataclass(frozen=True, slots=True)
class Deed:
    """What a button or a key does. The script knows it by its name."""

    name: str
    keys: tuple[str, ...]
    label: str
    words: str
    """As the help has it."""
    look: str = ""
    shown_as: str = ""
    """The keys as people know them, where that is not how browsers call them."""

    @property
    def shown_keys(self) -> tuple[str, ...]:
        return tuple(self.shown_as.split()) if self.shown_as else self.keys


JUDGING: Sequence[Deed] = (
    Deed("approve", ("a",), "Approve", "approve", "main"),
    Deed("skip", ("s",), "Skip", "skip: neither kept nor thrown away"),
    Deed("archive", ("x",), "Archive", "archive: its files are deleted when it can no longer be undone", "danger"),
)
CUTTING: Sequence[Deed] = (
    Deed("split", ("c",), "Split", "split: the frame on the screen becomes the first one of the second part"),
    Deed("merge-previous", ("m",), "Merge ←", "merge with the clip before"),
    Deed("merge-next", ("n",), "Merge →", "merge with the clip after"),
    Deed("group", ("g",), "Group ←", "group with the clip before: both are approved as parts of one thing"),
)
MOVING: Sequence[Deed] = (
    Deed("previous", ("[",), "‹ Clip", "look at the clip before"),
    Deed("next", ("]",), "Clip ›", "look at the clip after"),
    Deed("back", ("ArrowLeft",), "‹", "one frame back, ten with Shift", shown_as="←"),
    Deed("play", (" ",), "Play", "play or pause", shown_as="Space"),
    Deed("forward", ("ArrowRight",), "›", "one frame on, ten with Shift", shown_as="→"),
)
COMPARING: Sequence[Deed] = (
    Deed("same", ("d",), "Same", "the likely copy shows the same"),
    Deed("different", ("e",), "Not a duplicate", "the likely copy is no duplicate"),
)
UNDOING: Sequence[Deed] = (Deed("undo", ("u", "ctrl+z"), "Undo", "undo the last action"),)

HELP: Sequence[tuple[str, Sequence[Deed]]] = (
    ("Decide", (*JUDGING, *UNDOING)),
    ("Cut", CUTTING),
    ("Move", MOVING),
    ("Compare", COMPARING),
)
SELECTING: Sequence[tuple[tuple[str, ...], str]] = (
    (("{", "}"), "select also the clip before or after: then a, s and x concern all of them"),
    (("Shift", "click"), "the same in the film strip; there also Shift with ← or →"),
)

_C = ClipState
GROUPS: Sequence[tuple[str, tuple[ClipState, ...]]] = (
    ("to review", (_C.PENDING_REVIEW,)),
    ("being prepared", (_C.EDIT_PENDING, _C.SPLICED, _C.GENERATING_SPRITE)),
    ("skipped", (_C.REVIEW_SKIPPED,)),
    ("approved", (_C.REVIEW_APPROVED, _C.KEYFRAMING, _C.KEYFRAMED, _C.EMBEDDING)),
    ("in the library", (_C.EMBEDDED,)),
    ("archived", (_C.REVIEW_ARCHIVED, _C.CLEANING, _C.ARCHIVED, _C.CLEANING_FAILED)),
    ("failed", (_C.SPRITE_FAILED, _C.KEYFRAME_FAILED, _C.EMBEDDING_FAILED)),
)
"""Each state belongs to one of them."""


def count_groups(counts: Mapping[ClipState, int]) -> list[tuple[str, tuple[ClipState, ...], int]]:
    return [(name, states, sum(counts.get(state, 0) for state in states)) for name, states in GROUPS]
