"""`footy takedown`."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Footy


def test_an_account_is_taken_down_listed_and_lifted(footy: Footy, database_url: str) -> None:
    settings = {"DATABASE_URL": database_url}
    assert "nothing has been taken down" in footy("takedown", "list", **settings).out
    made = footy("takedown", "account", "@Some_Body", "--reason", "asked", "--source", "x", "--json", **settings)
    assert made.code == 0, made.err
    entry = json.loads(made.out)
    assert (entry["kind"], entry["target"], entry["source"], entry["by"]) == ("remove", "some_body", "x", "cli")
    assert "remove account some_body on x" in footy("takedown", "list", **settings).out
    lifted = footy("takedown", "lift", str(entry["id"]), "--json", **settings)
    assert (lifted.code, json.loads(lifted.out)["lifted_by"]) == (0, "cli")


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["clip", "0123456789abcdef", "--reason", "r"], 3, "NotFound"),
        (["goal", "1_2_3_Goal_1", "--reason", "r"], 3, "NotFound"),
        (["clip", "a clip", "--reason", "r"], 1, "BadRequest"),
        (["clip", "0123456789abcdef", "--reason", " "], 1, "BadRequest"),
        (["lift", "17"], 3, "NotFound"),
    ],
)
def test_a_takedown_of_nothing_is_an_error(
    footy: Footy, database_url: str, arguments: list[str], code: int, error: str
) -> None:
    answer = footy("takedown", *arguments, "--json", DATABASE_URL=database_url)
    assert (answer.code, answer.out, answer.error()["class"]) == (code, "", error)
