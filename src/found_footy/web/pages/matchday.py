"""Matchday page: matches of a day by competition, as cards; without results if scores are hidden."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal
from urllib.parse import quote

from fastapi import APIRouter
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from found_footy.errors import NotFound
from found_footy.fixtures.models import Sport
from found_footy.fixtures.read_models import MatchdayFixture, MatchdayGoal, NearbyDays
from found_footy.web.pages.match_format import (
    MatchPhase,
    StatusBadge,
    batting,
    clock_text,
    freshness_of,
    half_time_percent,
    how_out,
    innings_overs,
    innings_percent,
    innings_score,
    match_phase,
    minute_text,
    needs_extra_time,
    ordinal,
    status_badge,
    timeline_percent,
)
from found_footy.web.rendering import PRIVATE, environment, preferences, render
from found_footy.web.response_cache import AGE_STEP_SECONDS, Body, cached_page
from found_footy.web.services import ServicesDep, WebRules, WebServices
from found_footy.web.users import ANONYMOUS, current_user

KIND_NOTES = {"Penalty": "pen.", "Own Goal": "o.g."}


@dataclass(frozen=True, slots=True)
class GoalCardView:
    id: str
    side: str
    path: str
    """Event id, URL-quoted."""
    minute: str
    """`67'`, or `12.3 ov`."""
    player: str | None
    note: str | None
    """Penalty or own goal; in cricket, the dismissal."""
    tally: str | None
    """Number of the wicket; None for a goal, which shows the score."""
    home: int
    away: int
    badge: StatusBadge
    video: str | None
    """Id of the goal's best clip."""
    length: str
    verified: bool
    position: float
    """On the timeline, in percent."""


@dataclass(frozen=True, slots=True)
class MatchCardView:
    id: int
    day: str
    home: str
    away: str
    kickoff: datetime
    league_id: int
    league: str
    country: str | None
    round: str | None
    phase: MatchPhase
    hidden: bool
    """If true, of the fields below only the note is set, and the clock before kick-off."""
    note: str | None = None
    polled: int | None = None
    """Last update of a polled match, in seconds since 1970."""
    stale: str = ""
    """`stale · 75 s`; empty if fresh."""
    sport: str = "football"
    clock: str | None = None
    home_goals: int | None = None
    away_goals: int | None = None
    penalties: tuple[int | None, int | None] | None = None
    goals: tuple[GoalCardView, ...] = ()
    progress: float | None = None
    """Progress of the match on the timeline, in percent."""
    timeline: str = ""
    """Kind of timeline: `long` with extra time, `innings-2`, `innings-4`; empty for 90 minutes."""
    runs: tuple[tuple[str, str], tuple[str, str]] | None = None
    """In cricket, for home and away: `187/5` and `(20 ov)`."""
    batting: str | None = None
    last: str | None = None
    """In cricket, the last event as the feed describes it."""
    venue: str | None = None
    """Venue and toss."""

    @property
    def live(self) -> bool:
        return self.phase is MatchPhase.LIVE

    @property
    def has_clips(self) -> bool:
        return any(goal.video for goal in self.goals)

    @property
    def has_timeline(self) -> bool:
        """Whether to show a timeline. Live matches have one even without goals, so that the first goal shifts less."""
        return not self.hidden and (self.live or bool(self.goals))


