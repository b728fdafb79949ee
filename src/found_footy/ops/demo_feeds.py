"""The simulator's feeds, declared as a newcomer would declare real ones: in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from found_footy.simulator.espn_cricket_scripted import SLUG
from found_footy.simulator.espn_names import espn_league
from found_footy.simulator.script import Scenario

FILE = "sources.yaml"

_Limits = Mapping[str, int | float]
_QUICK: _Limits = {"max_concurrent_contexts": 8, "min_interval_seconds": 0.0, "burst_allowance": 50}
_GENTLE: _Limits = {"max_concurrent_contexts": 1, "min_interval_seconds": 4.0, "burst_allowance": 2}
"""A page costs a browser much more than an answer in JSON costs anybody, and cricket takes its time."""


def write_sources(folder: Path, scenario: Scenario, url: str, *, browser: bool) -> Path:
    """The file, in this folder. Without a browser there is no CREX, whose pages nothing else can read."""
    path = (folder / FILE).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump({"sources": declared(scenario, url, browser=browser)}, sort_keys=False, allow_unicode=True)
    path.write_text(text, encoding="utf-8")
    return path


def declared(scenario: Scenario, url: str, *, browser: bool) -> list[dict[str, Any]]:
    feeds = [_source("api_football", 100, url)]
    if scenario.cricket and browser:
        feeds.append(_source("crex", 90, url, _GENTLE))
    if scenario.feeds.espn is not None:
        leagues = [espn_league(league).slug for league in scenario.leagues.values()]
        if scenario.feeds.espn.cricket:
            leagues.append(SLUG)
        feeds.append(_source("espn", 80, url, leagues=leagues))
    return feeds


def _source(name: str, precedence: int, url: str, limits: _Limits = _QUICK, **metadata: Any) -> dict[str, Any]:
    return {
        "domain_id": name,
        "adapter": name,
        "enabled": True,
        "precedence_weight": precedence,
        "rate_limits": dict(limits),
        "metadata": {"base_url": url, **metadata},
    }
