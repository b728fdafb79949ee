"""Team codes on scoreboards: whether letters can stand for a team, such as RMA for Real Madrid or MCI for Manchester
City.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from enum import IntEnum
from functools import lru_cache
from string import ascii_lowercase

CLUB_TYPE_WORDS = frozenset(
    [
        "ac",
        "afc",
        "as",
        "bk",
        "ca",
        "cd",
        "cf",
        "club",
        "fc",
        "fk",
        "if",
        "jk",
        "kf",
        "ks",
        "nk",
        "rc",
        "rcd",
        "sc",
        "sd",
        "se",
        "sk",
        "ss",
        "ssc",
        "sv",
        "tsg",
        "tsv",
        "ud",
        "us",
        "vfb",
        "vfl",
    ]
)
"""Words for the type of club. Feeds omit them where broadcasters include them: ZSC is Zamalek."""

CODE_SUFFIXES = ("sc", "fc", "sk", "cf", "fk")
"""Club types that codes append to a name."""

IRREGULAR_CODES = {
    "aaaj": "argentinos",
    "aja": "auxerre",
    "ale": "germany",
    "asm": "monaco",
    "asr": "roma",
    "asse": "saint etienne",
    "atl": "atletico",
    "b04": "leverkusen",
    "barca": "barcelona",
    "bdi": "burundi",
    "bgt": "bragantino",
    "bha": "brighton",
    "bih": "bosnia",
    "bjk": "besiktas",
    "bsc": "hertha",
    "bvb": "dortmund",
    "cabj": "boca",
    "cam": "mineiro|atletico mg",
    "cap": "paranaense",
    "carp": "river plate",
    "cgo": "congo",
    "chv": "guadalajara",
    "civ": "cote d ivoire|ivory coast",
    "clb": "brugge",
    "cod": "congo",
    "crc": "costa rica",
    "cta": "central african",
    "cuw": "curacao",
    "d98": "darmstadt",
    "dma": "dominica",
    "esp": "spain",
    "f95": "dusseldorf",
    "fcb": "bayern|barcelona|basel",
    "fck": "kobenhavn|copenhagen|koln|kaiserslautern",
    "fcl": "lorient",
    "fcm": "metz",
    "fcn": "nurnberg|nantes",
    "fcp": "porto",
    "fcu": "union berlin",
    "fro": "faroe",
    "gnk": "dinamo zagreb",
    "gs": "galatasaray",
    "hac": "le havre",
    "hdh": "heidenheim",
    "hol": "netherlands",
    "hsv": "hamburg",
    "irl": "ireland",
    "isl": "iceland",
    "iti": "ittihad",
    "koe": "koln|cologne",
    "ksa": "saudi arabia",
    "ksv": "kiel",
    "kvx": "kosovo",
    "lib": "lebanon",
    "los": "lille",
    "losc": "lille",
    "ltu": "lithuania",
    "lva": "latvia",
    "m05": "mainz",
    "mar": "morocco",
    "mda": "moldova",
    "mhsc": "montpellier",
    "mkd": "macedonia",
    "mli": "mali",
    "mne": "montenegro",
    "mnu": "manchester united",
    "mri": "mauritius",
    "mwi": "malawi",
    "nca": "nicaragua",
    "ned": "netherlands|holland",
    "nga": "nigeria",
    "nsr": "nassr",
    "ogcn": "nice",
    "ol": "lyon|lyonnais",
    "om": "marseille",
    "pao": "panathinaikos",
    "ple": "palestine",
    "prk": "north korea|korea dpr",
    "psg": "paris",
    "rbny": "new york red bulls",
    "rcl": "lens",
    "rcsa": "strasbourg",
    "rfc": "rangers",
    "rou": "romania",
    "rsa": "south africa",
    "rsc": "anderlecht",
    "s04": "schalke",
    "sco": "angers|scotland",
    "scp": "sporting",
    "sdr": "reims",
    "sep": "palmeiras",
    "sge": "frankfurt",
    "slb": "benfica",
    "slv": "salvador",
    "spurs": "tottenham",
    "srfc": "rennes",
    "ste": "saint etienne",
    "sui": "switzerland",
    "svw": "werder",
    "swz": "eswatini",
    "tfc": "toulouse",
    "tpe": "taipei",
    "tsg": "hoffenheim",
    "unam": "pumas",
    "usa": "united states|usa",
    "vsc": "guimaraes",
    "wba": "west brom",
    "whu": "west ham",
    "wolves": "wolverhampton",
}
"""Codes that cannot be derived from the name, with alternative words, one of which the name must contain."""

MIN_WORD_SIMILARITY = 0.8
"""Minimum similarity, 0 to 1, of two words that differ only by a misread letter."""
_NO_ACCENTS = dict(zip(map(ord, "øłđßæœı"), ["o", "l", "d", "ss", "ae", "oe", "i"], strict=True))
_LETTER_FOR_DIGIT = str.maketrans("0158", "oisb")


class CodeMatch(IntEnum):
    NO = 0
    LOOSE = 1
    """Possible, but many other teams would match too, so this alone proves nothing."""
    YES = 2


def match_code(letters: str, name: str) -> CodeMatch | None:
    """None if there is nothing to compare: an empty text, or one without Latin letters."""
    read, full = _words(letters), _words(name)
    if not read or not full:
        return None
    return _match_words(" ".join(read), " ".join(full))


@lru_cache(maxsize=4096)
def _match_words(read: str, full: str) -> CodeMatch:
    words = full.split()
    irregular = IRREGULAR_CODES.get(read)
    if irregular and any(part in full for part in irregular.split("|")):
        return CodeMatch.YES
    core = [word for word in words if word not in CLUB_TYPE_WORDS] or words
    codes = {read, read.translate(_LETTER_FOR_DIGIT)}
    if any(_matches_name(code, words) or _matches_name(code, core) for code in codes):
        return CodeMatch.YES
    return CodeMatch.LOOSE if any(_includes_club_type(code, core) for code in codes) else CodeMatch.NO


def _matches_name(code: str, words: list[str]) -> bool:
    return _matches_names(code.split(), words) if " " in code or len(code) > 4 else _abbreviates(code, words)


def _words(text: str) -> list[str]:
    """Words in lower-case Latin letters and digits, without accents (Unicode does not decompose ø and the like)."""
    plain = text.casefold().translate(_NO_ACCENTS)
    plain = "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char))
    words = re.findall("[a-z0-9]+", plain)
    return words if any(re.search("[a-z]", word) for word in words) else []


def _matches_names(read: list[str], words: list[str]) -> bool:
    """Whether a name is written out or shortened word by word: MAN UTD, REAL MADRID, SEVILLA FC, ATLETI."""
    parts = [word for word in read if word not in CLUB_TYPE_WORDS] or read
    return all(any(_matches_word(part, word) for word in words) for part in parts)


def _matches_word(part: str, word: str) -> bool:
    if len(part) >= 3 and (word.startswith(part) or (part.startswith(word) and len(word) >= 4)):
        return True
    if len(part) <= 3:
        return _is_subsequence_code(part, word)
    return difflib.SequenceMatcher(None, part, word).ratio() >= MIN_WORD_SIMILARITY


def _abbreviates(code: str, words: list[str]) -> bool:
    """Whether the code consists of word beginnings (R+MA, P+S+G) or of letters of the name in order (AVL, JPN)."""
    return _splits_into_prefixes(code, words) or (
        code[0] == words[0][0] and _is_subsequence_code(code, "".join(words[:2]))
    )


def _splits_into_prefixes(code: str, words: list[str]) -> bool:
    if not code:
        return True
    return any(
        word.startswith(code[:size]) and _splits_into_prefixes(code[size:], words[index + 1 :])
        for index, word in enumerate(words)
        for size in range(1, len(code) + 1)
    )


def _is_subsequence_code(code: str, word: str) -> bool:
    """Whether both start with the same letter and the others follow in order. Codes do not end in a vowel."""
    rest = iter(word)
    return word[:1] == code[:1] and code[-1] not in "aeiou" and all(char in rest for char in code)


def _includes_club_type(code: str, core: list[str]) -> bool:
    """Whether the code adds the club type that the name omits: ZSC for Zamalek, ASC for Al Ahly."""
    return any(
        code.endswith(kind) and _splits_into_prefixes(code.removesuffix(kind), core)
        for kind in CODE_SUFFIXES
        if code != kind
    )


def is_other_match(letters: tuple[str, str], names: tuple[str, str]) -> bool:
    """Whether both sides are readable and comparable, and match in neither order."""
    straight = [match_code(*pair) for pair in zip(letters, names, strict=True)]
    crossed = [match_code(*pair) for pair in zip(letters, reversed(names), strict=True)]
    if None in straight or None in crossed:
        return False
    # Two loose matches in the right order support each other; a single one proves nothing.
    return sum(part or 0 for part in straight) < CodeMatch.YES and sum(part or 0 for part in crossed) < CodeMatch.YES


def is_possibly_misread(letters: tuple[str, str], names: tuple[str, str]) -> bool:
    """Whether another letter in one of the codes would make it stand for a team: HMA may be RMA."""
    return any(_is_one_letter_off(code, name) for code, name in zip(letters, names, strict=True))


@lru_cache(maxsize=4096)
def _is_one_letter_off(letters: str, name: str) -> bool:
    code = "".join(_words(letters))
    others = (code[:index] + letter + code[index + 1 :] for index in range(len(code)) for letter in ascii_lowercase)
    return len(code) <= 4 and any(match_code(other, name) is CodeMatch.YES for other in others)


def matches_teams(letters: tuple[str, str], names: tuple[str, str]) -> bool:
    """Whether both sides can stand for the teams in one order, and at least one of them clearly does."""
    for order in (names, (names[1], names[0])):
        fits = [match_code(*pair) for pair in zip(letters, order, strict=True)]
        if CodeMatch.YES in fits and CodeMatch.NO not in fits:
            return True
    return False


def is_swapped(letters: tuple[str, str], names: tuple[str, str]) -> bool:
    """Whether the away team is on the left, so that the score reads from right to left."""
    straight = [match_code(*pair) for pair in zip(letters, names, strict=True)]
    crossed = [match_code(*pair) for pair in zip(letters, reversed(names), strict=True)]
    return CodeMatch.YES not in straight and CodeMatch.YES in crossed
