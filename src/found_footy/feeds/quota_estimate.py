"""Estimates the requests that a full matchday of the follow list takes at each feed, compared with its limit.

Based on round figures: the matches per matchday in the table of competitions, each polled for two and a half hours,
and kick-offs spread over an afternoon and an evening.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from found_footy.feeds.scheduling import correction_polls
from found_footy.fixtures.competitions import Competition, CompetitionKind, Entrants, competitions_for
from found_footy.fixtures.following import Following
from found_footy.fixtures.models import Sport

FREE_LIMIT, FREE_IDS = 100, 1
"""API-Football's free plan: requests per day, and matches per request."""
PAID_LIMIT, PAID_IDS = 7_500, 20
"""API-Football's smallest paid plan."""
ALL_MATCHES = 400
"""Matches that API-Football lists on a Saturday, across all leagues."""
MATCH_HOURS = 2.5
"""From half an hour before kick-off to full time."""
KICKOFF_HOURS = 9.0
"""From the first to the last kick-off of a full day."""
ROUND_ON_ONE_DAY = 0.6
"""Share of a league's round that is played on Saturday."""
CUPS_ON_ONE_DAY = 3
"""Cups, tournaments and qualifiers played on the same day."""
INGEST_DAYS = 4


@dataclass(frozen=True, slots=True)
class PollingPlan:
    """Poll intervals by state of the match."""

    live: timedelta = timedelta(seconds=30)
    waiting: timedelta = timedelta(minutes=15)
    finished: timedelta = timedelta(minutes=5)
    archive: timedelta = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class FeedCost:
    feed: str
    adapter: str
    day_limit: int | None = None
    """As stated in the feed's last answer; None if not stated or never polled."""


@dataclass(frozen=True, slots=True)
class MatchdayLoad:
    matches: int
    leagues: int
    """Competitions with at least one of these matches."""


@dataclass(frozen=True, slots=True)
class QuotaEstimate:
    feed: str
    adapter: str
    requests: int
    """Requests on a full matchday."""
    limit: int | None
    """None if the feed does not state one."""
    note: str

    @property
    def exceeds(self) -> bool:
        return self.limit is not None and self.requests > self.limit


def full_matchday(following: Following) -> MatchdayLoad:
    """Return the busiest of a league Saturday, a cup evening and an international date, which do not coincide."""
    followed = [each for each in following.followed_competitions if each.sport is Sport.FOOTBALL]
    groups = (
        [each for each in followed if each.kind is CompetitionKind.LEAGUE],
        _largest_competitions(
            each for each in followed if each.entrants is Entrants.CLUBS and each.kind is not CompetitionKind.LEAGUE
        ),
        _largest_competitions(each for each in followed if each.entrants is Entrants.NATIONS),
    )
    matches, leagues = max((_count_matches(group), len(group)) for group in groups)
    covered = {each.slug for each in followed}
    other_teams = [team for team in following.teams if not covered & {each.slug for each in competitions_for(team)}]
    countries = {team.country or team.code or team.name for team in other_teams}
    # Half of the teams play on one day, often in a league with another followed team.
    return MatchdayLoad(matches + math.ceil(len(other_teams) / 2), leagues + math.ceil(len(countries) / 2))


def estimate_requests(
    following: Following, feeds: Sequence[FeedCost], plan: PollingPlan | None = None
) -> tuple[QuotaEstimate, ...]:
    """Return one estimate per feed whose cost depends on the follow list."""
    rules = plan or PollingPlan()
    day = full_matchday(following)
    estimates = []
    for cost in feeds:
        match cost.adapter:
            case "api_football":
                estimates.append(_api_football(following, day, cost, rules))
            case "espn":
                estimates.append(_espn(following, day, cost, rules))
    return tuple(estimates)


def _api_football(following: Following, day: MatchdayLoad, cost: FeedCost, plan: PollingPlan) -> QuotaEstimate:
    matches = ALL_MATCHES if following.everything else day.matches
    limit = cost.day_limit if cost.day_limit is not None else FREE_LIMIT
    is_free = limit <= FREE_LIMIT
    requests = _requests_by_id(matches, FREE_IDS if is_free else PAID_IDS, plan)
    if cost.day_limit is None:
        note = f"limit unknown so far: {FREE_LIMIT} a day on the free plan, {PAID_LIMIT:,} or more on paid plans"
    elif is_free:
        note = "free plan: one match per request, and polls are spread over the matches under way"
    else:
        note = f"{PAID_IDS} matches per request"
    return QuotaEstimate(cost.feed, cost.adapter, requests, limit, note)


def _requests_by_id(matches: int, ids: int, plan: PollingPlan) -> int:
    if not matches:
        return INGEST_DAYS
    hours, at_once = _playing_hours(matches)
    live = timedelta(hours=hours) / plan.live * math.ceil(at_once / ids)
    waiting = timedelta(days=1) / plan.waiting * math.ceil(matches / ids)
    finished = correction_polls(plan.finished, min(plan.archive, timedelta(days=1))) * math.ceil(matches / ids)
    return math.ceil(live + waiting + finished) + INGEST_DAYS


def _espn(following: Following, day: MatchdayLoad, cost: FeedCost, plan: PollingPlan) -> QuotaEstimate:
    requested_leagues = len(following.espn_leagues())
    hours, at_once = _playing_hours(day.matches) if day.matches else (0.0, 0)
    live = timedelta(hours=hours) / plan.live * min(day.leagues, at_once)
    waiting = timedelta(days=1) / plan.waiting * day.leagues
    requests = math.ceil(live + waiting) + requested_leagues * INGEST_DAYS
    return QuotaEstimate(
        cost.feed, cost.adapter, requests, cost.day_limit, "no limit stated; one scoreboard per league and poll"
    )


def _playing_hours(matches: int) -> tuple[float, int]:
    """Return the hours with at least one match in play, and the number of concurrent matches."""
    spread = min(KICKOFF_HOURS, 1.5 * (matches - 1))
    hours = MATCH_HOURS + spread
    return hours, math.ceil(matches * MATCH_HOURS / hours)


def _largest_competitions(group: Iterable[Competition]) -> list[Competition]:
    return sorted(group, key=lambda each: -each.matches)[:CUPS_ON_ONE_DAY]


def _count_matches(group: Iterable[Competition]) -> int:
    return sum(
        math.ceil(each.matches * (ROUND_ON_ONE_DAY if each.kind is CompetitionKind.LEAGUE else 1.0)) for each in group
    )
