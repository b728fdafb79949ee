"""ESPN's names and ids of the leagues, teams and players of a scenario.

ESPN uses full first names, other names for some clubs, and its own ids. Names missing from the tables are taken from
the scenario.
"""

from __future__ import annotations

from dataclasses import dataclass

from footy_simulator.scenario import ScriptedLeague, ScriptedPlayer, ScriptedTeam

_MATCHES, _TEAMS, _PLAYERS, _LEAGUES = 40_000_000, 50_000, 200_000, 9_000
"""Offsets above the ids of API-Football."""


@dataclass(frozen=True, slots=True)
class EspnTeam:
    id: int
    name: str
    short: str
    code: str
    ground: str | None = None


@dataclass(frozen=True, slots=True)
class EspnLeagueFacts:
    id: int
    slug: str
    name: str


LEAGUES = {
    2: EspnLeagueFacts(775, "uefa.champions", "UEFA Champions League"),
    39: EspnLeagueFacts(700, "eng.1", "English Premier League"),
    61: EspnLeagueFacts(710, "fra.1", "French Ligue 1"),
    78: EspnLeagueFacts(720, "ger.1", "German Bundesliga"),
    135: EspnLeagueFacts(730, "ita.1", "Italian Serie A"),
    140: EspnLeagueFacts(740, "esp.1", "Spanish LALIGA"),
}
"""Keyed by API-Football's id."""

TEAMS = {
    "Arsenal": EspnTeam(359, "Arsenal", "Arsenal", "ARS", "Emirates Stadium"),
    "Aston Villa": EspnTeam(362, "Aston Villa", "Aston Villa", "AVL", "Villa Park"),
    "Chelsea": EspnTeam(363, "Chelsea", "Chelsea", "CHE", "Stamford Bridge"),
    "Everton": EspnTeam(368, "Everton", "Everton", "EVE", "Hill Dickinson Stadium"),
    "Liverpool": EspnTeam(364, "Liverpool", "Liverpool", "LIV", "Anfield"),
    "Manchester City": EspnTeam(382, "Manchester City", "Man City", "MNC", "Etihad Stadium"),
    "Manchester United": EspnTeam(360, "Manchester United", "Man United", "MAN", "Old Trafford"),
    "Newcastle": EspnTeam(361, "Newcastle United", "Newcastle", "NEW", "St. James' Park"),
    "Tottenham": EspnTeam(367, "Tottenham Hotspur", "Tottenham", "TOT", "Tottenham Hotspur Stadium"),
    "West Ham": EspnTeam(371, "West Ham United", "West Ham", "WHU", "London Stadium"),
    "Bayern München": EspnTeam(132, "Bayern Munich", "Bayern Munich", "MUN", "Allianz Arena"),
    "Borussia Dortmund": EspnTeam(124, "Borussia Dortmund", "Dortmund", "DOR", "Signal Iduna Park"),
    "Bayer Leverkusen": EspnTeam(131, "Bayer Leverkusen", "Leverkusen", "B04", "BayArena"),
    "RB Leipzig": EspnTeam(11420, "RB Leipzig", "RB Leipzig", "RBL", "Red Bull Arena"),
    "Real Madrid": EspnTeam(86, "Real Madrid", "Real Madrid", "RMA", "Santiago Bernabéu"),
    "Barcelona": EspnTeam(83, "Barcelona", "Barcelona", "BAR", "Spotify Camp Nou"),
    "Atletico Madrid": EspnTeam(1068, "Atlético Madrid", "Atlético", "ATM", "Riyadh Air Metropolitano"),
    "Paris Saint Germain": EspnTeam(160, "Paris Saint-Germain", "PSG", "PSG", "Parc des Princes"),
    "Marseille": EspnTeam(176, "Marseille", "Marseille", "MAR", "Orange Vélodrome"),
    "Inter": EspnTeam(110, "Internazionale", "Inter Milan", "INT", "San Siro"),
    "Juventus": EspnTeam(111, "Juventus", "Juventus", "JUV", "Allianz Stadium"),
    "Napoli": EspnTeam(114, "Napoli", "Napoli", "NAP", "Stadio Diego Armando Maradona"),
    "AS Roma": EspnTeam(104, "AS Roma", "Roma", "ROMA", "Stadio Olimpico"),
    "AC Milan": EspnTeam(103, "AC Milan", "Milan", "MIL", "San Siro"),
}
"""Keyed by API-Football's name."""

