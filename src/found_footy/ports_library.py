"""What the clip library needs of the outside world. Adapters fill these; `bootstrap_library.py` chooses them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from found_footy.domain.clips.review import ActionKind, Reviewer
from found_footy.domain.clips.searching import FoundClip, Hit, Wanted
from found_footy.domain.clips.stages import Lane, Stage
from found_footy.domain.clips.undo import Done
from found_footy.domain.clips.values import Clip, Master, Source, SourceKind, Sprite
from found_footy.domain.errors import FootyError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from found_footy.media.fingerprint import Fingerprint

Progress = Callable[[float], None]
"""Told now and then how much is done, 0 to 1. Never raises, never waits."""


# --- films


class Workshop(Protocol):
    """Works on films of strangers where they can do no harm: in processes with limits, as `MediaReader` does.

    Files are local and named by whoever calls; all methods raise a MediaError. Frames are counted from 0.
    """

    async def normalise(self, path: Path, to: Path, progress: Progress) -> Master:
        """Makes the library's master: as it is where a browser can play it, its rate is constant and it lies upright;
        otherwise encoded anew. Raises NotAVideo for what has no picture at all."""

    async def scenes(self, path: Path, least_seconds: float, progress: Progress) -> Sequence[int]:
        """The first frame of each scene but the first, in order."""

    @property
    def detector(self) -> str:
        """Name and version of how scenes are found: another one may find others."""

    async def cut(self, path: Path, first: int, end: int, to: Path) -> None:
        """These frames of a master, exactly, with their sound in step; without encoding where the cut allows it."""

    async def sprite(self, path: Path, first: int, end: int, to: Path) -> Sprite:
        """A sheet (WebP) of these frames of a master."""

    async def keyframes(self, path: Path, first: int, end: int, wanted: Sequence[str], folder: Path) -> list[Keyframe]:
        """JPEGs `0.jpg`, `1.jpg`… in the folder. `wanted` are shares such as `25%`, `sharpest` and `informative`."""

    async def fingerprint(self, path: Path, first: int, end: int) -> Fingerprint:
        """Of these frames of a master, as of a whole file."""

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Keyframe:
    number: int
    frame: int
    """Of the master."""
    chosen_by: str
    width: int
    height: int


class SourceFetcher(Protocol):
    """Gets what an editor submitted, however long it is."""

    async def fetch(self, url: str, to: Path, progress: Progress) -> str:
        """Into this file, within bounds of bytes and seconds; returns its title, or nothing.

        Raises ClipLost, DownloadUnavailable, BadRequest for an address that may not be asked."""

    async def aclose(self) -> None: ...


# --- the system of record


@dataclass(frozen=True, slots=True)
class Submission:
    kind: SourceKind
    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    url: str | None = None
    upload_key: str | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Removed:
    source_id: int
    deleted: bool
    """The source itself, which had no clips; otherwise its clips are archived, and their places on the film stay."""
    clips: int = 0
    """That were archived just now."""
    action_id: int | None = None
    """By which they come back as long as there is time for undo."""


@dataclass(frozen=True, slots=True)
class OpenEdit:
    """A merge or a split whose time for undo runs, or has run out without anybody having settled it."""

    action_id: int
    settles_at: datetime


class LibraryStore(Protocol):
    """The pipeline's side: what the stages load and save. All methods raise StoreUnavailable."""

    async def take_in(self, now: datetime, most: int) -> int:
        """Makes sources of the kept videos of all goals whose search has ended; returns how many are new. What is
        known of a source follows its goal: another scorer, another minute, a withdrawal."""

    async def submit(self, what: Submission, now: datetime) -> int:
        """The new source's id."""

    async def work_for(
        self, stage: Stage, models: Mapping[str, str], now: datetime, most: int, lane: Lane | None = None
    ) -> list[int]:
        """Items that this stage may take now, the oldest first: in one of its states or in its working one, or failed
        with a `retry_at` that has come; settled where they have been acted upon; and as its condition says, by the
        versions of the models that are switched on. Of one lane, or of all."""

    async def begin(self, stage: Stage, item: int, now: datetime) -> bool:
        """Moves it to the working state. False where its state is another one now: then there is nothing to do."""

    async def finish(self, stage: Stage, item: int, now: datetime) -> bool:
        """False where it is not in the working state any more: then nothing was changed."""

    async def fail(self, stage: Stage, item: int, error: str, kind: str, retryable: bool, now: datetime) -> None: ...

    async def retry(self, source_id: int | None, clip_id: int | None, now: datetime) -> None:
        """A person asks for a failed item again. Raises NotFound, EditRefused."""

    async def remove(self, source_id: int, who: Reviewer, undo_for: timedelta) -> Removed:
        """All its clips are archived, so that the clean-up takes them and the film with the last of them; one without
        clips goes with its objects. Safe to repeat. Raises NotFound, EditRefused."""

    async def source(self, source_id: int) -> Source:
        """Raises NotFound."""

    async def clip(self, clip_id: int) -> Clip:
        """Raises NotFound."""

    async def clips_of(self, source_id: int) -> list[Clip]:
        """All, also those that were split or merged away, by their first frame and their id."""

    async def note_progress(self, source_id: int, share: float, now: datetime) -> None: ...

    async def save_master(self, source_id: int, master: Master, title: str | None = None) -> None: ...

    async def known_scenes(self, file_md5: str, detector: str) -> list[int] | None: ...

    async def save_scenes(self, source_id: int, file_md5: str, detector: str, cuts: Sequence[int]) -> int:
        """Remembers the cuts, and lays the tiles where there are none yet; returns how many there are."""

    async def save_sprite(self, clip_id: int, sprite: Sprite, has_file: bool, fingerprint: Fingerprint) -> None: ...

    async def fingerprints_beside(self, clip_id: int) -> Mapping[int, Fingerprint]:
        """Of the other live clips of the same goal, or of the same source."""

    async def save_pairs(self, clip_id: int, same_as: Sequence[int]) -> None:
        """All pairs of this clip: what was known before is replaced."""

    async def save_keyframes(self, clip_id: int, keyframes: Sequence[Keyframe]) -> list[str]:
        """Keys of pictures from before that are not among them any more stand among the deletions from now on."""

    async def keyframes(self, clip_id: int) -> list[Keyframe]: ...

    async def open_edits(self, most: int) -> list[OpenEdit]: ...

    async def settle_edit(self, action_id: int, now: datetime) -> bool:
        """False where it was undone or is settled, or its time has not come."""

    async def forget_files(self, clip_id: int) -> list[str]:
        """Takes the clip's file, sheet, keyframes and vectors out of the rows, and lists the objects as deletions,
        in one transaction; with the last clip of a source that is cleaned up, its film as well. Returns all of these
        keys that are still to delete. Safe to repeat."""

    async def deletions(self, most: int) -> list[str]: ...

    async def note_deleted(self, keys: Sequence[str]) -> None: ...

    async def note_not_deleted(self, keys: Sequence[str], error: FootyError) -> None: ...

    def keys(self) -> AsyncIterator[str]:
        """Every object that a row names (masters, waiting uploads, clips' files, sheets, keyframes), in order."""


