"""Similarity of team names, with aliases that no rule covers: short and foreign forms of clubs and places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from found_footy.fixtures.players import differ_by_one_letter
from found_footy.fixtures.team_names import KINDS, country_code, is_distinctive, without_squad
from found_footy.text import folded, word_set

MAX_NAME_LENGTH = 80

_WORDS = {
    "united": "utd utdf",
    "wednesday": "wed weds",
    "saint": "st ste sankt sint",
    "athletic": "ath",
    "atletico": "atl athletico atletic",
    "deportivo": "dep depor",
    "sporting": "sp",
    "borussia": "bor",
    "dynamo": "dinamo din",
    "lokomotiv": "lokomotive loko",
    "spartak": "spartacus",
    "rovers": "rov",
    "rangers": "rgrs",
    "wanderers": "wdrs wand",
    "county": "co",
    # Places, in the spelling of most feeds.
    "munich": "munchen muenchen",
    "cologne": "koln koeln",
    "nuremberg": "nurnberg nuernberg",
    "hanover": "hannover",
    "brunswick": "braunschweig",
    "milan": "milano",
    "rome": "roma",
    "naples": "napoli",
    "turin": "torino",
    "florence": "firenze",
    "genoa": "genova",
    "venice": "venezia",
    "seville": "sevilla",
    "corunna": "coruna",
    "lisbon": "lisboa",
    "prague": "praha",
    "vienna": "wien",
    "belgrade": "beograd",
    "bucharest": "bucuresti",
    "warsaw": "warszawa",
    "copenhagen": "kobenhavn koebenhavn",
    "gothenburg": "goteborg goeteborg",
    "athens": "athina",
    "piraeus": "pireus",
    "moscow": "moskva moskau",
    "kyiv": "kiev kyjiw",
    "brussels": "bruxelles brussel",
    "bruges": "brugge",
    "ghent": "gent gand",
    "antwerp": "antwerpen anvers",
    "geneva": "geneve",
    "basel": "basle",
    "zurich": "zuerich",
    "strasbourg": "strassburg",
    "marseille": "marseilles",
    "lyon": "lyons",
    "olympiakos": "olympiacos olympiacus",
    "saudi": "saudia",
    # Cricket: renamed franchises, and states with two spellings.
    "bengaluru": "bangalore",
    "guyana": "guiana",
}
_CANONICAL_WORDS = {form: word for word, forms in _WORDS.items() for form in forms.split()}

_CLUBS = """
inter: internazionale | inter milan | internazionale milan | inter mailand | football club internazionale milan
milan: ac milan | associazione calcio milan | milan ac | ac mailand | mailand
juventus: juve | juventus turin
turin: torino | torino fc
rome: roma | as roma
lazio: lazio rome | ss lazio
hellas verona: verona | hellas
psg: paris saint germain | paris sg | paris saint g
paris fc: paris football club
barcelona: barca | fc barcelona
barcelona guayaquil: barcelona sc
espanyol: espanyol barcelona | rcd espanyol | real club deportivo espanyol | espanol
real madrid: r madrid | real m
atletico madrid: atletico de madrid | atl madrid | athletic madrid | club atletico madrid
rayo vallecano: rayo | vallecano | rayo vallecano madrid
athletic bilbao: athletic club | athletic club bilbao | ath bilbao
real sociedad: r sociedad | sociedad
real betis: betis | betis seville | real betis balompie
seville: sevilla fc
celta vigo: celta | rc celta | celta de vigo
deportivo corunna: rc deportivo
manchester city: man city | mancity | manchester c
manchester united: man utd | man united | manchester u | manu
wolverhampton wanderers: wolves | wolverhampton
west bromwich albion: west brom | wba
west ham united: west ham
tottenham hotspur: spurs | tottenham
nottingham forest: nottm forest | notts forest | nott m forest
notts county: notts co
milton keynes dons: mk dons
queens park rangers: qpr
brighton hove albion: brighton
sheffield united: sheff utd | sheffield utd
sheffield wednesday: sheff wed | sheff wednesday
bayern munich: bayern | fc bayern
1860 munich: tsv 1860 | munich 1860
borussia monchengladbach: gladbach | m gladbach | mgladbach | borussia mgladbach | b mgladbach | bmg | moenchengladbach
borussia dortmund: bvb | dortmund
bayer leverkusen: leverkusen | bayer 04
eintracht frankfurt: frankfurt | sge
fsv frankfurt: frankfurt fsv
hertha berlin: hertha | hertha bsc
union berlin: fc union berlin
hamburg: hamburger | hsv | hamburger sv
saint pauli: pauli
rb leipzig: rasenballsport leipzig | red bull leipzig
rb salzburg: red bull salzburg
rb bragantino: red bull bragantino | bragantino
new york red bulls: ny red bulls | red bulls
brest: stade brestois | brestois | stade brestois 29
rennes: stade rennais | rennais
reims: stade de reims | stade reims
lyon: olympique lyonnais | lyonnais | olympique lyon
marseille: olympique de marseille | olympique marseille
lille: losc | losc lille
sampdoria: sampdoria genoa | uc sampdoria
fiorentina: florence | acf fiorentina
nice: ogc nice
saint etienne: asse
sporting lisbon: sporting cp | sporting clube de portugal | sporting portugal
benfica: sl benfica | benfica lisbon
porto: fc porto
guimaraes: vitoria guimaraes | vitoria sc
braga: sporting braga
psv: psv eindhoven | eindhoven psv
az: az alkmaar
red star belgrade: crvena zvezda
red star paris: red star 93
fcsb: steaua bucharest | steaua
olympiakos: olympiakos piraeus
young boys: bsc young boys | young boys bern
club bruges: fc bruges
cercle bruges: cercle
copenhagen: fc copenhagen
inter miami: inter miami cf
la galaxy: los angeles galaxy
lafc: los angeles fc
royal challengers bengaluru: rcb
"""
"""One club per line: its name and its unambiguous aliases. No name occurs in two lines."""


_LINK_WORDS = word_set("de del della di da do dos das la le les el of the and und et y")


def words_of(name: str) -> list[str]:
    """Return folded words without articles, with abbreviations and foreign place names normalised."""
    normalized = folded(name[:MAX_NAME_LENGTH].replace("'", "").replace("’", "").replace(".", ". "))
    words = [_CANONICAL_WORDS.get(word, word) for word in normalized.split()]
    return [word for word in words if word not in _LINK_WORDS] or words


def _club_aliases() -> dict[str, str]:
    clubs: dict[str, str] = {}
    for line in _CLUBS.strip().splitlines():
        club, _, others = line.partition(":")
        for name in (club, *others.split("|")):
            clubs[" ".join(words_of(name))] = " ".join(words_of(club))
    return clubs


_CLUB_OF = _club_aliases()


def known_club(words: Sequence[str]) -> str | None:
    """Return the club in the table that these words name; None for clubs that need no alias."""
    without_type = [word for word in words if word not in KINDS]
    without_number = [word for word in without_type if not word.isdigit()]
    candidates = (" ".join(words_text) for words_text in (words, without_type, without_number))
    return next((club for words_text in candidates if (club := _CLUB_OF.get(words_text)) is not None), None)


# --- Similarity of two feeds' names for a team.


MAX_NAMES = 12
MIN_FUZZY_LENGTH = 6
"""Minimum length of words that may differ by one letter: Lecce is not Lecco."""
MAX_SUFFIX_LENGTH = 4
"""Maximum length of a suffix that derives an adjective from a place: Wuppertaler, Niortais."""
ABBREVIATED = re.compile(r"\b(\w{2,})\.")
GENERIC_WORDS = word_set("real royal sporting sport olympique stade deportivo racing athletic club")
"""Prefixes of place names that rarely distinguish two clubs of one place, unlike Dynamo."""
_CODE = re.compile(r"[A-Z][A-Z0-9]{1,3}(-W)?")
PLACEHOLDER = re.compile(
    r"\b(winners?|losers?|runners? up|qualifiers?|tb[cda]|to be (confirmed|decided|announced|determined)|"
    r"(group|grp) [a-l]|rd \d+|play ?off \w)\b|^(team [ab]|home|away|[a-l][1-4]|[1-4][a-l]|qf ?w?\d|sf ?[wl]?\d)$"
)


class TeamSimilarity(IntEnum):
    DIFFERENT = 0
    POSSIBLE = 1
    """Some evidence, but another team would also match: Manchester for Manchester United."""
    LIKELY = 2
    """A short form or a misspelling: Newcastle for Newcastle United."""
    SAME = 3


@lru_cache(maxsize=4096)
def is_placeholder(name: str) -> bool:
    """Return whether the name stands for an undetermined team: `Round of 32 12 Winner`, `TBD`."""
    return bool(PLACEHOLDER.search(folded(name)))


def team_similarity(a_names: Sequence[str], b_names: Sequence[str]) -> TeamSimilarity:
    """Compare all known names of each side. The first is the full name; short codes are only supporting evidence."""
    if not a_names or not b_names or is_placeholder(a_names[0]) or is_placeholder(b_names[0]):
        return TeamSimilarity.DIFFERENT
    if _are_known_to_differ(a_names[0], b_names[0]):
        return TeamSimilarity.DIFFERENT
    best = max(name_similarity(a, b) for a in _full_names(a_names) for b in _full_names(b_names))
    if best < TeamSimilarity.LIKELY and _short_codes(a_names) & _short_codes(b_names):
        return TeamSimilarity(best + 1)
    return best


def _full_names(names: Sequence[str]) -> list[str]:
    first, *others = names[:MAX_NAMES]
    return [first, *(name for name in others if not _CODE.fullmatch(name))]


def _short_codes(names: Sequence[str]) -> set[str]:
    return {name for name in names[:MAX_NAMES] if _CODE.fullmatch(name)}


def _are_known_to_differ(a: str, b: str) -> bool:
    """Return whether the names are two countries, or two clubs of the table; aliases cannot override this."""
    return _are_different(_parse_name(a), _parse_name(b))


@lru_cache(maxsize=16384)
def name_similarity(a: str, b: str) -> TeamSimilarity:
    a_name, b_name = _parse_name(a), _parse_name(b)
    if _are_different(a_name, b_name):
        return TeamSimilarity.DIFFERENT
    if (a_name.country is not None and a_name.country == b_name.country) or (
        a_name.club is not None and a_name.club == b_name.club
    ):
        return TeamSimilarity.SAME
    if a_name.letters.isdisjoint(b_name.letters):
        return TeamSimilarity.DIFFERENT
    similarity = _word_similarity(a_name.distinctive, b_name.distinctive)
    if similarity is TeamSimilarity.SAME and a_name.kinds and b_name.kinds and not a_name.kinds & b_name.kinds:
        return TeamSimilarity.LIKELY  # AC Ajaccio and GFC Ajaccio; but not SSC Napoli and Napoli
    return similarity


@dataclass(frozen=True, slots=True)
class _Name:
    country: str | None
    club: str | None
    distinctive: tuple[str, ...]
    letters: frozenset[str]
    """Initials of the significant words, for a fast rejection of names with nothing in common."""
    kinds: frozenset[str]


@lru_cache(maxsize=4096)
def _parse_name(name: str) -> _Name:
    team = without_squad(name)
    words = words_of(team)
    distinctive = _distinctive_words(team, words)
    return _Name(
        country=country_code(team),
        club=known_club(words),
        distinctive=distinctive,
        letters=frozenset(word[0] for word in distinctive),
        kinds=frozenset(word for word in words if word in KINDS and len(word) <= 3),
    )


def _are_different(a: _Name, b: _Name) -> bool:
    if a.country is not None and b.country is not None:
        return a.country != b.country
    return a.club is not None and b.club is not None and a.club != b.club


def _distinctive_words(name: str, words: list[str]) -> tuple[str, ...]:
    """Return the words without club type and year, if the rest still identifies a team, unlike Paris FC.

    An abbreviated word keeps its dot.
    """
    abbreviated = {folded(word) for word in ABBREVIATED.findall(name)}
    for is_generic in (lambda word: word in KINDS, str.isdigit):
        remaining = [word for word in words if not is_generic(word)]
        if _is_distinctive(" ".join(remaining)):
            words = remaining
    return tuple(f"{word}." if word in abbreviated else word for word in words)


@lru_cache(maxsize=4096)
def _is_distinctive(words: str) -> bool:
    return is_distinctive(words)


def _word_similarity(a: tuple[str, ...], b: tuple[str, ...]) -> TeamSimilarity:
    if not a or not b:
        return TeamSimilarity.DIFFERENT
    short, long = sorted((a, b), key=len)
    unmatched = list(range(len(long)))
    matched: list[int] = []
    is_exact = True
    missing: list[str] = []
    for word in short:
        found = next((i for i in unmatched if _normalize_umlauts(word) == _normalize_umlauts(long[i])), None)
        if found is None:
            found = next((i for i in unmatched if _are_similar_words(word, long[i])), None)
            is_exact = False
        if found is None:
            missing.append(word)
        else:
            unmatched.remove(found)
            matched.append(found)
    if missing:
        # Atlético River Plate matches River Plate Buenos Aires; Hapoel Tel Aviv does not match Maccabi Tel Aviv.
        has_several = sum(_is_distinctive(long[i]) for i in matched) >= 2
        is_distinguished = any(_is_distinctive(word) for word in (*missing, *(long[i] for i in unmatched)))
        return TeamSimilarity.POSSIBLE if has_several and not is_distinguished else TeamSimilarity.DIFFERENT
    if not _is_distinctive(" ".join(short)):
        # Racing is ambiguous, and Manchester has two clubs.
        return TeamSimilarity.POSSIBLE if unmatched else TeamSimilarity.LIKELY
    if not unmatched:
        return TeamSimilarity.SAME if is_exact else TeamSimilarity.LIKELY
    starts_same = 0 in matched
    rest_is_generic = all(long[i] in GENERIC_WORDS for i in unmatched)
    return TeamSimilarity.LIKELY if is_exact and (starts_same or rest_is_generic) else TeamSimilarity.POSSIBLE


@lru_cache(maxsize=4096)
def _normalize_umlauts(word: str) -> str:
    """Normalise Broendby to Brondby; applied to both feeds' words."""
    return word.replace("oe", "o").replace("ue", "u").replace("ae", "a")


def _are_similar_words(a: str, b: str) -> bool:
    if a[0] != b[0]:
        return False
    short, long = sorted((a, b), key=len)
    if len(short) == 1 or (short.endswith(".") and long.startswith(short[:-1])):
        return True  # C. Palace, Gr. Fürth
    if len(short) >= MIN_FUZZY_LENGTH - 1 and long.startswith(short) and len(long) - len(short) <= MAX_SUFFIX_LENGTH:
        return True
    return len(short) >= MIN_FUZZY_LENGTH and differ_by_one_letter(a, b)
