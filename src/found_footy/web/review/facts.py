"""What is known of a source, in the order in which a reviewer asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from found_footy.domain.clips.values import Source, SourceKind
from found_footy.web.answers.rendering import text
from found_footy.web.review.models import ReviewFact

LONGEST = 200
MOST = 12

_PLAIN = (
    ("player", "Scorer"),
    ("minute", "Minute"),
    ("score", "Score"),
    ("assist", "Assist"),
    ("kind", "Kind"),
    ("team", "Team"),
    ("competition", "Competition"),
)
_VERIFIED = {True: "the clock in the picture fits", False: "the clock in the picture could not be read"}


def facts_of(source: Source) -> list[ReviewFact]:
    """Strangers' words among them are cut and cleaned."""
    facts = source.facts
    found = [(name, _plain(facts.get(key))) for key, name in _PLAIN]
    found.insert(3, ("Match", _match(facts)))
    found.append(("Kick-off", _moment(facts.get("kickoff"))))
    found.append(("Clock", _VERIFIED[verified] if isinstance(verified := facts.get("verified"), bool) else ""))
    if source.kind is SourceKind.URL:
        found.append(("From", text(source.url, LONGEST)))
    if source.submitted_by:
        found.append(("Submitted by", text(source.submitted_by, LONGEST)))
    return [ReviewFact(name=name, value=value) for name, value in found if value][:MOST]


def _plain(value: Any) -> str:
    return text(value, LONGEST).strip() if isinstance(value, str | int | float) else ""


def _match(facts: Mapping[str, Any]) -> str:
    home, away = _plain(facts.get("home")), _plain(facts.get("away"))
    return f"{home} – {away}" if home and away else home or away


def _moment(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return ""
    return f"{at.astimezone(UTC) if at.tzinfo else at:%d %b %Y, %H:%M} UTC"
