"""Every transition of a source and of a clip, derived from the stages and the review rules."""

from __future__ import annotations

import pytest

from found_footy.library.models import (
    APPROVED,
    ARCHIVED,
    CLIP_STATES,
    FILES_DELETED,
    SOURCE_STATES,
    ClipState,
    LibraryPhase,
    SourceState,
    State,
    state_label,
)
from found_footy.library.review import ACTION_RULES, EDITABLE, REMOVABLE, ActionKind
from found_footy.library.stages import FAILED, IN_PROGRESS, STAGES, ItemKind

SOURCES = {
    "new": {"begin": "downloading"},
    "downloading": {"begin": "downloading", "succeed": "downloaded", "fail": "download_failed"},
    "download_failed": {"begin": "downloading"},
    "downloaded": {"begin": "splicing"},
    "splicing": {"begin": "splicing", "succeed": "spliced", "fail": "splicing_failed"},
    "splicing_failed": {"begin": "splicing"},
    "spliced": {},
}
TO_ARCHIVE = dict.fromkeys(("archive", "retire", "remove"), "review_archived")
CLIPS = {
    "edit_pending": {"settle": "spliced"},
    "spliced": {"begin": "generating_sprite", "remove": "review_archived"},
    "generating_sprite": {"begin": "generating_sprite", "succeed": "pending_review", "fail": "sprite_failed"},
    "sprite_failed": {"begin": "generating_sprite", **TO_ARCHIVE},
    "pending_review": {"approve": "review_approved", "skip": "review_skipped", **TO_ARCHIVE},
    "review_skipped": {"approve": "review_approved", **TO_ARCHIVE},
    "review_approved": {"begin": "keyframing", **TO_ARCHIVE},
    "keyframing": {"begin": "keyframing", "succeed": "keyframed", "fail": "keyframe_failed"},
    "keyframe_failed": {"begin": "keyframing", **TO_ARCHIVE},
    "keyframed": {"begin": "embedding", **TO_ARCHIVE},
    "embedding": {"begin": "embedding", "succeed": "embedded", "fail": "embedding_failed"},
    "embedding_failed": {"begin": "embedding", **TO_ARCHIVE},
    "embedded": {"begin": "embedding", **TO_ARCHIVE},
    "review_archived": {"begin": "cleaning"},
    "cleaning": {"begin": "cleaning", "succeed": "archived", "fail": "cleaning_failed"},
    "cleaning_failed": {"begin": "cleaning"},
    "archived": {},
}


def transitions(kind: ItemKind) -> dict[str, dict[str, str]]:
    states: list[State] = [*SourceState] if kind is ItemKind.SOURCE else [*ClipState]
    found: dict[str, dict[str, str]] = {str(state): {} for state in states}
    for stage in (each for each in STAGES if each.item is kind):
        for state in (stage.takes, stage.working, stage.failed):
            found[state]["begin"] = str(stage.working)
        found[stage.working] |= {"succeed": str(stage.done), "fail": str(stage.failed)}
    if kind is ItemKind.CLIP:
        found[ClipState.EDIT_PENDING]["settle"] = "spliced"
        for action, rule in ACTION_RULES.items():
            for state in rule.takes:
                found[state][action] = str(rule.to)
        for state in EDITABLE:
            found[state]["retire"] = "review_archived"
        for state in REMOVABLE:
            found[state]["remove"] = "review_archived"
    return found


@pytest.mark.parametrize(("kind", "expected"), [(ItemKind.SOURCE, SOURCES), (ItemKind.CLIP, CLIPS)])
def test_stages_and_rules_give_exactly_these_transitions(kind: ItemKind, expected: dict[str, dict[str, str]]) -> None:
    assert transitions(kind) == expected


def test_every_state_can_be_entered_and_all_but_the_last_can_be_left() -> None:
    begins: set[State] = {SourceState.NEW, ClipState.EDIT_PENDING, ClipState.SPLICED}
    ends: set[State] = {SourceState.SPLICED, ClipState.ARCHIVED}
    for states, kind in ((SourceState, ItemKind.SOURCE), (ClipState, ItemKind.CLIP)):
        found = transitions(kind)
        entered = {to for steps in found.values() for to in steps.values()}
        for state in states:
            assert state in begins or state in entered
            assert found[state] or state in ends


def test_derived_sets() -> None:
    assert set(APPROVED) == {
        "review_approved", "keyframing", "keyframed", "embedding", "embedded", "keyframe_failed", "embedding_failed",
    }  # fmt: skip
    assert set(ARCHIVED) == {"review_archived", "cleaning", "archived", "cleaning_failed"}
    assert set(FILES_DELETED) == {"cleaning", "archived", "cleaning_failed"}
    assert set(IN_PROGRESS) == {
        "downloading", "splicing", "generating_sprite", "keyframing", "embedding", "cleaning"
    }  # fmt: skip
    assert {state for state, info in CLIP_STATES.items() if info.phase is LibraryPhase.FAILED} == {
        state for state in FAILED if state in set(ClipState) and state not in ARCHIVED
    }


def test_an_action_never_takes_a_clip_for_which_it_is_done() -> None:
    assert set(ACTION_RULES) == {ActionKind.APPROVE, ActionKind.SKIP, ActionKind.ARCHIVE}
    for rule in ACTION_RULES.values():
        assert rule.to in rule.unchanged
        assert not rule.takes & rule.unchanged
        assert not rule.takes & IN_PROGRESS


def test_every_state_has_a_label() -> None:
    assert set(SOURCE_STATES) == set(SourceState)
    assert set(CLIP_STATES) == set(ClipState)
    assert all(state_label(state) for state in (*SourceState, *ClipState))
    assert state_label(SourceState.SPLICED) != state_label(ClipState.SPLICED)
