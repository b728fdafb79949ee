"""Reading the documentation: pages, sections, tables, code blocks, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"

_FENCE = re.compile(r"^(\s*)(`{3,})(\w*)[^\n]*\n(.*?)^\1\2\s*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def pages() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """The page without its code blocks."""
    return _FENCE.sub("", text_of(page))


def code_blocks(page: Path, language: str) -> list[str]:
    return [found[4] for found in _FENCE.finditer(text_of(page)) if found[3] == language]


def section(page: Path, heading: str) -> str:
    """The text under a heading, up to the next one of the same level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{level}}} |\Z)", text_of(page), re.MULTILINE | re.DOTALL)
    assert found is not None, f"{page.name} has no heading {heading!r}"
    return found[1]


def table_rows(text: str) -> list[list[str]]:
    """The rows of all tables. A cell that is one piece of code goes without its marks."""
    rows = []
    for line in text.splitlines():
        if line.startswith("|") and not set(line) <= set("|-: "):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            rows.append([re.sub(r"^`([^`]*)`$", r"\1", cell.strip()) for cell in cells])
    return rows


def row_of(text: str, name: str) -> list[str] | None:
    """The row whose first cell is this name."""
    return next((row for row in table_rows(text) if row[0] == name), None)


@dataclass(frozen=True, slots=True)
class Link:
    page: Path
    target: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}: {self.target}"


def links() -> Iterator[Link]:
    for page in pages():
        for target in _LINK.findall(prose(page)):
            yield Link(page, target)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors that the usual renderers give to the headings of a page."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+)$", prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return frozenset(found)
