"""Posts, team names, the goal to search for, and the messages of the search workflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from found_footy.clips.models import Expectation, WicketExpectation
from found_footy.errors import FootyError
from found_footy.fixtures.models import GOAL, WICKET, Innings, Kind, League, MatchMinute, Score, Side, Sport, Team


@dataclass(frozen=True, slots=True)
class Post:
    """A post with a video. Texts are cleaned, and the source has validated the id."""

    source: str
    id: str
    """Id within the source; letters, digits and `-_.:/` only."""
    url: str
    """URL of the post's page."""
    media_url: str
    """Input of the downloader: a post's page, a host's page, a direct link, or `folder:` and a relative path."""
    posted_at: datetime
    author: str = ""
    text: str = ""
    duration: float | None = None
    """Seconds, if known."""

    @property
    def key(self) -> str:
        """Unique across sources."""
        return f"{self.source}:{self.id}"


class NameKind(StrEnum):
    LABEL = "label"
    ALIAS = "alias"
    NICKNAME = "nickname"
    SHORT = "short"


@dataclass(frozen=True, slots=True)
class TeamName:
    text: str
    language: str
    """Language code such as `en`; `mul` for all languages."""
    kind: NameKind


OPERATORS = frozenset(["or", "and", "not"])
"""Words that search engines treat as operators."""


@dataclass(frozen=True, slots=True)
class SourceReport:
    """Result of one search of one source: the number of posts, or an error."""

    source: str
    found: int | None
    error: FootyError | None = None


# --- The goal.


@dataclass(frozen=True, slots=True)
class TargetGoal:
    id: str
    fixture_id: int
    side: Side
    player: str | None
    kind: Kind
    minute: MatchMinute
    before: Score
    after: Score
    home: Team
    away: Team
    league: League
    home_aliases: tuple[str, ...] = ()
    """Empty if not resolved yet."""
    away_aliases: tuple[str, ...] = ()
    stable: bool = True
    removed_at: datetime | None = None
    complete: bool = False
    type: str = GOAL
    assist: str | None = None
    """The bowler, for a wicket."""
    innings: tuple[Innings, ...] = ()
    """Known innings of the match."""
    kickoff: datetime | None = None
    """As scheduled."""

    @property
    def sport(self) -> Sport:
        return Sport.CRICKET if self.type == WICKET else Sport.FOOTBALL

    @property
    def is_confirmed(self) -> bool:
        """Whether the goal is stable and not withdrawn."""
        return self.stable and self.removed_at is None

    @property
    def team(self) -> Team:
        """The team that the goal counts for."""
        return self.home if self.side is Side.HOME else self.away

    @property
    def expectation(self) -> Expectation:
        """What a clip of the goal must show."""
        if self.sport is Sport.CRICKET:
            return Expectation(self.minute, self.home.name, self.away.name, wicket=self._wicket)
        return Expectation(self.minute, self.home.name, self.away.name, self.before, self.after)

    @property
    def _wicket(self) -> WicketExpectation:
        """Convert match wickets to innings wickets: the score counts the whole match, a scoreboard the innings."""
        batting = Side.AWAY if self.side is Side.HOME else Side.HOME
        number = self.minute.innings
        earlier = [each for each in self.innings if number is not None and each.number < number]
        fallen_before = sum(each.wickets for each in earlier if each.batting is batting)
        # Each side bats once in the first two innings; after that, all earlier innings must be known.
        is_known = number is not None and (number <= 2 or len(earlier) == number - 1)
        before, after = self.before.of(self.side) - fallen_before, self.after.of(self.side) - fallen_before
        is_known = is_known and 0 <= before < after <= 10
        return WicketExpectation(
            batting,
            before if is_known else None,
            after if is_known else None,
            self.home.short,
            self.away.short,
        )


# --- Inputs and results of workflows and activities.


@dataclass(frozen=True)
class SearchInput:
    event_id: str


@dataclass(frozen=True)
class SearchResult:
    searched: bool
    reason: str = ""
    attempts: int = 0
    downloads: int = 0


@dataclass(frozen=True)
class WorkflowRef:
    event_id: str
    workflow_id: str


@dataclass(frozen=True)
class TeamRef:
    id: int
    name: str
    league: str = ""
    country: str | None = None


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """Searches made for a goal so far, by any run of its workflow."""

    attempts: int = 0
    """The highest attempt that ran."""
    answered: Mapping[str, int] = field(default_factory=dict)
    """Successful searches by source, with or without results."""


@dataclass(frozen=True)
class SearchPlan:
    """Search schedule, from the settings of the worker that starts the search."""

    max_attempts: int
    attempts_made: int
    """Attempts of earlier runs of the workflow, after which this one continues."""
    seconds: float
    """Interval between the starts of two searches."""
    gap_seconds: float
    """Minimum pause between the end of one search and the start of the next."""
    close_seconds: float
    """Time limit of downloads after the last search."""
    teams: list[TeamRef]


@dataclass(frozen=True)
class GoalCheck:
    confirmed: bool
    plan: SearchPlan | None = None
    """None if the goal was withdrawn."""


@dataclass(frozen=True)
class AliasResult:
    team_id: int
    aliases: list[str]


@dataclass(frozen=True)
class TeamQuery:
    max_teams: int = 200


@dataclass(frozen=True)
class TeamList:
    teams: list[TeamRef]


@dataclass(frozen=True)
class SearchAttempt:
    event_id: str
    attempt: int


@dataclass(frozen=True)
class SearchOutcome:
    confirmed: bool
    complete: bool = False
    """Whether every source has completed its searches, so that no further search is necessary."""
    posts: int = 0
    keys: list[str] = field(default_factory=list)
    """Posts to download."""
    download_seconds: float = 0.0
    """Time limit for their downloads and vision checks."""
    vision_retry_seconds: float = 0.0


@dataclass(frozen=True)
class CloseRequest:
    event_id: str
    give_up: str = ""
    """Reason to cancel open downloads; empty to wait for them."""


@dataclass(frozen=True)
class CloseResult:
    closed: bool
    downloading: int = 0
    checking: int = 0
    waiting: int = 0


# --- Workflow ids.


def search_workflow_id(event_id: str) -> str:
    return f"search-{event_id}"


def alias_workflow_id(team_id: int) -> str:
    return f"aliases-{team_id}"
