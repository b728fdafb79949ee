from __future__ import annotations

import pytest

from footy_simulator.scenario import ScriptedMinute, parse_minute, parse_moment


@pytest.mark.parametrize(
    ("text", "minute"),
    [
        (1, ScriptedMinute(1)),
        ("67", ScriptedMinute(67)),
        ("90+3", ScriptedMinute(90, 3)),
        ("105+1", ScriptedMinute(105, 1)),
    ],
)
def test_a_minute_of_play(text: object, minute: ScriptedMinute) -> None:
    assert parse_minute(text) == minute


@pytest.mark.parametrize("text", [0, -3, "90+", "90+0", "late", None, True, 12.5])
def test_no_minute_of_play(text: object) -> None:
    with pytest.raises(ValueError, match="such as 67 or 90"):
        parse_minute(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("+2m", 120), ("-55m", -3300), ("+90s", 90), ("+1h", 3600), ("+1d", 86400), ("+0m", 0)],
)
def test_a_moment(text: str, seconds: int) -> None:
    assert parse_moment(text) == seconds


@pytest.mark.parametrize("text", [2, "2m", "+2", "+2 m", "+2w", "", None])
def test_no_moment(text: object) -> None:
    with pytest.raises(ValueError, match="such as"):
        parse_moment(text)
