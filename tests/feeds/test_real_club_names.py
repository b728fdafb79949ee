"""The names that the world has for its clubs, against the rules for which of them are one team's."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from found_footy.feeds.team_similarity import TeamSimilarity, name_similarity
from tests.support.recorded import recorded

COUNTRIES = ("de", "eng", "es", "fr", "it")


def clubs(country: str) -> list[list[str]]:
    """The first name of each, and then its others."""
    path = recorded("feeds", "openfootball", f"{country}.clubs.txt")
    found: list[list[str]] = []
    for line in re.sub(r"#.*|\[[^\]]*\]|\([^)]*\)|›.*", "", path.read_text(encoding="utf-8")).splitlines():
        text = line.strip()
        if not text or text.startswith(("=", "ii", "iii")):
            continue
        if text.startswith("|"):
            found[-1] += [name.strip() for name in text.split("|") if name.strip()]
        else:
            found.append([text.split(",")[0].strip()])
    return found


@pytest.mark.parametrize(("country", "share"), [("de", 0.80), ("eng", 0.95), ("es", 0.90), ("fr", 0.75), ("it", 0.85)])
def test_most_names_of_a_club_point_to_it(country: str, share: float) -> None:
    likenesses = [name_similarity(first, other) for first, *others in clubs(country) for other in others]
    assert sum(each > TeamSimilarity.DIFFERENT for each in likenesses) >= share * len(likenesses)


@pytest.mark.parametrize("country", COUNTRIES)
def test_real_clubs_are_rarely_confused(country: str) -> None:
    """What is left are clubs that bear the same name, such as a club and its successor."""
    pairs = list(combinations([names[0] for names in clubs(country)], 2))
    confused = [pair for pair in pairs if name_similarity(*pair) >= TeamSimilarity.LIKELY]
    assert len(confused) <= 25, confused
    assert len(confused) < len(pairs) / 500
