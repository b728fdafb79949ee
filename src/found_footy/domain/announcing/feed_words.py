"""What is told of the feeds themselves, for operators: it is about no match."""

from __future__ import annotations

from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.announcing.words import Words

HEALTH, RECOVERY = "feeds.health", "feeds.recovery"

_STATES = {
    "begun": "A recovery of the feeds has begun",
    "ended": "A recovery of the feeds has ended",
    "healthy": "The feeds are healthy again",
}


def is_about_feeds(topic: str) -> bool:
    return topic in (HEALTH, RECOVERY)


def feed_words(news: NewsItem) -> Words:
    told = news.payload
    if news.topic == HEALTH:
        reasons = told.get("reasons")
        said = "; ".join(str(each) for each in reasons) if isinstance(reasons, list) else ""
        return Words(f"The feeds are {told.get('to')}", said or f"They were {told.get('from')}.")
    outcome = f" Outcome: {told['outcome']}." if told.get("outcome") else ""
    return Words(_STATES.get(str(told.get("state")), "Recovery"), f"{told.get('trigger', '')}.{outcome}")
