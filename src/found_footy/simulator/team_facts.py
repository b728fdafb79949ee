"""What is known of the teams that the bundled scenarios play with. Facts, as any fan could list them."""

from __future__ import annotations

from dataclasses import dataclass


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
    """What fans call it in a post, beside the name that the feed gives."""
    sitelinks: int = 60
    """How many encyclopedias write about it."""


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
"""By the name that the feed gives."""


def facts_of(team: str) -> TeamFacts:
    """Of an unknown team nothing is known but its name."""
    return FACTS.get(team, TeamFacts(team, sitelinks=3))
