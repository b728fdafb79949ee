"""Replay a recording through the real workflows on real engines, and compare the outcome with the recorded one."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footy_simulator.clips.encode import render
from footy_simulator.clips.plan import clips_for
from footy_simulator.espn_recording import EspnRecording as Scoreboards
from footy_simulator.loader import parse_scenario
from found_footy.app import open_replay
from found_footy.clips.models import clip_key
from found_footy.config import Settings
from found_footy.discovery.models import Post
from found_footy.errors import FeedUnavailable, SourceRateLimited
from found_footy.fixtures.models import LiveFixture, Team
from found_footy.recordings.file_format import pack
from found_footy.recordings.missing_clips import MissingClipReason
from found_footy.recordings.models import RecordedAliases, RecordedDownload, RecordedFeed, RecordedSnapshot, Recording
from found_footy.recordings.outcome import OVER_WHEN_FIRST_SEEN
from found_footy.recordings.playback import load_recording
from found_footy.recordings.replay import ReplayResult, replay
from found_footy.storage.objects.store import ThreadedObjectStore
from tests.support.cli import CliResult, clean_environment, run_cli
from tests.support.football import match
from tests.support.recorded import recorded
from tests.support.recordings import post, recording, response, search
from tests.support.scenarios import rendered_clips

pytestmark = pytest.mark.timeout(600)

FIRST, SECOND = "5000_40_7_Goal_1", "5000_45_9_Goal_1"
SCRIPT = """
leagues:
  pl: {id: 39, name: Premier League, country: England, season: 2025, round: Final}
matches:
  - id: 5000
    league: pl
    home: {id: 40, name: Liverpool}
    away: {id: 45, name: Everton}
    broadcast: {style: classic}
    kickoff: -1m
    goals:
      - minute: 23
        side: home
        player: {id: 7, name: Player 7}
        clips: [copy 360p -2s 4s]
