"""The scenario format. `loader.py` checks what spans several parts.

A posted clip can be one line, such as `copy logo 480p 30fps 600k -4s 8s +2m`: the kind, then options in any order,
recognised by their form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)
from pydantic_core import PydanticCustomError

from footy_simulator.clips.models import FRAME_RATES, HEIGHTS, Alteration, BoardStyle, CricketStyle, PostKind
from found_footy.fixtures.models import Side

_KINDS: tuple[str, ...] = get_args(PostKind)
_ALTERATIONS: tuple[str, ...] = get_args(Alteration)
_SETTINGS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("height", re.compile(r"(\d{3,4})p")),
    ("fps", re.compile(r"(\d{1,3})fps")),
    ("kbit", re.compile(r"(\d{2,5})k")),
    ("start", re.compile(r"([+-]\d{1,2}(?:\.\d+)?)s")),
    ("length", re.compile(r"(\d{1,2}(?:\.\d+)?)s")),
    ("after", re.compile(r"\+(\d{1,2})m")),
)
_FORMS = "480p, 30fps, 600k, -4s (start), 8s (length), +2m (posted)"


def read_clip(value: Any) -> Any:
    """Fields of a clip written as one line; other values are returned unchanged."""
    if not isinstance(value, str):
        return value
    words = value.split()
    if not words or words[0] not in _KINDS:
        raise ValueError(f"a clip kind as the first word, one of {', '.join(_KINDS)}")
    fields: dict[str, Any] = {"kind": words[0]}
    also: list[str] = []
    for word in words[1:]:
        if word in _ALTERATIONS:
            also.append(word)
            continue
        name, number = _setting(word)
        if name in fields:
            raise ValueError(f"a single {name}; {word!r} is another one")
        fields[name] = number
    return {**fields, "also": also} if also else fields


def _setting(word: str) -> tuple[str, float | int]:
    for name, form in _SETTINGS:
        found = form.fullmatch(word)
        if found:
            number = float(found[1])
            return name, int(number) if number.is_integer() else number
    raise ValueError(f"words such as {', '.join(_ALTERATIONS)}, {_FORMS}; not {word!r}")


def one_of(allowed: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in allowed)


def checked_height(value: int) -> int:
    if value not in HEIGHTS:
        raise ValueError(f"a height of {one_of(HEIGHTS)}")
    return value


def checked_rate(value: int) -> int:
    if value not in FRAME_RATES:
        raise ValueError(f"a frame rate of {one_of(FRAME_RATES)}")
    return value


def checked_code(value: str) -> str:
    if not (len(value) == 3 and value.isascii() and value.isupper()):
        raise ValueError("three capital letters, such as LIV")
    return value


# --- Minutes of play (`67`, `90+3`) and moments of the matchday (`+2m`, `-55m`).


_MINUTE = re.compile(r"(\d{1,3})(?:\+(\d{1,2}))?")
_MOMENT = re.compile(r"([+-])(\d+)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class ScriptedMinute:
    """A minute of play: 67, or 90+3 in stoppage time."""

    elapsed: int
    extra: int | None = None

    @property
    def played(self) -> int:
        """Minutes played in the count of its half: 90+3 is 93."""
        return self.elapsed + (self.extra or 0)

    @property
    def order(self) -> tuple[int, int]:
        """Sort key: 45+2 comes before 46."""
        return (self.elapsed, self.extra or 0)

    def __str__(self) -> str:
        return f"{self.elapsed}+{self.extra}" if self.extra else str(self.elapsed)


def parse_minute(value: object) -> ScriptedMinute:
    """Parse `67` or `90+3`; raises ValueError with the allowed form."""
    if isinstance(value, ScriptedMinute):
        return value
    found = None if isinstance(value, bool) else _MINUTE.fullmatch(str(value))
    if found is None or int(found[1]) < 1 or found[2] == "0":
        raise ValueError("a minute of play from 1, such as 67 or 90+3")
    return ScriptedMinute(int(found[1]), int(found[2]) if found[2] else None)


def parse_moment(value: object) -> int:
    """Parse `+2m`, `-55m`, `+90s`, `+1d` into seconds from the start of the matchday."""
    found = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("a time from the matchday's start with a sign and a unit (s, m, h, d), such as +2m")
    seconds = int(found[2]) * _SECONDS[found[3]]
    return -seconds if found[1] == "-" else seconds


MinuteOfPlay = Annotated[ScriptedMinute, BeforeValidator(parse_minute)]
Moment = Annotated[int, BeforeValidator(parse_moment)]


# --- Problems of a scenario file.


MAX_SHOWN_VALUE = 80


@dataclass(frozen=True, slots=True)
class ScenarioProblem:
    path: str
    given: object
    allowed: str

    def __str__(self) -> str:
        given = "nothing" if self.given is None else repr(self.given)
        if len(given) > MAX_SHOWN_VALUE:
            given = given[: MAX_SHOWN_VALUE - 3] + "..."
        return f"{self.path}: got {given}, expected {self.allowed}"


# --- Base class.


class ScenarioModel(BaseModel):
    """Frozen; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        # Pydantic's message for an unknown field does not list the known ones.
        for field in data if isinstance(data, dict) else ():
            if field not in cls.model_fields:
                context = {"field": field, "given": data[field], "fields": ", ".join(cls.model_fields)}
                raise PydanticCustomError("unknown_field", "the fields {fields}", context)
        return data


