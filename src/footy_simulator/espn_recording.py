"""Serve recorded responses of ESPN's scoreboard, and derive the expected outcome from the last one."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from footy_simulator.espn_requests import ScoreboardRequest, refused, wanted_days
from footy_simulator.expectations import ExpectedEvent, ExpectedMatch, ExpectedOutcome, Pair, count, stage_of
from footy_simulator.playback import POLLS_TO_FINISH, PlaybackState
from footy_simulator.scenario import EspnService, SideName
from found_footy.errors import ScenarioError

STATUSES = {
    "STATUS_SCHEDULED": "NS",
    "STATUS_FIRST_HALF": "1H",
    "STATUS_HALFTIME": "HT",
    "STATUS_SECOND_HALF": "2H",
    "STATUS_IN_PROGRESS": "LIVE",
    "STATUS_OVERTIME": "ET",
    "STATUS_SHOOTOUT": "P",
    "STATUS_FULL_TIME": "FT",
    "STATUS_FINAL_AET": "AET",
    "STATUS_FINAL_PEN": "PEN",
    "STATUS_POSTPONED": "PST",
    "STATUS_DELAYED": "INT",
    "STATUS_SUSPENDED": "SUSP",
    "STATUS_CANCELED": "CANC",
    "STATUS_ABANDONED": "ABD",
    "STATUS_FORFEIT": "WO",
}
_CLOCK = re.compile(r"(\d+)'(?:\+(\d+)')?")


def truth_of(scoreboard: dict[str, Any]) -> ExpectedOutcome:
    """Raises KeyError or ValueError if the response does not have ESPN's form."""
    return ExpectedOutcome(tuple(_match(event) for event in scoreboard["events"]))


def minute_of(display: str) -> tuple[int, int | None]:
    """ESPN writes `67'` and `90'+5'`."""
    found = _CLOCK.fullmatch(display)
    if found is None:
        raise ValueError(f"{display!r} is not a minute as ESPN writes it")
    return int(found[1]), int(found[2]) if found[2] else None


def _match(event: dict[str, Any]) -> ExpectedMatch:
    competition = event["competitions"][0]
    status = STATUSES[event["status"]["type"]["name"]]
    sides = {competitor["homeAway"]: competitor for competitor in competition["competitors"]}
    home, away = sides["home"], sides["away"]
    goals = _goals(competition["details"], str(home["team"]["id"]))
    shootout = "shootoutScore" in home and "shootoutScore" in away
    return ExpectedMatch(
        id=int(event["id"]),
        home=home["team"]["displayName"],
        away=away["team"]["displayName"],
        status=status,
        stage=stage_of(status),
        score=None if status in ("NS", "PST") else (int(home["score"]), int(away["score"])),
        penalties=(int(home["shootoutScore"]), int(away["shootoutScore"])) if shootout else None,
        goals=goals,
    )


def _goals(details: list[dict[str, Any]], home_id: str) -> tuple[ExpectedEvent, ...]:
    running: Pair = (0, 0)
    goals = []
    for play in details:
        if not play["scoringPlay"] or play["shootout"]:
            continue
        # `team` is the side that benefits, also for an own goal.
        side: SideName = "home" if str(play["team"]["id"]) == home_id else "away"
        running = count(running, side)
        elapsed, extra = minute_of(play["clock"]["displayValue"])
        athletes = play.get("athletesInvolved") or [{}]
        player, kind = athletes[0].get("displayName"), _kind(play)
        goals.append(ExpectedEvent(side, player, kind, elapsed, extra, "stable", running))
    return tuple(goals)


def _kind(play: dict[str, Any]) -> str:
    if play["ownGoal"]:
        return "Own Goal"
    return "Penalty" if play["penaltyKick"] else "Normal Goal"


# --- The recording and its playback.


_SUFFIX = ".json.gz"


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One recorded response."""

    taken: int
    """Unix time."""
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EspnRecording:
    """The responses of one league, in order."""

    league: str
    answers: tuple[RecordedAnswer, ...]
    truth: ExpectedOutcome

    @classmethod
    def load(cls, folder: Path) -> EspnRecording:
        """Read every file of the folder; a broken file raises a ScenarioError that names it."""
        paths = sorted(folder.glob(f"*{_SUFFIX}"), key=_taken)
        if not paths:
            raise ScenarioError(f"{folder}: no files named <Unix time>{_SUFFIX} in this folder")
        answers = tuple(RecordedAnswer(_taken(path), _read(path)) for path in paths)
        try:
            league = answers[-1].body["leagues"][0]["slug"]
            truth = truth_of(answers[-1].body)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ScenarioError(f"{paths[-1]}: not an ESPN scoreboard: {error!r}") from error
        return cls(league, answers, truth)


def _taken(path: Path) -> int:
    name = path.name.removesuffix(_SUFFIX)
    if not name.isdecimal():
        raise ScenarioError(f"{path}: got the name {name!r}, expected a Unix time, such as 1782934981")
    return int(name)


def _read(path: Path) -> dict[str, Any]:
    try:
        body = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise ScenarioError(f"{path}: not readable as gzipped JSON: {error}") from error
    if not isinstance(body, dict) or not isinstance(body.get("events"), list):
        raise ScenarioError(f"{path}: not an ESPN scoreboard: it has no list of events")
    return body


class RecordingPlayback:
    """Plays a recording; a repeated request for a day starts a new poll."""

    def __init__(self, recording: EspnRecording) -> None:
        self.recording = recording
        self._polls = 0
        self._round: set[date | None] = set()

    @property
    def truth(self) -> ExpectedOutcome:
        return self.recording.truth

    def answer(self, wanted: ScoreboardRequest) -> RecordedAnswer:
        is_poll = wanted.is_day or wanted.first is None
        if is_poll and (not self._round or wanted.first in self._round):
            self._round = set()
            self._polls += 1
        if is_poll:
            self._round.add(wanted.first)
        answers = self.recording.answers
        return answers[min(max(self._polls - 1, 0), len(answers) - 1)]

    def state(self) -> PlaybackState:
        answers = self.recording.answers
        current = answers[min(max(self._polls - 1, 0), len(answers) - 1)]
        last_served = max(0, self._polls - len(answers) + 1)
        return PlaybackState(
            now=datetime.fromtimestamp(current.taken, UTC),
            offset_seconds=current.taken - answers[0].taken,
            polls=self._polls,
            settled=last_served > 0,
            finished=last_served >= POLLS_TO_FINISH,
        )


def espn_routes(replay: RecordingPlayback, service: EspnService) -> list[Route]:
    async def scoreboard(request: Request) -> JSONResponse:
        league = request.path_params["league"]
        if league != replay.recording.league:
            return refused(404, f"league {league} is not recorded; {replay.recording.league} is")
        wanted = wanted_days(request, service)
        return wanted if isinstance(wanted, JSONResponse) else JSONResponse(replay.answer(wanted).body)

    return [Route("/apis/site/v2/sports/soccer/{league}/scoreboard", scoreboard)]
