"""`footy token`."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from found_footy.access.models import parse_token
from tests.cli.conftest import Footy


def test_a_token_is_created_listed_and_revoked(footy: Footy, database_url: str) -> None:
    settings = {"DATABASE_URL": database_url}
    made = footy("token", "create", "--name", "Desk ü", "--role", "editor", "--days", "30", "--json", **settings)
    assert made.code == 0, made.err
    document = json.loads(made.out)
    parsed = parse_token(document["token"])
    assert parsed is not None
    assert (document["id"], document["name"], document["role"]) == (parsed[0], "Desk ü", "editor")
    assert (document["state"], document["last_used_at"]) == ("valid", None)

    plain = footy("token", "create", "--name", "Eye", "--role", "reader", **settings)
    assert plain.code == 0
    assert parse_token(plain.out.strip()) is not None, "only the token goes to the first stream"
    assert "it will not be shown again" in plain.words
    lasting = footy("token", "create", "--name", "Robot", "--role", "reader", "--never-expires", "--json", **settings)
    assert json.loads(lasting.out)["expires_at"] is None

    listed = footy("token", "list", "--json", **settings)
    assert [each["name"] for each in json.loads(listed.out)] == ["Desk ü", "Eye", "Robot"]
    ends = [each["expires_at"] and datetime.fromisoformat(each["expires_at"]) for each in json.loads(listed.out)]
    created = [datetime.fromisoformat(each["created_at"]) for each in json.loads(listed.out)]
    lasts = [end and (end - start).days for end, start in zip(ends, created, strict=True)]
    assert lasts == [30, 90, None], "tokens expire by default"
    assert parsed[1].hex() not in listed.out

    ended = footy("token", "revoke", parsed[0], "--json", **settings)
    assert (ended.code, json.loads(ended.out)["state"]) == (0, "revoked")
    words = footy("token", "list", **settings).out
    assert f"{parsed[0]}  editor  Desk ü" in words
    assert "revoked" in words


def test_an_unknown_token_cannot_be_revoked(footy: Footy, database_url: str) -> None:
    ended = footy("token", "revoke", "nonsense", "--json", DATABASE_URL=database_url)
    assert (ended.code, ended.out, ended.error()["class"]) == (3, "", "NotFound")


def test_an_empty_token_list_explains_how_to_create_one(footy: Footy, database_url: str) -> None:
    assert "footy token create" in footy("token", "list", DATABASE_URL=database_url).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["create", "--name", "x", "--role", "king"], "invalid value 'king': expected one of reader, editor, operator"),
        (["create", "--name", " ", "--role", "reader"], "1 to 100 printable characters"),
        (["create", "--name", "x" * 101, "--role", "reader"], "1 to 100 printable characters"),
        (["create", "--name", "a\nb", "--role", "reader"], "1 to 100 printable characters"),
        (["create", "--name", "x", "--role", "reader", "--days", "0"], "--days"),
        (["create", "--role", "reader"], "--name"),
        (["revoke"], "id"),
    ],
)
def test_wrong_token_usage_exits_with_2(footy: Footy, arguments: list[str], words: str) -> None:
    ended = footy("token", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert words.lower() in ended.words.lower()


@pytest.mark.parametrize("command", [("list",), ("revoke", "abcd1234"), ("create", "--name", "x", "--role", "reader")])
def test_errors_are_json_with_json_output(footy: Footy, command: tuple[str, ...]) -> None:
    ended = footy("token", *command, "--json")
    assert (ended.code, ended.out, ended.error()["class"]) == (4, "", "EngineError")
