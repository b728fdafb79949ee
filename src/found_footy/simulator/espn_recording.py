"""A recording of ESPN's scoreboard, and its replay.

One file (`<Unix time>.json.gz`) is one answer of the service. Each poll gets the next one, and the last one stays. A
poll is a round of requests for different days. The days themselves are ignored: what was recorded is the service's
answer at that time. A request for a month, as an ingest sends it, sees the current answer.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from found_footy.domain.errors import ScenarioError
from found_footy.simulator.espn_requests import Wanted, refused, wanted_days
from found_footy.simulator.espn_truth import truth_of
from found_footy.simulator.ground_truth import GroundTruth
from found_footy.simulator.services_script import EspnService
from found_footy.simulator.state import POLLS_TO_FINISH, PlaybackState

_SUFFIX = ".json.gz"


@dataclass(frozen=True, slots=True)
class Answer:
    """One recorded answer."""

    taken: int
    """Unix time."""
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """The answers of one league, in order."""

    league: str
    answers: tuple[Answer, ...]
    truth: GroundTruth

    @classmethod
    def load(cls, folder: Path) -> Recording:
        """Read every file of the folder; a broken one is a ScenarioError that names it."""
        paths = sorted(folder.glob(f"*{_SUFFIX}"), key=_taken)
        if not paths:
            raise ScenarioError(f"{folder}: no files named <Unix time>{_SUFFIX} in this folder")
        answers = tuple(Answer(_taken(path), _read(path)) for path in paths)
        try:
            league = answers[-1].body["leagues"][0]["slug"]
            truth = truth_of(answers[-1].body)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ScenarioError(f"{paths[-1]}: not an ESPN scoreboard: {error!r}") from error
        return cls(league, answers, truth)


def _taken(path: Path) -> int:
    name = path.name.removesuffix(_SUFFIX)
    if not name.isdecimal():
        raise ScenarioError(f"{path}: got the name {name!r}; allowed: a Unix time, such as 1782934981")
    return int(name)


def _read(path: Path) -> dict[str, Any]:
    try:
        body = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise ScenarioError(f"{path}: not readable as gzipped JSON: {error}") from error
    if not isinstance(body, dict) or not isinstance(body.get("events"), list):
        raise ScenarioError(f"{path}: not an ESPN scoreboard: it has no list of events")
    return body


class Replay:
    """A recording being played; a new poll begins when a day is asked for again."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._polls = 0
        self._round: set[date | None] = set()

    @property
    def truth(self) -> GroundTruth:
        return self.recording.truth

    def answer(self, wanted: Wanted) -> Answer:
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


def espn_routes(replay: Replay, service: EspnService) -> list[Route]:
    async def scoreboard(request: Request) -> JSONResponse:
        league = request.path_params["league"]
        if league != replay.recording.league:
            return refused(404, f"league {league} is not recorded; {replay.recording.league} is")
        wanted = wanted_days(request, service)
        return wanted if isinstance(wanted, JSONResponse) else JSONResponse(replay.answer(wanted).body)

    return [Route("/apis/site/v2/sports/soccer/{league}/scoreboard", scoreboard)]
