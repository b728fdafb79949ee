"""A query's text, and what a title must say to fit it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from found_footy.discovery.query import SearchQuery
from found_footy.text import folded, unaccented, unique


@pytest.mark.parametrize(
    ("players", "teams", "text"),
    [
        (("Florian", "Wirtz"), ("LFC", "Liverpool"), "(Florian OR Wirtz) (LFC OR Liverpool)"),
        (("Salah",), ("Liverpool",), "Salah Liverpool"),
        ((), ("LFC", "Man City"), '(LFC OR "Man City")'),
        (("Calvert-Lewin",), ("Everton",), '"Calvert-Lewin" Everton'),
        (("van Dijk",), (), '"van Dijk"'),
        (("Díaz", "Diaz"), ("LFC",), "(Díaz OR Diaz) LFC"),
        # A name cannot break out of its quotes, nor turn into a command.
        (('Sa"lah', "OR"), ('x" from:me',), '("Sa lah" OR "OR") "x from:me"'),
        (("-Salah",), ("a\nb",), '"-Salah" "a b"'),
        (('""',), ("LFC",), "LFC"),
        ((), (), ""),
    ],
)
def test_the_text_of_a_query(players: tuple[str, ...], teams: tuple[str, ...], text: str) -> None:
    assert SearchQuery(players, teams).text == text


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), max_size=4), st.lists(st.text(max_size=20), max_size=8))
def test_any_names_yield_balanced_quotes_and_brackets(players: list[str], teams: list[str]) -> None:
    text = SearchQuery(tuple(players), tuple(teams)).text
    assert text.count('"') % 2 == 0
    bare = re.sub(r'"[^"]*"', "x", text)
    assert re.fullmatch(r"[\w() ]*", bare)
    assert bare.count("(") == bare.count(")") <= 2
    assert len(text.splitlines()) <= 1 or "\n" not in text


@pytest.mark.parametrize(
    ("title", "fits"),
    [
        ("Liverpool [1] - 0 Manchester City - Mohamed Salah 12'", True),
        ("SALAH!!! #LFC", True),
        ("Salah's goal for Liverpool", True),
        ("Salahs Liverpool", False),
        ("Salah scores", False),
        ("Liverpool lead", False),
        ("", False),
    ],
)
def test_a_title_must_name_the_scorer_and_a_team(title: str, fits: bool) -> None:
    assert SearchQuery(("Salah",), ("Liverpool", "LFC")).matches(title) is fits


@pytest.mark.parametrize(
    ("word", "title"),
    [
        ("Højbjerg", "HOJBJERG with a rocket"),
        ("Calvert-Lewin", "Calvert Lewin header"),
        ("O'Riley", "Matt O’Riley wins it"),
        ("Çalhanoğlu", "Calhanoglu from the spot"),
        ("Weiß", "weiss"),
    ],
)
def test_spellings_do_not_matter_to_a_title(word: str, title: str) -> None:
    assert SearchQuery((word,), ()).matches(title)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Ødegaard", "Odegaard"),
        ("Çalhanoğlu", "Calhanoglu"),
        ("Éder Militão", "Eder Militao"),
        ("Weiß", "Weiss"),
        ("Ægir Þór", "Aegir Thor"),
        ("İlkay", "Ilkay"),
        ("Łukasz", "Lukasz"),
        ("Heung-Min", "Heung-Min"),
        # Other scripts have letters that only look like an accent.
        ("Андрей", "Андрей"),
        ("손흥민", "손흥민"),
        ("ガーナ", "ガーナ"),
    ],
)
def test_plain_letters_keep_case_and_hyphens(text: str, plain: str) -> None:
    assert unaccented(text) == plain
    assert folded(unaccented(text)) == folded(text)


def test_the_first_spelling_of_each_word_stays() -> None:
    assert unique(["Köln", "koln", "KÖLN", "", "-", "Effzeh"]) == ("Köln", "Effzeh")
