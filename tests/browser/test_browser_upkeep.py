"""The browser is looked after whatever goes wrong, and nobody waits for ever for one that does not start."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from pathlib import Path

import pytest

from found_footy.browser import chromium
from found_footy.errors import SourceUnavailable
from found_footy.runtime.process_table import Process, children_of, process_table
from tests.browser.conftest import Opens
from tests.browser.simulated import chromium_of, kill

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.mark.parametrize("duty", ["_stop_leaked", "_close_spare_pages", "_recycle_if_needed"])
async def test_maintenance_continues_after_any_failure(
    open_service: Opens, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, duty: str
) -> None:
    async with open_service(upkeep_seconds=0.05) as search:
        pool = search.browser
        done: list[str] = []

        async def fails() -> None:
            raise OSError(24, "Too many open files")

        async def notes() -> None:
            done.append("another duty")

        with caplog.at_level(logging.ERROR):
            monkeypatch.setattr(pool, duty, fails)
            other = "_close_spare_pages" if duty != "_close_spare_pages" else "_stop_leaked"
            monkeypatch.setattr(pool, other, notes)
            while len(done) < 3:
                await asyncio.sleep(0.02)
        assert pool._maintenance is not None
        assert not pool._maintenance.done()
        logged = [record for record in caplog.records if record.getMessage() == "browser maintenance failed"]
        assert len(logged) >= 2
        assert "Too many open files" in caplog.text


async def test_a_profile_that_cannot_be_used_for_a_while_is_used_again(
    open_service: Opens, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_service(upkeep_seconds=0.05) as search:
        profile = search.service.options.profile
        aside = profile.with_name("aside")
        with caplog.at_level(logging.WARNING):
            async with search.browser._lock:  # so that it is not renewed before its profile is away
                kill(chromium_of(search.service))
                profile.rename(aside)
                profile.write_bytes(b"no folder")
            while caplog.text.count("cannot be used") < 2:
                await asyncio.sleep(0.02)
        profile.unlink()
        aside.rename(profile)
        while search.starts() < 2:
            await asyncio.sleep(0.02)
        assert (await search()).status_code == 200


def _driver(folder: Path, text: str) -> str:
    program = folder / "driver"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return str(program)


def _new(before: set[int]) -> list[Process]:
    table = process_table()
    return [table[pid] for pid in children_of(os.getpid(), table) - before if not table[pid].ended]


@pytest.mark.parametrize(
    ("text", "words"), [("exec sleep 600", "did not start within 1 s"), ("exit 1", "driver could not start")]
)
async def test_a_driver_that_does_not_start_is_abandoned_without_leftovers(
    open_service: Opens, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, words: str
) -> None:
    before = children_of(os.getpid(), process_table())
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", _driver(tmp_path, text))
    monkeypatch.setattr(chromium, "DRIVER_SECONDS", 1.0)
    with pytest.raises(SourceUnavailable, match=words):
        async with open_service():
            pass
    assert _new(before) == []


async def test_a_recycle_does_not_wait_for_ever_behind_a_driver_that_hangs(
    open_service: Opens, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with open_service() as search:
        with monkeypatch.context() as broken:
            broken.setenv("PLAYWRIGHT_NODEJS_PATH", _driver(tmp_path, "exec sleep 600"))
            broken.setattr(chromium, "DRIVER_SECONDS", 1.0)
            began = time.monotonic()
            answer = await search.client.post("/recycle", json={"reason": "a test"})
            assert (answer.status_code, answer.json()["error"]["class"]) == (503, "SourceUnavailable")
            assert time.monotonic() - began < 50
            page = await search.page(f"http://{search.service.options.page_hosts[0]}/fixtures/match-list", "crex_list")
            # It is ours that is missing: the feed was not asked.
            assert (page.status_code, page.json()["error"]["class"]) == (503, "BrowserUnavailable")
        answer = await search.client.post("/recycle", json={"reason": "a test"})
        assert answer.status_code == 200
