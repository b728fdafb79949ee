"""Goal page at `/g/{event}`: clips, verification, posts and searches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from found_footy.access.models import Role
from found_footy.clips.alignment import AlignedBy, ClipAlignment, ClipFacts, ClipOffset
from found_footy.clips.progress import (
    RejectionCount,
    count_rejections,
    progress_line,
    source_failures,
    source_progress,
    why_no_clip,
)
from found_footy.errors import NotFound
from found_footy.fixtures.documents import (
    ChangedValue,
    ClipDocument,
    GoalDocument,
    GoalFixture,
    PostDocument,
    ScoreDocument,
    SearchAttemptDocument,
)
from found_footy.fixtures.models import WICKET
from found_footy.web.pages.match_format import MatchPhase, StatusBadge, how_out, match_phase, ordinal, status_badge
from found_footy.web.pages.proof import ProofView, proof_view, read_proof, verification_text
from found_footy.web.rendering import PRIVATE, minute, preferences, render, text
from found_footy.web.response_cache import cached_page
from found_footy.web.services import ServicesDep, WebRules, WebServices
from found_footy.web.users import ANONYMOUS, current_user

MAX_POSTS = 50
"""Per kind."""

SOURCE_NAMES = {
    "fxtwitter": "X through FxEmbed",
    "bluesky": "Bluesky",
    "x": "X",
    "reddit": "Reddit",
    "folder": "a folder",
}
FEED_NAMES = {"api_football": "API-Football", "espn": "ESPN", "crex": "CREX"}
STATE_TEXT = {"downloading": "downloading", "checking": "checking", "waiting": "waiting"}


@dataclass(frozen=True, slots=True)
class PostView:
    source: str
    author: str
    text: str
    posted_at: datetime
    url: str | None
    rank: int | None
    """Rank of the clip that the post became."""
    state: str
    """Current step; empty when finished."""
    duplicate: bool
    rejection: str | None
    detail: str | None


def post_view(candidate: PostDocument, ranks: Mapping[str, int | None]) -> PostView:
    """View of a post. `ranks` maps the MD5 of clips to their ranks."""
    rejected = candidate.state == "lost"
    return PostView(
        source=source_name(candidate.source),
        author=candidate.author,
        text=candidate.text,
        posted_at=candidate.posted_at,
        url=safe_url(candidate.url),
        rank=ranks.get(candidate.clip or ""),
        state=STATE_TEXT.get(candidate.state, ""),
        duplicate=candidate.state == "duplicate",
        rejection=candidate.loss if rejected else None,
        detail=candidate.loss_detail if rejected else None,
    )


def source_name(source: str) -> str:
    return SOURCE_NAMES.get(source, source)


def safe_url(url: str) -> str | None:
    """None for `javascript:`, `data:` and other non-web URLs."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname and len(url) <= 2000 else None


# --- View of a goal.


KIND_NOTES = {"Penalty": "penalty", "Own Goal": "own goal"}
ALIGNMENT_TEXT = {
    AlignedBy.REFERENCE: "",
    AlignedBy.PICTURES: "aligned by fingerprint",
    AlignedBy.CLOCK: "aligned by match clock",
    AlignedBy.NOTHING: "not aligned",
}
LIMITED_OVERS_INNINGS = 2
"""Innings of a limited-overs match."""
CHANGE_NAMES = {"player": "scorer", "assist": "assist", "kind": "kind of goal", "minute": "minute", "score": "score"}


@dataclass(frozen=True, slots=True)
class MergedView:
    """A merged copy; its link redirects to the winner."""

    id: str
    offset: float | None
    mirrored: bool
    duration: float
    size: int


@dataclass(frozen=True, slots=True)
class CopyView:
    id: str
    rank: int
    verified: bool
    popularity: int
    width: int
    height: int
    fps: float
    duration: float
    size: int
    source: str
    offset: float | None
    aligned: str
    verification: str
    proof: ProofView | None
    merged: tuple[MergedView, ...]


@dataclass(frozen=True, slots=True)
class SearchView:
    attempt: int
    at: datetime
    answers: tuple[tuple[str, str, bool], ...]
    """Source, result, and whether it failed."""


