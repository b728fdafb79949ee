"""The simulated X, and browser services that search it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from found_footy.adapters.social.browser.options import BrowserOptions
from found_footy.adapters.social.browser.processes import Process, all_processes
from found_footy.adapters.social.browser.service import BrowserService
from found_footy.simulator.social.posts import Platform, SocialPost
from found_footy.simulator.social.x_site import XSiteState

NOW = datetime.now(UTC).replace(microsecond=0)
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
    posts: list[SocialPost] = field(default_factory=list)

    def posts_of(self, platform: Platform) -> Sequence[SocialPost]:
        return [each for each in self.posts if each.platform == platform]

    def reset(self) -> None:
        fresh = XSiteState()
        for name in XSiteState.__slots__:
            setattr(self.state, name, getattr(fresh, name))
        self.posts[:] = [post(ago=20), post("Wirtz again, Liverpool FC lead", ago=40), post("Salah for LFC", ago=50)]


@dataclass
class Searched:
    """A service with a client of it."""

    service: BrowserService
    client: httpx.AsyncClient

    async def __call__(self, q: str = QUERY, **params: str) -> httpx.Response:
        return await self.client.get("/search", params={"q": q, **params})

    def starts(self) -> int:
        starts: int = self.service.health()["browser"]["starts"]
        return starts

    def hurry(self, seconds: float) -> None:
        """For searches that end by their time limit."""
        self.service.options = replace(self.service.options, search_seconds=seconds)


def options(x_url: str, folder: Path) -> BrowserOptions:
    # A busy machine must not decide over a test: only those that wait for a limit have a short one.
    return BrowserOptions(x_url, folder / "profile", port=0, search_seconds=40)


def chromium_of(service: BrowserService) -> int:
    """The process of the browser itself: the child of the driver, which is a child of ours."""
    processes = service.processes()
    driver = next(each.pid for each in processes if each.parent == os.getpid())
    return next(each.pid for each in processes if each.parent == driver)


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    os.kill(pid, number)


def alive(processes: Sequence[Process]) -> list[int]:
    table = all_processes()
    return [each.pid for each in processes if each.pid in table and not table[each.pid].ended]
