"""`footy record`."""

from __future__ import annotations

import asyncio
import json
import zlib
from pathlib import Path

import pytest

from found_footy.feeds.snapshot import to_payload
from found_footy.fixtures.models import FixtureStage
from found_footy.fixtures.store import FixtureStore
from found_footy.recordings.file_format import canonical_json, unpack
from found_footy.recordings.models import SnapshotToRecord
from found_footy.recordings.store import RecordingStore
from found_footy.storage.postgres import Database
from tests.cli.conftest import Footy
from tests.support.football import START, follow_matches, match
from tests.support.recordings import at


@pytest.fixture
def recorded(database_url: str, tmp_path: Path) -> dict[str, str]:
    """The settings of a system that records a match which is on."""

    async def prepare() -> None:
        database = Database(database_url)
        await database.open()
        await follow_matches(FixtureStore(database), [(match(), FixtureStage.ACTIVE)], START)
        body = zlib.compress(canonical_json(to_payload(match())))
        await RecordingStore(database).add_answers("test", [SnapshotToRecord(5000, at(1), "sum", body)])
        await database.close()

    asyncio.run(prepare())
    return {"DATABASE_URL": database_url, "FOOTY_DATA_DIR": str(tmp_path)}


def test_recording_is_switched_for_all_or_single_fixtures(footy: Footy, recorded: dict[str, str]) -> None:
    words = footy("record", "list", **recorded).out
    assert "recording every match" in words
    assert "Liverpool - Manchester City" in words
    assert "on, 1 responses, 0 searches" in words
    assert footy("record", "off", **recorded).out == "every match: recording is off\n"
    assert footy("record", "on", "5000", **recorded).out == "fixture 5000: recording is on\n"
    told = json.loads(footy("record", "list", "--json", **recorded).out)
    assert (told["every_match"], told["recordings"][0]["on"]) == (False, True)


@pytest.mark.parametrize("words", [["on"], ["on", "5000", "--all"]])
def test_ambiguous_arguments_are_rejected(footy: Footy, recorded: dict[str, str], words: list[str]) -> None:
    assert footy("record", *words, **recorded).code == 2


def test_an_unknown_fixture_is_not_found(footy: Footy, recorded: dict[str, str]) -> None:
    assert footy("record", "export", "6000", "/dev/null", **recorded).code == 3


def test_a_live_match_is_exported_as_recorded_so_far(footy: Footy, recorded: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl.gz"
    ended = footy("record", "export", "5000", str(path), **recorded)
    assert ended.code == 0, ended.err
    found = unpack(path.read_bytes())
    assert (found.fixture_id, len(found.answers)) == (5000, 1)
    assert found.rules["poll_seconds"] == 30
    assert footy("record", "export", "5000", str(tmp_path / "no" / "folder"), **recorded).code == 4
