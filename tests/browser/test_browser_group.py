"""Several browsers with one login."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from footy_simulator.x import XMode
from found_footy.app import can_search_x
from found_footy.browser.client import BrowserClient
from found_footy.browser.cookies import cookie_file, has_login, restore_cookies
from found_footy.browser.group import BrowserGroup
from found_footy.browser.login import log_in
from found_footy.browser.pool import AdmissionQueue
from found_footy.browser.service import BrowserService
from found_footy.config import Settings
from found_footy.errors import SourceUnavailable
from found_footy.operations.findings import browser_findings
from found_footy.operations.models import BrowserSeen
from found_footy.operations.probe import browser_seen
from found_footy.runtime.browser_secret import HEADER
from tests.browser.conftest import Opens
from tests.browser.simulated import SECRET, SimulatedX, options, post
from tests.browser.test_browser_login import submit
from tests.support.operations import measured

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_all_browsers_have_the_login_which_survives_the_loss_of_the_profile(
    x: SimulatedX, tmp_path: Path, open_service: Opens
) -> None:
    x.state.mode = XMode.LOGGED_OUT
    assert await log_in(options(x.url, tmp_path), headless=True, opened=submit)
    saved = cookie_file(tmp_path)
    assert saved.stat().st_mode & 0o077 == 0
    shutil.rmtree(tmp_path / "profile")
    async with open_service(browsers=2, at_once=1) as search:
        answers = await asyncio.gather(*(search(f"goal {word}") for word in ("one", "two")))
        assert [answer.status_code for answer in answers] == [200, 200], "restored from its backup, in both"
        used = [member.facts().searches for member in search.service._pool._members]
        assert used == [1, 1]
        facts = (await search.client.get("/health")).json()["browser"]
        assert (facts["browsers"], facts["searches"]) == (2, 2)

        saved.unlink()
        await search.browser.back_up_login()
        assert has_login(tmp_path), "a search that succeeds proves the login"

        assert (await search.client.post("/scale", json={"browsers": 1})).json() == {"browsers": 1}
        assert (await search("goal three")).status_code == 200
        await BrowserClient(search.service.url, {HEADER: SECRET}).scale(2)
        assert (await search.client.get("/health")).json()["browser"]["browsers"] == 2
        refused = await search.client.post("/scale", json={"browsers": 9})
        assert (refused.status_code, refused.json()["error"]["class"]) == (400, "BadRequest")


async def test_footy_up_starts_the_service_where_a_login_and_chromium_exist(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, browser_url=None, _env_file=None)
    assert not can_search_x(settings), "no login"
    cookie_file(tmp_path / "browser").parent.mkdir()
    cookie_file(tmp_path / "browser").write_text("[]")
    assert can_search_x(settings)
    for changed in ({"browser_url": "http://127.0.0.1:1"}, {"sources": ("reddit",)}, {"browser_path": tmp_path}):
        assert not can_search_x(settings.model_copy(update=changed)), changed


async def test_the_number_of_tasks_at_once_follows_the_number_of_browsers() -> None:
    queue, end = AdmissionQueue(at_once=1, waiting=10), asyncio.Event()
    running = 0

    async def task() -> None:
        nonlocal running
        async with queue.take():
            running += 1
            await end.wait()
            running -= 1

    async def settled() -> int:
        for _ in range(10):
            await asyncio.sleep(0)
        return running

    tasks = [asyncio.create_task(task()) for _ in range(5)]
    assert await settled() == 1
    queue.resize(3)
    assert (await settled(), queue.running, queue.waiting) == (3, 3, 2)
    queue.resize(2)
    assert await settled() == 3, "what runs is finished"
    end.set()
    await asyncio.gather(*tasks)
    end.clear()
    tasks = [asyncio.create_task(task()) for _ in range(5)]
    assert await settled() == 2
    end.set()
    await asyncio.gather(*tasks)


class Context:
    """Stands in for Chromium, and keeps the cookies that it is given."""

    def __init__(self) -> None:
        self.added: list[dict[str, object]] = []

    async def cookies(self, _: str) -> list[object]:
        return []

    async def add_cookies(self, cookies: list[dict[str, object]]) -> None:
        self.added += cookies


@pytest.mark.parametrize(
    ("saved", "names"),
    [
        ('[{"name": "a", "domain": ".x.com"}, {"name": "b", "domain": "x.com"}]', ["a", "b"]),
        ('[{"name": "a", "domain": ".example.com"}, {"name": "b", "domain": "com.x.com.example"}]', []),
        ('{"name": "a"}', []),
        ("not JSON", []),
    ],
)
async def test_only_cookies_of_x_are_restored(tmp_path: Path, saved: str, names: list[str]) -> None:
    cookie_file(tmp_path).write_text(saved)
    context = Context()
    await restore_cookies(context, "https://x.com", tmp_path, replace=False)  # type: ignore[arg-type]
    assert [cookie["name"] for cookie in context.added] == names


async def test_a_group_that_cannot_start_another_browser_keeps_those_it_has(
    x: SimulatedX, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = BrowserGroup(options(x.url, tmp_path))

    async def fail(_: object) -> None:
        raise SourceUnavailable("no memory")

    monkeypatch.setattr("found_footy.browser.pool.BrowserPool.start", fail)
    with pytest.raises(SourceUnavailable):
        await group.scale(3)
    assert len(group) == 1


async def test_the_canary_detects_a_changed_page(x: SimulatedX, tmp_path: Path, open_service: Opens) -> None:
    cookie_file(tmp_path).write_text("[]")
    every = {"canary_every_seconds": 0.2, "canary_first_seconds": 0, "canary_seconds": 0, "canary_failure_seconds": 0}
    x.posts.append(post("A goal for everybody"))

    async with open_service(**every) as search:

        async def seen(error: str) -> BrowserSeen:
            async with asyncio.timeout(120):
                while True:
                    facts = await BrowserClient(search.service.url, {HEADER: SECRET}).facts()
                    if facts["canary"] and facts["canary"]["class"] == error:
                        return browser_seen(facts)
                    await asyncio.sleep(0.05)

        assert (await seen("")).canary_since is not None
        x.state.mode = XMode.CHANGED
        changed = await seen("SourceChanged")
        assert changed.canary_since is not None
        (finding,) = browser_findings(measured(browser=changed))
        assert finding.kind == "x_changed"
        x.state.mode = XMode.NORMAL
        assert list(browser_findings(measured(browser=await seen("")))) == []


async def test_without_a_login_there_is_no_canary(x: SimulatedX, tmp_path: Path) -> None:
    """A browser that only reads pages of feeds."""
    every = {"canary_every_seconds": 0.01, "canary_first_seconds": 0.0}
    service = BrowserService(replace(options(x.url, tmp_path), **every))  # type: ignore[arg-type]
    task = asyncio.create_task(service._run_canary(0.01))
    await asyncio.sleep(0.05)
    assert service.health()["canary"] is None
    task.cancel()
