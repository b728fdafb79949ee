"""The library in plain words: states, lengths, and what somebody can do about a failure. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from found_footy.domain import errors
from found_footy.domain.clips.states import ClipState, SourceState
from found_footy.domain.errors import FootyError

_S, _C = SourceState, ClipState

SOURCE_TONES: Mapping[SourceState, str] = {
    _S.NEW: "wait",
    _S.DOWNLOADING: "work",
    _S.DOWNLOADED: "wait",
    _S.SPLICING: "work",
    _S.SPLICED: "ok",
    _S.DOWNLOAD_FAILED: "failed",
    _S.SPLICING_FAILED: "failed",
}

SOURCE_GROUPS: Mapping[str, tuple[SourceState, ...]] = {
    "working": (_S.NEW, _S.DOWNLOADING, _S.DOWNLOADED, _S.SPLICING),
    "ready": (_S.SPLICED,),
    "failed": (_S.DOWNLOAD_FAILED, _S.SPLICING_FAILED),
}
"""What people ask for when they filter."""
GROUP_WORDS = {"working": "Under way", "ready": "Cut into scenes", "failed": "Failed"}
KIND_WORDS = {"goal": "Goal", "url": "Address", "file": "File"}


@dataclass(frozen=True, slots=True)
class ClipGroup:
    name: str
    words: str
    tone: str
    states: tuple[ClipState, ...]


CLIP_GROUPS: tuple[ClipGroup, ...] = (
    ClipGroup("prepared", "being prepared", "work", (_C.EDIT_PENDING, _C.SPLICED, _C.GENERATING_SPRITE)),
    ClipGroup("review", "to review", "wait", (_C.PENDING_REVIEW,)),
    ClipGroup(
        "filed", "approved, being filed", "work", (_C.REVIEW_APPROVED, _C.KEYFRAMING, _C.KEYFRAMED, _C.EMBEDDING)
    ),
    ClipGroup("library", "in the library", "ok", (_C.EMBEDDED,)),
    ClipGroup("skipped", "skipped", "quiet", (_C.REVIEW_SKIPPED,)),
    ClipGroup("failed", "failed", "failed", (_C.SPRITE_FAILED, _C.KEYFRAME_FAILED, _C.EMBEDDING_FAILED)),
    ClipGroup("archived", "archived", "quiet", (_C.REVIEW_ARCHIVED, _C.CLEANING, _C.ARCHIVED, _C.CLEANING_FAILED)),
)
"""Each state of a clip is in exactly one of them."""

CLIP_TONES: Mapping[ClipState, str] = {state: group.tone for group in CLIP_GROUPS for state in group.states}


@dataclass(frozen=True, slots=True)
class Counted:
    name: str
    words: str
    tone: str
    number: int


def counted(by_state: Mapping[str, int]) -> list[Counted]:
    """Clips by what they are to people; what there is none of is left out."""
    sums = [(group, sum(by_state.get(state, 0) for state in group.states)) for group in CLIP_GROUPS]
    return [Counted(group.name, group.words, group.tone, number) for group, number in sums if number]


_ADVICE: Mapping[str, str] = {
    "NotAVideo": "There is no film in it. Hand in another file or address.",
    "MediaBroken": "The file is damaged, or only a part of it came. Hand in a whole copy.",
    "MediaTooLarge": "Hand in a shorter or smaller piece, or raise FOOTY_SOURCE_HOURS, FOOTY_SOURCE_MB "
    "or FOOTY_SOURCE_MEDIA_SECONDS.",
    "ClipLost": "Open the address in a browser: it may be gone, private or closed in this country. "
    "Another address, or the file itself, helps.",
    "BadRequest": "That address may not be fetched from here. Hand in the file itself.",
    "DownloadUnavailable": "The other side did not answer as it should. Trying again later often helps.",
    "ObjectMissing": "Its file is missing in the object store. Hand it in once more.",
    "ObjectStoreUnavailable": "The object store does not answer; `footy doctor` says why.",
    "StoreUnavailable": "The database did not answer; `footy doctor` says why.",
    "DecoderUnavailable": "The worker cannot start a process that decodes films; see its log.",
    "EmbeddingUnavailable": "The server that embeds does not answer; check FOOTY_EMBEDDING_URL.",
}


def advice_for(kind: str) -> str:
    """What somebody can do about a failure of this class."""
    if kind in _ADVICE:
        return _ADVICE[kind]
    found = getattr(errors, kind, None)
    hint = found.hint if isinstance(found, type) and issubclass(found, FootyError) else ""
    return hint or "The worker's log says more. Once the cause is gone, try again."


def length_words(seconds: float) -> str:
    """`0:07`, `12:30`, `2:03:04`; tenths where it is shorter than a minute."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def place_words(seconds: float) -> str:
    """A moment of a film: `0:07.2`."""
    tenths = int(seconds * 10)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    short = f"{minutes}:{rest // 10:02}.{rest % 10}"
    return f"{hours}:{minutes:02}:{rest // 10:02}.{rest % 10}" if hours else short


def size_words(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