# --- Posts and broadcasts.


class PostedClip(ScenarioModel):
    """A clip posted of a goal or wicket: a file or a dead link. Omitted options follow from its position."""

    kind: PostKind
    also: tuple[Alteration, ...] = ()
    """Alterations of the copy."""
    start: Annotated[float, Field(ge=-12, le=20)] | None = None
    """Seconds from the goal to the clip's first frame."""
    length: Annotated[float, Field(ge=3, le=36)] | None = None
    height: Annotated[int, AfterValidator(checked_height)] | None = None
    fps: Annotated[int, AfterValidator(checked_rate)] | None = None
    kbit: Annotated[int, Field(ge=100, le=8000)] | None = None
    """Video bitrate in kbit/s."""
    after: NonNegativeInt = 1
    """Minutes from the goal to the post."""


ClipNotation = Annotated[PostedClip, BeforeValidator(read_clip)]


# --- Cricket.


BALLS_PER_OVER = 6
WICKETS_PER_INNINGS = 10

Break = Literal["DRINKS", "LUNCH", "TEA", "DINNER", "RAIN", "STUMPS", "INNBRK"]
CricketEnding = Literal["RESULT", "DRAW", "TIE", "NR", "ABD"]
DismissalName = Literal["bowled", "caught", "lbw", "run_out", "stumped", "hit_wicket", "other"]

_BALL = re.compile(r"(\d{1,3})\.([0-6])")
_KEY = re.compile(r"[0-9A-Z]{1,6}")
_CODE = re.compile(r"[1-9a-z][0-9a-z]{0,7}")


@dataclass(frozen=True, slots=True)
class Ball:
    """Overs and balls: 3.2 is the twentieth ball, 3.6 the last ball of the fourth over."""

    over: int
    ball: int

    @property
    def count(self) -> int:
        """Ball of the innings, from 1; 0 before the first."""
        return self.over * BALLS_PER_OVER + self.ball

    def __str__(self) -> str:
        return f"{self.over}.{self.ball}"


def parse_ball(value: object) -> Ball:
    """Parse `3.2`, or `20` for twenty complete overs; raises ValueError with the allowed form."""
    if isinstance(value, Ball):
        return value
    text = "" if isinstance(value, bool) else str(value)
    found = _BALL.fullmatch(text if "." in text else f"{text}.0")
    if found is None:
        raise ValueError("overs and balls, such as 3.2 or 20")
    return Ball(int(found[1]), int(found[2]))


def _key(text: str) -> str:
    if _KEY.fullmatch(text) is None:
        raise ValueError("one to six capital letters and digits, such as 1F")
    return text


def _code(text: str) -> str:
    if _CODE.fullmatch(text) is None:
        raise ValueError("one to eight small letters and digits that do not begin with 0, such as sim1")
    return text


BallOfInnings = Annotated[Ball, BeforeValidator(parse_ball)]
Key = Annotated[str, AfterValidator(_key)]
"""An id in CREX's form."""
Code = Annotated[str, AfterValidator(_code)]


class ScriptedCricketTeam(ScenarioModel):
    key: Key
    name: str
    short: str


class ScriptedCricketer(ScenarioModel):
    key: Key
    name: str