@dataclass(frozen=True, slots=True)
class GoalPageView:
    """A goal or a wicket. For a wicket, the scoring side was fielding, and the assist is the bowler."""

    id: str
    fixture_id: int
    home: str
    away: str
    league: str
    kickoff: datetime
    minute: str
    player: str | None
    assist: str | None
    note: str | None
    team: str
    side: str
    before: tuple[int, int]
    after: tuple[int, int]
    badge: StatusBadge
    status: str
    first_seen: datetime
    withdrawn_at: datetime | None
    withdrawal_reason: str | None
    copies: tuple[CopyView, ...]
    progress: str
    no_clip_reason: str
    """Why the goal has no clip; empty if it has one, or before the search."""
    posts: tuple[PostView, ...]
    """Posts that became a clip, or are being processed."""
    rejected: tuple[PostView, ...]
    omitted: int
    """Number of posts not shown."""
    rejections: tuple[RejectionCount, ...]
    searches: tuple[SearchView, ...]
    sources: tuple[tuple[str, int, int], ...]
    """Source, searches that it answered, and searches required of it."""
    query: str | None
    failures: tuple[tuple[str, int, str], ...]
    """Source, number of failures, and the last error."""
    history: tuple[tuple[datetime, str], ...]
    """Time and change."""
    feeds: tuple[str, ...] = ()
    """Feeds that reported the goal last."""
    wicket: str | None = None
    """Number of the wicket in the innings, such as 3rd, or `out`; None for a goal."""
    innings: str = ""
    """Innings of the match, such as 2nd."""
    last_update: datetime | None = None
    """Last update of a live match."""

    @property
    def noun(self) -> str:
        return "goal" if self.wicket is None else "wicket"

    @property
    def unknown(self) -> str:
        return "Scorer unknown" if self.wicket is None else "Batter unknown"

    @property
    def polled(self) -> int | None:
        """Last update in seconds since 1970."""
        return int(self.last_update.timestamp()) if self.last_update else None

    @property
    def day(self) -> str:
        return self.kickoff.astimezone(UTC).date().isoformat()

    @property
    def best(self) -> CopyView | None:
        return self.copies[0] if self.copies else None


def goal_page(event: GoalDocument, aligned: Mapping[str, ClipOffset], rules: WebRules) -> GoalPageView:
    fixture, time = event.fixture, event.time
    ranks = {video.md5: video.rank for video in event.s3_videos}
    posts = [post_view(each, ranks) for each in event.discovered_videos]
    used = sorted(
        (post for post in posts if post.rejection is None), key=lambda post: (post.rank or 99, post.posted_at)
    )
    rejected = [post for post in posts if post.rejection is not None]
    is_wicket = event.type == WICKET
    return GoalPageView(
        id=event.event_id,
        fixture_id=fixture.id,
        home=fixture.home,
        away=fixture.away,
        league=fixture.league,
        kickoff=fixture.date,
        minute=minute(time.elapsed, time.extra, time.innings),
        player=event.player.name,
        assist=event.assist.name,
        note=how_out(event.detail, event.assist.name) if is_wicket else KIND_NOTES.get(event.detail),
        team=event.team.name or "",
        side=event.scoring_team,
        before=_scores(event.score_before),
        after=_scores(event.score_after),
        badge=status_badge(
            event.status,
            seen=event.stable_count,
            debounce=rules.debounce_polls,
            searches=len(event.searches),
            attempts=rules.search_attempts,
            clips=len(event.s3_videos),
        ),
        status=event.status,
        first_seen=event.first_seen,
        withdrawn_at=event.removed_at,
        withdrawal_reason=event.removed_reason,
        copies=tuple(_copy(video, event, aligned, rules.clock_tolerance_minutes) for video in event.s3_videos),
        progress=progress_line(event, rules.search_attempts),
        no_clip_reason=_sentence(why_no_clip(event)),
        posts=tuple(used[:MAX_POSTS]),
        rejected=tuple(rejected[:MAX_POSTS]),
        omitted=max(0, len(used) - MAX_POSTS) + max(0, len(rejected) - MAX_POSTS),
        rejections=count_rejections(post.rejection for post in rejected if post.rejection is not None),
        searches=tuple(_search(each) for each in event.searches),
        sources=tuple(
            (source_name(source), *counts) for source, counts in source_progress(event, rules.search_attempts).items()
        ),
        query=event.search_query,
        failures=tuple(
            (source_name(source), count, answer_text) for source, (count, answer_text) in source_failures(event).items()
        ),
        history=tuple((change.at, _change(change.changed)) for change in event.attributions),
        feeds=tuple(FEED_NAMES.get(feed, feed) for feed in event.feeds),
        wicket=_wicket(event) if is_wicket else None,
        innings=ordinal(time.innings or 1) if is_wicket else "",
        last_update=fixture.heard_at if _is_followed(fixture) else None,
    )


def _scores(score: ScoreDocument) -> tuple[int, int]:
    return score.home or 0, score.away or 0


def _is_followed(fixture: GoalFixture) -> bool:
    return fixture.stage == "active" and match_phase(fixture.status, fixture.stage) is MatchPhase.LIVE


