"""A piece of news in words, and as the JSON that a webhook gets.

Names come from feeds: they are cut, and lose what turns the direction of writing. Where scores are hidden, nothing is
said from which the score, the scorer or the side could be told: not even a goal's id, which holds the team's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from found_footy.domain.announcing.context import Context, Match, video_id
from found_footy.domain.announcing.feed_words import is_for_operators, operator_words, payload_name
from found_footy.domain.announcing.news import NewsItem
from found_footy.domain.announcing.subscription import Filters
from found_footy.domain.announcing.words import Words, hidden_words, plain_words
from found_footy.domain.discovery.posts import clean_text

LONGEST_TITLE = 150
LONGEST_TEXT = 600
LONGEST_FIELD = 100


@dataclass(frozen=True, slots=True)
class Clip:
    id: str
    verified: bool

    @property
    def path(self) -> str:
        return f"/v/{self.id}"


def message_of(
    news: NewsItem, context: Context, filters: Filters, key: str, public_url: str | None = None
) -> dict[str, Any]:
    """The whole body; the same, whenever it is made. Of the filters, those matter that say how something is told."""
    if is_for_operators(news.topic):
        head = {"id": key, "position": news.position, "topic": news.topic, "at": _time(news.at)}
        return {**head, **_shown(operator_words(news), None), payload_name(news.topic): dict(news.payload)}
    assert context.match is not None
    clip = _clip(news, context)
    path = _path(news, clip, hidden=filters.no_score)
    words = (hidden_words if filters.no_score else plain_words)(news, context)
    body: dict[str, Any] = {
        "id": key,
        "position": news.position,
        "topic": news.topic,
        "at": _time(news.at),
        **_shown(words, _link(public_url, path)),
        "fixture": _fixture(context.match),
    }
    if news.event_id is not None:
        body["goal"] = {"key": goal_key(news.event_id)} if filters.no_score else _goal(news, context)
    if clip is not None:
        body["clip"] = {"id": clip.id, "path": clip.path, "verified": clip.verified}
    if not filters.no_score:
        body |= _details(news, filters, context)
    if path is not None:
        body |= {"path": path, "link": _link(public_url, path)}
    return body


def trial_message(key: str, name: str, at: datetime) -> dict[str, Any]:
    said = Words("Found Footy reaches you", f"This is a test of the subscription “{name}”.")
    return {"id": key, "position": None, "topic": "test", "at": _time(at), **_shown(said, None)}


def goal_key(event_id: str) -> str:
    """Tells that two messages are about the same goal, and nothing else of it."""
    return hashlib.sha256(f"goal/{event_id}".encode()).hexdigest()[:16]


def _shown(words: Words, link: str | None) -> dict[str, str]:
    text = clean_text(words.text, LONGEST_TEXT)
    # A name must not call everybody of a channel together.
    title, text = (each.replace("@", "＠") for each in (clean_text(words.title, LONGEST_TITLE), text))
    return {"title": title, "text": f"{text}\n{link}" if link else text}


def _fixture(match: Match) -> dict[str, Any]:
    return {
        "id": match.id,
        "kickoff": _time(match.kickoff),
        "competition": {"id": match.league_id, "name": _field(match.league), "country": _field(match.country)},
        "home": {"id": match.home_id, "name": _field(match.home)},
        "away": {"id": match.away_id, "name": _field(match.away)},
    }


def _goal(news: NewsItem, context: Context) -> dict[str, Any]:
    """What the news say themselves, and what is known besides."""
    goal, payload = context.goal, news.payload
    known = {"team": goal.team, "player": goal.player, "minute": goal.minute} if goal else {}
    told = {name: payload[name] for name in ("team", "player", "minute", "kind", "score", "reason") if name in payload}
    facts = {name: _field(value) for name, value in (known | told).items() if value is not None}
    return {"id": news.event_id, "key": goal_key(news.event_id or ""), "path": f"/g/{news.event_id}", **facts}


def _details(news: NewsItem, filters: Filters, context: Context) -> dict[str, Any]:
    payload = news.payload
    match news.topic:
        case "fixture.status" | "fixture.score":
            return {"from": _field(payload.get("from")), "to": _field(payload.get("to"))}
        case "goal.changed":
            return {"changed": _plain(payload.get("changed", {}))}
        case "clip.published":
            return {"rank": payload.get("rank")}
        case "clip.replaced" if news.event_id is not None:
            return {"replaced": video_id(news.event_id, str(payload.get("md5")))}
        case "clips.ranked" if news.event_id is not None:
            clips = [each for each in payload.get("clips", ()) if _is_wanted(each, filters, context)]
            return {
                "clips": [
                    {"id": video_id(news.event_id, str(each.get("md5"))), "rank": each.get("rank")} for each in clips
                ]
            }
    return {}


def _is_wanted(clip: Mapping[str, Any], filters: Filters, context: Context) -> bool:
    return not filters.verified_only or context.verified.get(str(clip.get("md5")), False)


def _clip(news: NewsItem, context: Context) -> Clip | None:
    """The clip that the news lead to: after a replacement, the one that stays."""
    name = {"clip.published": "md5", "clip.replaced": "by"}.get(news.topic)
    if name is None or news.event_id is None:
        return None
    md5 = str(news.payload.get(name))
    verified = news.payload.get("verified", context.verified.get(md5, False))
    return Clip(video_id(news.event_id, md5), verified is True)


def _path(news: NewsItem, clip: Clip | None, *, hidden: bool) -> str | None:
    if hidden or news.topic == "clip.published":
        return clip.path if clip else None
    return f"/g/{news.event_id}" if news.event_id is not None else None


def _link(public_url: str | None, path: str | None) -> str | None:
    return f"{public_url.rstrip('/')}{path}" if public_url and path else None


def _field(value: object) -> str | None:
    return None if value is None else clean_text(str(value), LONGEST_FIELD)


def _plain(changed: Mapping[str, Any]) -> dict[str, Any]:
    return {
        str(name)[:40]: {side: _field(pair.get(side)) for side in ("from", "to")}
        for name, pair in list(changed.items())[:20]
        if isinstance(pair, Mapping)
    }


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
