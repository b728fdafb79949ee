"""Which teams play for a country, and the three letters that FIFA writes for it."""

from __future__ import annotations

import re

from found_footy.domain.discovery.query import folded
from found_footy.domain.discovery.squads import without_squad

_COUNTRIES = """
AFG Afghanistan; ALB Albania; ALG Algeria; ASA American Samoa; AND Andorra; ANG Angola; AIA Anguilla;
ATG Antigua and Barbuda; ARG Argentina; ARM Armenia; ARU Aruba; AUS Australia; AUT Austria; AZE Azerbaijan;
BAH Bahamas; BHR Bahrain; BAN Bangladesh; BRB Barbados; BLR Belarus; BEL Belgium; BLZ Belize; BEN Benin; BER Bermuda;
BHU Bhutan; BOL Bolivia; BIH Bosnia and Herzegovina|Bosnia; BOT Botswana; BRA Brazil; VGB British Virgin Islands;
BRU Brunei|Brunei Darussalam; BUL Bulgaria; BFA Burkina Faso; BDI Burundi; CAM Cambodia; CMR Cameroon; CAN Canada;
CPV Cape Verde|Cabo Verde|Cape Verde Islands; CAY Cayman Islands; CTA Central African Republic; CHA Chad; CHI Chile;
CHN China|China PR; TPE Chinese Taipei|Taiwan; COL Colombia; COM Comoros; CGO Congo|Republic of the Congo;
COK Cook Islands; CRC Costa Rica; CRO Croatia; CUB Cuba; CUW Curaçao; CYP Cyprus; CZE Czech Republic|Czechia;
COD DR Congo|Congo DR|Democratic Republic of the Congo; DEN Denmark; DJI Djibouti; DMA Dominica;
DOM Dominican Republic; ECU Ecuador; EGY Egypt; SLV El Salvador; ENG England; EQG Equatorial Guinea; ERI Eritrea;
EST Estonia; SWZ Eswatini|Swaziland; ETH Ethiopia; FRO Faroe Islands; FIJ Fiji; FIN Finland; FRA France; GAB Gabon;
GAM Gambia; GEO Georgia; GER Germany; GHA Ghana; GIB Gibraltar; GRE Greece; GRN Grenada; GLP Guadeloupe; GUM Guam;
GUA Guatemala; GUF French Guiana; GUI Guinea; GNB Guinea-Bissau; GUY Guyana; HAI Haiti; HON Honduras; HKG Hong Kong;
HUN Hungary; ISL Iceland; IND India; IDN Indonesia; IRN Iran|IR Iran; IRQ Iraq; ISR Israel; ITA Italy;
CIV Ivory Coast|Côte d'Ivoire; JAM Jamaica; JPN Japan; JOR Jordan; KAZ Kazakhstan; KEN Kenya; KOS Kosovo; KUW Kuwait;
KGZ Kyrgyzstan|Kyrgyz Republic; LAO Laos; LVA Latvia; LBN Lebanon; LES Lesotho; LBR Liberia; LBY Libya;
LIE Liechtenstein; LTU Lithuania; LUX Luxembourg; MAC Macau|Macao; MAD Madagascar; MWI Malawi; MAS Malaysia;
MDV Maldives; MLI Mali; MLT Malta; MTQ Martinique; MTN Mauritania; MRI Mauritius; MEX Mexico; MDA Moldova;
MNG Mongolia; MNE Montenegro; MSR Montserrat; MAR Morocco; MOZ Mozambique; MYA Myanmar; NAM Namibia; NEP Nepal;
NED Netherlands|Holland; NCL New Caledonia; NZL New Zealand; NCA Nicaragua; NIG Niger; NGA Nigeria;
PRK North Korea|Korea DPR; MKD North Macedonia|FYR Macedonia|Macedonia; NIR Northern Ireland; NOR Norway; OMA Oman;
PAK Pakistan; PLE Palestine; PAN Panama; PNG Papua New Guinea; PAR Paraguay; PER Peru; PHI Philippines; POL Poland;
POR Portugal; PUR Puerto Rico; QAT Qatar; IRL Republic of Ireland|Ireland|Rep. of Ireland; ROU Romania; RUS Russia;
RWA Rwanda; SKN Saint Kitts and Nevis|St. Kitts and Nevis; LCA Saint Lucia|St. Lucia;
VIN Saint Vincent and the Grenadines|St. Vincent / Grenadines; SAM Samoa; SMR San Marino; STP São Tomé and Príncipe;
KSA Saudi Arabia; SCO Scotland; SEN Senegal; SRB Serbia; SEY Seychelles; SLE Sierra Leone; SGP Singapore;
SVK Slovakia; SVN Slovenia; SOL Solomon Islands; SOM Somalia; RSA South Africa; KOR South Korea|Korea Republic;
SSD South Sudan; ESP Spain; SRI Sri Lanka; SDN Sudan; SUR Suriname; SWE Sweden; SUI Switzerland; SYR Syria;
TAH Tahiti; TJK Tajikistan; TAN Tanzania; THA Thailand; TLS Timor-Leste|East Timor; TOG Togo; TGA Tonga;
TRI Trinidad and Tobago; TUN Tunisia; TUR Turkey|Türkiye; TKM Turkmenistan; TCA Turks and Caicos Islands; UGA Uganda;
UKR Ukraine; UAE United Arab Emirates; USA United States|United States of America; URU Uruguay;
VIR US Virgin Islands; UZB Uzbekistan; VAN Vanuatu; VEN Venezuela; VIE Vietnam; WAL Wales; YEM Yemen; ZAM Zambia;
ZIM Zimbabwe
"""