def _wicket(event: GoalDocument) -> str:
    """Number of the wicket; it follows from the total only in a limited-overs match."""
    innings, taken = event.time.innings or 1, getattr(event.score_after, event.scoring_team)
    return ordinal(taken) if innings <= LIMITED_OVERS_INNINGS else "out"


def _sentence(reason: str) -> str:
    """Text without the prefix that repeats the heading."""
    rest = re.sub(r"^No clips?( yet)?: ", "", reason)
    return rest[:1].upper() + rest[1:]


def _copy(video: ClipDocument, event: GoalDocument, aligned: Mapping[str, ClipOffset], tolerance: int) -> CopyView:
    stored = event.proofs.get(video.md5)
    proof = read_proof(stored) if stored else None
    clip_offset = aligned.get(video.md5, ClipOffset(None, AlignedBy.NOTHING))
    sources = sorted({each.source for each in event.discovered_videos if each.clip == video.md5})
    return CopyView(
        id=video.id,
        rank=video.rank or 0,
        verified=video.timestamp_verified,
        popularity=video.popularity,
        width=video.width,
        height=video.height,
        fps=video.fps,
        duration=video.duration,
        size=video.file_size,
        source=", ".join(source_name(source) for source in sources),
        offset=clip_offset.offset,
        aligned=ALIGNMENT_TEXT[clip_offset.by],
        verification=verification_text(video.timestamp_verified, video.reason, proof, tolerance),
        proof=proof_view(video, proof, tolerance) if proof else None,
        merged=tuple(
            MergedView(each.id, each.offset_seconds, each.mirrored, each.duration, each.file_size)
            for each in video.copies
        ),
    )


def _search(search: SearchAttemptDocument) -> SearchView:
    answers = []
    for source, answer in search.sources.items():
        error = answer.error
        answer_text = f"{error.class_}: {error.message}" if error else f"{answer.found} found"
        answers.append((source_name(source), answer_text, error is not None))
    return SearchView(search.attempt, search.at, tuple(answers))


def _change(changed: Mapping[str, ChangedValue]) -> str:
    """Description of a change; ids are omitted if the name changed as well."""
    described = [
        f"{CHANGE_NAMES[name]}: {changed[name].from_ or 'unknown'} → {changed[name].to or 'unknown'}"
        for name in CHANGE_NAMES
        if name in changed
    ]
    return "; ".join(described) or "player id changed"


# --- Open Graph and Twitter card tags.


POSTER_WIDTH = 1280
MAX_TITLE_LENGTH = 140

Tags = tuple[tuple[str, str], ...]
"""Name and content; `twitter:` tags use `name`, all others `property`."""


def goal_title(page: GoalPageView) -> str:
    """`Mohamed Salah 23' · Liverpool 1–0 Manchester City`"""
    home, away = page.after
    scorer = text(page.player or page.noun.capitalize(), 50)
    if page.wicket is not None:
        return text(f"{scorer} {page.minute} · {text(page.home, 40)} – {text(page.away, 40)}", MAX_TITLE_LENGTH)
    return text(f"{scorer} {page.minute} · {text(page.home, 40)} {home}–{away} {text(page.away, 40)}", MAX_TITLE_LENGTH)


def spoiler_free_title(page: GoalPageView) -> str:
    """Title without the result."""
    return text(f"A {page.noun} in {text(page.home, 40)} – {text(page.away, 40)}", MAX_TITLE_LENGTH)


def open_graph_tags(page: GoalPageView, base: str) -> Tags:
    """Tags of a goal. `base` is the public URL without a trailing slash."""
    tags = [*_common(page, base, goal_title(page), _description(page))]
    if page.best is None:
        return (*tags, ("twitter:card", "summary"))
    best, video = page.best, f"{base}/v/{page.best.id}"
    width = min(POSTER_WIDTH, best.width)
    tags += [
        ("og:image", f"{video}/poster.jpg?w={POSTER_WIDTH}"),
        ("og:image:type", "image/jpeg"),
        ("og:image:width", str(width)),
        ("og:image:height", str(round(width * best.height / max(1, best.width)))),
        ("og:image:alt", goal_title(page)),
        ("og:video", video),
        ("og:video:type", "video/mp4"),
        ("og:video:width", str(best.width)),
        ("og:video:height", str(best.height)),
        ("twitter:card", "summary_large_image"),
        ("twitter:image", f"{video}/poster.jpg?w={POSTER_WIDTH}"),
    ]
    return tuple(tags)


def spoiler_free_tags(page: GoalPageView, base: str) -> Tags:
    """Tags without images, which could reveal the result."""
    tags = _common(page, base, spoiler_free_title(page), f"{text(page.league, 60)}, {page.kickoff:%d %b %Y}")
    return (*tags, ("twitter:card", "summary"))