class ReviewStore(Protocol):
    """The reviewers' side. Each action is one transaction that locks its sources first. Raise EditRefused, NotFound."""

    async def claim(self, who: Reviewer, lasts: timedelta, most: int, source_id: int | None = None) -> list[Clip]:
        """The next clips to review for this reviewer: those that are with them already, then others until there are
        `most`; by source and then by frame. Nobody else gets them while the claim lasts."""

    async def release(self, who: Reviewer) -> None: ...

    async def judge(self, kind: ActionKind, clip_ids: Sequence[int], who: Reviewer) -> Done: ...

    async def group(self, clip_id: int, with_id: int, who: Reviewer) -> Done: ...

    async def split(self, clip_id: int, at: int, who: Reviewer) -> Done: ...

    async def merge(self, clip_id: int, with_id: int, who: Reviewer) -> Done: ...

    async def undo(self, who: Reviewer, action_id: int | None = None) -> Done:
        """The reviewer's last action that is neither undone nor settled, or the one that is named."""

    async def actions(self, since: int, most: int) -> list[Done]:
        """Everybody's, the newest last."""

    async def counts(self) -> Mapping[str, int]:
        """Live clips by state."""

    async def say(self, one: int, other: int, same: bool, who: Reviewer) -> None:
        """That two clips show the same, or not, whatever their fingerprints say."""

    async def unsay(self, one: int, other: int, who: Reviewer) -> None:
        """Withdraws what was said of the two: their fingerprints count again."""


# --- vectors


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """A word that can name a column: `mobilenet_v3_small`."""

    @property
    def version(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def has_text(self) -> bool: ...

    async def pictures(self, bgr: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """One row of unit length a picture. Raises EmbeddingError."""

    async def text(self, words: str) -> NDArray[np.float32]:
        """Raises EmbeddingError where the model has no text side."""

    async def aclose(self) -> None: ...


class VectorStore(Protocol):
    async def prepare(self, embedders: Sequence[Embedder]) -> None:
        """A column, its version's column and an index for each model. Safe to repeat, and by many at once."""

    async def save(self, clip_id: int, model: str, version: str, vector: NDArray[np.float32]) -> None: ...

    async def versions(self, clip_id: int, models: Sequence[str]) -> Mapping[str, str]:
        """Of the vectors that the clip has of these models, which must be prepared."""


# --- search


@dataclass(frozen=True, slots=True)
class Links:
    """What connects clips: pairs that look alike, and what people say of pairs."""

    clips: tuple[int, ...]
    alike: tuple[tuple[int, int], ...] = ()
    verdicts: Mapping[tuple[int, int], bool] = field(default_factory=dict)


class SearchStore(Protocol):
    """Clips that are tiles of their source and that nobody has archived. All methods raise StoreUnavailable."""

    async def by_words(self, wanted: Wanted, most: int) -> list[Hit]:
        """The newest first, those of one goal side by side."""

    async def by_likeness(
        self, model: str, version: str, vector: NDArray[np.float32], wanted: Wanted, most: int
    ) -> list[Hit]:
        """The most alike first, among those that have a vector of this version and are wanted."""

    async def vector(self, clip_id: int, model: str, version: str) -> NDArray[np.float32]:
        """Raises NotFound, also for a clip that has none of this version yet."""

    async def links(self, clip_ids: Sequence[int]) -> Links:
        """Of these clips, and of all that are connected with them."""

    async def clips(self, clip_ids: Sequence[int]) -> Mapping[int, FoundClip]: ...


class PictureDecoder(Protocol):
    async def picture(self, content: bytes) -> NDArray[np.uint8]:
        """A stranger's picture as blue, green and red, not larger than one looks at. Raises a MediaError, and
        DecoderUnavailable."""

    async def aclose(self) -> None: ...
