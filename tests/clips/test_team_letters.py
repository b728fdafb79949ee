from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.clips.team_codes import CodeMatch, is_other_match, is_possibly_misread, is_swapped, match_code


@pytest.mark.parametrize(
    ("letters", "name", "fits"),
    [
        ("SEV", "Sevilla", CodeMatch.YES),
        ("RMA", "Real Madrid", CodeMatch.YES),
        ("MCI", "Manchester City", CodeMatch.YES),
        ("MUN", "Manchester United", CodeMatch.YES),
        ("PSG", "Paris Saint Germain", CodeMatch.YES),
        ("BVB", "Borussia Dortmund", CodeMatch.YES),
        ("AVL", "Aston Villa", CodeMatch.YES),
        ("NFO", "Nottingham Forest", CodeMatch.YES),
        ("KRA", "FC Krasnodar", CodeMatch.YES),
        ("OLY", "Olympiakos Piraeus", CodeMatch.YES),
        ("ATM", "Atlético Madrid", CodeMatch.YES),
        ("KØB", "FC København", CodeMatch.YES),
        ("JPN", "Japan", CodeMatch.YES),
        ("SUI", "Switzerland", CodeMatch.YES),
        ("MAR", "Morocco", CodeMatch.YES),
        ("IRL", "Rep. Of Ireland", CodeMatch.YES),
        ("RCL", "Lens", CodeMatch.YES),
        ("S04", "FC Schalke 04", CodeMatch.YES),
        ("5EV", "Sevilla", CodeMatch.YES),  # a misread letter
        ("MAN UTD", "Manchester United", CodeMatch.YES),
        ("SEVILLA FC", "Sevilla", CodeMatch.YES),
        ("Real Madrld", "Real Madrid", CodeMatch.YES),
        ("ZSC", "Zamalek SC", CodeMatch.YES),
        ("ZSC", "Zamalek", CodeMatch.LOOSE),  # SC is only in the letters
        ("ASC", "Al Ahly", CodeMatch.LOOSE),
        ("ASC", "Arsenal", CodeMatch.LOOSE),
        ("RMA", "Roma", CodeMatch.NO),
        ("RMA", "Liverpool", CodeMatch.NO),
        ("SEV", "Chelsea", CodeMatch.NO),
        ("", "Chelsea", None),
        ("CHE", "", None),
        ("CHE", "切尔西", None),
        ("12", "Chelsea", None),
    ],
)
def test_letters_fit_the_names_that_they_can_stand_for(letters: str, name: str, fits: CodeMatch | None) -> None:
    assert match_code(letters, name) == fits


@given(st.text(max_size=12), st.text(max_size=20))
def test_any_letters_and_any_name_can_be_compared(letters: str, name: str) -> None:
    assert match_code(letters, name) in (None, CodeMatch.NO, CodeMatch.LOOSE, CodeMatch.YES)


@pytest.mark.parametrize(
    ("letters", "names", "other"),
    [
        (("RMA", "SEV"), ("Real Madrid", "Sevilla"), False),
        (("RMA", "SEV"), ("Real Madrid", "Barcelona"), False),  # one fits: nothing is clear
        (("SEV", "RMA"), ("Real Madrid", "Sevilla"), False),
        (("RMA", "SEV"), ("Arsenal", "Chelsea"), True),
        (("ZSC", "ASC"), ("Zamalek", "Al Ahly"), False),  # two loose fits hold each other up
        (("ZSC", "ASC"), ("Liverpool", "Arsenal"), True),  # one does not
        (("RMA", "SEV"), ("皇家马德里", "Sevilla"), False),  # cannot be compared
    ],
)
def test_another_match_has_neither_side(letters: tuple[str, str], names: tuple[str, str], other: bool) -> None:
    assert is_other_match(letters, names) is other


def test_an_away_team_on_the_left_is_detected() -> None:
    assert is_swapped(("SEV", "RMA"), ("Real Madrid", "Sevilla"))
    assert not is_swapped(("RMA", "SEV"), ("Real Madrid", "Sevilla"))


def test_one_misread_letter_leaves_the_teams_open() -> None:
    assert is_possibly_misread(("HMA", "BEY"), ("Real Madrid", "Sevilla"))
    assert not is_possibly_misread(("ARS", "CHE"), ("Real Madrid", "Sevilla"))
    assert not is_possibly_misread(("HARBOUR", "VALLEY"), ("Real Madrid", "Sevilla"))
