"""Titles as people write them on r/soccer, and what they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found_footy.discovery.reddit import GoalTitle, parse_goal_title
from found_footy.fixtures.models import GoalKind, MatchMinute, Score, Side

HOME, AWAY = Side.HOME, Side.AWAY
LIVERPOOL, CITY = "Liverpool", "Manchester City"


def title(
    home: str,
    score: str,
    away: str,
    side: Side | None,
    scorer: str | None,
    minute: str | None,
    kind: GoalKind = GoalKind.NORMAL,
    aggregate: str | None = None,
) -> GoalTitle:
    elapsed, _, extra = (minute or "").partition("+")
    return GoalTitle(
        home,
        away,
        Score(*(int(goals) for goals in score.split("-"))),
        side,
        scorer,
        MatchMinute(int(elapsed), int(extra) if extra else None) if minute else None,
        kind,
        Score(*(int(goals) for goals in aggregate.split("-"))) if aggregate else None,
    )


SALAH = title(LIVERPOOL, "2-1", CITY, HOME, "M. Salah", "67")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Liverpool [2] - 1 Manchester City - M. Salah 67'", SALAH),
        ("Liverpool [2]-1 Manchester City - M. Salah 67'", SALAH),
        ("Liverpool [2] – 1 Manchester City – M. Salah 67’", SALAH),
        ("Liverpool [2] — 1 Manchester City — M. Salah 67′", SALAH),
        ("  Liverpool  [2] - 1  Manchester City -  M. Salah  67'  ", SALAH),
        ("Liverpool [2]:1 Manchester City | M. Salah 67'", SALAH),
        ("Liverpool [2] - 1 Manchester City: M. Salah 67 min.", SALAH),
        ("Liverpool [2] - 1 Manchester City - M. Salah 67", SALAH),
        ("Liverpool [2] - 1 Manchester City - M. Salah 67' (great goal)", SALAH),
        ("Liverpool [2] - 1 Manchester City - M. Salah 67' assist by Wirtz", SALAH),
        ("Liverpool [2] - 1 Manchester City - 67' M. Salah", SALAH),
        ("Liverpool [2] - 1 Manchester City - M. Salah (67')", SALAH),
        ("[Premier League] Liverpool [2] - 1 Manchester City - M. Salah 67'", SALAH),
        ("Liverpool\u200f [2] - 1 \u202eManchester City - M. Salah\x07 67'", SALAH),
        (
            "Liverpool 1 - [1] Manchester City - Erling Haaland 30'",
            title(LIVERPOOL, "1-1", CITY, AWAY, "Erling Haaland", "30"),
        ),
        (
            "Real Madrid [1] - 0 Sevilla - Vinícius Júnior 90+3'",
            title("Real Madrid", "1-0", "Sevilla", HOME, "Vinícius Júnior", "90+3"),
        ),
        (
            "Real Madrid [1] - 0 Sevilla - Rodrygo 90'+3'",
            title("Real Madrid", "1-0", "Sevilla", HOME, "Rodrygo", "90+3"),
        ),
        (
            "Real Madrid [1] - 0 Sevilla - Rodrygo 45' +2",
            title("Real Madrid", "1-0", "Sevilla", HOME, "Rodrygo", "45+2"),
        ),
        (
            "Inter [1] - 0 Milan - Lautaro Martínez (pen) 12'",
            title("Inter", "1-0", "Milan", HOME, "Lautaro Martínez", "12", GoalKind.PENALTY),
        ),
        (
            "Inter [1] - 0 Milan - Lautaro Martínez 12' (penalty)",
            title("Inter", "1-0", "Milan", HOME, "Lautaro Martínez", "12", GoalKind.PENALTY),
        ),
        (
            "Inter [1] - 0 Milan - Lautaro Martínez pen. 12'",
            title("Inter", "1-0", "Milan", HOME, "Lautaro Martínez", "12", GoalKind.PENALTY),
        ),
        (
            "Inter 1 - [1] Milan - A. Bastoni (OG) 88'",
            title("Inter", "1-1", "Milan", AWAY, "A. Bastoni", "88", GoalKind.OWN_GOAL),
        ),
        (
            "Inter 1 - [1] Milan - A. Bastoni 88' (o.g.)",
            title("Inter", "1-1", "Milan", AWAY, "A. Bastoni", "88", GoalKind.OWN_GOAL),
        ),
        (
            "Inter 1 - [1] Milan - A. Bastoni own goal 88'",
            title("Inter", "1-1", "Milan", AWAY, "A. Bastoni", "88", GoalKind.OWN_GOAL),
        ),
        (
            "Inter [3] - 3 Barcelona (6-5 agg.) - F. Acerbi 90+3'",
            title("Inter", "3-3", "Barcelona", HOME, "F. Acerbi", "90+3", aggregate="6-5"),
        ),
        (
            "Inter [3] - 3 Barcelona [6-5 on aggregate] - F. Acerbi 90+3'",
            title("Inter", "3-3", "Barcelona", HOME, "F. Acerbi", "90+3", aggregate="6-5"),
        ),
        (
            "Inter [3] - 3 Barcelona - F. Acerbi 90+3' (Agg: [6] - 5)",
            title("Inter", "3-3", "Barcelona", HOME, "F. Acerbi", "90+3", aggregate="6-5"),
        ),
        (
            "Kraków 1 - [1] Olympiacos (1-5) - A. El Kaabi 27'",
            title("Kraków", "1-1", "Olympiacos", AWAY, "A. El Kaabi", "27", aggregate="1-5"),
        ),
        (
            "Schalke 04 [1] - 0 1. FC Köln - K. Karaman 5'",
            title("Schalke 04", "1-0", "1. FC Köln", HOME, "K. Karaman", "5"),
        ),
        (
            "1860 München 0 - [1] Hannover 96 - Håvard Nielsen 11'",
            title("1860 München", "0-1", "Hannover 96", AWAY, "Håvard Nielsen", "11"),
        ),
        (
            "Paris Saint-Germain [4] - 0 Al-Hilal - Son Heung-min 9'",
            title("Paris Saint-Germain", "4-0", "Al-Hilal", HOME, "Son Heung-min", "9"),
        ),
        (
            "Bodø/Glimt [10] - 0 Brann - Kasper Høgh 83'",
            title("Bodø/Glimt", "10-0", "Brann", HOME, "Kasper Høgh", "83"),
        ),
        ("Liverpool [2] - 1 Manchester City - M. Salah", title(LIVERPOOL, "2-1", CITY, HOME, "M. Salah", None)),
        ("Liverpool [2] - 1 Manchester City - 67'", title(LIVERPOOL, "2-1", CITY, HOME, None, "67")),
        ("Liverpool [2] - 1 Manchester City", title(LIVERPOOL, "2-1", CITY, HOME, None, None)),
        ("Liverpool 2 - 1 Manchester City - M. Salah 67'", title(LIVERPOOL, "2-1", CITY, None, "M. Salah", "67")),
        ("Liverpool [2] - [1] Manchester City - M. Salah 67'", title(LIVERPOOL, "2-1", CITY, None, "M. Salah", "67")),
        ("Liverpool [1] - 0 Everton Salah 12'", title(LIVERPOOL, "1-0", "Everton Salah", HOME, None, "12")),
        (
            "Liverpool [2] - 1 Manchester City - M. Salah 667'",
            title(LIVERPOOL, "2-1", CITY, HOME, "M. Salah 667'", None),
        ),
    ],
)
def test_a_goal_title_has_scorer_teams_and_minute(text: str, expected: GoalTitle) -> None:
    assert parse_goal_title(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Match Thread: Liverpool vs Manchester City",
        "Post Match Thread: Liverpool 2 - 1 Manchester City",
        "Mohamed Salah signs a new contract until 2027",
        "[2] - 1 Manchester City - M. Salah 67'",
        "Liverpool [2] - 1",
        "Liverpool [2] - 1 - M. Salah 67'",
        "Liverpool [222] - 1 Manchester City - M. Salah 67'",
        "Salah's shirt number is 11 - here is why",
        "On this day, 2005-05-25, Liverpool won",
        "<script>alert(1)</script>",
        "[" * 5000,
        "1 - 1 " * 2000,
        "(" * 5000 + "1-1 agg" + ")" * 5000,
    ],
)
def test_other_titles_are_not_goals(text: str) -> None:
    assert parse_goal_title(text) is None


def test_players_only_mentioned_in_a_title_are_not_scorers() -> None:
    parsed = parse_goal_title("Liverpool [2] - 1 Manchester City - D. Núñez 67' (assist M. Salah)")
    assert parsed is not None
    assert parsed.relevant_text == "Liverpool Manchester City D. Núñez"


@given(st.text(alphabet="Ab [](){}0129-–—:|'’+.\n\x00\u202e", max_size=400))
def test_no_title_is_too_strange_to_be_read(text: str) -> None:
    parsed = parse_goal_title(text)
    if parsed is not None:
        assert parsed.home
        assert parsed.away
        assert parsed.side is not None or parsed.minute is not None
