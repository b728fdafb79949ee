"""The simulated CREX gives nothing to whoever runs no script, and behaves as it is told."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest
from starlette.applications import Starlette

from footy_simulator.crex import CrexMode, CrexSiteState, crex_routes, decision_of, list_data, match_data, path_of
from footy_simulator.cricket import CricketInnings, CricketPlayer, CricketSide, CricketState, CricketWicket
from found_footy.fixtures.models import PHASES, Side, WicketKind

START = datetime(2026, 8, 22, 14, 0, tzinfo=UTC)
PATEL, HALE, ORR = CricketPlayer("6BS", "Arun Patel"), CricketPlayer("7C", "Tom Hale"), CricketPlayer("7D", "Max Orr")
WICKET = CricketWicket(1, 2, 3, 14, PATEL, HALE, WicketKind.CAUGHT, ORR, 9, 11)


def match(status: str = "LIVE", code: str = "sim1") -> CricketState:
    return CricketState(
        code=code,
        home=CricketSide("1F", "Harbour Lions", "HBL"),
        away=CricketSide("2G", "Valley Kites", "VKT"),
        start=START,
        series="Coast Cup 2026",
        match_type="T20",
        venue="Harbour Oval",
        status=status,
        toss_winner=Side.HOME,
        innings=(CricketInnings(1, Side.HOME, 40, 5, 2, (WICKET,)),),
    )


def client(state: CrexSiteState, **changes: object) -> httpx.AsyncClient:
    app = Starlette(routes=crex_routes(lambda: [match()], state, **changes))  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://crex")


async def test_the_pages_carry_their_data_as_json() -> None:
    """As TransferState of Angular up to version 15: keys are addresses, quotes are `&q;`."""
    async with client(CrexSiteState()) as http:
        page = (await http.get(f"{path_of(match())}/match-scorecard")).text
        listed = (await http.get("/fixtures/match-list")).text
    assert '<script id="app-root-state" type="application/json">{&q;https://api.goscorer.com/api/v3/getSV3&q;' in page
    assert "Arun Patel" in page
    assert "https://stats.crickapi.com/fixture/getFixture" in listed


async def test_without_embedded_data_the_pages_are_empty_before_their_script_runs() -> None:
    state = CrexSiteState(embedded=False)
    async with client(state) as http:
        pages = [await http.get(path) for path in ("/fixtures/match-list", f"{path_of(match())}/match-scorecard")]
        for page in pages:
            assert page.status_code == 200
            assert "Harbour" not in page.text
            assert "Patel" not in page.text
        data = (await http.get("/api/v3/getSC4", params={"key": "SIM1"})).json()
    assert data["innings"][0]["falls"] == [{"name": "Arun Patel", "score": "14-1", "over": "2.3"}]
    assert (state.lists, state.matches, state.data) == (1, ["SIM1"], 1)


async def test_any_text_before_the_code_works_and_a_bare_code_is_refused() -> None:
    async with client(CrexSiteState()) as http:
        assert (await http.get("/cricket-live-score/match-SIM1/match-scorecard")).status_code == 200
        assert (await http.get("/cricket-live-score/SIM1/match-scorecard")).status_code == 403
        assert (await http.get("/scoreboard/SIM1")).status_code == 404
        assert (await http.get("/cricket-live-score/x-match-updates-NOPE")).status_code == 404
        assert (await http.get("/api/v3/getSC4", params={"key": "NOPE"})).status_code == 404


async def test_page_and_data_faults_depend_on_the_requester() -> None:
    codes: list[str] = []

    def asked(code: str) -> CrexMode:
        codes.append(code)
        return CrexMode.BROKEN

    async with client(CrexSiteState(embedded=False), asked=asked) as http:
        assert (await http.get(f"{path_of(match())}/match-scorecard")).status_code == 200
        assert (await http.get("/api/v3/getSC4", params={"key": "SIM1"})).status_code == 500
        assert (await http.get("/api/v3/getFixtures")).status_code == 200
    assert codes == ["SIM1"]


@pytest.mark.parametrize(
    ("mode", "status"),
    [
        (CrexMode.CAPTCHA, 403),
        (CrexMode.CONSENT, 200),
        (CrexMode.DOWN, 503),
        (CrexMode.RATE_LIMITED, 429),
        (CrexMode.MISSING, 404),
        (CrexMode.REDIRECT_LOOP, 302),
        (CrexMode.ELSEWHERE, 302),
        (CrexMode.HOSTILE, 200),
    ],
)
async def test_a_trap_behaves_as_declared(mode: CrexMode, status: int) -> None:
    async with client(CrexSiteState(mode)) as http:
        for path in ("/fixtures/match-list", f"{path_of(match())}/match-scorecard"):
            assert (await http.get(path)).status_code == status


@pytest.mark.parametrize(
    "status", sorted(set(PHASES) - {"TBD", "PST", "1H", "HT", "2H", "ET", "BT", "P", "SUSP", "INT"})
)
def test_every_status_of_cricket_can_be_shown(status: str) -> None:
    data = match_data(match(status))
    assert data["title"] == "HBL vs VKT, 1st T20, Coast Cup 2026"
    assert list_data([match(status)])["days"][0]["date"] == "Sat, 22 Aug 2026"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (WicketKind.BOWLED, "b Tom Hale"),
        (WicketKind.CAUGHT, "c Max Orr b Tom Hale"),
        (WicketKind.LBW, "lbw b Tom Hale"),
        (WicketKind.STUMPED, "st Max Orr b Tom Hale"),
        (WicketKind.HIT_WICKET, "hit wicket b Tom Hale"),
        (WicketKind.RUN_OUT, "run out (Max Orr)"),
        (WicketKind.OTHER, "retired out"),
    ],
)
def test_a_wicket_is_written_as_scorecards_write_it(kind: WicketKind, words: str) -> None:
    assert decision_of(CricketWicket(1, 2, 3, 14, PATEL, HALE, kind, ORR)) == words
