"""What people write for a scorer. The rows are the rule."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from footy_simulator.loader import load_scenario
from found_footy.discovery.models import OPERATORS
from found_footy.discovery.player_names import MAX_TERMS, MIN_TERM_LENGTH, player_search_names

NAMES: dict[str, tuple[str, ...]] = {
    # First name and family name.
    "Florian Wirtz": ("Florian", "Wirtz"),
    "Bruno Fernandes": ("Bruno", "Fernandes"),
    "Rodrigo Riquelme": ("Rodrigo", "Riquelme"),
    # A first name that every squad has, or that is an everyday word.
    "Mohamed Salah": ("Salah",),
    "Mohammed Kudus": ("Kudus",),
    "Ben White": ("White",),
    "Will Hughes": ("Hughes",),
    "João Félix": ("Félix", "Felix"),
    # … unless there is nothing else.
    "Mohamed Ali": ("Ali",),
    "Mohamed": ("Mohamed",),
    # Initials are never searched for.
    "M. Salah": ("Salah",),
    "M.Salah": ("Salah",),
    "M Salah": ("Salah",),
    "J. E. de Andrade": ("de Andrade",),
    "A. F. Carabali R.": ("Carabali",),
    "Á. Correa": ("Correa",),
    # Single names.
    "Rodri": ("Rodri",),
    "Pedri": ("Pedri",),
    "Pepê Aquino": ("Pepê", "Pepe", "Aquino"),
    "Saúl": ("Saúl", "Saul"),
    # Hyphens hold together.
    "D. Calvert-Lewin": ("Calvert-Lewin",),
    "T. Alexander-Arnold": ("Alexander-Arnold",),
    "Pierre-Emerick Aubameyang": ("Pierre-Emerick", "Aubameyang"),
    "Son Heung-Min": ("Son", "Heung-Min"),
    "Kim Min‑Jae": ("Kim", "Min-Jae"),
    # Particles belong to the word after them.
    "Virgil van Dijk": ("Virgil", "van Dijk"),
    "K. De Bruyne": ("De Bruyne",),
    "F. de Jong": ("de Jong",),
    "van der Sar": ("van der Sar",),
    "Marc-André ter Stegen": ("Marc-André", "Marc-Andre", "ter Stegen"),
    "Ángel Di María": ("Di María", "Di Maria"),
    "S. El Shaarawy": ("El Shaarawy",),
    "J. St. Juste": ("St Juste",),
    "W. Ben Yedder": ("Ben Yedder",),
    "Nguyen Van": ("Nguyen", "Van"),
    # Suffixes are no names.
    "Vinícius Júnior": ("Vinícius", "Vinicius"),
    "Neymar Jr.": ("Neymar",),
    "Pedro Filho": ("Pedro",),
    "Júnior": ("Júnior", "Junior"),
    # Accents are kept, and the plain spelling stands beside.
    "M. Ødegaard": ("Ødegaard", "Odegaard"),
    "P. Højbjerg": ("Højbjerg", "Hojbjerg"),
    "H. Çalhanoğlu": ("Çalhanoğlu", "Calhanoglu"),
    "İlkay Gündoğan": ("İlkay", "Ilkay", "Gündoğan", "Gundogan"),
    "Łukasz Fabiański": ("Łukasz", "Lukasz", "Fabiański", "Fabianski"),
    # Apostrophes of any kind.
    "N'Golo Kanté": ("N'Golo", "Kanté", "Kante"),
    "M. O’Riley": ("O'Riley",),
    "M. O´Riley": ("O'Riley",),
    # Feeds that shout, turn names around or add what does not belong.
    "MOHAMED SALAH": ("Salah",),
    "T. ALEXANDER-ARNOLD": ("Alexander-Arnold",),
    "Salah, Mohamed": ("Salah",),
    "Haaland (pen)": ("Haaland",),
    "Kane [P] 45+2'": ("Kane",),
    "  Erling   Haaland ": ("Erling", "Haaland"),
    # Long names: the last word counts most, then the first that tells something.
    "Juan Carlos Pérez López": ("Pérez", "Perez", "López", "Lopez"),
    "Kylian Sanmi Adesanmi Mbappé Lottin": ("Kylian", "Sanmi", "Adesanmi", "Lottin"),
    # Short names.
    "Wu Lei": ("Lei",),
    "Xu": ("Xu",),
    "Li Lu": ("Li Lu",),
    "A. Xu": ("Xu",),
    "Jô": ("Jô", "Jo"),
    # Other scripts.
    "Мохамед Салах": ("Мохамед", "Салах"),
    "モハメド・サラー": ("モハメド", "サラー"),
    "محمد صلاح": ("محمد", "صلاح"),
    "손흥민": ("손흥민",),
    "武磊": ("武磊",),
    "मोहम्मद सलाह": ("मोहम्मद", "सलाह"),
    # Nobody knows.
    "": (),
    " ": (),
    "?": (),
    "-": (),
    "Unknown": (),
    "Unknown Player": (),
    "Own Goal": (),
    "N/A": (),
    "7": (),
    "X": (),
    "A. B.": (),
    # What a search engine would take for a command.
    "OR": (),
    "Y. Or": (),
    "-Salah": ("Salah",),
    '"Salah" OR (from:me)': ("Salah",),
    "lang:en Salah": ("lang", "Salah"),
    "Sa\u202elah\u200b": ("Salah",),
}


@pytest.mark.parametrize(("name", "words"), NAMES.items())
def test_search_terms_for_a_scorer(name: str, words: tuple[str, ...]) -> None:
    assert player_search_names(name) == words


def test_no_player_is_searched_for_without_a_scorer() -> None:
    assert player_search_names(None) == ()


MATCHDAY = {
    "Mohamed Salah": ("Salah",),
    "E. Haaland": ("Haaland",),
    "L. Díaz": ("Díaz", "Diaz"),
    "P. Foden": ("Foden",),
    "D. Núñez": ("Núñez", "Nunez"),
    "C. Romero": ("Romero",),
    "Son Heung-Min": ("Son", "Heung-Min"),
    "K. Havertz": ("Havertz",),
    "Gabriel Magalhães": ("Gabriel", "Magalhães", "Magalhaes"),
    "H. Kane": ("Kane",),
    "J. Brandt": ("Brandt",),
    "K. Adeyemi": ("Adeyemi",),
    "R. Lewandowski": ("Lewandowski",),
    "Éder Militão": ("Éder", "Eder", "Militão", "Militao"),
    "J. Bellingham": ("Bellingham",),
    "Vinícius Júnior": ("Vinícius", "Vinicius"),
    "Rodrygo": ("Rodrygo",),
    "O. Dembélé": ("Dembélé", "Dembele"),
    "M. Greenwood": ("Greenwood",),
    "L. Martínez": ("Martínez", "Martinez"),
    "A. Griezmann": ("Griezmann",),
    "M. Thuram": ("Thuram",),
    "J. Álvarez": ("Álvarez", "Alvarez"),
    "V. Osimhen": ("Osimhen",),
}


def test_every_scorer_of_the_bundled_matchday() -> None:
    goals = [goal for match in load_scenario("matchday").matches for goal in match.goals]
    players = [player for goal in goals for player in (goal.player, *(change.player for change in goal.changes))]
    scorers = {player.name for player in players if player}
    assert {name: player_search_names(name) for name in scorers} == {name: MATCHDAY[name] for name in scorers}


@settings(deadline=None)
@given(st.text(max_size=200) | st.text(alphabet="aA-'\" :()OR.,áß손مSalah", max_size=40))
@example("ß" * 200)
@example("a " * 100_000)
@example("VAN DER " * 40)
@example("'-' -'- OR AND")
@example("ŉ ǰ ﬃ ﷺ")
def test_any_scorer_name_yields_few_terms_and_no_operators(name: str) -> None:
    words = player_search_names(name)
    assert len(words) <= MAX_TERMS
    assert len(set(words)) == len(words)
    for word in words:
        assert not re.search(r"[\"“”():;,*#@$\[\]\\\d\n]", word)
        assert word.casefold() not in OPERATORS
        assert word == word.strip("-' ")
        assert len(word) <= 80
        assert sum(sign.isalpha() for sign in word) >= 2
    if len(words) > 2:
        assert all(len(word) >= MIN_TERM_LENGTH for word in words)
