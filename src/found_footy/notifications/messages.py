"""Titles, texts and JSON bodies of notifications, with or without spoilers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from found_footy.notifications.models import (
    NotificationContext,
    NotificationFixture,
    OutboxMessage,
    SubscriptionFilter,
    video_id,
)
from found_footy.text import clean_text

MAX_NAME_LENGTH = 60

STATUSES = {
    "1H": "Kick-off",
    "HT": "Half-time",
    "2H": "Second half",
    "ET": "Extra time",
    "BT": "Break in extra time",
    "P": "Shoot-out",
    "FT": "Full time",
    "AET": "Full time after extra time",
    "PEN": "Full time after a shoot-out",
    "SUSP": "Suspended",
    "INT": "Interrupted",
    "PST": "Postponed",
    "CANC": "Cancelled",
    "ABD": "Abandoned",
    "AWD": "Awarded",
    "WO": "Awarded",
}
FINAL_STATUSES = frozenset({"FT", "AET", "PEN", "AWD", "WO"})
"""Reported as full time in spoiler-free messages."""


@dataclass(frozen=True, slots=True)
class MessageText:
    title: str
    text: str


def full_text(message: OutboxMessage, context: NotificationContext) -> MessageText:
    match, payload = _match(context), message.payload
    sides, league = _teams(match), _short(match.league)
    goal_text = _goal_text(message, context)
    match message.topic:
        case "goal.seen":
            return MessageText(f"Goal? {_score(match, payload)}", f"{goal_text}, not confirmed yet · {league}")
        case "goal.stable":
            return MessageText(f"Goal: {_score(match, payload)}", f"{goal_text} · {league}")
        case "goal.changed":
            return MessageText(f"Corrected: {sides}", f"{goal_text}: {_changes(payload)}")
        case "goal.withdrawn":
            reason = _short(payload.get("reason"), 120)
            return MessageText(
                f"Withdrawn: goal in {sides}", f"{goal_text} was withdrawn{': ' + reason if reason else ''}"
            )
        case "goal.complete":
            return MessageText(f"Search finished: {sides}", f"{goal_text} · {league}")
        case "clip.published":
            verification = "clock verified" if payload.get("verified") is True else "not verified"
            return MessageText(f"Clip: {sides}", f"{goal_text} · {verification} · {league}")
        case "clip.replaced":
            return MessageText(f"A better copy: {sides}", f"{goal_text} · {league}")
        case "clip.taken_down":
            return MessageText(
                f"Clip taken down: {sides}", f"{goal_text} · {league}: {_short(payload.get('reason'), 120)}"
            )
        case "clips.ranked":
            return MessageText(f"Clip ranking changed: {sides}", f"{goal_text} · {league}")
        case "fixture.score":
            return MessageText(_scored(match, payload.get("to")), league)
        case "fixture.status":
            status = str(payload.get("to"))
            return MessageText(f"{STATUSES.get(status, _short(status))}: {sides}", league)
    return _fixture_text(message, sides, league)


def spoiler_free_text(message: OutboxMessage, context: NotificationContext) -> MessageText:
    match, payload = _match(context), message.payload
    sides, league = _teams(match), _short(match.league)
    match message.topic:
        case "goal.seen":
            return MessageText(f"Possible goal in {sides}", f"Not confirmed yet · {league}")
        case "goal.stable":
            return MessageText(f"A goal in {sides}", league)
        case "goal.withdrawn":
            return MessageText(f"A goal in {sides} was withdrawn", league)
        case "goal.complete":
            return MessageText(f"Search for a goal in {sides} finished", league)
        case "clip.published":
            verification = "Clock verified" if payload.get("verified") is True else "Not verified"
            return MessageText(f"A clip of a goal in {sides}", f"{verification} · {league}")
        case "clip.replaced":
            return MessageText(f"A better copy of a clip in {sides}", league)
        case "clip.taken_down":
            return MessageText(f"A clip in {sides} was taken down", f"{league}: {_short(payload.get('reason'), 120)}")
        case "clips.ranked":
            return MessageText(f"Clip ranking of a goal in {sides} changed", league)
        case "fixture.status":
            status = str(payload.get("to"))
            word = "Full time" if status in FINAL_STATUSES else STATUSES.get(status, _short(status))
            return MessageText(f"{word}: {sides}", league)
    return _fixture_text(message, sides, league)


def _fixture_text(message: OutboxMessage, sides: str, league: str) -> MessageText:
    titles = {
        "fixture.staging": f"Waiting: {sides}",
        "fixture.active": f"Soon: {sides}",
        "fixture.completed": f"Closed: {sides}",
    }
    return MessageText(titles.get(message.topic, sides), league)


def _match(context: NotificationContext) -> NotificationFixture:
    assert context.match is not None
    return context.match


def _teams(match: NotificationFixture) -> str:
    return f"{_short(match.home)} – {_short(match.away)}"


def _score(match: NotificationFixture, payload: Mapping[str, Any]) -> str:
    return _scored(match, payload.get("score"))


def _scored(match: NotificationFixture, score: object) -> str:
    home, dash, away = str(score or "").partition("-")
    if not (dash and home.isdecimal() and away.isdecimal()):
        return _teams(match)
    return f"{_short(match.home)} {home[:3]}–{away[:3]} {_short(match.away)}"


def _goal_text(message: OutboxMessage, context: NotificationContext) -> str:
    """`23' Mohamed Salah (Liverpool)`, as far as known."""
    goal = context.goal
    payload = message.payload
    player = _short(payload.get("player") or (goal.player if goal else None)) or "unknown scorer"
    team = _short(payload.get("team") or (goal.team if goal else None))
    minute = _short(payload.get("minute") or (goal.minute if goal else None), 12)
    kind = {"Penalty": ", penalty", "Own Goal": ", own goal"}.get(str(payload.get("kind")), "")
    return f"{minute + ' ' if minute else ''}{player}{f' ({team}{kind})' if team else kind}"


def _changes(payload: Mapping[str, Any]) -> str:
    changed = payload.get("changed", {})
    parts = [
        f"{name} {_short(pair.get('from')) or 'none'} → {_short(pair.get('to')) or 'none'}"
        for name, pair in changed.items()
        if isinstance(pair, Mapping) and not name.endswith("_id")
    ]
    return ", ".join(parts[:5]) or "details"


def _short(value: object, max_length: int = MAX_NAME_LENGTH) -> str:
    plain = clean_text("" if value is None else str(value), max_length + 1)
    return plain if len(plain) <= max_length else plain[: max_length - 1].rstrip() + "…"


# --- Messages for operators: feed health, services and findings.


HEALTH, RECOVERY, SERVICE = "feeds.health", "feeds.recovery", "service.changed"
FINDINGS = ("finding.failed", "finding.degraded", "finding.ended")

_STATES = {
    "begun": "Feed recovery started",
    "ended": "Feed recovery finished",
    "healthy": "Feeds are healthy again",
}


def is_for_operators(topic: str) -> bool:
    return topic in (HEALTH, RECOVERY, SERVICE, *FINDINGS)


def payload_name(topic: str) -> str:
    """Name of the body field that contains the payload."""
    if topic in FINDINGS:
        return "finding"
    return "service" if topic == SERVICE else "feeds"


def operator_text(message: OutboxMessage) -> MessageText:
    payload = message.payload
    if message.topic == SERVICE:
        return _service_text(message)
    if message.topic in FINDINGS:
        return _finding_text(message)
    if message.topic == HEALTH:
        reasons = payload.get("reasons")
        text = "; ".join(str(each) for each in reasons) if isinstance(reasons, list) else ""
        return MessageText(f"Feeds are {payload.get('to')}", text or f"Previously {payload.get('from')}.")
    outcome = f" Outcome: {payload['outcome']}." if payload.get("outcome") else ""
    return MessageText(_STATES.get(str(payload.get("state")), "Recovery"), f"{payload.get('trigger', '')}.{outcome}")


def _service_text(message: OutboxMessage) -> MessageText:
    name, answer = message.payload.get("name"), str(message.payload.get("answer", ""))
    if message.payload.get("ok"):
        return MessageText(f"{name} works again", answer)
    hint = str(message.payload.get("hint", ""))
    return MessageText(f"{name} is failing", f"{answer}\n{hint}" if hint else answer)


_FINDING_TITLES = {"finding.failed": "Failed", "finding.degraded": "Degraded", "finding.ended": "Over"}


def _finding_text(message: OutboxMessage) -> MessageText:
    title = f"{_FINDING_TITLES[message.topic]}: {message.payload.get('what', '')}"
    advice = "" if message.topic == "finding.ended" else str(message.payload.get("advice", ""))
    return MessageText(title, advice or f"Grade: {message.payload.get('grade', '')}")


# --- JSON body.


MAX_TITLE_LENGTH = 150
MAX_TEXT_LENGTH = 600
MAX_FIELD_LENGTH = 100


@dataclass(frozen=True, slots=True)
class LinkedClip:
    id: str
    verified: bool

    @property
    def path(self) -> str:
        return f"/v/{self.id}"


def build_message(
    message: OutboxMessage,
    context: NotificationContext,
    filters: SubscriptionFilter,
    key: str,
    public_url: str | None = None,
) -> dict[str, Any]:
    """Build the body, deterministically. Of the filters, only the options that change a message matter."""
    if is_for_operators(message.topic):
        head = {"id": key, "position": message.position, "topic": message.topic, "at": _time(message.at)}
        return {
            **head,
            **_text_fields(operator_text(message), None),
            payload_name(message.topic): dict(message.payload),
        }
    assert context.match is not None
    clip = _clip(message, context)
    path = _path(message, clip, hidden=filters.no_score)
    text_of = spoiler_free_text if filters.no_score else full_text
    body: dict[str, Any] = {
        "id": key,
        "position": message.position,
        "topic": message.topic,
        "at": _time(message.at),
        **_text_fields(text_of(message, context), _link(public_url, path)),
        "fixture": _fixture(context.match),
    }
    if message.event_id is not None:
        body["goal"] = {"key": goal_key(message.event_id)} if filters.no_score else _goal(message, context)
    if clip is not None:
        body["clip"] = {"id": clip.id, "path": clip.path, "verified": clip.verified}
    if not filters.no_score:
        body |= _details(message, filters, context)
    if path is not None:
        body |= {"path": path, "link": _link(public_url, path)}
    return body


def build_test_message(key: str, name: str, at: datetime) -> dict[str, Any]:
    text = MessageText("Found Footy test message", f"This is a test of the subscription “{name}”.")
    return {"id": key, "position": None, "topic": "test", "at": _time(at), **_text_fields(text, None)}


def goal_key(event_id: str) -> str:
    """Key shared by all messages about a goal; reveals nothing else."""
    return hashlib.sha256(f"goal/{event_id}".encode()).hexdigest()[:16]


def _text_fields(message: MessageText, link: str | None) -> dict[str, str]:
    # A player's name must not trigger @-mentions in a channel.
    title = clean_text(message.title, MAX_TITLE_LENGTH).replace("@", "＠")
    text = clean_text(message.text, MAX_TEXT_LENGTH).replace("@", "＠")
    return {"title": title, "text": f"{text}\n{link}" if link else text}


def _fixture(match: NotificationFixture) -> dict[str, Any]:
    return {
        "id": match.id,
        "kickoff": _time(match.kickoff),
        "competition": {"id": match.league_id, "name": _field(match.league), "country": _field(match.country)},
        "home": {"id": match.home_id, "name": _field(match.home)},
        "away": {"id": match.away_id, "name": _field(match.away)},
    }


def _goal(message: OutboxMessage, context: NotificationContext) -> dict[str, Any]:
    """Goal fields from the payload, completed from the context."""
    goal, payload = context.goal, message.payload
    from_context = {"team": goal.team, "player": goal.player, "minute": goal.minute} if goal else {}
    changed = {
        name: payload[name] for name in ("team", "player", "minute", "kind", "score", "reason") if name in payload
    }
    facts = {name: _field(value) for name, value in (from_context | changed).items() if value is not None}
    return {"id": message.event_id, "key": goal_key(message.event_id or ""), "path": f"/g/{message.event_id}", **facts}


def _details(message: OutboxMessage, filters: SubscriptionFilter, context: NotificationContext) -> dict[str, Any]:
    payload = message.payload
    match message.topic:
        case "fixture.status" | "fixture.score":
            return {"from": _field(payload.get("from")), "to": _field(payload.get("to"))}
        case "goal.changed":
            return {"changed": _plain(payload.get("changed", {}))}
        case "clip.published":
            return {"rank": payload.get("rank")}
        case "clip.replaced" if message.event_id is not None:
            return {"replaced": video_id(message.event_id, str(payload.get("md5")))}
        case "clip.taken_down" if message.event_id is not None:
            return {"taken_down": video_id(message.event_id, str(payload.get("md5")))}
        case "clips.ranked" if message.event_id is not None:
            clips = [each for each in payload.get("clips", ()) if _is_wanted(each, filters, context)]
            return {
                "clips": [
                    {"id": video_id(message.event_id, str(each.get("md5"))), "rank": each.get("rank")} for each in clips
                ]
            }
    return {}


def _is_wanted(clip: Mapping[str, Any], filters: SubscriptionFilter, context: NotificationContext) -> bool:
    return not filters.verified_only or context.verified.get(str(clip.get("md5")), False)


def _clip(message: OutboxMessage, context: NotificationContext) -> LinkedClip | None:
    """Clip to link: after a replacement, the winner."""
    name = {"clip.published": "md5", "clip.replaced": "by"}.get(message.topic)
    if name is None or message.event_id is None:
        return None
    md5 = str(message.payload.get(name))
    verified = message.payload.get("verified", context.verified.get(md5, False))
    return LinkedClip(video_id(message.event_id, md5), verified is True)


def _path(message: OutboxMessage, clip: LinkedClip | None, *, hidden: bool) -> str | None:
    if hidden or message.topic == "clip.published":
        return clip.path if clip else None
    return f"/g/{message.event_id}" if message.event_id is not None else None


def _link(public_url: str | None, path: str | None) -> str | None:
    return f"{public_url.rstrip('/')}{path}" if public_url and path else None


def _field(value: object) -> str | None:
    return None if value is None else clean_text(str(value), MAX_FIELD_LENGTH)


def _plain(changed: Mapping[str, Any]) -> dict[str, Any]:
    return {
        str(name)[:40]: {side: _field(pair.get(side)) for side in ("from", "to")}
        for name, pair in list(changed.items())[:20]
        if isinstance(pair, Mapping)
    }


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
