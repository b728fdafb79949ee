"""When a source may be removed, and what becomes of its clips."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from found_footy.errors import EditRefused
from found_footy.library.models import ClipState, LibraryClip, SourceKind, SourceState, SourceVideo
from found_footy.library.review import ActionKind, Reviewer, archive_source

NOW = datetime(2026, 8, 22, 15, 30, tzinfo=UTC)
WHO = Reviewer("window", "Ada", NOW)
MINUTE = timedelta(seconds=60)


def source(state: SourceState = SourceState.SPLICED) -> SourceVideo:
    return SourceVideo(7, SourceKind.FILE, state, "a film")


def clip(id_: int, state: ClipState, *, live: bool = True, settles_in: float | None = None) -> LibraryClip:
    settles_at = None if settles_in is None else NOW + timedelta(seconds=settles_in)
    return LibraryClip(id_, 7, 10 * id_, 10 * id_ + 10, state, live, settles_at=settles_at)


REFUSED = {
    ClipState.EDIT_PENDING: "can still be undone",
    ClipState.GENERATING_SPRITE: "being prepared for review",
    ClipState.KEYFRAMING: "extracting keyframes",
    ClipState.EMBEDDING: "being embedded",
}
LEFT_ALONE = {ClipState.REVIEW_ARCHIVED, ClipState.CLEANING, ClipState.CLEANING_FAILED, ClipState.ARCHIVED}


@pytest.mark.parametrize("state", ClipState)
def test_removal_by_clip_state(state: ClipState) -> None:
    clips = [clip(1, state), clip(2, ClipState.PENDING_REVIEW)]
    if state in REFUSED:
        with pytest.raises(EditRefused, match=REFUSED[state]):
            archive_source(source(), clips, WHO, MINUTE)
        return
    outcome = archive_source(source(), clips, WHO, MINUTE)
    assert outcome is not None
    assert outcome.kind is ActionKind.ARCHIVE
    assert outcome.settles_at == NOW + MINUTE
    assert set(outcome.after) == ({2} if state in LEFT_ALONE else {1, 2})
    for id_, after in outcome.after.items():
        assert (after.state, after.live, after.settles_at) == (ClipState.REVIEW_ARCHIVED, True, NOW + MINUTE)
        assert (after.reviewed_by, after.reviewed_at) == ("Ada", NOW)
        assert outcome.before[id_].state is clips[id_ - 1].state


@pytest.mark.parametrize(
    ("state", "is_refused"),
    [(state, state in (SourceState.DOWNLOADING, SourceState.SPLICING)) for state in SourceState],
)
def test_a_source_without_clips_is_removable_unless_a_stage_runs(state: SourceState, is_refused: bool) -> None:
    if is_refused:
        with pytest.raises(EditRefused, match="cannot remove source 7 yet"):
            archive_source(source(state), [], WHO)
    else:
        assert archive_source(source(state), [], WHO) is None


@pytest.mark.parametrize(
    ("state", "live", "settles_in", "is_refused"),
    [
        (ClipState.REVIEW_APPROVED, True, 1, True),
        (ClipState.REVIEW_APPROVED, True, 0, False),
        (ClipState.REVIEW_SKIPPED, True, -1, False),
        (ClipState.PENDING_REVIEW, False, 1, True),
        (ClipState.PENDING_REVIEW, False, -1, True),  # merged away, and nobody has settled it yet
        (ClipState.REVIEW_ARCHIVED, True, 1, False),
        (ClipState.ARCHIVED, False, -1, False),
    ],
)
def test_removal_waits_for_open_undo_windows(state: ClipState, live: bool, settles_in: float, is_refused: bool) -> None:
    clips = [clip(1, state, live=live, settles_in=settles_in), clip(2, ClipState.EMBEDDED)]
    if is_refused:
        with pytest.raises(EditRefused, match="can still be undone"):
            archive_source(source(), clips, WHO)
    else:
        assert archive_source(source(), clips, WHO) is not None


def test_removal_of_an_archived_source_changes_nothing() -> None:
    assert archive_source(source(), [clip(1, state) for state in LEFT_ALONE], WHO) is None
