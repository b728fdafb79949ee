"""Whether two feeds mean one person: the rows are the rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.domain.fixtures.attribution import same_person, settled
from found_footy.domain.fixtures.model import Person
from found_footy.domain.fixtures.person_names import alike


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
    assert alike(a, b)
    assert alike(b, a)


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
    assert not alike(a, b)
    assert not alike(b, a)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (Person(1, "M. Salah"), Person(1, "Mohamed Salah"), True),
        (Person(1, "M. Salah"), Person(2, "M. Salah"), False),  # numbers decide where both have one
        (Person(1, "M. Salah"), Person(None, "Mohamed Salah"), True),
        (Person(1), Person(None, "Salah"), False),
        (Person(), Person(), False),
    ],
)
def test_numbers_come_before_names(a: Person, b: Person, same: bool) -> None:
    assert same_person(a, b) is same


@pytest.mark.parametrize(
    ("known", "said", "then"),
    [
        (Person(1, "M. Salah"), Person(), Person(1, "M. Salah")),
        (Person(1, "M. Salah"), Person(None, "Mohamed Salah"), Person(1, "M. Salah")),
        (Person(None, "M. Salah"), Person(1, "Salah"), Person(1, "Salah")),
        (Person(None, "M. Salah"), Person(None, "Mohamed Salah"), Person(None, "Mohamed Salah")),
        (Person(None, "Mohamed Salah"), Person(None, "M. Salah"), Person(None, "Mohamed Salah")),
        (Person(1, "M. Salah"), Person(None, "Diogo Jota"), Person(None, "Diogo Jota")),
        (Person(1, "M. Salah"), Person(2, "Diogo Jota"), Person(2, "Diogo Jota")),
        (Person(), Person(None, "Diogo Jota"), Person(None, "Diogo Jota")),
    ],
)
def test_who_it_is_from_now_on(known: Person, said: Person, then: Person) -> None:
    assert settled(known, said) == then


@given(a=st.text(max_size=40), b=st.text(max_size=40))
def test_whatever_feeds_write_the_answer_does_not_depend_on_who_is_asked_first(a: str, b: str) -> None:
    assert alike(a, b) is alike(b, a)
