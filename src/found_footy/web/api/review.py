"""`/api/v1/review`: claim, decide and edit clips. Its models, actions and routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from found_footy.access.models import Role
from found_footy.errors import BadRequest, NotFound
from found_footy.fixtures.documents import Document
from found_footy.library.models import FILES_DELETED, ClipState, LibraryClip, SourceKind, SourceVideo, state_label
from found_footy.library.review import (
    EDITABLE,
    MAX_CLIPS_PER_ACTION,
    ActionKind,
    ActionRecord,
    ActionSummary,
    LikelyDuplicate,
    Reviewer,
)
from found_footy.text import MAX_ERROR_TEXT
from found_footy.web.api.parameters import MAX_BIGINT
from found_footy.web.errors import error_responses
from found_footy.web.rendering import no_store, text
from found_footy.web.services import LibraryServices, ServicesDep
from found_footy.web.users import User, require_role

Id = Annotated[int, Field(ge=1, le=MAX_BIGINT)]


class ReviewFilm(Document):
    url: str
    first: int = Field(description="Frame of the file at which the clip starts.")


class ReviewSheet(Document):
    """Sprite sheet, row by row; thumbnail n shows source frame `first + n * every`."""

    url: str
    first: int = Field(description="Source frame of the first thumbnail.")
    frames: int = Field(description="Number of source frames it covers.")
    every: int = Field(description="Frames between two thumbnails.")
    count: int
    columns: int
    rows: int
    width: int = Field(description="Width of one thumbnail.")
    height: int


class ReviewClip(Document):
    id: int
    source: int
    first: int = Field(description="First source frame.")
    end: int = Field(description="Last frame, exclusive.")
    state: ClipState
    words: str = Field(description="Readable state.")
    film: ReviewFilm | None = Field(description="Null if it cannot be played now.")
    sheets: list[ReviewSheet] = Field(
        description="One; several for a clip that was just merged; empty before one is made."
    )
    claimed: Literal["me", "other"] | None = Field(description="Holder of the claim: `me`, `other` or null.")
    grouped_with: int | None
    settles_at: datetime | None = Field(description="End of the undo period.")
    reviewed_by: str | None
    reviewed_at: datetime | None
    error: str | None


class ReviewCopy(Document):
    """Likely duplicate of a clip."""

    clip: ReviewClip
    same: bool | None = Field(description="Verdict of a reviewer; null without one.")
    said_by: str | None


class ReviewFact(Document):
    name: str
    value: str


class ReviewSource(Document):
    id: int
    title: str
    rate: float = Field(description="Frames per second.")
    frames: int
    width: int
    height: int
    facts: list[ReviewFact]
    event_id: str | None = Field(description="Event id, if known.")


class ReviewSnapshot(Document):
    """Current clips with their neighbours and sources."""

    now: datetime
    queue: list[int] = Field(description="Your claimed clips, in order.")
    clips: list[ReviewClip] = Field(description="The claimed clips and their neighbours, by source and frame.")
    sources: list[ReviewSource]
    copies: dict[int, list[ReviewCopy]] = Field(description="By clip.")
    counts: dict[ClipState, int] = Field(description="All library clips by state.")


class ReviewAction(Document):
    id: int
    kind: ActionKind
    by: str
    mine: bool = Field(description="Whether it was made in this window.")
    at: datetime
    settles_at: datetime = Field(description="End of the undo period.")
    clips: list[int] = Field(description="Changed clips.")
    made: list[int] = Field(description="New clips.")
    title: str = Field(description="Title of the source.")
    undone_at: datetime | None
    settled_at: datetime | None


class ReviewDone(Document):
    """Result of an action or an undo."""

    action: ReviewAction
    look: ReviewSnapshot


class ReviewActions(Document):
    now: datetime
    items: list[ReviewAction] = Field(description="Newest last.")
    counts: dict[ClipState, int]


class ReviewRequest(BaseModel):
    """Base of the request models; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid")


Most = Annotated[int, Field(ge=0, le=50, description="Claim clips until you hold this many; 0 claims none.")]


class ActionRequest(ReviewRequest):
    kind: ActionKind
    clips: list[Id] = Field(
        min_length=1,
        max_length=MAX_CLIPS_PER_ACTION,
        description="One; several for `approve`, `skip` and `archive`, applied to all or none. Clips already in "
        "that state stay unchanged.",
    )
    with_: Id | None = Field(None, alias="with", description="For `group`, `merge` and `move_cut`: the other clip.")
    at: int | None = Field(
        None, ge=0, le=2**31 - 1, description="For `split` and `move_cut`: first source frame of the second clip."
    )
    most: Most = 0


class UndoRequest(ReviewRequest):
    action: Id | None = Field(None, description="Default: the last action of this window.")
    most: Most = 0


