"""The documentation agrees with the program. Each test lists everything that disagrees at once."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

import typer.main
import yaml

from footy_simulator import scenario as scenario_module
from footy_simulator.loader import bundled_scenarios, parse_scenario
from footy_simulator.scenario import Scenario, ScriptedKick, ScriptedMatch
from footy_simulator.truth import expected_outcome
from found_footy.cli.common import EXIT_NOT_AS_EXPECTED, EXIT_NOT_STOPPED
from found_footy.cli.main import EXIT_CODES, app
from found_footy.clips.models import RejectionReason
from found_footy.config import DEMO, PREFIX, environment_names
from found_footy.fixtures.comparison import GOAL_TOPICS
from found_footy.fixtures.models import FixtureStage, OutboxEvent
from found_footy.operations.finding_changes import FindingState
from tests.support.docs import (
    DOCS,
    REFERENCE,
    ROOT,
    anchors,
    code_blocks,
    links,
    pages,
    row_of,
    section,
    table_rows,
    text_of,
)
from tests.support.reference import ERRORS_PAGE, SETTINGS_PAGE, current_pages, error_rows

SOURCE = ROOT / "src" / "found_footy"
SCHEMA = SOURCE / "storage" / "schema"
ADRS = DOCS / "adr"
SCENARIOS = REFERENCE / "scenario.md"
COMMANDS_PAGE = REFERENCE / "cli.md"
REJECTIONS_PAGE = REFERENCE / "rejections.md"


# --- pages


def test_links_lead_to_pages_and_headings_of_the_project() -> None:
    broken = []
    for link in links():
        if "://" in link.target or link.target.startswith("mailto:"):
            continue
        path, _, anchor = link.target.partition("#")
        target = (link.page.parent / path).resolve() if path else link.page
        if not target.exists() or not target.is_relative_to(ROOT) or (anchor and anchor not in anchors(target)):
            broken.append(str(link))
    assert broken == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting, all_links = set(), [ROOT / "README.md"], list(links())
    while waiting:
        page = waiting.pop()
        reached.add(page)
        targets = {(page.parent / link.target.partition("#")[0]).resolve() for link in all_links if link.page == page}
        waiting += [
            target for target in targets if target.suffix == ".md" and target.exists() and target not in reached
        ]
    assert set(pages()) - reached == set()


def test_decisions_are_listed_and_have_their_parts() -> None:
    parts = ("## Context", "## Decision", "## Consequences", "## Alternatives")
    wrong = []
    for page in sorted(ADRS.glob("[0-9]*.md")):
        wrong += [f"{page.name}: {part}" for part in parts if f"\n{part}\n" not in text_of(page)]
        if f"]({page.name})" not in text_of(ADRS / "README.md"):
            wrong.append(f"{page.name} is not in the list")
    assert wrong == []


def test_the_architecture_page_and_the_tree_agree() -> None:
    page = text_of(DOCS / "architecture.md")
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", page))
    assert [module for module in sorted(named) if not (SOURCE / module).is_file()] == []
    folders = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    assert set(re.findall(r"^\| ?`([a-z_]+)/` ?\|", page, re.MULTILINE)) == folders


def test_the_picture_is_well_formed() -> None:
    root = ElementTree.parse(DOCS / "flow.svg").getroot()
    assert root.tag.endswith("svg")
    assert "prefers-color-scheme: dark" in (DOCS / "flow.svg").read_text(encoding="utf-8")


# --- scenarios


def test_example_scenarios_load() -> None:
    for page in pages():
        for text in code_blocks(page, "yaml"):
            scenario = parse_scenario(text, f"an example of {page.name}")
            assert scenario.recording is not None or expected_outcome(scenario).matches, yaml.safe_load(text)


def test_fields_and_defaults_of_the_scenario_format_are_documented() -> None:
    page = text_of(SCENARIOS)
    models = [
        model
        for _, model in inspect.getmembers(scenario_module, inspect.isclass)
        if (model is Scenario or model.__name__.startswith("Scripted")) and model is not ScriptedKick  # is one word
    ]
    fields = {(model.__name__, field) for model in models for field in getattr(model, "model_fields", {})}
    assert [pair for pair in sorted(fields) if f"`{pair[1]}`" not in page] == []
    for field, info in ScriptedMatch.model_fields.items():
        if isinstance(info.default, int):
            row = row_of(page, field)
            assert (field, row and row[1]) == (field, str(info.default))
    assert [name for name in bundled_scenarios() if f"`{name}`" not in page] == []


# --- commands

# Typer may bring its own copy of click: a group is recognised by its attribute.
GROUP: Any = typer.main.get_command(app)


def commands(group: Any = GROUP, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def test_every_command_is_listed_with_help_for_each_option() -> None:
    page = text_of(COMMANDS_PAGE)
    wrong = [name for name, _ in commands() if f"`{name}`" not in page]
    for name, command in commands():
        if not command.help:
            wrong.append(f"{name}: no help")
        wrong += [f"{name} {each.name}: no help" for each in command.params if not each.help and each.name != "help"]
    assert wrong == []


def test_examples_of_commands_use_existing_options() -> None:
    known = {
        name: {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        for name, command in commands()
    }
    wrong = []
    for page in pages():
        for line in re.findall(r"\$ (?:\S+=\S+ |\S+/)*footy ([a-z].*)", "\n".join(code_blocks(page, "console"))):
            words = line.partition(" #")[0].split()
            name = next((" ".join(words[:size]) for size in (2, 1) if " ".join(words[:size]) in known), None)
            options = {word.partition("=")[0] for word in words if word.startswith("--")}
            if name is None and words[0] not in ("feeds", "follow", "library", "browser"):
                wrong.append(f"{page.name}: unknown command: footy {line}")
            elif name is not None and options - known[name] - {"--help"}:
                wrong.append(f"{page.name}: unknown option: footy {line}")
    assert wrong == []


def test_exit_codes_are_documented() -> None:
    codes = {row[0]: row[1] for row in table_rows(section(COMMANDS_PAGE, "## Exit codes"))[1:]}
    for kind, code in EXIT_CODES.items():
        assert f"`{kind.__name__}`" in codes[str(code)]
    used = {0, 1, 130, EXIT_NOT_AS_EXPECTED, EXIT_NOT_STOPPED, *EXIT_CODES.values()}
    assert set(codes) == {str(code) for code in used}


# --- settings

NAMES = environment_names()


def test_settings_and_errors_on_the_reference_pages_are_current() -> None:
    outdated = [page.name for page, text in current_pages().items() if text_of(page) != text]
    assert outdated == [], "run `python -m tests.support.reference`"
    head = text_of(SETTINGS_PAGE).partition("## The profile demo")[0]
    listed = [row[0] for row in table_rows(head) if row[0] in NAMES.values()]
    assert sorted(listed) == sorted(NAMES.values())
    assert {name for name in error_rows() if row_of(text_of(ERRORS_PAGE), name) is None} == set()


def test_settings_without_the_prefix_are_listed() -> None:
    listed = re.search(r"names go without the prefix: (.*?)\. ", text_of(SETTINGS_PAGE), re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == {name for name in NAMES.values() if not name.startswith(PREFIX)}


def test_the_demo_profile_is_documented() -> None:
    rows = {row[0] for row in table_rows(section(SETTINGS_PAGE, "## The profile demo")) if row[0].isupper()}
    assert rows == {NAMES[field] for field in DEMO}


# --- errors, rejections, dependencies


def test_error_types_raised_by_workflows_are_documented() -> None:
    raised = {
        found
        for path in SOURCE.rglob("workflow.py")
        for found in re.findall(r'\btype="(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert raised == {row[0] for row in table_rows(section(ERRORS_PAGE, "## In Temporal"))[1:]}


def test_rejection_reasons_are_documented_in_order_with_meaning_and_remedy() -> None:
    rows = {row[0]: row for row in table_rows(text_of(REJECTIONS_PAGE)) if row[0] in set(RejectionReason)}
    assert list(rows) == [str(reason) for reason in RejectionReason]
    assert [name for name, row in rows.items() if len(row) != 4 or not all(row)] == []


def test_dependencies_are_documented_with_reason_and_licence() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    rows = table_rows(text_of(REFERENCE / "dependencies.md"))
    wrong = []
    for line in lines:
        name = re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0].lower()
        found = [row for row in rows if re.match(rf"`?{name}(`|$)", row[0])]
        if not found or not all(found[0][1:3]):
            wrong.append(name)
    assert wrong == []


# --- database


def schema() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(SCHEMA.glob("*.sql")))


def test_tables_views_and_functions_are_documented() -> None:
    page = text_of(REFERENCE / "database.md")
    names = re.findall(r"^create (?:table|view) (\w+)", schema(), re.MULTILINE)
    assert names
    assert [name for name in names if row_of(page, name) is None] == []
    functions = re.findall(r"^create (?:or replace )?function (\w+)", schema(), re.MULTILINE)
    assert [name for name in functions if f"`{name}`" not in page] == []


def test_fields_of_documents_are_documented() -> None:
    """The keys that begin a line in the functions which build documents."""
    text = section(REFERENCE / "database.md", "## Views")
    missing = []
    for function in ("goal_document", "searches_of", "clips_of"):
        form = rf"^create (?:or replace )?function {function}\(.*?\$\$(.*?)\$\$;"
        body = re.findall(form, schema(), re.MULTILINE | re.DOTALL)[-1]
        keys = re.findall(r"^\s+'(\w+)', ", body, re.MULTILINE)
        assert keys, function
        missing += [f"{function}: {key}" for key in keys if f"`{key}`" not in text]
    assert missing == []


def outbox_topics() -> Iterator[str]:
    """The first argument of every outbox event in the source; an unknown form fails."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if f"{OutboxEvent.__name__}(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == OutboxEvent.__name__:
                match node.args[0]:
                    case ast.Constant(value=str(topic)):
                        yield topic
                    case ast.JoinedStr(values=[ast.Constant(value="fixture."), ast.FormattedValue()]):
                        yield from (f"fixture.{stage}" for stage in FixtureStage)
                    case ast.JoinedStr(values=[ast.Constant(value="finding."), ast.FormattedValue()]):
                        yield from (f"finding.{state}" for state in FindingState)
                    case ast.Name(id="topic"):
                        yield from GOAL_TOPICS.values()
                    case _:
                        raise AssertionError(f"{path.name}:{node.lineno}: this test cannot read the topic")


def test_outbox_topics_are_documented() -> None:
    documented = {row[0] for row in table_rows(section(REFERENCE / "database.md", "## Outbox"))[1:]}
    assert set(outbox_topics()) == documented
