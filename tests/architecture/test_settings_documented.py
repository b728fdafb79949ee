"""docs/reference/settings.md tells every setting, with its default and its limits."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin

import pytest

from found_footy.config import DEMO, PREFIX, Settings, environment_names
from tests.architecture.pages import REFERENCE, row_of, section, table_rows, text_of

PAGE = REFERENCE / "settings.md"
NAMES = environment_names()


def in_words(default: Any) -> str:
    if default is None:
        return "not set"
    if isinstance(default, tuple):
        return ",".join(str(part) for part in default) or "empty"
    if isinstance(default, float):
        return f"{default:g}"
    return str(default)


@pytest.mark.parametrize("field", Settings.model_fields)
def test_a_setting_is_documented_with_its_default(field: str) -> None:
    row = row_of(text_of(PAGE), NAMES[field])
    assert row is not None, f"{NAMES[field]} is not in {PAGE.name}"
    assert row[1] == in_words(Settings.model_fields[field].default)
    assert all(row[2:4]), f"{NAMES[field]} has no allowed values or no meaning"


@pytest.mark.parametrize("field", Settings.model_fields)
def test_the_limits_of_a_setting_are_documented(field: str) -> None:
    info = Settings.model_fields[field]
    row = row_of(text_of(PAGE), NAMES[field])
    assert row is not None
    bounds = [
        str(getattr(limit, name))
        for limit in info.metadata
        for name in ("ge", "gt", "le", "lt")
        if getattr(limit, name, None) is not None
    ]
    choices = list(get_args(info.annotation)) if get_origin(info.annotation) is Literal else []
    for wanted in [*bounds, *choices]:
        assert wanted in row[2].replace("`", "").replace(",", "").split(), f"{wanted} is not in {row[2]!r}"


def test_the_names_without_the_prefix_are_listed() -> None:
    listed = re.search(r"names go without the prefix: (.*?)\. ", text_of(PAGE), re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == {name for name in NAMES.values() if not name.startswith(PREFIX)}


def test_no_setting_is_documented_that_does_not_exist() -> None:
    variables = [row[0] for row in table_rows(text_of(PAGE)) if row[0].isupper()]
    assert set(variables) == set(NAMES.values())


def test_the_demo_profile_is_documented() -> None:
    rows = {row[0]: row[1] for row in table_rows(section(PAGE, "## The profile demo")) if row[0].isupper()}
    assert rows == {NAMES[field]: in_words(value) for field, value in DEMO.items()}