class VerdictRequest(ReviewRequest):
    one: Id
    other: Id
    same: bool


# --- Facts of a source, the most useful first.


MAX_FACT_LENGTH = 200
MAX_FACTS = 12

_PLAIN = (
    ("player", "Scorer"),
    ("minute", "Minute"),
    ("score", "Score"),
    ("assist", "Assist"),
    ("kind", "Kind"),
    ("team", "Team"),
    ("competition", "Competition"),
)
_VERIFIED = {True: "clock verified", False: "clock unreadable"}


def facts_of(source: SourceVideo) -> list[ReviewFact]:
    """Facts of a source. Untrusted texts are cleaned and truncated."""
    facts = source.facts
    found = [(name, _plain(facts.get(key))) for key, name in _PLAIN]
    found.insert(3, ("Match", _match(facts)))
    found.append(("Kick-off", _moment(facts.get("kickoff"))))
    found.append(("Clock", _VERIFIED[verified] if isinstance(verified := facts.get("verified"), bool) else ""))
    if source.kind is SourceKind.URL:
        found.append(("From", text(source.url, MAX_FACT_LENGTH)))
    if source.submitted_by:
        found.append(("Submitted by", text(source.submitted_by, MAX_FACT_LENGTH)))
    return [ReviewFact(name=name, value=value) for name, value in found if value][:MAX_FACTS]


def _plain(value: Any) -> str:
    return text(value, MAX_FACT_LENGTH).strip() if isinstance(value, str | int | float) else ""


def _match(facts: Mapping[str, Any]) -> str:
    home, away = _plain(facts.get("home")), _plain(facts.get("away"))
    return f"{home} – {away}" if home and away else home or away


