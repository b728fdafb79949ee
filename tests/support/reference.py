"""Rows of the reference pages that follow from the code. `python -m tests.support.reference` updates the pages."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from found_footy import errors
from found_footy.cli.main import EXIT_CODES
from found_footy.config import DEMO, Settings, environment_names
from found_footy.errors import FootyError
from tests.support.docs import REFERENCE

SETTINGS_PAGE, ERRORS_PAGE = REFERENCE / "settings.md", REFERENCE / "errors.md"


def default_text(default: Any) -> str:
    if default is None:
        return "not set"
    if isinstance(default, tuple):
        return ",".join(str(part) for part in default) or "empty"
    return f"{default:g}" if isinstance(default, float) else str(default)


def limits_text(field: str) -> str:
    """`1–64`, `above 0, up to 60`, the choices, or empty."""
    info = Settings.model_fields[field]
    if get_origin(info.annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(info.annotation))
    limits = {
        name: getattr(each, name) for each in info.metadata for name in ("ge", "gt", "le", "lt") if hasattr(each, name)
    }
    first, last = limits.get("ge"), limits.get("le")
    if first is not None and last is not None:
        return f"{first:g}–{last:.10g}"
    parts = [f"above {limits['gt']:g}" if "gt" in limits else "", f"up to {last:.10g}" if last is not None else ""]
    return ", ".join(part for part in parts if part)


def setting_rows() -> dict[str, str]:
    """By variable: name, default with limits, meaning."""
    names = environment_names()
    rows = {}
    for field, info in Settings.model_fields.items():
        default = default_text(info.default)
        shown = default if info.default in (None, ()) else f"`{default}`"
        limits = limits_text(field)
        meaning = (info.description or "").replace("|", "\\|").removesuffix(".")
        rows[names[field]] = f"|`{names[field]}`|{shown}{f'; {limits}' if limits else ''}|{meaning}|"
    return rows


def error_rows() -> dict[str, str]:
    """By class: name, base class, retryable, exit code, meaning, what to do."""
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, FootyError)]
    rows = {}
    for kind in sorted(kinds, key=lambda each: [base.__name__ for base in reversed(each.__mro__[:-3])]):
        code = next((code for parent, code in EXIT_CODES.items() if issubclass(kind, parent)), 1)
        meaning = (kind.__doc__ or "").strip().partition("\n")[0].removesuffix(".")
        hint = vars(kind).get("hint", "").removesuffix(".").replace("|", "\\|")
        parent = kind.__base__.__name__ if kind.__base__ not in (None, FootyError, Exception) else ""
        rows[kind.__name__] = (
            f"|`{kind.__name__}`|{parent}|{'yes' if kind.retryable else 'no'}|{code}|{meaning}|{hint}|"
        )
    return rows


def demo_rows() -> dict[str, str]:
    """By variable: name, default in the profile `demo`."""
    names = environment_names()
    return {names[field]: f"|`{names[field]}`|`{default_text(value)}`|" for field, value in DEMO.items()}


def current_pages() -> dict[Path, str]:
    """The pages with up-to-date rows. A missing row is not added: someone has to choose its section."""
    head, title, demo = SETTINGS_PAGE.read_text(encoding="utf-8").partition("## The profile demo")
    errors_page = ERRORS_PAGE.read_text(encoding="utf-8")
    return {
        SETTINGS_PAGE: _with_rows(head, setting_rows()) + title + _with_rows(demo, demo_rows()),
        ERRORS_PAGE: _with_rows(errors_page, error_rows()),
    }


def _with_rows(text: str, rows: dict[str, str]) -> str:
    return re.sub(r"^\| ?`(\w+)` ?\|.*\|$", lambda row: rows.get(row[1], row[0]), text, flags=re.MULTILINE)


if __name__ == "__main__":
    for path, text in current_pages().items():
        path.write_text(text, encoding="utf-8")
