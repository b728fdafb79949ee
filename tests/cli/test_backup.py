"""`footy backup` and `footy restore`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Footy
from tests.conftest import SampleDataCopy


def test_a_backup_is_made_listed_verified_and_not_restored_over_data(
    footy: Footy, small_world: SampleDataCopy, tmp_path: Path
) -> None:
    assert small_world.settings.database_url is not None
    settings = {
        "DATABASE_URL": small_world.settings.database_url.get_secret_value(),
        "FOOTY_OBJECT_STORE_URL": (tmp_path / "objects").as_uri(),
        "FOOTY_BACKUP_URL": str(tmp_path / "repository"),
    }
    made = footy("backup", "create", "--json", **settings)
    assert made.code == 0, made.err
    document = json.loads(made.out)
    assert document["objects"] > 0
    assert json.loads(footy("backup", "list", "--json", **settings).out) == [document["id"]]
    assert json.loads(footy("backup", "verify", "--json", **settings).out) == document
    refused = footy("restore", "--json", **settings)
    assert (refused.code, refused.error()["class"]) == (1, "ArgumentsRejected")


def test_without_a_repository_the_setting_is_named(footy: Footy, database_url: str) -> None:
    answer = footy("backup", DATABASE_URL=database_url)
    assert answer.code == 2
    assert "FOOTY_BACKUP_URL is not set" in answer.words
