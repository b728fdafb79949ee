"""Whether the letters on a scoreboard can stand for a team: RMA for Real Madrid, MCI for Manchester City."""

from __future__ import annotations

import difflib
import re
import unicodedata
from enum import IntEnum
from functools import lru_cache

KINDS = frozenset(
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
"""Words for the kind of club. Feeds leave them out where broadcasters keep them: ZSC is Zamalek."""

ENDINGS = ("sc", "fc", "sk", "cf", "fk")
"""Those that end a code."""

UNLIKE_THE_NAME = {
    "ale": "germany",
    "asm": "monaco",
    "asr": "roma",
    "asse": "saint etienne",
    "atl": "atletico",
    "b04": "leverkusen",
    "barca": "barcelona",
    "bha": "brighton",
    "bjk": "besiktas",
    "bvb": "dortmund",
    "civ": "cote d ivoire|ivory coast",
    "clb": "brugge",
    "crc": "costa rica",
    "d98": "darmstadt",
    "esp": "spain",
    "fcb": "bayern|barcelona|basel",
    "fck": "kobenhavn|copenhagen|koln|kaiserslautern",
    "fcp": "porto",
    "fcu": "union berlin",
    "gs": "galatasaray",
    "hol": "netherlands",
    "hsv": "hamburg",
    "koe": "koln|cologne",
    "ksa": "saudi arabia",
    "losc": "lille",
    "m05": "mainz",
    "mkd": "macedonia",
    "ned": "netherlands|holland",
    "ol": "lyon|lyonnais",
    "om": "marseille",
    "psg": "paris",
    "rsa": "south africa",
    "rsc": "anderlecht",
    "s04": "schalke",
    "scp": "sporting",
    "sge": "frankfurt",
    "slb": "benfica",
    "spurs": "tottenham",
    "sui": "switzerland",
    "usa": "united states|usa",
    "wba": "west brom",
    "whu": "west ham",
    "wolves": "wolverhampton",
}
"""Codes that no rule derives from the name, with words one of which the name must contain."""

ALIKE = 0.8
"""How alike two words must be, of 1, to be the same but for a misread letter."""
_NO_ACCENTS = dict(zip(map(ord, "øłđßæœı"), ["o", "l", "d", "ss", "ae", "oe", "i"], strict=True))
_LETTER_FOR_DIGIT = str.maketrans("0158", "oisb")


class Fit(IntEnum):
    NO = 0
    LOOSE = 1
    """It may be; as many other teams would do, this alone proves nothing."""
    YES = 2


def fit(letters: str, name: str) -> Fit | None:
    """None where there is nothing to compare: an empty text, or one without Latin letters."""
    read, full = _words(letters), _words(name)
    if not read or not full:
        return None
    return _fits(" ".join(read), " ".join(full))


@lru_cache(maxsize=4096)
def _fits(read: str, full: str) -> Fit:
    words = full.split()
    known = UNLIKE_THE_NAME.get(read)
    if known and any(part in full for part in known.split("|")):
        return Fit.YES
    core = [word for word in words if word not in KINDS] or words
    codes = {read, read.translate(_LETTER_FOR_DIGIT)}
    if any(_stands_for(code, words) or _stands_for(code, core) for code in codes):
        return Fit.YES
    return Fit.LOOSE if any(_with_kind(code, core) for code in codes) else Fit.NO


def _stands_for(code: str, words: list[str]) -> bool:
    return _named(code.split(), words) if " " in code or len(code) > 4 else _abbreviates(code, words)


def _words(text: str) -> list[str]:
    """Small Latin letters and digits only; accents fall off (ø and its like are no accents to Unicode)."""
    plain = text.casefold().translate(_NO_ACCENTS)
    plain = "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char))
    words = re.findall("[a-z0-9]+", plain)
    return words if any(re.search("[a-z]", word) for word in words) else []


def _named(read: list[str], words: list[str]) -> bool:
    """A name written out or shortened word by word: MAN UTD, REAL MADRID, SEVILLA FC, ATLETI."""
    mine = [word for word in read if word not in KINDS] or read
    return all(any(_word_fits(part, word) for word in words) for part in mine)


def _word_fits(part: str, word: str) -> bool:
    if len(part) >= 3 and (word.startswith(part) or (part.startswith(word) and len(word) >= 4)):
        return True
    if len(part) <= 3:
        return _skeleton(part, word)
    return difflib.SequenceMatcher(None, part, word).ratio() >= ALIKE


def _abbreviates(code: str, words: list[str]) -> bool:
    """Pieces that each begin a word, in order (R+MA, M+CI, P+S+G), or letters of the name in order (AVL, JPN)."""
    return _pieces(code, words) or (code[0] == words[0][0] and _skeleton(code, "".join(words[:2])))


def _pieces(code: str, words: list[str]) -> bool:
    if not code:
        return True
    return any(
        word.startswith(code[:size]) and _pieces(code[size:], words[place + 1 :])
        for place, word in enumerate(words)
        for size in range(1, len(code) + 1)
        if word.startswith(code[:size])
    )


def _skeleton(code: str, word: str) -> bool:
    """The same first letter, the others in order. Vowels are what codes leave out, so the last may not be one."""
    rest = iter(word)
    return word[:1] == code[:1] and code[-1] not in "aeiou" and all(char in rest for char in code)


def _with_kind(code: str, core: list[str]) -> bool:
    """ZSC for Zamalek and ASC for Al Ahly: the kind of club stands in the code and not in the name."""
    return any(code.endswith(kind) and _pieces(code.removesuffix(kind), core) for kind in ENDINGS if code != kind)


def other_match(letters: tuple[str, str], names: tuple[str, str]) -> bool:
    """Both sides can be read and compared, and no side fits, whichever stands left."""
    straight = [fit(*pair) for pair in zip(letters, names, strict=True)]
    crossed = [fit(*pair) for pair in zip(letters, reversed(names), strict=True)]
    if None in straight or None in crossed:
        return False
    # Two loose fits in the right places hold each other up; one does not.
    return sum(part or 0 for part in straight) < Fit.YES and sum(part or 0 for part in crossed) < Fit.YES


def turned_around(letters: tuple[str, str], names: tuple[str, str]) -> bool:
    """The visitors stand left, so the score is to be read from right to left."""
    straight = [fit(*pair) for pair in zip(letters, names, strict=True)]
    crossed = [fit(*pair) for pair in zip(letters, reversed(names), strict=True)]
    return Fit.YES not in straight and Fit.YES in crossed
