"""Goals as an Atom feed (RFC 4287). Pure: the same goals are the same bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote
from xml.etree import ElementTree as ET

from found_footy.domain.announcing.feed_goal import FeedGoal
from found_footy.web.answers.rendering import plural, text

NAMESPACE = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"
AUTHOR = "Found Footy"
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST_NAME = 60

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Feed:
    path: str
    """Of the feed itself, with its query."""
    title: str
    goals: Sequence[FeedGoal]
    scores: bool = True

    @property
    def updated(self) -> datetime:
        return max((goal.updated for goal in self.goals), default=NEVER)


def atom(feed: Feed, base: str) -> bytes:
    """`base` is our own address, without a slash at its end."""
    root = ET.Element("feed", {"xmlns": NAMESPACE})
    _add(root, "id", f"tag:found-footy,2026:{feed.path}")
    _add(root, "title", feed.title)
    _add(root, "updated", _moment(feed.updated))
    _add(root, "link", rel="self", type=MEDIA_TYPE, href=base + feed.path)
    _add(root, "link", rel="alternate", type="text/html", href=f"{base}/")
    _add(root, "icon", f"{base}/static/icon.svg")
    _add(ET.SubElement(root, "author"), "name", AUTHOR)
    for goal in feed.goals:
        _entry(ET.SubElement(root, "entry"), goal, base, feed.scores)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content


def _entry(entry: ET.Element, goal: FeedGoal, base: str, scores: bool) -> None:
    name = quote(goal.id)
    # The same for good, whatever our address is and whoever the goal is given to.
    _add(entry, "id", f"tag:found-footy,2026:goal/{name}")
    _add(entry, "title", title(goal, scores))
    _add(entry, "published", _moment(goal.published))
    _add(entry, "updated", _moment(goal.updated))
    _add(entry, "link", rel="alternate", type="text/html", href=f"{base}/g/{name}")
    _add(entry, "category", term=_name(goal.league))
    _add(entry, "summary", summary(goal))
    if goal.withdrawn is None:
        video = f"{base}/v/{goal.best.id}"
        _add(entry, "link", rel="enclosure", type="video/mp4", href=video, length=str(goal.best.file_size))
        if scores:  # a picture shows the score as well
            _add(entry, "link", rel="enclosure", type="image/jpeg", href=f"{video}/poster.jpg")


def title(goal: FeedGoal, scores: bool) -> str:
    home, away = _name(goal.home), _name(goal.away)
    if not scores:
        what = f"a {noun(goal)} was withdrawn" if goal.withdrawn is not None else f"a {noun(goal)}"
        return f"{home} – {away}: {what}, {goal.minute}"
    what = "Withdrawn: " if goal.withdrawn is not None else ""
    scorer = _name(goal.player or goal.team)
    if goal.minute.innings is not None:
        return f"{what}{home} – {away}: {_name(goal.player or 'somebody')} is out, {goal.minute}"
    return f"{what}{home} {goal.after.home}–{goal.after.away} {away}: {scorer} {goal.minute}"


def summary(goal: FeedGoal) -> str:
    if goal.withdrawn is not None:
        return f"The {noun(goal)} was withdrawn: {text(goal.withdrawn)}. Its clips are gone with it."
    proved = f", {goal.verified} verified by the match clock" if goal.verified else ""
    return f"{plural(goal.clips, 'clip')}{proved}. {_name(goal.league)}."


def noun(goal: FeedGoal) -> str:
    return "goal" if goal.minute.innings is None else "wicket"


def _name(value: str) -> str:
    return text(value, LONGEST_NAME)


def _add(parent: ET.Element, name: str, content: str | None = None, /, **attributes: str) -> None:
    element = ET.SubElement(parent, name, {key: _NOT_IN_XML.sub("", value) for key, value in attributes.items()})
    if content is not None:
        element.text = _NOT_IN_XML.sub("", content)


def _moment(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