class ScriptedWicket(ScenarioModel):
    ball: BallOfInnings
    batter: ScriptedCricketer
    bowler: ScriptedCricketer | None = None
    """None for a run out."""
    kind: DismissalName = "caught"
    fielder: ScriptedCricketer | None = None
    runs: NonNegativeInt | None = None
    """Total when it fell; interpolated if omitted."""
    batter_runs: NonNegativeInt = 0
    batter_balls: NonNegativeInt = 0
    clips: tuple[ClipNotation, ...] | None = None
    """Posted clips; None for the default."""


class ScriptedPause(ScenarioModel):
    """A break after a ball, of `lasts` minutes."""

    after: BallOfInnings
    status: Break
    lasts: PositiveInt


class ScriptedBreak(ScenarioModel):
    status: Break = "INNBRK"
    lasts: PositiveInt = 4


class ScriptedInnings(ScenarioModel):
    batting: Side
    lasts: PositiveInt
    """Duration in minutes of matchday time, without breaks."""
    overs: BallOfInnings
    """Overs bowled."""
    runs: NonNegativeInt
    wickets: tuple[ScriptedWicket, ...] = ()
    breaks: tuple[ScriptedPause, ...] = ()
    then: ScriptedBreak = ScriptedBreak()
    """Break before the next innings."""


class ScriptedToss(ScenarioModel):
    winner: Side
    decision: Literal["bat", "field"] = "bat"


class ScriptedCricketMatch(ScenarioModel):
    code: Code
    """CREX id; our match id is this number in base 36."""
    home: ScriptedCricketTeam
    away: ScriptedCricketTeam
    start: Moment
    series: str
    match_number: str = "1st"
    match_type: Literal["T20", "ODI", "Test"] = "T20"
    venue: str
    toss: ScriptedToss
    innings: tuple[ScriptedInnings, ...] = Field(min_length=1, max_length=4)
    ends: CricketEnding = "RESULT"
    result: str = ""
    """Text of the result."""
    style: CricketStyle | None = None
    """Scoreboard style; follows from the series if omitted."""

    @property
    def id(self) -> int:
        return int(self.code, 36)

    def team(self, side: Side) -> ScriptedCricketTeam:
        return self.home if side is Side.HOME else self.away


# --- Feeds: delay, faults and limits.


FaultKind = Literal[
    "server_error",
    "timeout",
    "truncated",
    "html",
    "captcha",
    "rate_limit",
    "redirect_loop",
    "gzip_bomb",
    "hour_off",
    "wrong_score",
    "invented_goal",
    "bad_schema",
    "unknown_status",
    "back_in_time",
    "duplicate_id",
]
MATCH_FAULTS: tuple[FaultKind, ...] = (
    "wrong_score",
    "invented_goal",
    "bad_schema",
    "unknown_status",
    "back_in_time",
    "duplicate_id",
)
"""Faults of one match's entry in an otherwise correct response; all others affect the whole response."""


class ScriptedFault(ScenarioModel):
    """A fault of a feed's responses from a moment on, for a number of polls or a duration.

    A fault of one match counts only polls that ask for that match.
    """

    at: Moment
    kind: FaultKind
    polls: PositiveInt = 1
    lasts: PositiveInt | None = None
    """Minutes of matchday time, instead of a number of polls."""
    match: PositiveInt | None = None
    seconds: PositiveInt | None = None
    """`timeout` only: real seconds for which the request is held."""


class ScriptedLimits(ScenarioModel):
    """Request limits of the plan."""

    per_day: PositiveInt = 150_000
    per_minute: PositiveInt = 1_200


class ScriptedFeed(ScenarioModel):
    """How one feed reports the matchday."""

    delay: NonNegativeInt = 0
    """Delay in seconds of matchday time."""
    faults: tuple[ScriptedFault, ...] = ()


class ScriptedEspn(ScriptedFeed):
    cricket: bool = False
    """Whether it also lists cricket."""


class ScriptedFeeds(ScenarioModel):
    """Feeds in addition to API-Football."""

    espn: ScriptedEspn | None = None
    """None: ESPN serves nothing."""
    crex: ScriptedFeed = ScriptedFeed()
    """Lists the cricket matches, if there are any."""


# --- Behaviour of the outside services: the `services` section.


