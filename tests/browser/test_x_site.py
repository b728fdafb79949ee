"""The simulated X's search understands what the real one does, as far as it is used."""

from __future__ import annotations

import pytest

from footy_simulator.x import query_matches
from found_footy.discovery.query import SearchQuery


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("goal", "A GOAL!", True),
        ("goal", "goalkeeper", False),
        ("(Florian OR Wirtz) (LFC OR Liverpool)", "Wirtz, LFC", True),
        ("(Florian OR Wirtz) (LFC OR Liverpool)", "Wirtz, Chelsea", False),
        ('(Müller OR "Thomas Müller") FCB filter:videos', "muller for #FCB", True),
        ('"van Dijk" LFC', "van der Dijk LFC", False),
        ('"van Dijk" LFC', "Virgil van Dijk, LFC", True),
        ("Wirtz OR Salah LFC", "Salah LFC", True),
        ("Wirtz OR Salah LFC", "Salah", False),
        ("filter:videos", "anything", True),
        ("", "anything", True),
        ("((", "anything", True),
        ('"', "anything", True),
    ],
)
def test_a_query_matches_as_on_x(query: str, text: str, expected: bool) -> None:
    assert query_matches(query, text) is expected


def test_the_simulated_site_parses_our_queries() -> None:
    query = SearchQuery(("Son", "Heung-min Son"), ("Tottenham Hotspur", "Spurs"))
    assert query_matches(query.text, "Heung-Min Son scores! Spurs lead")
    assert not query_matches(query.text, "Kane scores! Spurs lead")
