"""A recording of ESPN's scoreboard, replayed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from sim_helpers import recorded

from footy_simulator.espn_recording import EspnRecording, minute_of
from footy_simulator.loader import load_scenario
from footy_simulator.server import Simulator
from footy_simulator.truth import expected_outcome
from found_footy.errors import ScenarioError

HONEST = {"user-agent": "a-test/1.0 (+https://example.invalid)"}
SCOREBOARD = "/apis/site/v2/sports/soccer/fifa.world/scoreboard"


def play(team: str, display: str, **fields: Any) -> dict[str, Any]:
    return {
        "team": {"id": team},
        "clock": {"displayValue": display},
        "scoringPlay": True,
        "shootout": False,
        "ownGoal": False,
        "penaltyKick": False,
        "athletesInvolved": [{"displayName": "Kylian Mbappé"}],
        **fields,
    }


def scoreboard(score: tuple[int, int], status: str, details: list[dict[str, Any]]) -> dict[str, Any]:
    competitors = [
        {"homeAway": "home", "score": str(score[0]), "team": {"id": "478", "displayName": "France"}},
        {"homeAway": "away", "score": str(score[1]), "team": {"id": "202", "displayName": "Argentina"}},
    ]
    event = {
        "id": "77",
        "status": {"type": {"name": status}},
        "competitions": [{"competitors": competitors, "details": details}],
    }
    return {"leagues": [{"slug": "fifa.world"}], "events": [event]}


def write(folder: Path, taken: int, body: object) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{taken}.json.gz").write_bytes(gzip.compress(json.dumps(body).encode()))


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    goals = [
        play("478", "23'", penaltyKick=True),
        play("202", "40'", ownGoal=True, athletesInvolved=[]),
        {**play("202", "65'"), "scoringPlay": False},
        play("478", "90'+5'"),
        play("478", "120'", shootout=True, penaltyKick=True),
    ]
    folder = tmp_path / "polls"
    # The name's number counts, not its spelling.
    write(folder, 999, scoreboard((0, 0), "STATUS_SCHEDULED", []))
    write(folder, 1060, scoreboard((1, 0), "STATUS_FIRST_HALF", goals[:1]))
    write(folder, 2000, scoreboard((2, 1), "STATUS_FULL_TIME", goals))
    path = tmp_path / "replay.yaml"
    path.write_text("title: A replay\nrecording: {espn: polls}\n")
    return path


async def test_each_request_gets_the_next_poll_and_the_last_one_stays(scenario_file: Path) -> None:
    async with (
        Simulator(load_scenario(scenario_file)) as simulator,
        httpx.AsyncClient(base_url=simulator.url, headers=HONEST) as client,
    ):
        assert (await client.get("/simulator/state")).json()["now"] == "1970-01-01T00:16:39+00:00"
        seen = []
        for _ in range(7):
            body = (await client.get(SCOREBOARD, params={"dates": "20260630"})).json()
            seen.append((body["events"][0]["status"]["type"]["name"], simulator.state().finished))
        assert (await client.get("/simulator/state")).json() == {
            "now": "1970-01-01T00:33:20+00:00",
            "offset_seconds": 1001,
            "polls": 7,
            "settled": True,
            "finished": True,
        }
        # A month, as an ingest asks for it, is not a poll; neither is another day of the same round.
        assert (await client.get(SCOREBOARD, params={"dates": "202606"})).json()["events"]
        assert (await client.get(SCOREBOARD, params={"dates": "20260701"})).json()["events"]
        assert simulator.state().polls == 7
        assert (await client.get(SCOREBOARD.replace("fifa.world", "eng.1"))).status_code == 404
    last = ("STATUS_FULL_TIME", False)
    assert seen[:3] == [("STATUS_SCHEDULED", False), ("STATUS_FIRST_HALF", False), last]
    assert seen[3:] == [last, last, last, ("STATUS_FULL_TIME", True)]


def test_the_truth_is_the_last_poll(scenario_file: Path) -> None:
    (match,) = expected_outcome(load_scenario(scenario_file)).matches
    assert (match.id, match.home, match.away, match.status, match.stage, match.score) == (
        77,
        "France",
        "Argentina",
        "FT",
        "completed",
        (2, 1),
    )
    assert [(g.side, g.player, g.kind, g.elapsed, g.extra, g.score_after) for g in match.goals] == [
        ("home", "Kylian Mbappé", "Penalty", 23, None, (1, 0)),
        ("away", None, "Own Goal", 40, None, (1, 1)),
        ("home", "Kylian Mbappé", "Normal Goal", 90, 5, (2, 1)),
    ]


@pytest.mark.parametrize(("display", "minute"), [("67'", (67, None)), ("90'+5'", (90, 5))])
def test_minutes(display: str, minute: tuple[int, int | None]) -> None:
    assert minute_of(display) == minute


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("2001.json.gz", b"not gzip", "2001.json.gz: not readable as gzipped JSON"),
        ("2001.json.gz", gzip.compress(b"{", mtime=0), "2001.json.gz: not readable as gzipped JSON"),
        ("2001.json.gz", gzip.compress(b"{}" * 99, mtime=0)[:20], "2001.json.gz: not readable as gzipped JSON"),
        ("2001.json.gz", gzip.compress(b"[]", mtime=0), "2001.json.gz: not an ESPN scoreboard"),
        (
            "2001.json.gz",
            gzip.compress(b'{"leagues": [], "events": []}', mtime=0),
            "2001.json.gz: not an ESPN scoreboard",
        ),
        ("monday.json.gz", b"", "got the name 'monday', expected a Unix time"),
    ],
)
def test_a_broken_recording_is_reported_at_load(scenario_file: Path, name: str, content: bytes, told: str) -> None:
    (scenario_file.parent / "polls" / name).write_bytes(content)
    with pytest.raises(ScenarioError) as raised:
        load_scenario(scenario_file)
    assert told in str(raised.value)


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no files named"):
        EspnRecording.load(tmp_path)


def test_the_real_recording_is_consistent() -> None:
    recording = EspnRecording.load(recorded("espn-worldcup-2026"))
    assert (recording.league, len(recording.answers)) == ("fifa.world", 43)
    played = [match for match in recording.truth.matches if match.stage == "completed"]
    assert len(played) == 25
    for match in played:
        assert (match.goals[-1].score_after if match.goals else (0, 0)) == match.score
    assert {match.status for match in recording.truth.matches} == {"NS", "FT", "AET", "PEN"}