def match_card_view(match: MatchdayFixture, *, hidden: bool, now: datetime, rules: WebRules) -> MatchCardView:
    at = match_phase(match.status, match.stage)
    freshness = freshness_of(match, now, rules.stale_seconds)
    feed_error = "feed error" if match.error_kind else None
    card = MatchCardView(
        id=match.id,
        day=match.kickoff.astimezone(now.tzinfo).date().isoformat(),
        home=match.home_name,
        away=match.away_name,
        kickoff=match.kickoff,
        league_id=match.league_id,
        league=match.league_name,
        country=match.country,
        round=match.round,
        phase=at,
        hidden=hidden and at is not MatchPhase.UPCOMING,
        polled=freshness.since,
        stale=freshness.text,
        sport=match.sport,
    )
    if hidden:
        # An error message may contain the score.
        phase_text = clock_text(match.status, match.stage, None, None) if at is MatchPhase.UPCOMING else None
        return replace(card, note=feed_error, clock=phase_text)
    if feed_error and match.error_message:
        feed_error = f"{feed_error}: {match.error_message}"
    clock = clock_text(match.status, match.stage, match.elapsed, match.extra, match.sport)
    card = replace(card, note=feed_error, clock=clock)
    if match.sport == Sport.CRICKET:
        return _with_cricket(card, match, rules)
    extra_time = needs_extra_time([goal.elapsed for goal in match.goals]) or match.status in ("ET", "AET")
    penalties = match.home_penalties, match.away_penalties
    return replace(
        card,
        home_goals=None if at is MatchPhase.UPCOMING else match.home_goals,
        away_goals=None if at is MatchPhase.UPCOMING else match.away_goals,
        penalties=None if None in penalties else penalties,
        goals=tuple(
            _goal(
                goal,
                rules,
                timeline_percent(goal.elapsed, goal.extra, extra_time=extra_time),
                KIND_NOTES.get(goal.kind),
            )
            for goal in match.goals
        ),
        progress=_progress(match, at, extra_time),
        timeline="long" if extra_time else "",
    )


def _with_cricket(card: MatchCardView, match: MatchdayFixture, rules: WebRules) -> MatchCardView:
    innings = match.innings
    count = 4 if len(innings) > 2 else 2
    overs = innings_overs(match.details, innings)
    last = innings[-1] if innings else None
    toss = None
    if match.toss:
        winner = {"home": match.home_name, "away": match.away_name}[match.toss.winner]
        toss = f"{winner} won the toss and chose to {match.toss.decision}"
    progress = None
    if card.live and last is not None:
        progress = innings_percent(last.number, last.overs, last.balls, count=count, overs=overs)
    return replace(
        card,
        runs=(innings_score(innings, "home"), innings_score(innings, "away")) if innings else None,
        batting=batting(innings) if card.live else None,
        last=match.last_event if card.live else None,
        venue=" · ".join(part for part in (match.venue, toss) if part) or None,
        goals=tuple(_wickets(match.goals, rules, count, overs)),
        progress=progress,
        timeline=f"innings-{count}",
    )


def _wickets(wickets: Sequence[MatchdayGoal], rules: WebRules, count: int, overs: int) -> Iterator[GoalCardView]:
    """Wickets numbered by innings; withdrawn ones have no number."""
    wickets_fallen: Counter[int] = Counter()
    for wicket in wickets:
        innings = wicket.innings or 1
        withdrawn = wicket.status == "withdrawn"
        wickets_fallen[innings] += not withdrawn
        tally = "no wicket" if withdrawn else f"{ordinal(wickets_fallen[innings])} wicket"
        position = innings_percent(innings, wicket.elapsed, wicket.extra, count=count, overs=overs)
        yield _goal(wicket, rules, position, how_out(wicket.kind, wicket.assist), tally)


def _progress(match: MatchdayFixture, at: MatchPhase, extra_time: bool) -> float | None:
    if at is not MatchPhase.LIVE or match.elapsed is None:
        return None
    if match.status == "HT":
        return half_time_percent(extra_time=extra_time)
    return timeline_percent(match.elapsed, match.extra, extra_time=extra_time)