"""


def live(*goals: str, status: str = "1H", feed_id: int = 5000, score: str | None = "") -> LiveFixture:
    """The other feed has other numbers, and the same names."""
    made = match(*goals, status=status, fixture_id=feed_id, score=score)
    home, away = (40, 45) if feed_id == 5000 else (364, 368)
    return replace(made, home=Team(home, "Liverpool"), away=Team(away, "Everton"))


def of_other(*goals: str, **fields: Any) -> LiveFixture:
    found = live(*goals, feed_id=77, **fields)
    unnamed = tuple(
        replace(goal, player=replace(goal.player, id=90_000 + (goal.player.id or 0))) for goal in found.goals
    )
    return replace(found, goals=unnamed)


def answers() -> list[RecordedSnapshot]:
    one: dict[str, Any] = {"feed": "api_football", "feed_id": 5000}
    two: dict[str, Any] = {"feed": "espn", "feed_id": 77}
    return [
        response(live(status="NS", score=None), range(2), **one),
        response(live(), [2, 3], **one),
        # the first goal, in one feed a poll before the other
        response(live("23 home 7"), [4, 5, 6, 7], **one),
        # one that only this feed has ever listed, and takes back
        response(live("23 home 7", "30 away 9"), [8, 9], **one),
        response(live("23 home 7"), range(10, 16), **one),
        response(live("23 home 7", status="FT"), range(16, 22), **one),
        response(of_other(status="NS", score=None), range(2), **two),
        response(of_other(), [2, 3, 4], **two),
        response(of_other("23 home 7"), [5, 6, 7], **two),
        response(FeedUnavailable("no answer"), [8, 9], **two),
        response(of_other("23 home 7"), range(10, 16), **two),
        response(of_other("23 home 7", status="FT"), range(16, 22), **two),
    ]


def event(id_: str, **fields: Any) -> dict[str, Any]:
    return {
        "_event_id": id_,
        "_debounce_complete": True,
        "_download_complete": True,
        "_removed": False,
        "_s3_videos": [],
        "_discovered_videos": [],
        "type": "Goal",
        "detail": "Normal Goal",
    } | fields


def complete_recording(clip: str) -> Recording:
    """A match with a clip that was found, a post that was gone, and a goal that was withdrawn."""
    film: Post = replace(post("film", poll=9.5), text="Player 7 scores")
    gone: Post = post("gone", poll=11.5)
    outcome = {
        "_id": 5000,
        "stage": "completed",
        "teams": {"home": {"name": "Liverpool"}, "away": {"name": "Everton"}},
        "goals": {"home": 1, "away": 0},
        "fixture": {"status": {"short": "FT"}},
        "events": [
            event(
                FIRST,
                time={"elapsed": 23, "extra": None},
                player={"name": "Player 7"},
                _scoring_team="home",
                _score_after={"home": 1, "away": 0},
                _stable_count=2,
                _s3_videos=[{"md5": clip}],
                _discovered_videos=[{"key": "bluesky:gone", "loss": "gone", "loss_detail": "404", "state": "lost"}],
            ),
            event(
                SECOND,
                time={"elapsed": 30, "extra": None},
                player={"name": "Player 9"},
                _scoring_team="away",
                _score_after={"home": 1, "away": 1},
                _stable_count=0,
                _debounce_complete=False,
                _removed=True,
            ),
        ],
    }
    return recording(
        *answers(),
        fixture_id=5000,
        feeds=(RecordedFeed("api_football", 100, founding=True), RecordedFeed("espn", 80)),
        searches=(
            search(FIRST, 1, film, poll=10),
            search(FIRST, 2, gone, poll=12, failed=SourceRateLimited("slower")),
            search(FIRST, 3, poll=14),
        ),
        downloads=(
            RecordedDownload(FIRST, "bluesky:film", film.media_url, md5=clip, clip=clip),
            RecordedDownload(FIRST, "bluesky:gone", gone.media_url, rejection_reason="gone", detail="404"),
        ),
        names=(RecordedAliases(40, "Liverpool", ("Liverpool", "LFC")),),
        document=outcome,
    )


def md5_of(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


@pytest.fixture(scope="module")
def film() -> Path:
    (spec,) = clips_for(parse_scenario(SCRIPT, "script"), 5000, 0)
    return render(spec, rendered_clips())


def settings(folder: Path) -> Settings:
    return Settings().model_copy(update={"data_dir": folder})


def differing(result: ReplayResult) -> list[tuple[str, str, str, str]]:
    return [(each.about, each.what, each.then, each.now) for each in result.differences]


async def test_the_replay_of_a_match_with_two_feeds_and_a_clip_is_equal(
    tmp_path: Path, objects: ThreadedObjectStore, film: Path
) -> None:
    md5 = md5_of(film)
    await objects.put(clip_key(5000, FIRST, md5), film)
    result = await replay(complete_recording(md5), settings(tmp_path), 60, open_replay, clips=objects)
    assert differing(result) == []
    (compared,) = result.compared
    assert compared.now is not None
    goals = {goal.id: goal for goal in compared.now.goals}
    assert goals[FIRST].clips == (md5,)
    assert goals[FIRST].rejections == {"gone": 1}
    assert goals[SECOND].state == "withdrawn"
    assert not [name for name in os.listdir(tmp_path) if name.startswith("replay-")], "engine data is left"


async def test_differences_are_reported_with_the_reason_for_a_missing_clip(tmp_path: Path) -> None:
    """The recorded document claims more than its responses: another scorer, a clip whose file is gone, a third goal."""
    made = complete_recording("f" * 32)
    assert made.document is not None
    first, second = made.document["events"]
    never = event(
        "5000_40_8_Goal_1",
        time={"elapsed": 80, "extra": None},
        player={"name": "Player 8"},
        _scoring_team="home",
        _score_after={"home": 2, "away": 0},
        _stable_count=3,
    )
    document = {**made.document, "events": [first | {"player": {"name": "Somebody else"}}, second, never]}
    result = await replay(replace(made, document=document), settings(tmp_path), 60, open_replay)
    assert not result.equal
    assert differing(result) == [
        ("23' Somebody else 1-0", "player", "Somebody else", "Player 7"),
        ("80' Player 8 2-0", "goal", "80' Player 8 2-0 (certain)", "nothing"),
    ]
    (note,) = result.compared[0].notes
    assert "files no longer exist" in note
    (unexplained,) = result.without_clip
    assert (unexplained.event_id, unexplained.why) == ("5000_40_8_Goal_1", MissingClipReason.UNKNOWN)
    document = json.loads(json.dumps(result.to_json(), default=str))
    assert document["equal"] is False
    assert {"losses", "lost_files"} <= document["matches"][0]["then"]["goals"][0].keys()


def footy(*arguments: str, folder: Path) -> CliResult:
    return run_cli(*arguments, env=clean_environment(folder / "data"), cwd=folder)


def test_the_command_replays_a_file_and_exits_with_0_if_the_outcome_is_equal(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl.gz"
    path.write_bytes(pack(recording(*(answer for answer in answers() if answer.feed == "espn"))))
    result = footy("replay", str(path), "--json", folder=tmp_path)
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert (document["equal"], document["matches"][0]["now"]["score"]) == (True, "1-0")
    assert "playing" in result.err


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        ("nowhere.jsonl.gz", 3, "is not a file"),
        ("5000", 3, "no finished recording"),
        ("broken", 2, "cannot be decompressed"),
    ],
)
def test_a_recording_that_cannot_be_read_is_an_error(tmp_path: Path, source: str, code: int, message: str) -> None:
    (tmp_path / "broken").write_bytes(b"no recording")
    result = footy("replay", source, folder=tmp_path)
    assert (result.code, message in result.err) == (code, True), result.err


@pytest.mark.chaos
async def test_the_replay_of_a_recorded_tournament_finds_its_goals(tmp_path: Path) -> None:
    """ESPN scoreboards recorded during a World Cup; the expected goals are those of the last ones."""
    folder = recorded("feeds", "espn-worldcup-2026")
    result = await replay(load_recording(folder), settings(tmp_path), 60, open_replay)
    assert differing(result) == []
    seen = [match for match in result.compared if not match.note]
    assert len(seen) == 18
    truth = Scoreboards.load(folder).truth
    for compared in seen:
        assert compared.then is not None
        assert compared.now is not None
        listed = [(goal.side, goal.player, goal.kind, goal.score) for goal in compared.now.goals]
        true = truth.match(compared.then.id).goals
        assert listed == [(goal.side, goal.player, goal.kind, "{}-{}".format(*goal.score_after or ())) for goal in true]
    notes = Counter(match.note for match in result.compared)
    assert notes[OVER_WHEN_FIRST_SEEN] == 7
    (corrected,) = [note for match in seen for note in match.notes]
    assert "25' Habib Diarra" in corrected