def _common(page: GoalPageView, base: str, title: str, description: str) -> Tags:
    return (
        ("og:site_name", "Found Footy"),
        ("og:type", "website"),
        ("og:url", f"{base}/g/{page.id}"),
        ("og:title", title),
        ("og:description", description),
    )


def _description(page: GoalPageView) -> str:
    verified = sum(copy.verified for copy in page.copies)
    clips = "1 clip" if len(page.copies) == 1 else f"{len(page.copies)} clips"
    proved = f", {verified} verified by the match clock" if verified else ""
    found = f"{clips}{proved} · " if page.copies else ""
    return f"{found}{text(page.league, 60)}, {page.kickoff:%d %b %Y}"


# --- `/g/{event}`: permanent page of a goal, and its fragments for live updates.


router = APIRouter(include_in_schema=False)

Part = Literal["all", "head", "player", "copies", "proofs", "more"]


@router.get("/g/{event_id}")
@router.head("/g/{event_id}")
async def goal(request: Request, services: ServicesDep, event_id: str) -> Response:
    """Cached for anonymous readers."""
    if current_user(request) != ANONYMOUS or request.url.query:
        return await _page(request, services, event_id)
    prefs, base = preferences(request), base_url(request, services)
    name = ("goal", event_id, base, prefs.theme, prefs.hide_scores, prefs.hides(fixture_id_of(event_id)))
    return await cached_page(request, services, name, lambda: _page(request, services, event_id))


@router.get("/g/{event_id}/fragment")
async def fragment(request: Request, services: ServicesDep, event_id: str, part: Part = "all") -> Response:
    """A part of the page, or the withdrawal notice; empty if scores are hidden."""
    if preferences(request).hides(fixture_id_of(event_id)):
        return Response(status_code=204, headers=PRIVATE)
    name = ("fragment", event_id, part)
    return await cached_page(request, services, name, lambda: _part(request, services, event_id, part))


async def _page(request: Request, services: WebServices, event_id: str) -> HTMLResponse:
    # Read before the goal, so that later changes arrive as live updates.
    after = services.live.position
    page = await read_goal(request, services, event_id)
    hidden, base = preferences(request).hides(page.fixture_id), base_url(request, services)
    values: dict[str, Any] = {
        "operator": current_user(request).may(Role.OPERATOR),
        "goal": page,
        "hidden": hidden,
        "after": "" if after is None else after,
        "stale_seconds": services.rules.stale_seconds,
        "canonical": f"{base}/g/{page.id}",
        "title": spoiler_free_title(page) if hidden else goal_title(page),
        "tags": spoiler_free_tags(page, base) if hidden else open_graph_tags(page, base),
    }
    withdrawn = page.withdrawn_at is not None and not hidden
    return render(request, "goal.html", values, 410 if withdrawn else 200, PRIVATE)


async def _part(request: Request, services: WebServices, event_id: str, part: Part) -> HTMLResponse:
    page = await read_goal(request, services, event_id)
    if page.withdrawn_at is not None:
        return render(request, "goal/withdrawn.html", {"goal": page}, 410, PRIVATE)
    template = "goal/parts.html" if part == "all" else f"goal/{part}.html"
    return render(request, template, {"goal": page}, 200, PRIVATE)


async def read_goal(request: Request, services: WebServices, event_id: str) -> GoalPageView:
    """Read a goal. Raises NotFound, and LinkGone for a goal whose match is past retention."""
    fixture_id_of(event_id)
    try:
        event = await services.reading.event(event_id)
    except NotFound:
        await services.links.require_not_ended(f"g/{event_id}")
        raise NotFound(f"goal {event_id} not found") from None
    aligned = await _alignment(request).aligned(event_id, _facts(event))
    return goal_page(event, aligned, services.rules)


def fixture_id_of(event_id: str) -> int:
    """Fixture id at the start of every event id. Raises NotFound."""
    found = re.fullmatch(r"([0-9]{1,18})_[A-Za-z0-9_.-]{1,180}", event_id)
    if found is None:
        raise NotFound("goal not found")
    return int(found[1])


def base_url(request: Request, services: WebServices) -> str:
    """Public URL without a trailing slash."""
    return str(services.rules.public_url or request.base_url).rstrip("/")


def _facts(event: GoalDocument) -> list[ClipFacts]:
    """Clips by rank, without fingerprints: these are loaded only if the alignment is not cached."""
    proofs = {md5: read_proof(proof) for md5, proof in event.proofs.items()}
    return [
        ClipFacts(video.md5, None, proofs[video.md5].readings if video.md5 in proofs else ())
        for video in event.s3_videos
    ]


def _alignment(request: Request) -> ClipAlignment:
    alignment: ClipAlignment = request.app.state.alignment
    return alignment
