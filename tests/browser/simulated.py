"""The simulated X and CREX, and browser services that read them."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from footy_simulator.crex import CrexMode, CrexSiteState, path_of
from footy_simulator.cricket import CricketInnings, CricketPlayer, CricketSide, CricketState, CricketWicket
from footy_simulator.posts import Platform, SocialPost
from footy_simulator.x import XSiteState
from found_footy.browser.models import BrowserOptions
from found_footy.browser.pool import BrowserPool
from found_footy.browser.service import BrowserService
from found_footy.fixtures.models import Side
from found_footy.runtime.process_table import Process, process_table

NOW = datetime.now(UTC).replace(microsecond=0)
SECRET = "secret-of-the-browser-service"
QUERY = '(Florian OR Wirtz) (LFC OR "Liverpool FC")'
TEXT = "GOAL! Wirtz scores for LFC"
EPOCH = datetime(2010, 11, 4, 1, 42, 54, 657000, tzinfo=UTC)


def post(
    text: str = TEXT, *, ago: float = 30, id_: str = "", author: str = "goalsdaily", worker: int = 1
) -> SocialPost:
    at = NOW - timedelta(seconds=ago)
    snowflake = str(((at - EPOCH) // timedelta(milliseconds=1)) << 22 | worker)
    return SocialPost("x", id_ or snowflake, author, text, at, 34.6, "/media/copy.mp4")


@dataclass
class SimulatedX:
    url: str
    state: XSiteState
    crex: CrexSiteState
    posts: list[SocialPost] = field(default_factory=list)

    def posts_of(self, platform: Platform) -> Sequence[SocialPost]:
        return [each for each in self.posts if each.platform == platform]

    def reset(self) -> None:
        fresh = XSiteState()
        for name in XSiteState.__slots__:
            setattr(self.state, name, getattr(fresh, name))
        self.crex.mode = CrexMode.NORMAL
        self.crex.matches.clear()
        self.posts[:] = [post(ago=20), post("Wirtz again, Liverpool FC lead", ago=40), post("Salah for LFC", ago=50)]


@dataclass
class Searched:
    """A service with a client of it."""

    service: BrowserService
    client: httpx.AsyncClient

    async def __call__(self, q: str = QUERY, **params: str) -> httpx.Response:
        return await self.client.get("/search", params={"q": q, **params})

    async def page(self, url: str, reader: str = "crex_match", **params: str) -> httpx.Response:
        return await self.client.get("/page", params={"url": url, "reader": reader, **params})

    @property
    def browser(self) -> BrowserPool:
        """The first one of the service."""
        return self.service._pool._members[0]

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = self.service.health()["browser"]
        return facts

    def in_use(self) -> tuple[int, int]:
        """Contexts and pages; without the pages that are kept for the next searches."""
        facts = self.facts()
        return facts["contexts"], facts["pages"] - facts["spare_pages"]

    def patience(self, **changes: Any) -> None:
        """For pages that end by a time limit."""
        self.service.options = replace(self.service.options, **changes)

    def starts(self) -> int:
        starts: int = self.service.health()["browser"]["starts"]
        return starts

    def hurry(self, seconds: float) -> None:
        """For searches that end by their time limit."""
        self.service.options = replace(self.service.options, search_seconds=seconds)


def options(x_url: str, folder: Path) -> BrowserOptions:
    # A busy machine must not decide over a test: only those that wait for a limit have a short one.
    host = urlsplit(x_url).netloc
    return BrowserOptions(
        x_url,
        folder / "profile",
        secret=SECRET,
        port=0,
        search_seconds=40,
        scrolls=12,
        # Only the tests of it want the browser to be looked after meanwhile.
        upkeep_seconds=3600,
        page_hosts=(host, "crex.example"),
        private_hosts=(host,),
        navigation_seconds=40,
        scrape_seconds=90,
    )


def cricket_match(code: str = "sim1", status: str = "LIVE") -> CricketState:
    """Both sides have batted, and two wickets have fallen."""
    fallen = CricketWicket(1, 2, 3, 14, CricketPlayer("6BS", "Arun Patel"), CricketPlayer("7C", "Tom Hale"))
    return CricketState(
        code=code,
        home=CricketSide("1F", "Harbour Lions", "HBL"),
        away=CricketSide("2G", "Valley Kites", "VKT"),
        start=NOW,
        series="Coast Cup 2026",
        match_type="T20",
        venue="Harbour Oval",
        status=status,
        toss_winner=Side.HOME,
        innings=(
            CricketInnings(1, Side.HOME, 160, 20, 0, (fallen,), over=True),
            CricketInnings(2, Side.AWAY, 33, 4, 2, (fallen,)),
        ),
        last_ball="4",
    )


def match_page(x: SimulatedX, query: str = "") -> str:
    return f"{x.url}{path_of(cricket_match())}/match-scorecard{query}"


def chromium_of(service: BrowserService) -> int:
    """The process of the browser itself: the child of the driver, which is a child of ours."""
    processes = service.processes()
    driver = next(each.pid for each in processes if each.parent == os.getpid())
    child = next(each.pid for each in processes if each.parent == driver)
    # Debian's is started by a shell that waits for it.
    return next((each.pid for each in processes if each.parent == child and _is_shell(child)), child)


def _is_shell(pid: int) -> bool:
    return Path(f"/proc/{pid}/exe").resolve().name in ("sh", "dash", "bash")


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    os.kill(pid, number)


def alive(processes: Sequence[Process]) -> list[int]:
    table = process_table()
    return [each.pid for each in processes if each.pid in table and not table[each.pid].ended]
