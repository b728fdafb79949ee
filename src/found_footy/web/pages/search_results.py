"""Search results. For a match with hidden scores, only the teams and the kick-off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import quote

from found_footy.fixtures.documents import FixtureSummary, GoalListItem, GoalSummary, VideoSummary
from found_footy.fixtures.models import WICKET
from found_footy.library.models import state_label
from found_footy.library.moments import ClipResult, MomentResult
from found_footy.web.api.library import picture_of
from found_footy.web.api.models import FixtureResults, GoalResults, VideoResults
from found_footy.web.pages.match_format import MatchPhase, clock_text, how_out, innings_score, match_phase
from found_footy.web.rendering import minute, plural

KIND_NOTES = {"Penalty": "penalty", "Own Goal": "own goal"}
STATE_TEXT = {"validating": "unconfirmed", "extracting": "checking clips", "watching": "searching"}


@dataclass(frozen=True, slots=True)
class HiddenResult:
    is_hidden: ClassVar[bool] = True
    fixture: int
    home: str
    away: str
    league: str
    kickoff: str | None


@dataclass(frozen=True, slots=True)
class GoalResult:
    is_hidden: ClassVar[bool] = False
    href: str
    player: str
    minute: str
    note: str
    home: str
    away: str
    score: tuple[int, int] | None
    """None for a wicket, which has a note instead."""
    side: str
    league: str
    kickoff: str
    video: str | None
    verified: bool
    state: str
    text: str
    unknown: str = "Scorer unknown"


@dataclass(frozen=True, slots=True)
class MatchResult:
    is_hidden: ClassVar[bool] = False
    fixture: int
    day: str
    home: str
    away: str
    league: str
    kickoff: str
    clock: str | None
    score: str | None
    goals: tuple[GoalResult, ...]


@dataclass(frozen=True, slots=True)
class PublishedClipResult:
    is_hidden: ClassVar[bool] = False
    href: str
    goal: str
    video: str
    player: str
    minute: str
    home: str
    away: str
    seconds: int
    verified: bool
    text: str


Result = HiddenResult | GoalResult | MatchResult | PublishedClipResult


def results_view(found: FixtureResults | GoalResults | VideoResults, hides: Callable[[int], bool]) -> list[Result]:
    """View of the results. A hidden match is listed once, however many of its goals match."""
    views: list[Result] = []
    hidden: set[int] = set()
    for item in found.items:
        head = _hidden(item)
        if not hides(head.fixture):
            views.append(_view(item))
        elif head.fixture not in hidden:
            hidden.add(head.fixture)
            views.append(head)
    return views


Item = FixtureSummary | GoalListItem | VideoSummary


def _hidden(item: Item) -> HiddenResult:
    match item:
        case FixtureSummary():
            teams = item.teams
            kickoff = item.fixture.date.isoformat()
            return HiddenResult(item.id, teams.home.name or "", teams.away.name or "", item.league.name, kickoff)
        case GoalListItem():
            fixture = item.fixture
            return HiddenResult(fixture.id, fixture.home, fixture.away, fixture.league, fixture.date.isoformat())
        case VideoSummary():
            return HiddenResult(item.fixture_id, item.home, item.away, "", None)


def _view(item: Item) -> Result:
    match item:
        case FixtureSummary():
            return _match(item)
        case GoalListItem():
            fixture = item.fixture
            return _goal(item, fixture.home, fixture.away, fixture.league, fixture.date.isoformat())
        case VideoSummary():
            return _video(item)


def _goal(item: GoalSummary, home: str, away: str, league: str, kickoff: str) -> GoalResult:
    clips, is_wicket = item.s3_videos, item.type == WICKET
    best = clips[0] if clips else None
    state: str
    text: str
    if clips:
        state, text = item.status, plural(len(clips), "clip")
    elif item.status == "complete":
        state, text = "none", "no clip"
    else:
        state, text = item.status, STATE_TEXT.get(item.status, "")
    return GoalResult(
        href="/g/" + quote(item.event_id, safe=""),
        player=item.player.name or "",
        minute=minute(item.time.elapsed, item.time.extra, item.time.innings),
        note=how_out(item.detail, item.assist.name) if is_wicket else KIND_NOTES.get(item.detail, ""),
        home=home,
        away=away,
        score=None if is_wicket else (item.score_after.home or 0, item.score_after.away or 0),
        unknown="Batter unknown" if is_wicket else "Scorer unknown",
        side=item.scoring_team,
        league=league,
        kickoff=kickoff,
        video=best.id if best else None,
        verified=bool(best and best.timestamp_verified),
        state=state,
        text=text,
    )


def _match(item: FixtureSummary) -> MatchResult:
    home, away = item.teams.home.name or "", item.teams.away.name or ""
    league, kickoff, status = item.league.name, item.fixture.date.isoformat(), item.fixture.status
    return MatchResult(
        fixture=item.id,
        day=kickoff[:10],
        home=home,
        away=away,
        league=league,
        kickoff=kickoff,
        clock=clock_text(status.short, item.stage, status.elapsed, status.extra, item.sport),
        score=_score(item),
        goals=tuple(_goal(each, home, away, league, kickoff) for each in item.events if not each.removed),
    )


def _score(item: FixtureSummary) -> str | None:
    """`2–1`, or `187/5 – 95/3`; None before the match begins."""
    if match_phase(item.fixture.status.short, item.stage) is MatchPhase.UPCOMING:
        return None
    if item.sport == "cricket":
        runs = [innings_score(item.innings, side)[0] or "–" for side in ("home", "away")]
        return " – ".join(runs) if item.innings else None
    home, away = item.goals.home, item.goals.away
    return None if home is None else f"{home or 0}–{away or 0}"


def _video(item: VideoSummary) -> PublishedClipResult:
    return PublishedClipResult(
        href="/v/" + item.id,
        goal="/g/" + quote(item.event_id, safe=""),
        video=item.id,
        player=item.player or "",
        minute=minute(item.minute, item.extra, item.innings),
        home=item.home,
        away=item.away,
        seconds=round(item.duration),
        verified=item.timestamp_verified,
        text=f"Rank {item.rank} · {plural(item.popularity, 'post')}",
    )


# --- Library moments. For a match with hidden scores, only the teams and the kick-off.


MAX_DUPLICATES = 20
"""Copies listed; the total is always shown."""


@dataclass(frozen=True, slots=True)
class DuplicateLink:
    href: str
    text: str


@dataclass(frozen=True, slots=True)
class MomentView:
    is_hidden: ClassVar[bool] = False
    clip: int
    href: str
    similar_url: str
    picture: str | None
    sheet: bool
    """Whether the image is a whole sheet, of which only the first thumbnail is shown."""
    heading: str
    minute: str
    note: str
    match: str
    league: str
    kickoff: str | None
    goal: str | None
    seconds: int
    verified: bool
    state: str
    text: str
    similarity: str
    copies: tuple[DuplicateLink, ...]
    more_copies: int


def moments_view(moments: Iterable[MomentResult], hides: Callable[[int], bool]) -> list[HiddenResult | MomentView]:
    """View of the moments. A hidden match is listed once, however many of its moments match."""
    views: list[HiddenResult | MomentView] = []
    hidden_ids: set[int] = set()
    for moment in moments:
        fixture = moment.clip.facts.get("fixture_id")
        if not isinstance(fixture, int) or not hides(fixture):
            views.append(_moment(moment))
        elif fixture not in hidden_ids:
            hidden_ids.add(fixture)
            views.append(_hidden_moment(fixture, moment.clip.facts))
    return views


def _hidden_moment(fixture: int, facts: Mapping[str, Any]) -> HiddenResult:
    home, away, league = (_text(facts, name) for name in ("home", "away", "competition"))
    return HiddenResult(fixture, home, away, league, _kickoff(facts))


def _moment(moment: MomentResult) -> MomentView:
    clip, facts = moment.clip, moment.clip.facts
    home, away, score = (_text(facts, name) for name in ("home", "away", "score"))
    player = _text(facts, "player")
    return MomentView(
        clip=clip.id,
        href=f"/library/clips/{clip.id}",
        similar_url=f"/search?like={clip.id}",
        picture=picture_of(clip),
        sheet=clip.keyframe is None,
        heading=player or clip.title,
        minute=_text(facts, "minute") if player else "",
        note="withdrawn" if facts.get("withdrawn") else KIND_NOTES.get(_text(facts, "kind"), ""),
        match=" ".join(part for part in (home, score or "v", away) if part) if home and away else "",
        league=_text(facts, "competition"),
        kickoff=_kickoff(facts),
        goal=f"/g/{quote(clip.event_id, safe='')}" if clip.event_id else None,
        seconds=max(1, round(clip.seconds)),
        verified=facts.get("verified") is True,
        state=str(clip.state),
        text=state_label(clip.state),
        similarity="" if moment.similarity is None else f"{max(0.0, moment.similarity):.0%} alike",
        copies=tuple(_copy(each) for each in moment.copies[:MAX_DUPLICATES]),
        more_copies=max(0, len(moment.copies) - MAX_DUPLICATES),
    )


def _copy(clip: ClipResult) -> DuplicateLink:
    size = f", {clip.height}p" if clip.height else ""
    return DuplicateLink(
        f"/library/clips/{clip.id}", f"Clip {clip.id}: {clip.seconds:.1f} s{size}, {state_label(clip.state)}"
    )


def _text(facts: Mapping[str, Any], name: str) -> str:
    value = facts.get(name)
    return value if isinstance(value, str) else ""


def _kickoff(facts: Mapping[str, Any]) -> str | None:
    """Kick-off, if it is a valid time."""
    try:
        datetime.fromisoformat(_text(facts, "kickoff"))
    except ValueError:
        return None
    return _text(facts, "kickoff")
