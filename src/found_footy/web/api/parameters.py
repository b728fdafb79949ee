"""Parameters shared by the API's routes. All are bounded, so that no accepted value can make a query fail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import AfterValidator

from found_footy.web.pagination import MAX_CURSOR_LENGTH, MAX_PAGE_SIZE

MAX_BIGINT = 2**63 - 1
PRINTABLE = r"^[^\x00-\x1f\x7f]*$"
MINUTE = r"^[0-9]{1,3}([+ ][0-9]{1,2})?$"
"""A plus sign in a URL means a space; both are accepted."""
YEARS = range(1900, 2200)


def _check_year(day: date) -> date:
    if day.year not in YEARS:
        raise ValueError(f"the year must be from {YEARS[0]} to {YEARS[-1]}")
    return day


def _in_utc(at: datetime) -> datetime:
    """Interpret a time without a zone as UTC."""
    _check_year(at)
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


_DayValue = Annotated[date, AfterValidator(_check_year)]
_MomentValue = Annotated[datetime, AfterValidator(_in_utc)]

FixtureId = Annotated[int, Path(ge=0, le=MAX_BIGINT, description="Match id.")]
EventId = Annotated[
    str,
    Path(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00-\x1f\x7f/]+$",
        description="Event id, such as 7001_40_306_Goal_1.",
    ),
]
VideoId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="Video id.")]

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="Maximum number of items.")]
Cursor = Annotated[
    str | None,
    Query(max_length=MAX_CURSOR_LENGTH, description="`next` of the previous page, with the same filters."),
]
Fixture = Annotated[int | None, Query(ge=0, le=MAX_BIGINT, description="Only this match.")]
Event = Annotated[str | None, Query(max_length=200, pattern=PRINTABLE, description="Only this goal.")]
Team = Annotated[
    str | None,
    Query(max_length=100, pattern=PRINTABLE, description="Team id, or a prefix of its name."),
]
Player = Annotated[
    str | None,
    Query(max_length=100, pattern=PRINTABLE, description="Player id, or a prefix of the name."),
]
Competition = Annotated[
    str | None,
    Query(
        max_length=100,
        pattern=PRINTABLE,
        description="Competition id, or a prefix of its name or country.",
    ),
]
SportName = Literal["football", "cricket"]
OfSport = Annotated[SportName | None, Query(description="Only of this sport.")]
Day = Annotated[_DayValue | None, Query(alias="date", description="The day of the kick-off, in UTC.")]
From = Annotated[_DayValue | None, Query(alias="from", description="The first day, in UTC.")]
To = Annotated[_DayValue | None, Query(alias="to", description="The last day, in UTC.")]
Since = Annotated[_MomentValue | None, Query(description="Start; UTC without a zone.")]
Until = Annotated[_MomentValue | None, Query(description="End, exclusive; UTC without a zone.")]
Minute = Annotated[
    str | None,
    Query(
        pattern=MINUTE,
        description="Minute of the goal: 23, or 45+2 in stoppage time; for a wicket, the over.",
    ),
]
Verified = Annotated[bool | None, Query(description="Whether the match clock is verified.")]
Words = Annotated[
    str | None,
    Query(max_length=200, pattern=PRINTABLE, description="Word prefixes; accents and case are ignored."),
]


@dataclass(frozen=True, slots=True)
class NameOrId:
    """Team, player or competition by id or by name."""

    id: int | None = None
    words: str | None = None


def parse_name_or_id(text: str | None) -> NameOrId:
    if not text or not text.strip():
        return NameOrId()
    plain = text.strip()
    return (
        NameOrId(id=int(plain)) if plain.isascii() and plain.isdecimal() and len(plain) <= 18 else NameOrId(words=plain)
    )


def day_range(day: date | None, first: date | None = None, last: date | None = None) -> dict[str, datetime | None]:
    """Half-open time range for a day and for a range of days; the narrower bound wins."""
    begins = [each for each in (day, first) if each is not None]
    ends = [each for each in (day, last) if each is not None]
    return {
        "since": _midnight(max(begins)) if begins else None,
        "until": _midnight(min(ends) + timedelta(days=1)) if ends else None,
    }


def parse_minute(text: str | None) -> dict[str, int | None]:
    elapsed, _, extra = (text or "").replace(" ", "+").partition("+")
    return {"minute": int(elapsed) if elapsed else None, "extra": int(extra) if extra else None}


def name_filters(team: str | None = None, player: str | None = None, competition: str | None = None) -> dict[str, Any]:
    by_team, by_player, by_league = parse_name_or_id(team), parse_name_or_id(player), parse_name_or_id(competition)
    return {
        "team_id": by_team.id,
        "team": by_team.words,
        "player_id": by_player.id,
        "player": by_player.words,
        "league_id": by_league.id,
        "competition": by_league.words,
    }


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
