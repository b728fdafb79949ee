"""Messages to operators: about the feeds' health and the services that we depend on, not about a match."""

from __future__ import annotations

from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.announcing.words import Words

HEALTH, RECOVERY, SERVICE = "feeds.health", "feeds.recovery", "service.changed"

_STATES = {
    "begun": "A recovery of the feeds has begun",
    "ended": "A recovery of the feeds has ended",
    "healthy": "The feeds are healthy again",
}


def is_for_operators(topic: str) -> bool:
    return topic in (HEALTH, RECOVERY, SERVICE)


def payload_name(topic: str) -> str:
    """The field of the message that carries the payload."""
    return "service" if topic == SERVICE else "feeds"


def operator_words(news: NewsItem) -> Words:
    payload = news.payload
    if news.topic == SERVICE:
        return _service_words(news)
    if news.topic == HEALTH:
        reasons = payload.get("reasons")
        said = "; ".join(str(each) for each in reasons) if isinstance(reasons, list) else ""
        return Words(f"The feeds are {payload.get('to')}", said or f"They were {payload.get('from')}.")
    outcome = f" Outcome: {payload['outcome']}." if payload.get("outcome") else ""
    return Words(_STATES.get(str(payload.get("state")), "Recovery"), f"{payload.get('trigger', '')}.{outcome}")


def _service_words(news: NewsItem) -> Words:
    name, answer = news.payload.get("name"), str(news.payload.get("answer", ""))
    if news.payload.get("ok"):
        return Words(f"{name} works again", answer)
    hint = str(news.payload.get("hint", ""))
    return Words(f"{name} does not work", f"{answer}\n{hint}" if hint else answer)