def _goal(
    goal: MatchdayGoal, rules: WebRules, position: float, note: str | None, tally: str | None = None
) -> GoalCardView:
    best = goal.best
    sport = Sport.FOOTBALL if tally is None else Sport.CRICKET
    return GoalCardView(
        id=goal.id,
        side=goal.side,
        path=quote(goal.id, safe=""),
        minute=minute_text(goal.elapsed, goal.extra, sport),
        player=goal.player,
        note=note,
        tally=tally,
        home=goal.home,
        away=goal.away,
        badge=status_badge(
            goal.status,
            seen=goal.seen,
            debounce=rules.debounce_polls,
            searches=goal.searches,
            attempts=rules.search_attempts,
            clips=goal.clips,
        ),
        video=best.id if best else None,
        length=f"{int(best.duration) // 60}:{int(best.duration) % 60:02}" if best else "",
        verified=bool(best and best.verified),
        position=position,
    )


# --- Selection and order of the matches, and the day shown.


Show = Literal["all", "live", "clips"]

CANDIDATE_WINDOW = 3
"""Days on each side of the current one."""


@dataclass(frozen=True, slots=True)
class CompetitionGroup:
    """Matches of one competition."""

    league: str
    country: str | None
    round: str | None
    """Round, if all matches share it."""
    matches: tuple[MatchCardView, ...]


@dataclass(frozen=True, slots=True)
class DayTab:
    day: date
    matches: int
    shown: bool


def filter_matches(matches: Sequence[MatchCardView], show: Show) -> list[MatchCardView]:
    """Filter matches; a hidden match counts as one without clips."""
    if show == "live":
        return [match for match in matches if match.live]
    return [match for match in matches if match.has_clips] if show == "clips" else list(matches)


def group_by_competition(matches: Sequence[MatchCardView]) -> list[CompetitionGroup]:
    """Competitions with live matches first, then by name; within each, live matches first, then by kick-off.

    The order does not depend on results, so it reveals nothing of hidden matches.
    """
    by_league: dict[int, list[MatchCardView]] = {}
    for match in sorted(matches, key=lambda each: (not each.live, each.kickoff, each.home, each.id)):
        by_league.setdefault(match.league_id, []).append(match)
    groups = [_group(each) for each in by_league.values()]
    return sorted(groups, key=lambda group: (not group.matches[0].live, group.league.casefold(), group.country or ""))


def _group(matches: Sequence[MatchCardView]) -> CompetitionGroup:
    rounds = {match.round for match in matches}
    return CompetitionGroup(
        league=matches[0].league,
        country=matches[0].country,
        round=matches[0].round if len(rounds) == 1 else None,
        matches=tuple(matches),
    )


def nearest_day(day: date, before: date | None, after: date | None) -> date:
    """Nearest day with matches; the later one if two are equally near."""
    if before is None or after is None:
        return before or after or day
    return after if after - day <= day - before else before


def day_tabs(day: date, counts: Mapping[date, int]) -> list[DayTab]:
    days = [day + timedelta(days=step) for step in range(-CANDIDATE_WINDOW, CANDIDATE_WINDOW + 1)]
    return [DayTab(each, counts.get(each, 0), each == day) for each in days]


def relative_day(day: date, today: date) -> str | None:
    return {-1: "Yesterday", 0: "Today", 1: "Tomorrow"}.get((day - today).days)


# --- Routes: pages, and fragments for live updates.


router = APIRouter(include_in_schema=False)

MAX_MATCHES = 400
"""Matches per page; the page shows how many are omitted."""
YEARS = range(1900, 2200)


@router.get("/")
async def today(request: Request, services: ServicesDep, show: Show = "all") -> Response:
    """Today, or the nearest day with matches."""
    return await _shared_page(request, services, lambda: _today(request, services, show))


@router.get("/day/{day}")
async def one_day(request: Request, services: ServicesDep, day: str, show: Show = "all") -> Response:
    return await _shared_page(request, services, lambda: _one_day(request, services, parse_day(day), show))


