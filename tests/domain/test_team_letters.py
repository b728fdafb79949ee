from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.domain.videos.team_letters import Fit, fit, other_match, turned_around


@pytest.mark.parametrize(
    ("letters", "name", "fits"),
    [
        ("SEV", "Sevilla", Fit.YES),
        ("RMA", "Real Madrid", Fit.YES),
        ("MCI", "Manchester City", Fit.YES),
        ("MUN", "Manchester United", Fit.YES),
        ("PSG", "Paris Saint Germain", Fit.YES),
        ("BVB", "Borussia Dortmund", Fit.YES),
        ("AVL", "Aston Villa", Fit.YES),
        ("NFO", "Nottingham Forest", Fit.YES),
        ("KRA", "FC Krasnodar", Fit.YES),
        ("OLY", "Olympiakos Piraeus", Fit.YES),
        ("ATM", "Atlético Madrid", Fit.YES),
        ("KØB", "FC København", Fit.YES),
        ("JPN", "Japan", Fit.YES),
        ("SUI", "Switzerland", Fit.YES),
        ("S04", "FC Schalke 04", Fit.YES),
        ("5EV", "Sevilla", Fit.YES),  # a misread letter
        ("MAN UTD", "Manchester United", Fit.YES),
        ("SEVILLA FC", "Sevilla", Fit.YES),
        ("Real Madrld", "Real Madrid", Fit.YES),
        ("ZSC", "Zamalek SC", Fit.YES),
        ("ZSC", "Zamalek", Fit.LOOSE),  # SC is only in the letters
        ("ASC", "Al Ahly", Fit.LOOSE),
        ("ASC", "Arsenal", Fit.LOOSE),
        ("RMA", "Roma", Fit.NO),
        ("RMA", "Liverpool", Fit.NO),
        ("SEV", "Chelsea", Fit.NO),
        ("", "Chelsea", None),
        ("CHE", "", None),
        ("CHE", "切尔西", None),
        ("12", "Chelsea", None),
    ],
)
def test_letters_fit_the_names_that_they_can_stand_for(letters: str, name: str, fits: Fit | None) -> None:
    assert fit(letters, name) == fits


@given(st.text(max_size=12), st.text(max_size=20))
def test_any_letters_and_any_name_can_be_compared(letters: str, name: str) -> None:
    assert fit(letters, name) in (None, Fit.NO, Fit.LOOSE, Fit.YES)


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
def test_another_match_is_one_where_no_side_fits(letters: tuple[str, str], names: tuple[str, str], other: bool) -> None:
    assert other_match(letters, names) is other


def test_visitors_who_stand_left_are_noticed() -> None:
    assert turned_around(("SEV", "RMA"), ("Real Madrid", "Sevilla"))
    assert not turned_around(("RMA", "SEV"), ("Real Madrid", "Sevilla"))