def _key(name: str) -> str:
    """Feeds write `&` for `and`, and `Costa-Rica`."""
    return " ".join(word for word in folded(name).split() if word not in ("and", "the"))


_CODES: dict[str, str] = {}
_NAMES: dict[str, tuple[str, ...]] = {}
for _entry in " ".join(_COUNTRIES.split()).split("; "):
    _code, _, _names = _entry.partition(" ")
    _NAMES[_code] = tuple(_names.split("|"))
    _CODES.update({_key(_name): _code for _name in _NAMES[_code]})
    _CODES[_code.lower()] = _code

_CLUBS_PLAY = re.compile(
    r"\b(clubs?|champions (league|cup)|champions trophy|libertadores|sudamericana|recopa|europa|conference league|"
    r"leagues cup|super cup|supercup|caf confederation cup|intercontinental|youth league)\b"
)
_COUNTRIES_PLAY = re.compile(
    r"\b(world cup|nations league|euro championship|european championship|uefa euro|uefa u\d\d|fifa world|copa america|"
    r"africa(n)? cup of nations|cup of nations|asian cup|gold cup|arab cup|gulf cup|olympics?|concacaf u\d\d|"
    r"friendlies|international friendly|finalissima|championship qualification)\b"
)
_NOBODYS = frozenset(["", "world", "international", "europe", "asia", "africa", "south america"])


def country_code(team: str) -> str | None:
    """GER for Germany; None for whatever is no country that plays football."""
    return _CODES.get(_key(without_squad(team)))


def country_names(team: str) -> tuple[str, ...]:
    """All names of the country, the usual one first; nothing for a team that is no country."""
    code = country_code(team)
    return _NAMES[code] if code else ()


def all_country_names() -> tuple[str, ...]:
    """The usual name of each country."""
    return tuple(names[0] for names in _NAMES.values())


def is_national(team: str, league: str | None, country: str | None) -> bool:
    """Whether the team plays for its country, by its name, the league's name and the league's country in the feed."""
    competition = folded(league or "")
    if _CLUBS_PLAY.search(competition):
        return False
    if country_code(team):
        # No club of a league bears the plain name of a country.
        return True
    return folded(country or "") in _NOBODYS and bool(_COUNTRIES_PLAY.search(competition))