class EspnService(ScenarioModel):
    """ESPN's scoreboard. It always refuses date ranges, and User-Agents without a version and a link."""

    refuses: Literal["client", "query"] | None = None
    """`client`: HTTP 403 to every User-Agent. `query`: HTTP 400 to every request with `dates`."""
    not_served: tuple[str, ...] = ()
    """Leagues that answer HTTP 404, as if ESPN had renamed them."""


class ApiFootballService(ScenarioModel):
    """API-Football v3."""

    plan: Literal["paid", "free"] = "paid"
    """`free`: 100 requests a day, no `ids=`, and `date=` from yesterday to tomorrow."""


class CrexService(ScenarioModel):
    """crex.com."""

    embedded_json: bool = True
    """Whether pages embed their data as JSON; without it only a browser can read them."""


class RedditService(ScenarioModel):
    """Reddit. `*.json` without a login is always refused."""

    fragment: Literal["ok", "blocked", "challenge", "limited", "changed"] = "ok"
    """`blocked`: as for datacentres; `challenge`: a page that requires JavaScript; `changed`: a page without posts."""
    fragment_per_window: PositiveInt = 200
    atom: Literal["ok", "blocked", "limited", "changed"] = "ok"
    atom_per_window: PositiveInt = 1
    oauth: Literal["ok", "blocked", "limited"] = "ok"
    """For requests with the simulator's keys; other keys are always refused."""
    oauth_per_window: PositiveInt = 100
    window_seconds: PositiveFloat = 60
    """Length of the window in real seconds."""


class FxTwitterService(ScenarioModel):
    """FxEmbed's public API (api.fxtwitter.com). A search without results is always an empty 404."""

    state: Literal["ok", "down", "empty"] = "ok"
    """`empty`: every search is an empty 404 while posts are still shown (FxEmbed#2303). `down`: HTTP 500."""


class XService(ScenarioModel):
    """x.com and its syndication endpoint."""

    wall: bool = False
    """Searches without a login lead to the onboarding page."""
    syndication: Literal["ok", "down"] = "ok"


ClipHostName = Literal["streamain", "streamin", "streamff", "dubz", "dropr", "streamable", "reddit"]


class ClipHostService(ScenarioModel):
    """The clip hosts that r/soccer links to."""

    streamff: Literal["clips", "placeholder"] = "clips"
    """`placeholder`: its files redirect to a playable video about a terms of service abuse."""
    dead: tuple[ClipHostName, ...] = ()
    """Hosts whose clips are all gone."""


class BlueskyService(ScenarioModel):
    """Bluesky's entryway, its PDSes and its video CDN."""

    blobs: Literal["served", "refused"] = "served"
    """`refused`: the authors' servers refuse files; the CDN's playlists work."""


class WikidataService(ScenarioModel):
    """Wikidata's search and SPARQL endpoints."""

    retry_after: int | None = Field(None, ge=1, le=86_400)
    """Refuse everything with HTTP 429 and this Retry-After, in seconds."""


class ScriptedServices(ScenarioModel):
    espn: EspnService = EspnService()
    api_football: ApiFootballService = ApiFootballService()
    crex: CrexService = CrexService()
    reddit: RedditService = RedditService()
    fxtwitter: FxTwitterService = FxTwitterService()
    x: XService = XService()
    hosts: ClipHostService = ClipHostService()
    bluesky: BlueskyService = BlueskyService()
    wikidata: WikidataService = WikidataService()


# --- The file.


UPCOMING_FROM = 12 * 3600
"""Seconds from the start: a match that kicks off this late stays upcoming all matchday."""

SideName = Literal["home", "away"]
GoalKind = Literal["normal", "penalty", "own_goal"]
Ending = Literal["FT", "AET", "PEN", "ABD", "PST", "CANC"]
IncidentKind = Literal[
    "yellow_card", "red_card", "substitution", "missed_penalty", "var_goal_confirmed", "var_penalty_confirmed"
]
CodeScript = Annotated[str, AfterValidator(checked_code)]


class ScriptedLeague(ScenarioModel):
    id: PositiveInt
    name: str
    country: str
    season: PositiveInt
    round: str


class ScriptedTeam(ScenarioModel):
    id: PositiveInt
    name: str


class ScriptedPlayer(ScenarioModel):
    id: PositiveInt
    name: str


class ScriptedChange(ScenarioModel):
    """A correction `after` this many minutes since the goal first appeared; omitted fields stay."""

    after: PositiveInt
    player: ScriptedPlayer | None = None
    kind: GoalKind | None = None
    minute: MinuteOfPlay | None = None


