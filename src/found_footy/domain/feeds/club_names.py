"""Names that no rule makes one of: short and foreign forms of clubs and places, and clubs that share their words."""

from __future__ import annotations

from collections.abc import Sequence

from found_footy.domain.discovery.club_words import KINDS
from found_footy.domain.discovery.query import folded, word_set

LONGEST = 80

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
    # Places, in the spelling that most feeds have.
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
    # Cricket: franchises were renamed, and states are written in two ways.
    "bengaluru": "bangalore",
    "guyana": "guiana",
}
_ONE_WORD = {form: word for word, forms in _WORDS.items() for form in forms.split()}

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
"""One club a line: its name, and other names that stand for it alone. No name stands in two lines."""


_LINKS = word_set("de del della di da do dos das la le les el of the and und et y")


def words_of(name: str) -> list[str]:
    """Folded words without articles; abbreviations and foreign forms of places in one spelling."""
    plain = folded(name[:LONGEST].replace("'", "").replace("’", "").replace(".", ". "))
    words = [_ONE_WORD.get(word, word) for word in plain.split()]
    return [word for word in words if word not in _LINKS] or words


def _table() -> dict[str, str]:
    clubs: dict[str, str] = {}
    for line in _CLUBS.strip().splitlines():
        club, _, others = line.partition(":")
        for name in (club, *others.split("|")):
            clubs[" ".join(words_of(name))] = " ".join(words_of(club))
    return clubs


_CLUB_OF = _table()


def club_of(words: Sequence[str]) -> str | None:
    """The one club that these words stand for; None for the many that need no table."""
    without_kind = [word for word in words if word not in KINDS]
    without_number = [word for word in without_kind if not word.isdigit()]
    tried = (" ".join(some) for some in (words, without_kind, without_number))
    return next((club for some in tried if (club := _CLUB_OF.get(some)) is not None), None)