def _moment(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return ""
    return f"{at.astimezone(UTC) if at.tzinfo else at:%d %b %Y, %H:%M} UTC"


# --- Clips and actions as documents of the page and the API.


def clip_document(clip: LibraryClip, others: Sequence[LibraryClip], reviewer: Reviewer) -> ReviewClip:
    """Document of a clip. `others` are its neighbours and the clips it was made from."""
    return ReviewClip(
        id=clip.id,
        source=clip.source_id,
        first=clip.first,
        end=clip.end,
        state=clip.state,
        words=state_label(clip.state),
        film=film_of(clip),
        sheets=sheets_of(clip, others),
        claimed=claimed(clip, reviewer),
        grouped_with=clip.grouped_with,
        settles_at=clip.settles_at if clip.settles_at is not None and clip.settles_at > reviewer.now else None,
        reviewed_by=clip.reviewed_by,
        reviewed_at=clip.reviewed_at,
        error=text(clip.error, MAX_ERROR_TEXT) if clip.error else None,
    )


def film_of(clip: LibraryClip) -> ReviewFilm | None:
    """Playback of a clip; a clip without a file yet is played from its source."""
    if clip.state in FILES_DELETED:
        return None
    if clip.sprite is not None:
        return ReviewFilm(url=f"/c/{clip.id}.mp4", first=0)
    return ReviewFilm(url=f"/s/{clip.source_id}.mp4", first=clip.first)


def sheets_of(clip: LibraryClip, others: Sequence[LibraryClip]) -> list[ReviewSheet]:
    """Sheets of a clip; for a clip that was just made, those of the clips it was made from."""
    if clip.sprite is not None and clip.state not in FILES_DELETED:
        return _sheet(clip)
    if clip.state is not ClipState.EDIT_PENDING:
        return []
    # Replaced clips keep their state until the undo window closes; older generations are archived by now.
    before = [
        each
        for each in others
        if not each.live and each.source_id == clip.source_id and each.state in EDITABLE
        and each.first < clip.end and clip.first < each.end
    ]  # fmt: skip
    return [sheet for each in sorted(before, key=lambda each: each.first) for sheet in _sheet(each)]


def _sheet(clip: LibraryClip) -> list[ReviewSheet]:
    if (sprite := clip.sprite) is None:
        return []
    return [
        ReviewSheet(
            url=f"/c/{clip.id}.webp",
            first=clip.first,
            frames=sprite.frames,
            every=sprite.every,
            count=sprite.count,
            columns=sprite.columns,
            rows=sprite.rows,
            width=sprite.width,
            height=sprite.height,
        )
    ]


def claimed(clip: LibraryClip, reviewer: Reviewer) -> Literal["me", "other"] | None:
    if clip.claimed_by is None or clip.claimed_until is None or clip.claimed_until <= reviewer.now:
        return None
    return "me" if clip.claimed_by == reviewer.id else "other"


def copy_document(copy: LikelyDuplicate, reviewer: Reviewer) -> ReviewCopy:
    return ReviewCopy(clip=clip_document(copy.clip, (), reviewer), same=copy.same, said_by=copy.said_by)


def source_document(source: SourceVideo) -> ReviewSource | None:
    """Document of a source; None if it has no video, and thus no clips, yet."""
    if (master := source.master) is None:
        return None
    return ReviewSource(
        id=source.id,
        title=text(source.title) or f"Source {source.id}",
        rate=float(master.rate),
        frames=master.frames,
        width=master.width,
        height=master.height,
        facts=facts_of(source),
        event_id=source.event_id,
    )


def action_document(action: ActionSummary, reviewer: Reviewer) -> ReviewAction:
    return ReviewAction(
        id=action.id,
        kind=action.kind,
        by=action.name,
        mine=action.reviewer == reviewer.id,
        at=action.at,
        settles_at=action.settles_at,
        clips=list(action.clips),
        made=list(action.made),
        title=text(action.title),
        undone_at=action.undone_at,
        settled_at=action.settled_at,
    )


# --- Review actions, for the page and the API: claim, act, undo.


NEIGHBOURS = 12
"""Clips on each side in the film strip."""


async def claim(
    library: LibraryServices, reviewer: Reviewer, most: int, source_id: int | None = None
) -> ReviewSnapshot:
    """Claim the next clips and renew this reviewer's existing claims."""
    clips = await library.review.claim(reviewer, library.claim_for, most, source_id)
    queue = [clip.id for clip in clips]
    return await load_snapshot(library, reviewer, queue, queue)


async def load_snapshot(
    library: LibraryServices, reviewer: Reviewer, clip_ids: Sequence[int], queue: Sequence[int] = ()
) -> ReviewSnapshot:
    """The given clips with their neighbours."""
    neighbours = await library.review.neighbours(clip_ids, NEIGHBOURS)
    live = [clip for clip in neighbours if clip.live]
    sources = await library.review.sources(sorted({clip.source_id for clip in live}))
    copies = await library.review.likely_duplicates([clip.id for clip in live])
    return ReviewSnapshot(
        now=reviewer.now,
        queue=list(queue),
        clips=[clip_document(clip, neighbours, reviewer) for clip in live],
        sources=[document for each in sources if (document := source_document(each)) is not None],
        copies={id_: [copy_document(each, reviewer) for each in found] for id_, found in copies.items()},
        counts=await counts(library),
    )


async def show_clip(library: LibraryServices, reviewer: Reviewer, clip_id: int) -> ReviewSnapshot:
    """A clip, or its replacements if it was split or merged. Raises NotFound."""
    found = await load_snapshot(library, reviewer, [clip_id])
    if not found.clips:
        raise NotFound(f"clip {clip_id} not found")
    return found


async def act(library: LibraryServices, reviewer: Reviewer, request: ActionRequest) -> ReviewDone:
    """Run an action. Raises EditRefused, NotFound and BadRequest."""
    return await _done(library, reviewer, await _run_action(library, reviewer, request), request.most)


async def _run_action(library: LibraryServices, reviewer: Reviewer, request: ActionRequest) -> ActionRecord:
    review, kind = library.review, request.kind
    _check_parameters(request)
    if kind is ActionKind.GROUP:
        return await review.group(request.clips[0], _require(request.with_), reviewer)
    if kind is ActionKind.MERGE:
        return await review.merge(request.clips[0], _require(request.with_), reviewer)
    if kind is ActionKind.MOVE_CUT:
        return await review.move_cut(request.clips[0], _require(request.with_), _require(request.at), reviewer)
    if kind is ActionKind.SPLIT:
        return await review.split(request.clips[0], _require(request.at), reviewer)
    return await review.decide(kind, request.clips, reviewer)


def _check_parameters(request: ActionRequest) -> None:
    """Raise BadRequest for a missing parameter, or one that the action does not use."""
    pairs = request.kind in (ActionKind.GROUP, ActionKind.MERGE, ActionKind.MOVE_CUT)
    splits = request.kind in (ActionKind.SPLIT, ActionKind.MOVE_CUT)
    if (pairs or splits) and len(request.clips) != 1:
        raise BadRequest(f"{request.kind} takes one clip")
    for name, given, expected in (("with", request.with_, pairs), ("at", request.at, splits)):
        if (given is not None) != expected:
            raise BadRequest(f"{request.kind} {'needs' if expected else 'does not take'} {name!r}")


def _require(value: int | None) -> int:
    assert value is not None  # ensured by `_check_parameters`
    return value


async def undo(library: LibraryServices, reviewer: Reviewer, request: UndoRequest) -> ReviewDone:
    """Undo an action. Raises EditRefused and NotFound."""
    return await _done(library, reviewer, await library.review.undo(reviewer, request.action), request.most)


async def _done(library: LibraryServices, reviewer: Reviewer, record: ActionRecord, most: int) -> ReviewDone:
    action = await library.review.action(record.id)
    claimed_clips = await library.review.claim(reviewer, library.claim_for, most) if most else []
    queue = [clip.id for clip in claimed_clips]
    snapshot = await load_snapshot(library, reviewer, [*record.before, *record.made, *queue], queue)
    return ReviewDone(action=action_document(action, reviewer), look=snapshot)


async def actions(library: LibraryServices, reviewer: Reviewer, since: int, most: int) -> ReviewActions:
    records = await library.review.actions(since, most)
    items = [action_document(each, reviewer) for each in records]
    return ReviewActions(now=reviewer.now, items=items, counts=await counts(library))


async def counts(library: LibraryServices) -> dict[ClipState, int]:
    return {ClipState(state): number for state, number in (await library.review.counts()).items()}


# --- `/api/v1/review`: clips to review, actions and undo. For editors.


MAX_CLAIMED = 50
MAX_ACTIONS = 200


router = APIRouter(
    prefix="/api/v1/review", tags=["review"], dependencies=[Depends(require_role(Role.EDITOR)), Depends(no_store)]
)

Editor = Annotated[User, Depends(require_role(Role.EDITOR))]
Window = Annotated[
    str,
    Header(
        alias="X-Review-Window",
        pattern=r"^[A-Za-z0-9-]{1,40}$",
        description="Any name for the review window: each has its own claims and undo.",
    ),
]


async def reviewer_of(services: ServicesDep, editor: Editor, window: Window = "program") -> Reviewer:
    """The token is part of the reviewer's id, so that no user can act in another user's window."""
    return Reviewer(f"{editor.token_id}:{window}", editor.name, services.now())


CurrentReviewer = Annotated[Reviewer, Depends(reviewer_of)]


@router.get("/queue", responses=error_responses(role=Role.EDITOR), summary="Claim clips for review")
async def queue(
    services: ServicesDep,
    reviewer: CurrentReviewer,
    most: Annotated[int, Query(ge=1, le=MAX_CLAIMED, description="Number of claims to hold.")] = 4,
    source: Annotated[int | None, Query(ge=1, le=MAX_BIGINT, description="Only of this source.")] = None,
) -> ReviewSnapshot:
    """Claims last `claim_seconds`; calling again renews them and tops up to `most`."""
    return await claim(services.library, reviewer, most, source)


@router.get(
    "/clips/{clip_id}", responses=error_responses(404, role=Role.EDITOR), summary="Get a clip and its neighbours"
)
async def clip(
    services: ServicesDep, reviewer: CurrentReviewer, clip_id: Annotated[int, Path(ge=1, le=MAX_BIGINT)]
) -> ReviewSnapshot:
    """Without claiming it. For a clip that was split or merged, its replacements."""
    return await show_clip(services.library, reviewer, clip_id)


@router.post(
    "/actions",
    responses=error_responses(400, 404, 409, role=Role.EDITOR),
    summary="Approve, skip, archive, group, merge, split or move a cut",
)
async def act_review(services: ServicesDep, reviewer: CurrentReviewer, request: ActionRequest) -> ReviewDone:
    """Takes effect at once and can be undone for `undo_seconds`. Files are made or deleted only after that."""
    return await act(services.library, reviewer, request)


@router.get("/actions", responses=error_responses(role=Role.EDITOR), summary="List recent review actions")
async def actions_review(
    services: ServicesDep,
    reviewer: CurrentReviewer,
    since: Annotated[int, Query(ge=0, le=MAX_BIGINT, description="Only after this action.")] = 0,
    most: Annotated[int, Query(ge=1, le=MAX_ACTIONS, description="Maximum number, latest first.")] = 20,
) -> ReviewActions:
    return await actions(services.library, reviewer, since, most)


@router.post("/undo", responses=error_responses(404, 409, role=Role.EDITOR), summary="Undo an action")
async def undo_review(services: ServicesDep, reviewer: CurrentReviewer, request: UndoRequest) -> ReviewDone:
    return await undo(services.library, reviewer, request)


@router.post(
    "/release",
    status_code=204,
    responses=error_responses(role=Role.EDITOR),
    summary="Release all claims of this window",
)
async def release(services: ServicesDep, reviewer: CurrentReviewer) -> None:
    await services.library.review.release(reviewer)


@router.post(
    "/verdicts",
    status_code=204,
    responses=error_responses(404, 409, role=Role.EDITOR),
    summary="Mark two clips as duplicates or not",
)
async def verdict(services: ServicesDep, reviewer: CurrentReviewer, request: VerdictRequest) -> None:
    """Overrides the fingerprints; the latest verdict wins."""
    await services.library.review.set_verdict(request.one, request.other, request.same, reviewer)