class Broadcast(ScenarioModel):
    """Appearance of the broadcast; omitted fields follow from the names."""

    style: BoardStyle | None = None
    codes: tuple[CodeScript, CodeScript] | None = None
    """Team codes on the scoreboard: home, away."""


class ScriptedGoal(ScenarioModel):
    """A goal. `side` is credited with it, also for an own goal; no `player` means not reported yet."""

    minute: MinuteOfPlay
    side: SideName
    kind: GoalKind = "normal"
    player: ScriptedPlayer | None = None
    assist: ScriptedPlayer | None = None
    changes: tuple[ScriptedChange, ...] = ()
    cancelled_after: PositiveInt | None = None
    """Minutes until VAR cancels it: event and score disappear, and a Var event appears."""
    flickers: tuple[PositiveInt, ...] = ()
    """Minutes after its first appearance at which the event is missing for one minute; the score stays."""
    clips: tuple[ClipNotation, ...] | None = None
    """Posted clips; None for the default."""


class ScriptedIncident(ScenarioModel):
    """An event that is not a goal. `other` is the player who leaves in a substitution."""

    minute: MinuteOfPlay
    side: SideName
    kind: IncidentKind
    player: ScriptedPlayer
    other: ScriptedPlayer | None = None


class ScriptedKick(ScenarioModel):
    """One kick of the shoot-out; kicks are a minute apart."""

    side: SideName
    player: ScriptedPlayer
    scored: bool


class ScriptedInterruption(ScenarioModel):
    """Play stops at a minute and resumes after `lasts` minutes."""

    minute: MinuteOfPlay
    lasts: PositiveInt
    status: Literal["SUSP", "INT"] = "SUSP"


class ScriptedMatch(ScenarioModel):
    id: PositiveInt
    league: str
    """A key of the scenario's `leagues`."""
    home: ScriptedTeam
    away: ScriptedTeam
    kickoff: Moment
    half_length: PositiveInt = 45
    half_time: PositiveInt = 15
    extra_half_length: PositiveInt = 15
    break_length: PositiveInt = 1
    """Before extra time, and between its halves."""
    stoppage: tuple[NonNegativeInt, ...] = (0, 0)
    """Added minutes of each half: two numbers, or four with extra time."""
    ends: Ending = "FT"
    abandoned_at: MinuteOfPlay | None = None
    called_off_at: Moment | None = None
    """When a postponed (PST) or cancelled (CANC) match is called off."""
    interruptions: tuple[ScriptedInterruption, ...] = ()
    goals: tuple[ScriptedGoal, ...] = ()
    incidents: tuple[ScriptedIncident, ...] = ()
    shootout: tuple[ScriptedKick, ...] = ()
    broadcast: Broadcast = Broadcast()

    @property
    def starts(self) -> bool:
        """Whether it kicks off within the matchday."""
        return self.called_off_at is None and self.kickoff < UPCOMING_FROM

    def team(self, side: SideName) -> ScriptedTeam:
        return self.home if side == "home" else self.away


class RecordingSource(ScenarioModel):
    """A folder of recorded responses, relative to the scenario file."""

    espn: Path


class Scenario(ScenarioModel):
    """A matchday: either scripted matches or a recording."""

    title: str = ""
    leagues: dict[str, ScriptedLeague] = Field(default_factory=dict)
    matches: tuple[ScriptedMatch, ...] = ()
    cricket: tuple[ScriptedCricketMatch, ...] = ()
    faults: tuple[ScriptedFault, ...] = ()
    """Faults of API-Football; the other feeds have their own."""
    feeds: ScriptedFeeds = ScriptedFeeds()
    """Additional feeds."""
    limits: ScriptedLimits = ScriptedLimits()
    services: ScriptedServices = ScriptedServices()
    """Refusals and outages of the outside services; by default they behave as in late 2026."""
    recording: RecordingSource | None = None

    @property
    def football(self) -> Scenario:
        """The scenario without cricket, which needs a browser."""
        return self.model_copy(update={"cricket": ()})

    @property
    def all_matches(self) -> list[ScriptedMatch | ScriptedCricketMatch]:
        return [*self.matches, *self.cricket]

    def league_of(self, match: ScriptedMatch) -> ScriptedLeague:
        return self.leagues[match.league]
