"""docs/reference/cli.md tells every command, option and exit code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from found_footy import cli
from found_footy.command import EXIT_NOT_AS_EXPECTED, EXIT_NOT_STOPPED
from tests.architecture.pages import REFERENCE, code_blocks, row_of, section, table_rows, text_of

PAGE = REFERENCE / "cli.md"
# Typer may bring its own copy of click: what a command is, is told by what it has.
GROUP: Any = typer.main.get_command(cli.app)


def commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


COMMANDS: dict[str, Any] = dict(commands(GROUP))


def parameters() -> Iterator[tuple[str, Any]]:
    for name, command in COMMANDS.items():
        yield from ((name, parameter) for parameter in command.params)


def label(value: Any) -> str:
    return value if isinstance(value, str) else str(value.name)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_section_with_an_example(name: str) -> None:
    text = section(PAGE, f"## footy {name}")
    assert f"footy {name}" in text
    assert any(f"footy {name}" in block for block in code_blocks(PAGE, "console"))
    assert f"[`{name}`](#footy-{name.replace(' ', '-')})" in section(PAGE, "# Commands")


@pytest.mark.parametrize(("name", "parameter"), list(parameters()), ids=label)
def test_a_parameter_is_documented_with_its_default(name: str, parameter: Any) -> None:
    is_option = parameter.param_type_name == "option"
    shown = parameter.opts[0] if is_option else parameter.name.upper()
    row = row_of(section(PAGE, f"## footy {name}"), shown)
    assert row is not None, f"{shown} of footy {name} is not in {PAGE.name}"
    if not is_option:
        assert (row[1] == "required") is bool(parameter.required)
    elif parameter.default is False:
        assert row[1] == "off"
    elif parameter.default not in (None, []):
        assert row[1] == str(parameter.default)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_documented_that_does_not_exist(name: str) -> None:
    documented = {row[0] for row in table_rows(section(PAGE, f"## footy {name}")) if row[0].startswith("--")}
    assert documented == {p.opts[0] for p in COMMANDS[name].params if p.param_type_name == "option"}


def test_the_options_of_footy_itself_are_documented() -> None:
    for parameter in GROUP.params:
        assert f"`{parameter.opts[0]}`" in text_of(PAGE)


def test_the_exit_codes_are_documented() -> None:
    codes = {row[0]: row[1] for row in table_rows(section(PAGE, "## Exit codes"))[1:]}
    for kind, code in cli.EXIT_CODES.items():
        assert f"`{kind.__name__}`" in codes[str(code)]
    used = {0, 1, 130, EXIT_NOT_AS_EXPECTED, EXIT_NOT_STOPPED, *cli.EXIT_CODES.values()}
    assert set(codes) == {str(code) for code in used}
