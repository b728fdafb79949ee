"""What ESPN calls the leagues, teams and players of a scenario, and the numbers that it gives them.

Another service, another spelling: full first names, another name for some clubs, other ids throughout. These are facts
that anybody can look up; of what is not in the tables, the scenario's own name is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

from found_footy.simulator.script import League, Player, Team

_MATCHES, _TEAMS, _PLAYERS, _LEAGUES = 40_000_000, 50_000, 200_000, 9_000
"""Beyond the numbers that API-Football gives."""


@dataclass(frozen=True, slots=True)
class EspnTeam:
    id: int
    name: str
    short: str
    code: str
    ground: str | None = None


@dataclass(frozen=True, slots=True)
class EspnLeague:
    id: int
    slug: str
    name: str


LEAGUES = {
    2: EspnLeague(775, "uefa.champions", "UEFA Champions League"),
    39: EspnLeague(700, "eng.1", "English Premier League"),
    61: EspnLeague(710, "fra.1", "French Ligue 1"),
    78: EspnLeague(720, "ger.1", "German Bundesliga"),
    135: EspnLeague(730, "ita.1", "Italian Serie A"),
    140: EspnLeague(740, "esp.1", "Spanish LALIGA"),
}
"""By API-Football's id."""

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
"""By the name that API-Football gives."""

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


def espn_league(league: League) -> EspnLeague:
    return LEAGUES.get(league.id) or EspnLeague(_LEAGUES + league.id, f"sim.{league.id}", league.name)


def espn_team(team: Team) -> EspnTeam:
    code = "".join(sign for sign in team.name.upper() if sign.isalpha())[:3]
    return TEAMS.get(team.name) or EspnTeam(_TEAMS + team.id, team.name, team.name, code)


def espn_player(player: Player) -> tuple[int, str]:
    return _PLAYERS + player.id, PLAYERS.get(player.name, player.name)


def espn_match_id(match_id: int) -> int:
    return _MATCHES + match_id


def match_id_of(espn_id: int) -> int:
    return espn_id - _MATCHES