async def _shared_page(
    request: Request, services: WebServices, render_page: Callable[[], Awaitable[HTMLResponse]]
) -> Response:
    """Page shared by anonymous readers. A logged-in user gets a separate one, whose forms contain their CSRF token."""
    if current_user(request) != ANONYMOUS:
        return await render_page()
    scope, step = request.scope, int(services.now().timestamp() // AGE_STEP_SECONDS)
    key = ("page", scope["path"], scope["query_string"], request.headers.get("host"), preferences(request), step)
    return await cached_page(request, services, key, render_page)


async def _today(request: Request, services: WebServices, show: Show) -> HTMLResponse:
    day = services.now().astimezone(UTC).date()
    nearby = await services.matchday.days(day, CANDIDATE_WINDOW)
    nearest = nearest_day(day, nearby.before, nearby.after)
    if nearby.counts.get(day) or nearest == day:
        return await _page(request, services, day, nearby, show)
    return await _page(request, services, nearest, await services.matchday.days(nearest, CANDIDATE_WINDOW), show)


async def _one_day(request: Request, services: WebServices, day: date, show: Show) -> HTMLResponse:
    return await _page(request, services, day, await services.matchday.days(day, CANDIDATE_WINDOW), show)


@router.get("/fragments/match/{fixture_id}")
async def card(request: Request, services: ServicesDep, fixture_id: str) -> HTMLResponse:
    if not re.fullmatch(r"[0-9]{1,18}", fixture_id):
        raise NotFound("match not found")
    found = await services.matchday.match(int(fixture_id))
    hidden = preferences(request).hides(found.id)
    match = match_card_view(found, hidden=hidden, now=_now(services), rules=services.rules)
    return HTMLResponse(card_html(match), headers=PRIVATE)


@router.get("/fragments/updates/{day}")
async def updates(request: Request, services: ServicesDep, day: str) -> Response:
    """Last update of each live match, for `staleness.js`. One query per second for all clients."""
    chosen_day, now = parse_day(day), services.now()

    async def build() -> Body:
        times = await services.matchday.update_times(chosen_day, MAX_MATCHES)
        updates = {match: int(at.timestamp()) for match, at in times.items()}
        return Body(json.dumps({"now": now.timestamp(), "updates": updates}).encode())

    key = ("updates", chosen_day, int(now.timestamp()))
    cached = await services.cache.get(key, build)
    return Response(cached.body, media_type="application/json", headers={"Cache-Control": "no-store"})


@lru_cache(maxsize=2048)
def card_html(match: MatchCardView) -> Markup:
    """HTML of a card, cached by its view: equal views render equal cards."""
    return Markup(environment().get_template("parts/match.html").render(match=match))


def parse_day(text: str) -> date:
    """Parse a day. Raises NotFound."""
    try:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) and (day := date.fromisoformat(text)).year in YEARS:
            return day
    except ValueError:
        pass
    raise NotFound(f"invalid date {text[:40]!r}: expected YYYY-MM-DD")


def _now(services: WebServices) -> datetime:
    return services.now().astimezone(UTC)


async def _page(request: Request, services: WebServices, day: date, nearby: NearbyDays, show: Show) -> HTMLResponse:
    now, prefs = _now(services), preferences(request)
    found = await services.matchday.matches(day, MAX_MATCHES) if nearby.counts.get(day) else []
    matches = [match_card_view(each, hidden=prefs.hides(each.id), now=now, rules=services.rules) for each in found]
    values = {
        "day": day,
        "today": now.date(),
        "day_name": relative_day(day, now.date()),
        "around": nearby,
        "tabs": day_tabs(day, nearby.counts),
        "show": show,
        "counts": {each: len(filter_matches(matches, each)) for each in ("all", "live", "clips")},
        "is_other_day": request.url.path == "/" and day != now.date(),
        "omitted": nearby.counts.get(day, 0) - len(matches),
        "groups": group_by_competition(filter_matches(matches, show)),
        "has_hidden": any(match.hidden for match in matches),
        "now": int(now.timestamp()),
        "card": card_html,
        "stale_seconds": services.rules.stale_seconds,
        "overview": None if nearby.has_matches else await services.overview(),
    }
    return render(request, "matchday.html", values, headers=PRIVATE)