PLAYERS = {
    "A. Griezmann": "Antoine Griezmann",
    "C. Romero": "Cristian Romero",
    "D. Calvert-Lewin": "Dominic Calvert-Lewin",
    "D. McNeil": "Dwight McNeil",
    "D. Núñez": "Darwin Núñez",
    "E. Haaland": "Erling Haaland",
    "H. Kane": "Harry Kane",
    "J. Álvarez": "Julián Alvarez",
    "J. Bellingham": "Jude Bellingham",
    "J. Bowen": "Jarrod Bowen",
    "J. Brandt": "Julian Brandt",
    "K. Adeyemi": "Karim Adeyemi",
    "K. Havertz": "Kai Havertz",
    "L. Díaz": "Luis Díaz",
    "L. Martínez": "Lautaro Martínez",
    "M. Greenwood": "Mason Greenwood",
    "M. Rashford": "Marcus Rashford",
    "M. Thuram": "Marcus Thuram",
    "O. Dembélé": "Ousmane Dembélé",
    "O. Watkins": "Ollie Watkins",
    "P. Foden": "Phil Foden",
    "R. Lewandowski": "Robert Lewandowski",
    "T. Abraham": "Tammy Abraham",
    "V. Osimhen": "Victor Osimhen",
}


def espn_league(league: ScriptedLeague) -> EspnLeagueFacts:
    return LEAGUES.get(league.id) or EspnLeagueFacts(_LEAGUES + league.id, f"sim.{league.id}", league.name)


def espn_team(team: ScriptedTeam) -> EspnTeam:
    code = "".join(sign for sign in team.name.upper() if sign.isalpha())[:3]
    return TEAMS.get(team.name) or EspnTeam(_TEAMS + team.id, team.name, team.name, code)


def espn_player(player: ScriptedPlayer) -> tuple[int, str]:
    return _PLAYERS + player.id, PLAYERS.get(player.name, player.name)


def espn_match_id(match_id: int) -> int:
    return _MATCHES + match_id


def match_id_of(espn_id: int) -> int:
    return espn_id - _MATCHES


# --- Facts about the teams in the bundled scenarios.


@dataclass(frozen=True, slots=True)
class TeamFacts:
    label: str
    """Its full name in English."""
    aliases: tuple[str, ...] = ()
    nicknames: tuple[str, ...] = ()
    short: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    """Names in the language of its country."""
    country: str = ""
    language: str = "en"
    posted: tuple[str, ...] = ()
    """Names that fans use in posts, in addition to the feed's."""
    sitelinks: int = 60
    """Number of Wikipedia articles about it."""


def _english(
    label: str, aliases: tuple[str, ...], nicknames: tuple[str, ...] = (), posted: tuple[str, ...] = ()
) -> TeamFacts:
    return TeamFacts(label, aliases, nicknames, country="United Kingdom", posted=posted)


