from __future__ import annotations

import pytest

from found_footy.domain.errors import UnknownStatus
from found_footy.domain.fixtures.statuses import PHASES, Phase, phase_of

TABLE = {
    "upcoming": "TBD NS",
    "postponed": "PST",
    "in_play": "1H HT 2H ET BT P LIVE INNBRK DRINKS LUNCH TEA DINNER RAIN STUMPS",
    "interrupted": "SUSP INT",
    "finished": "FT AET PEN RESULT DRAW TIE",
    "called_off": "CANC ABD AWD WO NR",
}
CASES = [(status, phase) for phase, statuses in TABLE.items() for status in statuses.split()]


@pytest.mark.parametrize(("status", "phase"), CASES)
def test_each_status_has_its_place(status: str, phase: str) -> None:
    assert phase_of(status) is Phase(phase)


def test_no_status_is_left_out_of_the_table() -> None:
    assert set(PHASES) == {status for status, _ in CASES}


@pytest.mark.parametrize("status", ["", "ft", "XYZ", "1H "])
def test_an_unknown_status_is_an_error_with_a_name(status: str) -> None:
    with pytest.raises(UnknownStatus, match="is not known"):
        phase_of(status)
