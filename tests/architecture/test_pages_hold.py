"""Links lead somewhere, decisions are listed, and examples load."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from found_footy.simulator import truth
from found_footy.simulator.cricket_script import CricketMatch, Innings, Pause, Wicket
from found_footy.simulator.feed_script import EspnScript, Fault, Feeds, FeedScript, Limits
from found_footy.simulator.loader import bundled_names, parse_scenario
from found_footy.simulator.script import Goal, Incident, Interruption, Match, Scenario
from tests.architecture.pages import DOCS, ROOT, Link, anchors, code_blocks, links, pages, row_of, text_of

SCENARIOS = DOCS / "howto" / "write-a-scenario.md"
ADRS = DOCS / "adr"

MODELS = (
    *(Scenario, Match, Goal, Incident, Interruption, Feeds, FeedScript, EspnScript, Fault, Limits),
    *(CricketMatch, Innings, Wicket, Pause),
)
LOCAL = [link for link in links() if "://" not in link.target and not link.target.startswith("mailto:")]
EXAMPLES = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in pages()
    for number, block in enumerate(code_blocks(page, "yaml"), start=1)
]


@pytest.mark.parametrize("link", LOCAL, ids=str)
def test_a_link_leads_somewhere(link: Link) -> None:
    path, _, anchor = link.target.partition("#")
    target = (link.page.parent / path).resolve() if path else link.page
    assert target.exists(), f"{link}: there is no {path}"
    assert target.is_relative_to(ROOT), f"{link} leads out of the project"
    if anchor:
        assert anchor in anchors(target), f"{link}: {target.name} has no such heading"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        targets = {(page.parent / link.target.partition("#")[0]).resolve() for link in LOCAL if link.page == page}
        waiting += [target for target in targets if target.suffix == ".md" and target not in reached]
    assert set(pages()) <= reached


@pytest.mark.parametrize("page", sorted(ADRS.glob("[0-9]*.md")), ids=lambda page: page.stem)
def test_a_decision_is_listed_and_has_its_parts(page: Path) -> None:
    assert f"]({page.name})" in text_of(ADRS / "README.md")
    for part in ("## Context", "## Decision", "## Consequences", "## Alternatives"):
        assert f"\n{part}\n" in text_of(page)


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_scenario_loads(text: str) -> None:
    scenario = parse_scenario(text, "example")
    if scenario.recording is None:
        assert truth(scenario).matches


@pytest.mark.parametrize(
    ("model", "field"),
    [(m, f) for m in MODELS for f in m.model_fields],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_field_of_the_scenario_format_is_documented(model: type[Scenario], field: str) -> None:
    assert f"`{field}`" in text_of(SCENARIOS)


@pytest.mark.parametrize("field", [name for name, info in Match.model_fields.items() if isinstance(info.default, int)])
def test_a_default_of_the_scenario_format_is_documented(field: str) -> None:
    row = row_of(text_of(SCENARIOS), field)
    assert row is not None
    assert row[1] == str(Match.model_fields[field].default)


def test_the_bundled_scenarios_are_named() -> None:
    for name in bundled_names():
        assert f"`{name}`" in text_of(SCENARIOS)


def test_the_picture_is_well_formed() -> None:
    root = ElementTree.parse(DOCS / "flow.svg").getroot()
    assert root.tag.endswith("svg")
    assert "prefers-color-scheme: dark" in (DOCS / "flow.svg").read_text(encoding="utf-8")