FACTS: dict[str, TeamFacts] = {
    "Arsenal": _english("Arsenal F.C.", ("AFC", "Arsenal FC"), ("The Gunners",), ("Gunners", "Arsenal FC")),
    "Aston Villa": _english("Aston Villa F.C.", ("AVFC", "Villa"), ("The Villans",), ("AVFC", "Villa")),
    "Chelsea": _english("Chelsea F.C.", ("CFC", "Chelsea FC"), ("The Blues", "The Pensioners"), ("Chelsea FC", "CFC")),
    "Everton": _english("Everton F.C.", ("EFC", "Everton FC"), ("The Toffees", "The Blues"), ("EFC", "Toffees")),
    "Liverpool": _english("Liverpool F.C.", ("LFC", "Liverpool FC"), ("The Reds",), ("LFC", "Liverpool FC")),
    "Manchester City": _english(
        "Manchester City F.C.", ("MCFC", "Man City", "City"), ("The Citizens", "The Sky Blues"), ("Man City", "MCFC")
    ),
    "Manchester United": _english(
        "Manchester United F.C.", ("MUFC", "Man United", "Man Utd"), ("The Red Devils",), ("Man Utd", "MUFC")
    ),
    "Newcastle": _english(
        "Newcastle United F.C.", ("NUFC", "Newcastle United"), ("The Magpies",), ("Newcastle United", "NUFC")
    ),
    "Tottenham": _english(
        "Tottenham Hotspur F.C.", ("Spurs", "THFC", "Tottenham"), ("The Lilywhites",), ("Spurs", "THFC")
    ),
    "West Ham": _english(
        "West Ham United F.C.", ("WHUFC", "West Ham"), ("The Hammers", "The Irons"), ("Hammers", "WHUFC")
    ),
    "Bayern München": TeamFacts(
        "FC Bayern Munich",
        ("Bayern", "Bayern Munich", "FCB", "Bayern München"),
        ("The Bavarians",),
        ("FC Bayern",),
        ("FC Bayern München", "Die Roten"),
        "Germany",
        "de",
        ("Bayern", "FCB"),
        120,
    ),
    "Borussia Dortmund": TeamFacts(
        "Borussia Dortmund",
        ("BVB", "Dortmund", "BVB 09"),
        (),
        ("BVB",),
        ("Die Schwarzgelben",),
        "Germany",
        "de",
        ("BVB", "Dortmund"),
    ),
    "Bayer Leverkusen": TeamFacts(
        "Bayer 04 Leverkusen",
        ("Bayer Leverkusen", "B04", "Leverkusen"),
        own=("Werkself",),
        country="Germany",
        language="de",
        posted=("Leverkusen", "B04"),
    ),
    "RB Leipzig": TeamFacts(
        "RB Leipzig", ("RBL", "Red Bull Leipzig"), own=("RasenBallsport Leipzig",), country="Germany", language="de"
    ),
    "Real Madrid": TeamFacts(
        "Real Madrid CF",
        ("Real Madrid", "RMA", "RMCF"),
        own=("Los Blancos", "Real Madrid Club de Fútbol", "Merengues"),
        country="Spain",
        language="es",
        posted=("RMCF", "Los Blancos"),
        sitelinks=140,
    ),
    "Barcelona": TeamFacts(
        "FC Barcelona",
        ("Barça", "FCB", "Barcelona"),
        ("Blaugrana",),
        ("Barça",),
        ("Fútbol Club Barcelona", "Los culés"),
        "Spain",
        "es",
        ("Barça", "FC Barcelona"),
        150,
    ),
    "Atletico Madrid": TeamFacts(
        "Atlético Madrid",
        ("Atlético de Madrid", "Atleti"),
        own=("Club Atlético de Madrid", "Colchoneros"),
        country="Spain",
        language="es",
        posted=("Atleti", "Atlético de Madrid"),
    ),
    "Paris Saint Germain": TeamFacts(
        "Paris Saint-Germain FC",
        ("PSG", "Paris SG", "Paris Saint-Germain"),
        own=("Les Parisiens", "Paris Saint-Germain Football Club"),
        country="France",
        language="fr",
        posted=("PSG", "Paris Saint-Germain"),
    ),
    "Marseille": TeamFacts(
        "Olympique de Marseille",
        ("OM", "Marseille"),
        own=("Les Phocéens", "Les Olympiens"),
        country="France",
        language="fr",
        posted=("OM", "Olympique de Marseille"),
    ),
    "Inter": TeamFacts(
        "Inter Milan",
        ("Inter", "Internazionale", "FC Internazionale Milano"),
        own=("Nerazzurri", "La Beneamata"),
        country="Italy",
        language="it",
        posted=("Inter Milan", "Nerazzurri"),
    ),
    "Juventus": TeamFacts(
        "Juventus FC",
        ("Juve", "Juventus"),
        own=("Bianconeri", "Vecchia Signora"),
        country="Italy",
        language="it",
        posted=("Juve", "Bianconeri"),
    ),
    "Napoli": TeamFacts(
        "SSC Napoli", ("Napoli",), own=("Partenopei",), country="Italy", language="it", posted=("SSC Napoli",)
    ),
    "AS Roma": TeamFacts(
        "AS Roma", ("Roma", "ASR"), own=("Giallorossi", "I Lupi"), country="Italy", language="it", posted=("Roma",)
    ),
    "AC Milan": TeamFacts(
        "AC Milan", ("Milan", "ACM"), own=("Rossoneri",), country="Italy", language="it", posted=("Milan", "Rossoneri")
    ),
    "Germany": TeamFacts(
        "Germany men's national football team",
        ("Germany national football team", "DFB-Team"),
        own=("Die Mannschaft", "DFB-Elf", "Nationalelf"),
        country="Germany",
        language="de",
        posted=("Die Mannschaft",),
    ),
    "France": TeamFacts(
        "France men's national football team",
        ("France national football team",),
        own=("Les Bleus",),
        country="France",
        language="fr",
        posted=("Les Bleus",),
    ),
}
"""Keyed by the feed's name."""


def facts_of(team: str) -> TeamFacts:
    """Facts of a team; an unknown team has only its name."""
    return FACTS.get(team, TeamFacts(team, sitelinks=3))
