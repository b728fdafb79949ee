"""ESPN's scoreboard of one league, match by match: what is wrong with one costs only that one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date
from typing import Any

from found_footy.adapters.feeds import espn_cricket, espn_soccer
from found_footy.domain.errors import FeedMalformed, FeedSchemaError, FootyError, SettingsError
from found_footy.domain.feeds.document import Reader
from found_footy.domain.fixtures.model import LiveFixture
from found_footy.ports import FeedAnswer

FEED = "espn"


@dataclass(frozen=True, slots=True)
class LeagueName:
    """`soccer/eng.1`, `cricket/8048`; a bare name is a soccer league."""

    sport: str
    slug: str

    @classmethod
    def of(cls, text: str) -> LeagueName:
        found = re.fullmatch(r"(?:(soccer|cricket)/)?([A-Za-z0-9][A-Za-z0-9._-]{0,60})", text)
        if found is None:
            raise SettingsError(
                f"leagues: given {text[:80]!r}; allowed are names such as soccer/eng.1 and cricket/8048"
            )
        return cls(found[1] or "soccer", found[2])

    @property
    def is_cricket(self) -> bool:
        return self.sport == "cricket"

    def path(self, page: str) -> str:
        return f"/apis/site/v2/sports/{self.sport}/{self.slug}/{page}"

    def __str__(self) -> str:
        return f"{self.sport}/{self.slug}" if self.is_cricket else self.slug


def parse_scoreboard(body: Any, *, cricket: bool = False, feed: str = FEED) -> FeedAnswer:
    if not isinstance(body, dict) or not isinstance(body.get("events"), list):
        raise FeedMalformed("the scoreboard has no list of events")
    fixtures: dict[int, LiveFixture] = {}
    failures: dict[int, FootyError] = {}
    for entry in body["events"]:
        event = Reader(entry)
        try:
            league = _league_of(body, event)
            fixture = (espn_cricket if cricket else espn_soccer).parse_event(event, league, feed)
        except FootyError as error:
            # Without an id nobody can be told; the fixture then shows as left out of the answer.
            if (id_ := _id_of(event)) is not None:
                failures[id_] = error
            continue
        if fixture.id in fixtures:
            failures[fixture.id] = FeedSchemaError("id", fixture.id, "each fixture once in an answer")
        fixtures[fixture.id] = fixture
    return FeedAnswer(tuple(each for id_, each in fixtures.items() if id_ not in failures), failures)


def _league_of(body: Mapping[str, Any], event: Reader) -> Reader:
    """The scoreboard's league. `soccer/all` has none: there the id is in the event's uid, the name in a note."""
    if body.get("leagues") != []:
        return Reader(body.get("leagues"), "leagues")[0]
    found = re.search(r"~l:(\d{1,9})~", event["uid"].text())
    if found is None:
        raise FeedSchemaError("uid", event["uid"].text(), "the id of a league, as in s:600~l:700~e:1")
    note = event["competitions"][0].said("altGameNote")
    return Reader({"id": found[1], "name": (note or "").partition(",")[0].strip() or "Football"}, "uid")


def days_of(body: Any) -> dict[int, date]:
    """The UTC day of each event whose id and date can be read, also of those that fail otherwise."""
    found = {}
    for entry in body["events"]:
        event = Reader(entry)
        try:
            found[event["id"].number()] = event["date"].moment().astimezone(UTC).date()
        except FeedSchemaError:
            continue
    return found


def _id_of(event: Reader) -> int | None:
    try:
        return event["id"].number()
    except FeedSchemaError:
        return None
