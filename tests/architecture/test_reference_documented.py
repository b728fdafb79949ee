"""Errors, losses, dependencies, tables, fields of documents and outbox topics are in the reference."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator

import pytest

from found_footy import cli
from found_footy.domain import errors
from found_footy.domain.errors import FootyError
from found_footy.domain.fixtures.model import Stage
from found_footy.domain.fixtures.polling import TOPICS
from found_footy.domain.videos.losses import Loss
from tests.architecture.pages import REFERENCE, ROOT, row_of, section, table_rows, text_of

SOURCE = ROOT / "src" / "found_footy"
MIGRATIONS = SOURCE / "adapters" / "storage" / "postgres" / "migrations"

ERRORS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, FootyError)]


def exit_code(kind: type[FootyError]) -> int:
    return next((code for parent, code in cli.EXIT_CODES.items() if issubclass(kind, parent)), 1)


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_is_documented_as_it_is(kind: type[FootyError]) -> None:
    row = row_of(text_of(REFERENCE / "errors.md"), kind.__name__)
    assert row is not None, f"{kind.__name__} is not in errors.md"
    parent = kind.__base__.__name__ if kind is not FootyError and kind.__base__ else ""
    assert row[1:4] == [parent, "yes" if kind.retryable else "no", str(exit_code(kind))]
    assert row[4], f"{kind.__name__} has no meaning"


def test_the_types_that_workflows_raise_are_documented() -> None:
    raised = {
        found
        for path in (SOURCE / "workflows").glob("*.py")
        for found in re.findall(r'\btype="(\w+)"', path.read_text(encoding="utf-8"))
    }
    text = section(REFERENCE / "errors.md", "## In Temporal")
    assert raised == {row[0] for row in table_rows(text)[1:]}


@pytest.mark.parametrize("loss", Loss)
def test_a_loss_is_documented_with_its_meaning_and_its_remedy(loss: Loss) -> None:
    row = row_of(text_of(REFERENCE / "losses.md"), loss)
    assert row is not None, f"{loss} is not in losses.md"
    assert len(row) == 4
    assert all(row), f"{loss} lacks where it is found, its meaning or what one can do"


def test_no_loss_is_documented_that_does_not_exist() -> None:
    head, *rows = table_rows(section(REFERENCE / "losses.md", "# Losses"))
    assert head[0] == "loss"
    assert [row[0] for row in rows] == list(Loss)


def requirements() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project.get("optional-dependencies", {}).values()
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    return [re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0].lower() for line in lines]


@pytest.mark.parametrize("name", requirements())
def test_a_dependency_is_documented(name: str) -> None:
    rows = [row for row in table_rows(text_of(REFERENCE / "dependencies.md")) if re.match(rf"`?{name}(`|$)", row[0])]
    assert rows, f"{name} is not in dependencies.md"
    assert all(rows[0][1:3]), f"{name} has no reason or no licence"


def created(what: str) -> list[str]:
    sql = "\n".join(path.read_text(encoding="utf-8") for path in sorted(MIGRATIONS.glob("*.sql")))
    return re.findall(rf"^create {what} (\w+)", sql, re.MULTILINE)


@pytest.mark.parametrize("name", [*created("table"), *created("view")])
def test_a_table_or_view_is_documented(name: str) -> None:
    assert row_of(text_of(REFERENCE / "database.md"), name) is not None


@pytest.mark.parametrize("name", created("function"))
def test_a_function_of_the_database_is_documented(name: str) -> None:
    assert f"`{name}`" in text_of(REFERENCE / "database.md")


def fields(function: str) -> list[str]:
    """The keys of the documents that a function of the database builds, in its latest form; those that begin a line."""
    sql = "\n".join(path.read_text(encoding="utf-8") for path in sorted(MIGRATIONS.glob("*.sql")))
    body = re.findall(rf"^create (?:or replace )?function {function}\(.*?\$\$(.*?)\$\$;", sql, re.MULTILINE | re.DOTALL)
    return re.findall(r"^\s+'(\w+)', ", body[-1], re.MULTILINE)


DOCUMENTS = ("event_document", "searches_of", "candidates_of", "videos_of")


@pytest.mark.parametrize(("function", "field"), [(name, field) for name in DOCUMENTS for field in fields(name)])
def test_a_field_of_a_document_is_documented(function: str, field: str) -> None:
    assert f"`{field}`" in section(REFERENCE / "database.md", "## Views"), f"{field} of {function} is not there"


def topics() -> Iterator[str]:
    """The first argument of every `News(...)` in the source; a form that is not known here fails."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name != "polling.py" and "from found_footy.domain.fixtures.polling import" not in text:
            continue  # another class of that name
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "News":
                yield from expanded(node.args[0], f"{path.name}:{node.lineno}")


def expanded(topic: ast.expr, where: str) -> list[str]:
    match topic:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=[ast.Constant(value="fixture."), ast.FormattedValue()]):
            return [f"fixture.{stage}" for stage in Stage]
        case ast.Name(id="topic"):
            return list(TOPICS.values())
    raise AssertionError(f"{where}: write the topic so that this test can read it, or teach the test")


def test_every_topic_of_the_outbox_is_documented() -> None:
    documented = {row[0] for row in table_rows(section(REFERENCE / "database.md", "## Outbox"))[1:]}
    assert set(topics()) == documented
