"""Whether two feeds mean one person: the rows are the rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.fixtures.models import Player
from found_footy.fixtures.players import resolve_player, same_name, same_player


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Mohamed Salah", "M. Salah"),
        ("Mohamed Salah", "M.Salah"),
        ("Mohamed Salah", "Salah"),
        ("Mohamed Salah", "SALAH"),
        ("Mohamed Salah", "Salah, Mohamed"),
        ("Mohamed Salah", "Mohammed Salah"),
        ("Darwin Núñez", "D. Nunez"),
        ("Martin Ødegaard", "M. Odegaard"),
        ("Kylian Mbappé Lottin", "K. Mbappe"),
        ("Heung-Min Son", "Son Heung-min"),
        ("Heung-Min Son", "H. Son"),
        ("Kevin De Bruyne", "K. De Bruyne"),
        ("Virgil van Dijk", "van Dijk"),
        ("Vinícius Júnior", "Vini Jr."),
        ("Neymar", "Neymar Jr"),
        ("Rodrygo", "Rodrygo Goes"),
        ("Matt O'Riley", "M. ORiley"),
        # Cricket writes the initials together.
        ("Virat Kohli", "V Kohli"),
        ("Rohit Sharma", "RG Sharma"),
        ("Mahendra Singh Dhoni", "MS Dhoni"),
        ("Steven Smith", "SPD Smith"),
        ("Steve Smith", "Steven Smith"),
        ("Lokesh Rahul", "KL Rahul"),
        ("Mohammad Shami", "Mohammed Shami"),
    ],
)
def test_spellings_of_one_person(a: str, b: str) -> None:
    assert same_name(a, b)
    assert same_name(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Mohamed Salah", "Mohamed Elneny"),
        ("Mohamed Salah", "A. Salah"),
        ("Iñaki Williams", "N. Williams"),
        ("Enzo Fernández", "Theo Hernández"),
        ("E. Fernández", "E. Hernández"),
        ("Bruno Fernandes", "Manuel Fernandes"),
        ("Bernardo Silva", "David Silva"),
        ("Rohit Sharma", "KV Sharma"),
        ("Player 7", "Player 9"),
        ("Salah", "?"),
        ("", "Salah"),
        ("M.", "M."),
    ],
)
def test_two_persons(a: str, b: str) -> None:
    assert not same_name(a, b)
    assert not same_name(b, a)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (Player(1, "M. Salah"), Player(1, "Mohamed Salah"), True),
        (Player(1, "M. Salah"), Player(2, "M. Salah"), False),  # numbers decide where both have one
        (Player(1, "M. Salah"), Player(None, "Mohamed Salah"), True),
        (Player(1), Player(None, "Salah"), False),
        (Player(), Player(), False),
    ],
)
def test_numbers_come_before_names(a: Player, b: Player, same: bool) -> None:
    assert same_player(a, b) is same


@pytest.mark.parametrize(
    ("known", "said", "then"),
    [
        (Player(1, "M. Salah"), Player(), Player(1, "M. Salah")),
        (Player(1, "M. Salah"), Player(None, "Mohamed Salah"), Player(1, "M. Salah")),
        (Player(None, "M. Salah"), Player(1, "Salah"), Player(1, "Salah")),
        (Player(None, "M. Salah"), Player(None, "Mohamed Salah"), Player(None, "Mohamed Salah")),
        (Player(None, "Mohamed Salah"), Player(None, "M. Salah"), Player(None, "Mohamed Salah")),
        (Player(1, "M. Salah"), Player(None, "Diogo Jota"), Player(None, "Diogo Jota")),
        (Player(1, "M. Salah"), Player(2, "Diogo Jota"), Player(2, "Diogo Jota")),
        (Player(), Player(None, "Diogo Jota"), Player(None, "Diogo Jota")),
    ],
)
def test_who_it_is_from_now_on(known: Player, said: Player, then: Player) -> None:
    assert resolve_player(known, said) == then


@given(a=st.text(max_size=40), b=st.text(max_size=40))
def test_the_result_is_independent_of_the_order_of_feeds(a: str, b: str) -> None:
    assert same_name(a, b) is same_name(b, a)
