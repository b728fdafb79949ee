"""Parsing of match cards in HTML."""

from __future__ import annotations

import re


def card(html: str, fixture_id: int) -> str:
    found = re.search(rf'<article class="match" id="match-{fixture_id}".*?</article>', html, re.DOTALL)
    assert found is not None
    return found[0]


def goal_in(html: str, event_id: str) -> str:
    found = re.search(rf'<li data-goal="{event_id}">.*?</li>', html, re.DOTALL)
    assert found is not None
    return found[0]


def order(html: str) -> list[str]:
    return re.findall(r'data-fixture="(\d+)"', html)
