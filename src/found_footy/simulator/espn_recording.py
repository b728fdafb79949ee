"""A recording of ESPN's scoreboard, and its replay.

One file (`<Unix time>.json.gz`) is one answer of the service. Each request gets the next one, and the last
one stays. `dates=` is ignored: what was recorded is the service's whole answer at that time.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from found_footy.domain.errors import ScenarioError
from found_footy.simulator.espn_truth import truth_of
from found_footy.simulator.ground_truth import GroundTruth
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
    """A recording being played; every request for the scoreboard is a poll."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._polls = 0

    @property
    def truth(self) -> GroundTruth:
        return self.recording.truth

    def next_answer(self) -> Answer:
        answers = self.recording.answers
        answer = answers[min(self._polls, len(answers) - 1)]
        self._polls += 1
        return answer

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


def espn_routes(replay: Replay) -> list[Route]:
    async def scoreboard(request: Request) -> JSONResponse:
        league = request.path_params["league"]
        if league != replay.recording.league:
            message = f"league {league} is not recorded; {replay.recording.league} is"
            return JSONResponse({"code": 404, "message": message}, status_code=404)
        return JSONResponse(replay.next_answer().body)

    return [Route("/apis/site/v2/sports/soccer/{league}/scoreboard", scoreboard)]
