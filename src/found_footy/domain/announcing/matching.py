"""Does this piece of news concern that subscription? Withdrawals are decided elsewhere: by who was told."""

from __future__ import annotations

from found_footy.domain.announcing.context import Context, Match
from found_footy.domain.announcing.feed_words import is_for_operators
from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.announcing.subscription import WITHDRAWN, Filters, Subscription

REVEALING = frozenset({"fixture.score", "goal.changed"})
"""Topics that are about nothing but the score or who scored."""
REVEALING_STATUSES = frozenset({"ET", "BT", "P"})
"""That a match goes on tells that it is level."""


def concerns(subscription: Subscription, news: NewsItem, context: Context) -> bool:
    filters = subscription.filters
    if is_for_operators(news.topic):
        # Whoever wants one team's goals has not asked for them.
        wants_all = not filters.teams and not filters.leagues
        return _is_open(subscription, news) and wants_all
    return _is_open(subscription, news) and _concerns_match(filters, news, context)


def _is_open(subscription: Subscription, news: NewsItem) -> bool:
    return (
        not subscription.paused
        and news.position > subscription.from_position
        and news.topic in subscription.filters.topics
    )


def _concerns_match(filters: Filters, news: NewsItem, context: Context) -> bool:
    return (
        news.topic != WITHDRAWN
        and not context.withdrawn
        and context.match is not None
        and _is_about(filters, context.match)
        and not (filters.no_score and _reveals(news))
        and not (filters.verified_only and not _has_verified(news, context))
    )


def _is_about(filters: Filters, match: Match) -> bool:
    its_teams = {match.home_id, match.away_id}
    return (not filters.teams or not filters.teams.isdisjoint(its_teams)) and (
        not filters.leagues or match.league_id in filters.leagues
    )


def _reveals(news: NewsItem) -> bool:
    if news.topic == "fixture.status":
        return news.payload.get("to") in REVEALING_STATUSES
    return news.topic in REVEALING


def _has_verified(news: NewsItem, context: Context) -> bool:
    """Whether it is about a verified clip; true of whatever is not about clips."""
    match news.topic:
        case "clip.published":
            return news.payload.get("verified") is True
        case "clip.replaced":
            # A clip and its copy are both verified or both not: others are never compared.
            return any(context.verified.get(str(news.payload.get(name)), False) for name in ("by", "md5"))
        case "clips.ranked":
            return any(context.verified.get(str(clip.get("md5")), False) for clip in news.payload.get("clips", ()))
    return True
