"""The form for a new subscription: what people type, as the values that a subscription is made of."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from found_footy.domain.announcing.subscription import DEFAULT_TOPICS, TOPICS_TO_ASK_FOR
from found_footy.domain.discovery.posts import clean_text
from found_footy.domain.errors import BadRequest
from found_footy.ports_announcing import Names

TOPIC_WORDS: Mapping[str, str] = {
    "goal.stable": "A goal or a wicket is certain",
    "clip.published": "A clip is there",
    "goal.withdrawn": "A goal is withdrawn",
    "goal.seen": "A goal is seen for the first time",
    "goal.changed": "A goal is corrected",
    "goal.complete": "All clips of a goal are there",
    "clip.replaced": "A better copy is there",
    "clips.ranked": "Clips have a new order",
    "fixture.score": "The score changes",
    "fixture.status": "Kick-off, half-time, full time",
    "fixture.active": "A match is about to begin",
    "fixture.completed": "A match is closed",
    "fixture.staging": "A match is new, or postponed",
    "feeds.health": "The health of the score feeds changes",
    "feeds.recovery": "Something was started anew for the score feeds",
    "service.changed": "A feed, source or service stops working, or works again",
}
DELAYS: Mapping[int, str] = {
    0: "at once",
    10: "10 seconds later",
    30: "30 seconds later",
    60: "1 minute later",
    120: "2 minutes later",
    300: "5 minutes later",
    900: "15 minutes later",
    3600: "1 hour later",
    7200: "2 hours later",
    14400: "4 hours later",
}
MOST_TYPED = 5000


def topic_words(topic: str) -> str:
    return TOPIC_WORDS.get(topic, topic)


def delay_words(seconds: float) -> str:
    return DELAYS.get(int(seconds), f"{seconds:g} seconds later")


def asked_filters(form: Mapping[str, str], names: Names) -> dict[str, Any]:
    """Raises BadRequest. What is ticked comes as `topic-…`."""
    delay = form.get("delay", "0")
    if not delay.isascii() or not delay.isdecimal() or len(delay) > 6:
        raise BadRequest("the delay is a number of seconds")
    return {
        "topics": [topic for topic in TOPICS_TO_ASK_FOR if f"topic-{topic}" in form],
        "teams": ids_of("team", form.get("teams", ""), names.teams),
        "leagues": ids_of("competition", form.get("leagues", ""), names.leagues),
        "verified_only": "verified_only" in form,
        "delay_seconds": int(delay),
        "no_score": "no_score" in form,
    }


def ids_of(what: str, typed: str, names: Mapping[int, str]) -> list[int]:
    """By names or numbers with commas between them. A name is known in full, or without the country in brackets."""
    by_name: dict[str, set[int]] = {}
    for id_, name in names.items():
        for known in (name, name.partition(" (")[0]):
            by_name.setdefault(clean_text(known).casefold(), set()).add(id_)
    found = []
    for each in (part.strip() for part in typed[:MOST_TYPED].split(",")):
        if each.isascii() and each.isdecimal():
            found.append(int(each[:19]))
        elif each:
            found.append(_one(what, each, by_name, names))
    return found


def _one(what: str, typed: str, by_name: Mapping[str, set[int]], names: Mapping[int, str]) -> int:
    plain = clean_text(typed, 100)
    ids = by_name.get(plain.casefold(), set())
    if len(ids) > 1:
        which = "; ".join(sorted(f"{clean_text(names[id_], 80)}: {id_}" for id_ in ids)[:5])
        raise BadRequest(f"there is more than one {what} {plain!r}; give its number ({which})")
    if not ids:
        close = difflib.get_close_matches(plain.casefold(), list(by_name), n=1)
        hint = f"did you mean {clean_text(names[min(by_name[close[0]])], 80)}?" if close else "give its number"
        raise BadRequest(f"there is no {what} {plain!r} in the matches that are known; {hint}")
    return min(ids)


def blank() -> dict[str, str]:
    """As the form is first shown."""
    return {"kind": "webhook", "delay": "0", **{f"topic-{topic}": "on" for topic in DEFAULT_TOPICS}}
